"""Texts in and out (R9): exact round trips, and every refusal by its reason.

Texts that Hypothesis draws are in `test_properties`.
"""

from typing import Any

import pytest

from casino_env import (
    CasinoError,
    InvalidMove,
    InvalidPosition,
    InvalidRules,
    Move,
    Position,
    Rules,
)
from tests.helpers import TABLES, Fields, load_vectors

pytestmark = pytest.mark.jitless

STOCK = "QS5S7SKHKS7DQCJS5CAHTC7C8D8HTH4HTD2S6H5H6DKC2C8SQH2DKD3H5D8CQD9H9C9S3S6C3CACJC4C"
START = f"royal 2H4S6SJH/4D7HJDAD 3D9DTSAS - -/- {STOCK} 1 - 0/0 0/0 0"
STUDY = "royal 2C9CKC/2D9DAD 3D 9=4C5H@1,13*=3CTDKH@0 2S3H/- - 0 1 2/0 17/20 1"
TEXTS = [*(row["position"] for row in load_vectors("rulebook")), START, STUDY]
MOVES = [text for row in load_vectors("rulebook") for text in row["legal"]]
RULES = ["plain;near21=pagat;sweeps=plain", *(rules for rules, _ in TABLES)]
HUGE = "9" * 5000  # more digits than int() reads


def check_one_line(error: pytest.ExceptionInfo[CasinoError]) -> None:
    """A user reads the message of an error, so it is one line whatever he wrote."""
    assert len(str(error.value).splitlines()) == 1


def short(value: object) -> str:
    """The end of a parameter, as its id."""
    return ascii(value)[-40:]


@pytest.mark.parametrize("text", TEXTS)
def test_position_round_trip(text: str) -> None:
    position = Position.parse(text, partial=True)
    assert str(position) == text
    assert eval(repr(position), {"Position": Position}) == position
    assert hash(position) == hash(Position.parse(text, partial=True))


@pytest.mark.parametrize("text", RULES)
def test_rules_round_trip(text: str) -> None:
    assert str(Rules.parse(text)) == text
    assert Rules.parse(Rules.parse(text)) == Rules.parse(text)


def test_move_round_trip() -> None:
    for text in MOVES:
        move = Move.parse(text)
        assert str(move) == text
        assert Move.parse(move) == Move.unpack(move.packed) == move


def changed(text: str, **others: str) -> str:
    """A position text with other fields."""
    return " ".join(Fields(*text.split(" "))._replace(**others))


def start(**others: str) -> str:
    """The text of START with other fields."""
    return changed(START, **others)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "11 fields"),
        (START + " 0", "11 fields"),
        (START + "\n", "field 11"),
        (START.replace(" - ", "  - ", 1), "11 fields"),
        (start(rules="regal"), "field 1 .*valid: royal, plain, spade, kasino"),
        (start(rules="royal;near21=18"), "field 1 .*valid: none, seed, pagat"),
        (start(hands="2H4S6SJH"), "field 2 .*2, 3 or 4"),
        (start(hands="2H/4S/6S/JH/4D"), "field 2 .*2, 3 or 4"),
        (start(hands="2H4S6SJH/4D7HJD1D"), "field 2 .*'1D' is not a card"),
        (start(hands="2H4S6SJH/4D7HJDA"), "field 2 .*'A' is not a card"),
        (start(hands="4S2H6SJH/4D7HJDAD"), "field 2 .*is written '2H4S6SJH/4D7HJDAD'"),
        (start(hands="2H4S6SJH/"), "field 2 .*'-'"),
        (start(hands="2H4S6S/4D7HJDAD", captured="JH/-"), "uneven size"),
        (start(turn="0"), "uneven size"),
        (start(loose="3d9DTSAS"), "field 3 .*'3d' is not a card"),
        (start(loose="3D3D9DTSAS"), "field 3 .*3D appears twice"),
        (start(loose="2H3D9DTSAS"), "2H appears twice"),
        (start(loose="3D9DTS"), "cards are missing: AS"),
        (start(loose="TSAS", builds="12=3D9D@0"), "seat 0 owns the build of 12 without a card"),
        (start(captured="-/-/-"), "field 5 .*valid: 2"),
        (start(stock="1" + STOCK[1:]), "field 6 .*'1S' is not a card"),
        (start(stock=STOCK[4:], captured="5SQS/-"), "stock of 38 cards"),
        (start(stock=STOCK[4:], hands="2H4S6SJHQS/4D5S7HJDAD"), "more than 4"),
        (start(turn="2"), "field 7 .*valid: 0 to 1"),
        (start(turn="01"), "field 7"),
        (start(last_capture="2"), "field 8 .*valid: 0 to 1"),
        (start(sweeps="0"), "field 9 .*valid: 2"),
        (start(sweeps="-1/0"), "field 9 .*'-1' is not a count"),
        (start(sweeps="00/0"), "field 9 .*'00' is not a count"),
        (start(score="0/0/0"), "field 10 .*valid: 2"),
        (start(score="0/9999999999"), "field 10 .*not a count"),
        (start(dealer="-"), "field 11 .*'-' is not a seat"),
        (start(sweeps=f"{HUGE}/0"), "field 9"),
        (start(rules="royal;target=" + HUGE), "field 1"),
    ],
    ids=short,
)
def test_broken_position(text: str, reason: str) -> None:
    with pytest.raises(InvalidPosition, match=reason) as error:
        Position.parse(text)
    check_one_line(error)


