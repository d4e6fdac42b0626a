"""A state drawn as a table seen from above: hands, builds, loose cards, what each seat has captured.

Owns the layouts. All cards are shown, as in the text of a position, but those of hands said to be hidden.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from casino_env.bits import popcount
from casino_env.cards import N_CARDS, SPADES, iter_cards
from casino_env.drawing import (
    BACK,
    CARD_HEIGHT,
    CARD_WIDTH,
    CHIP_WIDTH,
    FAN_STEP,
    MARK,
    PAPER,
    Box,
    Label,
    Picture,
    Shape,
    draw_back,
    draw_card,
    draw_chip,
)
from casino_env.engine import is_over
from casino_env.rules import LOWEST_VALUE, Rules, RuleTable, side_count
from casino_env.scoring import N_ITEMS, deal_points, is_special
from casino_env.state import VALUES, State, build_owner
from casino_env.tokens import PILE, VALUE, token_names

FELT, PANEL, BUILD_GROUND = "#1f5c43", "#174834", "#123a2a"
INK, FAINT = "#ffffff", "#c9dcd2"
SEAT_COLOURS = ("#5aa9e6", "#f08a4b", "#c58ae6", "#63d2a8")
DARK = {FELT: "#16362a", PANEL: "#0f281e", BUILD_GROUND: "#0a1c15", PAPER: "#e4dfd1", INK: "#e8efeb"}

EDGE, GAP = 10.0, 8.0
HAND_WIDTH, CAPTURED_WIDTH = 4 * CARD_WIDTH + 3 * GAP, 280.0  # of a full hand; of what is beside it
SEAT_HEIGHT = 122.0
BUILD_WIDTH, BUILD_HEIGHT = 150.0, CARD_HEIGHT + 46  # at least so wide, for its name
STATUS_HEIGHT, LETTER = 52.0, 9.2  # of the lines over the table; the width of a letter at most, in the mean


class _Place(NamedTuple):
    """Where a seat is drawn."""

    x: float
    y: float
    width: float


class _Item(NamedTuple):
    """Something that lies on the table: its size, and how it is drawn at a place and scale."""

    width: float
    height: float
    draw: Callable[[float, float, float], Iterator[Shape]]


class Layout(NamedTuple):
    """Where the seats are drawn, and the table between them."""

    width: int
    height: int
    places: tuple[_Place, ...]
    top: float  # of the lines over the table
    bottom: float


def wide_layout(players: int) -> Layout:
    """Two rows of seats, clockwise from below in order of play; 1080 by 660."""
    width, height = 1080, 660
    top, bottom = EDGE, height - EDGE - SEAT_HEIGHT
    full, half = width - 2 * EDGE, (width - 3 * EDGE) / 2
    right = 2 * EDGE + half
    above = (_Place(EDGE, top, half), _Place(right, top, half))
    places = {
        2: (_Place(EDGE, bottom, full), _Place(EDGE, top, full)),
        3: (_Place(EDGE, bottom, full), *above),
        4: (_Place(EDGE, bottom, half), *above, _Place(right, bottom, half)),
    }
    return Layout(width, height, places[players], top + SEAT_HEIGHT + EDGE, bottom - EDGE)


def tall_layout(players: int) -> Layout:
    """One seat over another, for phones; 560 wide. Hands above seven cards, of studies, cover their signs."""
    width, step, table = 560, SEAT_HEIGHT + EDGE, 390.0
    above = min(players - 1, 2)  # seats that sit beyond the table: the last of four does not
    top = EDGE + above * step
    rows = [EDGE + i * step for i in range(above)] + [top + table + i * step for i in range(players - above)]
    order = {2: (1, 0), 3: (2, 0, 1), 4: (3, 0, 1, 2)}[players]  # the row of each seat
    height = round(rows[-1] + step)
    places = tuple(_Place(EDGE, rows[row], width - 2 * EDGE) for row in order)
    return Layout(width, height, places, top, top + table - EDGE)


def draw_table(
    rules: Rules,
    state: State,
    spelled: Sequence[int] = (),
    hidden: Collection[int] = (),
    layout: Callable[[int], Layout] = wide_layout,
) -> Picture:
    """The table of a batch of one game. Hands of `hidden` seats lie face down; what is named by the tokens of
    an unfinished move is marked.
    """
    cards = {token % N_CARDS for token in spelled if token < VALUE}
    piles = {token for token in spelled if token >= PILE}
    room = layout(state.hands.shape[1])
    shapes = list(_status(rules, state, spelled, room))
    for seat, place in enumerate(room.places):
        shapes += _seat(rules.table, state, seat, place)
        shapes += _hand(state, seat, place, seat in hidden, cards)
    standing = [value for value in range(VALUES) if state.build_cards[0, value]]
    builds = [_build(state, value, PILE + value - LOWEST_VALUE in piles) for value in standing]
    loose = [_loose(card, card in cards) for card in iter_cards(state.loose[0])]
    shapes += _lay_out([builds, loose], room)
    return Picture(room.width, room.height, FELT, shapes)


def _status(rules: Rules, state: State, spelled: Sequence[int], room: Layout) -> Iterator[Shape]:
    """Two lines over the table: the state of the match, and what is being done."""
    stock = N_CARDS - int(state.dealt[0])
    score = " : ".join(map(str, state.score[0]))
    text = f"stock {stock} · score {score} · target {rules.table.target} · {rules}"
    if is_over(state, 0):
        doing = "The deal is over."
    else:
        doing = f"player_{state.turn[0]} to move" + (f": {token_names(spelled)}" if spelled else "")
    most = int((room.width - 2 * EDGE) / LETTER)
    yield Label(EDGE + GAP, room.top + 16, _shorten(text, most), 15, FAINT)
    yield Label(EDGE + GAP, room.top + 40, _shorten(doing, most), 17, MARK, bold=True)


def _shorten(text: str, most: int) -> str:
    """The text, or its beginning if it would not fit on a line."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _seat(rules: RuleTable, state: State, seat: int, place: _Place) -> Iterator[Shape]:
    """A seat's panel without its hand: name, captured pile with its counts."""
    x, y, width = place
    over = bool(is_over(state, 0))
    acts = not over and seat == state.turn[0]
    yield Box(x, y, width, SEAT_HEIGHT, 10, PANEL, MARK if acts else PANEL, 4)
    yield Box(x + GAP, y + 10, 10, 16, 3, SEAT_COLOURS[seat], SEAT_COLOURS[seat])
    notes = ["dealer"] if seat == state.dealer[0] else []
    notes += ["to move"] if acts else []
    notes += ["captured last"] if seat == state.last_capture[0] else []
    notes += [f"points {_points(rules, state, seat)}"] if over else []
    yield Label(x + 26, y + 24, f"player_{seat}", 17, INK, bold=True)
    yield Label(x + 112, y + 24, ", ".join(notes), 15, MARK if acts or over else FAINT)
    pile = x + _hand_width(state, seat, width) + 3 * GAP
    yield from _captured(rules, state, seat, _Place(pile, y + 36, x + width - GAP - pile))


