"""Royal Casino as a Gymnasium environment: one learner who names tokens, opponents who choose whole moves.

Owns who plays where, and what the learner gets back. The game itself is that of `royal_casino_v0`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import NDArray

from casino_env.arguments import quoted
from casino_env.errors import CasinoError, IllegalMove
from casino_env.legal import LegalMoves, MoveLister
from casino_env.moves import Move
from casino_env.position import Position
from casino_env.royal_casino_v0 import ILLEGAL_REWARD, raw_env
from casino_env.rules import Rules
from casino_env.state import IntArray
from casino_env.view import View, see

RANDOM_SEAT = "random"
SEEDS = 2**63  # of a deal, drawn from the environment's stream

Info = dict[str, Any]


class Opponent(Protocol):
    """Who chooses whole moves, in `B` games at once; every agent is one."""

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """For each game the index, int64[B], of a move in its list `legal.moves[offsets[b]:offsets[b+1]]`.

        Every list has at least one move. `rng` is the only randomness that may be used, so that the same
        seed gives the same games.
        """
        ...


class RoyalCasinoEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """One learner at a table of Royal Casino.

    Args:
        opponents: who holds the other seats, in order of play after the learner's.
        rules, objective, max_deals, auto_complete, render_mode: as for `royal_casino_v0`.
        learner_seat: the learner's seat, or `random` for another one in each episode.
        refuse_illegal: raise IllegalMove for an illegal token, changing nothing. By default it ends the
            episode with `ILLEGAL_REWARD`, and `info["illegal"]` says why.

    Observations, tokens and rewards are those of `royal_casino_v0` (its docstring is the manual), from the
    learner's seat. `info` has the `action_mask` (int8[236]) and the learner's `seat`.
    """

    metadata: dict[str, Any] = raw_env.metadata

    def __init__(
        self,
        opponents: Sequence[Opponent],
        rules: str | Rules = "royal",
        objective: str = "deal",
        max_deals: int | None = None,
        auto_complete: bool = True,
        render_mode: str | None = None,
        learner_seat: int | str = RANDOM_SEAT,
        refuse_illegal: bool = False,
    ) -> None:
        players = len(opponents) + 1
        self.game = raw_env(rules, players, objective, max_deals, auto_complete, render_mode)
        self.render_mode = render_mode
        if learner_seat != RANDOM_SEAT and learner_seat not in range(players):
            valid = f"0 to {players - 1}, or '{RANDOM_SEAT}'"
            raise CasinoError(f"learner_seat={quoted(learner_seat)} is not a seat; valid: {valid}")
        self.opponents, self.learner_seat, self.refuse_illegal = list(opponents), learner_seat, refuse_illegal
        agent = self.game.possible_agents[0]
        self.observation_space = self.game.observation_space(agent)["observation"]  # type: ignore[index]
        self.action_space = self.game.action_space(agent)
        self._list_moves = MoveLister(1)
        self._seat = 0

    @property
    def position(self) -> Position:
        """The position before the learner's unfinished move."""
        return self.game.position

    @property
    def spelled(self) -> list[int]:
        """Tokens of the learner's unfinished move."""
        return self.game.spelled

    def reset(
        self, *, seed: int | None = None, options: Info | None = None
    ) -> tuple[NDArray[np.float32], Info]:
        """Start an episode and let the opponents play until the learner is to act.

        `options` are those of `royal_casino_v0`. A seed decides the learner's seat, all decks, and what
        opponents draw.
        """
        super().reset(seed=seed)
        deal_seed = int(self.np_random.integers(SEEDS))
        seat = int(self.np_random.integers(self.game.players))
        self.game.reset(seed=deal_seed, options=options)
        self._seat = seat if self.learner_seat == RANDOM_SEAT else int(self.learner_seat)
        self._let_opponents_play()
        return self._seen()

    def step(self, action: np.int64 | int) -> tuple[NDArray[np.float32], float, bool, bool, Info]:
        """Name a token; once the move is complete, the opponents play until the learner is to act again."""
        if self._is_over():
            raise CasinoError("the episode is over: call reset")
        try:
            self.game.step(int(action))
        except IllegalMove as error:
            if self.refuse_illegal:
                raise
            observation, info = self._seen()
            info |= {"illegal": str(error), "action_mask": np.zeros_like(info["action_mask"])}
            self.game.terminations = dict.fromkeys(self.game.agents, True)
            return observation, ILLEGAL_REWARD[self.game.objective], True, False, info
        reward = self.game.rewards[self._agent] + self._let_opponents_play()
        ended = self.game.terminations[self._agent], self.game.truncations[self._agent]
        observation, info = self._seen()
        return observation, reward, *ended, info

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal tokens, bool[236], as maskable policies ask for them."""
        return self.game.observe(self._agent)["action_mask"].astype(np.bool_)

    def render(self) -> str | NDArray[np.uint8] | None:  # type: ignore[override]
        """As `royal_casino_v0` renders."""
        return self.game.render()

    def close(self) -> None:
        """Nothing to release."""

    @property
    def _agent(self) -> str:
        """The learner's name in the game."""
        return self.game.possible_agents[self._seat]

    def _let_opponents_play(self) -> float:
        """Play until the learner is to act or the episode is over; the learner's reward from it."""
        reward = 0.0
        while not self._is_over() and self.game.agent_selection != self._agent:
            self.game.play(self._choose())
            reward += self.game.rewards[self._agent]
        return reward

    def _choose(self) -> Move:
        """The move of the opponent to act."""
        state = self.game.position.state
        after = int(state.turn[0] - self._seat) % self.game.players
        legal = self._list_moves(state, self.game.rules.table)
        choice = self.opponents[after - 1].choose(see(state), legal, self.np_random)
        return Move.unpack(legal.moves[choice[0]])

    def _is_over(self) -> bool:
        return self.game.terminations[self._agent] or self.game.truncations[self._agent]

    def _seen(self) -> tuple[NDArray[np.float32], Info]:
        seen = self.game.observe(self._agent)
        return seen["observation"], {"action_mask": seen["action_mask"], "seat": self._seat}
