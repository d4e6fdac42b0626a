"""What the games of two agents come to: per deck, so that intervals can be over decks.

Axes: `K` seatings, `D` decks, `S` sides. A deck is one observation: its seatings are averaged first.
"""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.state import IntArray

NORMAL_95 = 1.96  # standard errors on either side that hold 95 % of a normal distribution

FloatArray = NDArray[np.float64]


class Tally(NamedTuple):
    """The first of two agents against the second, deck by deck."""

    margins: FloatArray  # [D] reward of a side of the first, mean over sides and seatings
    wins: FloatArray  # [D] share of games in which only sides of the first have the most
    draws: FloatArray  # [D] share of games in which sides of both have the most
    by_seat: FloatArray  # [D, 2, S] reward of each of the two agents on each side

    @property
    def shares(self) -> FloatArray:
        """[D] Wins, and half the draws."""
        return self.wins + self.draws / 2

    def reversed(self) -> "Tally":
        """The second against the first."""
        return Tally(-self.margins, 1 - self.wins - self.draws, self.draws, self.by_seat[:, ::-1])


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95 % interval; None with a single deck."""

    mean: float
    low: float | None
    high: float | None

    def reversed(self) -> "Estimate":
        """Of the negative."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Estimate(-self.mean, low, high)


def tally(rewards: FloatArray, seatings: IntArray) -> Tally:
    """Count `rewards` [K, D, S] of games in `seatings` [K, S] of agents 0 and 1."""
    by_deck = rewards.swapaxes(0, 1)  # [D, K, S]
    first = seatings == 0
    best = by_deck == by_deck.max(axis=-1, keepdims=True)
    mine, theirs = (best & first).any(axis=-1), (best & ~first).any(axis=-1)  # [D, K]
    by_seat = np.array([_mean_held(by_deck, seatings == agent) for agent in (0, 1)])  # [2, S, D]
    return Tally(
        margins=by_deck[:, first].mean(axis=1),
        wins=(mine & ~theirs).mean(axis=1),
        draws=(mine & theirs).mean(axis=1),
        by_seat=by_seat.transpose(2, 0, 1),
    )


def estimate(values: FloatArray) -> Estimate:
    """Mean of independent values [D] with the interval of the normal approximation."""
    mean = float(values.mean())
    if len(values) == 1:
        return Estimate(mean, None, None)
    reach = NORMAL_95 * float(values.std(ddof=1)) / sqrt(len(values))
    return Estimate(mean, mean - reach, mean + reach)


def _mean_held(by_deck: FloatArray, held: NDArray[np.bool_]) -> FloatArray:
    """Mean reward [S, D] on each side over the seatings in which it is `held` [K, S]."""
    return np.array([by_deck[:, held[:, side], side].mean(axis=1) for side in range(held.shape[1])])
