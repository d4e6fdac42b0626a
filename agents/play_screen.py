"""What a person at the table is shown, as lines of text for a terminal of 80 columns and more.

Shows what the person's seat sees and nothing else. Cards are a rank and the sign of a suit, or its letter
where the terminal has no such signs; colour only helps.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from agents.match_texts import needed, side_name, special_count
from agents.sitting import Sitting, Turn
from casino_env.bits import popcount
from casino_env.cards import ACES, BIG_CASINO, LITTLE_CASINO, SPADES, card_name, iter_cards
from casino_env.moves import Move, low_value
from casino_env.position import Position
from casino_env.rules import ACES_ITEM, BIG, LITTLE, hand_value
from casino_env.scoring import is_special, side_cards
from casino_env.state import NOBODY, VALUES, State, build_owner

if TYPE_CHECKING:
    from agents.insight import Insight

SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
RED = "DH"
HINTS = 4
WIDTH, ITEM_WIDTH = 80, 15  # columns of the table of points, and of its first column
ITEM_NAMES = {BIG: "big casino", LITTLE: "little casino", ACES_ITEM: "aces"}
ITEM_CARDS = {BIG: 1 << BIG_CASINO, LITTLE: 1 << LITTLE_CASINO, ACES_ITEM: ACES}


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
        several = f" #{seat}" if self._sitting.names.count(name) > 1 else ""
        return f"{name}{several}{partner}"

    def side(self, side: int) -> str:
        """Who scores together."""
        return side_name(side, self._names())

    def _names(self) -> list[str]:
        return [self.name(seat) for seat in range(len(self._sitting.names))]

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
        if move.kind == "trail":
            return Text("trail ") + played
        if move.value == 0:
            taken = [Text(f"the build of {hand_value(self._rules, move.card)}")] if move.pile else []
            taken += [loose] if move.loose else []
            return Text("take ") + Text(" and ").join(taken) + Text(" with ") + played
        along = Text(" and the loose ") + loose if move.loose else Text("")
        if move.raises:
            raised = f"raise the build of {move.value - low_value(move.card)} to {move.value} with "
            joined = f", joining the build of {move.value}" if move.pile else ""
            return Text(raised) + played + along + Text(joined)
        built = f"add to the build of {move.value}: " if move.pile else f"build {move.value} with "
        return Text(built) + played + along

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
        yield self._row("", [self.side(side) for side in sides], "bold")
        yield self._row("cards", _majorities([won.cards for won in points], captured))
        of_spades = [cards & SPADES for cards in captured]
        yield self._row("spades", _majorities([won.spades for won in points], of_spades))
        for item in (BIG, LITTLE, ACES_ITEM):
            taken = [cards & ITEM_CARDS[item] for cards in captured]
            cells = [
                Text(f"{won[item]}  ") + self.cards(cards) for won, cards in zip(points, taken, strict=True)
            ]
            yield self._row(ITEM_NAMES[item], cells)
        yield self._row("sweeps", [_sweeps(made, won.sweeps) for made, won in zip(raw, points, strict=True)])
        yield self._row("in all", [str(won.total) for won in points], "bold")
        if left := self._left_over():
            yield left
        yield from map(Text, special_count(position, self._names()))
        yield Text(f"Match: {self._score(settled.score)}, of {table.target}.", "bold")
        if settled.winner is not None:
            yield Text(f"The match is over: {self.side(settled.winner)} won.", "bold yellow")

    def _score(self, score: Iterable[int]) -> str:
        """The match score, side by side."""
        return ", ".join(f"{self.side(side)}: {points}" for side, points in enumerate(score))

    def _row(self, item: str, cells: Sequence[str | Text], style: str = "") -> Text:
        """A row of the table of points, a column for each side."""
        line = Text(f"  {item:<{ITEM_WIDTH}}", style)
        width = (WIDTH - len(line)) // len(cells)
        for cell in cells:
            text = Text(cell, style) if isinstance(cell, str) else cell.copy()
            text.truncate(width - 1, overflow="ellipsis" if self._signs else "crop", pad=True)
            line += text + Text(" ")
        line.rstrip()
        return line

    def _left_over(self) -> Text | None:
        """Who got the last loose cards (R5.2), if there were any."""
        before, move, after = self._sitting.turns[-1]
        loose = int(before.state.loose[0]) & ~move.loose
        if move.kind == "trail":
            loose |= 1 << move.card
        if not loose:
            return None
        last = int(after.state.last_capture[0])
        whose = "nobody: nobody captured" if last == NOBODY else f"{self.name(last)}: last to capture"
        return Text("The last loose cards, ") + self.cards(loose) + Text(f", go to {whose} (R5.2).")

    def _match_line(self, position: Position) -> Text:
        score = self._score(position.score)
        near = [(side, item) for side in range(len(position.score)) if (item := needed(position, side))]
        score += "".join(f"; to win, {self.side(side)}: {item}" for side, item in near)
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


def _majorities(points: Sequence[int], captured: Sequence[int]) -> list[str]:
    """What each side gets for its number of cards."""
    counts = [popcount(cards) for cards in captured]
    tied = ", tied" if counts.count(max(counts)) > 1 else ""
    return [
        f"{won}  with {count}{tied if count == max(counts) else ''}"
        for won, count in zip(points, counts, strict=True)
    ]


def _sweeps(made: int, points: int) -> str:
    """A side's points for sweeps, and what became of the others."""
    cancelled = f", {made - points} cancelled" if made > points else ""
    return f"{points}  {made} made{cancelled}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"
