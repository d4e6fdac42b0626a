"""Whole-move lists (R3.6): every legal choice of a turn, once, as packed moves.

Axes: `B` games, `M` moves of all games together. A list is bounded by `MAX_MOVES` a game, and so is what is
searched for one card and value; reaching a bound is reported in `LegalMoves.bounded`. Every card of the
hand has room for some of its moves. Which choices are legal is stated in `turn`, not here; the
scratch space `work` is laid out in `unions`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import lowest, popcount
from casino_env.groups import is_alone
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.moves import pack
from casino_env.rules import RuleTable, hand_value, is_paired, sum_value
from casino_env.state import IntArray, State
from casino_env.turn import (
    Table,
    forced_cards,
    held_after,
    joinable,
    joins_something,
    look,
    may_build,
    may_capture,
    may_pair,
    may_raise,
    may_trail,
    same_rank,
)
from casino_env.unions import (
    COUNT,
    CUT,
    FIRSTS,
    LIMIT,
    MAX_MOVES,
    MOVES,
    SETS,
    TOTALS_FROM,
    UNIONS,
    WORK_SIZE,
    add_once,
    is_full,
    list_groups,
    list_sums,
    prepare_sums,
    unite,
)

RESERVED = 64  # moves of a list that each later card of the hand can count on


class LegalMoves(NamedTuple):
    """Ragged lists of a batch: game `b` has `moves[offsets[b]:offsets[b + 1]]`."""

    offsets: IntArray  # [B + 1]
    moves: IntArray  # [M] packed moves
    bounded: NDArray[np.bool_]  # [B] true: the list is not complete


class MoveLister:
    """Lists the legal moves of batches, reusing its buffers; the arrays returned are copies."""

    def __init__(self, games: int) -> None:
        self._work = np.zeros(WORK_SIZE, np.int64)
        self._moves = np.zeros(MAX_MOVES + 32 * games, np.int64)

    def __call__(self, state: State, rules: RuleTable) -> LegalMoves:
        """The legal moves of every game of the batch; none where the deal is over."""
        games = state.turn.shape[0]
        offsets = np.zeros(games + 1, np.int64)
        bounded = np.zeros(games, np.bool_)
        done = 0
        while True:
            done = _list_batch(state, rules, self._work, (self._moves, offsets, bounded), done)
            if done == games:
                return LegalMoves(offsets, self._moves[: offsets[-1]].copy(), bounded)
            self._moves = np.concatenate([self._moves, np.zeros_like(self._moves)])


def select_lists(offsets: IntArray, games: IntArray) -> tuple[IntArray, IntArray]:
    """Some games' ragged lists put together: the rows of their entries, and the new offsets [G + 1]."""
    counts = offsets[games + 1] - offsets[games]
    picked = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return np.arange(picked[-1]) + np.repeat(offsets[games] - picked[:-1], counts), picked


def select_legal(legal: LegalMoves, games: IntArray) -> LegalMoves:
    """The lists of the games with the given indices, which may repeat."""
    rows, offsets = select_lists(legal.offsets, games)
    return LegalMoves(offsets, legal.moves[rows], legal.bounded[games])


@kernel
def _list_batch(
    state: State,
    rules: RuleTable,
    work: IntArray,
    lists: tuple[IntArray, IntArray, NDArray[np.bool_]],
    first: int,
) -> int:
    """List the games from `first` on until the buffer may be too short; returns the next game."""
    state, work = borrow(state), borrow(work)
    moves, offsets, bounded = lists
    for game in range(first, offsets.shape[0] - 1):
        start = offsets[game]
        if start + MAX_MOVES > moves.shape[0]:
            return game
        list_turn(rules, look(state, game, rules), work)
        for i in range(work[COUNT]):
            moves[start + i] = work[MOVES + i]
        offsets[game + 1] = start + work[COUNT]
        bounded[game] = work[CUT] != 0
    return offsets.shape[0] - 1


@inner_kernel
def list_turn(rules: RuleTable, table: Table, work: IntArray) -> None:
    """Write a turn's legal moves to the region MOVES, their number to COUNT, and whether they are cut to CUT.

    The order is by played card, then trail, captures, builds, raises.
    """
    work[COUNT] = 0
    work[CUT] = 0
    prepare_sums(rules, table.loose, work)
    hand = table.hand
    while hand:
        card = lowest(hand)
        hand &= hand - 1
        work[LIMIT] = MAX_MOVES - RESERVED * popcount(hand)
        held = held_after(rules, table, card)
        if may_trail(rules, table, card):
            _emit(work, pack(card, 0, 0, 0, 0))
        if is_paired(rules, card):
            _list_pairings(rules, table, card, held, work)
        elif hand_value(rules, card):
            _list_captures(rules, table, card, held, work)
        if sum_value(rules, card):
            values = held & rules.build_values
            while values:
                value = lowest(values)
                values &= values - 1
                if may_build(rules, table, value, held):
                    _list_builds(rules, table, card, value, work)


