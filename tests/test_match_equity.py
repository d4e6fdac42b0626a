"""Chances to win a match: by hand, against matches played out, and as what a learner is paid."""

import numpy as np
import pytest

from agents.match_equity import MatchEquity, settle_deals
from agents.payments import MatchShare
from casino_env import Position, Rules, VectorEnv
from casino_env.cards import FULL_DECK
from casino_env.state import NOBODY, empty_state
from tests.helpers_learning import Buffers, collect, deals, generator, small_learner


def ended(env, rng):
    """The games of `env` played to their end at random."""
    legal = env.reset()
    while len(legal.moves):
        legal = env.step((rng.random(env.num_envs) * np.diff(legal.offsets)).astype(np.int64)).legal
    return env.state


def test_a_match_that_is_decided_leaves_no_chance():
    state = empty_state(32, 2)
    state.captured[:, 0] = FULL_DECK
    equity = MatchEquity(state, Rules.parse("royal;near21=none").table)
    assert equity.chances(np.array([[21, 5], [5, 21]]), np.array([0, 1])).tolist() == [[1, 0], [0, 1]]
    # sides are taken to be alike, whoever won the sample deals
    assert equity.chances(np.array([[0, 0]]), np.array([NOBODY])).tolist() == [[0.5, 0.5]]


def test_two_deals_by_hand():
    """Half of the deals bring all 11 points to side 0, half to side 1; who gets two of them has 21."""
    state = empty_state(32, 2)
    state.captured[:16, 0] = state.captured[16:, 1] = FULL_DECK
    equity = MatchEquity(state, Rules.parse("royal;near21=none").table)
    chances = equity.chances(np.array([[0, 0], [11, 0], [11, 11], [0, 11]]), np.full(4, NOBODY))
    assert chances[:, 0] == pytest.approx([0.5, 0.75, 0.5, 0.25])
    assert chances.sum(axis=1) == pytest.approx(np.ones(4))


@pytest.mark.parametrize(("players", "sides"), [(2, 2), (3, 3), (4, 2)])
def test_a_lead_is_worth_something_and_chances_add_up(players, sides):
    rules = Rules()
    state = ended(deals(256, "royal", players), generator(players))
    equity = MatchEquity(state, rules.table)
    level, ahead = np.full((1, sides), 5), np.full((1, sides), 5)
    ahead[0, 0] = 12
    nobody = np.array([NOBODY])
    assert equity.chances(level, nobody).sum() == pytest.approx(1)
    assert equity.chances(level, nobody)[0] == pytest.approx(np.full(sides, 1 / sides))
    assert equity.chances(ahead, nobody)[0, 0] > equity.chances(level, nobody)[0, 0] + 0.1


def test_chances_are_those_of_matches_played_out():
    """Random play from 14:10, against 3,000 matches between the same players."""
    rules, rng = Rules(), generator(0)
    equity = MatchEquity(ended(VectorEnv(256, rules, seed=1, auto_reset=False), rng), rules.table)
    env, games = VectorEnv(3000, rules, seed=2, objective="match"), 3000
    legal = env.reset()
    env.state.score[:] = (14, 10)
    won, going = np.zeros(games), np.ones(games, np.bool_)
    while going.any():
        step = env.step((rng.random(games) * np.diff(legal.offsets)).astype(np.int64))
        won[going & step.terminated] = step.rewards[going & step.terminated, 0] > 0
        going &= ~step.terminated
        legal = step.legal
    expected = equity.chances(np.array([[14, 10]]), np.array([NOBODY]))[0, 0]
    assert won.mean() == pytest.approx(expected, abs=0.06)


def test_deals_are_settled_as_positions_are():
    env = VectorEnv(16, seed=3, auto_reset=False)
    env.reset()
    env.state.score[:] = generator(3).integers(21, size=(16, 2))
    starts = env.state.score.copy()
    while len(env.legal.moves):
        env.step(np.zeros(16, np.int64))
    scores, winners = settle_deals(env.state, env.rules.table)
    for game in range(16):
        state = type(env.state)._make(array[game : game + 1] for array in env.state)
        score, winner = Position(Rules(), state).settle()
        assert scores[game].tolist() == list(score)
        assert winners[game] == (NOBODY if winner is None else winner)
    assert (env.state.score == starts).all()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_learner_is_paid_for_the_match(players):
    learner, env, rng = small_learner(players=players), deals(64, "royal", players), generator(4)
    networks = learner.actor, learner.critic
    rollout = collect(env, networks, rng, Buffers.of(players), MatchShare())
    assert not rollout.rewards[:-1].any()
    final = rollout.rewards[-1]
    assert final.sum(axis=1) == pytest.approx(np.zeros(64), abs=1e-9) and np.abs(final).max() <= 1.5
    # who wins the match is paid the rest to 1, who loses it the rest to -1 (three players: -1/2)
    equity = MatchEquity(env.state, env.rules.table)
    before = equity.chances(env.state.score, np.full(64, NOBODY))
    _, winners = settle_deals(env.state, env.rules.table)
    decided = np.flatnonzero(winners != NOBODY)
    sides = before.shape[1]
    worth = (before * sides - 1) / (sides - 1)  # what the match is worth before the deal
    assert len(decided) > 5
    for game in decided:
        for seat in range(players):
            result = 1 if seat % sides == winners[game] else -1 / (sides - 1)
            assert final[game, seat] == pytest.approx(result - worth[game, seat % sides])
    # the scores are seen: the last columns of a state, beside each other as the sides are
    first = rollout.states[:64, -sides:] * Rules().table.target
    seats = (rollout.seats[0][:, None] + np.arange(sides)) % sides
    assert first == pytest.approx(np.take_along_axis(env.state.score, seats, axis=1), abs=1e-4)
    assert (env.state.score < 21).all() and len(np.unique(env.state.score)) > 15
