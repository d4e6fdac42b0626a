"""Advantages in alternating play, as pure functions.

Axes: `T` turns, `B` games, `P` seats. A seat's decision is followed, for that seat, by its own next
decision: what happens between belongs to the first of the two.
"""

import numpy as np
from numpy.typing import NDArray

from casino_env.jit import kernel
from casino_env.state import IntArray

FloatArray = NDArray[np.float64]


def seat_advantages(
    rewards: FloatArray,
    values: FloatArray,
    seats: IntArray,
    done: NDArray[np.bool_],
    discount: float,
    trace: float,
) -> FloatArray:
    """Generalised advantage estimates (Schulman et al. 2016, arXiv:1506.02438), seat by seat.

    Args:
        rewards: [T, B, P] what each seat receives after turn t, whoever acted.
        values: [T, B] the acting seat's value before turn t.
        seats: [T, B] the acting seat.
        done: [T, B] whether with turn t all is paid for the turns up to it: the episode ended, or what
            follows is one of its own. What comes after the last turn counts as nothing.
        discount: gamma, per decision of a seat.
        trace: lambda.

    Returns:
        [T, B]: the advantage of each decision. With `r` all that a seat receives from its decision up to
        its next one, `delta = r + gamma * V(next own decision) - V`, and `A = delta + gamma * lambda *
        A(next own decision)`; after a seat's last decision both `V` and `A` are 0.
    """
    advantages = np.zeros_like(values)
    _sweep_back(rewards, values, seats, done, (discount, trace, advantages))
    return advantages


@kernel
def _sweep_back(
    rewards: FloatArray,
    values: FloatArray,
    seats: IntArray,
    done: NDArray[np.bool_],
    rest: tuple[float, float, FloatArray],
) -> None:
    discount, trace, advantages = rest
    turns, games, players = rewards.shape
    for game in range(games):
        received, value, advantage = np.zeros(players), np.zeros(players), np.zeros(players)
        for turn in range(turns - 1, -1, -1):
            if done[turn, game]:
                received[:] = 0
                value[:] = 0
                advantage[:] = 0
            received += rewards[turn, game]
            seat = seats[turn, game]
            delta = received[seat] + discount * value[seat] - values[turn, game]
            advantage[seat] = delta + discount * trace * advantage[seat]
            advantages[turn, game] = advantage[seat]
            value[seat] = values[turn, game]
            received[seat] = 0
