"""One test per printed rule, R1 to R4: cards, deal, turns and builds, on positions written by hand."""

import numpy as np
import pytest

from casino_env import Position, VectorEnv
from casino_env.cards import card_id, card_name
from casino_env.rules import PLAYER_COUNTS, TURNS
from tests.helpers import Fields, fields, legal, study

pytestmark = pytest.mark.jitless

DECK = "".join(rank + suit for rank in "23456789TJQKA" for suit in "CDHS")
OTHERS = "/ACAD/AHAS/KCKD"  # hands of the other three seats


def after(text: str, move: str) -> Fields:
    """The fields of a study after a move."""
    return fields(study(text).play(move))


def test_r1_1_card_names() -> None:
    assert [card_name(card) for card in (0, 33, 51)] == ["2C", "TD", "AS"]
    assert len({card_name(card) for card in range(52)}) == 52


def test_r1_2_card_ids() -> None:
    assert [card_id(name) for name in ("2C", "2D", "2H", "2S", "3C", "AS")] == [0, 1, 2, 3, 4, 51]
    assert "".join(map(card_name, range(52))) == DECK


@pytest.mark.parametrize(
    ("hand", "loose", "move"),
    [
        ("TCAC", "9D", "AC+9D=10"),
        ("JCAC", "TD", "AC+TD=11"),
        ("QCAC", "JD", "AC+JD=12"),
        ("KCAC", "QD", "AC+QD=13"),
        ("ACAD", "KD", "AC+KD=14"),
    ],
)
def test_r1_3_values(hand: str, loose: str, move: str) -> None:
    value = move.partition("=")[2]
    assert after(f"royal {hand}/2C3C {loose}", move).builds == f"{value}={loose}AC@0"


def test_r1_4_ace_captures_as_14() -> None:
    moves = ["2S", "2S*ADAH", "AS*ADAH", "AS*KCADAH", "AS+AD=2", "AS+AH=2"]
    assert legal(study("royal 2SAS/2C2D KCADAH")) == moves
    assert legal(study("royal 2SAS/2C2D - 14=5C9C@1")) == ["2S", "AS", "AS*[14]"]


def test_r1_5_no_build_of_1() -> None:
    position = study("royal 2DAHAS/2C3C4C AD")
    builds = ["AH+AD=14", "AH+AD=2", "AS+AD=14", "AS+AD=2"]
    assert [move for move in legal(position) if "=" in move] == builds
    assert fields(position.play("AH+AD=14")).builds == "14*=ADAH@0"
    assert fields(position.play("AH+AD=2")).builds == "2=ADAH@0"


@pytest.mark.parametrize(("players", "dealer", "first"), [(2, 0, 1), (2, 1, 0), (3, 1, 2), (4, 3, 0)])
def test_r2_1_first_to_act(players: int, dealer: int, first: int) -> None:
    assert Position.deal(seed=1, players=players, dealer=dealer).turn == first


def test_r2_2_deal() -> None:
    position = Position.deal(deck=DECK, players=3, dealer=1)
    hands, loose, stock = "3C3D3H3S/4C4D4H4S/2C2D2H2S", "5C5D5H5S", DECK[32:]
    assert str(position) == f"royal {hands} {loose} - -/-/- {stock} 2 - 0/0/0 0/0/0 1"


def test_r2_2_next_hands() -> None:
    """With the last card of the hands the next are dealt from the stock, none to the table."""
    position = study("royal -/7H KD - -/-", stock="2C2D2H2S3C3D3H3S", turn="1", dealer="1")
    dealt = fields(position.play("7H"))
    assert dealt[1:3] == ("2C2D2H2S/3C3D3H3S", "7HKD")
    assert (dealt.stock, dealt.turn) == ("-", "0")


@pytest.mark.parametrize(("players", "deals"), [(2, 6), (3, 4), (4, 3)])
def test_r2_2_48_turns(players: int, deals: int) -> None:
    position = Position.deal(seed=3, players=players)
    stocks = [fields(position).stock]
    for turn in range(48):
        assert not position.is_over
        assert position.turn == (turn + 1) % players
        position = position.play(position.legal_moves()[0])
        stocks.append(fields(position).stock)
    assert position.is_over
    assert len(set(stocks)) == deals


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_r2_3_next_dealer(players: int) -> None:
    env = VectorEnv(1, players=players, seed=0, objective="match")
    env.reset(dealers=[1])
    for _ in range(TURNS):
        assert env.state.dealer[0] == 1
        env.step(np.zeros(1, np.int64))
    assert env.state.dealer[0] == 2 % players
    assert env.state.turn[0] == 3 % players


def test_r3_1_trail() -> None:
    assert after("royal 2H9S/KCKD 4D", "2H").table == "2H4D -"
    assert "9S" not in legal(study("royal 2H9S/KCKD 9D"))
    assert "9S" in legal(study("royal;capture=free 2H9S/KCKD 9D"))
    assert "2H" not in legal(study("royal 2H9S/KCKD - 9=4C5S@0"))
    assert "2H" in legal(study("royal 2H9S/KCKD - 9=4C5S@1"))


