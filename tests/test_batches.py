"""Targets by hand, and minibatches of a rollout's decisions."""

import numpy as np
import pytest
import torch

from agents.batches import Targets, make_targets, take_batch
from agents.league import League, LeagueConfig
from agents.ragged import log_softmax
from agents.ranks import Ranks
from agents.rollout import Rollout
from casino_env import Rules
from tests.helpers_learning import deals, generator, play, small_learner


def one_game() -> Rollout:
    """Seat 0 chooses the second of two moves, then seat 1 plays its only one; seat 0 is paid 3 points."""
    empty = np.zeros(0, np.float32)
    return Rollout(
        states=empty,
        hands=empty,
        chosen=empty,
        paid=np.array([0.5, 0.0]),
        moves=empty,
        offsets=np.array([0, 2, 3]),
        choices=np.array([1, 0]),
        log_probs=np.log([0.25, 0.75, 1.0]).astype(np.float32),
        judged=np.array([-1.0, 1.0, -2.0]),
        values=np.array([[0.5], [-2.0]]),
        seats=np.array([[0], [1]]),
        ours=np.ones((2, 1), np.bool_),
        rewards=np.array([[[0.5, -0.5]], [[2.5, -2.5]]]),
        done=np.array([[False], [True]]),
        played=np.zeros(2, np.int64),
        lifted=np.zeros(2, np.int64),
        points=np.zeros((1, 2, 6), np.int64),
        holders=np.zeros((1, 2), np.int64),
    )


def test_targets_by_hand():
    """The mean of seat 0's moves is 0.25 * -1 + 0.75 * 1 = 0.5; it is paid 3 in all, where 1 was expected."""
    targets = make_targets(one_game(), discount=1.0, trace=0.9, sampled=0.5, ranks=Ranks())
    assert targets.returns == pytest.approx([3, -2.5])
    assert targets.to_come == pytest.approx([2.5, -2.5])
    # over the one choice: 0.25 * 1.5^2 + 0.75 * 0.5^2 = 0.75 by what the critic says, and 1^2 of surprise
    scale = np.sqrt(0.75 + 1)
    assert targets.judged == pytest.approx(np.array([-1.5, 0.5, 0]) / scale)
    assert targets.surprise == pytest.approx(np.array([0.5 * (3 - 1), 0.5 * (-2.5 + 2)]) / scale)


def test_without_samples_the_critic_alone_decides():
    targets = make_targets(one_game(), discount=1.0, trace=0.9, sampled=0.0, ranks=Ranks())
    assert not targets.surprise.any()
    assert targets.judged == pytest.approx(np.array([-1.5, 0.5, 0]) / np.sqrt(0.75))


def test_targets_are_of_the_learners_own_decisions():
    learner, rng = small_learner(), generator()
    league = League(LeagueConfig(ladder=0.5, rungs="greedy"), learner.shape, Rules())
    rollout = play(learner, deals(8), rng, league.invite(rng, 8))
    targets = make_targets(rollout, 1.0, 1.0, 0.5, Ranks())
    assert len(targets.returns) == len(rollout.choices) == 4 * 48 + 4 * 24
    # with lambda 1 and no discount a return is all that the seat is still paid
    paid = rollout.rewards[::-1].cumsum(axis=0)[::-1]
    expected = np.take_along_axis(paid, rollout.seats[:, :, None], axis=2)[:, :, 0]
    assert targets.returns == pytest.approx(expected[rollout.ours])


def blank_targets(rollout: Rollout) -> Targets:
    decisions, moves = len(rollout.choices), len(rollout.log_probs)
    return Targets(np.arange(moves) * 1.0, -np.arange(decisions), np.arange(decisions) * 2, np.zeros(0))


def test_a_batch_holds_the_choices_of_its_decisions():
    rng, learner = generator(), small_learner()
    rollout = play(learner, deals(4), rng)
    rows, targets = np.array([7, 150, 3, 191, 60]), blank_targets(rollout)
    batch = take_batch(rollout, targets, rows)
    counts = np.diff(rollout.offsets)[rows]
    free = rows[counts > 1]
    assert 0 < len(free) < len(rows)
    assert batch.to_come.tolist() == (2 * rows).tolist() and batch.surprise.tolist() == (-free).tolist()
    assert (batch.states.numpy() == rollout.states[free]).all()
    assert (batch.hands.numpy() == rollout.hands[free]).all()
    assert (batch.chosen.numpy() == rollout.chosen[rows]).all()
    for i, row in enumerate(free):
        inside, mine = slice(rollout.offsets[row], rollout.offsets[row + 1]), batch.owner == i
        assert (batch.moves[mine].numpy() == rollout.moves[inside]).all()
        assert (batch.log_probs[mine].numpy() == rollout.log_probs[inside]).all()
        assert batch.judged[mine].tolist() == targets.judged[inside].tolist()
        assert (batch.moves[batch.picked[i]].numpy() == rollout.moves[inside][rollout.choices[row]]).all()
    sole = np.flatnonzero(np.diff(rollout.offsets) == 1)[:3]
    batch = take_batch(rollout, targets, sole)
    assert len(batch.chosen) == 3 and len(batch.moves) == len(batch.picked) == len(batch.states) == 0


@pytest.mark.parametrize("merged", [False, True])
def test_the_log_probabilities_kept_are_those_of_the_policy(merged):
    learner, rng = small_learner(merged=merged), generator()
    rollout = play(learner, deals(4), rng)
    batch = take_batch(rollout, blank_targets(rollout), np.arange(192))
    again = log_softmax(learner.actor(batch.states, batch.moves, batch.owner), batch.owner, len(batch.picked))
    assert torch.allclose(again, batch.log_probs, atol=1e-5)
