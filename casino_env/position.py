"""One game as an immutable value: texts in, legal moves, play, points. A thin face on the batch kernels."""

import threading
import warnings
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from casino_env.arguments import check_count, is_count, quoted
from casino_env.check import LEGAL, reason_text, why_illegal
from casino_env.decks import DeckLike, read_deck, seeded_rng, shuffled_deck
from casino_env.engine import apply_move, is_over, start_deal
from casino_env.errors import CasinoError, IllegalMove, InvalidPosition, MoveListCut
from casino_env.legal import MoveLister
from casino_env.moves import Move
from casino_env.notation import format_position, parse_position
from casino_env.perft import perft
from casino_env.rules import ITEMS, MAX_COUNT, Rules, RuleTable, check_players, side_count
from casino_env.scoring import deal_points, settle
from casino_env.state import NOBODY, State, copy_state, empty_state
from casino_env.svg import to_svg
from casino_env.table_drawing import DARK, draw_table
from casino_env.unions import MAX_MOVES

MOVES_KEPT = 1 << 14


class DealPoints(NamedTuple):
    """Points of one side in a deal (R6), after the cancelling of sweeps."""

    cards: int
    spades: int
    big: int
    little: int
    aces: int
    sweeps: int

    @property
    def total(self) -> int:
        """Sum of the six items."""
        return sum(self)


class Settlement(NamedTuple):
    """The match after a deal (R7)."""

    score: tuple[int, ...]  # by side
    winner: int | None  # side, None while the match goes on


class _Local(threading.local):
    """Each thread lists moves in buffers of its own: kernels run without the interpreter's lock."""

    def __init__(self) -> None:
        self.list_moves = MoveLister(1)


_local = _Local()


