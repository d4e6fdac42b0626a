"""What the tests of the engine share: positions from R9 texts, the vectors, and games in a style of play.

Owns no expected value. Positions are taken apart by the fields of R9, without the engine's notation, so
that a test can name one of them.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from casino_env import Move, Position, Rules
from casino_env.cards import FULL_DECK, cards_text
from casino_env.invariants import check_state
from casino_env.rules import side_count
from casino_env.state import State

STYLES = ("uniform", "builds", "trails")
TABLES = (  # rule sets with seats: every rule set, every option and every number of seats
    ("royal", 2),
    ("royal", 3),
    ("royal", 4),
    ("royal;near21=pagat;sweeps=plain", 2),
    ("royal;raise_own=yes;raise_absorb=yes", 3),
    ("royal;capture=free", 2),
    ("royal;partner_builds=own_card;raise_own=yes", 4),
    ("royal;target=11;near21=none;sweeps=none", 3),
    ("plain", 2),
    ("plain;capture=match_forced", 3),
    ("plain;raise_own=yes;sweeps=net", 4),
    ("spade", 2),
    ("spade;partner_builds=own_card;near21=seed;target=21", 4),
    ("royal;draw=yes", 2),
    ("spade;draw=yes;raise_own=yes", 3),
    ("kasino", 2),
    ("kasino;draw=yes;capture=match_forced;near21=pagat", 4),
)
DECK = [cards_text(FULL_DECK)[i : i + 2] for i in range(0, 104, 2)]
VECTORS = Path(__file__).parent / "vectors"
CROWD = 12  # loose cards from which on the trail style captures: with more, lists reach the bound


class Fields(NamedTuple):
    """The eleven fields of a position text (R9), each as written."""

    rules: str
    hands: str
    loose: str
    builds: str
    captured: str
    stock: str
    turn: str
    last_capture: str
    sweeps: str
    score: str
    dealer: str

    @property
    def table(self) -> str:
        """Loose cards and builds, what most rules are about."""
        return f"{self.loose} {self.builds}"


def fields(position: Position) -> Fields:
    """The fields of a position's text."""
    return Fields(*str(position).split(" "))


def study(text: str, **others: str) -> Position:
    """A partial position from its first fields, `royal 2D9S/AHAS 3S4D` at the shortest.

    What is not given is empty; seat 0 is to act, and the last seat dealt. `others` names later fields.
    """
    given = text.split(" ")
    players = given[1].count("/") + 1
    sides = 2 if players == 4 else players
    empty = Fields(
        *("", "", "-", "-", "/".join("-" * players), "-", "0", "-"),
        *("/".join("0" * players), "/".join("0" * sides), str(players - 1)),
    )
    written = Fields(*given, *empty[len(given) :])._replace(**others)
    return Position.parse(" ".join(written), partial=True)


def legal(position: Position) -> list[str]:
    """Texts of the legal moves, sorted."""
    return [str(move) for move in position.legal_moves()]


def load_vectors(name: str) -> list[dict[str, Any]]:
    """The rows of `tests/vectors/NAME.jsonl`."""
    with open(VECTORS / f"{name}.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def deal_arguments(rules: str, players: int, rng: random.Random) -> dict[str, Any]:
    """What `Position.deal` takes for a random deal, often near the end of the match."""
    target = int(Rules.parse(rules).option("target"))
    return {
        "deck": "".join(rng.sample(DECK, len(DECK))),
        "rules": rules,
        "players": players,
        "dealer": rng.randrange(players),
        "score": [max(0, target - rng.randint(-1, 14)) for _ in range(side_count(players))],
    }


def choose(style: str, position: Position, moves: list[Move], rng: random.Random) -> Move:
    """A move in a style of play: `uniform`, `builds` (raises, then builds, first) or `trails` (first)."""
    wanted = {"uniform": (), "builds": ("raise", "build"), "trails": ("trail",)}[style]
    if style == "trails" and len(fields(position).loose) >= 2 * CROWD:
        wanted = ("capture",)
    for kind in wanted:
        if found := [move for move in moves if move.kind == kind]:
            return rng.choice(found)
    return rng.choice(moves)


def random_line(
    start: Position, style: str, rng: random.Random
) -> Iterator[tuple[Position, list[Move], Move | None]]:
    """Play a deal out in a style: each position, its legal moves, and the move played; at the end None.

    Every position is checked for broken invariants.
    """
    position = start
    while not position.is_over:
        check(position)
        moves = position.legal_moves()
        move = choose(style, position, moves, rng)
        yield position, moves, move
        position = position.play(move)
    check(position)
    yield position, position.legal_moves(), None


def check(position: Position) -> None:
    """Fail if an invariant of the position is broken."""
    broken = check_state(position.state, 0, position.rules.table, position.is_partial)
    assert broken is None, f"{broken}: {position}"


def batch(positions: list[Position]) -> State:
    """One batch of the games of the positions, which have the same number of seats."""
    return State(*map(np.concatenate, zip(*(position.state for position in positions), strict=True)))
