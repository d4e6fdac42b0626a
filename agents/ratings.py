"""Ratings of many agents from their pairings, with intervals, and where pairings contradict them.

Two ratings, both 0 in the mean. Bradley-Terry (R. A. Bradley and M. E. Terry, Biometrika 39, 1952) on wins
and half the draws, in Elo points: 400 more are odds of ten to one. The margin rating: least squares on the
margins, so that the difference of two ratings is the margin to be expected. A *residual* is a pairing's
margin minus that difference; residuals show what no rating can, as A beating B, B beating C and C beating A.

Intervals are by bootstrap over decks (B. Efron, Annals of Statistics 7, 1979): the decks are the same in all
pairings, so a resample takes the same ones in all.
Axes: `A` agents, `P` pairings, `D` decks, `R` resamples.
"""

from collections.abc import Sequence
from itertools import permutations
from math import log
from typing import NamedTuple

import numpy as np

from agents.tally import FloatArray
from casino_env.state import IntArray

RESAMPLES = 1000
DIGITS = 9  # of residuals: what is beyond them is rounding
PERCENTILES = (2.5, 97.5)
ELO = 400 / log(10)  # of one unit of a Bradley-Terry parameter


class Intervals(NamedTuple):
    """Values with their 95 % intervals, NaN where there is but one deck."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


class Ratings(NamedTuple):
    """What many pairings say of the agents in them."""

    elo: Intervals  # [A] Bradley-Terry, Elo points
    margin: Intervals  # [A] reward, as the margins
    residual: Intervals | None  # [P] of each pairing's first agent; None where no pairing is beyond need


def rate(pairs: IntArray, margins: FloatArray, shares: FloatArray, games: int, seed: int) -> Ratings:
    """Rate the agents of `pairs` [P, 2], each in one at least and all connected by them.

    `margins` and `shares` [P, D] are those of the first of the two (see `tally.Tally`), over `games` games
    a deck. `seed` is that of the bootstrap.
    """
    decks = margins.shape[1]
    least_squares = np.linalg.pinv(_differences(pairs))  # [A, P]: its ratings sum to 0
    means = np.vstack([margins.mean(axis=1), np.empty((RESAMPLES, len(pairs)))])  # [1 + R, P]
    won = np.vstack([shares.sum(axis=1), np.empty((RESAMPLES, len(pairs)))])
    rng = np.random.default_rng(seed)
    for i in range(1, RESAMPLES + 1):
        weights = np.bincount(rng.integers(decks, size=decks), minlength=decks)
        means[i], won[i] = margins @ weights / decks, shares @ weights
    rated = means @ least_squares.T
    elo = np.array([_bradley_terry(pairs, row * games, decks * games) for row in won])
    residuals = np.round(means - rated @ _differences(pairs).T, DIGITS)
    has_residuals = len(pairs) >= len(least_squares)  # fewer only connect the agents, and fit whatever is
    return Ratings(
        elo=_but_extremes(_intervals(elo, decks), pairs, shares.mean(axis=1)),
        margin=_intervals(rated, decks),
        residual=_intervals(residuals, decks) if has_residuals else None,
    )


def find_cycles(pairs: IntArray, low: FloatArray, high: FloatArray) -> list[tuple[int, int, int]]:
    """Three agents of whom each beats the next and the last the first, beyond the intervals of the margins.

    `low` and `high` [P] are of the first of each pair. A cycle is named from its lowest agent on.
    """
    beats = {(int(a), int(b)) for (a, b), edge in zip(pairs, low, strict=True) if edge > 0}
    beats |= {(int(b), int(a)) for (a, b), edge in zip(pairs, high, strict=True) if edge < 0}
    trios = permutations(range(int(pairs.max()) + 1), 3)
    return [(a, b, c) for a, b, c in trios if a < min(b, c) and {(a, b), (b, c), (c, a)} <= beats]


def _differences(pairs: IntArray) -> FloatArray:
    """[P, A] +1 for the first agent of a pair, -1 for the second."""
    rows = np.zeros((len(pairs), int(pairs.max()) + 1))
    rows[np.arange(len(pairs)), pairs[:, 0]] = 1
    rows[np.arange(len(pairs)), pairs[:, 1]] = -1
    return rows


def _bradley_terry(pairs: IntArray, won: FloatArray, games: int) -> FloatArray:
    """Ratings [A] where the first of each pair won `won` [P] of `games`, and one game more is drawn.

    The drawn game gives who wins all a rating that is finite.
    """
    import choix  # brings scipy

    wins = np.zeros((int(pairs.max()) + 1,) * 2)
    wins[pairs[:, 0], pairs[:, 1]] = won + 0.5
    wins[pairs[:, 1], pairs[:, 0]] = games - won + 0.5
    return ELO * choix.ilsr_pairwise_dense(wins)


def _but_extremes(elo: Intervals, pairs: IntArray, shares: FloatArray) -> Intervals:
    """Without the interval of who won or lost all its games: resamples of those say nothing."""
    won = np.array([_share_of(agent, pairs, shares) for agent in range(len(elo.value))])
    is_extreme = (won == 0) | (won == 1)
    return Intervals(elo.value, *(np.where(is_extreme, np.nan, end) for end in (elo.low, elo.high)))


def _share_of(agent: int, pairs: IntArray, shares: FloatArray) -> float:
    """An agent's mean share in its pairings."""
    return float(np.mean([*shares[pairs[:, 0] == agent], *(1 - shares[pairs[:, 1] == agent])]))


def _intervals(rows: Sequence[FloatArray] | FloatArray, decks: int) -> Intervals:
    """The first row's values, with percentiles of the others."""
    value, resampled = rows[0], rows[1:]
    low, high = np.percentile(resampled, PERCENTILES, axis=0)
    unknown = np.full_like(value, np.nan)
    return Intervals(value, low, high) if decks > 1 else Intervals(value, unknown, unknown)
