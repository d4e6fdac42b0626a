"""Whole-move lists (R3.6): every legal choice of a turn, once, as packed moves.

Axes: `B` games, `M` moves of all games together. A list is bounded by `MAX_MOVES` a game; reaching the
bound is reported in `LegalMoves.bounded`. Which choices are legal is stated in `turn`, not here.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import lowest, popcount
from casino_env.jit import kernel
from casino_env.moves import pack
from casino_env.rules import RuleTable
from casino_env.state import IntArray, State
from casino_env.turn import (
    TOTALS,
    TRIPLE,
    Table,
    capture_parts,
    forced_cards,
    is_alone,
    look,
    may_build,
    may_capture,
    may_raise,
    may_trail,
    same_rank,
    values_held,
)

MAX_MOVES = 4096  # a game; also the bound of groups and of sets for one played card and value


class LegalMoves(NamedTuple):
    """Ragged lists of a batch: game `b` has `moves[offsets[b]:offsets[b + 1]]`."""

    offsets: IntArray  # [B + 1]
    moves: IntArray  # [M] packed moves
    bounded: NDArray[np.bool_]  # [B] true: the list was cut at the bound


def select_lists(offsets: IntArray, games: IntArray) -> tuple[IntArray, IntArray]:
    """Some games' ragged lists put together: the rows of their entries, and the new offsets [G + 1]."""
    counts = offsets[games + 1] - offsets[games]
    picked = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return np.arange(picked[-1]) + np.repeat(offsets[games] - picked[:-1], counts), picked


def select_legal(legal: LegalMoves, games: IntArray) -> LegalMoves:
    """The lists of the games with the given indices, which may repeat."""
    rows, offsets = select_lists(legal.offsets, games)
    return LegalMoves(offsets, legal.moves[rows], legal.bounded[games])


class Work(NamedTuple):
    """Scratch arrays, allocated once and reused for every list."""

    ids: IntArray  # [53] cards that can stand in a sum
    suffix: IntArray  # [53] totals reachable with the cards from an index on
    stack: IntArray  # [53]
    groups: IntArray  # [MAX_MOVES] card sets
    firsts: IntArray  # [MAX_MOVES] card sets that complete the played card's group
    unions: IntArray  # [MAX_MOVES] unions of disjoint groups; the first is empty
    sets: IntArray  # [MAX_MOVES] the sets of one played card and value


def new_work() -> Work:
    """Scratch arrays for `list_turn`."""
    sizes = 3 * [53] + 4 * [MAX_MOVES]
    return Work._make(np.zeros(size, np.int64) for size in sizes)


class MoveLister:
    """Lists the legal moves of batches, reusing its buffers; the arrays returned are copies."""

    def __init__(self, games: int) -> None:
        self._work = new_work()
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


@kernel
def _list_batch(
    state: State,
    rules: RuleTable,
    work: Work,
    lists: tuple[IntArray, IntArray, NDArray[np.bool_]],
    first: int,
) -> int:
    """List the games from `first` on until the buffer may be too short; returns the next game."""
    moves, offsets, bounded = lists
    for game in range(first, offsets.shape[0] - 1):
        start = offsets[game]
        if start + MAX_MOVES > moves.shape[0]:
            return game
        count = list_turn(rules, look(state, game, rules), work, moves[start : start + MAX_MOVES])
        offsets[game + 1] = start + count
        bounded[game] = count == MAX_MOVES
    return offsets.shape[0] - 1


@kernel
def list_turn(rules: RuleTable, table: Table, work: Work, out: IntArray) -> int:
    """Write the legal moves of one turn to `out`, card by card; returns how many (at most its length)."""
    count = 0
    hand = table.hand
    while hand:
        card = lowest(hand)
        hand &= hand - 1
        if may_trail(rules, table, card):
            count = _emit(out, count, pack(card, 0, 0, 0, 0))
        if rules.paired[card]:
            count = _list_pairings(rules, table, card, out, count)
        elif rules.hand_value[card]:
            count = _list_captures(rules, table, card, work, (out, count))
        if rules.sum_value[card]:
            count = _list_builds(rules, table, card, work, (out, count))
    return count


@kernel
def _list_captures(
    rules: RuleTable, table: Table, card: int, work: Work, listed: tuple[IntArray, int]
) -> int:
    """R3.2, R3.3: the forced cards with every union of groups, with and without the build."""
    out, count = listed
    value = rules.hand_value[card]
    with_pile = may_capture(rules, table, card, 1)
    without = may_capture(rules, table, card, 0)
    if not with_pile and not without:
        return count
    forced = forced_cards(rules, table, card)
    parts = capture_parts(rules, table, card)
    groups = _list_groups(rules, parts, parts & ~forced, value, work)
    unions = _unite(work.groups, groups, work.unions)
    n_sets = 0
    for i in range(unions):
        n_sets = _add_once(work.sets, n_sets, work.unions[i] | forced)
    for i in range(n_sets):
        if without and work.sets[i]:
            count = _emit(out, count, pack(card, work.sets[i], 0, 0, 0))
        if with_pile:
            count = _emit(out, count, pack(card, work.sets[i], 0, 1, 0))
    return count


