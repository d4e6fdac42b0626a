"""What the seat to act may do: every rule of R3 and R4, each stated once.

Whole-move lists (`legal`), tokens (`tokens`) and the check of a given move (`check`) are all derived
from these kernels, which see one turn as a `Table` of scalars. Sums are tested with bit masks of
reachable totals (bit t: some subset sums to t).
"""

from typing import NamedTuple

import numpy as np

from casino_env.bits import lowest, popcount
from casino_env.cards import SUIT_COUNT
from casino_env.jit import inner_kernel, kernel
from casino_env.rules import RANK_MASK, RuleTable, alone_value, hand_value, is_paired, sum_value
from casino_env.state import IntArray, State, union

RANK_BITS = (1 << SUIT_COUNT) - 1
PARTNERS = 4  # players in a game with partners
TOTALS = (1 << 17) - 1  # the totals that any rule set sums to, 0-16
TRIPLE = 3  # R8: a paired card takes one loose card of its rank, or three of three


class Table(NamedTuple):
    """One turn as scalars: card sets, and sets of build values (bit v)."""

    hand: int = 0
    held: int = 0  # capture values of the hand
    held_twice: int = 0  # those of two or more cards of the hand
    loose: int = 0
    standing: int = 0  # values of all builds
    owned: int = 0  # values of the builds of the seat to act
    barred: int = 0  # values that may be neither built nor raised (R4.6, partner)
    raisable: int = 0  # values of single builds that may be raised


@kernel
def look(state: State, game: int, rules: RuleTable) -> Table:
    """The turn of one game."""
    seat = state.turn[game]
    players = state.hands.shape[1]
    hand, owned = state.hands[game, seat], state.owned[game, seat]
    standing = union(state.owned, game)
    barred = 0
    if players == PARTNERS and not rules.partner_own_card:
        barred = state.owned[game, (seat + 2) % players]
    raisable = standing & ~state.multiple[game] & ~barred
    if not rules.raise_own:
        raisable &= ~owned
    held, held_twice = values_held(rules, hand)
    return Table(hand, held, held_twice, state.loose[game], standing, owned, barred, raisable)


@inner_kernel
def same_rank(card: int, cards: int) -> int:
    """The cards of the set that have the card's rank."""
    return cards & (RANK_BITS << (card & RANK_MASK))


@kernel
def values_held(rules: RuleTable, hand: int) -> tuple[int, int]:
    """Capture values of the cards of a hand, and those that two or more cards have, as bits."""
    once = twice = 0
    while hand:
        value = 1 << hand_value(rules, lowest(hand)) & ~1
        twice |= once & value
        once |= value
        hand &= hand - 1
    return once, twice


@inner_kernel
def held_after(rules: RuleTable, table: Table, card: int) -> int:
    """Capture values of the hand once `card` is played."""
    return table.held & ~(1 << hand_value(rules, card)) | table.held_twice


@inner_kernel
def may_trail(rules: RuleTable, table: Table, card: int) -> bool:
    """R3.1."""
    return table.owned == 0 and _matches(rules, table, card) == 0


@inner_kernel
def forced_cards(rules: RuleTable, table: Table, card: int) -> int:
    """Loose cards that every capture with `card` takes (R3.3).

    Of two loose cards of a paired rank (R8) one is taken, and which one is the player's choice.
    """
    matches = _matches(rules, table, card)
    return 0 if is_paired(rules, card) and popcount(matches) < TRIPLE else matches


@inner_kernel
def _matches(rules: RuleTable, table: Table, card: int) -> int:
    """With `match_forced`: loose cards of the card's rank, unless it is worth more than they (R8, kasino)."""
    if not rules.match_forced or alone_value(rules, card) != hand_value(rules, card):
        return 0
    return same_rank(card, table.loose)


