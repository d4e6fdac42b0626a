"""The engine against the slow reference game, and the check of a given move against the list."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from casino_env import InvalidMove, Move, Position
from casino_env.cards import iter_cards
from casino_env.check import LEGAL, why_illegal
from tests.helpers import DECK, STYLES, TABLES, deal_arguments, fields, random_line, study
from tests.helpers_cards import in_order, low_value, worth
from tests.reference_game import ReferenceGame, split_cards

pytestmark = pytest.mark.filterwarnings("error::casino_env.MoveListCut")

JITLESS_TABLES = 1
GAMES = 9  # of each table and style, 351 in all
GAMES_SLOW = 110  # 4,290 in all, 210,210 positions
STUDIES = 150  # of each table


def compare_game(rules: str, players: int, style: str, rng: random.Random) -> None:
    """One deal played out in both, every position compared (R1 to R9)."""
    arguments = deal_arguments(rules, players, rng)
    start = Position.deal(**arguments)
    reference = ReferenceGame.deal(**arguments | {"deck": split_cards(arguments["deck"])})
    stock, draws = fields(start).stock, start.rules.option("draw") == "yes"
    for position, moves, move in random_line(start, style, rng):
        text = str(position)
        assert text == str(reference)
        assert [str(legal) for legal in moves] == reference.legal_moves()
        assert str(Position.parse(text)) == text
        if fields(position).stock != stock:
            stock = fields(position).stock
            assert draws or fields(position).builds == "-"  # R4.7
        if move:
            reference = reference.play(str(move))
    assert reference.is_over
    assert [side._asdict() for side in position.deal_points()] == reference.deal_points()
    score, winner = reference.settle()
    assert position.settle() == (tuple(score), winner)


def tables() -> list[Any]:
    """Tables in every style of play as parameters; the first also without the jit."""
    return [
        pytest.param(
            rules,
            players,
            style,
            marks=[pytest.mark.jitless] if number < JITLESS_TABLES else [],
            id=f"{rules}-{players}p-{style}",
        )
        for number, (rules, players) in enumerate(TABLES)
        for style in STYLES
    ]


def compare(rules: str, players: int, style: str, games: int) -> None:
    for game in range(games):
        compare_game(rules, players, style, random.Random(f"{rules} {players} {style} {game}"))


@pytest.mark.parametrize(("rules", "players", "style"), tables())
def test_reference(rules: str, players: int, style: str) -> None:
    compare(rules, players, style, GAMES)


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "players", "style"), tables())
def test_reference_long(rules: str, players: int, style: str) -> None:
    compare(rules, players, style, GAMES_SLOW)


def random_study(rules: str, players: int, rng: random.Random) -> Position:
    """A table with several builds and a hand to raise or take one with, which games rarely reach."""
    deck = rng.sample(DECK, len(DECK))
    top, faces = {"royal": (14, ""), "kasino": (0, "")}.get(rules.split(";")[0], (10, "JQK"))
    builds: dict[int, str] = {}
    for _ in range(8):
        group = [deck.pop() for _ in range(rng.randint(2, 3))]
        value = sum(map(low_value, group))
        if value <= top and value not in builds and not any(card[0] in faces for card in group):
            second = worth(value, deck[:9])  # now and then
            deck = [card for card in deck if card not in second]
            owner = rng.randrange(players) if rng.random() < 0.3 else 1
            builds[value] = f"{value}{'*' * len(second)}={in_order(group + second)}@{owner}"
    value = rng.choice([*builds, 5])
    hand = rng.choices([card for card in deck if low_value(card) + value <= top] or deck)
    for held in (value, value + low_value(hand[0])):
        hand += worth(held, [card for card in deck if card not in hand])
    deck = [card for card in deck if card not in hand]
    hands = [hand, *([] for _ in range(players - 1))]
    dealt = "/".join(in_order(cards + [deck.pop() for _ in range(4 - len(cards))]) for cards in hands)
    loose = in_order(deck[: rng.randint(0, 7)])
    return study(f"{rules} {dealt} {loose} {','.join(builds[value] for value in sorted(builds)) or '-'}")


@pytest.mark.jitless
@pytest.mark.parametrize(("rules", "players"), TABLES)
def test_reference_on_studies(rules: str, players: int) -> None:
    rng, kinds = random.Random(f"{rules} {players}"), Counter[str]()
    for _ in range(STUDIES):
        position = random_study(rules, players, rng)
        reference, moves = ReferenceGame.parse(str(position)), position.legal_moves()
        assert [str(move) for move in moves] == reference.legal_moves()
        for move in moves:
            assert str(position.play(move)) == str(reference.play(str(move)))
            kinds[move.kind] += 1
    wanted = ("trail", "capture") if rules.startswith("kasino") else ("trail", "capture", "build", "raise")
    assert min(kinds[kind] for kind in wanted) > STUDIES // 5


def mutants(move: Move, loose: list[int], hand: list[int], rng: random.Random) -> Iterator[Move]:
    """The move with one thing changed, where that is still a move in the form of R9."""
    changes: list[dict[str, Any]] = [
        {"loose": move.loose ^ 1 << rng.choice(loose or [0])},
        {"loose": move.loose ^ 1 << rng.randrange(52)},
        {"loose": move.loose & ~(1 << rng.choice(loose or [0]))},
        {"pile": not move.pile},
        {"value": rng.randint(0, 14)},
        {"value": rng.randint(0, 14), "raises": not move.raises},
        {"raises": not move.raises},
        {"card": rng.choice(hand)},
    ]
    for change in changes:
        try:
            mutant = replace(move, **change)
            if Move.parse(str(mutant)) == mutant:
                yield mutant
        except InvalidMove:
            continue


@pytest.mark.parametrize(("rules", "players", "style"), tables())
def test_check_agrees_with_list(rules: str, players: int, style: str) -> None:
    rng, seen = random.Random(f"{rules} {style}"), Counter[bool]()
    for _ in range(4):
        start = Position.deal(**deal_arguments(rules, players, rng))
        for position, moves, move in random_line(start, style, rng):
            state = position.state
            hand, loose = list(iter_cards(state.hands[0, position.turn])), list(iter_cards(state.loose[0]))
            tried = [move, *rng.choices(moves, k=3)] if move else []
            for mutant in [m for first in tried for m in (first, *mutants(first, loose, hand, rng))]:
                code = why_illegal(state, 0, position.rules.table, mutant.packed)
                assert (code == LEGAL) == (mutant in moves), f"{mutant}: {position}"
                seen[code == LEGAL] += 1
    assert min(seen[True], seen[False]) > 500
