"""Softmax, entropy and sampling over ragged lists.

Axes: `B` games, `M` moves of all games together; `offsets` int64[B + 1] says which moves are whose.
Rows are picked with `index_select`: the gradient of `tensor[index]` adds up in whatever order threads come.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from casino_env.jit import inner_kernel, kernel
from casino_env.state import IntArray


def owners(offsets: IntArray) -> IntArray:
    """The game of each move, int64[M]."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def list_sums(terms: Tensor, owner: Tensor, games: int) -> Tensor:
    """Sum [B] of each game's terms [M]."""
    return terms.new_zeros(games).index_add(0, owner, terms)


def log_totals(logits: Tensor, owner: Tensor, games: int) -> Tensor:
    """Log of the sum of exponentials [B] of each game's logits [M], from the highest: none overflows."""
    top = logits.new_full((games,), -torch.inf).scatter_reduce(0, owner, logits.detach(), "amax")
    return top + list_sums((logits - top.index_select(0, owner)).exp(), owner, games).log()


def log_softmax(logits: Tensor, owner: Tensor, games: int) -> Tensor:
    """Log-probabilities [M] of logits [M] within each game's list."""
    return logits - log_totals(logits, owner, games).index_select(0, owner)


def entropy(log_probs: Tensor, owner: Tensor, games: int) -> Tensor:
    """Entropy [B] of each game's choice, in nats."""
    return list_sums(-log_probs * log_probs.exp(), owner, games)


@kernel
def sample(
    logits: NDArray[np.float32], offsets: IntArray, draws: NDArray[np.float64], choices: IntArray
) -> None:
    """Write a choice [B] from each list's softmax to `choices`; `draws` [B] are uniform in [0, 1)."""
    for game in range(choices.shape[0]):
        first, end = offsets[game], offsets[game + 1]
        norm = _log_total(logits, first, end)
        left, choice = draws[game], 0
        for i in range(first, end):
            choice = i - first
            left -= np.exp(logits[i] - norm)
            if left < 0:
                break
        choices[game] = choice


@kernel
def normalise(logits: NDArray[np.float32], offsets: IntArray) -> None:
    """Turn logits [M] into log-probabilities within each game's list, in place."""
    for game in range(offsets.shape[0] - 1):
        first, end = offsets[game], offsets[game + 1]
        norm = _log_total(logits, first, end)
        for i in range(first, end):
            logits[i] -= norm


@inner_kernel
def _log_total(logits: NDArray[np.float32], first: int, end: int) -> float:
    """Logarithm of the sum of exponentials, computed from the highest so that nothing overflows."""
    top = logits[first]
    for i in range(first, end):
        top = max(top, logits[i])
    total = 0.0
    for i in range(first, end):
        total += np.exp(logits[i] - top)
    return top + np.log(total)


@kernel
def best(logits: NDArray[np.floating], offsets: IntArray, choices: IntArray) -> None:
    """Write the index [B] of each list's highest logit, the first of equal ones, to `choices`."""
    for game in range(choices.shape[0]):
        choices[game] = logits[offsets[game] : offsets[game + 1]].argmax()
