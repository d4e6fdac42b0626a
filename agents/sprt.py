"""A sequential test of the margin a deck: stop as soon as the question is answered.

Wald's sequential probability ratio test with a Gaussian margin of unknown variance (generalised SPRT): two
hypotheses about the mean, and bounds that keep the two kinds of error below `alpha` and `beta`. Looked at
after every deck.
"""

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from casino_env.arguments import quoted
from casino_env.errors import CasinoError

FEWEST = 10  # decks before a verdict
PRIOR_DECKS, PRIOR_DEVIATION = 2, 3.0  # what the variance is taken for at first: points a deck


@dataclass(frozen=True)
class Verdict:
    """What a test says after some decks."""

    accepted: str | None  # `H0`, `H1`, or None: more decks are needed
    decks: int  # that it took
    ratio: float  # logarithm of the likelihood ratio, H1 over H0


@dataclass(frozen=True)
class Sprt:
    """H0: the first agent's mean margin is `low` points or less; H1: it is `high` or more."""

    low: float
    high: float
    alpha: float = 0.05  # chance to accept H1 at `low`
    beta: float = 0.05  # chance to accept H0 at `high`

    def __post_init__(self) -> None:
        if not -100 <= self.low < self.high <= 100:
            raise CasinoError(
                f"sprt={self.low},{self.high} is not possible; valid: two rising numbers of points"
            )
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            if not 0 < value < 0.5:
                raise CasinoError(f"{name}={quoted(value)} is not possible; valid: above 0, below 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The ratios at or beyond which H0 and H1 are accepted."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    def ratios(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-likelihood ratio after each deck, [D], of margins [D].

        n (high - low) (mean - (low + high) / 2) / variance; the variance is that of the decks so far and of
        PRIOR_DECKS more, so that a few equal margins do not decide.
        """
        count = np.arange(1, len(margins) + 1)
        mean = np.cumsum(margins) / count
        squares = np.maximum(0, np.cumsum(margins**2) - count * mean**2)
        variance = (squares + PRIOR_DECKS * PRIOR_DEVIATION**2) / (count + PRIOR_DECKS - 1)
        return count * (self.high - self.low) * (mean - (self.low + self.high) / 2) / variance

    def verdict(self, margins: NDArray[np.float64]) -> Verdict:
        """The verdict at the first deck that brings one, else that more are needed."""
        ratios, (lower, upper) = self.ratios(margins), self.bounds
        beyond = np.flatnonzero((ratios <= lower) | (ratios >= upper))
        beyond = beyond[beyond >= FEWEST - 1]
        if not len(beyond):
            return Verdict(None, len(margins), float(ratios[-1]))
        deck = int(beyond[0])
        return Verdict("H1" if ratios[deck] >= upper else "H0", deck + 1, float(ratios[deck]))


def read_sprt(text: str, alpha: float, beta: float) -> Sprt:
    """The test of `LOW,HIGH` in points; CasinoError if it is none."""
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise CasinoError(
            f"sprt={quoted(text)} is not possible; valid: LOW,HIGH in points, as 0,0.5"
        ) from None
    return Sprt(low, high, alpha, beta)
