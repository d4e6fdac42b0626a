"""The whole game as one vector, for centralised critics: what player 0 sees, and what nobody sees.

A table of named blocks like the observation's, whose blocks come first; seats are absolute here. Never
given to an agent that plays.
"""

from functools import cache

import numpy as np

from casino_env.cards import N_CARDS
from casino_env.jit import kernel
from casino_env.observation import Block, FloatArray, blocks, observation_high, write_cards
from casino_env.rules import TURNS
from casino_env.state import State


@cache
def state_blocks(players: int) -> tuple[Block, ...]:
    """The blocks of the global state of a game of `players` seats, in order."""
    known = blocks(players)
    offset = known[-1].offset + known[-1].size
    hidden = (
        ("other_hands", N_CARDS * (players - 1), "hands of seats 1, 2 …, by card id"),
        (
            "stock",
            N_CARDS,
            "by card id, 1 for the next card to be dealt, 1/48 less for each after it",
        ),
        ("turn", players, "seat to act, one-hot"),
    )
    result = list(known)
    for name, size, meaning in hidden:
        result.append(Block(name, size, offset, True, meaning))
        offset += size
    return tuple(result)


def state_size(players: int) -> int:
    """Length of the global state."""
    last = state_blocks(players)[-1]
    return last.offset + last.size


def state_high(players: int) -> FloatArray:
    """Upper bounds, float32; the lower bounds are 0."""
    high = np.ones(state_size(players), np.float32)
    known = observation_high(players)
    high[: len(known)] = known
    return high


@kernel
def write_hidden(state: State, out: FloatArray) -> None:
    """Write the blocks after those of the observation of one game to `out`."""
    out[:] = 0
    players = state.hands.shape[1]
    at = 0
    for seat in range(1, players):
        write_cards(state.hands[0, seat], at, out)
        at += N_CARDS
    dealt = state.dealt[0]
    for i in range(dealt, N_CARDS):
        out[at + int(state.deck[0, i])] = 1 - (i - dealt) / TURNS
    out[at + N_CARDS + state.turn[0]] = 1