@inner_kernel
def may_capture(rules: RuleTable, table: Table, card: int, held: int, pile: int) -> bool:
    """Whether a capture with `card` that takes (`pile` = 1) or leaves the build breaks no promise (R4.4).

    `held` are the values `held_after` the card is played, here and below.
    """
    taken = pile << hand_value(rules, card)
    if pile and (is_paired(rules, card) or not taken & table.standing):
        return False
    return table.owned & ~taken & ~held == 0


@inner_kernel
def may_build(rules: RuleTable, table: Table, value: int, held: int) -> bool:
    """R4.1, R4.3, R4.4, R4.6 without the sums: may the seat come to own a build of `value`?"""
    if not (rules.build_values & ~table.barred) >> value & 1:
        return False
    return (table.owned | 1 << value) & ~held == 0


@inner_kernel
def may_raise(rules: RuleTable, table: Table, card: int, value: int) -> bool:
    """R4.2: does a build stand that `card` may raise to `value`, which the seat `may_build`?

    An own build of the old value is still in `table.owned`, so that `may_build` asks for a card of the
    old value too, as R4.6 does.
    """
    old = value - sum_value(rules, card)
    return sum_value(rules, card) > 0 and old > 0 and table.raisable >> old & 1 != 0


@inner_kernel
def is_alone(rules: RuleTable, card: int, value: int) -> bool:
    """Whether the loose card is a group of `value` by itself."""
    return sum_value(rules, card) > 0 and alone_value(rules, card) == value


@inner_kernel
def capture_parts(rules: RuleTable, table: Table, card: int) -> int:
    """Loose cards that may stand in a named group of a capture: not those forced to be groups alone.

    A forced ace stays: inside a sum it counts 1 (R1.4).
    """
    forced = forced_cards(rules, table, card)
    parts = table.loose
    while forced:
        low = lowest(forced)
        if sum_value(rules, low) == hand_value(rules, card):
            parts &= ~(1 << low)
        forced &= forced - 1
    return parts


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
    ids `order` (int64[52], modified in place) then holds group by group in the order tokens name them;
    -1 if they do not split. Backtracking; of cards worth the same, one failure stands for all.
    """
    cards, highs = _set_high_aces_aside(rules, cards, value, need)
    if cards < 0:
        return -1
    depth = 0
    needs = np.zeros(order.shape[0] + 1, np.int64)
    needs[0] = need
    after = -1  # the next card of an open group has a higher id
    while cards or needs[depth]:
        card = _next_part(rules, cards, value, needs[depth], after)
        if card >= 0:
            order[depth] = card
            cards &= ~(1 << card)
            left = needs[depth] if needs[depth] else value
            depth += 1
            needs[depth] = left - sum_value(rules, card)
            after = card if needs[depth] else -1
            continue
        card = -1
        while depth and card < 0:  # back to the last card that was not forced to open its group
            depth -= 1
            cards |= 1 << order[depth]
            card = order[depth] if needs[depth] else -1
        if card < 0:
            return -1
        after = (card | (SUIT_COUNT - 1)) if sum_value(rules, card) else card
    while highs:
        order[depth] = lowest(highs)
        depth += 1
        highs &= highs - 1
    return depth


@inner_kernel
def _next_part(rules: RuleTable, cards: int, value: int, need: int, after: int) -> int:
    """The next card to try: the lowest must open a new group; an open one takes the next that fits."""
    if need == 0:
        card = lowest(cards)
        return card if 0 < sum_value(rules, card) <= value else -1
    rest = cards & ~((1 << (after + 1)) - 1)
    while rest:
        card = lowest(rest)
        if 0 < sum_value(rules, card) <= need:
            return card
        rest &= rest - 1
    return -1


@inner_kernel
def _set_high_aces_aside(rules: RuleTable, cards: int, value: int, need: int) -> tuple[int, int]:
    """Divide the cards into those that sum, and aces counting 14 alone (R1.4); (-1, 0) if impossible."""
    total, highs, rest = -need, 0, cards
    while rest:
        card = lowest(rest)
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
