"""The whole game as one vector, for centralised critics: what player 0 sees, and what nobody sees.

A table of named blocks like the observation's, whose blocks come first; seats are absolute here. Never
given to an agent that plays.
"""

from functools import cache

from casino_env.cards import N_CARDS
from casino_env.jit import kernel
from casino_env.observation import Block, FloatArray, blocks, lay_out, length, write_cards
from casino_env.rules import TURNS
from casino_env.state import State


@cache
def state_blocks(players: int) -> tuple[Block, ...]:
    """The blocks of the global state of a game of `players` seats, in order."""
    known = blocks(players)
    stock = "by card id, 1 for the next card to be dealt, 1/48 less for each after it"
    hidden = (
        ("other_hands", N_CARDS * (players - 1), True, "hands of seats 1, 2 …, by card id"),
        ("stock", N_CARDS, True, stock),
        ("turn", players, True, "seat to act, one-hot"),
    )
    return known + lay_out(hidden, length(known))


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
