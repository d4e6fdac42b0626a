"""Whether the states of a batch are sound: the compiled twin of `invariants.check_state`.

Axes: `B` games, `P` seats, `V` = 15 build values. The same invariants, counted in another way wherever there
is one, so that neither a slip here nor one in `turn` passes unseen; in the same order, so that both name the
same one. Whole positions only: for studies there is `check_state`. What a turn may change is in
`transitions`.
"""

import numpy as np

from casino_env.bits import lowest, popcount
from casino_env.cards import N_CARDS
from casino_env.groups import splits
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.rules import RuleTable, alone_value, hand_value, sum_value
from casino_env.state import NOBODY, VALUES, IntArray, State

SOUND = 0
NO_SEAT, TWICE, MISSING, UNEVEN, LARGE, BAD_STOCK, NO_HANDS = range(1, 8)
NO_VALUE, NO_SPLIT, MARK, STRAY, PROMISE, SMALL, FOREIGN = range(8, 15)
BROKEN = {  # words of the sentences of `check_state`, except for what only arrays can break
    NO_SEAT: "not a ",
    TWICE: "appears twice",
    MISSING: "cards are missing",
    FOREIGN: "cards that the rule set leaves out",
    UNEVEN: "hands of uneven size",
    LARGE: "cards, more than ",
    SMALL: ", and the stock is not empty",
    BAD_STOCK: "a stock of",
    NO_HANDS: "every hand is empty and the stock is not",
    NO_VALUE: "the rule set has no build of",
    NO_SPLIT: "does not split into groups",
    MARK: "group(s), so it is",
    STRAY: "a build ",
    PROMISE: "without a card that captures it",
}
LARGEST_TABLE = 1 << 20  # entries for the sums of one build: beyond, `splits` has to do


@kernel
def check_batch(state: State, rules: RuleTable, codes: IntArray) -> None:
    """Write to `codes` [B] SOUND or the first broken invariant of each game."""
    state = borrow(state)
    for game in range(codes.shape[0]):
        code = _check_seats(state, game)
        if code == SOUND:
            code = _check_cards(state, game, rules)
        if code == SOUND:
            code = _check_hands(state, game, rules)
        if code == SOUND:
            code = _check_builds(state, game, rules)
        if code == SOUND:
            code = _check_promises(state, game, rules)
        codes[game] = code


@inner_kernel
def _check_seats(state: State, game: int) -> int:
    seats = state.hands.shape[1]
    if not (0 <= state.turn[game] < seats and 0 <= state.dealer[game] < seats):
        return NO_SEAT
    if not (NOBODY <= state.last_capture[game] < seats and 0 <= state.dealt[game] <= N_CARDS):
        return NO_SEAT
    return SOUND


@inner_kernel
def _check_cards(state: State, game: int, rules: RuleTable) -> int:
    """R1.1: as many cards as different ones, all of them and no other."""
    union, count = state.loose[game], popcount(state.loose[game])
    for piles in (state.hands[game], state.build_cards[game], state.captured[game]):
        for pile in piles:
            union |= pile
            count += popcount(pile)
    for i in range(state.dealt[game], N_CARDS):
        union |= 1 << int(state.deck[game, i])
        count += 1
    if count != popcount(union):
        return TWICE
    if union & ~rules.deck:
        return FOREIGN
    return SOUND if union == rules.deck else MISSING


@inner_kernel
def _check_hands(state: State, game: int, rules: RuleTable) -> int:
    """R2.2: from the number of cards in all hands and the seat to act follows the size of each hand."""
    seats, stock = state.hands.shape[1], N_CARDS - state.dealt[game]
    total = 0
    for seat in range(seats):
        total += popcount(state.hands[game, seat])
    first = state.dealer[game] + 1
    acted = (state.turn[game] - first) % seats
    draws = rules.draw and stock > 0
    fewer = 0 if draws else acted  # seats that hold one card less
    full = (total + fewer) // seats
    for i in range(seats):
        size = full - 1 if i < fewer else full
        if popcount(state.hands[game, (first + i) % seats]) != size:
            return UNEVEN
    if full > rules.hand_size:
        return LARGE
    if draws:
        if full < rules.hand_size:
            return SMALL
        return BAD_STOCK if (stock + acted) % seats else SOUND
    if stock % (rules.hand_size * seats):
        return BAD_STOCK
    return NO_HANDS if full == 0 and stock else SOUND


