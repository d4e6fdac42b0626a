"""What the networks read: features of a view, and of each legal move (`critic_features` has what is hidden).

Axes: `B` games, `M` moves of all games together, `P` seats. Cards are encoded by class (rank × {spade,
other}, and the ten of diamonds apart): suits matter for nothing else. Writers append to a row and return
the next free column, so that a width is stated once, in `state_width` and its fellows.
"""

import numpy as np

from agents.outlook import (
    COUNT_SCALE,
    N_VALUES,
    OFFERS_WIDTH,
    FloatArray,
    add_builds,
    held_values,
    live_scale,
    put_offers,
    take_worth,
    write_chances,
    write_takes,
)
from agents.worth import Scale, scale_of
from casino_env.bits import lowest, popcount
from casino_env.cards import BIG_CASINO, N_CARDS, SPADES, SUIT_COUNT
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.moves import move_card, move_loose, move_pile, move_raises, move_value
from casino_env.rules import RuleTable, hand_value, side_count, sum_value
from casino_env.scoring import card_points
from casino_env.state import NOBODY, VALUES, IntArray, build_owner, union
from casino_env.view import View, unseen_cards

FEATURES_VERSION = 2  # changes whenever a feature changes; kept in checkpoints

N_CLASSES = 27
N_BUILDS = VALUES - 2
KINDS = 4  # trail, capture, build, raise
SPADE = 3
CARD_SCALE, SPADE_SCALE = 26.0, 7.0

CARD_CLASS = np.array([card // SUIT_COUNT * 2 + (card % SUIT_COUNT == SPADE) for card in range(N_CARDS)])
CARD_CLASS[BIG_CASINO] = N_CLASSES - 1

UNSEEN = slice(2 * N_CLASSES, 3 * N_CLASSES)  # columns of a state: cards of each class that are not seen


def state_width(players: int) -> int:
    """Columns of `state_features`."""
    cards = 3 * N_CLASSES + 3 * N_VALUES
    builds = N_BUILDS * (players + 4)
    return cards + builds + 5 * players + 1 + 2 * players + side_count(players)


MOVE_WIDTH = KINDS + N_CLASSES + N_CLASSES + N_BUILDS + 1 + 7 + N_CLASSES + OFFERS_WIDTH


def state_features(view: View, rules: RuleTable, out: FloatArray | None = None) -> FloatArray:
    """Features of each view, float32[B, state_width(P)]; written to `out` if that is given."""
    games, players = view.captured.shape
    out = _blank(games, state_width(players), out)
    _write_states(view, rules, scale_of(rules), out)
    return out


def move_features(
    view: View, moves: IntArray, offsets: IntArray, rules: RuleTable, out: FloatArray | None = None
) -> FloatArray:
    """Features of each of `moves` [M] and of the table that it leaves, float32[M, MOVE_WIDTH].

    `offsets` [B + 1] say which moves are whose. Written to `out` if that is given.
    """
    out = _blank(len(moves), MOVE_WIDTH, out)
    _write_moves(view, (offsets, moves), rules, scale_of(rules), out)
    return out


def _blank(rows: int, width: int, out: FloatArray | None) -> FloatArray:
    if out is None:
        return np.zeros((rows, width), np.float32)
    out[:] = 0
    return out


@kernel
def _write_states(view: View, rules: RuleTable, scale: Scale, out: FloatArray) -> None:
    view, out = borrow(view), borrow(out)
    players = view.captured.shape[1]
    takes, chances = np.zeros(N_VALUES + 1, np.int64), np.zeros(N_VALUES + 1)
    for game in range(out.shape[0]):
        row = out[game]
        at = put_classes(view.hand[game], row, 0)
        at = put_classes(view.loose[game], row, at)
        at = put_classes(unseen_cards(rules, view, game), row, at)
        write_takes(rules, view.loose[game], takes)
        write_chances(rules, view, game, chances)
        live = live_scale(rules, scale, view, game)
        for value in range(1, N_VALUES + 1):
            row[at] = takes[value] != 0
            row[at + 1] = take_worth(rules, live, takes[value], False)
            row[at + 2] = chances[value]
            at += 3
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
def _write_moves(
    view: View, lists: tuple[IntArray, IntArray], rules: RuleTable, scale: Scale, out: FloatArray
) -> None:
    view, out = borrow(view), borrow(out)
    offsets, moves = lists
    takes, chances = np.zeros(N_VALUES + 1, np.int64), np.zeros(N_VALUES + 1)
    for game in range(offsets.shape[0] - 1):
        write_chances(rules, view, game, chances)
        live = live_scale(rules, scale, view, game)
        for i in range(offsets[game], offsets[game + 1]):
            move = moves[i]
            at = _put_move(move, out[i])
            loose, taken, standing = _table_after(view, game, rules, move)
            at = _put_gain(rules, live, (loose, taken, standing), out[i, at:]) + at
            at = put_classes(loose, out[i], at)
            write_takes(rules, loose, takes)
            add_builds(view, game, rules, move, standing, takes)
            held = held_values(rules, view.hand[game] & ~(1 << move_card(move)))
            put_offers(rules, live, (loose, standing, held), (takes, chances), out[i, at:])


@inner_kernel
def _put_move(move: int, row: FloatArray) -> int:
    """Kind, played card, cards taken or joined, value and pile of the move itself."""
    card, loose, value = move_card(move), move_loose(move), move_value(move)
    if value:
        row[3 if move_raises(move) else 2] = 1
    else:
        row[1 if loose or move_pile(move) else 0] = 1
    row[KINDS + CARD_CLASS[card]] = 1
    at = put_classes(loose, row, KINDS + N_CLASSES)
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
def _put_gain(rules: RuleTable, scale: Scale, after: tuple[int, int, int], row: FloatArray) -> int:
    """What the move banks and what it leaves: loose cards, captured ones, values of builds."""
    loose, taken, standing = after
    row[0] = popcount(taken) / COUNT_SCALE
    row[1] = popcount(taken & SPADES) / COUNT_SCALE
    row[2] = card_points(rules, taken)
    row[3] = 1 if taken and loose == 0 and standing == 0 else 0
    row[4] = popcount(loose) / COUNT_SCALE
    row[5] = card_points(rules, loose)
    row[6] = take_worth(rules, scale, taken, row[3] != 0)
    return 7


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
def put_classes(cards: int, row: FloatArray, at: int) -> int:
    """Number of cards of each class; returns the next column."""
    while cards:
        row[at + CARD_CLASS[lowest(cards)]] += 1
        cards &= cards - 1
    return at + N_CLASSES
