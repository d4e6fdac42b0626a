"""The learner: batches, gradient steps and what may be switched on, and learning itself."""

import copy

import numpy as np
import pytest
import torch

from agents.arena import margin_against
from agents.baselines import RandomAgent
from agents.batches import Targets, make_targets, take_batch
from agents.league import League, LeagueConfig
from agents.metrics import METRICS
from agents.network import BF16_ROWS
from agents.policy import PolicyAgent
from agents.ppo import wants_bf16
from agents.ragged import log_softmax, log_totals
from agents.ranks import Ranks
from agents.rollout import judge
from agents.stopwatch import PARTS, Stopwatch
from casino_env import Rules
from tests.helpers_learning import RATES, deals, generator, learn, play, small_learner

FAST = RATES._replace(learning=0.02)


def weights(network):
    return torch.cat([tensor.ravel() for tensor in network.state_dict().values()])


def test_minibatches_of_a_single_decision_leave_finite_weights():
    learner, rng = small_learner(epochs=1), generator()
    rollout = play(learner, deals(1), rng)
    assert (np.diff(rollout.offsets) == 1).any()
    learn(learner, rollout, rng, RATES._replace(minibatch=1))
    assert all(tensor.isfinite().all() for tensor in learner.actor.parameters())


@pytest.mark.parametrize("options", [{}, {"average": 0.9, "magnet": 0.1, "kl": 0.1, "hand": 0.1}])
def test_same_seed_same_parameters(options):
    results = []
    for _ in range(2):
        learner, rng = small_learner(seed=5, **options), generator(2)
        learn(learner, play(learner, deals(), rng), rng)
        results.append(torch.cat([weights(learner.actor), weights(learner.released)]))
    assert torch.equal(*results)


def test_no_gradient_adds_up_in_the_order_of_threads():
    """The backward of `tensor[index]` does, so a busy machine would change the last bits of a run."""
    learner, rng = small_learner(average=0.9, magnet=0.1, kl=0.1, hand=0.1), generator()
    rollout = play(learner, deals(4), rng)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        learn(learner, rollout, rng)
    ran = {event.key for event in profile.key_averages()}
    assert "aten::index_select" in ran and not {"aten::index_put_", "aten::_index_put_impl_"} & ran


@pytest.mark.parametrize("options", [{}, {"privileged": True, "hand": 0.0}])
def test_learns_to_beat_random(options):
    learner, env, rules = small_learner(**options), deals(128), Rules()
    for update in range(12):
        rng = generator([0, update])
        metrics = learn(learner, play(learner, env, rng), rng, RATES._replace(learning=2e-3))
        assert all(np.isfinite(value) for value in metrics.values()) and set(metrics) <= set(METRICS)
    margin = margin_against(PolicyAgent(learner.actor, rules), RandomAgent(), rules, 2, 200, 0)
    assert margin.low is not None and margin.low > 1


def test_the_hand_head_learns_to_beat_the_prior():
    """The prior is that all unseen cards are equally likely; what others did tells more."""
    learner, env = small_learner(hand=1.0), deals(128)
    for update in range(15):
        rng = generator([0, update])
        rollout = play(learner, env, rng)
        found = learn(learner, rollout, rng)["loss/hand"]
    with torch.no_grad():
        for tensor in learner.hand_head.parameters():
            tensor.zero_()
    assert found < measured(learner, rollout, "loss/hand") - 0.02


def test_the_average_follows_the_actor():
    learner, rng = small_learner(average=0.9), generator()
    start, rollout = weights(learner.average), play(learner, deals(4), rng)
    learn(learner, rollout, rng, RATES._replace(average=0.75))
    assert torch.allclose(weights(learner.average), 0.75 * start + 0.25 * weights(learner.actor))
    assert learner.released is learner.average
    assert small_learner().released is not small_learner().average


def test_a_pull_to_the_collecting_policy_keeps_it_nearer():
    moved = []
    for pull in (0.0, 10.0):
        learner, rng = small_learner(kl=pull, epochs=8, max_kl=100.0), generator()
        moved.append(learn(learner, play(learner, deals(16), rng), rng, FAST)["loss/kl"])
    assert moved[1] < 0.5 * moved[0]


def test_a_pull_to_the_average_keeps_the_policy_nearer_to_it():
    apart = []
    for pull in (0.0, 3.0):
        learner, rng = small_learner(magnet=pull or 1e-9, average=0.9, epochs=8, max_kl=100.0), generator()
        apart.append(learn(learner, play(learner, deals(16), rng), rng, FAST)["loss/magnet"])
    assert apart[1] < 0.7 * apart[0]


