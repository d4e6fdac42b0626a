"""When a learner is paid, and for what: points once they are certain, the margin of a deal, or a match.

Axes: `B` games, `P` seats, `S` sides.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents.match_equity import MatchEquity, settle_deals
from agents.play_facts import banked_margins
from casino_env.state import NOBODY, IntArray
from casino_env.vector_env import Step, VectorEnv

Floats = NDArray[np.float64]


class Payment(Protocol):
    """Rewards of deals that are all played to their end."""

    def start(self, env: VectorEnv, rng: np.random.Generator) -> None:
        """Prepare for new deals, which have just been dealt."""

    def rewards(self, env: VectorEnv, step: Step) -> Floats:
        """What each seat [B, P] receives for a step that was just made."""


class FinalMargins:
    """The margin of the deal, at its end."""

    def start(self, env: VectorEnv, rng: np.random.Generator) -> None:
        """See `Payment`."""

    def rewards(self, env: VectorEnv, step: Step) -> Floats:
        """See `Payment`."""
        return step.rewards


class EarlyPoints:
    """Points once they are certain (see `banked_margins`); in all the margin of the deal."""

    def start(self, env: VectorEnv, rng: np.random.Generator) -> None:
        """See `Payment`."""
        self._banked = np.zeros((env.num_envs, env.players))

    def rewards(self, env: VectorEnv, step: Step) -> Floats:
        """See `Payment`."""
        before = self._banked
        self._banked = banked_margins(env.state, env.rules.table) * ~step.terminated[:, None]
        return step.rewards + self._banked - before


class MatchShare:
    """What a deal changes in the chance to win the match, at its end.

    Deals start from scores drawn uniformly below the target, which the learner sees. A win of the match is
    worth 1, to the others -1 in all, as in the environments; equities come from the deals themselves, so that
    the rewards of a match's deals add up to that of the match, less the equity at its start.
    """

    def start(self, env: VectorEnv, rng: np.random.Generator) -> None:
        """See `Payment`."""
        env.state.score[:] = rng.integers(env.rules.table.target, size=env.state.score.shape)

    def rewards(self, env: VectorEnv, step: Step) -> Floats:
        """See `Payment`."""
        if not step.terminated.any():
            return np.zeros_like(step.rewards)
        equity = MatchEquity(env.state, env.rules.table)
        start = equity.chances(env.state.score, np.full(env.num_envs, NOBODY))
        gained = equity.chances(*settle_deals(env.state, env.rules.table)) - start
        sides = gained.shape[1]
        return (gained * sides / (sides - 1))[:, _sides_of_seats(env.players, sides)]


def _sides_of_seats(players: int, sides: int) -> IntArray:
    return np.arange(players) % sides
