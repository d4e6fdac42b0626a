"""Losses and measures, by hand, and the ragged softmax against the dense one."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from agents.batches import standardised
from agents.config import BudgetConfig, Config
from agents.losses import clipped_policy_loss, divergence, explained_variance, hand_loss, mean_or_zero
from agents.ppo import PPOConfig
from agents.ragged import best, entropy, log_softmax, normalise, owners, sample
from agents.ranks import Ranks
from agents.schedules import games_at, linear, rates_at
from casino_env.rules import Rules


def test_clipped_loss_by_hand():
    # ratios 1.5 and 0.5, clip 0.2: a gain counts up to 1.2, a loss is not capped when it pulls back
    log_ratio = torch.log(torch.tensor([1.5, 1.5, 0.5, 0.5]))
    advantages = torch.tensor([1.0, -1.0, 1.0, -1.0])
    loss = clipped_policy_loss(log_ratio, advantages, 0.2)
    assert loss.tolist() == pytest.approx([-1.2, 1.5, -0.5, 0.8])


def test_divergence_by_hand():
    # a choice of two, (1/2, 1/2) against (1/4, 3/4), and a sole move
    old, new = torch.tensor([0.5, 0.5, 1.0]).log(), torch.tensor([0.25, 0.75, 1.0]).log()
    expected = 0.5 * np.log(0.5 / 0.25) + 0.5 * np.log(0.5 / 0.75)
    assert divergence(old, new, torch.tensor([0, 0, 1]), 2).tolist() == pytest.approx([expected, 0])


def test_divergence_from_a_certain_choice_is_a_number():
    certain, other = torch.tensor([0.0, -torch.inf]), torch.tensor([0.5, 0.5]).log()
    owner = torch.tensor([0, 0])
    assert divergence(other, certain, owner, 1).isfinite().all()


def test_guesses_of_hands_by_hand():
    # unseen: one card of class 0, three of class 1; one hand holds one of each
    unseen, hands = torch.tensor([[1.0, 3.0]]), torch.tensor([[[1.0, 1.0]]])
    no_idea = -(np.log(1 / 4) + np.log(3 / 4)) / 2
    assert hand_loss(torch.zeros(1, 1, 2), unseen, hands).tolist() == pytest.approx([no_idea])
    # a logit of log 3 makes class 0 as likely as class 1
    knows = torch.tensor([[[np.log(3), 0.0]]])
    assert hand_loss(knows, unseen, hands).tolist() == pytest.approx([np.log(2)])
    assert hand_loss(knows, unseen, torch.zeros(1, 1, 2)).tolist() == [0]
    assert hand_loss(knows, torch.zeros(1, 2), torch.zeros(1, 1, 2)).tolist() == [0]


def test_a_class_that_is_all_seen_is_not_guessed():
    logits = torch.tensor([[[50.0, 0.0]]], requires_grad=True)
    loss = hand_loss(logits, torch.tensor([[0.0, 2.0]]), torch.tensor([[[0.0, 1.0]]]))
    loss.sum().backward()
    assert loss.tolist() == [0] and logits.grad.tolist() == [[[0, 0]]]


def test_explained_variance_by_hand():
    returns = np.array([1.0, 2.0, 3.0])
    assert explained_variance(returns, returns) == 1
    assert explained_variance(np.full(3, 5.0), returns) == pytest.approx(0)
    assert explained_variance(returns, np.ones(3)) == 0
    assert explained_variance(np.zeros(0), np.zeros(0)) == 0


def test_standardised_by_hand():
    # the decisions with a choice are 1 and 3: mean 2, deviation 1; the sole move (9) is shifted along
    scaled = standardised(np.array([1.0, 9.0, 3.0]), np.array([True, False, True]), Ranks())
    assert scaled == pytest.approx([-1, 7, 1])
    assert standardised(np.array([5.0]), np.array([False]), Ranks()).tolist() == [0]


def test_mean_of_nothing_is_zero():
    assert mean_or_zero(torch.zeros(0)).item() == 0
    assert mean_or_zero(torch.tensor([1.0, 3.0])).item() == 2


def test_schedules_by_hand():
    assert [linear(2.0, 0.1, done) for done in (0.0, 0.5, 1.0, 1.5)] == pytest.approx([2, 1.1, 0.2, 0.2])


def test_rollouts_grow_with_what_has_been_learned_from():
    budget = BudgetConfig(games=512, first_games=32)
    # a twentieth of 96,000 decisions is 100 deals: for one process 100, for each of two 50
    royal, tiny = (Rules.parse(text).table for text in ("royal", "royal;size=tiny"))
    assert [games_at(budget, royal, done, 1) for done in (0, 96_000, 10**6)] == [32, 100, 512]
    assert [games_at(budget, royal, done, 2) for done in (0, 96_000, 10**6)] == [32, 50, 512]
    assert games_at(budget, tiny, 16_000, 1) == 100  # deals of eight turns
    assert games_at(BudgetConfig(games=8, first_games=32), royal, 0, 1) == 8


def test_minibatches_grow_with_rollouts():
    config = Config()  # 512 deals, minibatches of 4096 decisions
    assert [rates_at(config, 0, 0, games).minibatch for games in (8, 32, 256, 512)] == [
        *(256, 256, 2048, 4096)
    ]
    small = replace(config, ppo=PPOConfig(minibatch=100))
    assert rates_at(small, 0, 0, 16).minibatch == 100


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
    choices, normal = np.zeros(2, np.int64), logits.copy()
    normalise(normal, offsets)
    expected = log_softmax(torch.from_numpy(logits), torch.from_numpy(owners(offsets)), 2).numpy()
    assert normal == pytest.approx(expected, abs=1e-6)
    for _ in range(4000):
        sample(normal, offsets, rng.random(2), choices)
        counts[offsets[:-1] + choices] += 1
    assert counts / 4000 == pytest.approx(np.exp(expected), abs=0.03)
    best(logits, offsets, choices)
    assert choices.tolist() == [1, 0]
