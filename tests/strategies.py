"""Hypothesis strategies: positions of games, studies, and hostile texts.

Owns no expected value. All that is drawn is small numbers and a deck in order, so that what fails shrinks
to a short game of first moves, or to a table with few cards.
"""

from operator import mul

from hypothesis import assume
from hypothesis import strategies as st

from casino_env import Position, Rules
from casino_env.rules import ACE_HIGH, HAND_SIZE, LOWEST_VALUE, TURNS, side_count
from tests.brute_force import TOP
from tests.helpers import DECK, TABLES, study
from tests.helpers_cards import Build, builds_text, in_order, low_value, summing, without, worth
from tests.mutations import DIGITS, RUNS, SIGNS, mutate

MANY_MOVES = 60  # a turn seldom has more; where it has fewer, the count starts again at the first
FINISHED = 5  # a whole deal is drawn so many times more often than any other number of turns
VALUES = st.integers(LOWEST_VALUE, ACE_HIGH)
BUILDS, LOOSE, PROMISES = 3, 8, 2  # of a study, at most
CAPTURED, SWEEPS, STOCK_HANDS = 3, 3, 1  # of a study, at most: by seat, by seat, to each seat
RUBBISH = 60  # characters
MUTATED = 6  # so many times as often as either of the other kinds: only those are ever valid
FIELDS = 10  # the index of the last field of a position (R9)

Draw = st.DrawFn


@st.composite
def positions(draw: Draw) -> Position:
    """A position of a game, played from the deal; finished deals too."""
    rules, players = draw(st.sampled_from(TABLES))
    target = int(Rules.parse(rules).option("target"))
    sides = side_count(players)
    position = Position.deal(
        deck="".join(draw(st.permutations(DECK))),
        rules=rules,
        players=players,
        dealer=draw(st.integers(0, players - 1)),
        score=draw(st.lists(st.integers(0, target + 1), min_size=sides, max_size=sides)),
    )
    turns = min(draw(st.integers(0, TURNS + FINISHED)), TURNS)
    for choice in draw(st.lists(st.integers(0, MANY_MOVES), min_size=turns, max_size=turns)):
        moves = position.legal_moves()
        position = position.play(moves[choice % len(moves)])
    return position


@st.composite
def studies(draw: Draw) -> Position:
    """A partial position with builds, whose owners hold the promised card where one is left.

    The seat to act has cards of some more values, to promise those.
    """
    rules, players = draw(st.sampled_from(TABLES))
    deck = draw(st.permutations(DECK))
    dealer, acted = draw(st.integers(0, players - 1)), draw(st.integers(0, players - 1))
    seats = [(dealer + 1 + i) % players for i in range(players)]  # in the order in which they act
    played = {seat: int(number < acted) for number, seat in enumerate(seats)}
    left = draw(st.integers(0, STOCK_HANDS)) * HAND_SIZE * players
    if left and Rules.parse(rules).option("draw") == "yes":  # R8: who has played has drawn a card
        left, played = left - acted, dict.fromkeys(seats, 0)
    deck, stock = deck[left:], deck[:left]
    builds = draw(_builds(TOP[rules.split(";")[0]], players, deck))
    deck = without([card for build in builds.values() for card in build.cards], deck)
    promised = [(build.owner, value) for value, build in builds.items()]
    promised += [(seats[acted], value) for value in draw(st.lists(VALUES, max_size=PROMISES))]
    hands, deck = _hands(promised, played, draw(st.integers(1, HAND_SIZE)), deck)
    count = draw(st.integers(0, LOOSE))
    loose, deck = deck[:count], deck[count:]
    others = draw(_other_fields(players, deck))
    text = f"{rules} {'/'.join(map(in_order, hands))} {in_order(loose)} {builds_text(builds)}"
    return study(text, turn=str(seats[acted]), dealer=str(dealer), stock="".join(stock) or "-", **others)


@st.composite
def _builds(draw: Draw, top: int, players: int, deck: list[str]) -> dict[int, Build]:
    """Builds of cards of the deck; a value that they do not come to is left out."""
    builds: dict[int, Build] = {}
    for value in draw(st.lists(VALUES, unique=True, max_size=BUILDS)):
        group = summing(value, [card for card in deck if low_value(card) < value])
        if value > top or not group:
            continue
        deck = without(group, deck)
        second = draw(st.sampled_from([[], worth(value, deck), summing(value, deck)]))
        deck = without(second, deck)
        builds[value] = Build(group + second, bool(second), draw(st.integers(0, players - 1)))
    return builds


def _hands(
    promised: list[tuple[int, int]], played: dict[int, int], size: int, deck: list[str]
) -> tuple[list[list[str]], list[str]]:
    """Hands by seat and the rest of the deck.

    A hand begins with what the seat promised (pairs of seat and value). All have had the same number of
    cards, `size` if that is enough, and `played` of them since.
    """
    hands: list[list[str]] = [[] for _ in played]
    for seat, value in promised:
        hands[seat] += worth(value, deck)
        deck = without(hands[seat], deck)
    size = max(size, *(len(hands[seat]) + played[seat] for seat in played))
    for seat in played:
        missing = size - played[seat] - len(hands[seat])
        assume(missing <= len(deck))
        hands[seat] += deck[:missing]
        deck = deck[missing:]
    return hands, deck


@st.composite
def _other_fields(draw: Draw, players: int, deck: list[str]) -> dict[str, str]:
    """The later fields of a position, with some of the cards captured."""
    captured = [draw(st.integers(0, CAPTURED)) for _ in range(players)]
    piles = [[deck.pop() for _ in range(min(count, len(deck)))] for count in captured]
    counts = st.integers(0, SWEEPS)
    return {
        "captured": "/".join(map(in_order, piles)),
        "last_capture": draw(st.sampled_from(["-", *map(str, range(players))])),
        "sweeps": "/".join(str(draw(counts)) for _ in range(players)),
        "score": "/".join(str(draw(counts)) for _ in range(side_count(players))),
    }


def hostile_texts(texts: st.SearchStrategy[str], separator: str) -> st.SearchStrategy[str]:
    """One of the texts with a few things changed or a field replaced by rubbish, or nothing but rubbish."""
    digits = st.builds(mul, st.text(DIGITS, min_size=1, max_size=2), st.sampled_from((1, *RUNS)))
    rubbish = st.text(SIGNS, max_size=RUBBISH) | st.text(max_size=RUBBISH)
    mutated = st.builds(mutate, texts, st.randoms(use_true_random=False), st.just(separator))
    replaced = st.builds(_with_field, texts, st.just(separator), st.integers(0, FIELDS), digits | rubbish)
    kinds = [*[mutated] * MUTATED, replaced, rubbish]
    return st.sampled_from(kinds).flatmap(lambda kind: kind)


def _with_field(text: str, separator: str, index: int, field: str) -> str:
    """The text with another field."""
    fields = text.split(separator)
    fields[index % len(fields)] = field
    return separator.join(fields)
