"""A match of a person against agents: whose turn it is, what was played, undo, and what is saved.

Owns the game, not how it is shown. Decks and the agents' random streams follow from the seed, the number of
the deal and of the turn: so a game that is taken back, or saved and continued, goes on as it would have.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from agents.base import Agent
from agents.contestant import move_of
from agents.records import DealRecord, GameRecord
from agents.registry import make_agent, runs_code
from casino_env.decks import deck_text, shuffled_deck
from casino_env.engine import next_dealers
from casino_env.errors import CasinoError
from casino_env.moves import Move
from casino_env.position import Position, Settlement
from casino_env.rules import Rules

YOU = "you"  # what the person is called in a record
DECK_STREAM, PLAY_STREAM = 0, 1
OBJECTIVE = "match"


class Turn(NamedTuple):
    """A move that was played."""

    before: Position
    move: Move
    after: Position

    @property
    def seat(self) -> int:
        """Whose it was."""
        return self.before.turn


class Sitting:
    """A match. `names` are the agents by seat, one of them `YOU`."""

    def __init__(self, rules: Rules, names: Sequence[str], seed: int) -> None:
        """Raises CasinoError if an agent cannot be made."""
        self.rules, self.names, self.seed = rules, tuple(names), seed
        self.seat = self.names.index(YOU)
        self._agents: dict[int, Agent] = {
            seat: make_agent(name, rules, len(names)) for seat, name in enumerate(names) if seat != self.seat
        }
        self._past: list[DealRecord] = []  # deals before this one
        self.position: Position
        self._begin(dealer=0, score=None)

    @classmethod
    def resume(cls, game: GameRecord, trusted: Collection[str] = ()) -> "Sitting":
        """Go on with a saved match; CasinoError if it is none.

        Agents that are code in a file are only made if they are `trusted`: anyone can write a record.
        """
        if game.agents.count(YOU) != 1 or game.objective != OBJECTIVE or game.seed is None or game.failed:
            raise CasinoError(f"agents={list(game.agents)}: not a match that '{YOU}' saved")
        for name in game.agents:
            if name != YOU and runs_code(name) and name not in trusted:
                raise CasinoError(f"agent '{name}' is code in a file: to have it run, give --opponent too")
        sitting = cls(game.rules, game.agents, game.seed)
        *past, last = game.deals
        sitting._past, sitting._deck = list(past), last.deck
        sitting.position, sitting.turns = next(last.positions(game.rules, game.players)), []
        for move in last.moves:
            sitting.play(move)
        return sitting

    @property
    def number(self) -> int:
        """Of the deal, from 1."""
        return len(self._past) + 1

    @property
    def latest(self) -> list[Turn]:
        """What was played since the person's last move, that one included."""
        own = [i for i, turn in enumerate(self.turns) if turn.seat == self.seat]
        return self.turns[own[-1] if own else 0 :]

    @property
    def settlement(self) -> Settlement | None:
        """Where the match stands after the deal, once that is over."""
        return self.position.settle() if self.position.is_over else None

    def reply(self) -> list[Turn]:
        """Have the agents play until it is the person's turn or the deal is over."""
        start = len(self.turns)
        while not self.position.is_over and self.position.turn != self.seat:
            seat, rng = self.position.turn, self._rng(PLAY_STREAM, len(self.turns))
            self.play(move_of(self._agents[seat], self.names[seat], self.position, rng))
        return self.turns[start:]

    def play(self, move: str | Move) -> Turn:
        """Play a move of whoever is to act; InvalidMove or IllegalMove if it is none."""
        turn = Turn(self.position, Move.parse(move), self.position.play(move))
        self.turns.append(turn)
        self.position = turn.after
        return turn

    def undo(self) -> None:
        """Go back to before the person's last move in this deal; CasinoError if there is none."""
        latest = self.latest
        if not latest or latest[0].seat != self.seat:
            raise CasinoError("you have not played in this deal yet: there is nothing to take back")
        self.position = latest[0].before
        del self.turns[-len(latest) :]

    def next_deal(self) -> None:
        """Deal again; CasinoError unless the deal is over and the match is not."""
        settled = self.settlement
        if settled is None or settled.winner is not None:
            raise CasinoError("there is no further deal now")
        (dealer,) = next_dealers(self.position.state, np.zeros(1, np.int64))
        self._past.append(self._deal_record())
        self._begin(int(dealer), settled.score)

    def record(self) -> GameRecord:
        """The match so far."""
        deals = (*self._past, self._deal_record())
        return GameRecord(self.rules, len(self.names), self.names, deals, OBJECTIVE, self.seed)

    def _begin(self, dealer: int, score: Sequence[int] | None) -> None:
        table = self.rules.table
        self._deck = deck_text(shuffled_deck(self._rng(DECK_STREAM), table), table)
        self.position = Position.deal(
            deck=self._deck, rules=self.rules, players=len(self.names), dealer=dealer, score=score
        )
        self.turns: list[Turn] = []

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number, *stream)))

    def _deal_record(self) -> DealRecord:
        points = tuple(side.total for side in self.position.deal_points()) if self.position.is_over else None
        moves = tuple(str(turn.move) for turn in self.turns)
        return DealRecord(self._deck, self.position.dealer, self.position.score, moves, points)