def measured(learner, rollout, name):
    """A metric of the policy as it is now; a copy learns, so that not even the optimiser remembers."""
    nothing = RATES._replace(learning=0.0)
    return learn(copy.deepcopy(learner), rollout, generator(9), nothing)[name]


def without_advantages(rollout):
    zeros = np.zeros(len(rollout.choices))
    return Targets(zeros, zeros, zeros)


@pytest.mark.parametrize("bonus", [1.0, 0.0])
def test_the_entropy_bonus_is_one(bonus, monkeypatch):
    monkeypatch.setattr("agents.ppo.DRIFT", 0.0)  # Adam makes large steps of the smallest gradient
    learner, rng = small_learner(epochs=8, max_kl=100.0, hand=0.0), generator()
    learner.actor.score.weight.data *= 100  # a decided policy
    rollout = play(learner, deals(16), rng)
    before = measured(learner, rollout, "loss/entropy")
    learner.update(rollout, without_advantages(rollout), FAST._replace(entropy=bonus), rng)
    after = measured(learner, rollout, "loss/entropy")
    assert after > before + 0.1 if bonus else after == pytest.approx(before, abs=1e-4)


def test_logits_are_pulled_to_where_digits_are(monkeypatch):
    learner, rng = small_learner(epochs=8, max_kl=100.0, hand=0.0), generator()
    learner.actor.score.weight.data += 1
    rollout = play(learner, deals(16), rng)
    batch = take_batch(rollout, without_advantages(rollout), np.arange(len(rollout.choices)))

    def size():
        states = batch.states.index_select(0, batch.free)
        with torch.no_grad():
            return log_totals(learner.actor(states, batch.moves, batch.owner), batch.owner, len(batch.chosen))

    before = size().abs().mean()
    monkeypatch.setattr("agents.ppo.DRIFT", 1.0)
    learner.update(rollout, without_advantages(rollout), FAST._replace(entropy=0.0), rng)
    assert size().abs().mean() < 0.7 * before


def test_no_minibatch_is_much_smaller_than_the_others():
    """Adam's step on one decision would be as large as that on all."""
    for minibatch, steps in ((767, 1), (400, 2), (256, 3), (10_000, 1)):
        learner, rng = small_learner(epochs=1), generator()
        learn(learner, play(learner, deals(16), rng), rng, RATES._replace(minibatch=minibatch))
        assert int(learner.optimiser.state_dict()["state"][0]["step"]) == steps


def test_how_far_the_policy_moved_is_measured_after_the_last_step():
    learner, rng = small_learner(epochs=1), generator()
    at_once = FAST._replace(minibatch=10_000)
    assert learn(learner, play(learner, deals(16), rng), rng, at_once)["loss/kl"] > 1e-5


def test_an_average_that_is_not_asked_for_is_the_actor():
    """So that it can be switched on later, when a run is resumed."""
    learner, rng = small_learner(), generator()
    learn(learner, play(learner, deals(4), rng), rng, RATES._replace(average=0.0))
    assert torch.equal(weights(learner.average), weights(learner.actor))


def test_epochs_stop_once_the_policy_has_moved_far():
    def steps_taken(limit):
        learner, rng = small_learner(epochs=9, max_kl=limit), generator()
        learn(learner, play(learner, deals(4), rng), rng)
        state = learner.optimiser.state_dict()["state"]
        return int(state[0]["step"])

    assert steps_taken(1e-9) == 1 and steps_taken(100.0) == 9


def test_bfloat16_is_for_products_only():
    learner, rng = small_learner(), generator()
    rollout = play(learner, deals(32), rng)
    decisions = len(rollout.choices)
    batch = take_batch(rollout, Targets(*np.zeros((3, decisions))), np.arange(decisions))
    states = batch.states.index_select(0, batch.free)
    assert len(states) > BF16_ROWS
    exact = learner.actor(states, batch.moves, batch.owner)
    learner.actor.bf16 = True
    rough = learner.actor(states, batch.moves, batch.owner)
    assert rough.dtype == torch.float32 and not torch.equal(rough, exact)
    assert torch.allclose(rough, exact, atol=0.01 * exact.abs().max().item())
    few = rollout.states[: BF16_ROWS - 1], rollout.hidden[: BF16_ROWS - 1]
    values = judge(learner.critic, *few)
    learner.critic.bf16 = True
    assert (judge(learner.critic, *few) == values).all()  # so few rows stay as they are
    learner = small_learner(bf16="always", hand=0.1)
    assert learner.actor.bf16 and learner.critic.bf16 and learner.average.bf16
    rollout = play(learner, deals(32), rng)
    metrics = learn(learner, rollout, rng, RATES._replace(minibatch=decisions))
    assert all(np.isfinite(value) for value in metrics.values())
    assert {parameter.dtype for parameter in learner.actor.parameters()} == {torch.float32}


