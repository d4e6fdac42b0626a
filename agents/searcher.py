"""`searcher`: deals worlds from the cards that it has not seen, and searches or plays out the hand in each.

With two players a hand is searched to its end in every world, both hands open; the last hand, which card
counting opens, is solved exactly once. With three and four players every move is played out in every world.
A move's value is its mean over the same worlds for all moves.
"""

from time import perf_counter

import numpy as np

from agents.counter import Scratch, look_ahead
from agents.hand_search import PLAYERS as SEARCHED
from agents.hand_search import known_hands, new_search, points_of, search_worlds, worth_of
from agents.playout import new_board, play_out
from agents.shortlist import MOST, Shortlist, shorten_by_gain
from agents.worlds import Question, Words, start_streams
from agents.worth import scale_of
from casino_env.errors import CasinoError
from casino_env.legal import LegalMoves
from casino_env.rules import Rules
from casino_env.state import IntArray, empty_state
from casino_env.unions import WORK_SIZE
from casino_env.view import View, select_view

WORLDS, MOVES = 40, 16
FIRST_WORLDS = 8  # of the look ahead that chooses which moves to search
CHUNK = 4  # worlds between looks at the clock


class SearcherAgent:
    """Searches the `moves` most promising moves in `worlds` worlds, or for about `ms` milliseconds a turn.

    CasinoError if both `worlds` and `ms` are given.
    """

    name = "searcher"

    def __init__(
        self,
        rules: Rules,
        players: int,
        worlds: int | None = None,
        moves: int = MOVES,
        ms: float | None = None,
    ) -> None:
        if worlds is not None and ms is not None:
            raise CasinoError("searcher: give worlds or ms, not both")
        self._rules, self._scale = rules.table, scale_of(rules.table)
        self._worlds, self._most = WORLDS if worlds is None else worlds, moves
        self._seconds = None if ms is None else ms / 1000
        self._scratch = Scratch(empty_state(2, players), np.zeros(WORK_SIZE, np.int64))
        if players == SEARCHED:
            self._search = new_search()
            self._yardsticks = worth_of(rules), points_of(rules)
        else:
            self._board = new_board(players)
        self._players = players

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`. With `ms` the choice depends on the machine's speed too."""
        streams = start_streams(rng, len(legal.offsets) - 1)
        picked = self._promising(view, legal, streams)
        values = np.zeros(len(picked.moves), np.int64)
        question = Question(view, picked.offsets, picked.moves, streams, values)
        if self._seconds is None:
            self._add_values(question, self._worlds)
        else:
            for game in range(len(streams)):
                self._add_timed_values(question, game)
        return picked.choose(legal.offsets, values)

    def _promising(self, view: View, legal: LegalMoves, streams: Words) -> Shortlist:
        """The moves to search: those that bring most now, then those that look best one round ahead."""
        known = known_hands(self._rules, view) & (self._players == SEARCHED)  # no move of these is left out
        most = np.where(known, len(legal.moves), MOST)
        picked = shorten_by_gain(self._rules, self._scale, view, legal, most)
        most = np.where(known, len(legal.moves), self._most)
        if (np.diff(picked.offsets) <= most).all():
            return picked
        values = np.zeros(len(picked.moves), np.int64)
        question = Question(view, picked.offsets, picked.moves, streams, values)
        look_ahead(self._rules, self._scale, self._scratch, question, FIRST_WORLDS)
        return picked.shorten(values, most)

    def _add_timed_values(self, question: Question, game: int) -> None:
        """Search one game's moves until the time is up; a known hand is searched whatever it takes."""
        end = perf_counter() + (self._seconds or 0)
        part, row = slice(question.offsets[game], question.offsets[game + 1]), slice(game, game + 1)
        alone = Question(
            select_view(question.seen, np.array([game])),
            np.array([0, part.stop - part.start]),
            question.moves[part],
            question.streams[row],
            question.values[part],
        )
        known = self._players == SEARCHED and known_hands(self._rules, alone.seen)[0]
        settled = known or len(alone.moves) == 1
        while True:
            self._add_values(alone, CHUNK)
            if settled or perf_counter() >= end:
                return

    def _add_values(self, question: Question, worlds: int) -> None:
        if self._players == SEARCHED:
            search_worlds(self._rules, self._yardsticks, self._search, question, worlds)
        else:
            play_out(self._rules, self._scale, self._board, question, worlds)