@inner_kernel
def _check_builds(state: State, game: int, rules: RuleTable) -> int:
    """R4.1, R4.5."""
    seats = state.owned.shape[1]
    standing, owners = 0, 0
    for seat in range(seats):
        standing |= state.owned[game, seat]
        owners += popcount(state.owned[game, seat])
    if owners != popcount(standing) or (standing | state.multiple[game]) >> VALUES:
        return STRAY
    for value in range(VALUES):
        cards, multiple = state.build_cards[game, value], state.multiple[game] >> value & 1
        if not standing >> value & 1:
            if cards or multiple:
                return STRAY
            continue
        if not rules.build_values >> value & 1:
            return NO_VALUE
        groups = count_groups(rules, cards, value)
        if popcount(cards) < 2 or groups == 0:
            return NO_SPLIT
        if multiple != (groups > 1):
            return MARK
    return SOUND


@inner_kernel
def _check_promises(state: State, game: int, rules: RuleTable) -> int:
    """R4.4."""
    for seat in range(state.hands.shape[1]):
        kept, hand = 0, state.hands[game, seat]
        while hand:
            kept |= 1 << hand_value(rules, lowest(hand))
            hand &= hand - 1
        if state.owned[game, seat] & ~kept:
            return PROMISE
    return SOUND


@kernel
def count_groups(rules: RuleTable, cards: int, value: int) -> int:
    """Number of groups worth `value` that the cards split into (R4.1), 0 if they do not split.

    Cards worth the same are alike, so that a choice of cards is how many of each worth are in it. Unlike in
    `turn`, the groups are filled one after another, in every order at once.
    """
    counts, alone = np.zeros(VALUES, np.int64), np.zeros(VALUES, np.int64)
    total, rest = 0, cards
    while rest:
        card = lowest(rest)
        worth = sum_value(rules, card)
        counts[worth] += 1
        alone[worth] = alone_value(rules, card) == value
        total += worth
        rest &= rest - 1
    if counts[0] or not _fills_groups(rules, cards, value, counts, alone):
        return 0
    for worth in range(1, VALUES):  # cards that are worth more alone, as many as make whole groups
        if alone[worth] and worth != value:
            while total % value:
                total += value - worth
    return total // value


@inner_kernel
def _fills_groups(rules: RuleTable, cards: int, value: int, counts: IntArray, alone: IntArray) -> bool:
    """Whether groups worth `value` can be filled one by one until no card is left.

    `counts` [V] cards of each worth; `alone` [V]: 1 if such a card is a group by itself. A choice of cards is
    a number with one digit for each worth; bit t of its sums: it can be full groups and one that holds t.
    """
    size = 1
    for worth in range(1, VALUES):
        size *= counts[worth] + 1
    if size > LARGEST_TABLE:
        return splits(rules, cards, value, 0, np.zeros(N_CARDS, np.int64)) >= 0
    sums = np.zeros(size, np.int64)
    sums[0] = 1
    for chosen in range(size):
        place = 1
        for worth in range(1, VALUES):
            base = counts[worth] + 1
            if chosen // place % base < counts[worth]:
                grown = sums[chosen] << worth & (1 << value + 1) - 1
                full = grown >> value | (alone[worth] & sums[chosen])
                sums[chosen + place] |= grown & ~(1 << value) | full & 1
            place *= base
    return sums[size - 1] & 1 == 1
