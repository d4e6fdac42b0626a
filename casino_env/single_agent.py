"""Royal Casino as a Gymnasium environment: one learner who names tokens, opponents who choose whole moves.

Owns who plays where, and what the learner gets back. The game itself is that of `royal_casino_v0`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import NDArray

from casino_env.arguments import check_flag, check_seed, indices_below, is_count, quoted
from casino_env.errors import CasinoError, IllegalMove
from casino_env.legal import LegalMoves, MoveLister
from casino_env.moves import Move
from casino_env.objectives import ILLEGAL_REWARD
from casino_env.position import Position
from casino_env.rendering import Picture
from casino_env.resets import check_turns, read_options, start_state
from casino_env.royal_casino_v0 import raw_env
from casino_env.rules import Rules
from casino_env.state import IntArray
from casino_env.view import View, see

RANDOM_SEAT = "random"
SEEDS = 2**63  # of an episode's decks

Info = dict[str, Any]


class Opponent(Protocol):
    """Who chooses whole moves, in `B` games at once; every agent is one."""

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """For each game the index, int64[B], of a move in its list `legal.moves[offsets[b]:offsets[b+1]]`.

        Every list has at least one move. `rng` is the only randomness that may be used, so that the same
        seed gives the same games.
        """
        ...


def choose(opponent: Opponent, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
    """The packed moves [B] that an opponent chooses; CasinoError if it names a move that is not in a list."""
    counts = np.diff(legal.offsets)
    choices = indices_below(opponent.choose(view, legal, rng), counts)
    if choices is None:
        name = type(opponent).__name__
        raise CasinoError(f"opponent {name}: choose gives for each game the index of a move in its list")
    return legal.moves[legal.offsets[:-1] + choices]


def check_learner_seat(learner_seat: Any, players: int) -> int | str:
    """`learner_seat` if it is a seat or `random`, else CasinoError."""
    known = learner_seat == RANDOM_SEAT if isinstance(learner_seat, str) else is_count(learner_seat)
    if not known or (learner_seat != RANDOM_SEAT and learner_seat >= players):
        valid = f"0 to {players - 1}, or '{RANDOM_SEAT}'"
        raise CasinoError(f"learner_seat={quoted(learner_seat)} is not a seat; valid: {valid}")
    return learner_seat


def check_start(game: raw_env, learner_seat: int | str, options: Info) -> None:
    """CasinoError for wrong reset options, and for a position that ends before a learner's turn."""
    if not options:
        return
    state, _ = start_state(options, game.rules, game.players, np.random.default_rng(0))
    if game.objective == "deal" or game.max_deals == 1:
        check_turns(state, range(game.players) if learner_seat == RANDOM_SEAT else [int(learner_seat)])


def draw_start(rng: np.random.Generator, players: int) -> tuple[int, int]:
    """The seed of an episode's decks and a seat: all that an episode draws from the learner's stream."""
    return int(rng.integers(SEEDS)), int(rng.integers(players))


def spawn(rng: np.random.Generator) -> np.random.Generator:
    """A stream of its own, decided by the seed of `rng`, which does not move."""
    return rng.spawn(1)[0]


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

    metadata: dict[str, Any] = dict(raw_env.metadata)  # noqa: RUF012  (a copy: Gymnasium's batches write in it)

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
        self.learner_seat = check_learner_seat(learner_seat, players)
        self.opponents = list(opponents)
        self.refuse_illegal = check_flag("refuse_illegal", refuse_illegal)
        agent = self.game.possible_agents[0]
        self.observation_space = self.game.observation_space(agent)["observation"]  # type: ignore[index]
        self.action_space = self.game.action_space(agent)
        self._list_moves = MoveLister(1)
        self._seat = 0
        self._opponents_rng = spawn(self.np_random)

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

        `options` are those of `royal_casino_v0`. A seed decides the learner's seat and all decks; opponents
        draw from a stream of their own, so that these are the same whoever they are.
        """
        known = read_options(options)
        check_start(self.game, self.learner_seat, known)
        super().reset(seed=check_seed(seed))
        if seed is not None:
            self._opponents_rng = spawn(self.np_random)
        deal_seed, seat = draw_start(self.np_random, self.game.players)
        self.game.reset(seed=deal_seed, options=known)
        self._seat = seat if self.learner_seat == RANDOM_SEAT else int(self.learner_seat)
        self._let_opponents_play()
        return self._seen()

    def step(self, action: np.int64 | int) -> tuple[NDArray[np.float32], float, bool, bool, Info]:
        """Name a token; once the move is complete, the opponents play until the learner is to act again."""
        if self._is_over():
            raise CasinoError("the episode is over: call reset")
        try:
            self.game.step(action)  # type: ignore[arg-type]
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

    def render(self) -> Picture | None:  # type: ignore[override]
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
        state = self.game.arrays
        after = int(state.turn[0] - self._seat) % self.game.players
        legal = self._list_moves(state, self.game.rules.table)
        moves = choose(self.opponents[after - 1], see(state), legal, self._opponents_rng)
        return Move.unpack(moves[0])

    def _is_over(self) -> bool:
        return self.game.terminations[self._agent] or self.game.truncations[self._agent]

    def _seen(self) -> tuple[NDArray[np.float32], Info]:
        seen = self.game.observe(self._agent)
        return seen["observation"], {"action_mask": seen["action_mask"], "seat": self._seat}