def test_a_batch_holds_the_choices_of_its_decisions():
    rng, learner = generator(), small_learner()
    rollout = play(learner, deals(4), rng)
    rows, everyone = np.array([7, 150, 3, 191, 60]), np.arange(192.0)
    batch = take_batch(rollout, Targets(everyone, -everyone, 0 * everyone), rows)
    counts = np.diff(rollout.offsets)[rows]
    free = rows[counts > 1]
    assert 0 < len(free) < len(rows)
    assert batch.returns.tolist() == (-rows).tolist() and batch.advantages.tolist() == free.tolist()
    assert (rows[batch.free] == free).all() and (batch.states.numpy() == rollout.states[rows]).all()
    for i, row in enumerate(free):
        inside = slice(rollout.offsets[row], rollout.offsets[row + 1])
        assert (batch.moves[batch.owner == i].numpy() == rollout.moves[inside]).all()
        assert (batch.log_probs[batch.owner == i].numpy() == rollout.log_probs[inside]).all()
        assert (batch.moves[batch.chosen[i]].numpy() == rollout.moves[inside][rollout.choices[row]]).all()
    sole = np.flatnonzero(np.diff(rollout.offsets) == 1)[:3]
    batch = take_batch(rollout, Targets(*np.zeros((3, 192))), sole)
    assert len(batch.states) == 3 and len(batch.moves) == len(batch.chosen) == 0


@pytest.mark.parametrize("merged", [False, True])
def test_the_log_probabilities_kept_are_those_of_the_policy(merged):
    learner, rng = small_learner(merged=merged), generator()
    rollout = play(learner, deals(4), rng)
    batch = take_batch(rollout, Targets(*np.zeros((3, 192))), np.arange(192))
    states = batch.states.index_select(0, batch.free)
    again = log_softmax(learner.actor(states, batch.moves, batch.owner), batch.owner, len(batch.free))
    assert torch.allclose(again, batch.log_probs, atol=1e-5)


def test_targets_are_of_the_learners_own_decisions():
    learner, rng = small_learner(), generator()
    league = League(LeagueConfig(ladder=0.5, rungs="greedy"), learner.shape, Rules())
    rollout = play(learner, deals(8), rng, league.invite(rng, 8))
    targets = make_targets(rollout, 1.0, 1.0, Ranks())
    assert len(targets.returns) == len(rollout.choices) == 4 * 48 + 4 * 24
    # with lambda 1 and no discount a return is all that the seat is still paid
    paid = rollout.rewards[::-1].cumsum(axis=0)[::-1]
    expected = np.take_along_axis(paid, rollout.seats[:, :, None], axis=2)[:, :, 0]
    assert targets.returns == pytest.approx(expected[rollout.ours])


def test_bfloat16_is_used_by_itself_only_where_the_processor_has_it(monkeypatch):
    cpu, has = torch.device("cpu"), {}
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: has)
    assert not wants_bf16("auto", cpu) and wants_bf16("always", cpu)
    has["avx512bf16"] = True
    assert wants_bf16("auto", cpu) and not wants_bf16("never", cpu)


def test_a_critic_without_privilege_reads_what_the_actor_reads():
    width = small_learner().actor.trunk[0].in_features
    assert small_learner(privileged=False).critic.trunk[0].in_features == width
    assert small_learner(privileged=True).critic.trunk[0].in_features > width


def test_time_is_given_to_parts():
    watch = Stopwatch()
    for part in PARTS:
        watch.lap(part)
    assert all(seconds > 0 for seconds in watch.seconds.values())
    assert set(watch.shares()) <= set(METRICS) and sum(watch.shares().values()) == pytest.approx(1)
    with pytest.raises(KeyError):
        watch.lap("lunch")


def test_all_of_a_step_happens_on_the_device_of_the_networks():
    """On `meta`, which has no numbers: what stays on the processor by mistake cannot be combined with it."""
    learner, rng = small_learner(average=0.9, magnet=0.1, kl=0.1, hand=0.1), generator()
    rollout = play(learner, deals(4), rng)
    targets = make_targets(rollout, 1.0, 0.9, Ranks())
    batch = take_batch(rollout, targets, np.arange(192)).to(torch.device("meta"))
    for network in (learner.actor, learner.critic, learner.hand_head, learner.average):
        network.to("meta")
    loss, metrics = learner._judge_actor(batch, 0.01)
    assert {value.device.type for value in [loss, *metrics.values()]} == {"meta"}
    assert learner.critic(batch.states, batch.hidden).device.type == "meta"