@pytest.mark.parametrize(
    ("builds", "reason"),
    [
        ("9=4C5H", "field 4 .*is not a build"),
        ("9=4C5@1", "field 4 .*'5' is not a card"),
        ("9=4C5H@2", "field 4 .*no seat from 0 to 1"),
        ("1=AHAS@1", "field 4 .*no value from 2 to 14"),
        ("15=4CJH@1", "field 4 .*no value from 2 to 14"),
        ("9=4C5H@1,9=3C6H@0", "field 4 .*two builds of 9"),
        ("13*=3CTDKH@0,9=4C5H@1", "field 4 .*is written '9=4C5H@1,13"),
        ("09=4C5H@1", "field 4 .*is written '9=4C5H@1'"),
        ("٩=4C5H@1", "field 4 .*'٩=4C5H@1' is not a build"),
        ("9=4C6H@1", "build 9 does not split"),
        ("9=9H@1", "build 9 does not split"),
        ("9=4C5H9H@1", "build 9 has 2 group"),
        ("9*=4C5H@1", "build 9 has 1 group"),
        (f"{HUGE}=4C5H@1", "field 4"),
    ],
    ids=short,
)
def test_broken_builds(builds: str, reason: str) -> None:
    with pytest.raises(InvalidPosition, match=reason) as error:
        Position.parse(changed(STUDY, builds=builds), partial=True)
    check_one_line(error)


def test_broken_study() -> None:
    with pytest.raises(InvalidPosition, match="no build of 13"):
        Position.parse(changed(STUDY, rules="plain"), partial=True)
    with pytest.raises(InvalidPosition, match="every hand is empty"):
        Position.parse(f"royal -/- - - -/- {STOCK[:16]} 0 - 0/0 0/0 1", partial=True)
    with pytest.raises(InvalidPosition, match="cards are missing"):
        Position.parse(STUDY)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((text, "write a trail") for text in ("", "7X", "7h", "10H", "7H ", "4S+5C", "9S=9", "2S++3H=5")),
        *((text, "write a trail") for text in ("9S*[9]4H", "9S*4H+5C", "9S*[]", "4S\n", "4S+5C=²")),
        ("9S*", "names what it takes"),
        ("9S*5C4H", r"once each in id order: '9S\*4H5C'"),
        ("9S*4H4H", "4H appears twice"),
        ("9S*[8]", r"captures the build \[9\]"),
        ("AS*[1]", r"captures the build \[14\]"),
        ("4S+5C=1", "2 to 14"),
        ("AS+KC+AH=15", "2 to 14"),
        ("4S+5C=09", r"'4S\+5C=9'"),
        ("4S+5C=٩", "write a trail"),
        ("4S+[9]+5C=9", r"'4S\+5C\+\[9\]=9'"),
        ("2S+9D+[7]=9", r"'2S\+\[7\]\+9D=9'"),
        ("2S+[8]=9", r"2S raises \[8\] to 10"),
        ("2S+[7]+[6]=9", "at most one build"),
        ("2S+[9]+[9]=9", "at most one build"),
        (f"9S*[{HUGE}]", "not a move"),
        (f"4S+5C={HUGE}", "not a move"),
    ],
    ids=short,
)
def test_broken_move(text: str, reason: str) -> None:
    with pytest.raises(InvalidMove, match=reason) as error:
        Move.parse(text)
    check_one_line(error)


@pytest.mark.parametrize("text", [None, 7, b"7H"])
def test_a_move_is_a_text(text: Any) -> None:
    with pytest.raises(InvalidMove, match="it is no text"):
        Position.deal(seed=1).play(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unknown rule set ''; valid: royal, plain, spade, kasino"),
        ("Royal", "unknown rule set"),
        (" royal", "unknown rule set"),
        ("royal\n", "unknown rule set"),
        ("royal;", "field=value"),
        ("royal;sweeps", "field=value"),
        ("royal;sweeps=net;sweeps=none", "'sweeps' is given twice"),
        ("royal;capture=match_forced=free", "valid: match_forced, free"),
        ("royal; capture=free", "unknown rule field ' capture'"),
        *((f"royal;target={number}", "a number from 1 to 9999") for number in ("0", "021", "10000", "x", "")),
        ("royal;target=2\u0661", "a number from 1 to 9999"),  # an Arabic digit
        (f"royal;target={HUGE}", "a number from 1 to 9999"),
    ],
    ids=short,
)
def test_broken_rules(text: str, reason: str) -> None:
    with pytest.raises(InvalidRules, match=reason) as error:
        Rules.parse(text)
    check_one_line(error)
