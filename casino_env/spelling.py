"""Spelling a given legal move in tokens; `masks` says which spellings there are."""

import numpy as np

from casino_env.bits import lowest
from casino_env.cards import N_CARDS
from casino_env.groups import is_alone, splits
from casino_env.jit import inner_kernel, kernel
from casino_env.moves import move_card, move_loose, move_pile, move_raises, move_value
from casino_env.rules import LOWEST_VALUE, RuleTable, hand_value, is_paired, sum_value
from casino_env.state import IntArray
from casino_env.tokens import BUILD, CAPTURE, DONE, PILE, TAKE, TRAIL, VALUE, VALUE_ACE_HIGH
from casino_env.turn import Table, forced_cards


@kernel
def spell(rules: RuleTable, table: Table, move: int, tokens: IntArray) -> int:
    """Write one spelling of a legal packed move to `tokens` (int64[MAX_TOKENS]); returns its length."""
    card, loose, value = move_card(move), move_loose(move), move_value(move)
    if loose == 0 and value == 0 and not move_pile(move):
        tokens[0] = TRAIL + card
        return 1
    tokens[0] = BUILD + card if value else CAPTURE + card
    length = _spell_build(rules, loose, move, tokens) if value else _spell_capture(rules, table, move, tokens)
    tokens[length] = DONE
    return length + 1


@inner_kernel
def _spell_build(rules: RuleTable, loose: int, move: int, tokens: IntArray) -> int:
    card, value = move_card(move), move_value(move)
    order = np.zeros(N_CARDS, np.int64)
    tokens[1] = VALUE + value - LOWEST_VALUE
    length, need = 2, value - sum_value(rules, card)
    if move_raises(move):
        tokens[2] = PILE + need - LOWEST_VALUE
        length, need = 3, 0
    count = splits(rules, loose, value, need, order)
    if count < 0:  # only the ace as 14 fits
        tokens[1] = VALUE_ACE_HIGH
        count = splits(rules, loose, value, 0, order)
    for i in range(count):
        tokens[length + i] = TAKE + order[i]
    return length + count


@inner_kernel
def _spell_capture(rules: RuleTable, table: Table, move: int, tokens: IntArray) -> int:
    card, loose, length = move_card(move), move_loose(move), 1
    value, forced = hand_value(rules, card), forced_cards(rules, table, card)
    if move_pile(move):
        tokens[1] = PILE + value - LOWEST_VALUE
        length = 2
    if is_paired(rules, card):
        rest = loose & ~forced
        while rest:
            tokens[length] = TAKE + lowest(rest)
            length += 1
            rest &= rest - 1
        return length
    order, need = np.zeros(N_CARDS, np.int64), 0
    for i in range(splits(rules, loose, value, 0, order)):
        part, opens = order[i], need == 0
        if not (opens and forced >> part & 1):
            tokens[length] = TAKE + part
            length += 1
        alone = opens and is_alone(rules, part, value)
        need = 0 if alone else (value if opens else need) - sum_value(rules, part)
    return length
