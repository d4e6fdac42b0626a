"""Legal moves by asking of every conceivable choice whether the rule page allows it (R3, R4, R8).

Owns the predicate `is_legal`, which follows the sentences of the page, and all choices of a turn. Shares no
code with the engine or the reference game; both build moves from groups, this one only looks at them.
No rule asks for the suit of a loose card, so those are ranks here, a set of them a text such as `22A`.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from casino_env import Move, Position
from casino_env.cards import card_id
from tests.helpers import fields
from tests.helpers_cards import split_cards

RANKS = "23456789TJQKA"
VALUES = range(2, 15)  # R4.1
ACE_HIGH = 14  # R1.4
TOP = {"royal": 14, "plain": 10, "spade": 10, "kasino": 0}  # R8: the highest build value
PAIRING = ("plain", "spade")  # R8: the rule sets in which these ranks are paired
PAIRED = "JQKA"
KASINO = {"2S": 15, "TD": 16}  # R8: capture values that are not those of the rank
NEVER = 99  # in place of the value of a card that is never summed
ALL_THREE = 3  # R8: a paired card takes one, or all three of three
PARTNERS = 4  # R4.6: players in a game with partners


class Book(NamedTuple):
    """What a rule set (R8) says about turns."""

    base: str
    match_forced: bool
    raise_own: bool
    raise_absorb: bool
    own_card: bool

    @classmethod
    def parse(cls, text: str) -> "Book":
        base, *overrides = text.split(";")
        strict = base == "royal"
        written = dict(override.split("=") for override in overrides)
        return cls(
            base,
            written.get("capture", "match_forced" if strict else "free") == "match_forced",
            written.get("raise_own") == "yes",
            written.get("raise_absorb", "no" if strict else "yes") == "yes",
            written.get("partner_builds") == "own_card",
        )


class Build(NamedTuple):
    """A build on the table without its cards, which decide nothing."""

    owner: int
    multiple: bool


class Turn(NamedTuple):
    """What decides whether a choice with one played card is legal. Seat 0 to the number of players - 1."""

    book: Book
    seat: int
    players: int
    card: str  # rank of the played card
    value: int  # its capture value
    kept: frozenset[int]  # capture values of the cards that stay in the hand
    loose: str  # ranks
    builds: dict[int, Build]
    owned: frozenset[int]  # values of the builds of the seat


def sum_value(rank: str, base: str) -> int:
    """Value inside a sum (R1.3, R1.4, R8)."""
    if base in PAIRING and rank in "JQK":
        return NEVER
    return 1 if rank == "A" else RANKS.index(rank) + 2


def capture_value(card: str, base: str) -> int:
    """Value of a card of the hand: what it captures and what it promises (R1.4, R8)."""
    if base == "kasino" and card in KASINO:
        return KASINO[card]
    return ACE_HIGH if card[0] == "A" and base not in PAIRING else sum_value(card[0], base)


@cache
def splits(cards: str, value: int, base: str) -> bool:
    """Whether the cards divide into groups worth the value each (R3.2): the first is in one of them."""
    if not cards:
        return True
    first, rest = cards[0], cards[1:]
    if base == "royal" and first == "A" and value == ACE_HIGH and splits(rest, value, base):
        return True  # R1.4: the ace is a group
    return any(splits(left, value, base) for left in without(rest, value - sum_value(first, base), base))


def without(cards: str, need: int, base: str) -> Iterator[str]:
    """What is left of the cards in every way to take away a sum of `need`."""
    if need == 0:
        yield cards
    for i, card in enumerate(cards):
        if sum_value(card, base) <= need:
            for left in without(cards[i + 1 :], need - sum_value(card, base), base):
                yield cards[:i] + left


def is_legal(turn: Turn, taken: str, value: int, pile: bool, raises: bool) -> bool:
    """Whether playing the card with the loose cards `taken` is legal; the rest is as in `Move`."""
    if value:
        return may_build(turn, taken, value, pile) and (
            may_raise(turn, taken, value) if raises else may_make(turn, taken, value, pile)
        )
    if taken or pile:
        return may_capture(turn, taken, pile)
    matched = turn.book.match_forced and turn.card in turn.loose
    return not turn.owned and not matched  # R3.1


def may_capture(turn: Turn, taken: str, pile: bool) -> bool:
    """R3.2, R3.3, R4.4."""
    if turn.book.base in PAIRING and turn.card in PAIRED:
        return not pile and may_pair(turn, taken)
    if pile and turn.value not in turn.builds:
        return False
    if turn.book.match_forced and taken.count(turn.card) < turn.loose.count(turn.card):
        return False
    fulfilled = {turn.value} if pile else set()
    return turn.owned - fulfilled <= turn.kept and splits(taken, turn.value, turn.book.base)


def may_pair(turn: Turn, taken: str) -> bool:
    """R8. Of three loose cards match_forced leaves no choice; of two, one must do."""
    matches = turn.loose.count(turn.card)
    counts = {1}
    if matches == ALL_THREE:
        counts = {ALL_THREE} if turn.book.match_forced else {1, ALL_THREE}
    return taken == turn.card * len(taken) and len(taken) in counts and turn.owned <= turn.kept


def may_build(turn: Turn, taken: str, value: int, pile: bool) -> bool:
    """What making, adding and raising have in common: R4.3 to R4.6, R8."""
    if value > TOP[turn.book.base] or sum_value(turn.card, turn.book.base) == NEVER:
        return False
    if pile != (value in turn.builds) or is_partners(turn, value):
        return False
    return turn.owned | {value} <= turn.kept


def may_make(turn: Turn, taken: str, value: int, pile: bool) -> bool:
    """R4.1."""
    joined = taken != "" or pile
    return joined and splits(turn.card + taken, value, turn.book.base)


def may_raise(turn: Turn, taken: str, value: int) -> bool:
    """R4.2, R4.6."""
    old = value - sum_value(turn.card, turn.book.base)
    if old not in turn.builds or turn.builds[old].multiple or is_partners(turn, old):
        return False
    if old in turn.owned and not (turn.book.raise_own and old in turn.kept):
        return False
    if taken and not turn.book.raise_absorb:
        return False
    return splits(taken, value, turn.book.base)


def is_partners(turn: Turn, value: int) -> bool:
    """Whether R4.6 keeps the seat from the build of the value, as its partner's."""
    if turn.players != PARTNERS or turn.book.own_card or value not in turn.builds:
        return False
    return turn.builds[value].owner == (turn.seat + 2) % PARTNERS


