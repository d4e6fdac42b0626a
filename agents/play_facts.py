"""Facts of play, for rewards and metrics: points that are certain, kinds of moves, points by item.

Axes: `B` games, `P` seats, `S` sides, `I` items that score, `N` moves.
"""

import numpy as np
from numpy.typing import NDArray

from agents.worth import half_cards, half_spades
from casino_env.bits import popcount
from casino_env.cards import SPADES
from casino_env.jit import borrow, kernel
from casino_env.moves import move_card, move_loose, move_pile, move_raises, move_value
from casino_env.objectives import margins
from casino_env.rules import RuleTable, hand_value, side_count
from casino_env.scoring import N_ITEMS, card_points, deal_points, side_cards
from casino_env.state import IntArray, State
from casino_env.view import View

MOVE_KINDS = ("trail", "capture", "build", "raise")
OWN, FOREIGN = 1, 2  # a move captures a build that the mover's side owns, or another; 0: none


def banked_margins(state: State, rules: RuleTable) -> NDArray[np.float64]:
    """Margin of each seat [B, P] in the points that are already certain: cards that score, sweeps, and a
    majority once more than half is held.

    Paying its change at every turn and the rest at the end adds up exactly to the margin of the deal
    (potential-based shaping, Ng et al. 1999, for a discount of 1).
    """
    games, players = state.hands.shape
    sides = state.score.shape[1]
    totals = np.zeros((games, sides), np.int64)
    _bank(state, rules, totals)
    return margins(totals)[:, np.arange(players) % sides]


def points_by_item(state: State, rules: RuleTable) -> IntArray:
    """Points [B, S, I] of each side for each of `rules.ITEMS` in finished deals."""
    points = np.zeros((*state.score.shape, N_ITEMS), np.int64)
    _write_points(state, rules, points)
    return points


@kernel
def _bank(state: State, rules: RuleTable, totals: IntArray) -> None:
    state, sides = borrow(state), totals.shape[1]
    for game in range(totals.shape[0]):
        for seat in range(state.hands.shape[1]):
            if rules.sweeps:
                totals[game, seat % sides] += state.sweeps[game, seat]
        for side in range(sides):
            cards = side_cards(state, game, side, sides)
            totals[game, side] += card_points(rules, cards)
            if popcount(cards) > half_cards(rules):
                totals[game, side] += rules.most_cards
            if popcount(cards & SPADES) > half_spades(rules):
                totals[game, side] += rules.most_spades


@kernel
def _write_points(state: State, rules: RuleTable, points: IntArray) -> None:
    state = borrow(state)
    for game in range(points.shape[0]):
        deal_points(state, game, rules, points[game])


@kernel
def move_kinds(moves: IntArray) -> IntArray:
    """Kind of each packed move [N], an index of MOVE_KINDS."""
    kinds = np.zeros(moves.shape[0], np.int64)
    for i in range(moves.shape[0]):
        if move_value(moves[i]):
            kinds[i] = 2 + move_raises(moves[i])
        elif move_loose(moves[i]) or move_pile(moves[i]):
            kinds[i] = 1
    return kinds


def lift_kinds(view: View, moves: IntArray, rules: RuleTable) -> IntArray:
    """Whose build each move [B] captures, 0, OWN or FOREIGN; the views are those it is played from."""
    lifts = np.zeros(len(moves), np.int64)
    _write_lifts(view, moves, rules, (side_count(view.owned.shape[1]), lifts))
    return lifts


@kernel
def _write_lifts(view: View, moves: IntArray, rules: RuleTable, out: tuple[int, IntArray]) -> None:
    view = borrow(view)
    sides, lifts = out
    for game in range(moves.shape[0]):
        move = moves[game]
        if move_pile(move) and not move_value(move):
            lifts[game] = FOREIGN
            value = hand_value(rules, move_card(move))
            for seat in range(0, view.owned.shape[1], sides):
                if view.owned[game, seat] >> value & 1:
                    lifts[game] = OWN
