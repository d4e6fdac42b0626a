"""The drawn table: every card and count of a position is on it, in its place, and nothing is covered."""

import random
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, takewhile

import numpy as np
import pytest
from PIL import ImageFont

from casino_env import Position, Rules, royal_casino_v0
from casino_env.drawing import (
    BACK,
    CARD_HEIGHT,
    CARD_WIDTH,
    CHIP_HEIGHT,
    CHIP_WIDTH,
    MARK,
    PAPER,
    SUIT_COLOURS,
    Box,
    Label,
    Picture,
    Shape,
    Sign,
)
from casino_env.rules import PLAYER_COUNTS
from casino_env.table_drawing import FELT, PANEL, Layout, draw_table, tall_layout, wide_layout
from tests.helpers import DECK, fields, random_line, study
from tests.helpers_cards import in_order, split_cards
from tests.helpers_env import LOOSE, SETTINGS, TOKENS, random_token, some_positions
from tests.test_crowds import CROWDS, crowd

CHIPS = dict.fromkeys(("royal", "plain", "kasino"), ("2S", "TD", "AC", "AD", "AH", "AS"))
LayoutOf = Callable[[int], Layout]
CHIPS["spade"] = (*CHIPS["royal"], "JS")


def is_card(shape: Shape) -> bool:
    """Whether it is the box of a card face up, at any scale."""
    proportion = CARD_WIDTH / CARD_HEIGHT
    return (
        isinstance(shape, Box) and shape.fill == PAPER and abs(shape.width / shape.height - proportion) < 0.01
    )


def is_chip(shape: Shape) -> bool:
    """Whether it is the box of a chip."""
    return isinstance(shape, Box) and (shape.width, shape.height) == (CHIP_WIDTH, CHIP_HEIGHT)


