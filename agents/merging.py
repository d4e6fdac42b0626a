"""Equivalent moves: those that differ in suits that matter for nothing, kept once.

Two moves of a game are equivalent if they play cards of one class (`features.CARD_CLASS`), take or join cards
of the same classes, and build, join and raise alike; features do not tell them apart, and neither do points.
Axes: `B` games, `M` moves of all games together, `K` of those that are kept.
"""

import numpy as np

from agents.features import CARD_CLASS, N_CLASSES
from agents.network import Actor
from agents.shortlist import Shortlist, all_moves, kept_moves
from casino_env.bits import lowest
from casino_env.jit import inner_kernel, kernel
from casino_env.legal import LegalMoves
from casino_env.moves import move_card, move_loose, move_pile, move_raises, move_value
from casino_env.state import IntArray

# A set of cards by class is a number with a field of as many bits as its count may need for each class.
_CARDS_OF_CLASS = np.bincount(CARD_CLASS)
_FIELD = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(_CARDS_OF_CLASS > 1, 2, 1))])
CLASS_UNIT = np.left_shift(np.int64(1), _FIELD[:-1])  # one card of each class
CLASS_SHIFT = int(_FIELD[-1])
VALUE_SHIFT = CLASS_SHIFT + N_CLASSES.bit_length()
PILE_SHIFT = VALUE_SHIFT + 4


def choices_of(actor: Actor, legal: LegalMoves) -> Shortlist:
    """The moves between which an actor chooses."""
    return merge_moves(legal) if actor.shape.merged else all_moves(legal)


def merge_moves(legal: LegalMoves) -> Shortlist:
    """Of equivalent moves the first; which moves are kept follows from each list alone."""
    keep = np.zeros(len(legal.moves), np.bool_)
    _mark_first(legal.offsets, legal.moves, keep)
    return kept_moves(legal, keep)


@kernel
def _mark_first(offsets: IntArray, moves: IntArray, keep: np.ndarray) -> None:
    for game in range(offsets.shape[0] - 1):
        first, end = offsets[game], offsets[game + 1]
        keys = np.empty(end - first, np.int64)
        for i in range(first, end):
            keys[i - first] = merge_key(moves[i])
        order = np.argsort(keys, kind="mergesort")
        for k in range(end - first):
            if k == 0 or keys[order[k]] != keys[order[k - 1]]:
                keep[first + order[k]] = True


@inner_kernel
def merge_key(move: int) -> int:
    """A number that equivalent moves share, and no others."""
    loose, key = move_loose(move), 0
    while loose:
        key += CLASS_UNIT[CARD_CLASS[lowest(loose)]]
        loose &= loose - 1
    key |= int(CARD_CLASS[move_card(move)]) << CLASS_SHIFT
    return key | move_value(move) << VALUE_SHIFT | (move_pile(move) + 2 * move_raises(move)) << PILE_SHIFT
