"""The last hand of two players, exactly: values of its moves, and any agent with its last hand played so.

With the stock empty, all that a player does not see is the other hand: the search has the truth. What it
lists is bounded (`hand_search.EFFORT`, `unions.MAX_MOVES`); only tables of twenty and more loose cards come
to that.
Axes: `B` games, `M` moves of all games together.
"""

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from agents.hand_search import PLAYERS, Yardstick, banked, known_hands, new_search, points_of, search_worlds
from agents.shortlist import all_moves
from agents.worlds import Question, start_streams
from casino_env.errors import CasinoError
from casino_env.jit import borrow, kernel
from casino_env.legal import LegalMoves, select_legal
from casino_env.rules import Rules, RuleTable
from casino_env.state import IntArray
from casino_env.view import View, select_view


class LastHand:
    """Knows what every move of a last hand is worth."""

    def __init__(self, rules: Rules) -> None:
        self._rules, self._yardstick = rules.table, points_of(rules)
        self._search = new_search()

    def is_open(self, view: View) -> NDArray[np.bool_]:
        """[B] where the other hand is known, so that the last hand can be solved."""
        return known_hands(self._rules, view)

    def values(self, view: View, legal: LegalMoves) -> IntArray:
        """Points [M] by which the seat to act will end ahead of what it is ahead by now, both playing best.

        Where there is one move only its value is left 0. The other hand of every game is known.
        """
        values, games = np.zeros(len(legal.moves), np.int64), len(legal.offsets) - 1
        streams = start_streams(np.random.default_rng(0), games)  # there is nothing to draw lots for
        question = Question(view, legal.offsets, legal.moves, streams, values)
        search_worlds(self._rules, (self._yardstick, self._yardstick), self._search, question, 1)
        return values

    def margins(self, view: View, legal: LegalMoves) -> IntArray:
        """Points [B] by which the seat to act will end ahead, both playing best; it has a choice in each."""
        ahead = np.zeros(len(legal.offsets) - 1, np.int64)
        _write_banked(self._rules, self._yardstick, view, ahead)
        return ahead + np.maximum.reduceat(self.values(view, legal), legal.offsets[:-1])


@kernel
def _write_banked(rules: RuleTable, yardstick: Yardstick, view: View, ahead: IntArray) -> None:
    view = borrow(view)
    for game in range(ahead.shape[0]):
        ahead[game] = banked(rules, yardstick, view, game, 0)


class ExactEndgame:
    """An agent whose last hand is played exactly; of equal moves, the first of the list."""

    def __init__(self, agent: Agent, rules: Rules, players: int) -> None:
        if players != PLAYERS:
            raise CasinoError(f"endgame=exact needs the open last hand of 2 players; players={players}")
        self.name, self.agent = f"{agent.name}:endgame=exact", agent
        self._last_hand = LastHand(rules)

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`."""
        last = self._last_hand.is_open(view)
        choices = np.zeros(len(legal.offsets) - 1, np.int64)
        for games, exact in ((np.flatnonzero(last), True), (np.flatnonzero(~last), False)):
            if len(games):
                asked = select_view(view, games), select_legal(legal, games)
                choices[games] = self._exact(*asked) if exact else self.agent.choose(*asked, rng)
        return choices

    def _exact(self, view: View, legal: LegalMoves) -> IntArray:
        return all_moves(legal).choose(legal.offsets, self._last_hand.values(view, legal))
