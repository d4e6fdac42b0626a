"""Games of a batch written down while they are played, all in step: a turn is a move in each of them.

Axes: `B` games, `P` seats, `S` sides.
"""

import numpy as np
from numpy.typing import NDArray

from agents.records import DealRecord
from casino_env.decks import deck_text
from casino_env.moves import Move
from casino_env.rules import Rules, deal_turns
from casino_env.state import IntArray, State


class Recording:
    """What is played in a batch that begins with `state`."""

    def __init__(self, rules: Rules, state: State) -> None:
        self._rules, self._length = rules, deal_turns(rules.table)
        self._deals: list[list[DealRecord]] = [[] for _ in range(len(state.turn))]
        self._moves: list[list[int]] = [[] for _ in self._deals]
        self._turns = 0
        self._begin(state)

    def note(self, moves: IntArray, going: NDArray[np.bool_], points: IntArray, after: State) -> None:
        """Write down a turn of the games that are `going` [B]: its packed moves [B].

        `points` [B, S] are those of deals that end with it, `after` is the state then.
        """
        self._turns += 1
        games = np.flatnonzero(going).tolist()
        for game in games:
            self._moves[game].append(int(moves[game]))
        if self._turns % self._length == 0:
            for game in games:
                self._close(game, tuple(map(int, points[game])))
            self._begin(after)

    def deals(self, game: int, broken: bool) -> tuple[DealRecord, ...]:
        """What has been played of a game, to which nothing is added. `broken`: it ended amid a deal."""
        if broken:
            self._close(game, None)
        return tuple(self._deals[game])

    def _begin(self, state: State) -> None:
        self._decks = state.deck.copy()
        self._dealers, self._scores = state.dealer.copy(), state.score.copy()

    def _close(self, game: int, points: tuple[int, ...] | None) -> None:
        """Put the moves of a deal together, which has ended if there are points."""
        deal = DealRecord(
            deck=deck_text(self._decks[game], self._rules.table),
            dealer=int(self._dealers[game]),
            score=tuple(map(int, self._scores[game])),
            moves=tuple(str(Move.unpack(move)) for move in self._moves[game]),
            points=points,
        )
        self._deals[game].append(deal)
        self._moves[game] = []
