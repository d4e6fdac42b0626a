"""`searcher`: deals worlds from the cards that it has not seen, and searches or plays out the hand in each.

With two players a hand is searched to its end in every world, both hands open; the last hand, which card
counting opens, is solved exactly once. With three and four players every move is played out in every world.
A move's value is its mean over the same worlds for all moves.
"""

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from agents.counter import Scratch, look_ahead
from agents.hand_search import PLAYERS as SEARCHED
from agents.hand_search import new_search, points_of, search_worlds, worth_of, write_known
from agents.playout import new_board, play_out
from agents.shortlist import MOST, Shortlist, shorten_by_gain
from agents.worlds import Words, start_streams
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
        self._rules, self._scale = rules.table, scale_of(rules)
        self._worlds, self._most = WORLDS if worlds is None else worlds, moves
        self._seconds = None if ms is None else ms / 1000
        self._scratch = Scratch(empty_state(2, players), np.zeros(WORK_SIZE, np.int64))
        self._world = empty_state(1, players)
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
        if self._seconds is None:
            self._add_values(view, picked.offsets, picked.moves, self._worlds, streams, values)
        else:
            for game in range(len(streams)):
                self._add_timed_values(view, picked, game, streams, values)
        return picked.choose(legal.offsets, values)

    def _promising(self, view: View, legal: LegalMoves, streams: Words) -> Shortlist:
        """The moves to search: those that bring most now, then those that look best one round ahead."""
        known = self._is_known(view)
        most = np.where(known, len(legal.moves), MOST)
        picked = shorten_by_gain(self._rules, self._scale, view, legal, most)
        most = np.where(known, len(legal.moves), self._most)
        if (np.diff(picked.offsets) <= most).all():
            return picked
        values = np.zeros(len(picked.moves), np.int64)
        setting = self._rules, self._scale, self._scratch
        look_ahead(*setting, view, picked.offsets, picked.moves, FIRST_WORLDS, streams, values)
        return picked.shorten(values, most)

    def _is_known(self, view: View) -> NDArray[np.bool_]:
        """[B] whether one world is the truth: then it is searched once, and no move is left out."""
        known = np.zeros(len(view.hand), np.bool_)
        if self._players == SEARCHED:
            write_known(view, self._world, known)
        return known

    def _add_timed_values(
        self, view: View, picked: Shortlist, game: int, streams: Words, values: IntArray
    ) -> None:
        """Search one game's moves until the time is up; a known hand is searched whatever it takes."""
        end = perf_counter() + (self._seconds or 0)
        part = slice(picked.offsets[game], picked.offsets[game + 1])
        one, lots = select_view(view, np.array([game])), streams[game : game + 1]
        offsets = np.array([0, part.stop - part.start])
        known = self._is_known(one)[0]
        while True:
            self._add_values(one, offsets, picked.moves[part], CHUNK, lots, values[part])
            if known or offsets[1] == 1 or perf_counter() >= end:
                return

    def _add_values(
        self, view: View, offsets: IntArray, moves: IntArray, worlds: int, streams: Words, values: IntArray
    ) -> None:
        asked = view, offsets, moves, worlds, streams, values
        if self._players == SEARCHED:
            search_worlds(self._rules, self._yardsticks, self._search, self._world, *asked)
        else:
            play_out(self._rules, self._scale, self._board, *asked)
