"""What the networks read: features of a view, of each legal move, and of the hands only a critic may see.

Axes: `B` games, `M` moves of all games together, `P` seats. Cards are encoded by class (rank × {spade,
other}, and the ten of diamonds apart): suits matter for nothing else. Writers append to a row and return
the next free column, so that a width is stated once, in `state_width` and its fellows.
"""

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import lowest, popcount
from casino_env.cards import BIG_CASINO, N_CARDS, SPADES, SUIT_COUNT
from casino_env.groups import is_alone, reachable
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.moves import move_card, move_loose, move_pile, move_raises, move_value
from casino_env.rules import ACE_HIGH, MAX_VALUE, RuleTable, alone_value, hand_value, side_count, sum_value
from casino_env.scoring import card_points
from casino_env.state import NOBODY, VALUES, IntArray, State, build_owner, union
from casino_env.view import View, unseen_cards

FEATURES_VERSION = 1  # changes whenever a feature changes; kept in checkpoints

N_CLASSES = 27
N_TOTALS = ACE_HIGH  # totals 1-14
N_BUILDS = VALUES - 2
KINDS = 4  # trail, capture, build, raise
SPADE = 3
CARD_SCALE, SPADE_SCALE, COUNT_SCALE = 26.0, 7.0, 4.0

CARD_CLASS = np.array([card // SUIT_COUNT * 2 + (card % SUIT_COUNT == SPADE) for card in range(N_CARDS)])
CARD_CLASS[BIG_CASINO] = N_CLASSES - 1

FloatArray = NDArray[np.float32]


def state_width(players: int) -> int:
    """Columns of `state_features`."""
    cards = 3 * N_CLASSES + N_TOTALS
    builds = N_BUILDS * (players + 4)
    return cards + builds + 5 * players + 1 + 2 * players + side_count(players)


def hidden_width(players: int) -> int:
    """Columns of `hidden_features`."""
    return (players - 1) * N_CLASSES


MOVE_WIDTH = KINDS + N_CLASSES + N_CLASSES + N_BUILDS + 1 + 6 + N_CLASSES + 3 * N_TOTALS


def state_features(view: View, rules: RuleTable) -> FloatArray:
    """Features of each view, float32[B, state_width(P)]."""
    games, players = view.captured.shape
    out = np.zeros((games, state_width(players)), np.float32)
    _write_states(view, rules, out)
    return out


def move_features(view: View, moves: IntArray, offsets: IntArray, rules: RuleTable) -> FloatArray:
    """Features of each of `moves` [M] and of the table that it leaves, float32[M, MOVE_WIDTH].

    `offsets` [B + 1] say which moves are whose.
    """
    out = np.zeros((len(moves), MOVE_WIDTH), np.float32)
    _write_moves(view, offsets, moves, rules, out)
    return out


def hidden_features(state: State) -> FloatArray:
    """The other hands by class, in order of play, float32[B, hidden_width(P)]: for critics only."""
    games, players = state.hands.shape
    out = np.zeros((games, hidden_width(players)), np.float32)
    _write_hidden(state, out)
    return out


@kernel
def _write_states(view: View, rules: RuleTable, out: FloatArray) -> None:
    view, out = borrow(view), borrow(out)
    players = view.captured.shape[1]
    for game in range(out.shape[0]):
        row = out[game]
        at = _put_classes(view.hand[game], row, 0)
        at = _put_classes(view.loose[game], row, at)
        at = _put_classes(unseen_cards(view, game), row, at)
        at = _put_totals(_takeable(rules, view.loose[game]), row, at)
        at = _put_builds(view, game, rules, row, at)
        for seat in range(players):
            captured = view.captured[game, seat]
            row[at] = popcount(captured) / CARD_SCALE
            row[at + 1] = popcount(captured & SPADES) / SPADE_SCALE
            row[at + 2] = card_points(rules, captured) / COUNT_SCALE
            row[at + 3] = view.sweeps[game, seat] / COUNT_SCALE
            row[at + 4] = view.hand_sizes[game, seat] / COUNT_SCALE
            at += 5
        row[at] = view.stock_size[game] / N_CARDS
        at += 1
        if view.last_capture[game] != NOBODY:
            row[at + view.last_capture[game]] = 1
        row[at + players + view.dealer[game]] = 1
        at += 2 * players
        for side in range(view.score.shape[1]):
            row[at + side] = view.score[game, side] / rules.target


@kernel
def _write_hidden(state: State, out: FloatArray) -> None:
    state, out = borrow(state), borrow(out)
    players = state.hands.shape[1]
    for game in range(out.shape[0]):
        at = 0
        for i in range(1, players):
            at = _put_classes(state.hands[game, (state.turn[game] + i) % players], out[game], at)


@kernel
def _write_moves(view: View, offsets: IntArray, moves: IntArray, rules: RuleTable, out: FloatArray) -> None:
    view, moves, out = borrow(view), borrow(moves), borrow(out)
    for game in range(offsets.shape[0] - 1):
        unseen = _value_counts(rules, unseen_cards(view, game))
        for i in range(offsets[game], offsets[game + 1]):
            at = _put_move(moves[i], out[i])
            loose, taken, standing = _table_after(view, game, rules, moves[i])
            at = _put_gain(rules, loose, taken, standing, out[i, at:]) + at
            at = _put_classes(loose, out[i], at)
            held = _value_counts(rules, view.hand[game] & ~(1 << move_card(moves[i])))
            _put_threats(_takeable(rules, loose) | standing, unseen, held, out[i, at:])


@inner_kernel
def _put_move(move: int, row: FloatArray) -> int:
    """Kind, played card, cards taken or joined, value and pile of the move itself."""
    card, loose, value = move_card(move), move_loose(move), move_value(move)
    if value:
        row[3 if move_raises(move) else 2] = 1
    else:
        row[1 if loose or move_pile(move) else 0] = 1
    row[KINDS + CARD_CLASS[card]] = 1
    at = _put_classes(loose, row, KINDS + N_CLASSES)
    if value:
        row[at + value - 2] = 1
    row[at + N_BUILDS] = move_pile(move)
    return at + N_BUILDS + 1


@inner_kernel
def _table_after(view: View, game: int, rules: RuleTable, move: int) -> tuple[int, int, int]:
    """Loose cards left, cards captured, and the values of the builds left standing (bits)."""
    card, value = move_card(move), move_value(move)
    loose = view.loose[game] & ~move_loose(move)
    standing, taken = union(view.owned, game), 0
    if value:
        standing |= 1 << value
        if move_raises(move):
            standing &= ~(1 << (value - sum_value(rules, card)))
    elif move_loose(move) or move_pile(move):
        taken = 1 << card | move_loose(move)
        if move_pile(move):
            taken |= view.build_cards[game, hand_value(rules, card)]
            standing &= ~(1 << hand_value(rules, card))
    else:
        loose |= 1 << card
    return loose, taken, standing


@inner_kernel
def _put_gain(rules: RuleTable, loose: int, taken: int, standing: int, row: FloatArray) -> int:
    """What the move banks and what it leaves."""
    row[0] = popcount(taken) / COUNT_SCALE
    row[1] = popcount(taken & SPADES) / COUNT_SCALE
    row[2] = card_points(rules, taken)
    row[3] = 1 if taken and loose == 0 and standing == 0 else 0
    row[4] = popcount(loose) / COUNT_SCALE
    row[5] = card_points(rules, loose)
    return 6


@inner_kernel
def _put_threats(totals: int, unseen: IntArray, held: IntArray, row: FloatArray) -> None:
    """For each capture value: can something be taken with it, by cards unseen, by the rest of the hand?"""
    for total in range(1, N_TOTALS + 1):
        if totals >> total & 1:
            row[total - 1] = 1
            row[N_TOTALS + total - 1] = unseen[total] / COUNT_SCALE
            row[2 * N_TOTALS + total - 1] = 1 if held[total] else 0


@inner_kernel
def _put_builds(view: View, game: int, rules: RuleTable, row: FloatArray, at: int) -> int:
    """For each value: owner one-hot, multiple, cards, spades, points."""
    players = view.captured.shape[1]
    width = players + 4
    for value in range(2, VALUES):
        owner, cards = build_owner(view.owned, game, value), view.build_cards[game, value]
        if owner != NOBODY:
            row[at + owner] = 1
            row[at + players] = view.multiple[game] >> value & 1
            row[at + players + 1] = popcount(cards) / COUNT_SCALE
            row[at + players + 2] = popcount(cards & SPADES) / COUNT_SCALE
            row[at + players + 3] = card_points(rules, cards)
        at += width
    return at


@inner_kernel
def _put_classes(cards: int, row: FloatArray, at: int) -> int:
    """Number of cards of each class; returns the next column."""
    while cards:
        row[at + CARD_CLASS[lowest(cards)]] += 1
        cards &= cards - 1
    return at + N_CLASSES


@inner_kernel
def _put_totals(totals: int, row: FloatArray, at: int) -> int:
    """One column for each total 1-14; returns the next column."""
    for total in range(1, N_TOTALS + 1):
        row[at + total - 1] = totals >> total & 1
    return at + N_TOTALS


@inner_kernel
def _takeable(rules: RuleTable, loose: int) -> int:
    """Capture values that take something of the loose cards (bits)."""
    totals = reachable(rules, loose)
    while loose:
        card = lowest(loose)
        if is_alone(rules, card, alone_value(rules, card)):
            totals |= 1 << alone_value(rules, card)
        loose &= loose - 1
    return totals


@inner_kernel
def _value_counts(rules: RuleTable, cards: int) -> IntArray:
    """Number of the cards with each capture value, int64[MAX_VALUE + 1]."""
    counts = np.zeros(MAX_VALUE + 1, np.int64)
    while cards:
        counts[hand_value(rules, lowest(cards))] += 1
        cards &= cards - 1
    return counts
