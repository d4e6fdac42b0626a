"""Which tokens are legal next: no prefix is a dead end, every completed spelling is a legal move.

Which choices are legal is stated in `turn`; the cost of a mask is linear in the number of loose cards.
"""

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import lowest
from casino_env.cards import N_CARDS
from casino_env.groups import TOTALS, is_alone, reachable
from casino_env.jit import inner_kernel, kernel
from casino_env.rules import ACE_HIGH, LOWEST_VALUE, RuleTable, hand_value, is_paired, sum_value
from casino_env.state import VALUES
from casino_env.tokens import (
    BUILD,
    CAPTURE,
    CAPTURING,
    DONE,
    N_TOKENS,
    NOT_STARTED,
    PILE,
    TAKE,
    TRAIL,
    VALUE,
    VALUE_ACE_HIGH,
    Spelling,
    token_name,
    token_names,
)
from casino_env.turn import (
    Table,
    capture_parts,
    forced_cards,
    held_after,
    joinable,
    joins_something,
    may_build,
    may_capture,
    may_pair,
    may_raise,
    may_trail,
    same_rank,
)

Mask = NDArray[np.int8]


@kernel
def write_mask(rules: RuleTable, table: Table, spelling: Spelling, mask: Mask) -> int:
    """Write to `mask` (int8[236]) which tokens are legal next; returns how many."""
    mask[:] = 0
    if spelling.kind == NOT_STARTED:
        _mask_first(rules, table, mask)
    elif spelling.kind == CAPTURING:
        if is_paired(rules, spelling.card):
            _mask_pairing(rules, table, spelling, mask)
        else:
            _mask_capture(rules, table, spelling, mask)
    elif spelling.value == 0:
        _mask_values(rules, table, spelling.card, mask)
    else:
        _mask_build(rules, table, spelling, mask)
    count = 0
    for token in range(N_TOKENS):
        count += mask[token]
    return count


@inner_kernel
def _mask_first(rules: RuleTable, table: Table, mask: Mask) -> None:
    hand = table.hand
    while hand:
        card = lowest(hand)
        hand &= hand - 1
        mask[TRAIL + card] = may_trail(rules, table, card)
        mask[CAPTURE + card] = _can_capture(rules, table, card)
        values = held_after(rules, table, card)
        while values and not mask[BUILD + card]:
            value = lowest(values)
            mask[BUILD + card] = _can_make(rules, table, card, value, 0) or (
                value == ACE_HIGH and _can_make(rules, table, card, value, 1)
            )
            values &= values - 1


@inner_kernel
def _can_capture(rules: RuleTable, table: Table, card: int) -> bool:
    held = held_after(rules, table, card)
    if may_capture(rules, table, card, held, 1):
        return True
    if not may_capture(rules, table, card, held, 0):
        return False
    if is_paired(rules, card):
        return same_rank(card, table.loose) != 0
    if forced_cards(rules, table, card):
        return True
    return hand_value(rules, card) > 0 and _has_group(rules, table.loose, hand_value(rules, card))


@inner_kernel
def _can_make(rules: RuleTable, table: Table, card: int, value: int, high: int) -> bool:
    """Whether BUILD `card`, VALUE `value` can be completed; `high`: the played ace counts 14."""
    if sum_value(rules, card) == 0 or not may_build(rules, table, value, held_after(rules, table, card)):
        return False
    need = value - sum_value(rules, card)
    if high:
        if need == 0 or not is_alone(rules, card, value):
            return False
        need = 0
    elif may_raise(rules, table, card, value):
        return True
    if need == 0:
        return table.standing >> value & 1 != 0 or _has_group(rules, table.loose, value)
    return need > 0 and reachable(rules, table.loose) >> need & 1 != 0


@inner_kernel
def _has_group(rules: RuleTable, cards: int, value: int) -> bool:
    """Whether some of the cards are a group worth `value`."""
    if reachable(rules, cards) >> value & 1:
        return True
    while cards:
        if is_alone(rules, lowest(cards), value):
            return True
        cards &= cards - 1
    return False


