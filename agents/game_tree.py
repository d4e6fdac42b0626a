"""A small game of two players, whole: every deal and every way to play it, as arrays, level by level.

A level holds the nodes after as many turns; one seat acts at all of them. While hands are hidden a node is
a history. In the last hand everything is known and nothing that happened before matters but where it led, so
a node is a state there. Meant for `size=tiny`; whether a game fits into memory is for its user to know.
Axes of a level: `N` nodes, `M` their legal moves, `A` the legal moves of its information sets, `K` equally
likely deals of the next hands after a turn, 1 where none is dealt.
"""

from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from agents.ragged import owners
from casino_env.cards import N_CARDS, iter_cards
from casino_env.engine import apply_batch, start_deals
from casino_env.errors import InvalidRules
from casino_env.legal import LegalMoves, MoveLister, select_legal
from casino_env.objectives import end_deals
from casino_env.rules import Rules, RuleTable, check_players, deal_turns
from casino_env.state import IntArray, State, empty_state, select
from casino_env.view import View, see

PLAYERS = 2
DEALER = 0
LARGEST = 10**6  # first deals of a game that is built

Doubles = NDArray[np.float64]


class Level:
    """The nodes after a number of turns, and the information sets of the seat to act."""

    def __init__(self, state: State, legal: LegalMoves, public: IntArray, known: bool) -> None:
        self.state, self.legal = state, legal
        self.public = public  # [N] what both players have seen, as a number
        self.known = known  # whether nothing is hidden: every node is an information set
        self.children = np.zeros((0, 0), np.int64)  # [M, K] nodes of the next level

    @property
    def seat(self) -> int:
        """Who acts, the same seat at all nodes."""
        return int(self.state.turn[0])

    @cached_property
    def sets(self) -> IntArray:
        """The information set [N] of each node: what was seen, and the own hand."""
        if self.known:
            return np.arange(len(self.public))
        own = self.state.hands[:, self.seat]
        return np.unique(np.stack([self.public, own]), axis=1, return_inverse=True)[1].reshape(-1)

    @cached_property
    def examples(self) -> IntArray:
        """A node of each information set."""
        return np.unique(self.sets, return_index=True)[1]

    @cached_property
    def offsets(self) -> IntArray:
        """Where the moves of each information set begin among all `A`."""
        counts = np.diff(self.legal.offsets)[self.examples]
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])

    @cached_property
    def nodes(self) -> IntArray:
        """The node [M] of each move."""
        return owners(self.legal.offsets)

    @cached_property
    def actions(self) -> IntArray:
        """The index [M] of each node's move among the moves of the information sets."""
        place = np.arange(len(self.legal.moves)) - self.legal.offsets[self.nodes]
        return self.offsets[self.sets[self.nodes]] + place

    def view(self) -> tuple[View, LegalMoves]:
        """What is seen in each information set, and its legal moves."""
        return see(select(self.state, self.examples)), select_legal(self.legal, self.examples)


class GameTree:
    """All nodes of a game.

    Attributes: `levels`, one for each turn; `hidden`, how many of them come before the last hand; `payoffs`
    float64[N], the margin of seat 0 in each end of a deal.
    """

    def __init__(self, rules: Rules) -> None:
        """Raises InvalidRules if the game is not for two players or too large."""
        check_players(PLAYERS, rules)
        self.rules = rules
        table = rules.table
        if table.draw:
            raise InvalidRules(f"rules '{rules}': a tree is built for games without draw=yes")
        self._list_moves = MoveLister(1)
        state, public = _first_deals(table)
        self.levels = [self._level(state, public)]
        for _ in range(deal_turns(table) - 1):
            state, public = self._next(self.levels[-1])
            self.levels.append(self._level(state, public))
        self.hidden = sum(not level.known for level in self.levels)
        ends, _ = self._next(self.levels[-1])
        self.payoffs: Doubles = end_deals(ends, table, np.arange(len(ends.turn)), "deal").rewards[:, 0]

    def _level(self, state: State, public: IntArray) -> Level:
        known = bool(state.dealt[0] == N_CARDS)
        return Level(state, self._list_moves(state, self.rules.table), public, known)

    def _next(self, level: Level) -> tuple[State, IntArray]:
        """The nodes after a level's moves, to which its children are set, and what both have seen."""
        table, legal = self.rules.table, level.legal
        parts = select(level.state, level.nodes)
        stock = parts.deck[:, int(parts.dealt[0]) :]
        hands_end = len(self.levels) % (PLAYERS * table.hand_size) == 0 and not level.known
        orders = _orders(stock.shape[1], (table.hand_size,) * PLAYERS if hands_end else ())
        moves, deals = len(legal.moves), len(orders)
        after = select(parts, np.repeat(np.arange(moves), deals))
        after.deck[:, int(parts.dealt[0]) :] = stock[:, orders].reshape(moves * deals, -1)
        over = np.zeros(moves * deals, np.bool_)
        apply_batch(after, table, np.repeat(legal.moves, deals), over)
        if after.dealt[0] == N_CARDS:
            first, place = _distinct(after)
            public = np.arange(len(first))
        else:
            first, place = np.arange(len(over)), np.arange(len(over))
            seen = np.stack([level.public[level.nodes], legal.moves])
            public = np.unique(seen, axis=1, return_inverse=True)[1].reshape(-1).repeat(deals)
        level.children = place.reshape(moves, deals)
        return select(after, first), public


def _first_deals(table: RuleTable) -> tuple[State, IntArray]:
    """Every deal of the first hands and the table, and what both have seen of it."""
    cards = np.array([*iter_cards(table.deck)], np.int8)
    sizes = (table.hand_size, table.hand_size, table.table_size)
    count, rest = 1, len(cards)
    for size in sizes:
        count, rest = count * comb(rest, size), rest - size
    if count > LARGEST:
        raise InvalidRules(f"a game of {count:,} first deals is too large for a tree; give size=tiny")
    orders = _orders(len(cards), sizes)
    decks = np.zeros((count, N_CARDS), np.int8)
    decks[:, N_CARDS - len(cards) :] = cards[orders]
    state = empty_state(count, PLAYERS)
    start_deals(state, np.arange(count), table, decks, np.full(count, DEALER))
    return state, state.loose.copy()


def _orders(cards: int, sizes: tuple[int, ...]) -> IntArray:
    """Every way to deal piles of `sizes` from so many cards, [K, cards]: pile after pile, then the rest."""

    def deal(left: tuple[int, ...], sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
        if not sizes:
            return [left]
        orders = []
        for pile in combinations(left, sizes[0]):
            others = tuple(card for card in left if card not in pile)
            orders.extend([pile + rest for rest in deal(others, sizes[1:])])
        return orders

    return np.array(deal(tuple(range(cards)), sizes), np.int64)


def _distinct(state: State) -> tuple[IntArray, IntArray]:
    """The first row of each distinct state, the stock apart, and the number of each row's state."""
    rows = len(state.turn)
    columns = [array.reshape(rows, -1) for name, array in state._asdict().items() if name != "deck"]
    table = np.ascontiguousarray(np.concatenate(columns, axis=1))
    keys = table.view([("", table.dtype)] * table.shape[1]).reshape(-1)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return first, place
