"""Proximal policy optimisation over ragged move lists (Schulman et al. 2017, arXiv:1707.06347).

Axes: `N` decisions, `M` moves of all decisions together. Losses are pure functions; `Learner` owns the
networks and their optimiser.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from agents.advantage import seat_advantages
from agents.network import Actor, Critic, NetworkShape
from agents.ragged import entropy, log_softmax, owners
from agents.rollout import Rollout
from agents.stopwatch import Stopwatch
from casino_env.legal import select_lists

ADAM_EPSILON = 1e-5
GRADIENT_NORM = 1.0
SPREAD_FLOOR = 1e-8  # against division by 0
_PARTS = ("actor", "critic", "optimiser")


@dataclass(frozen=True)
class PPOConfig:
    """The learning rule's numbers; each is explained in `configs/default.yaml`."""

    epochs: int = 2
    minibatch: int = 4096
    learning_rate: float = 1e-3
    clip: float = 0.2
    entropy: float = 0.01
    discount: float = 1.0
    trace: float = 0.9
    max_kl: float = 0.05
    bf16: bool = False


def clipped_policy_loss(log_ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """The clipped surrogate [N] (eq. 7 of the paper), to be minimised."""
    ratio = log_ratio.exp()
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)


def approximate_kl(log_ratio: Tensor) -> Tensor:
    """Estimate [N] of KL(old || new) from log(new / old) of the choices: r - 1 - log r, never negative."""
    return log_ratio.exp() - 1 - log_ratio


def explained_variance(values: np.ndarray, returns: np.ndarray) -> float:
    """Share of the returns' variance that the values explain; at most 1, 0 if the returns do not vary."""
    spread = returns.var()
    return float(1 - (returns - values).var() / spread) if spread > 0 else 0.0


def standardised(advantages: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Advantages [N] shifted and scaled to mean 0 and deviation 1 over the decisions where `free` [N]."""
    chosen = advantages[free]
    if not len(chosen):
        return np.zeros_like(advantages)
    return (advantages - chosen.mean()) / (chosen.std() + SPREAD_FLOOR)


def mean_or_zero(values: Tensor) -> Tensor:
    """The mean of values [N], 0 if there are none."""
    return values.sum() / max(len(values), 1)


class Batch(NamedTuple):
    """Decisions of a gradient step, `N` of them, `C` with a choice between `M` moves."""

    states: Tensor  # [N, F]
    hidden: Tensor  # [N, F']
    returns: Tensor  # [N]
    free_states: Tensor  # [C, F]
    moves: Tensor  # [M, G]
    owner: Tensor  # [M] the choice, of C, that each move belongs to
    chosen: Tensor  # [C] which of the moves
    log_probs: Tensor  # [C] of the chosen, by the policy that collected
    advantages: Tensor  # [C]


class Learner:
    """An actor and a critic trained side by side."""

    def __init__(self, shape: NetworkShape, config: PPOConfig, seed: int) -> None:
        self.shape, self.config = shape, config
        with torch.random.fork_rng(devices=[]):  # leaves the global random state as it was
            torch.manual_seed(seed)
            self.actor, self.critic = Actor(shape), Critic(shape)
        self.actor.bf16 = self.critic.bf16 = config.bf16
        parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimiser = torch.optim.Adam(parameters, lr=config.learning_rate, eps=ADAM_EPSILON, fused=True)

    def state_dict(self) -> dict[str, Any]:
        """Weights and optimiser, to continue from exactly here."""
        return {name: getattr(self, name).state_dict() for name in _PARTS}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a `state_dict`; KeyError, RuntimeError or ValueError if it does not fit."""
        for name in _PARTS:
            getattr(self, name).load_state_dict(state[name])

    def update(
        self, rollout: Rollout, rate: float, rng: np.random.Generator, watch: Stopwatch | None = None
    ) -> dict[str, float]:
        """Learn from a rollout with the learning rate `rate`; returns the metrics of the update.

        Stops before the epochs are done once the policy has moved by more than `max_kl`.
        """
        watch = watch or Stopwatch()
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        config = self.config
        advantages = seat_advantages(
            rollout.rewards, rollout.values, rollout.seats, rollout.done, config.discount, config.trace
        )
        returns = (advantages + rollout.values).ravel()
        free = np.diff(rollout.offsets) > 1
        targets = standardised(advantages.ravel(), free), returns
        metrics: list[dict[str, float]] = []
        for _ in range(config.epochs):
            order = rng.permutation(len(returns))
            for start in range(0, len(order), config.minibatch):
                rows = order[start : start + config.minibatch]
                batch = take_batch(rollout, targets, rows)
                watch.lap("rest")
                metrics.append(self._step(batch))
                watch.lap("learning")
            if metrics[-1]["loss/kl"] > config.max_kl:
                break
        mean = {name: float(np.mean([row[name] for row in metrics])) for name in metrics[0]}
        mean["loss/explained_variance"] = explained_variance(rollout.values.ravel(), returns)
        watch.lap("rest")
        return mean

    def _step(self, batch: Batch) -> dict[str, float]:
        """One gradient step."""
        policy_loss, spread, log_ratio = self._judge_actor(batch)
        values = self.critic(batch.states, batch.hidden)
        value_loss = nn.functional.mse_loss(values, batch.returns)
        loss = policy_loss - self.config.entropy * spread + value_loss
        self.optimiser.zero_grad()
        loss.backward()
        for network in (self.actor, self.critic):  # each by itself: the critic's are much larger
            nn.utils.clip_grad_norm_(network.parameters(), GRADIENT_NORM)
        self.optimiser.step()
        with torch.no_grad():
            clipped = (log_ratio.exp() - 1).abs().gt(self.config.clip).float()
            return {
                "loss/policy": policy_loss.item(),
                "loss/value": value_loss.item(),
                "loss/entropy": spread.item(),
                "loss/kl": mean_or_zero(approximate_kl(log_ratio)).item(),
                "loss/clip_fraction": mean_or_zero(clipped).item(),
            }

    def _judge_actor(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Policy loss and entropy, means over the choices, and log(new / old) of each [C]."""
        choices = len(batch.chosen)
        log_probs = log_softmax(self.actor(batch.free_states, batch.moves, batch.owner), batch.owner, choices)
        log_ratio = log_probs.index_select(0, batch.chosen) - batch.log_probs
        surrogate = clipped_policy_loss(log_ratio, batch.advantages, self.config.clip)
        return mean_or_zero(surrogate), mean_or_zero(entropy(log_probs, batch.owner, choices)), log_ratio


def take_batch(rollout: Rollout, targets: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> Batch:
    """The decisions `rows` of a rollout; those with a choice teach the actor.

    `targets` [N], [N] are the standardised advantages and the returns of the whole rollout.
    """
    advantages, returns = targets
    free = rows[rollout.offsets[rows + 1] - rollout.offsets[rows] > 1]
    moves, offsets = select_lists(rollout.offsets, free)
    return Batch(
        states=torch.from_numpy(rollout.states[rows]),
        hidden=torch.from_numpy(rollout.hidden[rows]),
        returns=torch.from_numpy(returns[rows]).float(),
        free_states=torch.from_numpy(rollout.states[free]),
        moves=torch.from_numpy(rollout.moves[moves]),
        owner=torch.from_numpy(owners(offsets)),
        chosen=torch.from_numpy(offsets[:-1] + rollout.choices[free]),
        log_probs=torch.from_numpy(rollout.log_probs[free]),
        advantages=torch.from_numpy(advantages[free]).float(),
    )
