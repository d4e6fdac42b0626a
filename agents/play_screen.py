"""What a person at the table is shown, as lines of text for a terminal of 80 columns and more.

Shows what the person's seat sees and nothing else. Cards are a rank and the sign of a suit, or its letter
where the terminal has no such signs; colour only helps.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from agents.sitting import Sitting, Turn
from casino_env.bits import popcount
from casino_env.cards import ACES, BIG_CASINO, LITTLE_CASINO, SPADES, card_name, iter_cards
from casino_env.moves import Move, low_value
from casino_env.position import Position
from casino_env.rules import BIG, CARDS, LITTLE, SPADES_ITEM, hand_value, side_count
from casino_env.scoring import is_special, near_item, side_cards
from casino_env.state import VALUES, State, build_owner

if TYPE_CHECKING:
    from agents.insight import Insight

SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
RED = "DH"
HINTS = 4
NEEDED = {
    CARDS: "most cards",
    SPADES_ITEM: "most spades",
    BIG: "the big casino",
    LITTLE: "the little casino",
}


class Screen:
    """Texts for one match. `signs`: whether the terminal can show the signs of suits."""

    def __init__(self, sitting: Sitting, signs: bool) -> None:
        self._sitting, self._signs, self._rules = sitting, signs, sitting.rules.table

    def card(self, card: int) -> Text:
        """A card, red or black."""
        name = card_name(card)
        suit = name[1]
        name = name[0].replace("T", "10") + (SIGNS[suit] if self._signs else suit)
        return Text(name, "bold red" if suit in RED else "bold")

    def cards(self, cards: int | Iterable[int]) -> Text:
        """Cards with spaces between."""
        listed = iter_cards(cards) if isinstance(cards, int) else cards
        return Text(" ").join(self.card(card) for card in listed)

    def name(self, seat: int) -> str:
        """Who sits there."""
        own, name = self._sitting.seat, self._sitting.names[seat]
        if seat == own:
            return "you"
        partner = " (your partner)" if (seat - own) % 4 == 2 and len(self._sitting.names) == 4 else ""
        several = f" {seat}" if self._sitting.names.count(name) > 1 else ""
        return f"{name}{several}{partner}"

    def side(self, side: int) -> str:
        """Who scores together."""
        seats = range(side, len(self._sitting.names), side_count(len(self._sitting.names)))
        return " and ".join(map(self.name, seats))

    def table(self) -> Iterator[Text]:
        """The table as the person sees it, and the own hand with numbers."""
        position, seat = self._sitting.position, self._sitting.seat
        state, players = position.state, position.players
        yield self._match_line(position)
        for other in range(1, players):
            yield from self._seat(position, state, (seat + other) % players)
        yield Text("")
        for value in range(VALUES):
            if state.build_cards[0, value]:
                yield self._build(state, value)
        loose = int(state.loose[0])
        yield Text("  loose   ") + (self.cards(loose) if loose else Text("none", "dim"))
        yield Text("")
        yield from self._seat(position, state, seat)

    def hand(self) -> Text:
        """The own cards with their numbers."""
        cards = [Text(f"{i} ", "dim") + self.card(card) for i, card in enumerate(own_cards(self._sitting), 1)]
        return Text("  hand    ") + Text("   ").join(cards)

    def turn(self, turn: Turn) -> Text:
        """A move that was played, in words."""
        name = self.name(turn.seat)
        swept = turn.after.state.sweeps.sum() > turn.before.state.sweeps.sum()
        line = Text(f"{name}: ") + self.move(turn.move)
        return line + Text(", a sweep!", "bold yellow") if swept else line

    def move(self, move: Move) -> Text:
        """A move in words."""
        played, loose = self.card(move.card), self.cards(move.loose)
        if move.value == 0 and not move.loose and not move.pile:
            return Text("trail ") + played
        if move.value == 0:
            taken = [Text(f"the build of {hand_value(self._rules, move.card)}")] if move.pile else []
            taken += [loose] if move.loose else []
            return Text("take ") + Text(" and ").join(taken) + Text(" with ") + played
        with_cards = played + Text(" ") + loose if move.loose else played
        if move.raises:
            raised = f"raise the build of {move.value - low_value(move.card)} to {move.value} with "
            return Text(raised) + with_cards
        joined = f"add to the build of {move.value}: " if move.pile else f"build {move.value} of "
        return Text(joined) + with_cards

    def insight(self, insight: "Insight") -> Iterator[Text]:
        """What a policy would do."""
        for told in insight.moves[:HINTS]:
            words = self.move(Move.parse(told.move))
            yield Text(f"  {told.probability:4.0%}  {told.value:+5.1f}  ") + words
        yield Text(
            "  (its preference, and the points by which you end ahead of the others, on average)", "dim"
        )

    def points(self) -> Iterator[Text]:
        """Every point of the deal, and where the match stands."""
        position = self._sitting.position
        state, table = position.state, position.rules.table
        points, settled = position.deal_points(), position.settle()
        sides = range(len(points))
        captured = [side_cards(state, 0, side, len(points)) for side in sides]
        raw = [int(state.sweeps[0, side :: len(points)].sum()) for side in sides]
        yield Text(f"The deal is over. Points of deal {self._sitting.number}:", "bold")
        for side in sides:
            won, cards = points[side], captured[side]
            yield Text(f"{self.side(side)}: {won.total}", "bold")
            yield self._item("cards", won.cards, f"{popcount(cards)} captured{_most(captured, side)}")
            spades = [cards & SPADES for cards in captured]
            of_spades = f"{popcount(spades[side])} captured{_most(spades, side)}"
            yield self._item("spades", won.spades, of_spades)
            yield self._card_item("big casino", won.big, cards & 1 << BIG_CASINO)
            yield self._card_item("little casino", won.little, cards & 1 << LITTLE_CASINO)
            yield self._card_item("aces", won.aces, cards & ACES)
            cancelled = raw[side] - won.sweeps
            note = f", {cancelled} cancelled" if cancelled else ""
            yield self._item("sweeps", won.sweeps, f"{raw[side]} made{note}")
            if needs := self._needs(side):
                before = f"{position.score[side]} of {table.target} before the deal"
                yield Text(f"  {before}: only {needs} counts, and wins (R7.1)")
        score = ", ".join(f"{self.side(side)} {settled.score[side]}" for side in sides)
        yield Text(f"Match: {score}, of {table.target}.", "bold")
        if settled.winner is not None:
            yield Text(f"The match is over: {self.side(settled.winner)} won.", "bold yellow")

    def _needs(self, side: int) -> str:
        """What a side that is near has to get (R7.1), empty if it is not."""
        return NEEDED.get(near_item(self._sitting.position.score[side], self._rules), "")

    def _item(self, item: str, points: int, what: str) -> Text:
        return Text(f"  {points}  {item}: {what}", "" if points else "dim")

    def _card_item(self, item: str, points: int, cards: int) -> Text:
        listed = self.cards(cards) if cards else Text("none", "dim")
        return Text(f"  {points}  {item}: ", "" if points else "dim") + listed

    def _match_line(self, position: Position) -> Text:
        score = ", ".join(f"{self.side(side)} {points}" for side, points in enumerate(position.score))
        near = [side for side in range(len(position.score)) if self._needs(side)]
        score += "".join(f"; to win, {self.side(side)}: {self._needs(side)}" for side in near)
        stock = f"{int(position.state.deck.shape[1] - position.state.dealt[0])} cards in the stock"
        target = position.rules.table.target
        return Text(f"Deal {self._sitting.number}. Score: {score}, of {target}. {stock}.", "bold")

    def _seat(self, position: Position, state: State, seat: int) -> Iterator[Text]:
        captured, rules = int(state.captured[0, seat]), position.rules.table
        held = popcount(int(state.hands[0, seat]))
        spades, sweeps = popcount(captured & SPADES), int(state.sweeps[0, seat])
        notes = f"{_count(held, 'card')}, captured {popcount(captured)} ({_count(spades, 'spade')})"
        notes += f", {_count(sweeps, 'sweep')}" if sweeps else ""
        notes += ", dealer" if seat == position.dealer else ""
        special = [card for card in iter_cards(captured) if is_special(rules, card)]
        line = Text(f"  {self.name(seat):<9} ") + Text(notes)
        yield line + Text(": ") + self.cards(special) if special else line

    def _build(self, state: State, value: int) -> Text:
        owner = int(build_owner(state.owned, 0, value))
        multiple = " multiple" if state.multiple[0] >> value & 1 else ""
        whose = "yours" if owner == self._sitting.seat else f"of {self.name(owner)}"
        head = Text(f"  build   {value}{multiple}, {whose}: ")
        return head + self.cards(int(state.build_cards[0, value]))


def own_cards(sitting: Sitting) -> list[int]:
    """The person's hand, in the order in which it is shown."""
    return list(iter_cards(int(sitting.position.state.hands[0, sitting.seat])))


def _most(captured: Sequence[int], side: int) -> str:
    """Whether the side captured the most of some cards, of which each side's are given."""
    counts = [popcount(cards) for cards in captured]
    if counts[side] < max(counts):
        return ""
    return ", the most" if counts.count(max(counts)) == 1 else ", tied for the most"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"
