"""What the critic reads of an afterstate: what its seat sees, and all that is hidden from it.

Axes: `M` games, `P` seats. Other seats are in order of play, cards by class (see `features`).
"""

import numpy as np

from agents.features import CARD_CLASS, N_CLASSES, FloatArray, put_classes, state_features, state_width
from agents.outlook import N_VALUES, live_scale, take_value, take_worth, write_takes
from agents.worth import Scale, scale_of
from casino_env.bits import lowest
from casino_env.cards import N_CARDS
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.rules import HAND_SIZE, RuleTable
from casino_env.state import IntArray, State
from casino_env.view import see


def hands_width(players: int) -> int:
    """Columns of `hand_features`."""
    return (players - 1) * N_CLASSES


def critic_width(players: int, privileged: bool) -> int:
    """Columns of `critic_features`."""
    hidden = hands_width(players) + 2 * players * N_CLASSES + (players - 1) * (N_VALUES + 1)
    return state_width(players) + privileged * hidden


def hand_features(state: State, seats: IntArray, out: FloatArray) -> FloatArray:
    """Write the other hands by class, as `seats` [M] do not see them, to `out` float32[M, hands_width(P)]."""
    out[:] = 0
    _write_hands(state, seats, out)
    return out


def critic_features(state: State, seats: IntArray, rules: RuleTable, out: FloatArray) -> FloatArray:
    """Write each game as its seat, of `seats` [M], sees it and, if `out` has the room, what is hidden.

    Hidden are the other hands; who is dealt which cards of the stock, next and later; and what each card
    value of another hand would take. `out` is float32[M, critic_width(P, …)]. Where seats are dealt whole
    hands, "next" is the next hand; under R8's `draw` it is the next as many cards.
    """
    players = state.hands.shape[1]
    seen = state_width(players)
    state_features(see(state, seats), rules, out[:, :seen])
    if out.shape[1] > seen:
        hidden = out[:, seen:]
        hidden[:] = 0
        _write_hidden(state, seats, rules, scale_of(rules), hidden)
    return out


@kernel
def _write_hands(state: State, seats: IntArray, out: FloatArray) -> None:
    state, out = borrow(state), borrow(out)
    for game in range(seats.shape[0]):
        _put_hands(state, game, seats[game], out[game])


@inner_kernel
def _put_hands(state: State, game: int, seat: int, row: FloatArray) -> int:
    players, at = state.hands.shape[1], 0
    for k in range(1, players):
        at = put_classes(state.hands[game, (seat + k) % players], row, at)
    return at


@kernel
def _write_hidden(state: State, seats: IntArray, rules: RuleTable, scale: Scale, out: FloatArray) -> None:
    state, out = borrow(state), borrow(out)
    players, takes = state.hands.shape[1], np.zeros(N_VALUES + 1, np.int64)
    for game in range(seats.shape[0]):
        row, seat = out[game], seats[game]
        at = _put_hands(state, game, seat, row)
        _put_coming(state, game, seat, rules, row[at:])
        at += 2 * players * N_CLASSES
        write_takes(rules, state.loose[game], takes)
        live = live_scale(rules, scale, state, game)
        for value in range(takes.shape[0]):
            if value < state.build_cards.shape[1]:
                takes[value] |= state.build_cards[game, value]
        for k in range(1, players):
            _put_grabs(rules, live, state.hands[game, (seat + k) % players], takes, row[at:])
            at += N_VALUES + 1


@inner_kernel
def _put_coming(state: State, game: int, seat: int, rules: RuleTable, row: FloatArray) -> None:
    """R2.2, or R8's `draw`: who is dealt each card of the stock, at the next dealing or after it."""
    players = state.hands.shape[1]
    for k in range(N_CARDS - state.dealt[game]):
        receiver = state.turn[game] + k if rules.draw else state.dealer[game] + 1 + k // HAND_SIZE
        block = 2 * ((receiver - seat) % players) + (k >= HAND_SIZE * players)
        row[block * N_CLASSES + CARD_CLASS[state.deck[game, state.dealt[game] + k]]] += 1


@inner_kernel
def _put_grabs(rules: RuleTable, scale: Scale, hand: int, takes: IntArray, row: FloatArray) -> None:
    """For each value in a hand the worth of what it takes, sweeps apart, and the most of it."""
    while hand:
        value = take_value(rules, lowest(hand))
        row[value - 1] = take_worth(rules, scale, takes[value], False)
        row[N_VALUES] = max(row[N_VALUES], row[value - 1])
        hand &= hand - 1
