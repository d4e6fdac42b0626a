"""The observation vector: a table of named blocks with computed offsets, written from a `View`.

The space and its manual come from the table `blocks`; nothing else knows an offset.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import popcount
from casino_env.cards import N_CARDS
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.rules import ACE_HIGH, HAND_SIZE, LOWEST_VALUE, MAX_COUNT, TURNS, RuleTable, side_count
from casino_env.state import NOBODY, VALUES, IntArray, build_owner
from casino_env.tokens import BUILDING, CAPTURING, NOT_STARTED, kept_spelling
from casino_env.view import View, unseen_cards

OBSERVATION_VERSION = 1  # changes whenever a block changes; kept in checkpoints
BUILD_VALUES = VALUES - LOWEST_VALUE

FloatArray = NDArray[np.float32]


class Block(NamedTuple):
    """A named slice of the observation."""

    name: str
    size: int
    offset: int
    bounded: bool  # values in [0, 1]; otherwise in [0, MAX_COUNT]
    meaning: str


SWEEP_SCALE = 4

(
    HAND,
    LOOSE,
    BUILD_CARDS,
    BUILD_OWNER,
    BUILD_MULTIPLE,
    CAPTURED,
    UNSEEN,
    HAND_SIZES,
    CAPTURED_COUNTS,
    STOCK_SIZE,
    SWEEPS,
    LAST_CAPTURE,
    DEALER,
    SCORE,
    SPELLED_KIND,
    SPELLED_CARD,
    SPELLED_VALUE,
    SPELLED_PILE,
    SPELLED_USED,
    SPELLED_GROUP,
    SPELLED_FIRST,
) = range(21)


@cache
def blocks(players: int) -> tuple[Block, ...]:
    """The blocks of an observation in a game of `players` seats, in order: index `HAND` and so on."""
    sides = side_count(players)
    table = {
        HAND: ("hand", N_CARDS, True, "own hand, by card id"),
        LOOSE: ("loose", N_CARDS, True, "loose cards"),
        BUILD_CARDS: ("build_cards", N_CARDS, True, "for each card in a build, the build's value / 14"),
        BUILD_OWNER: (
            "build_owner",
            BUILD_VALUES * players,
            True,
            "for each value 2-14, the relative seat that owns the build, one-hot",
        ),
        BUILD_MULTIPLE: ("build_multiple", BUILD_VALUES, True, "for each value 2-14, the build is multiple"),
        CAPTURED: ("captured", players * N_CARDS, True, "captured cards of each relative seat"),
        UNSEEN: ("unseen", N_CARDS, True, "cards not seen: in other hands or the stock"),
        HAND_SIZES: ("hand_sizes", players, True, "cards in each relative seat's hand / 4, at most 1"),
        CAPTURED_COUNTS: ("captured_counts", players, True, "captured cards of each relative seat / 52"),
        STOCK_SIZE: ("stock_size", 1, True, "cards in the stock / 48"),
        SWEEPS: ("sweeps", players, False, "sweeps of each relative seat / 4"),
        LAST_CAPTURE: ("last_capture", players, True, "relative seat that captured last, one-hot; or none"),
        DEALER: ("dealer", players, True, "relative seat of the dealer, one-hot"),
        SCORE: ("score", sides, False, "match score of each relative side / target"),
        SPELLED_KIND: ("spelled_kind", 2, True, "unfinished move: capture, build"),
        SPELLED_CARD: ("spelled_card", N_CARDS, True, "unfinished move: the played card"),
        SPELLED_VALUE: (
            "spelled_value",
            BUILD_VALUES + 1,
            True,
            "unfinished move: value 2-14, or 14 with the played ace counting 14",
        ),
        SPELLED_PILE: ("spelled_pile", 1, True, "unfinished move: a pile was named"),
        SPELLED_USED: ("spelled_used", N_CARDS, True, "unfinished move: loose cards named"),
        SPELLED_GROUP: ("spelled_group", N_CARDS, True, "unfinished move: loose cards of the open group"),
        SPELLED_FIRST: (
            "spelled_first",
            N_CARDS,
            True,
            "unfinished move: first card of the latest group of loose cards only",
        ),
    }
    return lay_out([row for _, row in sorted(table.items())])


def lay_out(rows: Iterable[tuple[str, int, bool, str]], offset: int = 0) -> tuple[Block, ...]:
    """Blocks one after another from `offset` on, each given by name, size, bounded and meaning."""
    result = []
    for name, size, bounded, meaning in rows:
        result.append(Block(name, size, offset, bounded, meaning))
        offset += size
    return tuple(result)


def length(table: tuple[Block, ...]) -> int:
    """Length of the vector that the blocks make up."""
    return table[-1].offset + table[-1].size


def upper_bounds(table: tuple[Block, ...]) -> FloatArray:
    """Upper bounds of that vector, float32; the lower bounds are 0."""
    return np.concatenate(
        [np.full(block.size, 1 if block.bounded else MAX_COUNT, np.float32) for block in table]
    )


def observation_size(players: int) -> int:
    """Length of the observation vector."""
    return length(blocks(players))


def block_offsets(players: int) -> IntArray:
    """Offsets of the blocks, int64[21], for `write_observation`."""
    return np.array([block.offset for block in blocks(players)], np.int64)


def observe_batch(view: View, rules: RuleTable) -> FloatArray:
    """Observations float32[B, N] of views between moves."""
    games, players = view.captured.shape
    out = np.zeros((games, observation_size(players)), np.float32)
    _observe_batch(view, block_offsets(players), rules, out)
    return out


@kernel
def _observe_batch(view: View, offsets: IntArray, rules: RuleTable, out: FloatArray) -> None:
    view, offsets, out = borrow(view), borrow(offsets), borrow(out)
    for game in range(out.shape[0]):
        write_observation(view, game, offsets, rules, out[game])


@kernel
def write_observation(view: View, game: int, offsets: IntArray, rules: RuleTable, out: FloatArray) -> None:
    """Write one game's observation (all but the unfinished move) to `out`, float32[N]."""
    out[:] = 0
    players, sides = view.captured.shape[1], view.score.shape[1]
    write_cards(view.hand[game], offsets[HAND], out)
    write_cards(view.loose[game], offsets[LOOSE], out)
    _write_builds(view, game, offsets, out)
    for i in range(players):
        write_cards(view.captured[game, i], offsets[CAPTURED] + N_CARDS * i, out)
        out[offsets[HAND_SIZES] + i] = min(view.hand_sizes[game, i] / HAND_SIZE, 1.0)
        out[offsets[CAPTURED_COUNTS] + i] = popcount(view.captured[game, i]) / N_CARDS
        out[offsets[SWEEPS] + i] = view.sweeps[game, i] / SWEEP_SCALE
    write_cards(unseen_cards(rules, view, game), offsets[UNSEEN], out)
    out[offsets[STOCK_SIZE]] = view.stock_size[game] / TURNS
    if view.last_capture[game] != NOBODY:
        out[offsets[LAST_CAPTURE] + view.last_capture[game]] = 1
    out[offsets[DEALER] + view.dealer[game]] = 1
    for i in range(sides):
        out[offsets[SCORE] + i] = view.score[game, i] / rules.target


