"""The first rungs of the ladder: `random`, and `greedy` by a fixed worth of cards. Both hold no rule."""

import numpy as np

from agents.worth import Scale, greedy_move, scale_of
from casino_env.jit import borrow, kernel
from casino_env.legal import LegalMoves
from casino_env.rules import Rules, RuleTable
from casino_env.state import IntArray
from casino_env.view import View


class RandomAgent:
    """Each legal move with the same probability."""

    name = "random"

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`."""
        counts = np.diff(legal.offsets)
        return (rng.random(len(counts)) * counts).astype(np.int64)


class GreedyAgent:
    """The most valuable capture now (see `worth`), else the trail that gives away least; never builds."""

    name = "greedy"

    def __init__(self, rules: Rules) -> None:
        self._rules, self._scale = rules.table, scale_of(rules.table)

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`. Deterministic: of equal moves, the first of the list."""
        choices = np.zeros(len(legal.offsets) - 1, np.int64)
        _choose(self._rules, self._scale, view, legal.offsets, legal.moves, choices)
        return choices


@kernel
def _choose(
    rules: RuleTable, scale: Scale, view: View, offsets: IntArray, moves: IntArray, choices: IntArray
) -> None:
    view, moves = borrow(view), borrow(moves)
    for game in range(choices.shape[0]):
        choices[game] = greedy_move(rules, scale, view, game, moves[offsets[game] : offsets[game + 1]])
