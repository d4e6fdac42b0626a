"""What `casino bench --train` times: updates of a run, and the same of sb3-contrib's MaskablePPO beside them.

Round by round, so that ratios come from the same minutes, and on the threads that the configuration gives.
MaskablePPO plays tokens of `RoyalCasino-v0`, royal with two players, against `random`, the cheapest opponent,
with a smaller network than ours and the settings of `examples/sb3_maskable_ppo.py`.
"""

import importlib.util
from collections.abc import Callable, Iterable
from time import perf_counter

import torch

import casino_env  # noqa: F401  (registers RoyalCasino-v0)
from agents.config import Config
from agents.ranks import join_ranks
from agents.stopwatch import PARTS
from agents.trainer import Trainer

OURS, THEIRS, RATIO = "training, decisions", "MaskablePPO, tokens", "training, of MaskablePPO"
THEIR_ENVS, THEIR_STEPS, THEIR_BATCH, THEIR_EPOCHS, THEIR_UNITS = 32, 256, 1024, 4, 64


def time_training(config: Config, rounds: Iterable[int]) -> dict[str, list[float]]:
    """By name the values of each round but the first, which compiles: rates a second, shares in percent."""
    torch.set_num_threads(config.run.threads)
    trainer = Trainer(config, join_ranks(config.run.device))
    theirs = make_maskable_ppo() if importlib.util.find_spec("sb3_contrib") else None
    values: dict[str, list[float]] = {}
    for number in rounds:
        found = trainer.update()
        row = {OURS: found["time/decisions_per_second"]}
        if theirs:
            row[THEIRS] = theirs()
            row[RATIO] = row[OURS] / row[THEIRS]
        row |= {part: 100 * found[f"time/{part}"] for part in PARTS}
        for name, value in row.items() if number else ():
            values.setdefault(name, []).append(value)
    return values


def make_maskable_ppo() -> Callable[[], float]:
    """A function that collects and learns once and returns the tokens per second."""
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_util import make_vec_env

    model = MaskablePPO(
        "MlpPolicy",
        make_vec_env("RoyalCasino-v0", THEIR_ENVS, seed=0, env_kwargs={"learner_seat": "random"}),
        n_steps=THEIR_STEPS,
        batch_size=THEIR_BATCH,
        n_epochs=THEIR_EPOCHS,
        gamma=1.0,
        policy_kwargs={"net_arch": [THEIR_UNITS, THEIR_UNITS]},
        seed=0,
        device="cpu",
    )

    def update() -> float:
        start = perf_counter()
        model.learn(THEIR_ENVS * THEIR_STEPS, reset_num_timesteps=False)
        return THEIR_ENVS * THEIR_STEPS / (perf_counter() - start)

    return update
