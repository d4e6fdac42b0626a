"""What one seat sees of a batch of games, as integers: the only thing that agents are given.

Axes: `B` games, `P` seats, `V` = 15 build values, `S` sides. Seats and sides are relative to the viewer:
0 is the viewer, 1 the seat that acts next, and so on; side 0 is the viewer's. Owns the hiding of cards:
nothing that depends on a hidden card enters a view.
"""

from typing import NamedTuple

import numpy as np

from casino_env.arguments import whole_numbers
from casino_env.bits import popcount
from casino_env.cards import N_CARDS
from casino_env.errors import CasinoError
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.rules import RuleTable, side_count
from casino_env.state import NOBODY, VALUES, IntArray, State


class View(NamedTuple):
    """All arrays int64; card sets and sets of build values are bit sets."""

    hand: IntArray  # [B] card set
    loose: IntArray  # [B] card set
    build_cards: IntArray  # [B, V] card sets
    owned: IntArray  # [B, P] values of the builds that the seat owns
    multiple: IntArray  # [B] values of the builds of two or more groups
    captured: IntArray  # [B, P] card sets
    sweeps: IntArray  # [B, P]
    hand_sizes: IntArray  # [B, P]
    stock_size: IntArray  # [B]
    last_capture: IntArray  # [B] relative seat, or NOBODY
    dealer: IntArray  # [B] relative seat
    score: IntArray  # [B, S]


def see(state: State, seats: IntArray | None = None) -> View:
    """The view of `seats` [B] (default: the seat to act) of every game; a copy.

    Raises CasinoError if they are not seats.
    """
    games, players = state.hands.shape
    if seats is not None:
        seats = whole_numbers(seats, (games,))
        if seats is None or not np.isin(seats, range(players)).all():
            raise CasinoError(f"seats: give {games} seats from 0 to {players - 1}")
    view = empty_view(games, players)
    _see(state, state.turn if seats is None else seats, view)
    return view


def empty_view(games: int, players: int) -> View:
    """A view to be written by `see_game`."""
    return View(
        hand=np.empty(games, np.int64),
        loose=np.empty(games, np.int64),
        build_cards=np.empty((games, VALUES), np.int64),
        owned=np.empty((games, players), np.int64),
        multiple=np.empty(games, np.int64),
        captured=np.empty((games, players), np.int64),
        sweeps=np.empty((games, players), np.int64),
        hand_sizes=np.empty((games, players), np.int64),
        stock_size=np.empty(games, np.int64),
        last_capture=np.empty(games, np.int64),
        dealer=np.empty(games, np.int64),
        score=np.empty((games, side_count(players)), np.int64),
    )


def select_view(view: View, games: IntArray) -> View:
    """The views of some games."""
    return View._make(array[games] for array in view)


@kernel
def _see(state: State, seats: IntArray, view: View) -> None:
    state, view = borrow(state), borrow(view)
    for game in range(seats.shape[0]):
        see_game(state, game, seats[game], view)


@inner_kernel
def see_game(state: State, game: int, seat: int, view: View) -> None:
    """Write what a seat sees of one game to the same row of `view`."""
    players, sides = state.hands.shape[1], state.score.shape[1]
    view.hand[game] = state.hands[game, seat]
    view.loose[game] = state.loose[game]
    view.multiple[game] = state.multiple[game]
    view.stock_size[game] = N_CARDS - state.dealt[game]
    view.last_capture[game] = _relative(state.last_capture[game], seat, players)
    view.dealer[game] = _relative(state.dealer[game], seat, players)
    for value in range(VALUES):
        view.build_cards[game, value] = state.build_cards[game, value]
    for i in range(players):
        other = (seat + i) % players
        view.owned[game, i] = state.owned[game, other]
        view.captured[game, i] = state.captured[game, other]
        view.sweeps[game, i] = state.sweeps[game, other]
        view.hand_sizes[game, i] = popcount(state.hands[game, other])
    for i in range(sides):
        view.score[game, i] = state.score[game, (seat + i) % sides]


@inner_kernel
def unseen_cards(rules: RuleTable, view: View, game: int) -> int:
    """The cards that the viewer does not see: those in other hands or the stock, or missing from a study."""
    seen = view.hand[game] | view.loose[game]
    for value in range(VALUES):
        seen |= view.build_cards[game, value]
    for seat in range(view.captured.shape[1]):
        seen |= view.captured[game, seat]
    return rules.deck & ~seen


@inner_kernel
def _relative(seat: int, viewer: int, players: int) -> int:
    return NOBODY if seat == NOBODY else (seat - viewer) % players
