"""What only a critic may see: the other hands, and the cards that are still to come.

Axes: `B` games, `P` seats. Other seats are in order of play, cards by class (see `features`).
"""

import numpy as np

from agents.features import CARD_CLASS, N_CLASSES, put_classes
from agents.outlook import N_VALUES, FloatArray, live_scale, take_value, take_worth, write_takes
from agents.worth import Scale, scale_of
from casino_env.bits import lowest
from casino_env.cards import N_CARDS
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.rules import RuleTable
from casino_env.state import VALUES, IntArray, State


def critic_width(players: int) -> int:
    """Columns of `critic_features`: other hands; of every seat, what it is dealt next and later; grabs."""
    return hands_width(players) + 2 * players * N_CLASSES + (players - 1) * (N_VALUES + 1)


def hands_width(players: int) -> int:
    """The first columns of `critic_features`: the other hands."""
    return (players - 1) * N_CLASSES


def critic_features(state: State, games: IntArray, rules: RuleTable, out: FloatArray) -> FloatArray:
    """Write what is hidden from the seat to act in each of `games` [E] to `out` float32[E, critic_width(P)].

    That is the other hands; who is dealt which cards of the stock, next and later; and what each card value
    of another hand would take. Where seats are dealt whole hands, "next" is the next hand; under R8's `draw`
    it is the next as many cards.
    """
    out[:] = 0
    _write_hidden(state, games, rules, scale_of(rules), out)
    return out


@kernel
def _write_hidden(state: State, games: IntArray, rules: RuleTable, scale: Scale, out: FloatArray) -> None:
    state, out = borrow(state), borrow(out)
    players, takes = state.hands.shape[1], np.zeros(N_VALUES + 1, np.int64)
    for i in range(games.shape[0]):
        game, row, at = games[i], out[i], 0
        for k in range(1, players):
            at = put_classes(_other_hand(state, game, k), row, at)
        _put_coming(state, game, rules, row[at:])
        at += 2 * players * N_CLASSES
        write_takes(rules, state.loose[game], takes)
        for value in range(VALUES):
            takes[value] |= state.build_cards[game, value]
        live = live_scale(rules, scale, state, game)
        for k in range(1, players):
            _put_grabs(rules, live, _other_hand(state, game, k), takes, row[at:])
            at += N_VALUES + 1


@inner_kernel
def _other_hand(state: State, game: int, k: int) -> int:
    """The hand of the k-th seat after the one to act."""
    return state.hands[game, (state.turn[game] + k) % state.hands.shape[1]]


@inner_kernel
def _put_coming(state: State, game: int, rules: RuleTable, row: FloatArray) -> None:
    """R2.2, or R8's `draw`: who is dealt each card of the stock, at the next dealing or after it."""
    players, seat = state.hands.shape[1], state.turn[game]
    for k in range(N_CARDS - state.dealt[game]):
        receiver = seat + k if rules.draw else state.dealer[game] + 1 + k // rules.hand_size
        block = 2 * ((receiver - seat) % players) + (k >= rules.hand_size * players)
        row[block * N_CLASSES + CARD_CLASS[state.deck[game, state.dealt[game] + k]]] += 1


@inner_kernel
def _put_grabs(rules: RuleTable, scale: Scale, hand: int, takes: IntArray, row: FloatArray) -> None:
    """For each value in a hand the worth of what it takes, sweeps apart, and the most of it."""
    while hand:
        value = take_value(rules, lowest(hand))
        row[value - 1] = take_worth(rules, scale, takes[value], False)
        row[N_VALUES] = max(row[N_VALUES], row[value - 1])
        hand &= hand - 1
