"""Points of a finished deal (R6) and settling a match (R7), for one game's row at a time.

Axes: `B` games, `S` sides, `I` = 6 items in the order of `rules.ITEMS`.
"""

from casino_env.bits import popcount
from casino_env.cards import ACES, BIG_CASINO, FULL_DECK, JACK_OF_SPADES, LITTLE_CASINO, SPADES
from casino_env.jit import inner_kernel, kernel
from casino_env.rules import ACES_ITEM, BIG, CARDS, ITEMS, LITTLE, OPTIONS, SPADES_ITEM, SWEEPS, RuleTable
from casino_env.state import NOBODY, IntArray, State

N_ITEMS = len(ITEMS)
BIG_POINTS = 2  # R6.1; every other card that scores by itself is worth 1
SWEEPS_NONE, SWEEPS_NET = OPTIONS["sweeps"].index("none"), OPTIONS["sweeps"].index("net")
NEAR_NONE, NEAR_PAGAT = OPTIONS["near21"].index("none"), OPTIONS["near21"].index("pagat")
NEAR_SPAN = 3  # R7.1: a side is near at target - 3, - 2 and - 1


@kernel
def deal_points(state: State, game: int, rules: RuleTable, points: IntArray) -> None:
    """Write the points of each side and item (R6) for the cards captured so far to `points` [S, I]."""
    sides = points.shape[0]
    for side in range(sides):
        cards = side_cards(state, game, side, sides)
        points[side, CARDS] = 0
        points[side, SPADES_ITEM] = spade_points(rules, cards)
        points[side, BIG] = BIG_POINTS * (cards >> BIG_CASINO & 1)
        points[side, LITTLE] = cards >> LITTLE_CASINO & 1
        points[side, ACES_ITEM] = popcount(cards & ACES)
        points[side, SWEEPS] = _side_sweeps(state, game, side, sides)
    _cancel_sweeps(rules, points)
    most_cards = _leader(state, game, sides, FULL_DECK)
    most_spades = _leader(state, game, sides, SPADES)
    if most_cards != NOBODY:  # R6.1: a tie scores for nobody
        points[most_cards, CARDS] += rules.most_cards
    if most_spades != NOBODY:
        points[most_spades, SPADES_ITEM] += rules.most_spades


@inner_kernel
def total_points(points: IntArray, side: int) -> int:
    """Sum of a side's row of points [S, I]."""
    total = 0
    for item in range(N_ITEMS):
        total += points[side, item]
    return total


@kernel
def side_cards(state: State, game: int, side: int, sides: int) -> int:
    """Captured cards of a side, a card set."""
    cards = 0
    for seat in range(side, state.hands.shape[1], sides):
        cards |= state.captured[game, seat]
    return cards


@kernel
def card_points(rules: RuleTable, cards: int) -> int:
    """Points that cards bring by themselves, whatever else is captured (R6.1)."""
    big, little = cards >> BIG_CASINO & 1, cards >> LITTLE_CASINO & 1
    return BIG_POINTS * big + little + popcount(cards & ACES) + spade_points(rules, cards)


@kernel
def is_special(rules: RuleTable, card: int) -> bool:
    """Whether a card brings points that other cards of its suit do not (R6.1, R8)."""
    return card_points(rules, 1 << card) > rules.each_spade * (SPADES >> card & 1)


@inner_kernel
def spade_points(rules: RuleTable, cards: int) -> int:
    """Points of the spades among the cards, apart from those for most spades (R8)."""
    return rules.each_spade * popcount(cards & SPADES) + rules.jack_of_spades * (cards >> JACK_OF_SPADES & 1)


@inner_kernel
def _side_sweeps(state: State, game: int, side: int, sides: int) -> int:
    sweeps = 0
    for seat in range(side, state.hands.shape[1], sides):
        sweeps += state.sweeps[game, seat]
    return sweeps


@inner_kernel
def _cancel_sweeps(rules: RuleTable, points: IntArray) -> None:
    """R6.2, on the raw counts in `points[:, SWEEPS]`."""
    least = points[0, SWEEPS]
    for side in range(points.shape[0]):
        least = min(least, points[side, SWEEPS])
    for side in range(points.shape[0]):
        if rules.sweeps == SWEEPS_NONE:
            points[side, SWEEPS] = 0
        elif rules.sweeps == SWEEPS_NET:
            points[side, SWEEPS] -= least


@inner_kernel
def _leader(state: State, game: int, sides: int, suit: int) -> int:
    """The side with the most captured cards of the set `suit`, NOBODY if tied."""
    best, leader = -1, NOBODY
    for side in range(sides):
        count = popcount(side_cards(state, game, side, sides) & suit)
        if count == best:
            leader = NOBODY
        elif count > best:
            best, leader = count, side
    return leader


@kernel
def settle(state: State, game: int, rules: RuleTable, points: IntArray, settled: IntArray) -> int:
    """R7: write the new score of each side to `settled` [S]; returns the winner or NOBODY.

    `points` [S, I] are those of `deal_points`, sweeps of near sides included; R7.3 is applied here.
    """
    sides = settled.shape[0]
    most_spades = _leader(state, game, sides, SPADES)
    winner, first = NOBODY, N_ITEMS
    for side in range(sides):
        score = state.score[game, side]
        item = near_item(score, rules)
        settled[side] = score
        if item == NOBODY:
            settled[side] += total_points(points, side)
            if rules.near21 != NEAR_NONE and score >= rules.target:
                settled[side] -= points[side, SWEEPS]  # R7.3, for sides that are beyond near
        elif (points[side, item] > 0) if item != SPADES_ITEM else (side == most_spades):
            settled[side] = rules.target
            if item < first:  # R7.2
                winner, first = side, item
    return winner if winner != NOBODY else _sole_leader(settled, rules.target)


@kernel
def near_item(score: int, rules: RuleTable) -> int:
    """R7.1: the item that a near side must get, or NOBODY if it is not near."""
    missing = rules.target - score
    if rules.near21 == NEAR_NONE or missing < 1 or missing > NEAR_SPAN:
        return NOBODY
    if missing == 1:
        return SPADES_ITEM if rules.near21 == NEAR_PAGAT else LITTLE
    return CARDS if missing == NEAR_SPAN else BIG


@inner_kernel
def _sole_leader(settled: IntArray, target: int) -> int:
    """R7.4: the side that is alone on top with the target or more, else NOBODY."""
    best, leader = target - 1, NOBODY
    for side in range(settled.shape[0]):
        if settled[side] == best:
            leader = NOBODY
        elif settled[side] > best:
            best, leader = settled[side], side
    return leader
