"""The invariants of a state, each broken one named in a sentence (R2, R4, R4.7)."""

import numpy as np

from casino_env.bits import lowest
from casino_env.cards import N_CARDS, card_name, cards_text, iter_cards
from casino_env.groups import group_count, splits
from casino_env.rules import RuleTable
from casino_env.state import NOBODY, VALUES, State, union
from casino_env.turn import values_held


def check_state(state: State, game: int, rules: RuleTable, partial: bool = False) -> str | None:
    """The first broken invariant of one game, or None.

    `partial`: cards may be missing, those promised by an owner (R4.4) included.
    """
    return (
        _check_seats(state, game)
        or _check_cards(state, game, rules, partial)
        or _check_hands(state, game, rules, partial)
        or _check_builds(state, game, rules)
        or (None if partial else broken_promise(state, game, rules))
    )


def broken_promise(state: State, game: int, rules: RuleTable) -> str | None:
    """The first build whose owner holds no card that captures it (R4.4), as a sentence, or None."""
    for seat, (hand, owned) in enumerate(zip(state.hands[game], state.owned[game], strict=True)):
        held, _ = values_held(rules, int(hand))
        if bare := int(owned) & ~held:
            return f"seat {seat} owns the build of {lowest(bare)} without a card that captures it (R4.4)"
    return None


def _check_seats(state: State, game: int) -> str | None:
    seats = state.hands.shape[1]
    for name, seat in (("turn", state.turn[game]), ("dealer", state.dealer[game])):
        if not 0 <= seat < seats:
            return f"{name} {seat} is not a seat from 0 to {seats - 1}"
    if not NOBODY <= state.last_capture[game] < seats:
        return f"last capture by {state.last_capture[game]}, which is not a seat from 0 to {seats - 1}"
    if not 0 <= state.dealt[game] <= N_CARDS:
        return f"{state.dealt[game]} cards dealt, which is not a number from 0 to {N_CARDS}"
    return None


def _check_cards(state: State, game: int, rules: RuleTable, partial: bool) -> str | None:
    """R1.1: every card once."""
    seen = 0
    stock = [1 << int(card) for card in state.deck[game, state.dealt[game] :]]
    piles = [state.loose[game], *state.hands[game], *state.build_cards[game], *state.captured[game]]
    for pile in [*map(int, piles), *stock]:
        if seen & pile:
            return f"card {card_name(next(iter_cards(seen & pile)))} appears twice"
        seen |= pile
    if foreign := seen & ~rules.deck:
        return f"cards that the rule set leaves out: {cards_text(foreign)}"
    if not partial and seen != rules.deck:
        return f"cards are missing: {cards_text(rules.deck & ~seen)}"
    return None


def _check_hands(state: State, game: int, rules: RuleTable, partial: bool) -> str | None:
    """R2.2: seats that have acted in this round hold one card less, and the stock deals out evenly.

    Where cards are drawn (R8), as long as the stock lasts, the stock is what they have less of.
    """
    seats, stock = state.hands.shape[1], int(N_CARDS - state.dealt[game])
    sizes = [int(hand).bit_count() for hand in state.hands[game]]
    full, first = max(sizes), int(state.dealer[game] + 1) % seats
    acted = int(state.turn[game] - first) % seats
    draws = bool(rules.draw and stock)
    for i in range(seats):
        if sizes[(first + i) % seats] != full - (i < acted and not draws):
            return f"hands of uneven size: {'/'.join(map(str, sizes))} cards, seat {state.turn[game]} to act"
    if full > rules.hand_size and not partial:
        return f"a hand holds {full} cards, more than {rules.hand_size}"
    if draws and full < rules.hand_size and not partial:
        return f"hands of {full} cards, fewer than {rules.hand_size}, and the stock is not empty"
    if (stock + acted) % seats if draws else stock % (rules.hand_size * seats):
        each = "as many" if draws else rules.hand_size
        return f"a stock of {stock} cards does not give {each} to each of {seats} seats"
    if full == 0 and stock:
        return "every hand is empty and the stock is not"
    return None


def _check_builds(state: State, game: int, rules: RuleTable) -> str | None:
    order, standing = np.zeros(N_CARDS, np.int64), int(union(state.owned, game))
    if sum(int(owned).bit_count() for owned in state.owned[game]) != standing.bit_count():
        return "a build that two seats own"
    if (standing | int(state.multiple[game])) >> VALUES:
        return f"a build of more than {VALUES - 1}"
    for value in range(VALUES):
        cards = int(state.build_cards[game, value])
        if not standing >> value & 1:
            if cards or state.multiple[game] >> value & 1:
                return f"cards or the mark of a build of {value} that nobody owns"
            continue
        if not rules.build_values >> value & 1:
            return f"the rule set has no build of {value}"
        if cards.bit_count() < 2 or splits(rules, cards, value, 0, order) < 0:
            return f"build {value} does not split into groups worth {value}: {cards_text(cards)}"
        groups = group_count(rules, cards, value)
        if bool(state.multiple[game] >> value & 1) != (groups > 1):
            return f"build {value} has {groups} group(s), so it is {'multiple' if groups > 1 else 'single'}"
    return None
