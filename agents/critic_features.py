"""What only a critic may see: the other hands, and the cards that are still to come.

Axes: `B` games, `P` seats. Seats are in order of play from the seat to act, cards by class (see `features`).
"""

from agents.features import CARD_CLASS, N_CLASSES, FloatArray, put_classes
from casino_env.cards import N_CARDS
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.rules import HAND_SIZE, RuleTable
from casino_env.state import IntArray, State


def critic_width(players: int) -> int:
    """Columns of `critic_features`: other hands; and of every seat, what it is dealt next, and later."""
    return (players - 1 + 2 * players) * N_CLASSES


def hands_width(players: int) -> int:
    """The first columns of `critic_features`: the other hands."""
    return (players - 1) * N_CLASSES


def critic_features(state: State, games: IntArray, rules: RuleTable, out: FloatArray) -> FloatArray:
    """Write what is hidden from the seat to act in each of `games` [E] to `out` float32[E, critic_width(P)].

    A hand is a count of each class. Where seats are dealt whole hands, "next" is the next hand; under R8's
    `draw`, where cards are drawn one by one, it is the next as many cards.
    """
    out[:] = 0
    _write_hidden(state, games, rules, out)
    return out


@kernel
def _write_hidden(state: State, games: IntArray, rules: RuleTable, out: FloatArray) -> None:
    state, games, out = borrow(state), borrow(games), borrow(out)
    players = state.hands.shape[1]
    for i in range(games.shape[0]):
        game, at = games[i], 0
        for k in range(1, players):
            at = put_classes(state.hands[game, (state.turn[game] + k) % players], out[i], at)
        _put_coming(state, game, rules, out[i], at)


@inner_kernel
def _put_coming(state: State, game: int, rules: RuleTable, row: FloatArray, at: int) -> None:
    """R2.2, or R8's `draw`: who is dealt each card of the stock, at the next dealing or after it."""
    players, seat = state.hands.shape[1], state.turn[game]
    for k in range(N_CARDS - state.dealt[game]):
        receiver = seat + k if rules.draw else state.dealer[game] + 1 + k // HAND_SIZE
        is_later = k >= HAND_SIZE * players
        block = 2 * ((receiver - seat) % players) + is_later
        row[at + block * N_CLASSES + CARD_CLASS[state.deck[game, state.dealt[game] + k]]] += 1