@inner_kernel
def _list_captures(rules: RuleTable, table: Table, card: int, held: int, work: IntArray) -> None:
    """R3.2, R3.3: the forced cards with every union of groups, with and without the build."""
    value = hand_value(rules, card)
    with_pile = may_capture(rules, table, card, held, 1)
    without = may_capture(rules, table, card, held, 0)
    if not with_pile and not without:
        return
    forced = forced_cards(rules, table, card)
    if not _may_hold_group(work, table.loose & ~forced, value):
        _emit_captures(work, card, forced, with_pile, without)
        return
    unions = unite(work, list_groups(rules, table.loose, forced, value, work))
    n_sets = 0
    for i in range(unions):
        n_sets = add_once(work, SETS, n_sets, work[UNIONS + i] | forced)
    for i in range(n_sets):
        _emit_captures(work, card, work[SETS + i], with_pile, without)


@inner_kernel
def _emit_captures(work: IntArray, card: int, loose: int, with_pile: bool, without: bool) -> None:
    """The captures of one set of loose cards."""
    if without and loose:
        _emit(work, pack(card, loose, 0, 0, 0))
    if with_pile:
        _emit(work, pack(card, loose, 0, 1, 0))


@inner_kernel
def _list_pairings(rules: RuleTable, table: Table, card: int, held: int, work: IntArray) -> None:
    """R8 (paired): exactly one loose card of the rank, or all three."""
    if not may_capture(rules, table, card, held, 0):
        return
    forced, matches = forced_cards(rules, table, card), same_rank(card, table.loose)
    rest = matches
    while rest:
        one = rest & -rest
        if may_pair(table, card, one) and not forced & ~one:
            _emit(work, pack(card, one, 0, 0, 0))
        rest &= rest - 1
    if popcount(matches) > 1 and may_pair(table, card, matches):
        _emit(work, pack(card, matches, 0, 0, 0))


@inner_kernel
def _list_builds(rules: RuleTable, table: Table, card: int, value: int, work: IntArray) -> None:
    """R4.1, R4.2: every make, addition and raise to a value that may be built."""
    joins = table.standing >> value & 1
    raises = may_raise(rules, table, card, value)
    alone = is_alone(rules, card, value)
    need = value - sum_value(rules, card)
    completes = need > 0 and work[TOTALS_FROM] >> need & 1 != 0
    groups = _may_hold_group(work, table.loose, value)
    if not (completes or raises or (alone and (joins or groups))):
        return
    unions = 1
    work[UNIONS] = 0
    if groups:
        unions = unite(work, list_groups(rules, table.loose, 0, value, work))
    n_sets = 0
    if alone:
        for i in range(unions):
            n_sets = add_once(work, SETS, n_sets, work[UNIONS + i])
    if completes:
        n_sets = _complete_groups(rules, need, unions, n_sets, work)
    for i in range(n_sets):
        if joins_something(table, value, work[SETS + i], 0):
            _emit(work, pack(card, work[SETS + i], value, joins, 0))
    if raises:
        for i in range(unions if joinable(rules, table, 1) else 1):
            _emit(work, pack(card, work[UNIONS + i], value, joins, 1))


@inner_kernel
def _complete_groups(rules: RuleTable, need: int, unions: int, n_sets: int, work: IntArray) -> int:
    """Add every way to complete the played card's group, with every union of other groups, to the sets."""
    firsts = list_sums(rules, need, 0, FIRSTS, work)
    for i in range(firsts):
        if is_full(work, n_sets):
            break
        for j in range(unions):
            if work[FIRSTS + i] & work[UNIONS + j] == 0:
                n_sets = add_once(work, SETS, n_sets, work[FIRSTS + i] | work[UNIONS + j])
    return n_sets


@inner_kernel
def _may_hold_group(work: IntArray, cards: int, value: int) -> bool:
    """A quick look before searching: false only if no group worth `value` lies loose."""
    return cards != 0 and work[TOTALS_FROM] >> value & 1 != 0


@inner_kernel
def _emit(work: IntArray, move: int) -> None:
    """Append a move to the list while there is room for it."""
    count = work[COUNT]
    if count < work[LIMIT]:
        work[MOVES + count] = move
        work[COUNT] = count + 1
    else:
        work[CUT] = 1
