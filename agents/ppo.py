"""Proximal policy optimisation over ragged move lists (Schulman et al. 2017, arXiv:1707.06347).

`Learner` owns the networks, their averages and the optimiser, and makes the gradient steps.
Axes: `N` decisions, `C` of them with a choice, `M` moves of these together.
"""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
import numpy as np
import torch
from torch import Tensor, nn

from agents.batches import Batch, Targets, take_batch
from agents.critic_features import hands_width
from agents.features import N_CLASSES, UNSEEN
from agents.losses import clipped_policy_loss, divergence, hand_loss, mean_or_zero, regret_loss
from agents.network import Actor, Critic, HandHead, NetworkShape
from agents.ragged import entropy, log_softmax, log_totals
from agents.ranks import Ranks
from agents.rollout import Rollout
from agents.stopwatch import Stopwatch
from casino_env.errors import CasinoError

ADAM_EPSILON = 1e-5
GRADIENT_NORM = 1.0
DRIFT = 1e-5  # keeps logits near 0, where digits are (the z-loss of Chowdhery et al. 2022, arXiv:2204.02311)
BF16_SETTINGS = ("never", "always", "auto")
CPU_BF16 = ("avx512bf16", "amx-bf16", "bf16")  # names of processor features, the last one of ARM's
_PARTS = ("actor", "average", "critic", "hand_head", "optimiser")


@dataclass(frozen=True)
class PPOConfig:
    """The learning rule's numbers; each is explained in `configs/default.yaml`."""

    epochs: int = 2
    minibatch: int = 4096
    learning_rate: float = 3e-3
    clip: float = 0.2
    entropy: float = 0.005
    discount: float = 1.0
    trace: float = 0.8
    max_kl: float = 0.05
    stop_kl: float = 1.0
    kl: float = 0.0
    magnet: float = 0.0
    average: float = 0.0
    hand: float = 0.1
    solved: float = 0.0
    privileged: bool = False
    early_points: bool = False
    solved_end: bool = False
    bf16: str = "never"


class Rates(NamedTuple):
    """What changes over a run."""

    learning: float  # Adam's step size
    entropy: float  # weight of the bonus
    average: float  # what the averaged actor keeps of itself
    minibatch: int  # decisions in a gradient step