def turns(position: Position) -> Iterator[tuple[str, Turn]]:
    """Every card of the hand to be played, with its turn."""
    given = fields(position)
    book, seat, hands = Book.parse(given.rules), int(given.turn), given.hands.split("/")
    hand = split_cards(hands[seat])
    builds = dict(parse_build(text) for text in given.builds.split(",") if text != "-")
    owned = frozenset(value for value in builds if builds[value].owner == seat)
    loose = "".join(card[0] for card in split_cards(given.loose))
    for card in hand:
        value = capture_value(card, book.base)
        kept = frozenset(capture_value(other, book.base) for other in hand if other != card)
        yield card, Turn(book, seat, len(hands), card[0], value, kept, loose, builds, owned)


def parse_build(text: str) -> tuple[int, Build]:
    """Value and build of a text such as `9*=4C5H9D@1`."""
    value, rest = text.split("=")
    return int(value.rstrip("*")), Build(int(rest.split("@")[1]), value.endswith("*"))


def candidates(position: Position) -> Iterator[tuple[Move, bool]]:
    """Every choice there is, legal or not, as a move, and whether it is legal."""
    for card, loose, value, pile, raises, allowed in judged(position):
        yield Move(card_id(card), loose, value, pile, raises), allowed


def legal_moves(position: Position) -> tuple[list[str], int]:
    """The texts of the legal moves, sorted, and how many choices were looked at to find them."""
    found, count = [], 0
    for card, loose, value, pile, raises, allowed in judged(position):
        count += 1
        if allowed:
            found.append(str(Move(card_id(card), loose, value, pile, raises)))
    return sorted(found), count


def judged(position: Position) -> Iterator[tuple[str, int, int, bool, bool, bool]]:
    """The fields of every choice, card first, and the verdict of `is_legal`."""
    sets = [(0, "")]  # of loose cards: as a card set, and as ranks
    for card in split_cards(fields(position).loose):
        sets += [(loose | 1 << card_id(card), taken + card[0]) for loose, taken in sets]
    kinds = [(0, False, False), (0, True, False), *product(VALUES, (False, True), (False, True))]
    for card, turn in turns(position):
        for value, pile, raises in kinds:
            for loose, taken in sets:
                yield card, loose, value, pile, raises, is_legal(turn, taken, value, pile, raises)
