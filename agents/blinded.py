"""Any agent without one skill: it is not shown the moves of a kind, unless there are no others.

Axes: `B` games, `M` moves of all games together.
"""

import numpy as np

from agents.base import Agent
from agents.shortlist import Shortlist, kept_moves
from casino_env.cards import SUIT_COUNT
from casino_env.jit import inner_kernel, kernel
from casino_env.legal import LegalMoves
from casino_env.moves import move_card, move_loose, move_raises, move_value
from casino_env.state import IntArray
from casino_env.view import View

SKILLS = ("builds", "raises", "sums")
BUILDS, RAISES, SUMS = range(len(SKILLS))  # raises are not builds here; sums are captures of several ranks


class Blinded:
    """An agent that lacks a skill."""

    def __init__(self, agent: Agent, skill: str) -> None:
        self.name, self._agent, self._skill = f"{agent.name}:without={skill}", agent, SKILLS.index(skill)

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`."""
        shown = without_skill(legal, self._skill)
        lists = LegalMoves(shown.offsets, shown.moves, legal.bounded)
        return shown.originals(self._agent.choose(view, lists, rng), legal.offsets)


def without_skill(legal: LegalMoves, skill: int) -> Shortlist:
    """The moves that do not need a skill, or all of a game where every move does."""
    keep = np.zeros(len(legal.moves), np.bool_)
    _mark(legal.offsets, legal.moves, skill, keep)
    return kept_moves(legal, keep)


@kernel
def _mark(offsets: IntArray, moves: IntArray, skill: int, keep: np.ndarray) -> None:
    for game in range(offsets.shape[0] - 1):
        first, end = offsets[game], offsets[game + 1]
        for i in range(first, end):
            keep[i] = not _needs(moves[i], skill)
        if not keep[first:end].any():
            keep[first:end] = True


@inner_kernel
def _needs(move: int, skill: int) -> bool:
    """Whether a move builds, raises, or captures loose cards of other ranks than the played card's."""
    if skill == SUMS:
        same_rank = (1 << SUIT_COUNT) - 1 << (move_card(move) // SUIT_COUNT * SUIT_COUNT)
        return move_value(move) == 0 and move_loose(move) & ~same_rank != 0
    return move_value(move) != 0 and move_raises(move) == (skill == RAISES)