def outline(label: Label) -> Box:
    """The box that a text fills."""
    width = ImageFont.load_default(label.size).getlength(label.text)
    left = label.x - {"left": 0, "middle": width / 2}[label.anchor]
    height = 0.72 * label.size  # of capitals and figures
    return Box(left, label.y - height, width, height, 0, "", "")


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share more than an edge."""
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def inside(one: Box, other: Box) -> bool:
    """Whether one box lies within the other."""
    return (
        other.x <= one.x
        and other.y <= one.y
        and one.x + one.width <= other.x + other.width
        and one.y + one.height <= other.y + other.height
    )


def check_layout(picture: Picture) -> None:
    """All is in the picture; panels, builds and loose cards lie apart; text is neither covered nor cut."""
    frame = Box(0, 0, picture.width, picture.height, 0, "", "")
    boxes = [shape for shape in picture.shapes if isinstance(shape, Box)]
    assert all(inside(box, frame) for box in boxes)
    outer = [box for box in boxes if not any(inside(box, other) for other in boxes if other is not box)]
    assert not any(overlap(one, other) for one, other in combinations(outer, 2))
    texts: list[Box] = []
    ground = [frame]
    for shape in picture.shapes:
        if isinstance(shape, Label):
            text = outline(shape)
            upmost = next(box for box in reversed(ground) if overlap(box, text))
            assert inside(text, upmost), shape
            texts.append(text)
        elif isinstance(shape, Box):
            assert not any(overlap(shape, text) for text in texts)
            ground.append(shape)


def read_cards(picture: Picture) -> list[tuple[Box, str]]:
    """Every card face up and every chip of a captured card: its box, and its name as its signs say."""
    read = []
    for i, box in enumerate(picture.shapes):
        if not is_card(box) and not is_chip(box):
            continue
        label, signs = picture.shapes[i + 1], list(takewhile(is_sign, picture.shapes[i + 2 :]))
        assert len(signs) == (1 if is_chip(box) else 2)
        ((suit, colour),) = {(sign.suit, sign.fill) for sign in signs}
        assert colour == SUIT_COLOURS[suit]
        read.append((box, label.text.replace("10", "T") + suit))
    return read


def is_sign(shape: Shape) -> bool:
    """Whether it is the sign of a suit."""
    return isinstance(shape, Sign)


def in_panels(picture: Picture, players: int) -> list[Box]:
    """The panels in order of seats: the order in which they are drawn."""
    panels = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.fill == PANEL]
    assert len(panels) == players
    return panels


def table_of(position: Position, spelled: Sequence[int] = (), layout: LayoutOf = wide_layout) -> Picture:
    """The table with all hands open."""
    return draw_table(position.rules, position.state, spelled, layout=layout)


def check_cards(position: Position) -> None:
    """Hands, builds, loose cards and chips of captured cards are in their places, each with its signs."""
    check_picture(position, table_of(position))
    if max(map(len, fields(position).hands.split("/"))) <= 14:
        check_picture(position, table_of(position, layout=tall_layout))


def check_picture(position: Position, picture: Picture) -> None:
    table = fields(position)
    check_layout(picture)
    cards = read_cards(picture)
    panels = in_panels(picture, position.players)
    for panel, hand, captured in zip(panels, table.hands.split("/"), table.captured.split("/"), strict=True):
        held = [name for box, name in cards if is_card(box) and inside(box, panel)]
        assert held == split_cards(hand.replace("-", ""))
        chips = [name for box, name in cards if is_chip(box) and inside(box, panel)]
        special = CHIPS[table.rules.split(";")[0]]
        assert chips == [name for name in split_cards(captured.replace("-", "")) if name in special]
        check_panel(picture, panel)
    middle = [name for box, name in cards if not any(inside(box, panel) for panel in panels)]
    builds = [build.split("=")[1].split("@")[0] for build in table.builds.split(",") if build != "-"]
    assert middle == split_cards("".join([*builds, table.loose.replace("-", "")]))


def check_panel(picture: Picture, panel: Box) -> None:
    """Hand, captured pile and chips lie apart."""
    within = [shape for shape in picture.shapes if isinstance(shape, Box) and inside(shape, panel)]
    hand, pile, chips = (
        [box for box in within if test(box)] for test in (is_card, lambda box: box.fill == BACK, is_chip)
    )
    for some, others in combinations((hand, pile, chips), 2):
        assert not any(overlap(one, other) for one in some for other in others)


@pytest.mark.parametrize(("rules", "players"), [*SETTINGS, ("kasino", 3), ("spade;draw=yes", 2)])
def test_every_card_of_a_game_is_drawn_in_its_place(rules: str, players: int) -> None:
    for position in some_positions(rules, players, "builds", seed=players):
        check_cards(position)


ODD = (
    "royal 3C/4C/5C/6C 7C - -/-/-/2STDACADAHAS",  # every card with points in one pile
    "royal 3C/4C/5C 7C - -/-/2STDACADAHAS",
    "spade 3C/4C 7C - -/2STDJSACADAHAS",
    "royal 2C2D2H2S3C3D/4C4D4H4S5C5D KC - 7C7D7H7S/-",  # hands of a study
    f"royal {''.join(DECK[:24])}/{''.join(DECK[24:48])} AC",
)


@pytest.mark.parametrize("text", ODD)
def test_odd_positions_are_drawn_in_order(text: str) -> None:
    check_cards(study(text))


def test_long_lines_are_cut() -> None:
    rules = str(Rules.parse(f"{LOOSE};sweeps=plain;near21=pagat;target=9999;draw=yes"))
    picture = table_of(study(f"{rules} 2C/3C/4C/5C 7C", score="1000000000/1000000000"))
    check_layout(picture)
    assert any(isinstance(shape, Label) and shape.text.endswith("…") for shape in picture.shapes)


def test_a_long_build_is_drawn_smaller() -> None:
    """All cards from 2 to 10, which pair up to 12: wider than the picture at full size."""
    cards = in_order([card for card in DECK if card[0] in "23456789T"])
    position = study(f"royal QSKS/QCKC - 12*={cards}@0")
    check_cards(position)


@pytest.mark.parametrize("name", CROWDS)
def test_a_crowded_table_fits(name: str) -> None:
    check_cards(crowd(name))


def test_many_builds_are_drawn_smaller() -> None:
    """Nine builds, and loose cards in several rows, on a table for which there is no room at full size."""
    builds = "3=2CAC@0,5=2D3D@0,6=2H4H@0,7=3C4C@0,8=4D4S@0,9*=3H6C9C9D@1,11=5C6D@1,12=5D7D@1,13=6S7S@1"
    loose = "8C8D8H8S9H9STCTDTHTSQCQDQHQSKCKDKHKSADAHAS"
    position = study(f"royal 5H5S/JCJD {loose} {builds}")
    check_cards(position)
    picture = table_of(position)
    assert min(box.width for box in picture.shapes if is_card(box)) < CARD_WIDTH


def test_what_a_reader_looks_for_is_written() -> None:
    """Whose turn, values and owners of builds, captured counts, the match, the unfinished move."""
    position = study(
        "royal 2D9S/AHAS/7C7D 3S4DKH 5=2C3C@1,9*=4H5H9H@2 TCTDKS/-/8SAD 6C6D6H6S8C8D8HJCJDJHJSQC",
        turn="0",
        last_capture="2",
        sweeps="0/0/1",
        score="3/0/14",
        dealer="2",
    )
    picture = table_of(position, [TOKENS["CAPTURE 9S"], TOKENS["PILE 9"]])
    texts = [shape.text for shape in picture.shapes if isinstance(shape, Label)]
    for text in (
        "stock 12 · score 3 : 0 : 14 · target 21 · royal",
        "player_0 to move: CAPTURE 9S, PILE 9",
        "build 5",
        "multiple build 9",
        "captured 3",
        "captured 0",
        "captured 2",
        "spades 1",
        "sweeps 1",
        "dealer, captured last",
        "to move",
    ):
        assert text in texts
    owners = [
        after.text
        for label, after in pairwise(picture.shapes)
        if label[2:3] in (("build 5",), ("multiple build 9",))
    ]
    assert owners == ["player_1", "player_2"]
    marked = [box for box in picture.shapes if isinstance(box, Box) and box.edge == MARK]
    assert len(marked) == 3  # the panel of the seat to act, the card being played, the build taken


def test_points_at_the_end() -> None:
    *_, position = (after for after, *_ in random_line(Position.deal(seed=1), "uniform", random.Random(1)))
    assert position.is_over
    texts = [shape.text for shape in table_of(position).shapes if isinstance(shape, Label)]
    assert "The deal is over." in texts
    for side in position.deal_points():
        assert any(text.endswith(f"points {side.total}") for text in texts)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_rgb_array(players: int) -> None:
    """Frames of one shape, each another as long as play goes on; red and black cards on a green ground."""
    env = royal_casino_v0.env(players=players, render_mode="rgb_array", auto_complete=False)
    env.reset(seed=players)
    choose, frames = random_token(players), []
    for _ in range(8):
        frames.append(env.render())
        env.step(choose(env.last()[0]))
    assert {(frame.shape, frame.dtype) for frame in frames} == {((660, 1080, 3), np.dtype(np.uint8))}
    assert all((one != other).any() for one, other in pairwise(frames))
    colours = {tuple(pixel) for pixel in frames[0].reshape(-1, 3)[::3].tolist()}
    assert {tuple(bytes.fromhex(colour[1:])) for colour in (FELT, PAPER, *SUIT_COLOURS.values())} <= colours
