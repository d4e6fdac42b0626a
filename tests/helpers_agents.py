"""Agents for tests of the arena: simple ones, and ones that fail."""

import time

import numpy as np

from agents.baselines import GreedyAgent
from casino_env import Rules, View
from casino_env.legal import LegalMoves

ROYAL = Rules.parse("royal")


def greedy() -> GreedyAgent:
    """The rung of the ladder, for royal."""
    return GreedyAgent(ROYAL)


class Extreme:
    """Plays the move with the lowest or highest packed number; keeps what it was given."""

    def __init__(self, name: str, highest: bool = False) -> None:
        self.name, self.highest = name, highest
        self.draws: list[float] = []
        self.batches: list[int] = []

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
        self.draws.append(rng.random())
        self.batches.append(len(view.hand))
        lists = np.split(legal.moves, legal.offsets[1:-1])
        return np.array([moves.argmax() if self.highest else moves.argmin() for moves in lists])


class Answers:
    """Always answers the same."""

    def __init__(self, *answer: float) -> None:
        self.name, self.answer, self.calls = "stubborn", np.array(answer), 0

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
        self.calls += 1
        return self.answer


class Fails:
    """Plays its first moves, then raises."""

    def __init__(self, error: BaseException, after: int = 0) -> None:
        self.name, self.error, self.left = "broken", error, after

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
        if not self.left:
            raise self.error
        self.left -= 1
        return np.zeros(len(view.hand), np.int64)


class Slow:
    """Plays its first move after a while."""

    name = "slow"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
        time.sleep(self.seconds)
        return np.zeros(len(view.hand), np.int64)
