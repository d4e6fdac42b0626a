"""What gradient steps learn from: targets of a whole rollout, and minibatches of its decisions.

Axes: `N` decisions, `C` of them with a choice, `M` moves of all, or of these.
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
    """What the decisions of a rollout are taught. Advantages are in units of their spread."""

    judged: Floats  # [M] advantage of every move, by what the critic says
    surprise: Floats  # [N] what the move chosen brought more than the critic said
    to_come: Floats  # [N] what the mover was still paid after the move chosen
    returns: Floats  # [N] the same with what the move itself paid


class Batch(NamedTuple):
    """Decisions of a gradient step."""

    chosen: Tensor  # [N, F'] afterstates
    to_come: Tensor  # [N]
    states: Tensor  # [C, F]
    hands: Tensor  # [C, Q]
    moves: Tensor  # [M, G]
    owner: Tensor  # [M] the choice, of C, that each move belongs to
    picked: Tensor  # [C] which of the moves was chosen
    log_probs: Tensor  # [M] by the policy that collected
    judged: Tensor  # [M]
    surprise: Tensor  # [C]

    def to(self, device: torch.device) -> "Batch":
        """The same on another device."""
        return Batch._make(tensor.to(device, non_blocking=True) for tensor in self)


def make_targets(rollout: Rollout, discount: float, trace: float, sampled: float, ranks: Ranks) -> Targets:
    """Returns and advantages of the learner's decisions.

    The advantage of a move is what the critic says of it beyond the mean under the policy; to that of the
    move chosen comes `sampled` times what it brought more than the critic said. With 0 the critic alone
    decides (mean actor-critic, Allen et al. 2017, arXiv:1709.00503), with 1 its errors cancel out.
    """
    whole = seat_advantages(rollout.rewards, rollout.values, rollout.seats, rollout.done, discount, trace)
    values = rollout.values[rollout.ours]
    returns = whole[rollout.ours] + values
    counts = np.diff(rollout.offsets)
    judged = rollout.judged - np.repeat(values, counts)
    surprise = sampled * (returns - rollout.judged[rollout.offsets[:-1] + rollout.choices])
    scale = _spread(rollout, judged, surprise, ranks)
    return Targets(judged / scale, surprise / scale, returns - rollout.paid, returns)


def _spread(rollout: Rollout, judged: Floats, surprise: Floats, ranks: Ranks) -> float:
    """Deviation of the advantage of a move chosen, over the decisions with a choice of all ranks."""
    free = np.diff(rollout.offsets) > 1
    expected = np.add.reduceat(np.exp(rollout.log_probs) * judged**2, rollout.offsets[:-1])
    sums = [float(free.sum()), float((expected + surprise**2)[free].sum())]
    count, squares = ranks.sum(sums)
    return float(np.sqrt(squares / max(count, 1)) + SPREAD_FLOOR)


def take_batch(rollout: Rollout, targets: Targets, rows: IntArray) -> Batch:
    """The decisions `rows` of a rollout; those with a choice teach the actor."""
    free = rows[rollout.offsets[rows + 1] - rollout.offsets[rows] > 1]
    moves, offsets = select_lists(rollout.offsets, free)
    arrays = (
        rollout.chosen[rows],
        targets.to_come[rows].astype(np.float32),
        rollout.states[free],
        rollout.hands[free],
        rollout.moves[moves],
        owners(offsets),
        offsets[:-1] + rollout.choices[free],
        rollout.log_probs[moves],
        targets.judged[moves].astype(np.float32),
        targets.surprise[free].astype(np.float32),
    )
    return Batch._make(map(torch.from_numpy, arrays))
