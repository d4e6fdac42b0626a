"""Crowded tables, with more legal moves than a list holds: the list is cut and says so, all else is exact.

No test here has a clock; but a search over all sets of the loose cards would not come to an end.
"""

import random
import warnings
from collections import Counter

import pytest

from casino_env import Move, MoveListCut, Position
from casino_env.cards import card_id
from casino_env.check import LEGAL, why_illegal
from casino_env.legal import RESERVED
from casino_env.tokens import CAPTURE, DONE, EMPTY
from casino_env.unions import MAX_MOVES
from tests.helpers import DECK, fields, legal, study
from tests.helpers_cards import in_order, split_cards
from tests.helpers_env import Speller

SPADES = [rank + "S" for rank in "234567Q"]
RED_AND_CLUBS = [rank + suit for rank in "2345678" for suit in "HDC"]
PLAIN = in_order([*SPADES, *RED_AND_CLUBS, "QH"])  # 29 cards
ROYAL = in_order([rank + suit for rank in "23456789" for suit in "CDH"])  # 24 cards
CROWDS = {
    "plain ten": f"plain TS/9C {PLAIN}",
    "plain hand": f"plain 8STSKSAS/9C9D9H9S {PLAIN}",
    "royal nine": f"royal;capture=free 9STS/2S3S {ROYAL}",
}
UNLISTED = {  # a legal capture that the cut list lacks
    "plain ten": f"TS*{PLAIN.replace('2C', '').replace('QHQS', '')}",
    "plain hand": "TS*2C3D4H6H7D8C",
    "royal nine": f"9S*{ROYAL.replace('8C8D8H', '')}",
}
EVERY_CROWD = pytest.mark.parametrize("name", CROWDS)
WALKS = 200  # of each kind
LOWEST, LONG = 3, 15  # cards that a greedy walk chooses from, and the tokens it then comes to
SPELLED = 300  # listed moves that are spelled


def crowd(name: str) -> Position:
    """One of the crowded tables, which seat 0 is to act at."""
    return study(CROWDS[name])


def cut_list(position: Position) -> list[Move]:
    """The list of legal moves; that it is cut is expected."""
    with pytest.warns(MoveListCut, match=str(MAX_MOVES)):
        return position.legal_moves()


def is_legal(position: Position, move: Move) -> bool:
    """What the check of a move says."""
    return why_illegal(position.state, 0, position.rules.table, move.packed) == LEGAL


@EVERY_CROWD
def test_a_cut_list_holds_distinct_legal_moves(name: str) -> None:
    position = crowd(name)
    moves = cut_list(position)
    assert len(set(moves)) == len(moves) == MAX_MOVES
    assert all(is_legal(position, move) for move in moves)


@pytest.mark.parametrize("hand", ["2S3S4SKS", "9STSJSKC"])
def test_every_card_keeps_moves_in_a_cut_list(hand: str) -> None:
    moves = Counter(move.card for move in cut_list(study(f"royal;capture=free {hand}/QCQDQHQS {ROYAL}")))
    assert sum(moves.values()) == MAX_MOVES
    assert min(moves[card_id(card)] for card in split_cards(hand)) >= RESERVED


def test_a_table_of_fifty_cards() -> None:
    """A whole position: the other cards of the deck lie loose."""
    rest = in_order([card for card in DECK if card not in ("KH", "KS")])
    position = Position.parse(f"royal;capture=free KH/KS {rest} - -/- - 0 - 0/0 0/0 1")
    assert {move.kind for move in cut_list(position)} == {"trail", "capture"}


@pytest.mark.parametrize(("hand", "moves"), [("KS", ["KS"]), ("QD", ["QD", "QD*QH", "QD*QS"])])
def test_a_paired_card_has_few_moves_in_any_crowd(hand: str, moves: list[str]) -> None:
    """R8. The list is complete, and no warning says otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert legal(study(f"plain {hand}/9C {PLAIN}")) == moves


def walk(speller: Speller, rng: random.Random, greedy: bool) -> tuple[Move, int]:
    """Name legal tokens at random until they spell a move: the move, and the number of tokens.

    A greedy walk takes one of the lowest cards it may and ends only where it must: that makes long moves.
    """
    spelling, count = EMPTY, 0
    while True:
        tokens = speller.legal(spelling)
        assert tokens, f"no token is legal after {spelling}"
        if greedy:
            tokens = [token for token in tokens if CAPTURE <= token < DONE][:LOWEST] or tokens
        spelling, move = speller.name(spelling, rng.choice(tokens))
        count += 1
        if move is not None:
            return move, count


@pytest.mark.parametrize("greedy", [False, True])
@EVERY_CROWD
def test_random_tokens_end_in_a_legal_move(name: str, greedy: bool) -> None:
    """The move reads back from its own spelling too, which need not be the one walked."""
    position, rng, longest = crowd(name), random.Random(name), 0
    speller = Speller(position)
    for _ in range(WALKS):
        move, length = walk(speller, rng, greedy)
        assert is_legal(position, move)
        assert speller.read(speller.spell(move)) == move
        longest = max(longest, length)
    assert longest > (LONG if greedy else 1)


@EVERY_CROWD
def test_listed_moves_read_back_from_their_spelling(name: str) -> None:
    position = crowd(name)
    speller = Speller(position)
    for move in random.Random(name).sample(cut_list(position), SPELLED):
        assert speller.read(speller.spell(move)) == move


@EVERY_CROWD
def test_a_move_that_the_list_lacks_can_be_played(name: str) -> None:
    position, move = crowd(name), Move.parse(UNLISTED[name])
    speller = Speller(position)
    assert move not in cut_list(position)
    assert speller.read(speller.spell(move)) == move
    captured = f"{in_order([UNLISTED[name][:2], *split_cards(UNLISTED[name][3:])])}/-"
    assert fields(position.play(move)).captured == captured
