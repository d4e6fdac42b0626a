"""Searching the loose cards of a turn: every sum, every group worth a value, every union of groups.

Scratch space is one int64 array, cut into regions by the offsets below: passing one array costs a kernel
call less than passing a tuple of seven. Whatever does not fit into a region sets CUT.
"""

from casino_env.bits import lowest
from casino_env.groups import TOTALS
from casino_env.jit import inner_kernel
from casino_env.rules import RuleTable, alone_value, sum_value
from casino_env.state import IntArray

MAX_MOVES = 4096  # a game; also the bound of groups, unions and sets for one played card and value

FEW = 32  # sets searched one by one; more are found by hash
HASH_PRIME = 8179  # just below TABLE_SIZE
NO_SET = -1
_SMALL = 64
IDS = 0  # loose cards that sum, rising
TOTALS_FROM = IDS + _SMALL  # totals reachable with the cards from an index on
STACK = TOTALS_FROM + _SMALL  # of the search for sums
GROUPS = STACK + _SMALL  # groups worth the value, card sets
FIRSTS = GROUPS + MAX_MOVES  # loose cards that complete the played card's group
UNIONS = FIRSTS + MAX_MOVES  # unions of disjoint groups; the first is empty
SETS = UNIONS + MAX_MOVES  # loose cards of the moves with one card and value
TABLE = SETS + MAX_MOVES  # open hash table of the region being filled, once it holds FEW sets
TABLE_SIZE = 2 * MAX_MOVES
MOVES = TABLE + TABLE_SIZE  # the list, packed moves
COUNT = MOVES + MAX_MOVES  # its length
LIMIT = COUNT + 1  # of the length, for the card being listed
CUT = LIMIT + 1  # 1 once something did not fit
WORK_SIZE = CUT + 1


@inner_kernel
def prepare_sums(rules: RuleTable, loose: int, work: IntArray) -> None:
    """Fill the regions IDS and TOTALS_FROM for a turn; an ace alone adds its total to that of all cards."""
    length = 0
    highs = 0
    while loose:
        card = lowest(loose)
        loose &= loose - 1
        if sum_value(rules, card):
            work[IDS + length] = card
            length += 1
            if alone_value(rules, card) != sum_value(rules, card):
                highs |= 1 << alone_value(rules, card)
    work[TOTALS_FROM + length] = 1
    for i in range(length - 1, -1, -1):
        later = work[TOTALS_FROM + i + 1]
        work[TOTALS_FROM + i] = (later | later << sum_value(rules, work[IDS + i])) & TOTALS
    work[TOTALS_FROM] |= highs


@inner_kernel
def list_groups(rules: RuleTable, loose: int, forced: int, value: int, work: IntArray) -> int:
    """Write every group worth `value` that is not forced to be one: sums, and aces counting 14 alone.

    A forced card whose sum value is `value` can only be a group by itself; a forced ace may stand in a sum.
    """
    count = list_sums(rules, value, forced, GROUPS, work)
    alone = loose & ~forced
    while alone:
        card = lowest(alone)
        alone &= alone - 1
        if alone_value(rules, card) == value and sum_value(rules, card) != value:
            count = append(work, GROUPS, count, 1 << card)
    return count


@inner_kernel
def list_sums(rules: RuleTable, need: int, forced: int, region: int, work: IntArray) -> int:
    """Write to a region every set of the prepared cards that sums to `need` > 0; returns how many.

    Sets of one forced card are left out.
    """
    count = depth = chosen = index = 0
    while not is_full(work, count):
        if need and work[TOTALS_FROM + index] >> need & 1:  # what is missing can be had from here on
            card = work[IDS + index]
            index += 1
            left = need - sum_value(rules, card)
            if left >= 0 and work[TOTALS_FROM + index] >> left & 1:
                work[STACK + depth] = index
                depth += 1
                chosen |= 1 << card
                need = left
                if need == 0 and (depth > 1 or not chosen & forced):
                    count = append(work, region, count, chosen)
        elif depth == 0:
            return count
        else:
            depth -= 1
            index = work[STACK + depth]
            card = work[IDS + index - 1]
            chosen &= ~(1 << card)
            need += sum_value(rules, card)
    return count


@inner_kernel
def unite(work: IntArray, groups: int) -> int:
    """Write every union of disjoint groups, the empty one first; returns how many."""
    work[UNIONS] = 0
    count = 1
    for i in range(groups):
        group = work[GROUPS + i]
        if is_full(work, count):
            break
        for j in range(count):  # the unions of earlier groups
            if work[UNIONS + j] & group == 0:
                count = add_once(work, UNIONS, count, work[UNIONS + j] | group)
    return count


@inner_kernel
def add_once(work: IntArray, region: int, count: int, cards: int) -> int:
    """Append a card set to a region unless it stands there; returns the new count."""
    if count >= FEW:
        return _hash_once(work, region, count, cards)
    for i in range(count):
        if work[region + i] == cards:
            return count
    work[region + count] = cards
    if count + 1 == FEW:
        work[TABLE : TABLE + TABLE_SIZE] = NO_SET
        for i in range(FEW):
            work[_slot(work, work[region + i])] = work[region + i]
    return count + 1


@inner_kernel
def _hash_once(work: IntArray, region: int, count: int, cards: int) -> int:
    slot = _slot(work, cards)
    if work[slot] == cards:
        return count
    grown = append(work, region, count, cards)
    if grown > count:
        work[slot] = cards
    return grown


@inner_kernel
def _slot(work: IntArray, cards: int) -> int:
    """Where the hash table holds the set, or the free place for it."""
    slot = cards % HASH_PRIME
    while work[TABLE + slot] != NO_SET and work[TABLE + slot] != cards:
        slot = (slot + 1) % TABLE_SIZE
    return TABLE + slot


@inner_kernel
def is_full(work: IntArray, count: int) -> bool:
    """Whether a region has no room for what may follow, which CUT notes."""
    if count < MAX_MOVES:
        return False
    work[CUT] = 1
    return True


@inner_kernel
def append(work: IntArray, region: int, count: int, cards: int) -> int:
    """Append while there is room; returns the new count, which stays at the bound once reached."""
    if is_full(work, count):
        return count
    work[region + count] = cards
    return count + 1
