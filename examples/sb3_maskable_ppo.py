"""MaskablePPO of sb3-contrib on the Gymnasium environment: one learner against named opponents.

    pip install sb3-contrib
    python examples/sb3_maskable_ppo.py --save ppo.zip

takes about four minutes on 2 cores, and ends with the learner's margin per deal, its 95 % interval beside it.
`MaskablePPO.load("ppo.zip")` brings the model back: it unpickles, so load only files of your own.
"""

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

import casino_env  # noqa: F401  (registers RoyalCasino-v0)
from agents.command import CommandParser, run_command
from agents.files import check_target
from agents.tally import estimate
from casino_env.arguments import check_count
from casino_env.rules import check_players

ENVS = 32  # side by side in this process: a step is too short to be worth a pipe to another process


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 after an error of the user's."""
    parser = CommandParser(description=__doc__)
    parser.add_argument(
        "--steps", type=int, default=1_000_000, help="tokens to learn from (default: 1000000)"
    )
    parser.add_argument("--opponent", default="random", help="agent to learn against (default: random)")
    parser.add_argument("--rules", default="royal", help="rule set (default: royal)")
    parser.add_argument("--players", type=int, default=2, help="2, 3 or 4 (default: 2)")
    parser.add_argument("--deals", type=int, default=2000, help="deals to measure it with (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, help="of network, decks and tokens (default: 0)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the model to FILE, a zip")
    parser.set_defaults(run=run)
    return run_command(parser, argv)


def run(arguments: Namespace) -> None:
    """Train, save, and measure."""
    steps, seed = check_count("steps", arguments.steps, 1), check_count("seed", arguments.seed, 0)
    deals = check_count("deals", arguments.deals, check_players(arguments.players))
    target = check_target(arguments.save, "--save") if arguments.save else None
    table = {
        "rules": arguments.rules,
        "players": arguments.players,
        "opponent": arguments.opponent,
        "learner_seat": "random",
        "refuse_illegal": True,  # so that an illegal token would be an error
    }
    torch.set_num_threads(1)  # the network is small
    model = MaskablePPO(
        "MlpPolicy",
        make_vec_env("RoyalCasino-v0", ENVS, seed=seed, env_kwargs=table),
        n_steps=256,
        batch_size=1024,
        n_epochs=4,
        learning_rate=lambda left: 1e-3 * left,  # down to 0
        gamma=1.0,  # an episode is one deal
        policy_kwargs={"net_arch": [64, 64]},
        stats_window_size=1000,
        seed=seed,
        device="cpu",
    )
    start = time.perf_counter()
    model.learn(steps, callback=Progress())
    print(f"learned from {model.num_timesteps:,} tokens in {(time.perf_counter() - start) / 60:.1f} minutes")
    if target:
        model.save(target)
    for opponent in dict.fromkeys(("random", "greedy", arguments.opponent)):
        won = estimate(margins(model, table | {"opponent": opponent}, deals, seed + ENVS))
        interval = f"{won.low:+.2f} to {won.high:+.2f}"
        print(f"against {opponent}: {won.mean:+.2f} points a deal ({interval}, {deals} deals)")


class Progress(BaseCallback):
    """Prints the mean margin of the latest deals after every twelfth rollout."""

    rollouts = 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.rollouts += 1
        if self.rollouts % 12 == 0:
            mean = np.mean([deal["r"] for deal in self.model.ep_info_buffer])
            print(f"{self.num_timesteps:>9,} tokens: {mean:+.2f} points a deal while learning", flush=True)


def margins(model: MaskablePPO, table: dict[str, Any], deals: int, seed: int) -> np.ndarray:
    """The margins of fresh deals, as many in each seat, by the likeliest tokens."""
    result: list[float] = []
    for seat in range(table["players"]):
        envs = make_vec_env("RoyalCasino-v0", ENVS, seed=seed, env_kwargs=table | {"learner_seat": seat})
        count = (deals + seat) // table["players"]
        result += evaluate_policy(model, envs, count, return_episode_rewards=True)[0]
    return np.array(result)


if __name__ == "__main__":
    sys.exit(main())
