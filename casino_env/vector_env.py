"""Many games at once, in whole moves, with auto-reset: what training and the arena run on.

Axes: `B` games, `P` seats, `S` sides. Every game has a random stream of its own, so that a game does not
depend on how many others are played beside it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.arguments import check_count, indices_below, whole_numbers
from casino_env.bits import popcount
from casino_env.cards import N_CARDS
from casino_env.decks import DeckStreams, Seeds, are_decks
from casino_env.engine import apply_batch, next_dealers, start_deals
from casino_env.errors import CasinoError, IllegalMove
from casino_env.legal import LegalMoves, MoveLister
from casino_env.objectives import check_max_deals, check_objective, end_deals
from casino_env.rules import Rules, check_players
from casino_env.state import IntArray, State, empty_state
from casino_env.view import View, see


class Step(NamedTuple):
    """What a step of all games brings. Where an episode ended, the moves are the next one's."""

    legal: LegalMoves  # of each game's seat to act
    rewards: NDArray[np.float64]  # [B, P] for what this step decided
    terminated: NDArray[np.bool_]  # [B]
    truncated: NDArray[np.bool_]  # [B]
    points: IntArray  # [B, S] points of a deal that ended in this step, else 0


class VectorEnv:
    """`num_envs` games stepped together, one whole move in each.

    Args:
        num_envs: number of games `B`.
        rules: a rule set or its text (R8).
        players: 2, 3 or 4.
        seed: of all random streams, or one for each game; None for a fresh one.
        objective: `deal` (one deal is an episode) or `match` (to the target).
        max_deals: truncate a match after so many deals.
        auto_reset: start the next episode where one ends. False, for deals only: all end with the same step,
            and there are no legal moves, but the final state to look at, until the next `reset`.
    """

    def __init__(
        self,
        num_envs: int,
        rules: str | Rules = "royal",
        players: int = 2,
        seed: Seeds = None,
        objective: str = "deal",
        max_deals: int | None = None,
        auto_reset: bool = True,
    ) -> None:
        self.num_envs = check_count("num_envs", num_envs, 1)
        self.rules = Rules.parse(rules)
        self.players = check_players(players, self.rules)
        self.objective = check_objective(objective)
        self.max_deals = check_max_deals(max_deals, objective)
        if not auto_reset and objective != "deal":
            raise CasinoError("auto_reset=False is for deals: leave it out, or give objective='deal'")
        self.auto_reset = auto_reset
        self.state: State = empty_state(self.num_envs, self.players)
        self.legal = LegalMoves(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.bool_))
        self._decks = DeckStreams(self.num_envs, seed, self.rules.table)
        self._deals = np.zeros(num_envs, np.int64)
        self._list_moves = MoveLister(self.num_envs)

    def reset(
        self,
        seed: Seeds = None,
        decks: NDArray[np.int8] | None = None,
        dealers: Sequence[int] | IntArray | None = None,
    ) -> LegalMoves:
        """Start an episode in every game; returns the legal moves of the seats to act.

        `decks` int8[B, 52], cards not in play first, and `dealers` [B] fix the first deal; by default decks
        are shuffled and dealers take turns over the games. Games given the same seed of their own have the
        same decks. Raises CasinoError if something does not fit; nothing changes then.
        """
        first_decks, places = self._check_start(decks, dealers)
        if seed is not None:
            self._decks = DeckStreams(self.num_envs, seed, self.rules.table)
        self.state.score[:] = 0
        self._deals[:] = 0
        everyone = np.arange(self.num_envs)
        if first_decks is None:
            first_decks = self._decks.draw(everyone)
        start_deals(self.state, everyone, self.rules.table, first_decks, places)
        self.legal = self._list_moves(self.state, self.rules.table)
        return self.legal

    def view(self) -> View:
        """What each game's seat to act sees now; a copy. Agents are given this, never the state."""
        return see(self.state)

    def step(self, choices: IntArray) -> Step:
        """Play in each game the move with the index `choices` [B] in its list of legal moves.

        Raises IllegalMove if an index is out of range, before `reset`, or after the end without auto-reset;
        nothing is played then.
        """
        counts = np.diff(self.legal.offsets)
        indices = indices_below(choices, counts)
        if indices is None:
            raise IllegalMove(f"choices: give {self.num_envs} indices, each below its game's number of moves")
        over = np.zeros(self.num_envs, np.bool_)
        moves = self.legal.moves[self.legal.offsets[:-1] + indices]
        apply_batch(self.state, self.rules.table, moves, over)
        rewards = np.zeros((self.num_envs, self.players))
        points = np.zeros_like(self.state.score)
        terminated, truncated = np.zeros_like(over), np.zeros_like(over)
        ended = np.flatnonzero(over)
        if len(ended):
            outcome = end_deals(self.state, self.rules.table, ended, self.objective)
            rewards[ended], points[ended] = outcome.rewards, outcome.totals
            terminated[ended] = outcome.finished
            self._deals[ended] += 1
            if self.max_deals is not None:
                truncated = over & ~terminated & (self._deals >= self.max_deals)
            if self.auto_reset:
                self._deal_next(ended, outcome.score, terminated | truncated)
        self.legal = self._list_moves(self.state, self.rules.table)
        return Step(self.legal, rewards, terminated, truncated, points)

    def _check_start(
        self, decks: NDArray[np.int8] | None, dealers: Sequence[int] | IntArray | None
    ) -> tuple[NDArray[np.int8] | None, IntArray]:
        everyone = np.arange(self.num_envs)
        places = everyone % self.players if dealers is None else whole_numbers(dealers, everyone.shape)
        if places is None or not np.isin(places, range(self.players)).all():
            raise CasinoError(f"dealers: give {self.num_envs} seats from 0 to {self.players - 1}")
        if decks is None:
            return None, places
        cards = whole_numbers(decks, (self.num_envs, N_CARDS))
        if cards is None or not are_decks(cards, self.rules.table):
            unused = N_CARDS - popcount(self.rules.table.deck)
            first = f", the {unused} that are not in play first" if unused else ""
            raise CasinoError(f"decks: give {self.num_envs} decks of the {N_CARDS} card ids once each{first}")
        return cards.astype(np.int8), places

    def _deal_next(self, ended: IntArray, score: IntArray, finished: NDArray[np.bool_]) -> None:
        """The next deal of the match, or the first of a new episode."""
        self.state.score[ended] = np.where(finished[ended, None], 0, score)
        self._deals[finished] = 0
        dealers = next_dealers(self.state, ended)
        start_deals(self.state, ended, self.rules.table, self._decks.draw(ended), dealers)
