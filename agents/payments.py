"""When a learner is paid, and for what: points once they are certain, the margin of a deal, or a match.

Axes: `B` games, `P` seats, `S` sides.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents.endgame import LastHand
from agents.match_equity import MatchEquity, settle_deals
from agents.play_facts import banked_margins
from casino_env.legal import select_legal
from casino_env.rules import Rules
from casino_env.state import NOBODY, IntArray
from casino_env.vector_env import Step, VectorEnv
from casino_env.view import select_view

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Payment(Protocol):
    """Rewards of deals that are all played to their end."""

    def start(self, env: VectorEnv, rng: np.random.Generator) -> None:
        """Prepare for new deals, which have just been dealt."""

    def pay(self, env: VectorEnv, step: Step) -> tuple[Floats, Flags]:
        """What each seat [B, P] receives for a step that was just made, and where all before is paid now [B].

        What is paid later there is for later decisions alone.
        """


class FinalMargins:
    """The margin of the deal, at its end."""

    def start(self, env: VectorEnv, rng: np.random.Generator) -> None:
        """See `Payment`."""

    def pay(self, env: VectorEnv, step: Step) -> tuple[Floats, Flags]:
        """See `Payment`."""
        return step.rewards, step.terminated


class SolvedEnd:
    """The margin of the deal that best play of the last hand will bring, once that hand is open (2 players).

    So decisions before it are not paid for slips in it, and last hands for the difference that they make.
    """

    def __init__(self, rules: Rules) -> None:
        self._last_hand = LastHand(rules)

    def start(self, env: VectorEnv, rng: np.random.Generator) -> None:
        """See `Payment`."""
        self._paid = np.zeros((env.num_envs, env.players))
        self._open = np.ones(env.num_envs, np.bool_)  # nothing is paid yet

    def pay(self, env: VectorEnv, step: Step) -> tuple[Floats, Flags]:
        """See `Payment`."""
        rewards, view = step.rewards - self._paid * step.terminated[:, None], env.view()
        solvable = self._last_hand.is_open(view) & (np.diff(step.legal.offsets) > 1)
        games = np.flatnonzero(solvable & self._open)
        ended = step.terminated.copy()
        if len(games):
            margins = self._last_hand.margins(select_view(view, games), select_legal(step.legal, games))
            seats = env.state.turn[games]
            self._paid[games, seats], self._paid[games, 1 - seats] = margins, -margins
            rewards[games] += self._paid[games]
            self._open[games], ended[games] = False, True
        return rewards, ended


class EarlyPoints:
    """Points once they are certain (see `banked_margins`); in all the margin of the deal."""

    def start(self, env: VectorEnv, rng: np.random.Generator) -> None:
        """See `Payment`."""
        self._banked = np.zeros((env.num_envs, env.players))

    def pay(self, env: VectorEnv, step: Step) -> tuple[Floats, Flags]:
        """See `Payment`."""
        before = self._banked
        self._banked = banked_margins(env.state, env.rules.table) * ~step.terminated[:, None]
        return step.rewards + self._banked - before, step.terminated


class MatchShare:
    """What a deal changes in the chance to win the match, at its end.

    Deals start from scores drawn uniformly below the target, which the learner sees. A win of the match is
    worth 1, to the others -1 in all, as in the environments; equities come from the deals themselves, so that
    the rewards of a match's deals add up to that of the match, less the equity at its start.
    """

    def start(self, env: VectorEnv, rng: np.random.Generator) -> None:
        """See `Payment`."""
        env.state.score[:] = rng.integers(env.rules.table.target, size=env.state.score.shape)

    def pay(self, env: VectorEnv, step: Step) -> tuple[Floats, Flags]:
        """See `Payment`."""
        if not step.terminated.any():
            return np.zeros_like(step.rewards), step.terminated
        equity = MatchEquity(env.state, env.rules.table)
        start = equity.chances(env.state.score, np.full(env.num_envs, NOBODY))
        gained = equity.chances(*settle_deals(env.state, env.rules.table)) - start
        sides = gained.shape[1]
        by_side = gained * sides / (sides - 1)
        return by_side[:, _sides_of_seats(env.players, sides)], step.terminated


def _sides_of_seats(players: int, sides: int) -> IntArray:
    return np.arange(players) % sides
