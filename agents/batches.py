"""What gradient steps learn from: targets of a whole rollout, and minibatches of its decisions.

Axes: `N` decisions, `C` of them with a choice, `M` moves of these together.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.advantage import seat_advantages
from agents.ragged import owners
from agents.ranks import Ranks
from agents.rollout import Rollout
from casino_env.legal import select_lists
from casino_env.state import IntArray

SPREAD_FLOOR = 1e-8  # against division by 0

Floats = NDArray[np.float64]


class Targets(NamedTuple):
    """What the decisions of a rollout are taught."""

    advantages: Floats  # [N] standardised
    returns: Floats  # [N]
    values: Floats  # [N] what the critic thought


class Batch(NamedTuple):
    """Decisions of a gradient step."""

    states: Tensor  # [N, F]
    hidden: Tensor  # [N, F']
    returns: Tensor  # [N]
    free: Tensor  # [C] which of the decisions have a choice
    moves: Tensor  # [M, G]
    owner: Tensor  # [M] the choice, of C, that each move belongs to
    chosen: Tensor  # [C] which of the moves
    log_probs: Tensor  # [M] by the policy that collected
    advantages: Tensor  # [C]
    solved: Tensor  # [C] whether a teacher has judged the moves
    regrets: Tensor  # [M] by the teacher

    def to(self, device: torch.device) -> "Batch":
        """The same on another device."""
        return Batch._make(tensor.to(device, non_blocking=True) for tensor in self)


def make_targets(rollout: Rollout, discount: float, trace: float, ranks: Ranks) -> Targets:
    """Returns and advantages of the learner's decisions; the latter are standardised over all ranks."""
    whole = seat_advantages(rollout.rewards, rollout.values, rollout.seats, rollout.done, discount, trace)
    advantages, values = whole[rollout.ours], rollout.values[rollout.ours]
    free = np.diff(rollout.offsets) > 1
    return Targets(standardised(advantages, free, ranks), advantages + values, values)


def standardised(advantages: Floats, free: NDArray[np.bool_], ranks: Ranks) -> Floats:
    """Advantages [N] shifted and scaled: mean 0 and deviation 1 over all ranks' decisions with a choice.

    `free` [N] are those.
    """
    chosen = advantages[free]
    count, total, squares = ranks.sum([len(chosen), chosen.sum(), (chosen**2).sum()])
    if not count:
        return np.zeros_like(advantages)
    mean = total / count
    deviation = np.sqrt(max(squares / count - mean**2, 0.0))
    return (advantages - mean) / (deviation + SPREAD_FLOOR)


def take_batch(rollout: Rollout, targets: Targets, rows: IntArray) -> Batch:
    """The decisions `rows` of a rollout; those with a choice teach the actor."""
    free = np.flatnonzero(rollout.offsets[rows + 1] - rollout.offsets[rows] > 1)
    choices = rows[free]
    moves, offsets = select_lists(rollout.offsets, choices)
    arrays = (
        rollout.states[rows],
        rollout.hidden[rows],
        targets.returns[rows].astype(np.float32),
        free,
        rollout.moves[moves],
        owners(offsets),
        offsets[:-1] + rollout.choices[choices],
        rollout.log_probs[moves],
        targets.advantages[choices].astype(np.float32),
        rollout.lesson.solved[choices],
        rollout.lesson.regrets[moves],
    )
    return Batch._make(map(torch.from_numpy, arrays))
