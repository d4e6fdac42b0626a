"""The drawn table: every card and count of a position is on it, in its place, and nothing is covered."""

import random
from itertools import combinations, pairwise

import numpy as np
import pytest
from PIL import ImageFont

from casino_env import Position, royal_casino_v0
from casino_env.drawing import CARD_HEIGHT, CARD_WIDTH, MARK, PAPER, SUIT_COLOURS, Box, Label, Picture, Shape
from casino_env.rules import PLAYER_COUNTS
from casino_env.table_drawing import FELT, draw_table
from tests.helpers import fields, random_line, study
from tests.helpers_env import SETTINGS, TOKENS, random_token, some_positions
from tests.test_crowds import CROWDS, crowd


def is_card(shape: Shape) -> bool:
    """Whether it is the box of a card face up, at any scale."""
    proportion = CARD_WIDTH / CARD_HEIGHT
    return (
        isinstance(shape, Box) and shape.fill == PAPER and abs(shape.width / shape.height - proportion) < 0.01
    )


def outline(label: Label) -> Box:
    """The box that a text fills."""
    width = ImageFont.load_default(label.size).getlength(label.text)
    left = label.x - {"left": 0, "middle": width / 2, "right": width}[label.anchor]
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


def printed_ranks(position: Position) -> list[str]:
    """The ranks of all cards in hands, builds and loose, as a card prints them."""
    table = fields(position)
    builds = [build.split("=")[1].split("@")[0] for build in table.builds.split(",") if build != "-"]
    names = "".join([*table.hands.split("/"), table.loose, *builds]).replace("-", "")
    return sorted(names[::2].replace("T", "X"))


def drawn_ranks(picture: Picture) -> list[str]:
    """The ranks printed on the cards of a picture: the label that follows a card's box."""
    return sorted(
        label.text.replace("10", "X")
        for box, label in pairwise(picture.shapes)
        if isinstance(label, Label) and is_card(box)
    )


@pytest.mark.parametrize(("rules", "players"), SETTINGS)
def test_every_card_of_a_game_is_drawn_and_nothing_collides(rules: str, players: int) -> None:
    for position in some_positions(rules, players, "builds", seed=players):
        picture = draw_table(position)
        check_layout(picture)
        assert drawn_ranks(picture) == printed_ranks(position)
        assert (picture.width, picture.height) == (1080, 660)


@pytest.mark.parametrize("name", CROWDS)
def test_a_crowded_table_fits(name: str) -> None:
    picture = draw_table(crowd(name))
    check_layout(picture)
    assert drawn_ranks(picture) == printed_ranks(crowd(name))


def test_many_builds_are_drawn_smaller() -> None:
    """Nine builds, and loose cards in several rows, on a table for which there is no room at full size."""
    builds = "3=2CAC@0,5=2D3D@0,6=2H4H@0,7=3C4C@0,8=4D4S@0,9*=3H6C9C9D@1,11=5C6D@1,12=5D7D@1,13=6S7S@1"
    loose = "8C8D8H8S9H9STCTDTHTSQCQDQHQSKCKDKHKSADAHAS"
    position = study(f"royal 5H5S/JCJD {loose} {builds}")
    picture = draw_table(position)
    check_layout(picture)
    assert drawn_ranks(picture) == printed_ranks(position)
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
    picture = draw_table(position, [TOKENS["CAPTURE 9S"], TOKENS["PILE 9"]])
    texts = [shape.text for shape in picture.shapes if isinstance(shape, Label)]
    for text in (
        "royal   stock 12   score 3 : 0 : 14   target 21",
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
    texts = [shape.text for shape in draw_table(position).shapes if isinstance(shape, Label)]
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
