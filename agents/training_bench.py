"""What `casino bench --train` times: a run's updates, or its time to beat an agent, beside MaskablePPO's.

Round by round, so that ratios come from the same minutes, and on the threads that the configuration gives.
sb3-contrib's MaskablePPO plays tokens of `RoyalCasino-v0`, royal with two players, against `random`, the
cheapest opponent, with a smaller network than ours and the settings of `examples/sb3_maskable_ppo.py`, but a
learning rate that stays what it is at first. Other games are timed without it.
"""

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import replace
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import torch

import casino_env  # noqa: F401  (registers RoyalCasino-v0)
from agents.arena import margin_against
from agents.config import Config
from agents.ranks import join_ranks
from agents.registry import make_agent
from agents.stopwatch import PARTS
from agents.tally import Estimate, estimate
from agents.trainer import Trainer
from casino_env.rules import Rules

OURS, THEIRS, RATIO = "training, decisions", "MaskablePPO, tokens", "training, of MaskablePPO"
OUR_TIME, THEIR_TIME, TIMES = "training", "MaskablePPO", "MaskablePPO, of training"
THEIR_ENVS, THEIR_STEPS, THEIR_BATCH, THEIR_EPOCHS, THEIR_UNITS = 32, 256, 1024, 4, 64
BEAT_DECKS, BEAT_SEED = 1000, 2_000_000  # each in both seatings (MaskablePPO: so many deals in each seat)
PATIENCE = 300.0  # seconds of learning

Values = dict[str, list[float]]


class Pupil(Protocol):
    """Someone who learns in steps."""

    def update(self) -> float:
        """Collect and learn once; returns the seconds that it took."""

    def margin(self, opponent: str) -> Estimate:
        """Margin in points a deal against an agent of the ladder."""


def time_training(config: Config, rounds: Iterable[int]) -> Values:
    """By name the values of each round but the first, which compiles: rates a second, shares in percent.

    All rollouts have the size that they grow to.
    """
    torch.set_num_threads(config.run.threads)
    grown = replace(config.budget, first_games=config.budget.games)
    trainer = Trainer(replace(config, budget=grown), join_ranks(config.run.device))
    theirs = MaskablePupil(0) if _is_theirs(config) else None
    values: Values = {}
    for number in rounds:
        found = trainer.update()
        row = {OURS: found["time/decisions_per_second"]}
        if theirs:
            row[THEIRS] = THEIR_ENVS * THEIR_STEPS / theirs.update()
            row[RATIO] = row[OURS] / row[THEIRS]
        row |= {part: 100 * found[f"time/{part}"] for part in PARTS}
        _note(values, row if number else {})
    return values


def time_to_beat(config: Config, opponent: str, rounds: Iterable[int]) -> Values:
    """By name the seconds of learning until `opponent` is beaten, of each round but the first.

    A round is a new run with the next seed. Margins are measured after every update, and their time does not
    count. A round in which one of the two has not beaten it when PATIENCE ends counts PATIENCE.
    """
    make_agent(opponent, Rules.parse(config.game.rules), config.game.players)  # what is wrong is told now
    torch.set_num_threads(config.run.threads)
    makers: dict[str, Callable[[int], Pupil]] = {OUR_TIME: lambda seed: OurPupil(config, seed)}
    if _is_theirs(config):
        makers[THEIR_TIME] = MaskablePupil
    values: Values = {}
    for number in rounds:
        if not number:  # compiles
            for make in makers.values():
                make(0).update()
            continue
        row = {name: _seconds_to_beat(make(number), opponent) for name, make in makers.items()}
        if THEIR_TIME in row:
            row[TIMES] = row[THEIR_TIME] / row[OUR_TIME]
        _note(values, row)
    return values


def _is_theirs(config: Config) -> bool:
    """Whether the game is the one that MaskablePPO is timed on, and sb3-contrib is installed."""
    is_game = config.game.rules == "royal" and config.game.players == 2
    return is_game and importlib.util.find_spec("sb3_contrib") is not None


class OurPupil:
    """A run of this repository."""

    def __init__(self, config: Config, seed: int) -> None:
        self._trainer = Trainer(
            replace(config, run=replace(config.run, seed=seed)), join_ranks(config.run.device)
        )

    def update(self) -> float:
        """See `Pupil.update`."""
        start = perf_counter()
        self._trainer.update()
        return perf_counter() - start

    def margin(self, opponent: str) -> Estimate:
        """See `Pupil.margin`: its policy is sampled."""
        rules, players = self._trainer.rules, self._trainer.players
        rival = make_agent(opponent, rules, players)
        return margin_against(self._trainer.agent(), rival, rules, players, BEAT_DECKS, BEAT_SEED)


class MaskablePupil:
    """A run of sb3-contrib's MaskablePPO."""

    def __init__(self, seed: int) -> None:
        from sb3_contrib import MaskablePPO

        self._model = MaskablePPO(
            "MlpPolicy",
            _token_envs("random", "random", seed),
            n_steps=THEIR_STEPS,
            batch_size=THEIR_BATCH,
            n_epochs=THEIR_EPOCHS,
            gamma=1.0,
            learning_rate=1e-3,
            policy_kwargs={"net_arch": [THEIR_UNITS, THEIR_UNITS]},
            seed=seed,
            device="cpu",
        )

    def update(self) -> float:
        """See `Pupil.update`: THEIR_ENVS * THEIR_STEPS tokens."""
        start = perf_counter()
        self._model.learn(THEIR_ENVS * THEIR_STEPS, reset_num_timesteps=False)
        return perf_counter() - start

    def margin(self, opponent: str) -> Estimate:
        """See `Pupil.margin`: it plays its likeliest tokens."""
        from sb3_contrib.common.maskable.evaluation import evaluate_policy

        by_seat = [
            evaluate_policy(
                self._model, _token_envs(opponent, seat, BEAT_SEED), BEAT_DECKS, return_episode_rewards=True
            )[0]
            for seat in (0, 1)
        ]
        return estimate(np.concatenate(by_seat))


def _token_envs(opponent: str, seat: int | str, seed: int) -> Any:
    from stable_baselines3.common.env_util import make_vec_env

    table = {"opponent": opponent, "learner_seat": seat}
    return make_vec_env("RoyalCasino-v0", THEIR_ENVS, seed=seed, env_kwargs=table)


def _seconds_to_beat(pupil: Pupil, opponent: str) -> float:
    seconds, low = 0.0, None
    while seconds < PATIENCE and (low is None or low <= 0):
        seconds += pupil.update()
        low = pupil.margin(opponent).low
    return min(seconds, PATIENCE)


def _note(values: Values, row: dict[str, float]) -> None:
    for name, value in row.items():
        values.setdefault(name, []).append(value)
