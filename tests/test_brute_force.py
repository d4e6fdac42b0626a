"""The list of legal moves against brute force over every choice there is, with up to 12 loose cards."""

import random
import warnings
from collections import Counter
from collections.abc import Iterator

import pytest

from casino_env import Move, MoveListCut, Position
from casino_env.cards import RANKS, card_name, iter_cards
from casino_env.check import LEGAL, why_illegal
from casino_env.unions import MAX_MOVES
from tests.brute_force import PAIRED, PAIRING, TOP, candidates, capture_value, legal_moves
from tests.helpers import DECK, fields, study
from tests.helpers_cards import Build, builds_text, in_order, low_value, summing, without, worth

COMMON = {"several groups", "pile and groups", "multiple build", "addition", "raise", "merge"}
ABSORBING = {*COMMON, "absorbed group"}
RULES = {  # the rule sets, and what the legal moves of their tables must show (`labels`)
    "royal": {*COMMON, "forced rank"},
    "royal;capture=free": COMMON,
    "royal;raise_own=yes;raise_absorb=yes;partner_builds=own_card": {*ABSORBING, "forced rank", "own raise"},
    "plain": {*ABSORBING, "1 of 2", "1 of 3", "3 of 3"},
    "plain;capture=match_forced": {*ABSORBING, "forced rank", "1 of 2", "3 of 3"},
    "spade;raise_own=yes": {*ABSORBING, "own raise", "1 of 3", "3 of 3"},
    "kasino": {"several groups"},
}
SETTINGS = pytest.mark.parametrize(
    ("rules", "players"), [(rules, players) for rules in RULES for players in (2, 4)]
)
LOOSE = range(2, 9)  # loose cards of most tables
FULL = range(12, 13)  # of the fullest
FEW = range(1, 6)  # where each candidate is asked of the check of a move, which takes longer
TABLES, CHECKED = 60, 12  # of each setting
TABLES_SLOW, FULL_SLOW, CHECKED_SLOW = 300, 8, 100
BUILDS = 3
NEAR = 4  # values among which the builds of a table are, so that one can be raised to the next
MULTIPLE = 0.3  # share of the builds that get a second group if the cards allow it
HAND = 4


def compare(rules: str, players: int, sizes: range, tables: int) -> Counter[str]:
    """Compare the lists of some random tables; what their moves show, and the number of candidates."""
    rng, seen = random.Random(f"{rules} {players} {sizes}"), Counter[str]()
    for _ in range(tables):
        position = random_table(rules, players, rng.choice(sizes), rng)
        expected, seen_here = legal_moves(position)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            moves = position.legal_moves()
        listed = [str(move) for move in moves]
        if caught:
            assert [warning.category for warning in caught] == [MoveListCut]
            assert len(set(listed)) == MAX_MOVES and set(listed) < set(expected), str(position)
        else:
            assert listed == expected, str(position)
        seen["candidates"] += seen_here
        seen.update(label for move in moves for label in labels(position, move))
    return seen


def check(rules: str, players: int, tables: int) -> Counter[bool]:
    """Ask the check of a move for every candidate of some random tables; how many are legal and not."""
    rng, seen = random.Random(f"check {rules} {players}"), Counter[bool]()
    for _ in range(tables):
        position = random_table(rules, players, rng.choice(FEW), rng)
        state, table = position.state, position.rules.table
        for move, allowed in candidates(position):
            code = why_illegal(state, 0, table, move.packed)
            assert (code == LEGAL) == allowed, f"{move!r}: {position}"
            seen[allowed] += 1
    return seen


def random_table(rules: str, players: int, loose: int, rng: random.Random) -> Position:
    """A study with so many loose cards and up to three builds, with a hand that can do much there."""
    deck = stacked_deck(rng)
    top = TOP[rules.split(";")[0]]
    lowest = rng.randint(2, max(2, top - NEAR))
    values, builds = range(lowest, lowest + NEAR), dict[int, Build]()
    for value in rng.sample(values, rng.randint(0, BUILDS) if top else 0):
        group, second = draw_groups(value, deck, rng)
        if group:
            builds[value] = Build(group + second, bool(second), rng.randrange(players))
            deck = without(group + second, deck)
    hand = promising_hand(builds, values, deck, rng)
    deck = without(hand, deck)
    loose_cards, deck = deck[:loose], deck[loose:]
    hands = [hand, *(deck[i * HAND :][:HAND] for i in range(players - 1))]
    hands_text = "/".join(map(in_order, hands))
    return study(f"{rules} {hands_text} {in_order(loose_cards)} {builds_text(builds)}")


