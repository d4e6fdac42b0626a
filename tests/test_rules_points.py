"""One test per printed rule, R5 to R9: sweeps, points, the match, rule sets and texts."""

import numpy as np
import pytest

from casino_env import DealPoints, InvalidRules, Move, Position, Rules, VectorEnv
from casino_env.cards import FULL_DECK, cards_text
from casino_env.rules import TURNS
from tests.helpers import fields, legal, study

pytestmark = pytest.mark.jitless

ALL_CARDS = cards_text(FULL_DECK)


def finished(captured: str, rules: str = "royal", **others: str) -> Position:
    """A finished deal with these captured cards."""
    hands = "/".join("-" * (captured.count("/") + 1))
    return study(f"{rules} {hands} - - {captured}", **others)


def sweeps(position: Position) -> list[int]:
    """Points for sweeps, by side."""
    return [side.sweeps for side in position.deal_points()]


def test_r5_1_sweep() -> None:
    swept = study("royal 2H9S/KCKD 4D5C").play("9S*4D5C")
    assert (fields(swept).sweeps, fields(swept).table) == ("1/0", "- -")
    assert legal(swept) == ["KC", "KD"]  # the next player can only trail
    assert fields(study("royal 2H9S/KCKD - 9=4C5S@1").play("9S*[9]")).sweeps == "1/0"
    assert fields(study("royal 2H9S/KCKD 4D5C9H").play("9S*9H")).sweeps == "0/0"
    assert fields(study("royal 4SKC/AHAS 4H 9=4D5C@1").play("4S*4H")).sweeps == "0/0"  # the build stays


def test_r5_2_last_cards() -> None:
    last = study("royal -/KD 2C7H - 3C3D/-", turn="1", last_capture="0", dealer="1").play("KD")
    assert last.is_over
    assert fields(last)[2:5] == ("-", "-", "2C3C3D7HKD/-")
    assert fields(last).sweeps == "0/0"


def test_r5_2_nobody_captured() -> None:
    last = study("royal -/KD 2C7H", turn="1", dealer="1").play("KD")
    assert last.is_over
    assert fields(last)[2:5] == ("2C7HKD", "-", "-/-")
    assert last.deal_points() == (DealPoints(0, 0, 0, 0, 0, 0),) * 2


def test_r5_3_sweep_with_the_last_card() -> None:
    last = study("royal -/KD KC", turn="1", dealer="1").play("KD*KC")
    assert last.is_over
    assert (fields(last).sweeps, fields(last).captured) == ("0/1", "-/KCKD")


@pytest.mark.parametrize(
    ("captured", "points"),
    [
        (f"{ALL_CARDS}/-", [(3, 1, 2, 1, 4, 0), (0, 0, 0, 0, 0, 0)]),
        ("2S3STDACAD/4C5SAHAS", [(3, 0, 2, 1, 2, 0), (0, 0, 0, 0, 2, 0)]),  # spades tie
        ("2C3SAC/4C5CTD", [(0, 1, 0, 0, 1, 0), (0, 0, 2, 0, 0, 0)]),  # cards tie
        ("2S3C/3D3H/4C", [(0, 1, 0, 1, 0, 0), (0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)]),
        ("2C3S/4C5C/TD/-", [(3, 1, 2, 0, 0, 0), (0, 0, 0, 0, 0, 0)]),
    ],
)
def test_r6_1_points(captured: str, points: list[tuple[int, ...]]) -> None:
    assert list(finished(captured).deal_points()) == points


@pytest.mark.parametrize(
    ("rules", "counted", "scored"),
    [
        ("royal", "3/1", [2, 0]),
        ("royal;sweeps=plain", "3/1", [3, 1]),
        ("royal;sweeps=none", "3/1", [0, 0]),
        ("royal", "3/1/2", [2, 0, 1]),
        ("royal", "1/0/0/2", [0, 1]),  # partners together: 1 and 2
    ],
)
def test_r6_2_sweeps(rules: str, counted: str, scored: list[int]) -> None:
    piles = "/".join("-" * (counted.count("/") + 1))
    assert sweeps(finished(piles, rules, sweeps=counted)) == scored


def test_r6_3_names_in_order() -> None:
    assert DealPoints._fields == ("cards", "spades", "big", "little", "aces", "sweeps")
    assert DealPoints(3, 1, 2, 1, 4, 2).total == 13


