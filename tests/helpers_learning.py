"""Small networks and short rollouts."""

import numpy as np

from agents.batches import make_targets
from agents.buffers import Buffers
from agents.network import NetworkShape
from agents.payments import EarlyPoints, FinalMargins
from agents.ppo import Learner, PPOConfig, Rates
from agents.ranks import Ranks
from agents.rollout import Guests, Rollout, collect
from casino_env import VectorEnv

RATES = Rates(learning=1e-3, entropy=0.01, average=0.5, minibatch=512)


def small_learner(seed=0, players=2, merged=False, **options):
    return Learner(NetworkShape(players, 32, 16, merged), PPOConfig(**options), seed)


def deals(games=16, rules="royal", players=2):
    return VectorEnv(games, rules, players, auto_reset=False)


def play(learner, env, rng, guests: Guests | None = None, early=True, teacher=None, payment=None) -> Rollout:
    payment = payment or (EarlyPoints() if early else FinalMargins())
    networks, buffers = (learner.actor, learner.critic), Buffers.of(env.players)
    return collect(env, networks, rng, buffers, payment, guests, teacher=teacher)


def learn(learner, rollout, rng, rates=RATES):
    targets = make_targets(rollout, learner.config.discount, learner.config.trace, Ranks())
    return learner.update(rollout, targets, rates, rng)


def generator(seed=0):
    return np.random.default_rng(seed)
