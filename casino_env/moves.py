"""A move: its fields, its text form (R9) and its packing into one int64. No rule is stated here.

Bits 0-51 loose cards taken or joined, 52-57 the played card, 58-61 the value of the resulting build
(0: none), 62 whether a standing build is captured or joined, 63 (the sign) whether a build is raised.
A trail has neither cards, value nor build; a capture has value 0; a build or raise has its value.
"""

import re
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from casino_env.arguments import is_count, quoted
from casino_env.cards import (
    FULL_DECK,
    N_CARDS,
    RANKS,
    SUIT_COUNT,
    SUITS,
    card_id,
    card_name,
    card_set,
    cards_text,
    iter_cards,
    parse_cards,
)
from casino_env.errors import InvalidMove
from casino_env.jit import inner_kernel, kernel
from casino_env.rules import ACE_HIGH, LOWEST_VALUE

NO_MOVE = -1
CARD_SHIFT, CARD_MASK = 52, 63
VALUE_SHIFT, VALUE_MASK = 58, 15
PILE_SHIFT = 62
RAISE_BIT: Any = np.int64(-(2**63))  # int64, not int, for numba and numpy to agree

_CARD = f"[{RANKS}][{SUITS}]"
_TRAIL = re.compile(f"({_CARD})")
_CAPTURE = re.compile(rf"({_CARD})\*((?:{_CARD})*)(?:\[([0-9]{{1,2}})\])?")
_BUILD = re.compile(rf"({_CARD})((?:\+(?:{_CARD}|\[[0-9]{{1,2}}\]))+)=([0-9]{{1,2}})")


@dataclass(frozen=True, slots=True)
class Move:
    """One whole move (R3). `str(move)` and `Move.parse(text)` are the text form of R9."""

    card: int  # the played card
    loose: int = 0  # card set: loose cards taken or joined
    value: int = 0  # value of the resulting build; 0 for trails and captures
    pile: bool = False  # capture: the build is taken; build: a build of `value` stands and is joined
    raises: bool = False  # the build of `value` minus the played card's value is raised (R4.2)

    def __post_init__(self) -> None:
        whole = is_count(self.card) and is_count(self.loose) and is_count(self.value)
        cards = whole and self.card < N_CARDS and self.loose <= FULL_DECK
        builds = whole and (LOWEST_VALUE <= self.value <= ACE_HIGH or (self.value == 0 and not self.raises))
        if not (cards and builds):
            raise InvalidMove(f"no move has card {self.card}, loose {self.loose}, value {self.value}")

    @classmethod
    def unpack(cls, packed: int) -> "Move":
        """The move of a packed int64."""
        packed = int(packed)
        return cls(
            card=packed >> CARD_SHIFT & CARD_MASK,
            loose=packed & FULL_DECK,
            value=packed >> VALUE_SHIFT & VALUE_MASK,
            pile=bool(packed >> PILE_SHIFT & 1),
            raises=packed < 0,
        )

    @classmethod
    def parse(cls, text: "str | Move") -> "Move":
        """Read the text form of R9, e.g. `9S*4H5C[9]`; InvalidMove if it is anything else."""
        if isinstance(text, Move):
            return text
        if not isinstance(text, str):
            _refuse(text, "it is no text")
        if trail := _TRAIL.fullmatch(text):
            move = cls(card_id(trail[1]))
        elif capture := _CAPTURE.fullmatch(text):
            move = _parse_capture(text, *capture.groups())
        elif build := _BUILD.fullmatch(text):
            move = _parse_build(text, *build.groups())
        else:
            _refuse(text, "write a trail 7H, a capture 9S*4H5C[9], a build 4S+5C=9 or a raise 2S+[10]=12")
        if str(move) != text:
            _refuse(text, f"cards are written once each in id order: '{move}'")
        return move

    def __str__(self) -> str:
        name = card_name(self.card)
        if self.kind == "trail":
            return name
        if self.kind == "capture":
            pile = f"[{capture_value(self.card)}]" if self.pile else ""
            return f"{name}*{cards_text(self.loose)}{pile}"
        parts = [name]
        if self.raises:
            parts.append(f"[{self.value - low_value(self.card)}]")
        parts += map(card_name, iter_cards(self.loose))
        if self.pile:
            parts.append(f"[{self.value}]")
        return f"{'+'.join(parts)}={self.value}"

    @property
    def packed(self) -> int:
        """The move as an int64 (negative exactly for raises)."""
        return int(pack(self.card, self.loose, self.value, int(self.pile), int(self.raises)))

    @property
    def kind(self) -> str:
        """`trail`, `capture`, `build` or `raise`."""
        if self.raises:
            return "raise"
        if self.value:
            return "build"
        return "capture" if self.loose or self.pile else "trail"