class Learner:
    """An actor and a critic trained side by side."""

    def __init__(self, shape: NetworkShape, config: PPOConfig, seed: int, ranks: Ranks | None = None) -> None:
        self.shape, self.config, self.ranks = shape, config, ranks or Ranks()
        with torch.random.fork_rng(devices=[]):  # leaves the global random state as it was
            torch.manual_seed(seed)
            self.actor, self.critic = Actor(shape), Critic(shape, config.privileged)
            self.hand_head = HandHead(shape)
        self.average = copy.deepcopy(self.actor)  # of the actor over updates, if `config.average`
        for network in (self.actor, self.critic, self.average):
            network.bf16 = wants_bf16(config.bf16, self.ranks.device)
            network.to(self.ranks.device)
        self.hand_head.to(self.ranks.device)
        networks = self.actor, self.critic, self.hand_head
        self._trained = [parameter for network in networks for parameter in network.parameters()]
        self.optimiser = torch.optim.Adam(
            self._trained, lr=config.learning_rate, eps=ADAM_EPSILON, fused=True
        )

    @property
    def released(self) -> Actor:
        """The actor to be measured and given away."""
        return self.average if self.config.average else self.actor

    def adopt(self, actor: Actor, path: Path) -> None:
        """Begin with the weights of an actor, that of `path`; CasinoError if its shape is another."""
        if actor.shape != self.shape:
            raise CasinoError(f"checkpoint {path}: holds {actor.shape}, wanted {self.shape}")
        for network in (self.actor, self.average):
            network.load_state_dict(actor.state_dict())

    def state_dict(self) -> dict[str, Any]:
        """Weights and optimiser, to continue from exactly here."""
        return {name: getattr(self, name).state_dict() for name in _PARTS}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a `state_dict`; KeyError, RuntimeError or ValueError if it does not fit."""
        for name in _PARTS:
            getattr(self, name).load_state_dict(state[name])

    def update(
        self,
        rollout: Rollout,
        targets: Targets,
        rates: Rates,
        rng: np.random.Generator,
        watch: Stopwatch | None = None,
    ) -> dict[str, float]:
        """Learn from a rollout; returns the metrics of the update, means over its gradient steps and ranks.

        Minibatches are as many as come nearest to the wanted size, and equal but for one decision: a small
        one would make as large a step. After each epoch the last one tells how far the policy has moved; by
        more than `max_kl`, and no more epochs follow. RuntimeError if the parameters of two ranks differ.
        """
        watch = watch or Stopwatch()
        for group in self.optimiser.param_groups:
            group["lr"] = rates.learning
        decisions = len(rollout.choices)
        parts = max(1, round(decisions / rates.minibatch))
        steps: list[dict[str, Tensor]] = []
        for _ in range(self.config.epochs):
            for rows in np.array_split(rng.permutation(decisions), parts):
                batch = take_batch(rollout, targets, rows).to(self.ranks.device)
                watch.lap("rest")
                steps.append(self._step(batch, rates.entropy))
                watch.lap("learning")
            moved = self._over_ranks([self._moved(batch)])[0]
            watch.lap("learning")
            if moved > self.config.max_kl:
                break
        names = list(steps[0])
        means = torch.stack([torch.stack(list(step.values())) for step in steps]).mean(dim=0).tolist()
        self._follow(rates.average)
        self.ranks.check_equal(self._trained)
        watch.lap("rest")
        return {"loss/kl": moved, **dict(zip(names, self._over_ranks(means), strict=True))}

    @torch.no_grad()
    def _moved(self, batch: Batch) -> float:
        """How far the policy is from the one that collected: the mean divergence over a batch's choices."""
        now = log_probs_of(self.actor, batch)
        return mean_or_zero(divergence(batch.log_probs, now, batch.owner, len(batch.chosen))).item()

    def _step(self, batch: Batch, entropy_bonus: float) -> dict[str, Tensor]:
        """One gradient step; returns its metrics."""
        loss, metrics = self._judge_actor(batch, entropy_bonus)
        values = self.critic(batch.states, batch.hidden)
        value_loss = nn.functional.mse_loss(values, batch.returns)
        self.optimiser.zero_grad()
        (loss + value_loss).backward()
        self.ranks.average_gradients(self._trained)
        norms = [  # each by itself: the critic's are much larger
            nn.utils.clip_grad_norm_(network.parameters(), GRADIENT_NORM)
            for network in (self.actor, self.critic)
        ]
        self.optimiser.step()
        metrics |= {
            "loss/value": value_loss,
            "loss/actor_gradient": norms[0],
            "loss/critic_gradient": norms[1],
        }
        return {name: value.detach() for name, value in metrics.items()}

    def _judge_actor(self, batch: Batch, entropy_bonus: float) -> tuple[Tensor, dict[str, Tensor]]:
        """The actor's loss, and its parts as metrics: means over the choices."""
        config, choices = self.config, len(batch.chosen)
        states = batch.states.index_select(0, batch.free)
        summaries = self.actor.summarise(states)
        logits = self.actor.score_moves(summaries, batch.moves, batch.owner)
        totals = log_totals(logits, batch.owner, choices)
        log_probs = logits - totals.index_select(0, batch.owner)
        log_ratio = (log_probs - batch.log_probs).index_select(0, batch.chosen)
        policy_loss = mean_or_zero(clipped_policy_loss(log_ratio, batch.advantages, config.clip))
        spread = mean_or_zero(entropy(log_probs, batch.owner, choices))
        clipped = mean_or_zero(((log_ratio.exp() - 1).abs() > config.clip).float())
        loss = policy_loss - entropy_bonus * spread + DRIFT * mean_or_zero(totals**2)
        metrics = {
            "loss/policy": policy_loss,
            "loss/entropy": spread,
            "loss/clip_fraction": clipped,
        }
        if config.solved:
            taught = regret_loss(log_probs, batch.regrets, batch.owner, choices) * batch.solved
            metrics["loss/regret"] = taught.sum() / batch.solved.sum().clamp(min=1)
            loss = loss + config.solved * mean_or_zero(taught)
        if config.kl:
            moved = mean_or_zero(divergence(batch.log_probs, log_probs, batch.owner, choices))
            loss = loss + config.kl * moved
        if config.magnet:
            with torch.no_grad():
                magnet = log_probs_of(self.average, batch)
            pull = mean_or_zero(divergence(log_probs, magnet, batch.owner, choices))
            loss, metrics["loss/magnet"] = loss + config.magnet * pull, pull
        if config.hand:
            guess = self._judge_guess(summaries, batch)
            loss, metrics["loss/hand"] = loss + config.hand * guess, guess
        return loss, metrics

    def _judge_guess(self, summaries: Tensor, batch: Batch) -> Tensor:
        """The loss of guessing the other hands."""
        unseen = batch.states.index_select(0, batch.free)[:, UNSEEN]
        hands = batch.hidden.index_select(0, batch.free)[:, : hands_width(self.shape.players)]
        by_hand = len(hands), self.shape.players - 1, N_CLASSES
        logits = self.hand_head(summaries)
        return mean_or_zero(hand_loss(logits.view(by_hand), unseen, hands.reshape(by_hand)))

    @torch.no_grad()
    def _follow(self, keep: float) -> None:
        """Let the average follow the actor, keeping the share `keep` of what it was."""
        for mean, now in zip(self.average.parameters(), self.actor.parameters(), strict=True):
            mean.lerp_(now, 1 - keep)

    def _over_ranks(self, values: list[float]) -> list[float]:
        """Means over all ranks."""
        return [float(total) / self.ranks.size for total in self.ranks.sum(values)]


def log_probs_of(actor: Actor, batch: Batch) -> Tensor:
    """Log-probabilities [M] of an actor's policy for the choices of a batch."""
    states = batch.states.index_select(0, batch.free)
    return log_softmax(actor(states, batch.moves, batch.owner), batch.owner, len(batch.chosen))


def wants_bf16(setting: str, device: torch.device) -> bool:
    """Whether to multiply in bfloat16: `auto` does where the device has it in hardware."""
    if setting != "auto":
        return setting == "always"
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    features = llvmlite.binding.get_host_cpu_features()
    return any(features.get(name, False) for name in CPU_BF16)