class Position:
    """A position of a deal. Immutable: `play` returns a new one.

    Make one with `Position.deal` or `Position.parse`; `str(position)` is the exact R9 text.
    """

    __slots__ = ("_partial", "_rules", "_state")

    def __init__(self, rules: Rules, state: State, partial: bool = False) -> None:
        self._rules, self._state, self._partial = rules, state, partial

    @classmethod
    def deal(
        cls,
        seed: int | None = None,
        *,
        deck: DeckLike | None = None,
        rules: str | Rules = "royal",
        players: int = 2,
        dealer: int = 0,
        score: Sequence[int] | None = None,
    ) -> "Position":
        """A fresh deal (R2) from a shuffled deck (`seed`) or a given one; `score` is by side.

        Raises CasinoError naming the argument that is wrong.
        """
        rules = Rules.parse(rules)
        players, table = check_players(players, rules), rules.table
        if deck is not None and seed is not None:
            raise CasinoError("deck and seed: give one of the two")
        cards = shuffled_deck(seeded_rng(seed), table) if deck is None else read_deck(deck, table)
        state = empty_state(1, players)
        state.score[0] = check_score(score, players)
        start_deal(state, 0, table, cards, check_seat("dealer", dealer, players))
        return cls(rules, state)

    @classmethod
    def parse(cls, text: str, partial: bool = False) -> "Position":
        """Read an R9 text; InvalidPosition names what is wrong. `partial`: see `notation.parse_position`."""
        if not isinstance(text, str):
            raise InvalidPosition(f"a position is a text of 11 fields, not {quoted(text)}")
        return cls(*parse_position(text, partial), partial)

    def __str__(self) -> str:
        return format_position(self._state, 0, self._rules)

    def __repr__(self) -> str:
        return f"Position.parse({str(self)!r}{', partial=True' if self._partial else ''})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def rules(self) -> Rules:
        """The rule set with its overrides."""
        return self._rules

    @property
    def is_partial(self) -> bool:
        """Whether it is a study whose cards need not sum to 52."""
        return self._partial

    @property
    def players(self) -> int:
        """Number of seats."""
        return self._state.hands.shape[1]

    @property
    def turn(self) -> int:
        """Seat to act."""
        return int(self._state.turn[0])

    @property
    def dealer(self) -> int:
        """Seat that dealt."""
        return int(self._state.dealer[0])

    @property
    def score(self) -> tuple[int, ...]:
        """Match score by side before this deal."""
        return tuple(map(int, self._state.score[0]))

    @property
    def is_over(self) -> bool:
        """Whether the deal has ended (R5.2)."""
        return bool(is_over(self._state, 0))

    @property
    def state(self) -> State:
        """A copy of the arrays, a batch of one game."""
        return copy_state(self._state)

    def legal_moves(self) -> list[Move]:
        """Every legal move (R3.6), sorted by text; none when the deal is over.

        A list that is not complete (see `legal`) comes with a `MoveListCut` warning; `play` and the tokens
        know no bound.
        """
        legal = _local.list_moves(self._state, self._rules.table)
        if legal.bounded[0]:
            text = f"the list is cut: {len(legal.moves)} legal moves of more; a search reached {MAX_MOVES}"
            warnings.warn(text, MoveListCut, stacklevel=2)
        return [move for _, move in sorted(map(_named, legal.moves.tolist()))]

    def play(self, move: str | Move) -> "Position":
        """The position after a move and all that follows it without a choice (re-deal, end of the deal).

        Raises InvalidMove for a text that is no move, IllegalMove with the reason for a forbidden one.
        """
        packed = check_move(self._state, self._rules.table, Move.parse(move))
        state = copy_state(self._state)
        apply_move(state, 0, self._rules.table, packed)
        return Position(self._rules, state, self._partial)

    def svg(self, seats: Collection[int] | None = None) -> str:
        """The table as an SVG text. Hands of `seats` are open, by default that of the seat to act; notebooks
        show that. Raises CasinoError if there is no such seat.
        """
        if seats is not None and not isinstance(seats, Collection):
            raise CasinoError(f"seats={quoted(seats)}; valid: some of the seats 0 to {self.players - 1}")
        opened = {self.turn} if seats is None else {check_seat("seats", seat, self.players) for seat in seats}
        hidden = set(range(self.players)) - opened
        doing = "the deal is over" if self.is_over else f"player_{self.turn} to move"
        picture = draw_table(self._rules, self._state, hidden=hidden)
        return to_svg(picture, f"Royal Casino ({self._rules}), {doing}", DARK)

    def _repr_svg_(self) -> str:
        return self.svg()

    def perft(self, depth: int) -> int:
        """Number of paths of `depth` legal moves."""
        return perft(self._state, self._rules.table, check_count("depth", depth, 0))

    def deal_points(self) -> tuple[DealPoints, ...]:
        """Points of each side (R6) for the cards captured so far; final once `is_over`."""
        points = self._points()
        return tuple(DealPoints(*map(int, row)) for row in points)

    def settle(self) -> Settlement:
        """The match score and winner after this deal (R7); CasinoError unless the deal is over."""
        if not self.is_over:
            raise CasinoError("the deal is not over, so it cannot be settled")
        points = self._points()
        score = np.zeros(len(points), np.int64)
        winner = settle(self._state, 0, self._rules.table, points, score)
        return Settlement(tuple(map(int, score)), None if winner == NOBODY else int(winner))

    def _points(self) -> np.ndarray:
        points = np.zeros((side_count(self.players), len(ITEMS)), np.int64)
        deal_points(self._state, 0, self._rules.table, points)
        return points


@lru_cache(maxsize=MOVES_KEPT)
def _named(packed: int) -> tuple[str, Move]:
    """A packed move and its text. Most moves of a game have been seen in another."""
    move = Move.unpack(packed)
    return str(move), move


def check_move(state: State, rules: RuleTable, move: Move) -> int:
    """The packed move if it is legal in the game (a batch of one), else IllegalMove with the reason."""
    packed = move.packed
    code = why_illegal(state, 0, rules, packed)
    if code != LEGAL:
        reason = "the deal is over" if is_over(state, 0) else reason_text(code, move)
        raise IllegalMove(f"illegal move {move}: {reason}")
    return packed


def check_seat(name: str, seat: int, players: int) -> int:
    """`seat` if there is such a seat, else CasinoError, naming the argument."""
    if not is_count(seat) or seat >= players:
        raise CasinoError(f"{name}={quoted(seat)} is not a seat; valid: 0 to {players - 1}")
    return int(seat)


def check_score(score: Sequence[int] | None, players: int) -> Sequence[int]:
    """`score` if it has a count for each side, zeros for None, else CasinoError."""
    sides = side_count(players)
    if score is None:
        return [0] * sides
    numbers = isinstance(score, Sequence | np.ndarray) and len(score) == sides
    if not numbers or any(not is_count(points) or points > MAX_COUNT for points in score):
        raise CasinoError(
            f"score={quoted(score)}; valid: {sides} numbers from 0 to {MAX_COUNT}, one for each side"
        )
    return score