def test_r3_2_capture() -> None:
    groups = ["9S*3S4D5C6H", "9S*3S6H", "9S*4D5C"]
    assert legal(study("royal 2H9S/KCKD 3S4D5C6H")) == ["2H", "2H+3S+4D=9", "9S", *groups]
    assert legal(study("royal 2H9S/KCKD 4C 5=2C3S@1")) == ["2H", "9S"]  # no build inside a sum
    assert legal(study("royal 2H9S/KCKD 4H 9=4C5S@1")) == ["2H", "9S", "9S*[9]"]
    assert after("royal 2H9S/KCKD 4H 9=4C5S@1", "9S*[9]").captured == "4C5S9S/-"  # and taken whole


def test_r3_3_choice_and_forced_rank() -> None:
    assert legal(study("royal 2H9S/KCKD 4D5C9H")) == ["2H", "9S*4D5C9H", "9S*9H"]
    free = ["2H", "9S", "9S*4D5C", "9S*4D5C9H", "9S*9H"]
    assert legal(study("royal;capture=free 2H9S/KCKD 4D5C9H")) == free
    assert legal(study("royal 2H9S/KCKD 9H 9=4C5S@1")) == ["2H", "9S*9H", "9S*9H[9]"]


def test_r3_4_build_captures_nothing() -> None:
    built = after("royal 4S9C/KCKD 5H", "4S+5H=9")
    assert (built.hands, built.table) == ("9C/KCKD", "- 9=4S5H@0")
    assert (built.captured, built.last_capture) == ("-/-", "-")


def test_r3_5_captured_cards() -> None:
    taken = after("royal 2H9S/KCKD 4D5C7H - 3C/3D", "9S*4D5C")
    assert (taken.hands, taken.table) == ("2H/KCKD", "7H -")
    assert (taken.captured, taken.last_capture) == ("3C4D5C9S/3D", "0")


def test_r3_6_every_choice_once() -> None:
    pairs = ["3C3D", "3C3D3H3S", "3C3H", "3C3S", "3D3H", "3D3S", "3H3S"]  # all four split in three ways
    assert legal(study("royal 2H6S/KCKD 3C3D3H3S")) == ["2H", "6S", *(f"6S*{pair}" for pair in pairs)]
    moves = legal(study("royal 2S5DTC/KCKDKH 3H5S"))
    assert {"2S+3H=5", "2S+3H+5S=5", "2S+3H+5S=10"} <= set(moves)


def test_r4_1_make() -> None:
    """Groups of loose cards may come along, but the played card is part of it."""
    moves = ["2S", "2S+4C+5D+7H+9D=9", "2S+4C+5D+7H=9", "2S+7H+9D=9", "2S+7H=9"]
    assert [move for move in legal(study("royal 2S9H/KCKD 4C5D7H9D")) if move[:2] == "2S"] == moves
    assert legal(study("royal 9H9S/KCKD 4C")) == ["9H", "9S"]  # a loose card must join


def test_r4_1_add() -> None:
    position = study("royal 9H9S/KCKD 4C 9=3C6H@1")
    assert legal(position) == ["9H", "9H*[9]", "9H+[9]=9", "9S", "9S*[9]", "9S+[9]=9"]
    assert fields(position.play("9H+[9]=9")).table == "4C 9*=3C6H9H@0"


def test_r4_1_played_ace_is_1_or_14() -> None:
    position = study("royal ACAD/2C2D KCAH")
    builds = ["AC+AH=14", "AC+KC+AH=14", "AC+KC=14"]
    assert [move for move in legal(position) if move[:3] == "AC+"] == builds
    assert [fields(position.play(move)).builds for move in builds] == [
        "14*=ACAH@0",
        "14*=KCACAH@0",
        "14=KCAC@0",
    ]


def test_r4_2_raise() -> None:
    assert legal(study("royal 2CTH/KCKD - 8=3S5D@1")) == ["2C", "2C+[8]=10", "TH"]
    assert after("royal 2CTH/KCKD - 8=3S5D@1", "2C+[8]=10").table == "- 10=2C3S5D@0"
    assert legal(study("royal JHAC/KCKD - 10=4D6D@1")) == ["AC", "AC+[10]=11", "JH"]  # the ace adds 1
    assert legal(study("royal 5CAH/KCKD - 10=4D6D@1")) == ["5C", "AH"]  # 15 is too much


def test_r4_2_raise_joins_standing_build() -> None:
    position = study("royal 2S9C/AHAS 4D5D 7=3C4H@1,9=3D6H@1")
    assert "2S+[7]+[9]=9" in legal(position)
    assert "2S+[7]=9" not in legal(position)
    assert str(position.play("2S+[7]+[9]=9")) == ("royal 9C/AHAS 4D5D 9*=2S3C3D4H6H@0 -/- - 1 - 0/0 0/0 1")


