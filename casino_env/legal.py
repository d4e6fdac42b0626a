"""Whole-move lists (R3.6): every legal choice of a turn, once, as packed moves.

Axes: `B` games, `M` moves of all games together. A list is bounded by `MAX_MOVES` a game; reaching the
bound is reported in `LegalMoves.bounded`. Which choices are legal is stated in `turn`, not here.

Scratch space is one int64 array, cut into regions by the offsets below: passing one array costs a kernel
call less than passing a tuple of seven.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import lowest, popcount
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.moves import pack
from casino_env.rules import RuleTable, alone_value, hand_value, is_paired, sum_value
from casino_env.state import IntArray, State
from casino_env.turn import (
    TOTALS,
    TRIPLE,
    Table,
    forced_cards,
    held_after,
    look,
    may_build,
    may_capture,
    may_raise,
    may_trail,
    same_rank,
)

MAX_MOVES = 4096  # a game; also the bound of groups and of sets for one played card and value

FEW = 32  # sets searched one by one; more are found by hash
HASH_PRIME = 8179  # just below TABLE_SIZE
NO_SET = -1
_SMALL = 64
IDS: Any = np.int64(0)  # loose cards that sum, rising; a plain 0 would compile a variant for each region
TOTALS_FROM = IDS + _SMALL  # totals reachable with the cards from an index on
STACK = TOTALS_FROM + _SMALL  # of the search for sums
GROUPS = STACK + _SMALL  # groups worth the value, card sets
FIRSTS = GROUPS + MAX_MOVES  # loose cards that complete the played card's group
UNIONS = FIRSTS + MAX_MOVES  # unions of disjoint groups; the first is empty
SETS = UNIONS + MAX_MOVES  # loose cards of the moves with one card and value
TABLE = SETS + MAX_MOVES  # open hash table of the region being filled, once it holds FEW sets
TABLE_SIZE = 2 * MAX_MOVES
MOVES = TABLE + TABLE_SIZE  # the list, packed moves
COUNT = MOVES + MAX_MOVES  # its length
CUT = COUNT + 1  # 1 once something did not fit
WORK_SIZE = CUT + 1


class LegalMoves(NamedTuple):
    """Ragged lists of a batch: game `b` has `moves[offsets[b]:offsets[b + 1]]`."""

    offsets: IntArray  # [B + 1]
    moves: IntArray  # [M] packed moves
    bounded: NDArray[np.bool_]  # [B] true: the list was cut at the bound


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
    unions = _unite(work, _list_groups(rules, table.loose, forced, value, work))
    n_sets = 0
    for i in range(unions):
        n_sets = _add_once(work, SETS, n_sets, work[UNIONS + i] | forced)
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
    matches = same_rank(card, table.loose)
    if matches == 0 or not may_capture(rules, table, card, held, 0):
        return
    if popcount(matches) == TRIPLE:
        _emit(work, pack(card, matches, 0, 0, 0))
    if forced_cards(rules, table, card):
        return
    while matches:
        _emit(work, pack(card, matches & -matches, 0, 0, 0))
        matches &= matches - 1


@inner_kernel
def _list_builds(rules: RuleTable, table: Table, card: int, value: int, work: IntArray) -> None:
    """R4.1, R4.2: every make, addition and raise to a value that may be built."""
    joins = table.standing >> value & 1
    raises = may_raise(rules, table, card, value)
    alone = alone_value(rules, card) == value
    need = value - sum_value(rules, card)
    completes = need > 0 and work[TOTALS_FROM] >> need & 1 != 0
    groups = _may_hold_group(work, table.loose, value)
    if not (completes or raises or (alone and (joins or groups))):
        return
    unions = 1
    work[UNIONS] = 0
    if groups:
        unions = _unite(work, _list_groups(rules, table.loose, 0, value, work))
    n_sets = 0
    if alone:
        for i in range(unions):
            n_sets = _add_once(work, SETS, n_sets, work[UNIONS + i])
    if completes:
        n_sets = _complete_groups(rules, need, unions, n_sets, work)
    for i in range(n_sets):
        if work[SETS + i] or joins:
            _emit(work, pack(card, work[SETS + i], value, joins, 0))
    if raises:
        for i in range(unions if rules.raise_absorb else 1):
            _emit(work, pack(card, work[UNIONS + i], value, joins, 1))


@inner_kernel
def _complete_groups(rules: RuleTable, need: int, unions: int, n_sets: int, work: IntArray) -> int:
    """Add every way to complete the played card's group, with every union of other groups, to the sets."""
    firsts = _list_sums(rules, need, 0, FIRSTS, work)
    for i in range(firsts):
        if work[CUT]:
            break
        for j in range(unions):
            if work[FIRSTS + i] & work[UNIONS + j] == 0:
                n_sets = _add_once(work, SETS, n_sets, work[FIRSTS + i] | work[UNIONS + j])
    return n_sets


