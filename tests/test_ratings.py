"""Ratings from pairings: by hand, on drawn results, and where agents go in a circle."""

from itertools import combinations

import numpy as np
import pytest

from agents import ratings
from agents.ratings import ELO, find_cycles, rate

PAIRS = np.array(list(combinations(range(3), 2)))
DECKS, GAMES = 400, 2
LEVEL = [0.5, 0.5, 0.5]


def drawn(margins: list[float], shares: list[float], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Margins and shares [P, D] of decks, with exactly the given means."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 3, (len(margins), DECKS))
    noise -= noise.mean(axis=1, keepdims=True)
    wins = np.array([np.arange(DECKS) < round(share * DECKS) for share in shares], np.float64)
    return np.array(margins)[:, None] + noise, rng.permuted(wins, axis=1)


def test_margin_ratings_by_hand() -> None:
    found = rate(PAIRS, *drawn([2, 5, 3], LEVEL), games=GAMES, seed=0)
    assert found.margin.value == pytest.approx([7 / 3, 1 / 3, -8 / 3])
    assert found.residual.value == pytest.approx([0, 0, 0], abs=1e-9)
    bent = rate(PAIRS, *drawn([2, 2, 3], LEVEL), games=GAMES, seed=0)
    assert bent.margin.value == pytest.approx([4 / 3, 1 / 3, -5 / 3])
    assert bent.residual.value == pytest.approx([1, -1, 1])


def test_elo_by_hand() -> None:
    """Two agents: the odds, one drawn game added, 400 points for ten to one; ratings have the mean 0."""
    margins, shares = drawn([1], [0.9])
    found = rate(np.array([[0, 1]]), margins, shares, games=GAMES, seed=0)
    games = DECKS * GAMES
    difference = 400 * np.log10((0.9 * games + 0.5) / (0.1 * games + 0.5))
    assert found.elo.value == pytest.approx([difference / 2, -difference / 2], abs=1e-3)


def test_elo_of_three_is_where_expected_wins_are_the_wins() -> None:
    """The likelihood equations of Bradley and Terry, at the rating found."""
    shares = [0.7, 0.8, 0.6]
    elo = rate(PAIRS, *drawn([0, 0, 0], shares), games=GAMES, seed=0).elo.value
    games = DECKS * GAMES
    expected, won = np.zeros(3), np.zeros(3)
    for (a, b), share in zip(PAIRS, shares, strict=True):
        chance = 1 / (1 + np.exp((elo[b] - elo[a]) / ELO))
        expected += np.eye(3)[a] * chance * (games + 1) + np.eye(3)[b] * (1 - chance) * (games + 1)
        won += np.eye(3)[a] * (share * games + 0.5) + np.eye(3)[b] * ((1 - share) * games + 0.5)
    assert expected == pytest.approx(won, abs=1e-3) and elo.sum() == pytest.approx(0, abs=1e-6)


def test_who_wins_everything_has_a_finite_rating() -> None:
    elo = rate(PAIRS, *drawn([5, 5, 5], [1, 1, 1]), games=GAMES, seed=0).elo
    assert np.isfinite(elo.value).all() and elo.value[0] > elo.value[1] > elo.value[2]
    assert np.isnan(elo.low).tolist() == np.isnan(elo.high).tolist() == [True, False, True]


def test_intervals_hold_the_truth_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "RESAMPLES", 100)
    held = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        margins = rng.normal([[1.0], [1.5], [0.5]], 3, (3, DECKS))
        shares = (rng.random((3, DECKS)) < 0.6).astype(np.float64)
        margin = rate(PAIRS, margins, shares, games=1, seed=seed).margin
        held.append(margin.low[0] <= 2.5 / 3 <= margin.high[0])
    assert np.mean(held) >= 0.85


def test_a_bootstrap_takes_the_same_decks_in_all_pairings() -> None:
    """Where every pairing has the same luck, residuals have none."""
    luck = np.random.default_rng(0).normal(0, 3, DECKS)
    margins = np.array([1.0, 3.0, 2.0])[:, None] + np.array([luck, 2 * luck, luck])
    residual = rate(PAIRS, margins, np.full((3, DECKS), 0.5), games=1, seed=0).residual
    assert residual is not None and (np.concatenate(residual) == 0).all()


def test_one_deck_has_no_intervals() -> None:
    found = rate(PAIRS, np.ones((3, 1)), np.ones((3, 1)), games=2, seed=0)
    for part in (found.elo, found.margin, found.residual):
        assert part is not None and np.isnan(part.low).all() and np.isnan(part.high).all()


def test_a_circle_is_all_residual() -> None:
    """Each beats the next by two: the ratings are level and say nothing."""
    found = rate(PAIRS, *drawn([2, -2, 2], [0.7, 0.3, 0.7]), games=GAMES, seed=0)
    assert found.margin.value == pytest.approx([0, 0, 0], abs=1e-9)
    assert found.elo.value == pytest.approx([0, 0, 0], abs=1e-3)
    assert found.residual.value == pytest.approx([2, -2, 2])
    assert (found.residual.low * found.residual.high > 0).all()
    assert find_cycles(PAIRS, np.array([1, -3, 1]), np.array([3, -1, 3])) == [(0, 1, 2)]
    assert find_cycles(PAIRS, np.array([-3, 1, -3]), np.array([-1, 3, -1])) == [(0, 2, 1)]
    assert find_cycles(PAIRS, np.array([-1, -3, 1]), np.array([3, -1, 3])) == []  # one may be level
    assert find_cycles(PAIRS, np.array([1, 1, 1]), np.array([3, 3, 3])) == []


def test_a_gauntlet_has_no_residuals() -> None:
    gauntlet = np.array([[0, 1], [0, 2]])
    found = rate(gauntlet, *drawn([1, 4], [0.6, 0.9]), games=GAMES, seed=0)
    assert found.margin.value == pytest.approx([5 / 3, 2 / 3, -7 / 3])
    assert found.residual is None
