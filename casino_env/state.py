"""The state of a batch of games as arrays, and how a new one is laid out.

Axes: `B` games, `P` seats, `V` = 15 build values (index = value, 0 and 1 unused), `S` sides. Card sets and
sets of build values are int64 bit sets.
Owns layout only; what may happen to a state is in `turn`, what does happen in `engine`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.cards import N_CARDS
from casino_env.jit import inner_kernel
from casino_env.rules import side_count

VALUES = 15
NOBODY = -1

IntArray = NDArray[np.int64]


class State(NamedTuple):
    """`B` games. Every number is int64 except the deck (int8)."""

    hands: IntArray  # [B, P] card sets
    loose: IntArray  # [B] card set
    build_cards: IntArray  # [B, V] card set of the build of each value, 0 if none stands
    owned: IntArray  # [B, P] values of the builds that the seat owns
    multiple: IntArray  # [B] values of the builds of two or more groups
    captured: IntArray  # [B, P] card sets
    sweeps: IntArray  # [B, P]
    deck: NDArray[np.int8]  # [B, 52] card ids in the order dealt; the stock is deck[dealt:]
    dealt: IntArray  # [B]
    turn: IntArray  # [B] seat to act
    last_capture: IntArray  # [B] seat, or NOBODY
    dealer: IntArray  # [B] seat
    score: IntArray  # [B, S] match points by side before this deal


def empty_state(games: int, players: int) -> State:
    """`games` games without cards: nothing dealt, nothing captured, nobody's score above 0."""
    return State(
        hands=np.zeros((games, players), np.int64),
        loose=np.zeros(games, np.int64),
        build_cards=np.zeros((games, VALUES), np.int64),
        owned=np.zeros((games, players), np.int64),
        multiple=np.zeros(games, np.int64),
        captured=np.zeros((games, players), np.int64),
        sweeps=np.zeros((games, players), np.int64),
        deck=np.zeros((games, N_CARDS), np.int8),
        dealt=np.full(games, N_CARDS, np.int64),
        turn=np.zeros(games, np.int64),
        last_capture=np.full(games, NOBODY, np.int64),
        dealer=np.zeros(games, np.int64),
        score=np.zeros((games, side_count(players)), np.int64),
    )


def copy_state(state: State) -> State:
    """An independent copy."""
    return State._make([array.copy() for array in state])


def select(state: State, games: IntArray) -> State:
    """An independent batch of the games with the given indices, which may repeat."""
    return State._make(array[games] for array in state)


@inner_kernel
def union(sets: IntArray, game: int) -> int:
    """What is in any seat's set of one game; of the sets `owned` [B, P]: the values of all builds."""
    together = 0
    for seat in range(sets.shape[1]):
        together |= sets[game, seat]
    return together


@inner_kernel
def build_owner(owned: IntArray, game: int, value: int) -> int:
    """The seat that owns the build of a value, NOBODY if none stands."""
    for seat in range(owned.shape[1]):
        if owned[game, seat] >> value & 1:
            return seat
    return NOBODY
