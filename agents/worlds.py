"""Worlds: what a seat does not see, dealt at random as far as it knows, so that a search can play on.

A world is a state whose seat 0 is the viewer and to act. Hidden cards are uniform among the deals in which
every owner holds what its builds announce (R4.4), or nearly so where that is rare (`deal_hidden`).
Randomness is a stream of 64-bit words inside the kernels, started from the agent's generator.
Axes: `B` games, `M` moves of all games together, `P` seats.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import lowest, popcount
from casino_env.cards import N_CARDS
from casino_env.engine import is_over
from casino_env.jit import inner_kernel
from casino_env.rules import RuleTable, hand_value
from casino_env.state import VALUES, IntArray, State
from casino_env.turn import values_held
from casino_env.view import View, unseen_cards

Words = NDArray[np.uint64]

TRIES = 50  # deals of hidden cards, before promised cards are dealt first
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX, _MIX_AGAIN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_FIRST, _SECOND, _LAST, _HALF = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


class Question(NamedTuple):
    """Moves that are to be rated, in worlds of every game."""

    seen: View  # what the seats to act see (numba takes `.view` for its own)
    offsets: IntArray  # [B + 1] of games
    moves: IntArray  # [M] packed
    streams: Words  # [B]
    values: IntArray  # [M] what is found is added to these


def start_streams(rng: np.random.Generator, games: int) -> Words:
    """A random stream for each game, uint64[B]."""
    return rng.integers(0, 2**64, games, np.uint64)


@inner_kernel
def draw_below(streams: Words, game: int, limit: int) -> int:
    """The next number of a stream, uniform from 0 to `limit` - 1.

    SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), its upper half
    scaled to the limit.
    """
    streams[game] += _STEP
    word = streams[game]
    word = (word ^ (word >> _FIRST)) * _MIX
    word = (word ^ (word >> _SECOND)) * _MIX_AGAIN
    word = word ^ (word >> _LAST)
    return int((word >> _HALF) * np.uint64(limit) >> _HALF)


@inner_kernel
def copy_game(source: State, game: int, target: State, row: int) -> None:
    """Copy one game's row of a state to a row of another."""
    for seat in range(source.hands.shape[1]):
        target.hands[row, seat] = source.hands[game, seat]
        target.owned[row, seat] = source.owned[game, seat]
        target.captured[row, seat] = source.captured[game, seat]
        target.sweeps[row, seat] = source.sweeps[game, seat]
    for value in range(VALUES):
        target.build_cards[row, value] = source.build_cards[game, value]
    for i in range(source.dealt[game], N_CARDS):
        target.deck[row, i] = source.deck[game, i]
    for side in range(source.score.shape[1]):
        target.score[row, side] = source.score[game, side]
    target.loose[row] = source.loose[game]
    target.multiple[row] = source.multiple[game]
    target.dealt[row] = source.dealt[game]
    target.turn[row] = source.turn[game]
    target.last_capture[row] = source.last_capture[game]
    target.dealer[row] = source.dealer[game]


@inner_kernel
def hand_is_over(rules: RuleTable, state: State, row: int, dealt: int) -> bool:
    """Whether all hands have been played out since `dealt` cards were dealt; what follows is luck."""
    redealt = not rules.draw and state.dealt[row] != dealt
    return redealt or is_over(state, row)


@inner_kernel
def write_seen(view: View, game: int, world: State, row: int) -> None:
    """Write what the viewer sees to a row of `world`; hands and stock are left to `deal_hidden`."""
    for seat in range(view.owned.shape[1]):
        world.owned[row, seat] = view.owned[game, seat]
        world.captured[row, seat] = view.captured[game, seat]
        world.sweeps[row, seat] = view.sweeps[game, seat]
    for value in range(VALUES):
        world.build_cards[row, value] = view.build_cards[game, value]
    for side in range(view.score.shape[1]):
        world.score[row, side] = view.score[game, side]
    world.hands[row, 0] = view.hand[game]
    world.loose[row] = view.loose[game]
    world.multiple[row] = view.multiple[game]
    world.dealt[row] = N_CARDS - view.stock_size[game]
    world.turn[row] = 0
    world.last_capture[row] = view.last_capture[game]
    world.dealer[row] = view.dealer[game]


@inner_kernel
def deal_hidden(rules: RuleTable, question: Question, game: int, world: State, row: int) -> None:
    """Deal the unseen cards to the other hands and the stock of a row of `world`.

    Deals that break a promise are drawn again: what is left is uniform. After TRIES of them the promised
    cards are dealt first, each uniform among those that keep its promise.
    """
    view, streams = question.seen, question.streams
    deck, count, unseen = world.deck[row], 0, unseen_cards(rules, view, game)
    while unseen:  # the unseen cards fill the end of the deck: hands first, then the stock
        deck[N_CARDS - 1 - count] = lowest(unseen)
        count += 1
        unseen &= unseen - 1
    at = N_CARDS
    for attempt in range(TRIES + 1):
        at = N_CARDS - count
        for seat in range(1, world.hands.shape[1]):
            world.hands[row, seat] = 0
            if attempt == TRIES:
                at = _deal_promised(rules, world, row, seat, at, streams, game)
        for seat in range(1, world.hands.shape[1]):
            while popcount(world.hands[row, seat]) < view.hand_sizes[game, seat]:
                at = _deal_card(world, row, seat, at, at + draw_below(streams, game, N_CARDS - at))
        if _promises_hold(rules, world, row):
            break
    for place in range(at, N_CARDS):
        other = place + draw_below(streams, game, N_CARDS - place)
        deck[place], deck[other] = deck[other], deck[place]


@inner_kernel
def _deal_promised(
    rules: RuleTable, world: State, row: int, seat: int, at: int, streams: Words, game: int
) -> int:
    """Deal the seat a card for each build that it owns, if there is one; returns where the deck goes on."""
    promised = world.owned[row, seat]
    while promised:
        value = lowest(promised)
        promised &= promised - 1
        chosen, found = N_CARDS, 0
        for place in range(at, N_CARDS):
            if hand_value(rules, int(world.deck[row, place])) == value:
                found += 1
                if draw_below(streams, game, found) == 0:
                    chosen = place
        if chosen < N_CARDS:
            at = _deal_card(world, row, seat, at, chosen)
    return at


@inner_kernel
def _deal_card(world: State, row: int, seat: int, at: int, place: int) -> int:
    """Deal the seat the card at a place of the deck; returns where the deck goes on."""
    deck = world.deck[row]
    deck[at], deck[place] = deck[place], deck[at]
    world.hands[row, seat] |= 1 << int(deck[at])
    return at + 1


@inner_kernel
def _promises_hold(rules: RuleTable, world: State, row: int) -> bool:
    """R4.4, of the other seats."""
    for seat in range(1, world.hands.shape[1]):
        if world.owned[row, seat] & ~values_held(rules, world.hands[row, seat])[0]:
            return False
    return True