@kernel
def _list_pairings(rules: RuleTable, table: Table, card: int, out: IntArray, count: int) -> int:
    """R8 (paired): exactly one loose card of the rank, or all three."""
    matches = same_rank(card, table.loose)
    if matches == 0 or not may_capture(rules, table, card, 0):
        return count
    if popcount(matches) == TRIPLE:
        count = _emit(out, count, pack(card, matches, 0, 0, 0))
    if forced_cards(rules, table, card):
        return count
    while matches:
        count = _emit(out, count, pack(card, matches & -matches, 0, 0, 0))
        matches &= matches - 1
    return count


@kernel
def _list_builds(rules: RuleTable, table: Table, card: int, work: Work, listed: tuple[IntArray, int]) -> int:
    """R4.1, R4.2: for every value still held, makes, additions and raises."""
    out, count = listed
    values = values_held(rules, table.hand & ~(1 << card))
    while values:
        value = lowest(values)
        values &= values - 1
        if not may_build(rules, table, card, value):
            continue
        joins = table.standing >> value & 1
        raises = may_raise(rules, table, card, value)
        groups = _list_groups(rules, table.loose, table.loose, value, work)
        unions = _unite(work.groups, groups, work.unions)
        n_sets = _build_sets(rules, table, card, value, (work, unions))
        for i in range(n_sets):
            if work.sets[i] or joins:
                count = _emit(out, count, pack(card, work.sets[i], value, joins, 0))
        if raises:
            for i in range(unions if rules.raise_absorb else 1):
                count = _emit(out, count, pack(card, work.unions[i], value, joins, 1))
    return count


@kernel
def _build_sets(rules: RuleTable, table: Table, card: int, value: int, united: tuple[Work, int]) -> int:
    """Write to `work.sets` the loose cards that can join the played card; returns how many sets."""
    work, unions = united
    count = 0
    if is_alone(rules, card, value):
        for i in range(unions):
            count = _add_once(work.sets, count, work.unions[i])
    need = value - rules.sum_value[card]
    if need > 0:
        firsts = _list_sums(rules, table.loose, need, work, work.firsts)
        for i in range(firsts):
            for j in range(unions):
                if work.firsts[i] & work.unions[j] == 0:
                    count = _add_once(work.sets, count, work.firsts[i] | work.unions[j])
    return count


@kernel
def _list_groups(rules: RuleTable, cards: int, alone: int, value: int, work: Work) -> int:
    """Write to `work.groups` every group worth `value`: sums of `cards`, and high aces of `alone`."""
    count = _list_sums(rules, cards, value, work, work.groups)
    while alone:
        card = lowest(alone)
        alone &= alone - 1
        if is_alone(rules, card, value) and rules.sum_value[card] != value:
            count = _emit(work.groups, count, 1 << card)
    return count


@kernel
def _list_sums(rules: RuleTable, cards: int, need: int, work: Work, out: IntArray) -> int:
    """Write to `out` every subset of the cards that sums to `need` > 0; returns how many."""
    _prepare_sums(rules, cards, work)
    count = depth = chosen = index = 0
    while True:
        if need and work.suffix[index] >> need & 1:  # what is missing can be had from here on
            card = work.ids[index]
            index += 1
            left = need - rules.sum_value[card]
            if left >= 0 and work.suffix[index] >> left & 1:
                work.stack[depth] = index
                depth += 1
                chosen |= 1 << card
                need = left
                if need == 0:
                    count = _emit(out, count, chosen)
        elif depth == 0:
            return count
        else:
            depth -= 1
            index = work.stack[depth]
            card = work.ids[index - 1]
            chosen &= ~(1 << card)
            need += rules.sum_value[card]


@kernel
def _prepare_sums(rules: RuleTable, cards: int, work: Work) -> None:
    """Fill `work.ids` with the cards that sum, and `work.suffix` with the totals from each on."""
    length = 0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if rules.sum_value[card]:
            work.ids[length] = card
            length += 1
    work.suffix[length] = 1
    for i in range(length - 1, -1, -1):
        work.suffix[i] = work.suffix[i + 1] | work.suffix[i + 1] << rules.sum_value[work.ids[i]] & TOTALS


@kernel
def _unite(groups: IntArray, length: int, unions: IntArray) -> int:
    """Write every union of disjoint groups to `unions`, the empty one first; returns how many."""
    unions[0] = 0
    count = 1
    for i in range(length):
        for j in range(count):  # the unions of earlier groups
            if unions[j] & groups[i] == 0:
                count = _add_once(unions, count, unions[j] | groups[i])
    return count


@kernel
def _add_once(sets: IntArray, count: int, cards: int) -> int:
    """Append a card set unless it stands already; returns the new count."""
    for i in range(count):
        if sets[i] == cards:
            return count
    return _emit(sets, count, cards)


@kernel
def _emit(out: IntArray, count: int, item: int) -> int:
    """Append while there is room; returns the new count, which stays at the bound once reached."""
    if count < out.shape[0]:
        out[count] = item
        return count + 1
    return count