def _points(rules: RuleTable, state: State, seat: int) -> int:
    """Points of the seat's side in the deal."""
    points = np.zeros((state.score.shape[1], N_ITEMS), np.int64)
    deal_points(state, 0, rules, points)
    return int(points[seat % side_count(state.hands.shape[1])].sum())


def _hand_width(state: State, seat: int, width: float) -> float:
    count = popcount(int(state.hands[0, seat]))
    return max(HAND_WIDTH, min(width - CAPTURED_WIDTH, CARD_WIDTH + FAN_STEP * (count - 1)))


def _hand(state: State, seat: int, place: _Place, hidden: bool, marked: set[int]) -> Iterator[Shape]:
    x, y, width = place
    hand = list(iter_cards(state.hands[0, seat]))
    step = _step(len(hand), CARD_WIDTH, _hand_width(state, seat, width))
    for i, card in enumerate(hand):
        left, top = x + GAP + i * step, y + 36
        yield from draw_back(left, top) if hidden else draw_card(card, left, top, marked=card in marked)


def _step(count: int, width: float, room: float) -> float:
    """From one thing of a row to the next: apart if there is room, else one over another."""
    return min(width + GAP, (room - width) / max(1, count - 1))


def _captured(rules: RuleTable, state: State, seat: int, place: _Place) -> Iterator[Shape]:
    """The captured pile face down with its size, what of it counts, and each card with points of its own."""
    x, y, width = place
    cards = int(state.captured[0, seat])
    size = popcount(cards)
    for i in range(min(3, size)):
        yield Box(x + 3 * i, y - 3 * i, CARD_WIDTH, CARD_HEIGHT, 6, BACK, PAPER)
    if size:
        yield Label(x + 6 + CARD_WIDTH / 2, y + 40, str(size), 24, INK, "middle", bold=True)
    left = CARD_WIDTH + 3 * GAP
    sweeps = f"sweeps {state.sweeps[0, seat]}"
    for i, text in enumerate((f"captured {size}", f"spades {popcount(cards & SPADES)}", sweeps)):
        yield Label(x + left, y + 10 + 19 * i, text, 15, INK)
    named = [card for card in iter_cards(cards) if is_special(rules, card)]
    step = _step(len(named), CHIP_WIDTH, width - left)
    for i, card in enumerate(named):
        yield from draw_chip(card, x + left + step * i, y + 57)


