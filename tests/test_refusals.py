"""What `Position` refuses: illegal moves by their reason, and arguments by their name, each in one line."""

from typing import Any

import numpy as np
import pytest

from casino_env import CasinoError, IllegalMove, InvalidMove, Move, Position
from casino_env.cards import card_id
from casino_env.check import REASONS, why_illegal
from tests.helpers import DECK, study

pytestmark = pytest.mark.jitless

IDS = list(range(52))
ILLEGAL = [
    ("royal 2H9S/KCKD 4D5C", "3C", "3C is not in the hand"),
    ("royal 2H9S/KCKD 4D5C", "9S*4H5C", "not loose"),
    ("royal 2H9S/KCKD 9D", "9S", r"has the rank of 9S.*R3\.1"),
    ("royal 2H9S/KCKD - 9=4D5C@0", "2H", r"owns a build.*R3\.1"),
    ("plain 3CQD/KCKD QHQS", "QD*QHQS", "R8"),
    ("plain 3CQD/KCKD 2HQS", "QD*2H", "R8"),
    ("royal 2H9S/KCKD 4D", "9S*[9]", "R3.2"),
    ("royal 9STD/KCKD 3D6HTC 9=2D7H@0", "9S*3D6H", "R4.4"),
    ("royal 2H9S/KCKD 4D5C9H", "9S*4D5C", "R3.3"),
    ("royal 2H9S/KCKD 4D5C", "9S*4D", "R3.2"),
    ("royal 2H9S/KCKD 4D5C", "2H+4D=9", "R4.1"),
    ("royal 2H8S/KCKD 7D", "2H+7D=9", "R4.3"),
    ("plain 2C9S/KCKD 9D", "2C+9D=11", "no build of 11"),
    ("royal 3S9D/ACAD/KCKD/QCQD 6S 9=4C5H@2", "3S+6S+[9]=9", "the partner owns the build of 9"),
    ("royal 2C9DJS/ACADAH/KCKDKH/QCQDQH - 9=4C5H@2", "2C+[9]=11", "R4.6"),
    ("royal 2H9S/KCKD -", "2H+[7]=9", "R4.2"),
    ("royal 2H8STC/KCKDKH - 8=3S5D@0", "2H+[8]=10", "R4.6"),
    ("royal 2S9C/KCKD 9D 7=3C4H@1", "2S+[7]+9D=9", "raise_absorb"),
    ("royal;raise_absorb=yes 2S9C/KCKD 8D 7=3C4H@1", "2S+[7]+8D=9", "R4.1"),
    ("royal 4D9C/KCKD 5S 9=3C6H@1", "4D+5S=9", r"write \[9\]"),
    ("royal 9H9S/KCKD 4D5C", "9H+[9]=9", "no build of 9"),
    ("royal 9H9S/KCKD 4D5C", Move(card_id("9H"), value=9), "at least one loose card"),
]


@pytest.mark.parametrize(("text", "move", "reason"), ILLEGAL)
def test_illegal_move(text: str, move: str | Move, reason: str) -> None:
    position = study(text)
    before = str(position)
    with pytest.raises(IllegalMove, match=reason) as error:
        position.play(move)
    assert str(move) in str(error.value)
    assert "\n" not in str(error.value)
    assert str(position) == before
    assert move not in map(str, position.legal_moves())


def test_every_reason_is_tested() -> None:
    positions = [(study(text), Move.parse(move)) for text, move, _ in ILLEGAL]
    codes = {why_illegal(p.state, 0, p.rules.table, move.packed) for p, move in positions}
    assert codes == set(REASONS)


def test_malformed_move() -> None:
    position = study("royal 2H9S/KCKD 4D5C")
    with pytest.raises(InvalidMove, match="write a trail"):
        position.play("2h")


def test_finished_deal() -> None:
    position = study("royal -/- - - 2C2D/3C")
    assert position.is_over
    assert position.legal_moves() == []
    assert position.perft(3) == 0
    with pytest.raises(IllegalMove, match="the deal is over"):
        position.play("2C")


def test_playing_changes_nothing_of_the_position() -> None:
    position = Position.deal(seed=7)
    before = str(position)
    for move in position.legal_moves():
        position.play(move)
        position.state.hands[:] = 0  # a copy
    assert str(position) == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"players": 5}, "players=5"),
        ({"players": 1}, "players=1"),
        ({"players": "2"}, "players='2'"),
        ({"dealer": 7}, "dealer=7"),
        ({"dealer": -1}, "dealer=-1"),
        ({"dealer": 2}, "dealer=2"),
        ({"dealer": None}, "dealer=None"),
        ({"deck": IDS[:51]}, "deck: 51 cards"),
        ({"deck": "".join(DECK[:51])}, "deck: 51 cards"),
        ({"deck": [0, *IDS[:51]]}, "deck: card 2C appears twice"),
        ({"deck": [*IDS[1:], 52]}, "deck: .*from 0 to 51"),
        ({"deck": "".join(DECK).lower()}, "deck: '2c' is not a card"),
        ({"deck": 5}, "deck"),
        ({"deck": [card + 0.5 for card in IDS]}, "deck"),
        ({"deck": IDS, "seed": 1}, "deck and seed"),
        ({"score": [1]}, r"score=\[1\]"),
        ({"score": [1, 2, 3]}, "score"),
        ({"score": [0, 0, 0, 0], "players": 4}, "score"),
        ({"score": [-1, 0]}, "score"),
        ({"score": [0.5, 0]}, "score"),
        ({"score": ["x", 0]}, "score"),
        ({"score": 5}, "score"),
        ({"score": [10**10, 0]}, "score"),  # no text could hold it
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"rules": "regal"}, "regal"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_argument_of_deal(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(CasinoError, match=reason) as error:
        Position.deal(**arguments)
    assert "\n" not in str(error.value)


def test_decks_of_every_form() -> None:
    deals = {str(Position.deal(deck=deck)) for deck in ("".join(DECK), IDS, tuple(IDS), np.arange(52))}
    assert len(deals) == 1
    assert Position.deal(seed=3) == Position.deal(seed=3) != Position.deal(seed=4)


def test_settle_and_perft_arguments() -> None:
    position = Position.deal(seed=1)
    with pytest.raises(CasinoError, match="not over"):
        position.settle()
    with pytest.raises(CasinoError, match="depth=-1"):
        position.perft(-1)
