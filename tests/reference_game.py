"""Royal Casino, slow and plain: a second copy of the rules, for comparison with the fast engine.

Owns: the rules R1-R9 of the rule page once more, written from that page alone and without any code of the
engine. Positions and moves go in and out in the text forms of R9, so comparing is comparing strings.
Does not own: speed, randomness, refusing malformed texts, cutting a match off (R7.5).

A card is its text (`TD`); a group, a hand or the table is a frozenset of cards. `seat` is a place, `side` who
scores together, `turn` the seat whose move it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

Cards = frozenset[str]

RANKS, SUITS = "23456789TJQKA", "CDHS"  # R1.1
DECK = tuple(rank + suit for rank in RANKS for suit in SUITS)
CARD_IDS = {card: card_id for card_id, card in enumerate(DECK)}  # R1.2
HAND_SIZE = TABLE_SIZE = 4  # R2.2
PARTNERSHIP_PLAYERS = 4  # the number of players at which seats 0, 2 and 1, 3 play together
JACK_OF_SPADES = "JS"  # R8
ITEM_POINTS = {"cards": 3, "spades": 1, "big": 2, "little": 1}  # R6.1, in the order of R6.3
KASINO_POINTS = ITEM_POINTS | {"cards": 1, "spades": 2}  # R8
KASINO_HAND = {"2S": 15, "TD": 16}  # R8
NEAR_ITEMS: dict[str, dict[int, str]] = {  # R7.1: what a near side needs, by the points it lacks
    "seed": {3: "cards", 2: "big", 1: "little"},
    "pagat": {3: "cards", 2: "big", 1: "spades"},
    "none": {},
}
NEAR_SPAN = 3  # R7.3: "18 or more" of 21
PLAIN = {"top_build": 10, "capture": "free", "raise_absorb": "yes"}
RULE_SETS: dict[str, dict] = {  # R8
    "royal": {"sweeps": "net", "near21": "seed", "target": 21},
    "plain": PLAIN | {"sweeps": "none", "near21": "none", "target": 21},
    "spade": PLAIN | {"sweeps": "plain", "near21": "none", "target": 61, "spade_points": True},
    "kasino": {"capture": "free", "sweeps": "net", "near21": "none", "target": 16, "kasino": True},
}


@dataclass(frozen=True)
class Rules:
    """One rule set of R8 with its overrides; `text` is kept as it was written."""

    text: str
    sweeps: str
    near21: str
    target: int
    top_build: int = 14
    capture: str = "match_forced"
    raise_own: str = "no"
    raise_absorb: str = "no"
    partner_builds: str = "forbid"
    draw: str = "no"
    spade_points: bool = False
    kasino: bool = False

    @classmethod
    def parse(cls, text: str) -> Rules:
        name, *overrides = text.split(";")
        fields = RULE_SETS[name] | dict(override.split("=") for override in overrides)
        return cls(text, **(fields | {"target": int(fields["target"])}))

    def capture_value(self, card: str) -> int | None:
        """What a card of the hand captures as and promises: an ace 14 (R1.4), a paired card nothing (R8)."""
        value = RANKS.index(card[0]) + 2
        if self.kasino:
            return KASINO_HAND.get(card, value)
        return value if value <= self.top_build else None

    def sum_value(self, card: str) -> int | None:
        """What a card counts in a sum: an ace is 1 (R1.4); plain J Q K are never summed (R8)."""
        if self.kasino and card in KASINO_HAND:
            return int("10" if card[0] == "T" else card[0])
        return 1 if card[0] == "A" else self.capture_value(card)

    def alone_value(self, card: str) -> int | None:
        """What a loose card is worth as a group of its own (R1.4); in kasino what it is worth in a sum."""
        return self.sum_value(card) if self.kasino else self.capture_value(card)

    def item_points(self) -> dict[str, int]:
        return KASINO_POINTS if self.kasino else ITEM_POINTS


class Build(NamedTuple):
    value: int
    cards: Cards
    owner: int
    multiple: bool

    @classmethod
    def parse(cls, text: str) -> Build:
        value, rest = text.split("=")
        cards, owner = rest.split("@")
        return cls(int(value.rstrip("*")), frozenset(split_cards(cards)), int(owner), value.endswith("*"))

    def __str__(self) -> str:  # R9
        return f"{self.value}{'*' * self.multiple}={cards_text(self.cards)}@{self.owner}"


class Move(NamedTuple):
    kind: str  # "trail", "capture", "make" (or add) or "raise"
    card: str
    loose: Cards = frozenset()
    value: int = 0  # of the capture or of the resulting build
    with_build: bool = False  # the build `value` is captured or joined
    raised: int = 0  # the old value of the raised build

    def __str__(self) -> str:  # R9
        same = f"[{self.value}]" if self.with_build else ""
        if self.kind == "trail":
            return self.card
        if self.kind == "capture":
            return f"{self.card}*{''.join(in_id_order(self.loose))}{same}"
        old = f"[{self.raised}]" if self.raised else ""
        parts = [self.card, old, *in_id_order(self.loose), same]
        return "+".join(part for part in parts if part) + f"={self.value}"


@dataclass(frozen=True)
class ReferenceGame:
    """A position; `play` gives the next one. The fields are the eleven of R9, in its order."""

    rules: Rules
    hands: tuple[Cards, ...]
    loose: Cards
    builds: dict[int, Build]
    captured: tuple[Cards, ...]
    stock: tuple[str, ...]
    turn: int
    last_capturer: int | None
    sweeps: tuple[int, ...]
    score: tuple[int, ...]
    dealer: int

    @classmethod
    def parse(cls, text: str) -> ReferenceGame:  # R9
        rules, hands, loose, builds, captured, stock, turn, last, sweeps, score, dealer = text.split(" ")
        standing = [] if builds == "-" else [Build.parse(build) for build in builds.split(",")]
        return cls(
            rules=Rules.parse(rules),
            hands=tuple(frozenset(split_cards(hand)) for hand in hands.split("/")),
            loose=frozenset(split_cards(loose)),
            builds={build.value: build for build in standing},
            captured=tuple(frozenset(split_cards(pile)) for pile in captured.split("/")),
            stock=tuple(split_cards(stock)),
            turn=int(turn),
            last_capturer=None if last == "-" else int(last),
            sweeps=tuple(int(count) for count in sweeps.split("/")),
            score=tuple(int(total) for total in score.split("/")),
            dealer=int(dealer),
        )

    @classmethod
    def deal(
        cls,
        rules: str = "royal",
        deck: Iterable[str] = DECK,
        players: int = 2,
        dealer: int = 0,
        score: Iterable[int] | None = None,
    ) -> ReferenceGame:
        """The start of a deal from the deck's cards in order (R2.1, R2.2)."""
        nothing: Cards = frozenset()
        sides = 2 if players == PARTNERSHIP_PLAYERS else players
        undealt = cls(
            rules=Rules.parse(rules),
            hands=(nothing,) * players,
            loose=nothing,
            builds={},
            captured=(nothing,) * players,
            stock=tuple(deck),
            turn=(dealer + 1) % players,
            last_capturer=None,
            sweeps=(0,) * players,
            score=(0,) * sides if score is None else tuple(score),
            dealer=dealer,
        )._deal_hands()
        stock = undealt.stock
        return replace(undealt, loose=frozenset(stock[:TABLE_SIZE]), stock=stock[TABLE_SIZE:])

    def __str__(self) -> str:  # R9
        builds = ",".join(str(self.builds[value]) for value in sorted(self.builds))
        fields = [
            self.rules.text,
            "/".join(cards_text(hand) for hand in self.hands),
            cards_text(self.loose),
            builds or "-",
            "/".join(cards_text(pile) for pile in self.captured),
            "".join(self.stock) or "-",
            self.turn,
            "-" if self.last_capturer is None else self.last_capturer,
            "/".join(str(count) for count in self.sweeps),
            "/".join(str(total) for total in self.score),
            self.dealer,
        ]
        return " ".join(str(field) for field in fields)

    @property
    def is_over(self) -> bool:  # R5.2
        return not any(self.hands) and not self.stock

    def legal_moves(self) -> list[str]:
        return sorted(self._moves)

    def play(self, move_text: str) -> ReferenceGame:
        """The position after a move, with the next hands dealt (R2.2) or the last cards given away (R5.2)."""
        if move_text not in self._moves:
            raise ValueError(f"illegal move {move_text!r}; legal: {' '.join(self.legal_moves())}")
        after = self._after(self._moves[move_text])
        after = replace(after, turn=(self.turn + 1) % len(self.hands))
        if self.rules.draw == "yes" and after.stock:
            hand = after.hands[self.turn] | {after.stock[0]}
            return replace(after, hands=changed(after.hands, self.turn, hand), stock=after.stock[1:])
        if any(after.hands):
            return after
        return after._deal_hands() if after.stock else after._give_last_cards()

    def deal_points(self) -> list[dict[str, int]]:
        """The points of the deal per side (R6, R8), sweeps after cancelling but before R7.3."""
        takers, sweeps = self._item_takers(), self._scored_sweeps()
        rows = []
        for side, pile in enumerate(self._side_piles()):
            row = {item: points * (takers[item] == side) for item, points in self.rules.item_points().items()}
            if self.rules.spade_points:  # R8: every spade, and JS once more
                row["spades"] = len(of_suit(pile, "S")) + (JACK_OF_SPADES in pile)
            rows.append(row | {"aces": len(of_rank(pile, "A")), "sweeps": sweeps[side]})
        return rows

    def settle(self) -> tuple[list[int], int | None]:
        """The score of each side after the finished deal, and the side that has won the match (R7)."""
        target = self.rules.target
        items = NEAR_ITEMS[self.rules.near21]
        takers = self._item_takers()
        totals = list(self.score)
        made: dict[str, int] = {}
        for side, points in enumerate(self.deal_points()):
            item = items.get(target - self.score[side])
            if item is None:  # R7.4
                totals[side] += sum(points.values()) - self._lost_sweeps(side, points)
            elif takers[item] == side:  # R7.1
                totals[side] = target
                made[item] = side
        for item in ITEM_POINTS:  # R7.2
            if item in made:
                return totals, made[item]
        best = max(totals)
        alone = best >= target and totals.count(best) == 1  # R7.4
        return totals, totals.index(best) if alone else None

    # Moves (R3, R4)

    @cached_property
    def _moves(self) -> dict[str, Move]:
        """Every legal move by its text (R3.6)."""
        candidates = (
            move
            for card in self.hands[self.turn]
            for moves in (self._trails, self._captures, self._makes, self._raises)
            for move in moves(card)
        )
        return {str(move): move for move in candidates if self._keeps_promises(move)}

    def _trails(self, card: str) -> Iterator[Move]:  # R3.1
        owns = any(build.owner == self.turn for build in self.builds.values())
        if not owns and not self._forced(card):
            yield Move("trail", card)

    def _captures(self, card: str) -> Iterator[Move]:  # R3.2, R3.3
        value = self.rules.capture_value(card)
        if value is None:
            yield from self._pairings(card)
            return
        for loose in self._unions(value):
            for with_build in {False, value in self.builds}:
                if (loose or with_build) and self._forced(card) <= loose:
                    yield Move("capture", card, loose, value, with_build)

    def _pairings(self, card: str) -> Iterator[Move]:  # R8: paired
        same = of_rank(self.loose, card[0])
        takes = {frozenset([one]) for one in same}
        if len(same) == len(SUITS) - 1:  # of two under match_forced (R3.3) one must do
            takes = {same} if self._forced(card) else takes | {same}
        for loose in takes:
            yield Move("capture", card, loose)

    def _makes(self, card: str) -> Iterator[Move]:  # R4.1
        for value in self._promised_values(card):
            with_build = value in self.builds
            if self._is_partners(value):
                continue
            groups = self._groups(value, self.loose | {card})
            own_groups = [group - {card} for group in groups if card in group]
            for loose in {g | u for g, u in product(own_groups, self._unions(value)) if not g & u}:
                if loose or with_build:
                    yield Move("make", card, loose, value, with_build)

    def _raises(self, card: str) -> Iterator[Move]:  # R4.2
        step = self.rules.sum_value(card)
        if step is None:
            return
        for old in self.builds:
            value = old + step
            if value not in self._promised_values(card) or self._is_partners(value):
                continue
            if self._may_raise(old, card):
                for loose in self._unions(value) if self.rules.raise_absorb == "yes" else {frozenset()}:
                    yield Move("raise", card, loose, value, value in self.builds, old)

    def _may_raise(self, old: int, card: str) -> bool:  # R4.2, R4.6
        build = self.builds[old]
        if build.multiple or self._is_partners(old):
            return False
        if build.owner == self.turn:
            return self.rules.raise_own == "yes" and old in self._promised_values(card)
        return True

    def _is_partners(self, value: int) -> bool:
        """Whether a build `value` stands that R4.6 keeps the player's hands off."""
        if len(self.hands) != PARTNERSHIP_PLAYERS or self.rules.partner_builds == "own_card":
            return False
        return value in self.builds and self.builds[value].owner == (self.turn + 2) % PARTNERSHIP_PLAYERS

    def _forced(self, card: str) -> Cards:
        """The loose cards that bar a trail (R3.1) and must come with a capture (R3.3)."""
        takes = self.rules.alone_value(card) == self.rules.capture_value(card)  # in kasino not A, 2S, TD
        forced = takes and self.rules.capture == "match_forced"
        return of_rank(self.loose, card[0]) if forced else frozenset()

    def _promised_values(self, card: str) -> set[int]:
        """The build values the player can promise once the card is played (R4.3); kasino has no builds."""
        if self.rules.kasino:
            return set()
        values = {self.rules.capture_value(kept) for kept in self.hands[self.turn] - {card}}
        return {value for value in values if value is not None}

    def _keeps_promises(self, move: Move) -> bool:  # R4.4
        owned = {build.value for build in self._builds_after(move).values() if build.owner == self.turn}
        return owned <= self._promised_values(move.card)

    # Groups (R1.4, R3.2, R4.1)

    def _unions(self, value: int) -> set[Cards]:
        """Every set of loose cards, none too, that splits into disjoint groups worth the value."""
        if value not in self._unions_known:
            unions: set[Cards] = {frozenset()}
            for group in self._groups(value, self.loose):
                unions |= {union | group for union in unions if not union & group}
            self._unions_known[value] = unions
        return self._unions_known[value]

    @cached_property
    def _unions_known(self) -> dict[int, set[Cards]]:
        return {}

    def _groups(self, value: int, cards: Cards) -> list[Cards]:
        """Every group worth the value: sums with aces as 1, and single cards (an ace alone is 14, R1.4)."""
        sums: list[tuple[int, Cards]] = [(0, frozenset())]
        for card in cards:
            step = self.rules.sum_value(card)
            if step is not None:
                sums += [(total + step, group | {card}) for total, group in sums if total + step <= value]
        return [group for _, group in sums if group and self._is_group(value, group)]

    def _is_group(self, value: int, cards: Cards) -> bool:
        if len(cards) == 1:
            return self.rules.alone_value(*cards) == value
        return sum(self.rules.sum_value(card) or 0 for card in cards) == value

    # What a move does (R3.5, R4.5, R5)

    def _after(self, move: Move) -> ReferenceGame:
        """The position after the played card is laid down, before the turn passes."""
        hands = changed(self.hands, self.turn, self.hands[self.turn] - {move.card})
        after = replace(self, hands=hands, loose=self.loose - move.loose, builds=self._builds_after(move))
        if move.kind == "trail":
            return replace(after, loose=self.loose | {move.card})
        if move.kind != "capture":
            return after
        taken = move.loose | {move.card}
        if move.with_build:
            taken |= self.builds[move.value].cards
        captured = changed(self.captured, self.turn, self.captured[self.turn] | taken)
        swept = not after.loose and not after.builds  # R5.1
        sweeps = changed(self.sweeps, self.turn, self.sweeps[self.turn] + swept)
        return replace(after, captured=captured, last_capturer=self.turn, sweeps=sweeps)

    def _builds_after(self, move: Move) -> dict[int, Build]:
        if move.kind == "trail":
            return self.builds
        used = {move.raised, move.value if move.with_build else 0}
        builds = {value: build for value, build in self.builds.items() if value not in used}
        if move.kind != "capture":
            builds[move.value] = self._new_build(move)
        return builds

    def _new_build(self, move: Move) -> Build:  # R4.5
        cards = move.loose | {move.card}
        if move.kind == "raise":
            multiple = move.with_build or bool(move.loose)
            cards |= self.builds[move.raised].cards
        else:
            multiple = move.with_build or not self._is_group(move.value, cards)
        if move.with_build:
            cards |= self.builds[move.value].cards
        return Build(move.value, cards, self.turn, multiple)

    def _deal_hands(self) -> ReferenceGame:  # R2.2
        hands, stock, players = self.hands, self.stock, len(self.hands)
        for place in range(players):
            seat = (self.dealer + 1 + place) % players
            hands, stock = changed(hands, seat, frozenset(stock[:HAND_SIZE])), stock[HAND_SIZE:]
        return replace(self, hands=hands, stock=stock)

    def _give_last_cards(self) -> ReferenceGame:  # R5.2
        if self.last_capturer is None:
            return self
        pile = self.captured[self.last_capturer] | self.loose
        return replace(self, captured=changed(self.captured, self.last_capturer, pile), loose=frozenset())

    # Points (R6, R7)

    def _side_piles(self) -> list[Cards]:
        sides = len(self.score)
        return [frozenset().union(*self.captured[side::sides]) for side in range(sides)]

    def _item_takers(self) -> dict[str, int | None]:
        """The side that has each item of R6.1 that only one side can have; none at a tie."""
        piles = self._side_piles()
        wanted = {"cards": DECK, "spades": of_suit(DECK, "S"), "big": ["TD"], "little": ["2S"]}
        return {
            item: alone_on_top([len(pile.intersection(cards)) for pile in piles])
            for item, cards in wanted.items()
        }

    def _scored_sweeps(self) -> list[int]:  # R6.2
        sides = len(self.score)
        counts = [sum(self.sweeps[side::sides]) for side in range(sides)]
        scored = {"net": [count - min(counts) for count in counts], "plain": counts, "none": [0] * sides}
        return scored[self.rules.sweeps]

    def _lost_sweeps(self, side: int, points: dict[str, int]) -> int:  # R7.3
        late = self.score[side] >= self.rules.target - NEAR_SPAN
        return points["sweeps"] if late and self.rules.near21 != "none" else 0


def in_id_order(cards: Iterable[str]) -> list[str]:
    return sorted(cards, key=CARD_IDS.__getitem__)


def cards_text(cards: Iterable[str]) -> str:
    return "".join(in_id_order(cards)) or "-"


def split_cards(text: str) -> list[str]:
    return [] if text == "-" else [text[at : at + 2] for at in range(0, len(text), 2)]


def of_rank(cards: Iterable[str], rank: str) -> Cards:
    return frozenset(card for card in cards if card[0] == rank)


def of_suit(cards: Iterable[str], suit: str) -> Cards:
    return frozenset(card for card in cards if card[1] == suit)


def alone_on_top(counts: list[int]) -> int | None:
    """The index of the highest count, None when it is shared (R6.1)."""
    best = max(counts)
    return counts.index(best) if counts.count(best) == 1 else None


def changed(items: tuple, index: int, item: object) -> tuple:
    return (*items[:index], item, *items[index + 1 :])
