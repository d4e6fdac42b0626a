"""Tokens: every legal move has a spelling, every completed spelling is legal, no prefix is a dead end."""

from collections import Counter
from itertools import combinations

import pytest

from casino_env import Move, Position
from casino_env.rules import is_paired
from casino_env.tokens import (
    BUILD,
    CAPTURE,
    DONE,
    N_TOKENS,
    PILE,
    TAKE,
    TRAIL,
    VALUE,
    VALUE_ACE_HIGH,
    token_name,
)
from tests.helpers import study
from tests.helpers_env import SETTINGS, STYLES, Speller, cards_in, some_positions

CROWDED = 300  # moves; a position with more is checked by its own spellings, not by walking all paths


def test_token_table() -> None:
    """The fixed meaning of the ids, as the design prints it."""
    starts = TRAIL, CAPTURE, BUILD, TAKE, VALUE, VALUE_ACE_HIGH, PILE, DONE, N_TOKENS
    assert starts == (0, 52, 104, 156, 208, 221, 222, 235, 236)
    names = {
        0: "TRAIL 2C",
        51: "TRAIL AS",
        52: "CAPTURE 2C",
        103: "CAPTURE AS",
        104: "BUILD 2C",
        155: "BUILD AS",
        156: "TAKE 2C",
        207: "TAKE AS",
        208: "VALUE 2",
        220: "VALUE 14",
        221: "VALUE 14 (ace high)",
        222: "PILE 2",
        234: "PILE 14",
        235: "DONE",
    }
    assert {token: token_name(token) for token in names} == names
    assert len({token_name(token) for token in range(N_TOKENS)}) == N_TOKENS


def spellings(position: Position) -> Counter[Move]:
    """How many token paths spell each move: all paths are walked, and none may end without a move."""
    speller, found = Speller(position), Counter()
    for prefix in speller.prefixes():
        assert prefix.legal, f"dead end after {spelled(prefix.tokens)} in {position}"
        ends = (speller.name(prefix.spelling, token)[1] for token in prefix.legal)
        found.update(move for move in ends if move is not None)
    return found


def spelled(tokens: tuple[int, ...] | list[int]) -> str:
    """Readable names of tokens."""
    return ", ".join(map(token_name, tokens))


