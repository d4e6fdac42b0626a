"""What the seat to act may do: every rule of R3 and R4, each stated once.

Whole-move lists (`legal`), tokens (`masks`, `spelling`) and the check of a given move (`check`) are all
derived from these kernels, which see one turn as a `Table` of scalars. What a group is stands in `groups`.
"""

from typing import NamedTuple

from casino_env.bits import lowest, popcount
from casino_env.cards import SUIT_COUNT
from casino_env.jit import inner_kernel, kernel
from casino_env.rules import RANK_MASK, RuleTable, alone_value, hand_value, is_paired, sum_value
from casino_env.state import State, union

RANK_BITS = (1 << SUIT_COUNT) - 1
PARTNERS = 4  # players in a game with partners
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
def may_pair(table: Table, card: int, taken: int) -> bool:
    """R8 (paired): may a capture with `card` take these cards and no others, but for R3.3 and R4.4?"""
    matches = same_rank(card, table.loose)
    triple = taken == matches and popcount(taken) == TRIPLE
    return taken & ~matches == 0 and (popcount(taken) == 1 or triple)


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
def joinable(rules: RuleTable, table: Table, raises: int) -> int:
    """Loose cards that may join a build (R4.1), or come along with a raise (R4.2)."""
    return 0 if raises and not rules.raise_absorb else table.loose


@inner_kernel
def joins_something(table: Table, value: int, loose: int, raises: int) -> bool:
    """R4.1, R4.2: the played card is never a build alone."""
    return loose != 0 or raises != 0 or table.standing >> value & 1 != 0


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
