"""Losses and measures of learning, as pure functions.

Axes: `N` decisions, `M` legal moves of all of them together, `K` classes of cards, `Q` other hands.
"""

import numpy as np
import torch
from torch import Tensor

from agents.ragged import list_sums, log_softmax

TEMPERATURE, IMITATION = 0.3, 0.3  # points, and weight in points a nat (see `regret_loss`)
LOG_FLOOR = -30.0  # log-probabilities below this count as this in a divergence: 0 * infinity is no number


def clipped_policy_loss(log_ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """The clipped surrogate [N] (eq. 7 of Schulman et al. 2017, arXiv:1707.06347), to be minimised."""
    ratio = log_ratio.exp()
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)


def regret_loss(log_probs: Tensor, regrets: Tensor, owner: Tensor, decisions: int) -> Tensor:
    """Expected regret and weighted cross entropy [N], in points, of a policy whose moves have been judged.

    `log_probs` [M] are the policy's, `regrets` [M] what each move gives away. The cross entropy is to a
    softmax of the regrets: a policy that is certain of a bad move learns nothing from what it expects.
    `owner` as in `divergence`.
    """
    wanted = log_softmax(-regrets / TEMPERATURE, owner, decisions).exp()
    terms = log_probs.exp() * regrets - IMITATION * wanted * log_probs
    return list_sums(terms, owner, decisions)


def divergence(from_log_probs: Tensor, to_log_probs: Tensor, owner: Tensor, decisions: int) -> Tensor:
    """KL(from || to) [N] of two policies' log-probabilities [M], exact over each list of legal moves.

    `owner` [M] says which decision, of N, a move belongs to.
    """
    terms = from_log_probs.exp() * (from_log_probs - to_log_probs.clamp(min=LOG_FLOOR))
    return list_sums(terms, owner, decisions)


def hand_loss(logits: Tensor, unseen: Tensor, hands: Tensor) -> Tensor:
    """How badly guesses fit the other hands [N]: mean negative log-probability of a held card, in nats.

    Args:
        logits: [N, Q, K] corrections of the prior, which is that each unseen card is equally likely.
        unseen: [N, K] cards of each class that the seat to act does not see.
        hands: [N, Q, K] cards of each class in each other hand. A hand may be empty.

    Returns:
        [N], 0 where all the hands are empty.
    """
    is_last = ~(unseen > 0).any(dim=1, keepdim=True)  # nothing is unseen any more: any prior will do
    log_probs = torch.log_softmax(logits + (unseen + is_last).log().unsqueeze(1), dim=2)
    surprise = torch.where(hands > 0, -hands * log_probs, 0.0)  # 0 cards of an impossible class are no news
    return surprise.sum(dim=(1, 2)) / hands.sum(dim=(1, 2)).clamp(min=1)


def explained_variance(values: np.ndarray, returns: np.ndarray) -> float:
    """Share of the returns' variance that the values explain; at most 1, 0 if the returns do not vary."""
    spread = returns.var() if len(returns) else 0.0
    return float(1 - (returns - values).var() / spread) if spread > 0 else 0.0


def mean_or_zero(values: Tensor) -> Tensor:
    """The mean of values [N], 0 if there are none."""
    return values.sum() / max(len(values), 1)
