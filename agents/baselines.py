"""The first rungs of the ladder: `random`, and `greedy` by a fixed worth of cards. Both hold no rule."""

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import lowest
from casino_env.cards import N_CARDS, SPADES
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.legal import LegalMoves
from casino_env.moves import move_card, move_loose, move_pile, move_value
from casino_env.rules import Rules, RuleTable, hand_value
from casino_env.scoring import card_points
from casino_env.state import IntArray
from casino_env.view import View

HALF_DECK = 26
HALF_SUIT = 7  # spades that a side needs for the most
SWEEP_WORTH = 1.0
UNLISTED = -100.0  # a move that greedy makes only if there is no other


class RandomAgent:
    """Each legal move with the same probability."""

    name = "random"

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`."""
        counts = np.diff(legal.offsets)
        return (rng.random(len(counts)) * counts).astype(np.int64)


class GreedyAgent:
    """The most valuable capture now, else the trail that gives away least; never builds.

    A captured card is worth its points (R6.1) and its share of most cards and most spades; a sweep is 1.
    """

    name = "greedy"

    def __init__(self, rules: Rules) -> None:
        self._worth = card_worth(rules.table)
        self._rules = rules.table
        self._sweep = 0.0 if rules.option("sweeps") == "none" else SWEEP_WORTH

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`. Deterministic: of equal moves, the first of the list."""
        choices = np.zeros(len(legal.offsets) - 1, np.int64)
        _choose(view, legal.offsets, legal.moves, (self._worth, self._rules, self._sweep), choices)
        return choices


def card_worth(rules: RuleTable) -> NDArray[np.float64]:
    """Worth of capturing each card, float64[52]: its points, and its share in the majorities."""
    of_cards, of_spades = rules.most_cards / HALF_DECK, rules.most_spades / HALF_SUIT
    points = [card_points(rules, 1 << card) + of_spades * (SPADES >> card & 1) for card in range(N_CARDS)]
    return np.array(points) + of_cards


@kernel
def _choose(
    view: View,
    offsets: IntArray,
    moves: IntArray,
    scale: tuple[NDArray[np.float64], RuleTable, float],
    choices: IntArray,
) -> None:
    view = borrow(view)
    for game in range(choices.shape[0]):
        best = -np.inf
        for i in range(offsets[game], offsets[game + 1]):
            gain = _gain(view, game, moves[i], scale)
            if gain > best:
                best = gain
                choices[game] = i - offsets[game]


@inner_kernel
def _gain(view: View, game: int, move: int, scale: tuple[NDArray[np.float64], RuleTable, float]) -> float:
    worth, rules, sweep = scale
    card, loose = move_card(move), move_loose(move)
    if move_value(move):
        return UNLISTED
    if loose == 0 and not move_pile(move):
        return -worth[card]
    taken, left = 1 << card | loose, view.loose[game] & ~loose
    for value in range(view.build_cards.shape[1]):
        cards = view.build_cards[game, value]
        if move_pile(move) and value == hand_value(rules, card):
            taken |= cards
        else:
            left |= cards
    gain = 0.0 if left else sweep
    while taken:
        gain += worth[lowest(taken)]
        taken &= taken - 1
    return gain