def test_r4_2_raise_absorb() -> None:
    position = study("royal;raise_absorb=yes 2S9C/KCKD 4D5D9D 7=3C4H@1")
    raises = ["2S+[7]+4D+5D+9D=9", "2S+[7]+4D+5D=9", "2S+[7]+9D=9", "2S+[7]=9"]
    assert [move for move in legal(position) if move[:4] == "2S+["] == raises
    assert fields(position.play("2S+[7]+9D=9")).table == "4D5D 9*=2S3C4H9D@0"
    royal = study("royal 2S9C/KCKD 4D5D9D 7=3C4H@1")
    assert [move for move in legal(royal) if move[:4] == "2S+["] == ["2S+[7]=9"]


def test_r4_3_card_of_the_value() -> None:
    assert legal(study("royal 2C9H/KCKD 7D")) == ["2C", "2C+7D=9", "9H"]
    assert legal(study("royal 2C8H/KCKD 7D")) == ["2C", "8H"]
    assert legal(study("royal 9C/KC 9D")) == ["9C*9D"]  # the played card serves no promise


def test_r4_4_promise() -> None:
    position = study("royal 9STD/KCKD 3D6HTC 9=2D7H@0")
    assert legal(position) == ["9S*3D6H[9]", "9S*[9]", "TD*TC"]
    second = study("royal 2S7C9D/KCKDKH 5H 9=3H6C@0")  # two builds, two cards
    assert legal(second) == ["2S+5H=7", "9D*[9]"]
    assert legal(second.play("2S+5H=7").play("KC")) == ["7C*[7]", "9D*[9]"]


def test_r4_5_multiple() -> None:
    assert after("royal 4D9C/KCKD 5S 9=3C6H@1", "4D+5S+[9]=9").table == "- 9*=3C4D5S6H@0"
    assert after("royal 2S9C/KCKD 7C9D", "2S+7C+9D=9").table == "- 9*=2S7C9D@0"
    raised = [move for move in legal(study("royal 7H8HAS/KCKDKH 3S 7*=3C4D7S@1")) if "=8" in move]
    assert raised == []  # a multiple build never changes value


def test_r4_6_own_build() -> None:
    assert legal(study("royal 2H8STC/KCKDKH - 8=3S5D@0")) == ["8S*[8]"]
    assert legal(study("royal;raise_own=yes 2H8STC/KCKDKH - 8=3S5D@0")) == ["2H+[8]=10", "8S*[8]"]
    assert legal(study("royal;raise_own=yes 2H4C/KCKD - 2=ACAD@0")) == ["2H*[2]"]  # no two would be left
    two = study("royal;raise_own=yes 2H2S4C/KCKDKH - 2=ACAD@0")
    assert legal(two) == ["2H*[2]", "2H+[2]=2", "2H+[2]=4", "2S*[2]", "2S+[2]=2", "2S+[2]=4"]
    assert fields(two.play("2H+[2]=4")).table == "- 4=2HACAD@0"
    other = study("royal;raise_own=yes 2HTC/KCKD - 8=3S5D@1")  # no card of the old value is asked for
    assert legal(other) == ["2H", "2H+[8]=10", "TC"]


def test_r4_6_partner() -> None:
    hands = "2C3S9DJS/ACADAHAS/KCKDKHKS/QCQDQHQS"
    partners = study(f"royal {hands} 6S 9=4C5H@2")
    assert legal(partners) == ["2C", "3S", "9D", "9D*[9]", "JS"]  # it may be captured, or left for a trail
    lifted = ["2C", "2C+[9]=11", "3S", "3S+6S+[9]=9", "9D", "9D*[9]", "JS"]
    assert legal(study(f"royal;partner_builds=own_card {hands} 6S 9=4C5H@2")) == lifted
    assert legal(study(f"royal {hands} 6S 9=4C5H@1")) == lifted  # an opponent's


def test_r4_6_raise_to_partners_value() -> None:
    builds = "7=3C4H@1,9=3D6H@2"
    assert legal(study(f"royal 2S9C{OTHERS} - {builds}")) == ["2S", "9C", "9C*[9]"]
    lifted = study(f"royal;partner_builds=own_card 2S9C{OTHERS} - {builds}")
    assert legal(lifted) == ["2S", "2S+[7]+[9]=9", "9C", "9C*[9]"]
    assert fields(lifted.play("2S+[7]+[9]=9")).table == "- 9*=2S3C3D4H6H@0"


def test_r4_7_owner_can_always_capture() -> None:
    position = study("royal 9C/KC 5D 9=4C5C@0", stock="2C2D2H2S3C3D3H3S")
    assert legal(position) == ["9C*[9]"]
    dealt = position.play("9C*[9]").play("KC")
    assert fields(dealt)[1:4] == ("2C2D2H2S/3C3D3H3S", "5DKC", "-")  # no build stands when hands are dealt
