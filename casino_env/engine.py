"""Playing: dealing, applying a move, the end of a deal. Kernels change one game's row in place.

A kernel is a pure function of state, deck and move: shuffling happens outside. The moves given are
taken to be legal (`legal`, `masks` and `check` say which are).
"""

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import popcount
from casino_env.cards import N_CARDS
from casino_env.groups import group_count
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.moves import move_card, move_loose, move_pile, move_raises, move_value
from casino_env.rules import RuleTable, hand_value, sum_value
from casino_env.scoring import N_ITEMS, deal_points, settle, total_points
from casino_env.state import NOBODY, VALUES, IntArray, State, union


@inner_kernel
def is_over(state: State, game: int) -> bool:
    """Whether all hands and the stock are empty."""
    return state.dealt[game] == N_CARDS and union(state.hands, game) == 0


@kernel
def start_deal(state: State, game: int, rules: RuleTable, deck: NDArray[np.int8], dealer: int) -> None:
    """R2: clear the table, keep the score, and deal from a deck (see `decks`)."""
    for i in range(N_CARDS):  # an array assignment would cost seconds of compiling
        state.deck[game, i] = deck[i]
    state.dealt[game] = N_CARDS - popcount(rules.deck)
    state.dealer[game] = dealer
    state.turn[game] = (dealer + 1) % state.hands.shape[1]
    state.last_capture[game] = NOBODY
    state.multiple[game] = 0
    for value in range(VALUES):
        state.build_cards[game, value] = 0
    for seat in range(state.hands.shape[1]):
        state.owned[game, seat] = 0
        state.captured[game, seat] = 0
        state.sweeps[game, seat] = 0
    _deal_hands(state, game, rules)
    state.loose[game] = _draw(state, game, rules.table_size)


@kernel
def start_deals(
    state: State, games: IntArray, rules: RuleTable, decks: NDArray[np.int8], dealers: IntArray
) -> None:
    """Start a deal in each of `games` [E] from `decks` int8[E, 52] with `dealers` [E]."""
    state, decks = borrow(state), borrow(decks)
    for i in range(games.shape[0]):
        start_deal(state, games[i], rules, decks[i], dealers[i])


def next_dealers(state: State, games: IntArray) -> IntArray:
    """R2.3: the dealer of the next deal in each of `games` [E]."""
    return (state.dealer[games] + 1) % state.hands.shape[1]


@inner_kernel
def _deal_hands(state: State, game: int, rules: RuleTable) -> None:
    """R2.2: as many cards to each seat, starting with the first to act."""
    seats = state.hands.shape[1]
    for i in range(seats):
        state.hands[game, (state.dealer[game] + 1 + i) % seats] = _draw(state, game, rules.hand_size)


@inner_kernel
def _draw(state: State, game: int, count: int) -> int:
    cards = 0
    for _ in range(count):
        cards |= 1 << int(state.deck[game, state.dealt[game]])
        state.dealt[game] += 1
    return cards


@kernel
def apply_move(state: State, game: int, rules: RuleTable, move: int) -> None:
    """Play a legal packed move (R3) and all that follows without a choice: draw, re-deal, end of the deal."""
    seat, card, loose = state.turn[game], move_card(move), move_loose(move)
    state.hands[game, seat] &= ~(1 << card)
    state.loose[game] &= ~loose
    if move_value(move):
        _build(state, game, rules, move)
    elif loose or move_pile(move):
        _capture(state, game, 1 << card | loose, move_pile(move) * hand_value(rules, card))
    else:
        state.loose[game] |= 1 << card
    if rules.draw and state.dealt[game] < N_CARDS:
        state.hands[game, seat] |= _draw(state, game, 1)
    state.turn[game] = (seat + 1) % state.hands.shape[1]
    _deal_on(state, game, rules)


@inner_kernel
def _capture(state: State, game: int, cards: int, value: int) -> None:
    """R3.5, R5.1: bank the cards and the build of `value` (0: none)."""
    seat = state.turn[game]
    if value:
        cards |= _lift(state, game, value)
    state.captured[game, seat] |= cards
    state.last_capture[game] = seat
    if state.loose[game] == 0 and union(state.owned, game) == 0:
        state.sweeps[game, seat] += 1


@inner_kernel
def _build(state: State, game: int, rules: RuleTable, move: int) -> None:
    """R4.1, R4.2, R4.5: join played card, loose cards, the raised build and a standing one."""
    card, loose, value = move_card(move), move_loose(move), move_value(move)
    cards, joins = 1 << card | loose, move_pile(move)
    if move_raises(move):
        groups = 1 + group_count(rules, loose, value)
        cards |= _lift(state, game, value - sum_value(rules, card))
    else:
        groups = group_count(rules, cards, value)
    if joins:
        cards |= _lift(state, game, value)
    state.build_cards[game, value] = cards
    state.owned[game, state.turn[game]] |= 1 << value
    if groups > 1 or joins:
        state.multiple[game] |= 1 << value


@inner_kernel
def _lift(state: State, game: int, value: int) -> int:
    """Take the build of `value` off the table; returns its cards."""
    cards = state.build_cards[game, value]
    others = ~(1 << value)
    state.build_cards[game, value] = 0
    state.multiple[game] &= others
    for seat in range(state.owned.shape[1]):
        state.owned[game, seat] &= others
    return cards


@inner_kernel
def _deal_on(state: State, game: int, rules: RuleTable) -> None:
    """R2.2, R5.2: when every hand is empty, deal again or give the last capturer what lies loose."""
    if union(state.hands, game):
        return
    if state.dealt[game] < N_CARDS:
        _deal_hands(state, game, rules)
    elif state.last_capture[game] != NOBODY:
        state.captured[game, state.last_capture[game]] |= state.loose[game]
        state.loose[game] = 0


@kernel
def apply_batch(state: State, rules: RuleTable, moves: IntArray, over: NDArray[np.bool_]) -> None:
    """Play `moves` [B], one in each game, and write to `over` [B] whether its deal has ended."""
    state = borrow(state)
    for game in range(moves.shape[0]):
        apply_move(state, game, rules, moves[game])
        over[game] = is_over(state, game)


@kernel
def settle_batch(
    state: State, rules: RuleTable, ended: IntArray, totals: IntArray, settled: IntArray
) -> IntArray:
    """For each ended game write the points of each side to `totals` [E, S] and the new score to `settled`.

    `ended` [E] holds game indices. Returns the winner of each game, NOBODY while the match goes on.
    """
    state, settled = borrow(state), borrow(settled)
    winners = np.zeros(ended.shape[0], np.int64)
    points = np.zeros((totals.shape[1], N_ITEMS), np.int64)
    for i in range(ended.shape[0]):
        game = ended[i]
        deal_points(state, game, rules, points)
        for side in range(totals.shape[1]):
            totals[i, side] = total_points(points, side)
        winners[i] = settle(state, game, rules, points, settled[i])
    return winners