def ways(cards: list[int], value: int) -> int:
    """In how many ways the cards split into groups worth `value`: sums, aces 1, and an ace alone as 14."""
    if not cards:
        return 1
    first, rest = cards[0], cards[1:]
    total = (first // 4 + 2 == value) * ways(rest, value)
    for size in range(1, len(rest) + 1):
        for others in combinations(rest, size):
            if sum((card // 4 + 1) % 13 + 1 for card in (first, *others)) == value:
                total += ways([card for card in rest if card not in others], value)
    return total


def ways_of(move: Move, paired: bool) -> int:
    """In how many ways the cards of a move can be grouped (R3.2, R4.1, R4.2)."""
    cards = cards_in(move.loose)
    if move.kind == "trail" or (move.kind == "capture" and paired):
        return 1
    if move.kind == "build":
        cards = sorted([*cards, move.card])
    return ways(cards, move.value or move.card // 4 + 2)


def check_spellings(position: Position) -> None:
    """The contract of the tokens at one position."""
    moves, speller = position.legal_moves(), Speller(position)
    for move in moves:
        assert speller.read(speller.spell(move)) == move
    if len(moves) > CROWDED:
        return
    table = position.rules.table
    found = spellings(position)
    assert set(found) == set(moves), str(position)
    assert found == {move: ways_of(move, bool(is_paired(table, move.card))) for move in moves}, str(position)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("rules", "players"), SETTINGS)
def test_spellings_are_the_legal_moves(rules: str, players: int, style: str) -> None:
    """Also: a move has as many spellings as its set has ways to split, so mostly one."""
    for seed in range(2):
        for position in some_positions(rules, players, style, seed):
            check_spellings(position)


@pytest.mark.jitless
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("rules", "players"), SETTINGS)
def test_spellings_of_some_positions(rules: str, players: int, style: str) -> None:
    for position in some_positions(rules, players, style, seed=2, share=0.2):
        check_spellings(position)


RAISE = "royal;raise_absorb={} 2S9H/8C9S 3D6C9D 7=3C4C@1"
SPELLED = [
    # R1.4: a forced ace in a sum is named; alone, as 14, it is taken without being named
    ("royal 2HAS/3S4S KCAH", "AS*KCAH", "CAPTURE AS, TAKE KC, TAKE AH, DONE"),
    ("royal 2HAS/3S4S KCAH", "AS*AH", "CAPTURE AS, DONE"),
    ("royal 9H9S/3S4S 4C5D9C", "9S*4C5D9C", "CAPTURE 9S, TAKE 4C, TAKE 5D, DONE"),
    ("royal;capture=free 9H9S/3S4S 4C5D9C", "9S*9C", "CAPTURE 9S, TAKE 9C, DONE"),
    # two cards that meet 14 with the ace as 1, two aces only with both as 14 (R1.5)
    ("royal AHAS/3S4S KC", "AS+KC=14", "BUILD AS, VALUE 14, TAKE KC, DONE"),
    ("royal AHAS/3S4S AC", "AS+AC=14", "BUILD AS, VALUE 14 (ace high), TAKE AC, DONE"),
    ("royal 2HAS/3S4S AC", "AS+AC=2", "BUILD AS, VALUE 2, TAKE AC, DONE"),
    ("royal 9H9S/3S4S 4C5D 9=3C6C@1", "9S+[9]=9", "BUILD 9S, VALUE 9, DONE"),
    ("royal 4S9H/3S4D 5C5D8CAC", "4S+5C+8C+AC=9", "BUILD 4S, VALUE 9, TAKE 5C, TAKE 8C, TAKE AC, DONE"),
    (RAISE.format("no"), "2S+[7]=9", "BUILD 2S, VALUE 9, PILE 7, DONE"),
    (RAISE.format("yes"), "2S+[7]+9D=9", "BUILD 2S, VALUE 9, PILE 7, TAKE 9D, DONE"),
    ("plain 2SJS/3S4S JCJDJH", "JS*JD", "CAPTURE JS, TAKE JD, DONE"),
    ("plain 2SJS/3S4S JCJDJH", "JS*JCJDJH", "CAPTURE JS, TAKE JC, TAKE JD, TAKE JH, DONE"),
    ("plain;capture=match_forced 2SJS/3S4S JCJDJH", "JS*JCJDJH", "CAPTURE JS, DONE"),
    ("plain 2SJS/3S4S JC", "JS", "TRAIL JS"),
]


@pytest.mark.jitless
@pytest.mark.parametrize(("text", "move", "tokens"), SPELLED)
def test_spelling(text: str, move: str, tokens: str) -> None:
    assert spelled(Speller(study(text)).spell(Move.parse(move))) == tokens


NEXT = [
    ("royal 2HAS/3S4S KCAH", "CAPTURE AS", "TAKE KC, DONE"),
    ("royal 2HAS/3S4S KCAH", "CAPTURE AS, TAKE KC", "TAKE AH"),
    ("royal AHAS/3S4S KCAC", "BUILD AS", "VALUE 14, VALUE 14 (ace high)"),
    ("royal AHAS/3S4S KCAC", "BUILD AS, VALUE 14 (ace high)", "TAKE KC, TAKE AC"),
    # R4.4: one nine serves as promise and as captor, so that its capture must take the pile
    ("royal;capture=free 2H9S/3S4S 9C 9=4C5H@0", "CAPTURE 9S", "PILE 9"),
    ("royal;capture=free 2H9S/3S4S 9C 9=4C5H@0", "CAPTURE 9S, PILE 9", "TAKE 9C, DONE"),
    ("royal;capture=free 9H9S/3S4S 9C 9=4C5H@0", "CAPTURE 9S", "TAKE 9C, PILE 9"),
    # R4.2: after the pile loose groups only where a raise may absorb them
    (RAISE.format("no"), "BUILD 2S, VALUE 9", "PILE 7"),
    (RAISE.format("no"), "BUILD 2S, VALUE 9, PILE 7", "DONE"),
    (RAISE.format("yes"), "BUILD 2S, VALUE 9, PILE 7", "TAKE 3D, TAKE 9D, DONE"),
    # an ace raises as 1, so not after it was named as 14
    ("royal AHAS/2SKS AC 13=6C7C@1", "BUILD AS, VALUE 14", "PILE 13"),
    ("royal AHAS/2SKS AC 13=6C7C@1", "BUILD AS, VALUE 14 (ace high)", "TAKE AC"),
    # R8: one of three, or all three
    ("plain 2SJS/3S4S JCJDJH", "CAPTURE JS", "TAKE JC, TAKE JD, TAKE JH"),
    ("plain 2SJS/3S4S JCJDJH", "CAPTURE JS, TAKE JC", "TAKE JD, DONE"),
    ("plain 2SJS/3S4S JCJDJH", "CAPTURE JS, TAKE JC, TAKE JD", "TAKE JH"),
    ("plain 2SJS/3S4S JCJDJH", "CAPTURE JS, TAKE JD", "DONE"),
    ("plain 2SJS/3S4S JCJD", "CAPTURE JS, TAKE JC", "DONE"),
]


@pytest.mark.jitless
@pytest.mark.parametrize(("text", "named", "expected"), NEXT)
def test_next_tokens(text: str, named: str, expected: str) -> None:
    following = {spelled(prefix.tokens): spelled(prefix.legal) for prefix in Speller(study(text)).prefixes()}
    assert following[named] == expected


@pytest.mark.jitless
def test_all_paths_of_the_aces() -> None:
    """R3.3, R1.4: every path after CAPTURE AS, by hand."""
    found = spellings(study("royal 2HAS/3S4S KCACAH"))
    captures = {str(move): count for move, count in found.items() if str(move).startswith("AS*")}
    assert captures == {"AS*ACAH": 1, "AS*KCACAH": 2}  # the king goes with either ace
