"""Pictures as lists of plain shapes, and a playing card as such a list. `raster` and `svg` paint them.

Coordinates are pixels from the upper left corner; colours are `#rrggbb`.
"""

from collections.abc import Iterator
from math import cos, pi, sin
from typing import NamedTuple

from casino_env.cards import RANKS, SUIT_COUNT, SUITS

Point = tuple[float, float]


class Box(NamedTuple):
    """A rectangle with rounded corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    edge: str
    edge_width: float = 1.0


class Sign(NamedTuple):
    """The sign of a suit (`C`, `D`, `H` or `S`) in a square; (x, y) is its upper left corner."""

    suit: str
    x: float
    y: float
    size: float
    fill: str


class Label(NamedTuple):
    """A line of text; (x, y) is the left end or the middle (`anchor`) of its baseline."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: str = "left"
    bold: bool = False


Shape = Box | Sign | Label


class Picture(NamedTuple):
    """Shapes in the order painted, over a ground of one colour."""

    width: int
    height: int
    ground: str
    shapes: list[Shape]


CARD_WIDTH, CARD_HEIGHT = 54.0, 76.0
CHIP_WIDTH, CHIP_HEIGHT = 31.0, 20.0
FAN_STEP = 31.0  # a covered card still shows its rank and suit

PAPER, PAPER_EDGE, BACK, MARK = "#fffdf7", "#8a8678", "#31508f", "#f2b705"
SUIT_COLOURS = {"C": "#20242c", "D": "#c62828", "H": "#c62828", "S": "#20242c"}


def draw_card(card: int, x: float, y: float, scale: float = 1.0, marked: bool = False) -> Iterator[Shape]:
    """A card face up with its upper left corner at (x, y); `marked` gives it a coloured edge."""
    rank, suit, colour = _face(card)
    edge, edge_width = (MARK, 4 * scale) if marked else (PAPER_EDGE, 1.0)
    yield Box(x, y, CARD_WIDTH * scale, CARD_HEIGHT * scale, 6 * scale, PAPER, edge, edge_width)
    size = (21 if len(rank) == 1 else 18) * scale
    yield Label(x + 15 * scale, y + 24 * scale, rank, size, colour, "middle", bold=True)
    yield Sign(suit, x + 7 * scale, y + 29 * scale, 16 * scale, colour)
    yield Sign(suit, x + 22 * scale, y + 42 * scale, 27 * scale, colour)


def draw_chip(card: int, x: float, y: float) -> Iterator[Shape]:
    """A card as a small sign, for lists of them."""
    rank, suit, colour = _face(card)
    yield Box(x, y, CHIP_WIDTH, CHIP_HEIGHT, 4, PAPER, PAPER_EDGE)
    yield Label(x + 9, y + 15, rank, 13 if len(rank) == 1 else 11, colour, "middle", bold=True)
    yield Sign(suit, x + 17, y + 4, 12, colour)


def draw_back(x: float, y: float) -> Iterator[Shape]:
    """A card face down."""
    yield Box(x, y, CARD_WIDTH, CARD_HEIGHT, 6, BACK, PAPER)


def _face(card: int) -> tuple[str, str, str]:
    """Rank as printed, suit and colour of a card."""
    suit = SUITS[card % SUIT_COUNT]
    return RANKS[card // SUIT_COUNT].replace("T", "10"), suit, SUIT_COLOURS[suit]


def _circle(x: float, y: float, radius: float) -> tuple[Point, ...]:
    turns = [2 * pi * step / 24 for step in range(24)]
    return tuple((x + radius * cos(turn), y + radius * sin(turn)) for turn in turns)


def _heart() -> tuple[Point, ...]:
    """The curve x = 16 sin³t, y = 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t, fitted into the unit square."""
    turns = [2 * pi * step / 40 for step in range(40)]
    return tuple(
        (
            0.5 + 0.48 * sin(t) ** 3,
            0.45 - 0.03 * (13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t)),
        )
        for t in turns
    )


_STEM = ((0.5, 0.5), (0.66, 0.98), (0.34, 0.98))
SIGN_POLYGONS: dict[str, tuple[tuple[Point, ...], ...]] = {  # in the unit square
    "C": (_circle(0.5, 0.26, 0.23), _circle(0.25, 0.61, 0.23), _circle(0.75, 0.61, 0.23), _STEM),
    "D": (((0.5, 0.0), (0.88, 0.5), (0.5, 1.0), (0.12, 0.5)),),
    "H": (_heart(),),
    "S": (tuple((x, 0.87 - 0.9 * y) for x, y in _heart()), _STEM),
}
