"""Groups worth a value (R1.4, R3.2, R4.1): which totals cards reach, and whether they split into groups.

Owns the arithmetic of groups, not what may be done with them: that is in `turn`. Totals are bit masks
(bit t: some subset sums to t). Cards worth the same are alike here: a splitting is searched over how many
cards of each worth there are, and only then given to cards.
"""

import numpy as np

from casino_env.bits import lowest, popcount
from casino_env.cards import N_CARDS
from casino_env.jit import inner_kernel, kernel
from casino_env.rules import MAX_VALUE, RuleTable, alone_value, sum_value
from casino_env.state import IntArray

TOTALS = (1 << MAX_VALUE + 1) - 1  # the totals that any rule set sums to
COUNT_BITS, COUNT_MASK = 3, 7  # of the cards of one worth: four at most, three of 13 worths fit in an int64
FAILURES = 1021  # remembered choices of cards that do not split; a prime, for their remainders to differ


@inner_kernel
def is_alone(rules: RuleTable, card: int, value: int) -> bool:
    """Whether the loose card is a group of `value` by itself."""
    return sum_value(rules, card) > 0 and alone_value(rules, card) == value


@inner_kernel
def reachable(rules: RuleTable, cards: int) -> int:
    """Totals that subsets of the cards sum to (bit 0: the empty one)."""
    totals = 1
    while cards:
        value = sum_value(rules, lowest(cards))
        if value:
            totals |= totals << value & TOTALS
        cards &= cards - 1
    return totals


@kernel
def group_count(rules: RuleTable, cards: int, value: int) -> int:
    """Number of groups worth `value` that the cards split into, given that they do (R4.5).

    Of cards worth `total` with the aces low, `total % value` are aces counting 14: each is a group that
    adds 1 to the total instead of 14. So the count does not depend on how the set is split.
    """
    total = 0
    while cards:
        total += sum_value(rules, lowest(cards))
        cards &= cards - 1
    return total // value + total % value


@kernel
def splits(rules: RuleTable, cards: int, value: int, need: int, order: IntArray) -> int:
    """Whether the cards split completely into groups worth `value` (R3.2, R4.1).

    `need` > 0: the first group already holds cards and lacks so much. Returns the number of cards, whose
    ids `order` (int64[52], modified in place) then holds in the order tokens name them: the open group
    first, the others by rising first card, ids rising within a group; -1 if the cards do not split.
    """
    cards, highs = _set_high_aces_aside(rules, cards, value, need)
    if cards < 0:
        return -1
    worths, needs = np.zeros(N_CARDS, np.int64), np.zeros(N_CARDS + 1, np.int64)
    needs[0] = need
    length = _find_groups(_count_worths(rules, cards), value, needs, worths)
    if length < 0:
        return -1
    groups = np.zeros(N_CARDS, np.int64)
    count = _form_groups(rules, cards, needs, worths[:length], groups)
    while highs:
        groups[count] = highs & -highs
        count += 1
        highs &= highs - 1
    return _write_groups(groups[:count], 1 if need else 0, order)


@inner_kernel
def _set_high_aces_aside(rules: RuleTable, cards: int, value: int, need: int) -> tuple[int, int]:
    """Divide the cards into those that sum, and aces counting 14 alone (R1.4); (-1, 0) if impossible."""
    total, highs, rest = -need, 0, cards
    while rest:
        card = lowest(rest)
        if sum_value(rules, card) == 0:
            return -1, 0
        total += sum_value(rules, card)
        if alone_value(rules, card) == value and sum_value(rules, card) != value:
            highs |= 1 << card
        rest &= rest - 1
    alone = total % value
    if total < 0 or alone > popcount(highs):
        return -1, 0
    while popcount(highs) > alone:
        highs &= highs - 1
    return cards & ~highs, highs


@inner_kernel
def _count_worths(rules: RuleTable, cards: int) -> int:
    """How many of the cards are worth 1, 2 and so on, packed with COUNT_BITS for each worth."""
    counts = 0
    while cards:
        counts += 1 << COUNT_BITS * sum_value(rules, lowest(cards))
        cards &= cards - 1
    return counts


@inner_kernel
def _find_groups(counts: int, value: int, needs: IntArray, worths: IntArray) -> int:
    """Write the worths of all cards, group after group, to `worths`; returns how many, -1 if impossible.

    `needs` is what the open group lacks before each card, 0 where one opens; the first is given. Depth first:
    the highest worth left opens a group, and worths do not rise within one. What is left where a group opens
    and does not split is remembered, so that it is not tried twice.
    """
    failed = np.zeros(FAILURES, np.int64)
    depth, limit = 0, value
    if counts >> COUNT_BITS * (value + 1):
        return -1
    while counts or needs[depth]:
        opens = needs[depth] == 0
        if opens and (limit < value or failed[counts % FAILURES] == counts):
            worth = 0  # there is no other card to open it with
            failed[counts % FAILURES] = counts
        else:
            worth = _highest(counts, value if opens else min(limit, needs[depth]))
        if worth:
            counts -= 1 << COUNT_BITS * worth
            worths[depth] = worth
            depth += 1
            needs[depth] = (value if opens else needs[depth - 1]) - worth
            limit = worth if needs[depth] else value
        elif depth == 0:
            return -1
        else:
            depth -= 1
            counts += 1 << COUNT_BITS * worths[depth]
            limit = worths[depth] - 1
    return depth


@inner_kernel
def _highest(counts: int, limit: int) -> int:
    """The highest worth of the packed counts that is at most `limit`, 0 if there is none."""
    while limit and not counts >> COUNT_BITS * limit & COUNT_MASK:
        limit -= 1
    return limit


@inner_kernel
def _form_groups(rules: RuleTable, cards: int, needs: IntArray, worths: IntArray, groups: IntArray) -> int:
    """Write the groups that the worths form to `groups`, as card sets; returns how many."""
    count = 0
    for i in range(worths.shape[0]):
        if i and needs[i] == 0:
            count += 1
        rest = cards
        while sum_value(rules, lowest(rest)) != worths[i]:
            rest &= rest - 1
        groups[count] |= rest & -rest
        cards &= ~(rest & -rest)
    return count + 1 if worths.shape[0] else 0


@inner_kernel
def _write_groups(groups: IntArray, first: int, order: IntArray) -> int:
    """Write the cards of the groups to `order`, those from `first` on sorted by their first card."""
    for i in range(first, groups.shape[0]):
        for j in range(i + 1, groups.shape[0]):
            if groups[j] & -groups[j] < groups[i] & -groups[i]:
                groups[i], groups[j] = groups[j], groups[i]
    length = 0
    for i in range(groups.shape[0]):
        cards = groups[i]
        while cards:
            order[length] = lowest(cards)
            length += 1
            cards &= cards - 1
    return length
