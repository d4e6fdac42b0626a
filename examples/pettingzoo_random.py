"""Random legal tokens in the PettingZoo environment, and what each agent scores.

    python examples/pettingzoo_random.py --players 3 --deals 1000

A second for a thousand deals, after some seconds in which the kernels are compiled or loaded.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from agents.command import CommandParser, run_command
from casino_env import royal_casino_v0
from casino_env.arguments import check_count


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 after an error of the user's."""
    parser = CommandParser(description=__doc__)
    parser.add_argument("--rules", default="royal", help="rule set (default: royal)")
    parser.add_argument("--players", type=int, default=2, help="2, 3 or 4 (default: 2)")
    parser.add_argument("--deals", type=int, default=200, help="deals to play (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="of decks and tokens (default: 0)")
    parser.set_defaults(run=run)
    return run_command(parser, argv)


def run(arguments: Namespace) -> None:
    """Play the deals and print each agent's mean score."""
    deals, seed = check_count("deals", arguments.deals, 1), check_count("seed", arguments.seed, 0)
    env = royal_casino_v0.env(rules=arguments.rules, players=arguments.players)
    rng = np.random.default_rng(seed)
    scores: dict[str, list[float]] = {agent: [] for agent in env.possible_agents}
    for deal in range(deals):
        env.reset(seed=seed if deal == 0 else None)  # without a seed the stream of decks goes on
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if terminated or truncated:
                scores[agent].append(reward)  # nothing is paid before the deal ends
                env.step(None)
            else:
                env.step(rng.choice(np.flatnonzero(observation["action_mask"])))
    print(f"{deals} deals: mean points more than the other sides")
    for agent, points in scores.items():
        print(f"{agent}  {np.mean(points):+.2f}")


if __name__ == "__main__":
    sys.exit(main())
