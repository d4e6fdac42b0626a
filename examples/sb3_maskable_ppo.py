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
from agents.registry import make_agent
from agents.tally import estimate
from casino_env.arguments import check_count
from casino_env.rules import Rules, check_players

EVERY = 12  # rollouts between two reports
ENVS = 32  # side by side in this process: a step is too short to be worth a pipe to another process


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 after an error of the user's."""
    parser = CommandParser(description=__doc__)
    parser.add_argument(
        "--steps", type=int, default=1_000_000, help="tokens to learn from (default: 1000000)"
    )
    parser.add_argument("--opponent", default="random", help="agent to learn against (default: random)")
    parser.add_argument("--beat", metavar="AGENT", help="stop as soon as it beats this agent")
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
    rules = Rules.parse(arguments.rules)
    players = check_players(arguments.players, rules)
    deals = check_count("deals", arguments.deals, players)
    target = check_target(arguments.save, "--save") if arguments.save else None
    if arguments.beat:
        make_agent(arguments.beat, rules, players)  # what is wrong is told now
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
    rival = table | {"opponent": arguments.beat} if arguments.beat else None
    progress = Progress(rival, deals, seed + ENVS)
    start = time.perf_counter()
    model.learn(steps, callback=progress)
    seconds = time.perf_counter() - start - progress.seconds
    print(f"learned from {model.num_timesteps:,} tokens in {seconds / 60:.1f} minutes")
    if target:
        model.save(target)
    for opponent in dict.fromkeys(("random", "greedy", arguments.opponent)):
        won = estimate(margins(model, table | {"opponent": opponent}, deals, seed + ENVS))
        interval = f"{won.low:+.2f} to {won.high:+.2f}"
        print(f"against {opponent}: {won.mean:+.2f} points a deal ({interval}, {deals} deals)")


class Progress(BaseCallback):
    """Prints the mean margin of the latest deals now and then.

    If there is a `rival`, a table with it as the opponent, learning stops as soon as `deals` deals show that
    it is beaten: when the lower end of the margin's 95 % interval is above 0.
    """

    def __init__(self, rival: dict[str, Any] | None, deals: int, seed: int) -> None:
        super().__init__()
        self.rival, self.deals, self.seed = rival, deals, seed
        self.rollouts, self.seconds, self.is_beaten = 0, 0.0, False  # seconds of measuring

    def _on_step(self) -> bool:
        return not self.is_beaten

    def _on_rollout_end(self) -> None:
        self.rollouts += 1
        if self.rollouts % EVERY == 0:
            mean = np.mean([deal["r"] for deal in self.model.ep_info_buffer])
            print(f"{self.num_timesteps:>9,} tokens: {mean:+.2f} points a deal while learning", flush=True)
            if self.rival:
                start = time.perf_counter()
                low = estimate(margins(self.model, self.rival, self.deals, self.seed)).low
                self.is_beaten = low is not None and low > 0
                self.seconds += time.perf_counter() - start


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