@kernel
def write_spellings(words: IntArray, offsets: IntArray, out: FloatArray) -> None:
    """`write_spelling` for every game: `words` [B, 9], `out` float32[B, N]."""
    words, offsets, out = borrow(words), borrow(offsets), borrow(out)
    for game in range(out.shape[0]):
        write_spelling(words[game], offsets, out[game])


@kernel
def write_spelling(words: IntArray, offsets: IntArray, out: FloatArray) -> None:
    """Write the unfinished move, kept as `words`, to an observation that has none yet."""
    spelling = kept_spelling(words)
    if spelling.kind == NOT_STARTED:
        return
    out[offsets[SPELLED_KIND] + (0 if spelling.kind == CAPTURING else 1)] = 1
    out[offsets[SPELLED_CARD] + spelling.card] = 1
    if spelling.kind == BUILDING and spelling.value:
        out[offsets[SPELLED_VALUE] + spelling.value - LOWEST_VALUE + spelling.high] = 1
    out[offsets[SPELLED_PILE]] = spelling.pile
    write_cards(spelling.used, offsets[SPELLED_USED], out)
    write_cards(spelling.group, offsets[SPELLED_GROUP], out)
    if spelling.first >= 0:
        out[offsets[SPELLED_FIRST] + spelling.first] = 1


@inner_kernel
def _write_builds(view: View, game: int, offsets: IntArray, out: FloatArray) -> None:
    """Write the build blocks."""
    players = view.captured.shape[1]
    for value in range(LOWEST_VALUE, VALUES):
        owner = build_owner(view.owned, game, value)
        if owner == NOBODY:
            continue
        cards = view.build_cards[game, value]
        for card in range(N_CARDS):
            if cards >> card & 1:
                out[offsets[BUILD_CARDS] + card] = value / ACE_HIGH
        out[offsets[BUILD_OWNER] + players * (value - LOWEST_VALUE) + owner] = 1
        out[offsets[BUILD_MULTIPLE] + value - LOWEST_VALUE] = view.multiple[game] >> value & 1


@inner_kernel
def write_cards(cards: int, offset: int, out: FloatArray) -> None:
    """Write 1 for each card of the set and 0 for the others, from `offset` on."""
    for card in range(N_CARDS):
        out[offset + card] = cards >> card & 1