@inner_kernel
def _may_hold_group(work: IntArray, cards: int, value: int) -> bool:
    """A quick look before searching: false only if no group worth `value` lies loose."""
    return cards != 0 and work[TOTALS_FROM] >> value & 1 != 0


@inner_kernel
def _list_groups(rules: RuleTable, loose: int, forced: int, value: int, work: IntArray) -> int:
    """Write every group worth `value` that is not forced to be one: sums, and aces counting 14 alone.

    A forced card whose sum value is `value` can only be a group by itself; a forced ace may stand in a sum.
    """
    count = _list_sums(rules, value, forced, GROUPS, work)
    alone = loose & ~forced
    while alone:
        card = lowest(alone)
        alone &= alone - 1
        if alone_value(rules, card) == value and sum_value(rules, card) != value:
            count = _append(work, GROUPS, count, 1 << card)
    return count


@inner_kernel
def prepare_sums(rules: RuleTable, loose: int, work: IntArray) -> None:
    """Fill the regions IDS and TOTALS_FROM for a turn; an ace alone adds its total to that of all cards."""
    length = 0
    highs = 0
    while loose:
        card = lowest(loose)
        loose &= loose - 1
        if sum_value(rules, card):
            work[IDS + length] = card
            length += 1
            if alone_value(rules, card) != sum_value(rules, card):
                highs |= 1 << alone_value(rules, card)
    work[TOTALS_FROM + length] = 1
    for i in range(length - 1, -1, -1):
        later = work[TOTALS_FROM + i + 1]
        work[TOTALS_FROM + i] = (later | later << sum_value(rules, work[IDS + i])) & TOTALS
    work[TOTALS_FROM] |= highs


@inner_kernel
def _list_sums(rules: RuleTable, need: int, forced: int, region: int, work: IntArray) -> int:
    """Write to a region every set of the prepared cards that sums to `need` > 0; returns how many.

    Sets of one forced card are left out.
    """
    count = depth = chosen = index = 0
    while True:
        if need and work[TOTALS_FROM + index] >> need & 1:  # what is missing can be had from here on
            card = work[IDS + index]
            index += 1
            left = need - sum_value(rules, card)
            if left >= 0 and work[TOTALS_FROM + index] >> left & 1:
                work[STACK + depth] = index
                depth += 1
                chosen |= 1 << card
                need = left
                if need == 0 and (depth > 1 or not chosen & forced):
                    count = _append(work, region, count, chosen)
        elif depth == 0:
            return count
        else:
            depth -= 1
            index = work[STACK + depth]
            card = work[IDS + index - 1]
            chosen &= ~(1 << card)
            need += sum_value(rules, card)


@inner_kernel
def _unite(work: IntArray, groups: int) -> int:
    """Write every union of disjoint groups, the empty one first; returns how many."""
    work[UNIONS] = 0
    count = 1
    for i in range(groups):
        group = work[GROUPS + i]
        if work[CUT]:
            break
        for j in range(count):  # the unions of earlier groups
            if work[UNIONS + j] & group == 0:
                count = _add_once(work, UNIONS, count, work[UNIONS + j] | group)
    return count


@inner_kernel
def _add_once(work: IntArray, region: int, count: int, cards: int) -> int:
    """Append a card set to a region unless it stands there; returns the new count."""
    if count >= FEW:
        return _hash_once(work, region, count, cards)
    for i in range(count):
        if work[region + i] == cards:
            return count
    work[region + count] = cards
    if count + 1 == FEW:
        work[TABLE : TABLE + TABLE_SIZE] = NO_SET
        for i in range(FEW):
            work[_slot(work, work[region + i])] = work[region + i]
    return count + 1


@inner_kernel
def _hash_once(work: IntArray, region: int, count: int, cards: int) -> int:
    slot = _slot(work, cards)
    if work[slot] == cards:
        return count
    grown = _append(work, region, count, cards)
    if grown > count:
        work[slot] = cards
    return grown


@inner_kernel
def _slot(work: IntArray, cards: int) -> int:
    """Where the hash table holds the set, or the free place for it."""
    slot = cards % HASH_PRIME
    while work[TABLE + slot] != NO_SET and work[TABLE + slot] != cards:
        slot = (slot + 1) % TABLE_SIZE
    return TABLE + slot


@inner_kernel
def _append(work: IntArray, region: int, count: int, cards: int) -> int:
    """Append while there is room; returns the new count, which stays at the bound once reached."""
    if count < MAX_MOVES:
        work[region + count] = cards
        return count + 1
    work[CUT] = 1
    return count


@inner_kernel
def _emit(work: IntArray, move: int) -> None:
    """Append a move to the list while it is below its bound."""
    count = work[COUNT]
    if count < MAX_MOVES:
        work[MOVES + count] = move
        work[COUNT] = count + 1
    else:
        work[CUT] = 1
