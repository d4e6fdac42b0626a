"""A teacher of last hands: what every move gives away, where the other hand is known and can be searched.

Two players only. The network learns from it what play teaches slowly: each move of a decision is judged, by
the best play of both, not only the one that was made. Play needs no teacher.
Axes: `B` games, `M` moves of all games together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.endgame import LastHand
from agents.outlook import FloatArray
from casino_env.legal import LegalMoves, select_legal
from casino_env.rules import Rules
from casino_env.view import View, select_view


class Lesson(NamedTuple):
    """What decisions should have been."""

    solved: NDArray[np.bool_]  # [B] whether a decision was judged
    regrets: FloatArray  # [M] points that each move gives away; 0 where nothing was judged


class EndgameTeacher:
    """Solves last hands."""

    def __init__(self, rules: Rules) -> None:
        self._last_hand = LastHand(rules)

    def judge(self, view: View, legal: LegalMoves) -> Lesson:
        """The regret of each of `legal` in the last hands among the games, where there is a choice."""
        counts = np.diff(legal.offsets)
        solved = self._last_hand.is_open(view) & (counts > 1)
        regrets = np.zeros(len(legal.moves), np.float32)
        games = np.flatnonzero(solved)
        if len(games):
            lists = select_legal(legal, games)
            values = self._last_hand.values(select_view(view, games), lists)
            best = np.maximum.reduceat(values, lists.offsets[:-1])
            regrets[np.repeat(solved, counts)] = np.repeat(best, counts[games]) - values
        return Lesson(solved, regrets)


def no_lesson(legal: LegalMoves) -> Lesson:
    """Nothing is judged."""
    return Lesson(np.zeros(len(legal.offsets) - 1, np.bool_), np.zeros(len(legal.moves), np.float32))