def stacked_deck(rng: random.Random) -> list[str]:
    """A shuffled deck, small cards and favourite ranks rather in front: groups and pairs come easily."""
    favourites = [*rng.sample(RANKS, 2), rng.choice(PAIRED)]
    weights = {card: 1 if card[0] in favourites else low_value(card) + 2 for card in DECK}
    return sorted(DECK, key=lambda card: rng.random() * weights[card])


def draw_groups(value: int, deck: list[str], rng: random.Random) -> tuple[list[str], list[str]]:
    """Two or more cards that sum to the value, and now and then a second group; each may be empty."""
    group = summing(value, [card for card in deck if low_value(card) < value])
    if not group or rng.random() > MULTIPLE:
        return group, []
    return group, summing(value, without(group, deck))


def promising_hand(builds: dict[int, Build], values: range, deck: list[str], rng: random.Random) -> list[str]:
    """Four cards: what lifts a build to another value, and what captures the two and the builds of seat 0."""
    low = rng.choice([*builds, *builds, values[0]])
    high = rng.choice([value for value in values if value > low] or [low + 1])
    owned = [value for value, build in builds.items() if build.owner == 0]
    hand = [card for card in deck if low_value(card) == high - low][:1]
    for value in dict.fromkeys([*owned, high, low]):
        hand += worth(value, without(hand, deck))
    return [*hand, *without(hand, deck)][:HAND]


def labels(position: Position, move: Move) -> Iterator[str]:
    """What a legal move shows of the rules."""
    name, taken = card_name(move.card), [card_name(card) for card in iter_cards(move.loose)]
    if move.kind == "capture":
        yield from capture_labels(position, name, taken, move.pile)
    elif move.kind == "build":
        if move.pile:
            yield "addition"
        elif not is_one_group([name, *taken], move.value):
            yield "multiple build"
    elif move.kind == "raise":
        yield "raise"
        if move.pile:
            yield "merge"
        if taken:
            yield "absorbed group"
        if position.state.owned[0, 0] >> move.value - low_value(name) & 1:
            yield "own raise"


def capture_labels(position: Position, name: str, taken: list[str], pile: bool) -> Iterator[str]:
    """What a capture shows of the rules."""
    rank, base = name[0], position.rules.base
    same = sum(card[0] == rank for card in taken)
    if base in PAIRING and rank in PAIRED:
        yield f"{len(taken)} of {fields(position).loose.count(rank)}"
        return
    if pile and taken:
        yield "pile and groups"
    if position.rules.option("capture") == "match_forced" and 0 < same < len(taken):
        yield "forced rank"
    if taken and not is_one_group(taken, capture_value(name, base)):
        yield "several groups"


def is_one_group(cards: list[str], value: int) -> bool:
    """Whether cards that split into groups of the value are one group."""
    return len(cards) == 1 or sum(map(low_value, cards)) == value


@SETTINGS
def test_list_is_what_brute_force_finds(rules: str, players: int) -> None:
    seen = compare(rules, players, LOOSE, TABLES) + compare(rules, players, FULL, 1)
    assert RULES[rules] <= set(seen), seen


@pytest.mark.slow
@SETTINGS
def test_list_is_what_brute_force_finds_long(rules: str, players: int) -> None:
    seen = compare(rules, players, LOOSE, TABLES_SLOW) + compare(rules, players, FULL, FULL_SLOW)
    assert RULES[rules] <= set(seen), seen


@SETTINGS
def test_check_agrees_with_brute_force(rules: str, players: int) -> None:
    assert min(check(rules, players, CHECKED)[allowed] for allowed in (True, False)) > CHECKED


@pytest.mark.slow
@SETTINGS
def test_check_agrees_with_brute_force_long(rules: str, players: int) -> None:
    assert min(check(rules, players, CHECKED_SLOW)[allowed] for allowed in (True, False)) > CHECKED_SLOW
