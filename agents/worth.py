"""What cards, moves and captured piles are worth by a fixed scale, in whole units: the agents' yardstick.

A captured card is worth its points (R6.1) and its share of most cards and most spades; a sweep is worth its
point where sweeps count. Holds no rule. All numbers are int64, so that sums are exact and equal on every
machine.
"""

from typing import NamedTuple, TypeVar

from casino_env.bits import popcount
from casino_env.cards import SPADES
from casino_env.jit import inner_kernel
from casino_env.moves import move_card, move_loose, move_pile, move_value
from casino_env.rules import RuleTable, hand_value
from casino_env.scoring import SWEEPS_NONE, card_points
from casino_env.state import IntArray, State, union
from casino_env.view import View

POINT = 26 * 7  # units of a point: 26 cards, or 7 spades, of the full deck share one without a rest

NEVER, UNLISTED = -(2**40), -(2**30)  # below any worth

TableT = TypeVar("TableT", State, View)


class Scale(NamedTuple):
    """Units that things are worth."""

    point: int
    card: int  # its share of most cards, which half of them win, rounded up
    spade: int  # its share of most spades, likewise
    sweep: int


def scale_of(table: RuleTable) -> Scale:
    """The scale of a rule set."""
    cards, spades = popcount(table.deck), popcount(table.deck & SPADES)
    return Scale(
        point=POINT,
        card=table.most_cards * POINT // ((cards + 1) // 2),
        spade=table.most_spades * POINT // ((spades + 1) // 2),
        sweep=0 if table.sweeps == SWEEPS_NONE else POINT,
    )


@inner_kernel
def half_cards(rules: RuleTable) -> int:
    """Half of the cards in play: more is certain to be the most (R6.1)."""
    return popcount(rules.deck) // 2


@inner_kernel
def half_spades(rules: RuleTable) -> int:
    """Half of the spades in play, rounded down."""
    return popcount(rules.deck & SPADES) // 2


@inner_kernel
def cards_worth(rules: RuleTable, scale: Scale, cards: int) -> int:
    """Worth of having captured a set of cards."""
    shares = scale.card * popcount(cards) + scale.spade * popcount(cards & SPADES)
    return scale.point * card_points(rules, cards) + shares


@inner_kernel
def move_gain(rules: RuleTable, scale: Scale, table: TableT, game: int, move: int) -> int:
    """Worth of what a move brings now: captured cards and a sweep; minus the card left by a trail; builds: 0.

    `table` is a state or a view, whose fields of the table have the same names.
    """
    card, loose = move_card(move), move_loose(move)
    if move_value(move):
        return 0
    if not loose and not move_pile(move):
        return -cards_worth(rules, scale, 1 << card)
    taken, piles = 1 << card | loose, union(table.owned, game)
    if move_pile(move):
        value = hand_value(rules, card)
        taken |= table.build_cards[game, value]
        piles &= ~(1 << value)
    swept = table.loose[game] == loose and piles == 0
    return cards_worth(rules, scale, taken) + (scale.sweep if swept else 0)


@inner_kernel
def greedy_move(rules: RuleTable, scale: Scale, table: TableT, game: int, moves: IntArray) -> int:
    """The index of the first of `moves` [M] that brings most now; builds only if there is nothing else."""
    best, choice = NEVER, 0
    for i in range(moves.shape[0]):
        gain = UNLISTED if move_value(moves[i]) else move_gain(rules, scale, table, game, moves[i])
        if gain > best:
            best, choice = gain, i
    return choice


@inner_kernel
def lead(rules: RuleTable, scale: Scale, state: State, game: int) -> int:
    """Worth of what side 0 has banked minus the mean of the other sides', times the number of those."""
    sides, total = state.score.shape[1], 0
    for seat in range(state.hands.shape[1]):
        worth = cards_worth(rules, scale, state.captured[game, seat])
        worth += scale.sweep * state.sweeps[game, seat]
        total += worth * (sides - 1) if seat % sides == 0 else -worth
    return total
