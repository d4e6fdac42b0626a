"""Losses by hand, ragged softmax against the dense one, rollouts, and learning itself."""

import numpy as np
import pytest
import torch

from agents.arena import margin_against
from agents.baselines import RandomAgent
from agents.merging import choices_of
from agents.metrics import METRICS
from agents.network import NetworkShape
from agents.policy import PolicyAgent
from agents.ppo import (
    Learner,
    PPOConfig,
    approximate_kl,
    clipped_policy_loss,
    explained_variance,
    standardised,
    take_batch,
)
from agents.ragged import best, entropy, log_prob, log_softmax, owners, sample
from agents.rollout import banked_margins, collect
from agents.stopwatch import Stopwatch
from casino_env import Rules, VectorEnv
from casino_env.legal import select_lists

SMALL = NetworkShape(players=2, hidden=32, scorer=16)


def small_learner(seed=0, players=2, merged=False):
    return Learner(NetworkShape(players, 32, 16, merged), PPOConfig(minibatch=512), seed)


def test_clipped_loss_by_hand():
    # ratios 1.5 and 0.5, clip 0.2: a gain counts up to 1.2, a loss is not capped when it pulls back
    log_ratio = torch.log(torch.tensor([1.5, 1.5, 0.5, 0.5]))
    advantages = torch.tensor([1.0, -1.0, 1.0, -1.0])
    loss = clipped_policy_loss(log_ratio, advantages, 0.2)
    assert loss.tolist() == pytest.approx([-1.2, 1.5, -0.5, 0.8])


def test_approximate_kl_by_hand():
    log_ratio = torch.log(torch.tensor([1.0, 2.0]))
    assert approximate_kl(log_ratio).tolist() == pytest.approx([0.0, 2 - 1 - np.log(2)])


def test_explained_variance_by_hand():
    returns = np.array([1.0, 2.0, 3.0])
    assert explained_variance(returns, returns) == 1
    assert explained_variance(np.full(3, 5.0), returns) == pytest.approx(0)
    assert explained_variance(returns, np.ones(3)) == 0


def test_standardised_by_hand():
    # the decisions with a choice are 1 and 3: mean 2, deviation 1; the sole move (9) is shifted along
    scaled = standardised(np.array([1.0, 9.0, 3.0]), np.array([True, False, True]))
    assert scaled == pytest.approx([-1, 7, 1])
    assert standardised(np.array([5.0]), np.array([False])).tolist() == [0]


def test_minibatches_of_a_single_decision_leave_finite_weights():
    learner, env, rng = small_learner(), VectorEnv(1), np.random.default_rng(0)
    learner.config = PPOConfig(minibatch=1, epochs=1)
    rollout = collect(env, learner.actor, learner.critic, rng)
    assert (np.diff(rollout.offsets) == 1).any()
    learner.update(rollout, 1e-3, rng)
    assert all(tensor.isfinite().all() for tensor in learner.actor.parameters())


def test_ragged_softmax_equals_the_dense_one():
    offsets = np.array([0, 1, 4, 9])
    logits = torch.randn(9, generator=torch.Generator().manual_seed(0)) * 50
    owner = torch.from_numpy(owners(offsets))
    ragged = log_softmax(logits, owner, 3)
    dense = [torch.log_softmax(logits[a:b], 0) for a, b in [(0, 1), (1, 4), (4, 9)]]
    assert torch.allclose(ragged, torch.cat(dense))
    expected = [-(part * part.exp()).sum() for part in dense]
    assert torch.allclose(entropy(ragged, owner, 3), torch.stack(expected))


def test_a_sole_move_is_certain_and_teaches_the_actor_nothing():
    logits = torch.tensor([3.0], requires_grad=True)
    log_probs = log_softmax(logits, torch.zeros(1, dtype=torch.int64), 1)
    log_probs.sum().backward()
    assert log_probs.item() == 0
    assert logits.grad.item() == 0


def test_sampling_follows_the_softmax():
    offsets, logits = np.array([0, 2, 5]), np.array([0.0, 1.0, 2.0, 0.0, -1.0], np.float32)
    rng, counts = np.random.default_rng(0), np.zeros(5)
    choices, logps = np.zeros(2, np.int64), np.zeros(2, np.float32)
    for _ in range(4000):
        sample(logits, offsets, rng.random(2), choices)
        counts[offsets[:-1] + choices] += 1
    log_prob(logits, offsets, choices, logps)
    expected = log_softmax(torch.from_numpy(logits), torch.from_numpy(owners(offsets)), 2).numpy()
    assert counts / 4000 == pytest.approx(np.exp(expected), abs=0.03)
    assert logps == pytest.approx(expected[offsets[:-1] + choices], abs=1e-6)
    best(logits, offsets, choices)
    assert choices.tolist() == [1, 0]


def test_lists_of_some_games_are_put_together():
    rows, offsets = select_lists(np.array([0, 2, 5, 6]), np.array([2, 0, 2]))
    assert rows.tolist() == [5, 0, 1, 5]
    assert offsets.tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", ["royal", "royal;sweeps=plain", "plain", "spade", "spade;sweeps=net"])
