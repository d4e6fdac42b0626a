"""Tables as SVG: well-formed, complete, and nothing hidden is in them."""

from itertools import chain
from xml.etree import ElementTree

import pytest

from casino_env import CasinoError, Position
from casino_env.drawing import SUIT_COLOURS, Label, Picture
from casino_env.rules import PLAYER_COUNTS
from casino_env.svg import CLASS, dark_style, to_inner_svg
from casino_env.table_drawing import DARK, FELT
from tests.helpers import fields, study
from tests.helpers_cards import split_cards

SVG = "{http://www.w3.org/2000/svg}"


def cards_in(svg: str) -> list[str]:
    """Every card that is shown, chips included: a rank before a sign."""
    cards, rank = [], ""
    for element in ElementTree.fromstring(svg):
        if element.tag == f"{SVG}text":
            rank = (element.text or "").replace("10", "T")
        elif element.tag == f"{SVG}use" and rank:
            suit = element.attrib["href"][-1]
            assert element.attrib["fill"] == SUIT_COLOURS[suit]
            cards.append(rank + suit)
            rank = ""
    return cards


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_only_the_hand_of_the_seat_to_act_is_shown(players: int) -> None:
    position = Position.deal(seed=players, players=players)
    table = fields(position)
    hands = [split_cards(hand) for hand in table.hands.split("/")]
    loose = split_cards(table.loose)
    shown = position._repr_svg_()
    assert cards_in(shown) == [*hands[position.turn], *loose]
    assert cards_in(position.svg(seats=())) == loose
    assert sorted(cards_in(position.svg(seats=range(players)))) == sorted([*chain(*hands), *loose])
    assert shown.count(f">player_{position.turn} to move<") == 1
    assert str(position) not in shown  # in no title either


def test_swapping_hidden_cards_changes_nothing() -> None:
    one, other = (study(f"royal 2D9S/{hand} 3S4D5C6H9H", dealer="1") for hand in ("AHAS", "KHKS"))
    assert one.turn == 0
    assert one.svg() == other.svg()
    assert one.svg([1]) != other.svg([1])


def test_dark_pages_have_colours_of_their_own() -> None:
    svg = Position.deal(seed=1).svg()
    assert f'.{CLASS} [fill="{FELT}"]{{fill:{DARK[FELT]}}}' in svg
    assert dark_style({}) == "@media (prefers-color-scheme:dark){}"


def test_texts_are_escaped() -> None:
    svg = to_inner_svg(Picture(10, 10, "#000000", [Label(0, 0, "<&>", 5, "#ffffff")]))
    (text,) = ElementTree.fromstring(svg).iter(f"{SVG}text")
    assert text.text == "<&>"


@pytest.mark.parametrize("seats", [[2], [-1], ["0"], [True]])
def test_seats_that_are_none(seats: list) -> None:
    with pytest.raises(CasinoError, match=r"seats=.* is not a seat; valid: 0 to 1"):
        study("royal 2C/3C 4C").svg(seats)