@pytest.mark.parametrize(
    ("rules", "score", "captured", "settled", "winner"),
    [
        ("royal", "18/0", "2C3C3D/TDAC", (21, 3), 0),  # at 18 most cards
        ("royal", "18/0", "TDAC/2C3C3D", (18, 3), None),  # otherwise frozen
        ("royal", "19/0", "TD/2C3C3D", (21, 3), 0),  # at 19 Big Casino
        ("royal", "19/0", "2C3C3D/TD", (19, 2), None),
        ("royal", "20/0", "2S/3C3D3S4S", (21, 4), 0),  # at 20 Little Casino
        ("royal", "20/0", "3S4S/2S3C3D", (20, 4), None),
        ("royal;near21=pagat", "20/0", "3S4S/2S3C3D", (21, 4), 0),  # at 20 most spades
        ("royal;near21=pagat", "20/0", "2S/3C3S4S", (20, 4), None),
        ("royal;near21=pagat", "19/0", "TD/2C3C3D", (21, 3), 0),
        ("spade;near21=pagat;target=21", "20/0", "3S/4S5S", (20, 5), None),  # most, not some
        ("royal;near21=none", "18/0", "TDAC/2C", (24, 0), 0),
        ("royal;near21=none", "20/0", "2S/3C3D3S4S", (21, 4), 0),
        ("royal;target=11", "9/0", "TD/2C3C3D", (11, 3), 0),  # 18, 19, 20 stand for the last three
        ("royal;target=11", "8/0", "TD/2C3C3D", (8, 3), None),
    ],
)
def test_r7_1_near(
    rules: str, score: str, captured: str, settled: tuple[int, ...], winner: int | None
) -> None:
    assert finished(captured, rules, score=score).settle() == (settled, winner)


def test_r7_2_near_side_wins_first() -> None:
    whatever = finished("2S/-/TDACADAH", score="20/0/17")
    assert whatever.settle() == ((21, 0, 25), 0)
    both = finished("2S/TD", score="20/19")  # Big Casino comes before Little Casino
    assert both.settle() == ((21, 21), 1)
    cards = finished("2S/3C3D", score="20/18")  # and most cards before both
    assert cards.settle() == ((21, 21), 1)


def test_r7_3_no_sweeps_from_18_on() -> None:
    frozen = finished("-/-/-", score="21/21/10", sweeps="2/1/3")
    assert frozen.settle() == ((21, 21, 12), None)
    assert sweeps(frozen) == [1, 0, 2]  # they cancel others'
    counted = finished("-/-/-", "royal;near21=none", score="21/21/10", sweeps="2/1/3")
    assert counted.settle() == ((22, 21, 12), 0)
    late = finished("-/-", score="17/0", sweeps="4/0")  # who starts below 18 scores them
    assert late.settle() == ((21, 0), 0)


@pytest.mark.parametrize(
    ("score", "captured", "settled", "winner"),
    [
        ("10/12", "3CTD/AC", (15, 13), None),  # nobody has 21
        ("17/12", "3CTD/AC", (22, 13), 0),
        ("17/17", "2STDAC/3CAHAS", (21, 19), 0),
        ("17/17", "TDACAD/2SAHAS", (21, 21), None),  # shared: play on
        ("22/21", "AC/AD", (23, 22), 0),  # the single highest
        ("21/22", "AC/-", (25, 22), 0),
    ],
)
def test_r7_4_highest_total(score: str, captured: str, settled: tuple[int, ...], winner: int | None) -> None:
    assert finished(captured, score=score).settle() == (settled, winner)


def test_r7_4_without_limit() -> None:
    assert finished("AC/AD", score="500/500").settle() == ((501, 501), None)


@pytest.mark.parametrize("max_deals", [1, 2])
def test_r7_5_cut_off(max_deals: int) -> None:
    env = VectorEnv(1, seed=0, objective="match", max_deals=max_deals)
    env.reset()
    for turn in range(1, max_deals * TURNS + 1):
        step = env.step(np.zeros(1, np.int64))
        assert (not step.terminated[0], step.truncated[0]) == (True, turn == max_deals * TURNS)
        assert not step.rewards.any()  # no winner
    assert not env.state.score.any()  # another match begins


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("royal", ("match_forced", "no", "no", "forbid", "net", "seed", "21")),
        ("plain", ("free", "no", "yes", "forbid", "none", "none", "21")),
        ("spade", ("free", "no", "yes", "forbid", "plain", "none", "61")),
        ("plain;target=11;sweeps=net", ("free", "no", "yes", "forbid", "net", "none", "11")),
    ],
)
def test_r8_fields(text: str, options: tuple[str, ...]) -> None:
    rules = Rules.parse(text)
    names = ("capture", "raise_own", "raise_absorb", "partner_builds", "sweeps", "near21", "target")
    assert tuple(map(rules.option, names)) == options
    assert str(rules) == text


