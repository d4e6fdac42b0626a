"""What a table offers to each capture value: which cards it takes, what they are worth, who may hold it.

A *value* here is a capture value 1-16, or for cards that capture by pairing (R8) the printed one. What
overlaps is not sorted out: a value is said to take every card that is in some group worth it.
Axes: `V` = 17 values (index = value, 0 unused).
"""

import numpy as np
from numpy.typing import NDArray

from agents.worth import POINT, Scale, TableT, cards_worth, half_cards, half_spades
from casino_env.bits import lowest, popcount
from casino_env.cards import N_CARDS, SPADES, SUIT_COUNT
from casino_env.groups import reachable
from casino_env.jit import inner_kernel
from casino_env.moves import low_value, move_card, move_loose, move_raises, move_value
from casino_env.rules import (
    MAX_VALUE,
    RuleTable,
    alone_value,
    hand_value,
    is_paired,
    side_count,
    sum_value,
)
from casino_env.state import VALUES, IntArray
from casino_env.view import View, unseen_cards

N_VALUES = MAX_VALUE  # values 1-16
OFFERS, PEAKS = 6, 3  # columns of `put_offers`: of each value, and of them all
OFFERS_WIDTH = N_VALUES * OFFERS + PEAKS
COUNT_SCALE = 4.0

FloatArray = NDArray[np.float32]
Doubles = NDArray[np.float64]


@inner_kernel
def take_value(rules: RuleTable, card: int) -> int:
    """The value that a card of the hand captures with."""
    return low_value(card) if is_paired(rules, card) else hand_value(rules, card)


@inner_kernel
def write_takes(rules: RuleTable, loose: int, takes: IntArray) -> None:
    """Write the loose cards that each value takes to `takes` [V], card sets."""
    for value in range(takes.shape[0]):
        takes[value] = 0
    summed, rest = _summed_values(rules), loose
    while rest:
        card = lowest(rest)
        values = _totals_with(rules, loose, card) & summed
        if is_paired(rules, card):
            values |= 1 << low_value(card)
        while values:
            takes[lowest(values)] |= 1 << card
            values &= values - 1
        rest &= rest - 1


@inner_kernel
def _totals_with(rules: RuleTable, loose: int, card: int) -> int:
    """The totals (bits) of groups that hold a loose card: alone, or with others."""
    worth = sum_value(rules, card)
    if worth == 0:
        return 0
    return 1 << alone_value(rules, card) | reachable(rules, loose & ~(1 << card)) << worth


@inner_kernel
def _summed_values(rules: RuleTable) -> int:
    """The values (bits) that capture groups, and not pairs."""
    values = (1 << N_VALUES + 1) - 2
    for card in range(0, N_CARDS, SUIT_COUNT):
        if is_paired(rules, card):
            values &= ~(1 << low_value(card))
    return values


@inner_kernel
def take_worth(rules: RuleTable, scale: Scale, cards: int, clears: bool) -> float:
    """Points that captured cards are worth, with their share of the majorities, and a sweep."""
    return (cards_worth(rules, scale, cards) + (scale.sweep if clears else 0)) / POINT


@inner_kernel
def write_chances(rules: RuleTable, view: View, game: int, chances: Doubles) -> None:
    """Write the probability that the other sides hold a card of each value to `chances` [V].

    All unseen cards are taken to be equally likely, but the owner of a build holds its value (R4.4).
    """
    unseen = unseen_cards(rules, view, game)
    counts, total = np.zeros(chances.shape[0], np.int64), popcount(unseen)
    rest = unseen
    while rest:
        counts[take_value(rules, lowest(rest))] += 1
        rest &= rest - 1
    players, cards, promised = view.hand_sizes.shape[1], 0, 0
    for seat in range(players):
        if seat % side_count(players):
            cards += view.hand_sizes[game, seat]
            promised |= view.owned[game, seat]
    for value in range(chances.shape[0]):
        none = 1.0
        for i in range(min(cards, total)):
            none *= max(total - counts[value] - i, 0) / (total - i)
        chances[value] = 1.0 if promised >> value & 1 and counts[value] else 1.0 - none


@inner_kernel
def live_scale(rules: RuleTable, scale: Scale, table: TableT, game: int) -> Scale:
    """The scale without the shares of the majorities that a side already has."""
    captured, card, spade = table.captured, scale.card, scale.spade
    players = captured.shape[1]
    for side in range(side_count(players)):
        cards = 0
        for seat in range(side, players, side_count(players)):
            cards |= captured[game, seat]
        if popcount(cards) > half_cards(rules):
            card = 0
        if popcount(cards & SPADES) > half_spades(rules):
            spade = 0
    return Scale(scale.point, card, spade, scale.sweep)


@inner_kernel
def add_builds(view: View, game: int, rules: RuleTable, move: int, standing: int, takes: IntArray) -> None:
    """Add the builds `standing` (bits) after a move to what their values take."""
    made = move_value(move)
    for value in range(2, VALUES):
        if not standing >> value & 1:
            continue
        cards = view.build_cards[game, value]
        if value == made:
            cards |= 1 << move_card(move) | move_loose(move)
            if move_raises(move):
                cards |= view.build_cards[game, value - sum_value(rules, move_card(move))]
        takes[value] |= cards


@inner_kernel
def put_offers(
    rules: RuleTable,
    scale: Scale,
    after: tuple[int, int, int],
    offers: tuple[IntArray, Doubles],
    row: FloatArray,
) -> None:
    """For each value: cards that it takes, their worth, who may hold it; and the most that it comes to.

    `after`: loose cards, values of builds and values of the own hand after the move; `offers`: what each
    value takes, and the chance that another side holds it.
    """
    loose, standing, held = after
    takes, chances = offers
    peaks = N_VALUES * OFFERS
    for value in range(1, N_VALUES + 1):
        cards, mine = takes[value], held >> value & 1
        clears = cards != 0 and loose & ~cards == 0 and standing & ~(1 << value) == 0
        worth, at = take_worth(rules, scale, cards, clears), (value - 1) * OFFERS
        row[at] = popcount(cards) / COUNT_SCALE
        row[at + 1] = worth
        row[at + 2] = chances[value]
        row[at + 3] = chances[value] * worth
        row[at + 4] = mine
        row[at + 5] = mine * worth
        row[peaks] = max(row[peaks], row[at + 3])
        row[peaks + 1] += row[at + 3]
        row[peaks + 2] = max(row[peaks + 2], row[at + 5])


@inner_kernel
def held_values(rules: RuleTable, hand: int) -> int:
    """The values (bits) that the cards of a hand capture with."""
    values = 0
    while hand:
        values |= 1 << take_value(rules, lowest(hand))
        hand &= hand - 1
    return values
