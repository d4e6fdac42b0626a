"""The loops that `casino bench` times, each as a function that plays about so many turns.

A loop takes the number of turns to play and returns how many it played. What it needs beforehand is made
by the function that returns it, so that only the loop is timed.
"""

import importlib.util
from collections.abc import Callable
from itertools import cycle
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from agents.features import move_features, state_features
from casino_env.observation import observe_batch
from casino_env.position import Position
from casino_env.royal_casino_v0 import raw_env
from casino_env.vector_env import Step, VectorEnv

Loop = Callable[[int], int]

OPEN_SPIEL_GAMES = ("hearts", "euchre", "gin_rummy")
SEED = 0


def batch_loop(games: int, look: Callable[[VectorEnv, Step], object] | None = None) -> Loop:
    """Random whole moves in `games` games: list, choice, step, and a `look` at what every step brings."""
    vec, rng = VectorEnv(games, seed=SEED), np.random.default_rng(SEED)
    vec.reset()

    def loop(turns: int) -> int:
        played = 0
        while played < turns:
            step = vec.step((rng.random(games) * np.diff(vec.legal.offsets)).astype(np.int64))
            if look:
                look(vec, step)
            played += games
        return played

    return loop


def observe(vec: VectorEnv, step: Step) -> None:
    """The observation of every seat to act."""
    observe_batch(vec.view(), vec.rules.table)


def observe_and_feature(vec: VectorEnv, step: Step) -> None:
    """The observation, and the features of states and moves that agents read."""
    view = vec.view()
    observe_batch(view, vec.rules.table)
    state_features(view, vec.rules.table)
    move_features(view, step.legal.moves, step.legal.offsets, vec.rules.table)


def position_loop() -> Loop:
    """Pairs of `Position.legal_moves` and `Position.play`, one game after another."""
    rng = np.random.default_rng(SEED)

    def loop(turns: int) -> int:
        position = Position.deal(seed=SEED)
        for played in range(turns):
            if position.is_over:
                position = Position.deal(seed=played)
            moves = position.legal_moves()
            position = position.play(moves[int(rng.random() * len(moves))])
        return turns

    return loop


class IdleEnv(raw_env):
    """What `raw_env` costs without a game: the same spaces and bookkeeping, one observation, no end."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start anew."""
        super().reset(seed, options)
        self._observation = super().observe(self.agent_selection)
        self._turns = cycle(self.agents)
        self.agent_selection = next(self._turns)

    def observe(self, agent: str) -> dict[str, Any]:
        """Always the same arrays."""
        return self._observation

    def step(self, action: int | None) -> None:
        """The next agent is to act."""
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._clear_rewards()
        self.agent_selection = next(self._turns)
        self._accumulate_rewards()


def pettingzoo_loop(make: Callable[[], AECEnv]) -> Loop:
    """AEC steps with masked random tokens."""
    game, rng = make(), np.random.default_rng(SEED)
    game.reset(seed=SEED)

    def loop(turns: int) -> int:
        played = 0
        while played < turns:
            observation, _, terminated, truncated, _ = game.last()
            if terminated or truncated:
                game.reset()
                continue
            legal = np.flatnonzero(observation["action_mask"])
            game.step(legal[int(rng.random() * len(legal))])
            played += 1
        return played

    return loop


def gymnasium_loop(games: int) -> Loop:
    """Steps of masked random tokens of the learners in `games` Gymnasium games against `greedy`."""
    vec = gymnasium.make_vec("RoyalCasino-v0", num_envs=games, opponent="greedy")
    rng, (_, infos) = np.random.default_rng(SEED), vec.reset(seed=SEED)
    masks = infos["action_mask"]

    def loop(turns: int) -> int:
        nonlocal masks
        played = 0
        while played < turns:
            nth = (rng.random(games) * masks.sum(axis=1)).astype(np.int64)  # of the legal tokens
            tokens = (masks.cumsum(axis=1) > nth[:, None]).argmax(axis=1)
            *_, infos = vec.step(tokens)
            masks = infos["action_mask"]
            played += games
        return played

    return loop


def has_open_spiel() -> bool:
    """Whether OpenSpiel is installed."""
    return importlib.util.find_spec("pyspiel") is not None


def open_spiel_loop(name: str) -> Loop:
    """The same loop in a game of OpenSpiel, through its Python API; chance is played but not counted."""
    import pyspiel

    game, rng = pyspiel.load_game(name), np.random.default_rng(SEED)

    def loop(turns: int) -> int:
        played, state = 0, game.new_initial_state()
        while played < turns:
            if state.is_terminal():
                state = game.new_initial_state()
            elif state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(rng.random() * len(outcomes))][0])
            else:
                legal = state.legal_actions()
                state.apply_action(legal[int(rng.random() * len(legal))])
                played += 1
        return played

    return loop
