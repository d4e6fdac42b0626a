"""What a turn may change and the end of a deal must bring, checked for whole batches (R3, R5, R6, R7).

Axes: `B` games, `P` seats, `S` sides, `I` = 6 items. Owns no rule of play: what a turn did is compared with
what any turn may do. Whether a single state is sound is in `soundness`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import popcount
from casino_env.cards import N_CARDS, SPADES
from casino_env.check import LEGAL, why_illegal
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.moves import move_card, move_loose, move_pile, move_value
from casino_env.rules import SWEEPS, RuleTable, deal_turns
from casino_env.scoring import (
    N_ITEMS,
    NEAR_NONE,
    NEAR_SPAN,
    SWEEPS_NET,
    SWEEPS_NONE,
    card_points,
    deal_points,
    settle,
)
from casino_env.soundness import SOUND
from casino_env.state import NOBODY, IntArray, State

ILLEGAL, FIXED, ENDS, HANDS, PLACE, CAPTURED, SWEPT, BUILD_LEFT = range(20, 28)
STUCK, OWNER_STUCK, NOT_STUCK, LEFT_OVER, POINTS, SETTLED, WINNER = range(28, 35)
BROKEN = {
    ILLEGAL: "the check of a given move calls a listed move illegal",
    FIXED: "a turn changes the dealer, the score, the deck or the order of the seats",
    ENDS: "a deal has not as many turns as it should: hands and stock do not fall by one card in each (R2.2)",
    HANDS: "a hand changes other than by its seat's card or by a deal of new hands (R2.2, R3)",
    PLACE: "the played card is not where the move puts it (R3)",
    CAPTURED: "captured cards change other than by a capture or the end of the deal (R3.5, R5.2)",
    SWEPT: "a sweep is counted and none was made, or the other way round (R5.1)",
    BUILD_LEFT: "a build stands when hands are dealt or at the end of the deal (R4.7)",
    STUCK: "the seat to act has cards and no legal move (R3)",
    OWNER_STUCK: "the owner of a build has no legal move (R4.7)",
    NOT_STUCK: "a deal that is over has legal moves",
    LEFT_OVER: "cards are left on the table though somebody captured (R5.2)",
    POINTS: "the points of the sides do not add up (R6)",
    SETTLED: "the new score is not the old one with what the deal brought (R7)",
    WINNER: "the winner is not the one that the new score names (R7.2, R7.4)",
}


class Turns(NamedTuple):
    """One turn of every game."""

    before: State
    moves: IntArray  # [B] packed, chosen from the lists
    after: State
    over: NDArray[np.bool_]  # [B] as the engine tells
    played: int  # turns of the deal, this one included


@kernel
def check_lists(state: State, offsets: IntArray, codes: IntArray) -> None:
    """Write to `codes` [B] whether each seat to act has a legal move, as long as it has cards."""
    for game in range(codes.shape[0]):
        seat = state.turn[game]
        listed = offsets[game + 1] > offsets[game]
        codes[game] = SOUND
        if state.hands[game, seat] and not listed:
            codes[game] = OWNER_STUCK if state.owned[game, seat] else STUCK
        elif listed and not state.hands[game, seat]:
            codes[game] = NOT_STUCK


@kernel
def check_turns(turns: Turns, rules: RuleTable, codes: IntArray) -> None:
    """Write to `codes` [B] SOUND or the first thing that a turn of each game did wrong."""
    turns = borrow(turns)
    for game in range(codes.shape[0]):
        move = turns.moves[game]
        code = SOUND
        if why_illegal(turns.before, game, rules, move) != LEGAL:
            code = ILLEGAL
        if code == SOUND:
            code = _check_fixed(turns, game, rules)
        if code == SOUND:
            code = _check_hands(turns, game, rules, 1 << move_card(move))
        if code == SOUND:
            code = _check_place(turns, game, move)
        if code == SOUND:
            code = _check_captured(turns, game, _captures(move))
        if code == SOUND:
            code = _check_sweeps(turns, game, move)
        codes[game] = code


@inner_kernel
def _captures(move: int) -> bool:
    return move_value(move) == 0 and (move_loose(move) != 0 or move_pile(move) != 0)


@inner_kernel
def _check_fixed(turns: Turns, game: int, rules: RuleTable) -> int:
    before, after, seats = turns.before, turns.after, turns.after.hands.shape[1]
    if after.turn[game] != (before.turn[game] + 1) % seats or after.dealer[game] != before.dealer[game]:
        return FIXED
    if (after.score[game] != before.score[game]).any() or (after.deck[game] != before.deck[game]).any():
        return FIXED
    left = N_CARDS - after.dealt[game]
    for seat in range(seats):
        left += popcount(after.hands[game, seat])
    return SOUND if left == deal_turns(rules) - turns.played and turns.over[game] == (left == 0) else ENDS


@inner_kernel
def _check_hands(turns: Turns, game: int, rules: RuleTable, card: int) -> int:
    """`card`: the set of the played one."""
    before, after = turns.before, turns.after
    draws = rules.draw and before.dealt[game] < N_CARDS
    dealt = after.dealt[game] != before.dealt[game] and not draws
    for seat in range(after.hands.shape[1]):
        kept = before.hands[game, seat]
        if seat == before.turn[game]:
            kept &= ~card
            if draws:
                kept |= 1 << int(before.deck[game, before.dealt[game]])
        expected = 0 if dealt else after.hands[game, seat]  # new hands when all are empty
        if kept != expected:
            return HANDS
    stands = (after.owned[game] != 0).any()
    return BUILD_LEFT if stands and (dealt or turns.over[game]) else SOUND


@inner_kernel
def _check_place(turns: Turns, game: int, move: int) -> int:
    after, seat, value = turns.after, turns.before.turn[game], move_value(move)
    cards = 1 << move_card(move) | move_loose(move)
    if value:
        place = after.build_cards[game, value] if after.owned[game, seat] >> value & 1 else 0
    elif _captures(move):
        place = after.captured[game, seat]
    else:
        place = after.loose[game]
        last = after.last_capture[game]
        if turns.over[game] and last != NOBODY:
            place |= after.captured[game, last]
    return SOUND if place & cards == cards else PLACE


@inner_kernel
def _check_captured(turns: Turns, game: int, captures: bool) -> int:
    before, after, mover = turns.before, turns.after, turns.before.turn[game]
    last = after.last_capture[game]
    if last != (mover if captures else before.last_capture[game]):
        return CAPTURED
    for seat in range(after.captured.shape[1]):
        old, new = before.captured[game, seat], after.captured[game, seat]
        gets = seat == last and (captures or turns.over[game])
        if old & ~new or (old != new and not gets):
            return CAPTURED
    return SOUND


@inner_kernel
def _check_sweeps(turns: Turns, game: int, move: int) -> int:
    before, after = turns.before, turns.after
    left = before.loose[game] & ~move_loose(move)
    cleared = _captures(move) and left == 0 and (after.owned[game] == 0).all()
    for seat in range(after.sweeps.shape[1]):
        swept = 1 if cleared and seat == before.turn[game] else 0
        if after.sweeps[game, seat] != before.sweeps[game, seat] + swept:
            return SWEPT
    return SOUND


@kernel
def check_ends(state: State, rules: RuleTable, codes: IntArray) -> None:
    """Write to `codes` [B] SOUND or what is wrong with the end and the settlement of each deal."""
    state, sides = borrow(state), state.score.shape[1]
    points, settled = np.zeros((sides, N_ITEMS), np.int64), np.zeros(sides, np.int64)
    for game in range(codes.shape[0]):
        deal_points(state, game, rules, points)
        winner = settle(state, game, rules, points, settled)
        codes[game] = SOUND
        if state.loose[game] and state.last_capture[game] != NOBODY:
            codes[game] = LEFT_OVER
        elif points.sum() != _points_dealt(state, game, rules):
            codes[game] = POINTS
        else:
            codes[game] = check_score(state.score[game], rules, points, settled, winner)


@inner_kernel
def _points_dealt(state: State, game: int, rules: RuleTable) -> int:
    """R6: what all sides together get; 11 in royal and plain but for ties, 24 in spade, and sweeps."""
    if state.last_capture[game] == NOBODY:
        return 0
    sides = state.score.shape[1]
    cards, spades = np.zeros(sides, np.int64), np.zeros(sides, np.int64)
    sweeps = np.zeros(sides, np.int64)
    for seat in range(state.hands.shape[1]):
        cards[seat % sides] += popcount(state.captured[game, seat])
        spades[seat % sides] += popcount(state.captured[game, seat] & SPADES)
        sweeps[seat % sides] += state.sweeps[game, seat]
    dealt = card_points(rules, rules.deck)
    if (cards == cards.max()).sum() == 1:
        dealt += rules.most_cards
    if (spades == spades.max()).sum() == 1:
        dealt += rules.most_spades
    if rules.sweeps == SWEEPS_NONE:
        return dealt
    cancelled = sides * sweeps.min() if rules.sweeps == SWEEPS_NET else 0
    return dealt + sweeps.sum() - cancelled


@kernel
def check_score(score: IntArray, rules: RuleTable, points: IntArray, settled: IntArray, winner: int) -> int:
    """R7: SOUND, SETTLED or WINNER, for `score` and `settled` [S] around a deal, `points` [S, I] of it."""
    best, leaders = settled.max(), 0
    item_won = False
    for side in range(score.shape[0]):
        missing, gain = rules.target - score[side], settled[side] - score[side]
        near = rules.near21 != NEAR_NONE and missing <= NEAR_SPAN
        if near and missing > 0:
            if gain not in (0, missing):
                return SETTLED
            item_won = item_won or gain > 0
        elif gain != points[side].sum() - (points[side, SWEEPS] if near else 0):
            return SETTLED
        leaders += settled[side] == best
    if item_won:
        return SOUND if winner != NOBODY and settled[winner] == rules.target else WINNER
    alone = best >= rules.target and leaders == 1
    if winner == NOBODY:
        return WINNER if alone else SOUND
    return SOUND if alone and settled[winner] == best else WINNER
