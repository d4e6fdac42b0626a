"""Records of games: one line of JSON each, which the arena writes and `casino replay` reads.

Owns the format. A record holds the decks and the moves as texts (R9), so that everything else follows by the
rules; what it says of scores and points is checked against that when it is read. Nothing in it is executed;
an agent's name may be that of a file with code, which is for those to mind who make agents of names.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.files import write_text
from casino_env.arguments import is_count, quoted
from casino_env.engine import next_dealers
from casino_env.errors import CasinoError
from casino_env.objectives import check_objective
from casino_env.position import Position
from casino_env.rules import Rules, check_players

FORMAT = "royal-casino-game"
VERSION = 1
LONGEST_NAME = 5000  # a path and its options
SEED_DIGITS = 4300  # as many as Python reads


@dataclass(frozen=True)
class DealRecord:
    """A deal as it was played, to the end or so far."""

    deck: str  # the cards in play, in the order in which they are dealt
    dealer: int
    score: tuple[int, ...]  # of the match before it, by side
    moves: tuple[str, ...]
    points: tuple[int, ...] | None = None  # by side; None if it was not played to the end

    def positions(self, rules: Rules, players: int) -> Iterator[Position]:
        """Before the first move, and after each; CasinoError naming the move that cannot be."""
        position = Position.deal(
            deck=self.deck, rules=rules, players=players, dealer=self.dealer, score=self.score
        )
        yield position
        for number, move in enumerate(self.moves, 1):
            try:
                position = position.play(move)
            except CasinoError as error:
                raise CasinoError(f"move {number}: {error}") from None
            yield position


@dataclass(frozen=True)
class GameRecord:
    """A game: one deal, or those of a match."""

    rules: Rules
    players: int
    agents: tuple[str, ...]  # by seat, as on the command line
    deals: tuple[DealRecord, ...]
    objective: str = "deal"
    seed: int | None = None  # of the competition or sitting that it is from
    number: int | None = None  # of its deck there
    failed: str | None = None  # the agent that lost it by failing, after the last move

    @property
    def line(self) -> str:
        """The record as JSON. A seed is written as text, so that no reader rounds it."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "rules": str(self.rules),
            "players": self.players,
            "objective": self.objective,
            "agents": self.agents,
            "seed": None if self.seed is None else str(self.seed),
            "number": self.number,
            "deals": [
                {
                    "deck": deal.deck,
                    "dealer": deal.dealer,
                    "score": deal.score,
                    "moves": " ".join(deal.moves),
                    "points": deal.points,
                }
                for deal in self.deals
            ],
            "failed": self.failed,
        }
        return json.dumps(document)

    def check(self) -> "GameRecord":
        """The record if it can have been played, else CasinoError naming the deal and what is wrong in it."""
        if self.failed is not None and self.failed not in self.agents:
            raise CasinoError(f"failed={quoted(self.failed)}; valid: one of the agents, or null")
        if self.failed is not None and self.deals[-1].points is not None:
            raise CasinoError(f"failed={quoted(self.failed)}, but the last deal was played to its end")
        expected = None
        for number, deal in enumerate(self.deals, 1):
            try:
                last = _check_deal(self, deal, expected)
            except CasinoError as error:
                raise CasinoError(f"deal {number}: {error}") from None
            if number < len(self.deals):
                expected = _next_deal(self, last, number)
        return self


def write_records(path: Path, lines: Iterable[str]) -> None:
    """Write records, each a line, atomically."""
    write_text(path, "".join(f"{line}\n" for line in lines))


def read_records(path: Path) -> Iterator[GameRecord]:
    """The records of a file, each checked; CasinoError naming the file and the line of a damaged one."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.isspace():
                    continue
                try:
                    yield read_record(line)
                except CasinoError as error:
                    raise CasinoError(f"{path}, line {number}: {error}") from None
    except UnicodeDecodeError:
        raise CasinoError(f"{path}: not a text file") from None


def read_record(line: str) -> GameRecord:
    """The record that a line holds; CasinoError naming the field that is wrong."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CasinoError(f"not a record of a game: {error}") from None
    fields = _Fields(document)
    if fields.document.get("format") != FORMAT:
        raise CasinoError(f"format={quoted(document.get('format'))} is unknown; valid: '{FORMAT}'")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise CasinoError(f"version={quoted(document.get('version'))} is unknown; valid: {VERSION}")
    rules = Rules.parse(fields.take("rules", _is_text, "a text"))
    players = check_players(fields.take("players", is_count, "a number"), rules)
    seed = fields.take("seed", _is_digits, "a whole number as text, or null", optional=True)
    deals = fields.take("deals", lambda value: isinstance(value, list) and value, "a list of deals")
    record = GameRecord(
        rules=rules,
        players=players,
        agents=tuple(fields.take("agents", lambda value: _are_names(value, players), f"{players} names")),
        deals=tuple(map(_read_deal, deals)),
        objective=check_objective(fields.take("objective", _is_text, "a text")),
        seed=None if seed is None else int(seed),
        number=fields.take("number", is_count, "a number or null", optional=True),
        failed=fields.take("failed", _is_text, "a name or null", optional=True),
    )
    return record.check()


@dataclass(frozen=True)
class _Fields:
    """The fields of a JSON object."""

    document: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.document, dict):
            raise CasinoError(f"not a record of a game: {quoted(self.document)}")

    def take(self, name: str, is_valid: Callable[[Any], Any], valid: str, optional: bool = False) -> Any:
        """The value of a field, which may be null or missing if `optional`."""
        value = self.document.get(name)
        if (value is None and optional) or (value is not None and is_valid(value)):
            return value
        raise CasinoError(f"{name}={quoted(value)}; valid: {valid}")


def _read_deal(document: Any) -> DealRecord:
    fields = _Fields(document)
    points = fields.take("points", _are_counts, "numbers or null", optional=True)
    return DealRecord(
        deck=fields.take("deck", _is_text, "the cards as text"),
        dealer=fields.take("dealer", is_count, "a seat"),
        score=tuple(fields.take("score", _are_counts, "numbers")),
        moves=tuple(fields.take("moves", _is_text, "moves with spaces between").split()),
        points=None if points is None else tuple(points),
    )


def _check_deal(game: GameRecord, deal: DealRecord, expected: DealRecord | None) -> Position:
    """The last position of a deal, whose dealer and score are `expected`."""
    if expected:
        for name in ("dealer", "score"):
            given, found = getattr(deal, name), getattr(expected, name)
            if given != found:
                raise CasinoError(f"{name}={quoted(given)}, but it is {found} after the deal before")
    *_, last = deal.positions(game.rules, game.players)
    points = tuple(side.total for side in last.deal_points()) if last.is_over else None
    if deal.points != points:
        raise CasinoError(f"points={quoted(deal.points)}, but the moves bring {points}")
    return last


def _next_deal(game: GameRecord, last: Position, number: int) -> DealRecord:
    """What the deal after `last` begins with; CasinoError if there can be none."""
    if game.objective != "match":
        raise CasinoError(f"{len(game.deals)} deals; valid: one, since the objective is not 'match'")
    if not last.is_over or last.settle().winner is not None:
        raise CasinoError(f"deal {number + 1}: there can be none after the deal before")
    (dealer,) = next_dealers(last.state, np.zeros(1, np.int64))
    return replace(game.deals[number - 1], dealer=int(dealer), score=last.settle().score)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_digits(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= SEED_DIGITS


def _are_counts(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_count, value))


def _are_names(value: Any, players: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == players
        and all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME for name in value)
        and all(map(str.isprintable, value))
    )