@inner_kernel
def low_value(card: int) -> int:
    """Printed value of a card with the ace low (R1.3): what it adds to a sum."""
    return (card // SUIT_COUNT + 1) % len(RANKS) + 1


def capture_value(card: int) -> int:
    """Printed value of a card with the ace high: the build that it captures."""
    return card // SUIT_COUNT + 2


def _parse_capture(text: str, name: str, loose: str, pile: str | None) -> Move:
    card = card_id(name)
    if pile is not None and int(pile) != capture_value(card):
        _refuse(text, f"{name} captures the build [{capture_value(card)}] and no other")
    if not loose and pile is None:
        _refuse(text, "a capture names what it takes")
    return Move(card, _loose_set(text, parse_cards(loose)), pile=pile is not None)


def _parse_build(text: str, name: str, joined: str, total: str) -> Move:
    card, value = card_id(name), int(total)
    parts = joined[1:].split("+")
    piles = [int(part[1:-1]) for part in parts if part.startswith("[")]
    loose = _loose_set(text, [card_id(part) for part in parts if not part.startswith("[")])
    if not LOWEST_VALUE <= value <= ACE_HIGH:
        _refuse(text, "a build is worth 2 to 14")
    raised = [pile for pile in piles if pile != value]
    if len(piles) != len(set(piles)) or len(raised) > 1:
        _refuse(text, "at most one build is raised and one joined")
    if raised and raised[0] + low_value(card) != value:
        _refuse(text, f"{name} raises [{raised[0]}] to {raised[0] + low_value(card)}")
    return Move(card, loose, value, pile=value in piles, raises=bool(raised))


def _loose_set(text: str, cards: list[int]) -> int:
    try:
        return card_set(cards)
    except ValueError as error:
        _refuse(text, str(error))


def _refuse(text: str, reason: str) -> NoReturn:
    raise InvalidMove(f"{quoted(text)} is not a move: {reason}")


@kernel
def pack(card: int, loose: int, value: int, pile: int, raises: int) -> int:
    """Pack a move's fields into an int64."""
    packed = loose | (card << CARD_SHIFT) | (value << VALUE_SHIFT) | (pile << PILE_SHIFT)
    return packed | RAISE_BIT if raises else packed


@inner_kernel
def move_card(move: int) -> int:
    """Id of the played card."""
    return (move >> CARD_SHIFT) & CARD_MASK


@inner_kernel
def move_loose(move: int) -> int:
    """Loose cards taken or joined, as a card set."""
    return move & FULL_DECK


@inner_kernel
def move_value(move: int) -> int:
    """Value of the resulting build, 0 for a trail or capture."""
    return (move >> VALUE_SHIFT) & VALUE_MASK


@inner_kernel
def move_pile(move: int) -> int:
    """1 if a standing build is captured (value 0) or joined (value > 0)."""
    return (move >> PILE_SHIFT) & 1


@inner_kernel
def move_raises(move: int) -> int:
    """1 if a build is raised."""
    return 1 if move < 0 else 0
