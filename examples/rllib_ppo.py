"""RLlib's PPO on the PettingZoo environment: one policy for all agents, learning from games against itself.

    pip install "ray[rllib]"
    python examples/rllib_ppo.py

takes about two minutes on 2 cores, and ends with the policy's margin per deal against random tokens.
"""

import logging
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np
import ray
import torch
from gymnasium import spaces
from pettingzoo.utils import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import RLModule, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

from agents.command import CommandParser, run_command
from agents.tally import estimate
from casino_env import royal_casino_v0
from casino_env.arguments import check_count


class ForRLlib(BaseWrapper):
    """Calls the vector `observations`, as RLlib's module with action masks wants it."""

    def observation_space(self, agent: str) -> spaces.Dict:
        space = self.env.observation_space(agent)
        return spaces.Dict({"observations": space["observation"], "action_mask": space["action_mask"]})

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        seen = self.env.observe(agent)
        return {"observations": seen["observation"], "action_mask": seen["action_mask"]}


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 after an error of the user's."""
    parser = CommandParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=12, help="of PPO (default: 12)")
    parser.add_argument("--steps", type=int, default=16384, help="tokens in an iteration (default: 16384)")
    parser.add_argument("--rules", default="royal", help="rule set (default: royal)")
    parser.add_argument("--players", type=int, default=2, help="2, 3 or 4 (default: 2)")
    parser.add_argument("--deals", type=int, default=1000, help="deals to measure it with (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of network, decks and tokens (default: 0)")
    parser.set_defaults(run=run)
    return run_command(parser, argv)


def run(arguments: Namespace) -> None:
    """Train, with a line for each iteration, and measure."""
    for name, lowest in (("iterations", 1), ("steps", 1), ("deals", 1), ("seed", 0)):
        check_count(name, getattr(arguments, name), lowest)
    table = {"rules": arguments.rules, "players": arguments.players}
    env = make_env(table).env
    torch.set_num_threads(1)  # the network is small, and the other cores play
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        algorithm = make_config(table, arguments.steps, arguments.seed).build_algo()
        for iteration in range(1, arguments.iterations + 1):
            results = algorithm.train()["env_runners"]
            mean = results["agent_episode_returns_mean"]["player_0"]  # those of all agents add up to 0
            length = results["episode_len_mean"]
            print(f"iteration {iteration}: player_0's return {mean:+.2f}, length {length:.1f}", flush=True)
        played = margins(algorithm.get_module("shared"), env, arguments.deals, arguments.seed)
        algorithm.stop()
    finally:
        ray.shutdown()
    won = estimate(played)
    interval = f"{won.low:+.2f} to {won.high:+.2f}"
    print(f"against random: {won.mean:+.2f} points a deal ({interval}, {len(played)} deals)")


def make_env(table: dict[str, Any]) -> PettingZooEnv:
    """`raw_env`, which raises IllegalMove for an illegal token, for RLlib."""
    return PettingZooEnv(ForRLlib(royal_casino_v0.raw_env(**table)))


def make_config(table: dict[str, Any], steps: int, seed: int) -> PPOConfig:
    """PPO with two processes that play, and one policy for all agents."""
    # Imported after `ray.init`, which has set the level of Ray's log: it warns of names within RLlib.
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    register_env("royal_casino", make_env)
    layers = {"fcnet_hiddens": [128, 128], "vf_share_layers": False}
    config = PPOConfig().debugging(seed=seed)
    config.environment("royal_casino", env_config=table)
    config.environment(disable_env_checking=True)  # the check tries tokens without regard to the mask
    # Whole deals: their margins come with the last token, to every agent.
    config.env_runners(num_env_runners=2, num_envs_per_env_runner=16, batch_mode="complete_episodes")
    config.fault_tolerance(restart_failed_env_runners=False)  # an error in a process ends the run
    config.multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
    config.rl_module(rl_module_spec=RLModuleSpec(ActionMaskingTorchRLModule, model_config=layers))
    return config.training(
        train_batch_size_per_learner=steps,
        minibatch_size=min(steps, 2048),
        num_epochs=4,
        lr=1e-3,
        gamma=1.0,  # an episode is one deal
        lambda_=0.95,
        vf_clip_param=float("inf"),  # it would clip the squared errors of margins of many points
    )


def margins(module: RLModule, env: ForRLlib, deals: int, seed: int) -> np.ndarray:
    """The margins of fresh deals against random tokens, in each seat in turn, by the likeliest tokens."""
    rng, result = np.random.default_rng(seed), []
    for deal in range(deals):
        env.reset(seed=seed if deal == 0 else None)  # without a seed the stream of decks goes on
        learner = env.possible_agents[deal % len(env.possible_agents)]
        while not env.terminations[learner]:
            seen = env.observe(env.agent_selection)
            token = rng.choice(np.flatnonzero(seen["action_mask"]))
            if env.agent_selection == learner:
                batch = {name: torch.as_tensor(array[None]) for name, array in seen.items()}
                token = module.forward_inference({"obs": batch})["action_dist_inputs"].argmax()
            env.step(int(token))
        result.append(env.rewards[learner])
    return np.array(result)


if __name__ == "__main__":
    sys.exit(main())
