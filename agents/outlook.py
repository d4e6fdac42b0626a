"""What a table offers to each capture value: which cards it takes, what they are worth, who may hold it.

A *value* here is a capture value 1-16, or for cards that capture by pairing (R8) the printed one. What
overlaps is not sorted out: a value is said to take every card that is in some group worth it.
Axes: `V` = 17 values (index = value, 0 unused).
"""

import numpy as np
from numpy.typing import NDArray

from agents.worth import POINT, Scale, cards_worth
from casino_env.bits import lowest, popcount
from casino_env.groups import reachable
from casino_env.jit import inner_kernel
from casino_env.moves import low_value
from casino_env.rules import MAX_VALUE, RuleTable, alone_value, hand_value, is_paired, side_count, sum_value
from casino_env.state import IntArray
from casino_env.view import View

N_VALUES = MAX_VALUE  # values 1-16

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
    rest = loose
    while rest:
        card = lowest(rest)
        values = _taken_by(rules, loose, card)
        while values:
            takes[lowest(values)] |= 1 << card
            values &= values - 1
        rest &= rest - 1


@inner_kernel
def _taken_by(rules: RuleTable, loose: int, card: int) -> int:
    """The values (bits) that take a loose card: by itself, or in a group with others."""
    if is_paired(rules, card):
        return 1 << low_value(card)
    worth, values = sum_value(rules, card), 0
    if worth:
        values = 1 << alone_value(rules, card) | reachable(rules, loose & ~(1 << card)) << worth
    return values & ((1 << N_VALUES + 1) - 2)


@inner_kernel
def take_worth(rules: RuleTable, scale: Scale, cards: int, clears: bool) -> float:
    """Points that captured cards are worth, with their share of the majorities, and a sweep."""
    return (cards_worth(rules, scale, cards) + (scale.sweep if clears else 0)) / POINT


@inner_kernel
def write_chances(rules: RuleTable, unseen: int, drawn: int, chances: Doubles) -> None:
    """Write the probability that `drawn` of the unseen cards hold each value to `chances` [V]."""
    counts, total = np.zeros(chances.shape[0], np.int64), popcount(unseen)
    rest = unseen
    while rest:
        counts[take_value(rules, lowest(rest))] += 1
        rest &= rest - 1
    for value in range(chances.shape[0]):
        none = 1.0
        for i in range(min(drawn, total)):
            none *= max(total - counts[value] - i, 0) / (total - i)
        chances[value] = 1.0 - none


@inner_kernel
def rival_cards(view: View, game: int) -> int:
    """Number of cards in the hands of the other sides."""
    players, count = view.hand_sizes.shape[1], 0
    for seat in range(players):
        if seat % side_count(players):
            count += view.hand_sizes[game, seat]
    return count