@inner_kernel
def _mask_values(rules: RuleTable, table: Table, card: int, mask: Mask) -> None:
    for value in range(LOWEST_VALUE, VALUES):
        mask[VALUE + value - LOWEST_VALUE] = _can_make(rules, table, card, value, 0)
    mask[VALUE_ACE_HIGH] = _can_make(rules, table, card, ACE_HIGH, 1)


@inner_kernel
def _mask_capture(rules: RuleTable, table: Table, spelling: Spelling, mask: Mask) -> None:
    card, value = spelling.card, spelling.value
    held = held_after(rules, table, card)
    if not spelling.pile and spelling.used == 0 and may_capture(rules, table, card, held, 1):
        mask[PILE + value - LOWEST_VALUE] = 1
    if not spelling.pile and not may_capture(rules, table, card, held, 0):
        return  # a promise (R4.4) obliges to take the pile
    forced = forced_cards(rules, table, card)
    parts = capture_parts(rules, table, card) & ~spelling.used
    _mask_takes(rules, parts, parts & ~forced, spelling, mask)
    mask[DONE] = spelling.need == 0 and (spelling.used | forced | spelling.pile) != 0


@inner_kernel
def _mask_pairing(rules: RuleTable, table: Table, spelling: Spelling, mask: Mask) -> None:
    """R8 (paired): one card of the rank, or several in rising order."""
    card, matches = spelling.card, same_rank(spelling.card, table.loose)
    taken = spelling.used | forced_cards(rules, table, card)
    left = matches & ~taken
    mask[DONE] = may_pair(table, card, taken)
    rising = may_pair(table, card, matches) and taken < (left & -left)
    while left:
        if taken == 0 or rising:
            mask[TAKE + lowest(left)] = 1
        left = left & (left - 1) if taken == 0 else 0


@inner_kernel
def _mask_build(rules: RuleTable, table: Table, spelling: Spelling, mask: Mask) -> None:
    card, value = spelling.card, spelling.value
    untouched = spelling.used == 0 and not spelling.pile
    if untouched and not spelling.high and may_raise(rules, table, card, value):
        mask[PILE + value - sum_value(rules, card) - LOWEST_VALUE] = 1
    parts = joinable(rules, table, spelling.pile) & ~spelling.used
    _mask_takes(rules, parts, parts, spelling, mask)
    mask[DONE] = spelling.need == 0 and joins_something(table, value, spelling.used, spelling.pile)


@inner_kernel
def _mask_takes(rules: RuleTable, parts: int, alone: int, spelling: Spelling, mask: Mask) -> None:
    """Cards that continue the open group or open the next, so that what they begin can be completed."""
    value, opens = spelling.value, spelling.need == 0
    need = value if opens else spelling.need
    after, group = spelling.first, spelling.group
    if not opens:
        after = -1
        while group:  # to the highest card of the open group
            after = lowest(group)
            group &= group - 1
    totals = 1  # of the cards above the one looked at
    for card in range(N_CARDS - 1, after, -1):
        if not parts >> card & 1 or sum_value(rules, card) == 0:
            continue
        left = need - sum_value(rules, card)
        if left >= 0 and totals >> left & 1:
            mask[TAKE + card] = 1
        if opens and alone >> card & 1 and is_alone(rules, card, value):
            mask[TAKE + card] = 1
        totals |= totals << sum_value(rules, card) & TOTALS


def why_illegal_token(token: int, spelled: list[int], mask: Mask) -> str:
    """Words for a token that is not legal: what was named before it, and what `mask` (int8[236]) allows."""
    legal = token_names(np.flatnonzero(mask).tolist())
    return f"{token_name(token)} is illegal after {token_names(spelled) or 'nothing'}; legal: {legal}"
