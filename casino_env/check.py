"""Why a given move is illegal: the rules of `turn` asked one by one, for a move that somebody wrote."""

import numpy as np

from casino_env.cards import N_CARDS, card_name
from casino_env.groups import is_alone, splits
from casino_env.jit import inner_kernel, kernel
from casino_env.moves import Move, move_card, move_loose, move_pile, move_raises, move_value
from casino_env.rules import RuleTable, hand_value, is_paired, sum_value
from casino_env.state import IntArray, State
from casino_env.turn import (
    Table,
    forced_cards,
    held_after,
    joinable,
    joins_something,
    look,
    may_build,
    may_capture,
    may_pair,
    may_raise,
    may_trail,
)

LEGAL = 0
NOT_HELD, NOT_LOOSE, OWNS_BUILD, SAME_RANK, NO_PAIR, NO_BUILD, PROMISE, FORCED, NOT_GROUPS = range(1, 10)
NO_VALUE, PARTNER, NO_CARD, NO_RAISE, ABSORBS, JOIN, NO_JOIN, NOTHING_JOINS = range(10, 18)

REASONS = {
    NOT_HELD: "{card} is not in the hand of the seat to act",
    NOT_LOOSE: "it names a card that is not loose on the table",
    OWNS_BUILD: "the seat owns a build, so it may not trail (R3.1)",
    SAME_RANK: "a loose card has the rank of {card}, so it may not be trailed (R3.1)",
    NO_PAIR: "{card} captures one loose card of its rank, or all three of three (R8)",
    NO_BUILD: "no such build stands for {card} to capture (R3.2)",
    PROMISE: "the seat would own a build without a card that captures it (R4.4)",
    FORCED: "a capture takes every loose card of the played card's rank (R3.3)",
    NOT_GROUPS: "the cards do not split into groups of the value (R3.2, R4.1)",
    NO_VALUE: "the rule set has no build of {value} (R8)",
    PARTNER: "the partner owns the build of {value} (R4.6)",
    NO_CARD: "after it, the seat must hold a card that captures each of its builds (R4.3, R4.4)",
    NO_RAISE: "no single build that the seat may raise stands for {card} to make {value} (R4.2, R4.6)",
    ABSORBS: "a raise takes no loose cards along (R4.2, raise_absorb=no)",
    JOIN: "a build of {value} stands and is joined: write [{value}] (R4.1)",
    NO_JOIN: "no build of {value} stands to be joined",
    NOTHING_JOINS: "at least one loose card must join, as no build of {value} stands (R4.1)",
}


def reason_text(code: int, move: Move) -> str:
    """The reason for a code of `why_illegal` other than LEGAL."""
    return REASONS[code].format(card=card_name(move.card), value=move.value)


@kernel
def why_illegal(state: State, game: int, rules: RuleTable, move: int) -> int:
    """LEGAL, or the code of the first rule that the packed move breaks in this game."""
    table = look(state, game, rules)
    card, loose = move_card(move), move_loose(move)
    if not table.hand >> card & 1:
        return NOT_HELD
    if loose & ~table.loose:
        return NOT_LOOSE
    if move_value(move):
        return _why_no_build(rules, table, move)
    if loose == 0 and not move_pile(move):
        if may_trail(rules, table, card):
            return LEGAL
        return OWNS_BUILD if table.owned else SAME_RANK
    return _why_no_capture(rules, table, card, loose, move_pile(move))


@inner_kernel
def _why_no_capture(rules: RuleTable, table: Table, card: int, loose: int, pile: int) -> int:
    if is_paired(rules, card) and (pile or not may_pair(table, card, loose)):
        return NO_PAIR
    value = hand_value(rules, card)
    if pile and not table.standing >> value & 1:
        return NO_BUILD
    if not may_capture(rules, table, card, held_after(rules, table, card), pile):
        return PROMISE
    forced = forced_cards(rules, table, card)
    if forced & ~loose:
        return FORCED
    if not is_paired(rules, card) and splits(rules, loose, value, 0, _order()) < 0:
        return NOT_GROUPS
    return LEGAL


@inner_kernel
def _why_no_build(rules: RuleTable, table: Table, move: int) -> int:
    card, loose, value = move_card(move), move_loose(move), move_value(move)
    joins = table.standing >> value & 1
    if not may_build(rules, table, value, held_after(rules, table, card)):
        if not rules.build_values >> value & 1:
            return NO_VALUE
        return PARTNER if table.barred >> value & 1 else NO_CARD
    if joins != move_pile(move):
        return JOIN if joins else NO_JOIN
    if move_raises(move):
        if not may_raise(rules, table, card, value):
            return NO_RAISE
        if loose & ~joinable(rules, table, 1):
            return ABSORBS
        return LEGAL if splits(rules, loose, value, 0, _order()) >= 0 else NOT_GROUPS
    if not joins_something(table, value, loose, 0):
        return NOTHING_JOINS
    return LEGAL if joins_groups(rules, card, loose, value) else NOT_GROUPS


@kernel
def joins_groups(rules: RuleTable, card: int, loose: int, value: int) -> bool:
    """Whether the played card and the loose cards split into groups worth `value` (R4.1)."""
    if is_alone(rules, card, value) and splits(rules, loose, value, 0, _order()) >= 0:
        return True
    need = value - sum_value(rules, card)
    if sum_value(rules, card) == 0 or need <= 0:
        return False
    return splits(rules, loose, value, need, _order()) >= 0


@inner_kernel
def _order() -> IntArray:
    return np.zeros(N_CARDS, np.int64)
