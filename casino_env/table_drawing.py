"""A position drawn as a table seen from above: hands, builds, loose cards, what each seat has captured.

Owns the layout. All cards are shown, hidden ones too, as in the text of a position.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from casino_env.bits import popcount
from casino_env.cards import N_CARDS, SPADES, iter_cards
from casino_env.drawing import (
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
    draw_card,
    draw_chip,
)
from casino_env.position import Position
from casino_env.rules import LOWEST_VALUE, RuleTable, side_count
from casino_env.scoring import card_points
from casino_env.state import VALUES, State, build_owner
from casino_env.tokens import PILE, VALUE, token_names

WIDTH, HEIGHT = 1080, 660
FELT, PANEL, BUILD_GROUND, BACK = "#1f5c43", "#174834", "#123a2a", "#31508f"
INK, FAINT = "#ffffff", "#c9dcd2"
SEAT_COLOURS = ("#5aa9e6", "#f08a4b", "#c58ae6", "#63d2a8")

EDGE, GAP = 10.0, 8.0
HAND_WIDTH, CAPTURED_WIDTH = 4 * CARD_WIDTH + 3 * GAP, 280.0  # of a full hand; of what is beside it
SEAT_HEIGHT = 122.0
BUILD_WIDTH, BUILD_HEIGHT = 150.0, CARD_HEIGHT + 46  # at least so wide, for its name
TABLE_TOP, TABLE_BOTTOM = 2 * EDGE + SEAT_HEIGHT + 62, HEIGHT - 2 * EDGE - SEAT_HEIGHT
STATUS_LENGTH = 115  # letters of a line over the table


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


_TOP, _BOTTOM = EDGE, HEIGHT - EDGE - SEAT_HEIGHT
_FULL, _HALF = WIDTH - 2 * EDGE, (WIDTH - 3 * EDGE) / 2
_RIGHT = 2 * EDGE + _HALF
_PLACES = {  # clockwise from below, in order of play
    2: (_Place(EDGE, _BOTTOM, _FULL), _Place(EDGE, _TOP, _FULL)),
    3: (_Place(EDGE, _BOTTOM, _FULL), _Place(EDGE, _TOP, _HALF), _Place(_RIGHT, _TOP, _HALF)),
    4: (
        _Place(EDGE, _BOTTOM, _HALF),
        _Place(EDGE, _TOP, _HALF),
        _Place(_RIGHT, _TOP, _HALF),
        _Place(_RIGHT, _BOTTOM, _HALF),
    ),
}


def draw_table(position: Position, spelled: Sequence[int] = ()) -> Picture:
    """The table with the tokens of an unfinished move, whose cards and builds are marked."""
    cards = {token % N_CARDS for token in spelled if token < VALUE}
    piles = {token for token in spelled if token >= PILE}
    state = position.state
    shapes = list(_status(position, state, spelled))
    for seat, place in enumerate(_PLACES[position.players]):
        shapes += _seat(position, state, seat, place, cards)
    standing = [value for value in range(VALUES) if state.build_cards[0, value]]
    builds = [_build(state, value, PILE + value - LOWEST_VALUE in piles) for value in standing]
    loose = [_loose(card, card in cards) for card in iter_cards(state.loose[0])]
    shapes += _lay_out([builds, loose])
    return Picture(WIDTH, HEIGHT, FELT, shapes)


def _status(position: Position, state: State, spelled: Sequence[int]) -> Iterator[Shape]:
    """Two lines over the table: the state of the match, and what is being done."""
    stock = N_CARDS - int(state.dealt[0])
    score = " : ".join(map(str, position.score))
    text = f"stock {stock}   score {score}   target {position.rules.table.target}   {position.rules}"
    if position.is_over:
        doing = "The deal is over."
    else:
        doing = f"player_{position.turn} to move" + (f": {token_names(spelled)}" if spelled else "")
    top = 2 * EDGE + SEAT_HEIGHT
    yield Label(EDGE + GAP, top + 16, _shorten(text), 15, FAINT)
    yield Label(EDGE + GAP, top + 40, _shorten(doing), 17, MARK, bold=True)


def _shorten(text: str) -> str:
    """The text, or its beginning if it would not fit on a line."""
    return text if len(text) <= STATUS_LENGTH else f"{text[: STATUS_LENGTH - 1]}…"


def _seat(position: Position, state: State, seat: int, place: _Place, marked: set[int]) -> Iterator[Shape]:
    """A seat's panel: name, hand, captured pile with its counts."""
    x, y, width = place
    acts = not position.is_over and seat == position.turn
    yield Box(x, y, width, SEAT_HEIGHT, 10, PANEL, MARK if acts else PANEL, 4)
    yield Box(x + GAP, y + 10, 10, 16, 3, SEAT_COLOURS[seat], SEAT_COLOURS[seat])
    notes = ["dealer"] if seat == position.dealer else []
    notes += ["to move"] if acts else []
    notes += ["captured last"] if seat == state.last_capture[0] else []
    if position.is_over:
        notes.append(f"points {position.deal_points()[seat % side_count(position.players)].total}")
    yield Label(x + 26, y + 24, f"player_{seat}", 17, INK, bold=True)
    yield Label(x + 112, y + 24, ", ".join(notes), 15, MARK if acts or position.is_over else FAINT)
    hand = list(iter_cards(state.hands[0, seat]))
    room = max(HAND_WIDTH, min(width - CAPTURED_WIDTH, CARD_WIDTH + FAN_STEP * (len(hand) - 1)))
    step = _step(len(hand), CARD_WIDTH, room)
    for i, card in enumerate(hand):
        yield from draw_card(card, x + GAP + i * step, y + 36, marked=card in marked)
    pile = x + room + 3 * GAP
    yield from _captured(position.rules.table, state, seat, _Place(pile, y + 36, x + width - GAP - pile))


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
    named = [card for card in iter_cards(cards) if _has_points(rules, card)]
    step = _step(len(named), CHIP_WIDTH, width - left)
    for i, card in enumerate(named):
        yield from draw_chip(card, x + left + step * i, y + 57)


def _has_points(rules: RuleTable, card: int) -> bool:
    """Whether a card brings points that other cards of its suit do not (R6.1, R8)."""
    return card_points(rules, 1 << card) > rules.each_spade * (SPADES >> card & 1)


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


def _lay_out(kinds: list[list[_Item]]) -> Iterator[Shape]:
    """Rows of items in the middle of the table, each kind on rows of its own, as large as fits."""
    room = TABLE_BOTTOM - TABLE_TOP
    scale = 1.0
    while True:
        rows = [row for items in kinds for row in _rows(items, _FULL / scale)]
        height = scale * sum(_height(row) + GAP for row in rows)
        width = scale * max(map(_width, rows), default=0)
        if height <= room and width <= _FULL:
            break
        scale *= 0.95
    y = TABLE_TOP + (room - height) / 2
    for row in rows:
        x = (WIDTH - scale * _width(row)) / 2
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