@pytest.mark.parametrize(
    ("rules", "loose", "moves"),
    [
        ("plain", "QH", ["QD", "QD*QH"]),
        ("plain", "QHQS", ["QD", "QD*QH", "QD*QS"]),
        ("plain", "QCQHQS", ["QD", "QD*QC", "QD*QCQHQS", "QD*QH", "QD*QS"]),
        ("plain;capture=match_forced", "QHQS", ["QD*QH", "QD*QS"]),
        ("plain;capture=match_forced", "QCQHQS", ["QD*QCQHQS"]),
        ("spade", "QHQS", ["QD", "QD*QH", "QD*QS"]),
    ],
)
def test_r8_paired(rules: str, loose: str, moves: list[str]) -> None:
    assert legal(study(f"{rules} 3CQD/KCKD {loose}")) == ["3C", *moves]


def test_r8_plain_ace_is_1() -> None:
    assert legal(study("plain 2H5D/KCKD ACAD")) == ["2H", "2H*ACAD", "5D"]
    assert legal(study("plain 3HAS/KCKD 2C2D")) == ["3H", "AS", "AS+2C=3", "AS+2D=3"]
    assert legal(study("plain 9HAS/KCKD 5D9CAH")) == ["9H", "9H*9C", "AS", "AS*AH"]  # and never 14


@pytest.mark.parametrize("rules", ["plain", "spade"])
def test_r8_builds_to_10(rules: str) -> None:
    assert legal(study(f"{rules} 2STC/KCKD 8D")) == ["2S", "2S+8D=10", "TC"]
    assert legal(study(f"{rules} 3SJC/KCKD 8D")) == ["3S", "JC"]
    absorbed = study(f"{rules} 2S9C/KCKD 9D 7=3C4H@1")  # raise_absorb=yes
    assert {"2S+[7]=9", "2S+[7]+9D=9"} <= set(legal(absorbed))


@pytest.mark.parametrize(
    ("rules", "points"),
    [
        ("plain", (3, 1, 2, 1, 4, 0)),
        ("spade", (3, 14, 2, 1, 4, 5)),  # 13 spades, and the jack of spades once more: 24 in all
    ],
)
def test_r8_points(rules: str, points: tuple[int, ...]) -> None:
    assert finished(f"{ALL_CARDS}/-", rules, sweeps="5/1").deal_points()[0] == points


def test_r8_spade_spades_never_tie() -> None:
    assert [side.spades for side in finished("2SJS/3S4S", "spade").deal_points()] == [3, 2]


def test_r8_match_of_spade_to_61() -> None:
    assert finished("AC/-", "spade", score="56/60").settle() == ((60, 60), None)
    assert finished("AC/-", "spade", score="57/60").settle() == ((61, 60), 0)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("regal", "royal, plain, spade, kasino"),
        (
            "royal;sweep=net",
            "capture, raise_own, raise_absorb, partner_builds, sweeps, near21, draw, size, target",
        ),
        ("royal;capture=forced", "match_forced, free"),
        ("royal;partner_builds=yes", "forbid, own_card"),
        ("royal;near21=18", "none, seed, pagat"),
    ],
)
def test_r8_unknown_names_list_the_valid(text: str, valid: str) -> None:
    with pytest.raises(InvalidRules, match=f"valid: {valid}$"):
        Rules.parse(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("7H", "trail"),
        ("9S*4H5C9D[9]", "capture"),
        ("9S*[9]", "capture"),
        ("4S+5C=9", "build"),
        ("9H+[9]=9", "build"),
        ("2S+3H+5S=5", "build"),
        ("2S+[10]=12", "raise"),
        ("2S+[7]+9D=9", "raise"),
        ("2S+[7]+[9]=9", "raise"),
    ],
)
def test_r9_move(text: str, kind: str) -> None:
    move = Move.parse(text)
    assert (str(move), move.kind) == (text, kind)
    assert Move.unpack(move.packed) == move


def test_r9_position() -> None:
    stock = "QS5S7SKHKS7DQCJS5CAHTC7C8D8HTH4HTD2S6H5H6DKC2C8SQH2DKD3H5D8CQD9H9C9S3S6C3CACJC4C"
    text = f"royal 2H4S6SJH/4D7HJDAD 3D9DTSAS - -/- {stock} 1 - 0/0 0/0 0"
    assert str(Position.parse(text)) == text
    builds = "royal 2C9CKC/2D9DAD 3D 9=4C5H@1,13*=3CTDKH@0 2S3H/- - 0 1 2/0 17/20 1"
    assert str(Position.parse(builds, partial=True)) == builds