def _build(state: State, value: int, marked: bool) -> _Item:
    """A build as a fan under its value and owner, in the owner's colour."""
    cards = list(iter_cards(state.build_cards[0, value]))
    owner = int(build_owner(state.owned, 0, value))
    kind = "multiple build" if state.multiple[0] >> value & 1 else "build"
    width = max(2 * GAP + CARD_WIDTH + FAN_STEP * (len(cards) - 1), BUILD_WIDTH)
    edge = MARK if marked else SEAT_COLOURS[owner]

    def draw(x: float, y: float, scale: float) -> Iterator[Shape]:
        left = x + GAP * scale
        yield Box(x, y, width * scale, BUILD_HEIGHT * scale, 8 * scale, BUILD_GROUND, edge, 3 * scale)
        yield Label(left, y + 18 * scale, f"{kind} {value}", 15 * scale, INK, bold=True)
        yield Label(left, y + 36 * scale, f"player_{owner}", 14 * scale, SEAT_COLOURS[owner], bold=True)
        for i, card in enumerate(cards):
            yield from draw_card(card, left + i * FAN_STEP * scale, y + 41 * scale, scale)

    return _Item(width, BUILD_HEIGHT, draw)


def _loose(card: int, marked: bool) -> _Item:
    def draw(x: float, y: float, scale: float) -> Iterator[Shape]:
        yield from draw_card(card, x, y, scale, marked)

    return _Item(CARD_WIDTH, CARD_HEIGHT, draw)


def _lay_out(kinds: list[list[_Item]], room: Layout) -> Iterator[Shape]:
    """Rows of items in the middle of the table, each kind on rows of its own, as large as fits."""
    top, full = room.top + STATUS_HEIGHT, room.width - 2 * EDGE
    scale = 1.0
    while True:
        rows = [row for items in kinds for row in _rows(items, full / scale)]
        height = scale * sum(_height(row) + GAP for row in rows)
        width = scale * max(map(_width, rows), default=0)
        if height <= room.bottom - top and width <= full:
            break
        scale *= 0.95
    y = top + (room.bottom - top - height) / 2
    for row in rows:
        x = (room.width - scale * _width(row)) / 2
        for item in row:
            yield from item.draw(x, y, scale)
            x += scale * (item.width + GAP)
        y += scale * (_height(row) + GAP)


def _rows(items: list[_Item], width: float) -> list[list[_Item]]:
    """The items in order, as many in a row as fit."""
    rows: list[list[_Item]] = []
    for item in items:
        if rows and _width([*rows[-1], item]) <= width:
            rows[-1].append(item)
        else:
            rows.append([item])
    return rows


def _width(row: list[_Item]) -> float:
    return sum(item.width for item in row) + GAP * (len(row) - 1)


def _height(row: list[_Item]) -> float:
    return max(item.height for item in row)
