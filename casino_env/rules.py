"""Rule sets as data (R8): named fields for people, `RuleTable` arrays for the kernels.

Owns which rule sets and options exist. Owns no rule's meaning: kernels read the table.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.cards import (
    ACES,
    BIG_CASINO,
    LITTLE_CASINO,
    N_CARDS,
    RANKS,
    SPADES,
    SUIT_COUNT,
    card_id,
    iter_cards,
)
from casino_env.errors import InvalidRules

PLAYER_COUNTS = (2, 3, 4)
HAND_SIZE = 4
TABLE_SIZE = 4
TURNS = 48  # R2.2: every card but the first four of the table is played
ITEMS = ("cards", "spades", "big", "little", "aces", "sweeps")  # R6.3, in the order they are counted
CARDS, SPADES_ITEM, BIG, LITTLE, ACES_ITEM, SWEEPS = range(len(ITEMS))

ACE_HIGH = 14
MAX_TARGET = 9999

OPTIONS: dict[str, tuple[str, ...]] = {
    "capture": ("match_forced", "free"),
    "raise_own": ("no", "yes"),
    "raise_absorb": ("no", "yes"),
    "partner_builds": ("forbid", "own_card"),
    "sweeps": ("none", "plain", "net"),
    "near21": ("none", "seed", "pagat"),
}
TARGET = "target"
_BASES: dict[str, dict[str, str]] = {
    "royal": {
        "capture": "match_forced",
        "raise_absorb": "no",
        "sweeps": "net",
        "near21": "seed",
        "target": "21",
    },
    "plain": {"capture": "free", "raise_absorb": "yes", "sweeps": "none", "near21": "none", "target": "21"},
    "spade": {"capture": "free", "raise_absorb": "yes", "sweeps": "plain", "near21": "none", "target": "61"},
}
_ALWAYS = {"raise_own": "no", "partner_builds": "forbid"}


CardValues = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


class RuleTable(NamedTuple):
    """What the kernels read. Card tables have shape int64[52]; a value of 0 means "never"."""

    hand_value: NDArray[np.int64]  # capture value of a card of the hand (R1.4)
    sum_value: NDArray[np.int64]  # value inside a sum or build
    alone_value: NDArray[np.int64]  # value as a group of its own; differs for the royal ace only
    paired: NDArray[np.int64]  # 1: captures one card of its rank, or three of three (R8)
    build_values: int  # bit v: builds of v may stand
    match_forced: int
    raise_own: int
    raise_absorb: int
    partner_own_card: int
    sweeps: int  # index into OPTIONS["sweeps"]
    near21: int  # index into OPTIONS["near21"]
    target: int
    most: NDArray[np.int64]  # int64[2]: points for most cards, for most spades
    card_points: NDArray[np.int64]  # int64[6, 52]: points of each captured card under each item


@dataclass(frozen=True)
class Rules:
    """A rule set with its overrides, kept in the order given so that `str` returns the text parsed."""

    base: str = "royal"
    overrides: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.base not in _BASES:
            raise InvalidRules(f"unknown rule set '{self.base}'; valid: {', '.join(_BASES)}")
        seen = set()
        for name, value in self.overrides:
            _check_option(name, value)
            if name in seen:
                raise InvalidRules(f"rule field '{name}' is given twice")
            seen.add(name)

    @classmethod
    def parse(cls, text: "str | Rules") -> "Rules":
        """Read `royal` or `royal;near21=pagat;sweeps=plain`; InvalidRules lists the valid names (R8)."""
        if isinstance(text, Rules):
            return text
        base, *parts = text.split(";")
        overrides = []
        for part in parts:
            name, equals, value = part.partition("=")
            if not equals:
                raise InvalidRules(f"rule override '{part}' is not of the form field=value")
            overrides.append((name, value))
        return cls(base, tuple(overrides))

    def __str__(self) -> str:
        return ";".join([self.base, *(f"{name}={value}" for name, value in self.overrides)])

    def option(self, name: str) -> str:
        """Value in force of an option of R8, e.g. `option("sweeps")`."""
        return {**_ALWAYS, **_BASES[self.base], **dict(self.overrides)}[name]

    @cached_property
    def table(self) -> RuleTable:
        """The arrays and numbers that the kernels read."""
        royal = self.base == "royal"
        hand_value, sum_value, alone_value, paired = _royal_values() if royal else _plain_values()
        most, card_points = _spade_points() if self.base == "spade" else _most_points()
        number = {name: valid.index(self.option(name)) for name, valid in OPTIONS.items()}
        return RuleTable(
            hand_value=hand_value,
            sum_value=sum_value,
            alone_value=alone_value,
            paired=paired,
            build_values=_value_bits(2, ACE_HIGH if royal else 10),
            match_forced=int(self.option("capture") == "match_forced"),
            raise_own=number["raise_own"],
            raise_absorb=number["raise_absorb"],
            partner_own_card=number["partner_builds"],
            sweeps=number["sweeps"],
            near21=number["near21"],
            target=int(self.option(TARGET)),
            most=most,
            card_points=card_points,
        )


def check_players(players: int) -> int:
    """`players` if the game can be played by so many (R2.1), else InvalidRules."""
    if players not in PLAYER_COUNTS:
        raise InvalidRules(f"players={players!r} is not possible; valid: 2, 3, 4")
    return int(players)


def side_count(players: int) -> int:
    """Number of sides: partners sit opposite in a game of four."""
    return 2 if players == 4 else players


def _check_option(name: str, value: str) -> None:
    if name == TARGET:
        if not re.fullmatch(r"[1-9]\d*", value) or int(value) > MAX_TARGET:
            raise InvalidRules(f"rule field 'target' is '{value}'; valid: a number from 1 to {MAX_TARGET}")
    elif name not in OPTIONS:
        raise InvalidRules(f"unknown rule field '{name}'; valid: {', '.join([*OPTIONS, TARGET])}")
    elif value not in OPTIONS[name]:
        raise InvalidRules(f"rule field '{name}' is '{value}'; valid: {', '.join(OPTIONS[name])}")


def _value_bits(low: int, high: int) -> int:
    return sum(1 << value for value in range(low, high + 1))


def _ranks() -> NDArray[np.int64]:
    return np.arange(N_CARDS, dtype=np.int64) // SUIT_COUNT


def _royal_values() -> CardValues:
    """R1.3, R1.4: an ace of the hand is 14; a loose ace is 1 in a sum and 14 alone."""
    hand = _ranks() + 2
    in_sum = np.where(hand == ACE_HIGH, 1, hand)
    return hand, in_sum, hand.copy(), np.zeros_like(hand)


def _plain_values() -> CardValues:
    """R8: no value for J, Q, K; ace 1; those four ranks capture by pairing."""
    ranks = _ranks()
    face = (ranks >= RANKS.index("J")) & (ranks <= RANKS.index("K"))
    value = np.where(face, 0, np.where(ranks == RANKS.index("A"), 1, ranks + 2))
    return value, value.copy(), value.copy(), (ranks >= RANKS.index("J")).astype(np.int64)


def _most_points() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """R6.1."""
    points = np.zeros((len(ITEMS), N_CARDS), dtype=np.int64)
    points[BIG, BIG_CASINO] = 2
    points[LITTLE, LITTLE_CASINO] = 1
    points[ACES_ITEM, list(iter_cards(ACES))] = 1
    return np.array([3, 1]), points


def _spade_points() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """R8, column `spade`: each spade 1, the jack of spades one more, no point for most spades."""
    _, points = _most_points()
    points[SPADES_ITEM, list(iter_cards(SPADES))] = 1
    points[SPADES_ITEM, card_id("JS")] += 1
    return np.array([3, 0]), points
