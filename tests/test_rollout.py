"""Rollouts: whole deals, rewards that add up, guests, and what metrics are made from."""

import numpy as np
import pytest

from agents.baselines import GreedyAgent, RandomAgent
from agents.buffers import Rows
from agents.league import our_margins, points_against_guests
from agents.merging import choices_of
from agents.metrics import METRICS
from agents.play_facts import FOREIGN, OWN, banked_margins, lift_kinds
from agents.rollout import Guests
from agents.rollout_metrics import rollout_metrics
from casino_env import CasinoError, Move, Position, Rules, VectorEnv
from casino_env.decks import shuffled_decks
from casino_env.legal import select_lists
from casino_env.view import see
from tests.helpers_learning import deals, generator, play, small_learner


def test_lists_of_some_games_are_put_together():
    rows, offsets = select_lists(np.array([0, 2, 5, 6]), np.array([2, 0, 2]))
    assert rows.tolist() == [5, 0, 1, 5]
    assert offsets.tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", ["royal", "royal;sweeps=plain", "plain", "spade", "spade;sweeps=net"])
@pytest.mark.parametrize("early", [True, False])
def test_a_rollout_holds_whole_deals_whose_rewards_add_up_to_the_margins(rules, players, early):
    learner, env = small_learner(0, players, merged=players == 2), deals(16, rules, players)
    rollout = play(learner, env, generator(1), early=early)
    assert rollout.ours.all() and rollout.done[-1].all()
    assert not rollout.done[:-1].any()
    assert len(rollout.choices) == 48 * 16 == len(rollout.offsets) - 1
    assert rollout.offsets[-1] == len(rollout.moves) == len(rollout.log_probs)
    assert (rollout.choices < np.diff(rollout.offsets)).all()
    paid = rollout.rewards.sum(axis=0)
    # 11 points a deal and the sweeps; margins of all seats cancel out
    assert paid.sum(axis=1) == pytest.approx(np.zeros(16))
    assert (np.abs(paid).max(axis=1) > 0).any()
    assert rollout.rewards[:-1].any() == early
    env.reset(decks=shuffled_decks(generator(1), 16, env.rules.table))
    counts = np.diff(rollout.offsets).reshape(48, 16)
    for turn in range(48):
        kept = choices_of(learner.actor, env.legal)
        assert counts[turn].tolist() == np.diff(kept.offsets).tolist()
        step = env.step(kept.originals(rollout.choices.reshape(48, 16)[turn], env.legal.offsets))
    assert step.rewards == pytest.approx(paid)
    sides = rollout.points.shape[1]
    assert (rollout.points.sum(axis=2) == step.points).all()
    assert our_margins(rollout) == pytest.approx(paid[:, 0])
    assert rollout.holders.shape == (16, players) and sides == step.points.shape[1]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_guests_play_their_seats_and_are_not_learned_from(players):
    learner, env, rng = small_learner(0, players), deals(12, "royal", players), generator(3)
    holders = np.zeros((12, players), np.int64)
    holders[:4, 1] = 1
    holders[4:8, 0] = 2
    guests = Guests([GreedyAgent(Rules()), RandomAgent()], holders)
    rollout = play(learner, env, rng, guests)
    acting = holders[np.arange(12), rollout.seats]
    assert (rollout.ours == (acting == 0)).all()
    assert len(rollout.choices) == len(rollout.states) == len(rollout.hidden) == rollout.ours.sum()
    assert not rollout.values[~rollout.ours].any()
    metrics = rollout_metrics(rollout, np.zeros(len(rollout.choices)), Rules().table)
    metrics |= points_against_guests(rollout)
    assert set(metrics) <= set(METRICS) and all(np.isfinite(value) for value in metrics.values())
    assert sum(metrics[f"moves/{kind}"] for kind in ("trail", "capture", "build", "raise")) == pytest.approx(
        1
    )


def test_points_against_guests_add_up_to_the_margin():
    learner, env = small_learner(), deals(8)
    holders = np.array([[0, 0]] * 3 + [[0, 1]] * 3 + [[1, 0]] * 2)
    rollout = play(learner, env, generator(4), Guests([GreedyAgent(Rules())], holders))
    gained = sum(points_against_guests(rollout).values())
    assert gained == pytest.approx(our_margins(rollout)[3:].mean())
    assert points_against_guests(play(learner, env, generator(4))) == {}


def test_a_guest_that_fails_is_named():
    class Broken(RandomAgent):
        name = "broken"

        def choose(self, view, legal, rng):
            raise ValueError("no idea")

    guests = Guests([Broken()], np.array([[0, 1]] * 4))
    with pytest.raises(CasinoError, match="agent 'broken' failed: ValueError: no idea"):
        play(small_learner(), deals(4), generator(), guests)


def test_nothing_is_banked_at_the_start():
    env = VectorEnv(4)
    env.reset()
    assert not banked_margins(env.state, Rules().table).any()


@pytest.mark.parametrize(
    ("position", "kind"),
    [
        ("royal 2D9S/9DAH 3S 9=4D5C@0 -/- - 0 - 0/0 0/0 1", OWN),
        ("royal 2D9S/9DAH 3S 9=4D5C@1 -/- - 0 - 0/0 0/0 1", FOREIGN),
        ("royal 2D9S/4HAH/9DAS/2C2S 3S 9=4D5C@2 -/-/-/- - 0 - 0/0/0/0 0/0 3", OWN),  # the partner's
        ("royal 2D9S/4HAH/9DAS/2S9H 3S 9=4D5C@3 -/-/-/- - 0 - 0/0/0/0 0/0 3", FOREIGN),
    ],
)
def test_captured_builds_are_kept_or_lost(position, kind):
    view = see(Position.parse(position, partial=True).state)
    for move, expected in (("9S*[9]", kind), ("2D", 0), ("9S+[9]=9", 0)):
        packed = np.array([Move.parse(move).packed])
        assert lift_kinds(view, packed, Rules().table).tolist() == [expected]


def test_rows_grow_and_are_used_again():
    rows = Rows(2)
    rows.extend(3)[:] = 1
    rows.extend(100)[:] = 2
    assert rows.all().shape == (103, 2) and rows.all()[:3].tolist() == [[1, 1]] * 3
    kept = rows.all()
    rows.clear()
    assert len(rows.all()) == 0
    rows.extend(5)[:] = 7
    assert kept[:5].tolist() == [[7, 7]] * 5  # the same memory
