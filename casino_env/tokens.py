"""Spelling a move in tokens of one fixed space, `Discrete(236)`: exact, without any bound on their number.

Every legal move has a spelling, every completed spelling is a legal move, and no prefix is a dead end.
Parts come in one order: the pile first if at all, then loose cards group by group; rising ids within a
group, groups by rising first card, the played card's group before the others. An ace opening a group of
14 counts 14. Forced cards (R3.3) are taken without being named. Which choices are legal is stated in
`turn`; the cost of a mask is linear in the number of loose cards.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.bits import lowest, popcount
from casino_env.cards import N_CARDS, card_name
from casino_env.jit import inner_kernel, kernel
from casino_env.moves import NO_MOVE, move_card, move_loose, move_pile, move_raises, move_value, pack
from casino_env.rules import ACE_HIGH, LOWEST_VALUE, RuleTable, hand_value, is_paired, sum_value
from casino_env.state import VALUES, IntArray
from casino_env.turn import (
    TOTALS,
    TRIPLE,
    Table,
    capture_parts,
    forced_cards,
    held_after,
    is_alone,
    may_build,
    may_capture,
    may_raise,
    may_trail,
    reachable,
    same_rank,
    splits,
)

TRAIL, CAPTURE, BUILD, TAKE = 0, N_CARDS, 2 * N_CARDS, 3 * N_CARDS
VALUE = 4 * N_CARDS  # VALUE + v - 2 for v = 2 … 14
VALUE_ACE_HIGH = VALUE + 13  # 14, the played ace counting 14
PILE = VALUE_ACE_HIGH + 1  # PILE + v - 2
DONE = PILE + 13
N_TOKENS = DONE + 1

NOT_STARTED, CAPTURING, BUILDING = 0, 1, 2
MAX_TOKENS = N_CARDS + 4  # the longest spelling: card, value, pile, every other card, done

Mask = NDArray[np.int8]


class Spelling(NamedTuple):
    """An unfinished move. Numbers and card sets are those of the tokens named so far."""

    kind: int = NOT_STARTED
    card: int = -1  # the played card
    value: int = 0  # of the capture or the build; 0 until VALUE is named
    high: int = 0  # 1: the played ace counts 14
    pile: int = 0  # 1: PILE was named
    used: int = 0  # loose cards named
    need: int = 0  # what the open group lacks, 0 if none is open
    group: int = 0  # loose cards of the open group
    first: int = -1  # first card of the latest group of loose cards only


EMPTY = Spelling()


def token_name(token: int) -> str:
    """Readable name of a token, e.g. `TAKE 4H` or `VALUE 9`."""
    names = {TRAIL: "TRAIL", CAPTURE: "CAPTURE", BUILD: "BUILD", TAKE: "TAKE"}
    if token < VALUE:
        return f"{names[token // N_CARDS * N_CARDS]} {card_name(token % N_CARDS)}"
    if token == DONE:
        return "DONE"
    if token == VALUE_ACE_HIGH:
        return f"VALUE {ACE_HIGH} (ace high)"
    name, base = ("PILE", PILE) if token >= PILE else ("VALUE", VALUE)
    return f"{name} {token - base + LOWEST_VALUE}"


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


@kernel
def advance(rules: RuleTable, table: Table, spelling: Spelling, token: int) -> tuple[Spelling, int]:
    """Name a legal token: the new spelling, and the packed move if it is complete, else NO_MOVE."""
    kind, card, value, high, pile, used, need, group, first = spelling
    if token < CAPTURE:
        return EMPTY, pack(token, 0, 0, 0, 0)
    if token == DONE:
        return EMPTY, _completed(rules, table, spelling)
    if token < BUILD:
        kind, card = CAPTURING, token - CAPTURE
        value = hand_value(rules, card)
    elif token < TAKE:
        kind, card = BUILDING, token - BUILD
    elif token < VALUE:
        used, need, group, first = _take(rules, spelling, token - TAKE)
    elif token == VALUE_ACE_HIGH:
        value, high = ACE_HIGH, 1
    elif token < PILE:
        value = token - VALUE + LOWEST_VALUE
        need = value - sum_value(rules, card)
    else:
        pile, need = 1, 0
    return Spelling(kind, card, value, high, pile, used, need, group, first), NO_MOVE


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
    """R8 (paired): one card of the rank, or all three in rising order."""
    matches = same_rank(spelling.card, table.loose)
    if forced_cards(rules, table, spelling.card):
        mask[DONE] = 1
        return
    taken, left = popcount(spelling.used), matches & ~spelling.used
    mask[DONE] = taken in (1, TRIPLE)
    rising = popcount(matches) == TRIPLE and spelling.used < (left & -left)
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
    parts = table.loose & ~spelling.used
    if not spelling.pile or rules.raise_absorb:
        _mask_takes(rules, parts, parts, spelling, mask)
    joined = spelling.used != 0 or spelling.pile or table.standing >> value & 1
    mask[DONE] = spelling.need == 0 and joined


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


@inner_kernel
def _take(rules: RuleTable, spelling: Spelling, card: int) -> tuple[int, int, int, int]:
    """Used cards, need, open group and first card after TAKE `card`."""
    need, group, first = spelling.need, spelling.group, spelling.first
    if is_paired(rules, spelling.card) and spelling.kind == CAPTURING:
        return spelling.used | 1 << card, 0, 0, card
    if need == 0:
        first = card
        alone = is_alone(rules, card, spelling.value)
        need = 0 if alone else spelling.value - sum_value(rules, card)
    else:
        need -= sum_value(rules, card)
    group = group | 1 << card if need else 0
    return spelling.used | 1 << card, need, group, first


@inner_kernel
def _completed(rules: RuleTable, table: Table, spelling: Spelling) -> int:
    card, value = spelling.card, spelling.value
    if spelling.kind == CAPTURING:
        return pack(card, spelling.used | forced_cards(rules, table, card), 0, spelling.pile, 0)
    return pack(card, spelling.used, value, table.standing >> value & 1, spelling.pile)


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