def test_a_rollout_holds_whole_deals_whose_rewards_add_up_to_the_margins(rules, players):
    learner, env = small_learner(0, players, merged=players == 2), VectorEnv(16, rules, players)
    rollout = collect(env, learner.actor, learner.critic, np.random.default_rng(1))
    assert rollout.done[-1].all()
    assert not rollout.done[:-1].any()
    assert len(rollout.choices) == 48 * 16 == len(rollout.offsets) - 1
    assert rollout.offsets[-1] == len(rollout.moves)
    assert (rollout.choices < np.diff(rollout.offsets)).all()
    paid = rollout.rewards.sum(axis=0)
    # 11 points a deal and the sweeps; margins of all seats cancel out
    assert paid.sum(axis=1) == pytest.approx(np.zeros(16))
    assert (np.abs(paid).max(axis=1) > 0).any()
    env.reset(seed=int(np.random.default_rng(1).integers(2**63)))
    counts = np.diff(rollout.offsets).reshape(48, 16)
    for turn in range(48):
        kept = choices_of(learner.actor, env.legal)
        assert counts[turn].tolist() == np.diff(kept.offsets).tolist()
        step = env.step(kept.originals(rollout.choices.reshape(48, 16)[turn], env.legal.offsets))
    assert step.rewards == pytest.approx(paid)


def test_nothing_is_banked_at_the_start():
    env = VectorEnv(4)
    env.reset()
    assert not banked_margins(env.state, Rules().table).any()


def test_same_seed_same_parameters():
    weights = []
    for _ in range(2):
        learner, env, rng = small_learner(seed=5), VectorEnv(16), np.random.default_rng(2)
        learner.update(collect(env, learner.actor, learner.critic, rng), 1e-3, rng)
        weights.append(torch.cat([tensor.ravel() for tensor in learner.actor.state_dict().values()]))
    assert torch.equal(*weights)


def test_no_gradient_adds_up_in_the_order_of_threads():
    """The backward of `tensor[index]` does, so a busy machine would change the last bits of a run."""
    learner, env, rng = small_learner(), VectorEnv(4), np.random.default_rng(0)
    rollout = collect(env, learner.actor, learner.critic, rng)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        learner.update(rollout, 1e-3, rng)
    ran = {event.key for event in profile.key_averages()}
    assert "aten::index_select" in ran and not {"aten::index_put_", "aten::_index_put_impl_"} & ran


def test_learns_to_beat_random():
    learner, env, rules = small_learner(), VectorEnv(128), Rules()
    for update in range(12):
        rng = np.random.default_rng([0, update])
        metrics = learner.update(collect(env, learner.actor, learner.critic, rng), 2e-3, rng)
        assert all(np.isfinite(value) for value in metrics.values())
    margin = margin_against(PolicyAgent(learner.actor, rules), RandomAgent(), rules, 2, 200, 0)
    assert margin.low is not None and margin.low > 1


def test_bfloat16_is_for_products_only():
    learner, env, rng = small_learner(), VectorEnv(8), np.random.default_rng(0)
    rollout = collect(env, learner.actor, learner.critic, rng)
    batch = take_batch(rollout, (np.zeros(384), np.zeros(384)), np.arange(384))
    exact = learner.actor(batch.free_states, batch.moves, batch.owner)
    learner.actor.bf16 = True
    rough = learner.actor(batch.free_states, batch.moves, batch.owner)
    assert rough.dtype == torch.float32 and not torch.equal(rough, exact)
    assert torch.allclose(rough, exact, atol=0.01 * exact.abs().max().item())
    learner = Learner(SMALL, PPOConfig(bf16=True), 0)
    assert learner.actor.bf16 and learner.critic.bf16
    metrics = learner.update(collect(env, learner.actor, learner.critic, rng), 1e-3, rng)
    assert all(np.isfinite(value) for value in metrics.values())
    assert {parameter.dtype for parameter in learner.actor.parameters()} == {torch.float32}


def test_a_batch_holds_the_choices_of_its_decisions():
    env, rng, learner = VectorEnv(4), np.random.default_rng(0), small_learner()
    rollout = collect(env, learner.actor, learner.critic, rng)
    rows = np.array([7, 150, 3, 191, 60])
    batch = take_batch(rollout, (np.arange(192.0), -np.arange(192.0)), rows)
    counts = np.diff(rollout.offsets)[rows]
    free = rows[counts > 1]
    assert 0 < len(free) < len(rows)
    assert batch.returns.tolist() == (-rows).tolist() and batch.advantages.tolist() == free.tolist()
    assert (batch.free_states.numpy() == rollout.states[free]).all()
    for i, row in enumerate(free):
        lists = rollout.moves[rollout.offsets[row] : rollout.offsets[row + 1]]
        assert (batch.moves[batch.owner == i].numpy() == lists).all()
        assert (batch.moves[batch.chosen[i]].numpy() == lists[rollout.choices[row]]).all()
    sole = take_batch(
        rollout, (np.zeros(192), np.zeros(192)), np.flatnonzero(np.diff(rollout.offsets) == 1)[:3]
    )
    assert len(sole.states) == 3 and len(sole.moves) == len(sole.chosen) == 0


def test_time_is_given_to_parts():
    watch, env, learner = Stopwatch(), VectorEnv(4), small_learner()
    rng = np.random.default_rng(0)
    learner.update(collect(env, learner.actor, learner.critic, rng, watch), 1e-3, rng, watch)
    assert all(seconds > 0 for seconds in watch.seconds.values())
    assert set(watch.shares()) <= set(METRICS) and sum(watch.shares().values()) == pytest.approx(1)
    with pytest.raises(KeyError):
        watch.lap("lunch")
