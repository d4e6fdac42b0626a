"""R8, last paragraph: `kasino` and `draw`, which are data like every other rule set; by hand."""

import pytest

from casino_env import Position
from casino_env.rules import HAND_SIZE, PLAYER_COUNTS, TURNS
from tests.helpers import fields, legal, study
from tests.test_rules_points import ALL_CARDS, finished

pytestmark = pytest.mark.jitless


@pytest.mark.parametrize(
    ("hand", "loose", "moves"),
    [
        ("3CTD", "3DTHKH", ["3C", "3C*3D", "TD", "TD*3DKH"]),  # TD is 16, and does not take the ten
        ("2S4C", "2HQDAH", ["2S", "2S*2HQDAH", "4C"]),  # 2S is 15
        ("5DAC", "4SKHAD", ["5D", "5D*4SAD", "AC", "AC*KHAD"]),  # an ace is 14, and takes no ace alone
        ("2HQC", "2STD", ["2H", "2H*2S", "QC", "QC*2STD"]),  # on the table 2 and 10
        ("4H9C", "4D5S", ["4H", "4H*4D", "9C", "9C*4D5S"]),  # free captures, no builds
    ],
)
def test_kasino_values(hand: str, loose: str, moves: list[str]) -> None:
    assert legal(study(f"kasino {hand}/JCJD {loose}")) == moves


def test_kasino_forced_captures_leave_cards_of_another_worth() -> None:
    position = study("kasino;capture=match_forced 2C2STDAD/JCJDJHJS 2DTHKHAC")
    assert legal(position) == ["2C*2D", "2S", "2S*2DKH", "AD", "AD*KHAC", "TD", "TD*2DKHAC"]


def test_kasino_points_and_match() -> None:
    assert finished(f"{ALL_CARDS}/-", "kasino", sweeps="5/1").deal_points()[0] == (1, 2, 2, 1, 4, 4)
    assert finished("AC/-", "kasino", score="14/15").settle() == ((16, 15), 0)  # most cards, an ace
    assert finished("AS/-", "kasino", score="12/15").settle() == ((16, 15), 0)  # and most spades


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_draw(players: int) -> None:
    """After each play a card is drawn; once the stock is exhausted, hands are played out."""
    position = Position.deal(seed=4, rules="royal;draw=yes", players=players)
    for _ in range(TURNS):
        move, seat, before = position.legal_moves()[0], position.turn, fields(position)
        position = position.play(move)
        hand = fields(position).hands.split("/")[seat]
        if before.stock == "-":
            assert len(hand.strip("-")) == len(before.hands.split("/")[seat]) - 2
        else:
            assert len(hand) == 2 * HAND_SIZE and before.stock[:2] in hand
            assert fields(position).stock == (before.stock[2:] or "-")
        assert str(Position.parse(str(position))) == str(position)
    assert position.is_over


def test_draw_keeps_builds_over_the_stock() -> None:
    """No hands are dealt, so that a build may stand as long as its owner likes to play others' cards."""
    position = Position.deal(seed=4, rules="royal;draw=yes")
    stocks = set()
    while not position.is_over:
        moves = position.legal_moves()
        builds = [move for move in moves if move.kind in ("build", "raise")]
        position = position.play((builds or moves)[0])
        if fields(position).builds != "-":
            stocks.add(fields(position).stock)
    assert len(stocks) > HAND_SIZE
