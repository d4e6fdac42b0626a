"""Rule sets as data (R8): named fields for people, the numbers of `RuleTable` for the kernels.

Owns which rule sets and options exist. Owns no rule's meaning: kernels read the table.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from casino_env.arguments import is_count, quoted
from casino_env.bits import popcount
from casino_env.cards import (
    BIG_CASINO,
    FULL_DECK,
    LITTLE_CASINO,
    N_CARDS,
    RANKS,
    SUIT_COUNT,
    card_set,
    parse_cards,
)
from casino_env.errors import InvalidRules
from casino_env.jit import inner_kernel

PLAYER_COUNTS = (2, 3, 4)
HAND_SIZE = 4
TABLE_SIZE = 4
TURNS = N_CARDS - TABLE_SIZE  # R2.2: every card but the first four of the table is played; never more
ITEMS = ("cards", "spades", "big", "little", "aces", "sweeps")  # R6.3, in the order they are counted
CARDS, SPADES_ITEM, BIG, LITTLE, ACES_ITEM, SWEEPS = range(len(ITEMS))

LOWEST_VALUE, ACE_HIGH = 2, 14  # the values that builds can have (R4.1)
MAX_VALUE = 16  # of any card in any rule set
MAX_TARGET = 9999
MAX_COUNT = 10**9  # of sweeps or points that a position may have
NIBBLE, NIBBLE_MASK = 4, 15  # a value's bits in the packed tables of `RuleTable`
RANK_MASK = ~(SUIT_COUNT - 1)  # card & RANK_MASK = 4 * rank: where the rank's nibble begins

OPTIONS: dict[str, tuple[str, ...]] = {
    "capture": ("match_forced", "free"),
    "raise_own": ("no", "yes"),
    "raise_absorb": ("no", "yes"),
    "partner_builds": ("forbid", "own_card"),
    "sweeps": ("none", "plain", "net"),
    "near21": ("none", "seed", "pagat"),
    "draw": ("no", "yes"),
    "size": ("full", "tiny"),
}
TARGET = "target"


class RuleTable(NamedTuple):
    """What the kernels read: integers only, since an array would cost a reference count in every call.

    Values by rank are packed, rank 2 lowest, 4 bits each; read them with `hand_value`, `sum_value` and
    `alone_value`, where 0 means "never".
    """

    hand_values: int  # capture value of a card of the hand (R1.4)
    little_bonus: int  # what 2S is worth more than that, and TD
    big_bonus: int
    sum_values: int  # value inside a sum or build
    alone_values: int  # value as a group of its own; differs for the royal ace only
    paired_ranks: int  # 1: the rank captures one card of its rank, or three of three (R8); packed alike
    build_values: int  # bit v: builds of v may stand
    most_cards: int  # points for most cards (R6.1)
    most_spades: int
    each_spade: int  # points for each spade
    jack_of_spades: int  # points for the jack of spades, counted with the spades
    match_forced: int
    raise_own: int
    raise_absorb: int
    partner_own_card: int
    sweeps: int  # index into OPTIONS["sweeps"]
    near21: int  # index into OPTIONS["near21"]
    draw: int  # after each play a card is drawn, as long as there are some
    deck: int  # the cards that there are, a card set
    hand_size: int  # cards dealt to a seat at once (R2.2)
    table_size: int  # loose cards at the start
    target: int


def _pack_values(by_rank: list[int]) -> int:
    return sum(value << NIBBLE * rank for rank, value in enumerate(by_rank))


def _value_bits(low: int, high: int) -> int:
    return sum(1 << value for value in range(low, high + 1))


_PRINTED = list(range(2, 11))
_ROYAL_HAND = [*_PRINTED, 11, 12, 13, ACE_HIGH]
_TABLE = [*_ROYAL_HAND[:-1], 1]
_NO_BONUS = {"little_bonus": 0, "big_bonus": 0}
_PLAIN = {
    # R8: no value for J, Q, K; an ace is 1; those four ranks capture by pairing
    **_NO_BONUS,
    "hand_values": _pack_values([*_PRINTED, 0, 0, 0, 1]),
    "sum_values": _pack_values([*_PRINTED, 0, 0, 0, 1]),
    "alone_values": _pack_values([*_PRINTED, 0, 0, 0, 1]),
    "paired_ranks": _pack_values([int(rank in "JQKA") for rank in RANKS]),
    "build_values": _value_bits(2, 10),
}
_BASE_TABLES: dict[str, dict[str, int]] = {
    "royal": {
        # R1.3, R1.4: an ace of the hand is 14; a loose ace is 1 in a sum and 14 alone
        **_NO_BONUS,
        "hand_values": _pack_values(_ROYAL_HAND),
        "sum_values": _pack_values(_TABLE),
        "alone_values": _pack_values(_ROYAL_HAND),
        "paired_ranks": 0,
        "build_values": _value_bits(2, ACE_HIGH),
        "most_cards": 3,
        "most_spades": 1,
        "each_spade": 0,
        "jack_of_spades": 0,
    },
    "plain": {**_PLAIN, "most_cards": 3, "most_spades": 1, "each_spade": 0, "jack_of_spades": 0},
    "spade": {**_PLAIN, "most_cards": 3, "most_spades": 0, "each_spade": 1, "jack_of_spades": 1},
    "kasino": {
        # R8: from the hand an ace is 14, 2S 15 and TD 16, on the table 1, 2 and 10; no builds
        "hand_values": _pack_values(_ROYAL_HAND),
        "little_bonus": 13,
        "big_bonus": 6,
        "sum_values": _pack_values(_TABLE),
        "alone_values": _pack_values(_TABLE),
        "paired_ranks": 0,
        "build_values": 0,
        "most_cards": 1,
        "most_spades": 2,
        "each_spade": 0,
        "jack_of_spades": 0,
    },
}
RULE_SETS = tuple(_BASE_TABLES)
_SIZES: dict[str, dict[str, int]] = {
    "full": {"deck": FULL_DECK, "hand_size": HAND_SIZE, "table_size": TABLE_SIZE},
    # small enough to be solved: two hands of two cards each and one loose card, for two players
    "tiny": {"deck": card_set(parse_cards("2C2D2S3C3D3SACADAS")), "hand_size": 2, "table_size": 1},
}
_LENIENT = {
    "capture": "free",
    "raise_own": "no",
    "raise_absorb": "yes",
    "partner_builds": "forbid",
    "near21": "none",
    "draw": "no",
    "size": "full",
}
_BASE_OPTIONS: dict[str, dict[str, str]] = {
    "royal": {
        "capture": "match_forced",
        "raise_own": "no",
        "raise_absorb": "no",
        "partner_builds": "forbid",
        "sweeps": "net",
        "near21": "seed",
        "draw": "no",
        "size": "full",
        TARGET: "21",
    },
    "plain": {**_LENIENT, "sweeps": "none", TARGET: "21"},
    "spade": {**_LENIENT, "sweeps": "plain", TARGET: "61"},
    "kasino": {**_LENIENT, "sweeps": "net", TARGET: "16"},
}


@dataclass(frozen=True)
class Rules:
    """A rule set with its overrides, kept in the order given so that `str` returns the text parsed."""

    base: str = "royal"
    overrides: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.base not in RULE_SETS:
            raise InvalidRules(f"unknown rule set {quoted(self.base)}; valid: {', '.join(RULE_SETS)}")
        seen = set()
        for name, value in self.overrides:
            _check_option(name, value)
            if name in seen:
                raise InvalidRules(f"rule field {quoted(name)} is given twice")
            seen.add(name)

    @classmethod
    def parse(cls, text: "str | Rules") -> "Rules":
        """Read `royal` or `royal;near21=pagat;sweeps=plain`; InvalidRules lists the valid names (R8)."""
        if isinstance(text, Rules):
            return text
        if not isinstance(text, str):
            raise InvalidRules(f"rules are a text such as 'royal', not {quoted(text)}")
        base, *parts = text.split(";")
        overrides = []
        for part in parts:
            name, equals, value = part.partition("=")
            if not equals:
                raise InvalidRules(f"rule override {quoted(part)} is not of the form field=value")
            overrides.append((name, value))
        return cls(base, tuple(overrides))

    def __str__(self) -> str:
        return ";".join([self.base, *(f"{name}={value}" for name, value in self.overrides)])

    def option(self, name: str) -> str:
        """Value in force of an option of R8, e.g. `option("sweeps")`."""
        return {**_BASE_OPTIONS[self.base], **dict(self.overrides)}[name]

    @cached_property
    def table(self) -> RuleTable:
        """The numbers that the kernels read."""
        number = {name: valid.index(self.option(name)) for name, valid in OPTIONS.items()}
        return RuleTable(
            **_BASE_TABLES[self.base],
            **_SIZES[self.option("size")],
            match_forced=int(self.option("capture") == "match_forced"),
            raise_own=number["raise_own"],
            raise_absorb=number["raise_absorb"],
            partner_own_card=number["partner_builds"],
            sweeps=number["sweeps"],
            near21=number["near21"],
            draw=number["draw"],
            target=int(self.option(TARGET)),
        )


@inner_kernel
def hand_value(rules: RuleTable, card: int) -> int:
    """Capture value of a card of the hand; 0 if it captures by no sum."""
    bonus = rules.little_bonus * (card == LITTLE_CASINO) + rules.big_bonus * (card == BIG_CASINO)
    return ((rules.hand_values >> (card & RANK_MASK)) & NIBBLE_MASK) + bonus


@inner_kernel
def sum_value(rules: RuleTable, card: int) -> int:
    """Value of a card in a sum or build; 0 if it is never summed."""
    return (rules.sum_values >> (card & RANK_MASK)) & NIBBLE_MASK


@inner_kernel
def alone_value(rules: RuleTable, card: int) -> int:
    """Value of a card that is a group by itself; 0 if it never is."""
    return (rules.alone_values >> (card & RANK_MASK)) & NIBBLE_MASK


@inner_kernel
def is_paired(rules: RuleTable, card: int) -> int:
    """1 if the card captures by pairing (R8)."""
    return (rules.paired_ranks >> (card & RANK_MASK)) & 1


def player_counts(rules: Rules) -> tuple[int, ...]:
    """The numbers of players among whom the deck can be dealt out (R2.1, R2.2)."""
    table = rules.table
    return tuple(count for count in PLAYER_COUNTS if deal_turns(table) % (table.hand_size * count) == 0)


def check_players(players: int, rules: Rules) -> int:
    """`players` if the game can be played by so many, else InvalidRules."""
    valid = player_counts(rules)
    if not is_count(players) or players not in valid:
        choices = ", ".join(map(str, valid))
        where = "" if valid == PLAYER_COUNTS else f" with rules '{rules}'"
        raise InvalidRules(f"players={quoted(players)} is not possible{where}; valid: {choices}")
    return int(players)


@inner_kernel
def deal_turns(rules: RuleTable) -> int:
    """Turns of a deal: every card but the first ones of the table is played (R2.2)."""
    return popcount(rules.deck) - rules.table_size


@inner_kernel
def side_count(players: int) -> int:
    """Number of sides: partners sit opposite in a game of four."""
    return 2 if players == 4 else players


def _check_option(name: str, value: str) -> None:
    if name == TARGET:
        if not re.fullmatch("[1-9][0-9]{0,3}", value):
            raise InvalidRules(
                f"rule field 'target' is {quoted(value)}; valid: a number from 1 to {MAX_TARGET}"
            )
    elif name not in OPTIONS:
        raise InvalidRules(f"unknown rule field {quoted(name)}; valid: {', '.join([*OPTIONS, TARGET])}")
    elif value not in OPTIONS[name]:
        raise InvalidRules(f"rule field {quoted(name)} is {quoted(value)}; valid: {', '.join(OPTIONS[name])}")
