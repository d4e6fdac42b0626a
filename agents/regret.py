"""`casino regret`: what an agent gives away in the last hand of two players, where the best play is known.

The positions are the same for every agent: last hands of deals that `counter` played on both sides. From
each the agent plays on for both seats, and every decision is compared with the best. Axes: `B` games.
"""

import json
from argparse import Namespace
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from agents.base import Agent
from agents.command import CommandParser, progress_bar
from agents.contestant import ask
from agents.counter import CounterAgent
from agents.endgame import LastHand
from agents.files import check_target, write_text
from agents.hand_search import PLAYERS, PLIES
from agents.registry import make_agent, valid_agents
from agents.tally import estimate
from agents.versions import versions
from casino_env.arguments import check_count
from casino_env.rules import Rules, deal_turns
from casino_env.vector_env import VectorEnv

POSITIONS = 10_000
CHUNK = 500  # positions played side by side
POSITION_WORLDS = 4  # of the counter that plays up to the positions
BLUNDER = 0.5  # points

DESCRIPTION = f"""Print the points that AGENT gives away in the last hand of two players, which can be solved.

AGENT is {valid_agents()}. The positions are the same for all agents; from each the
agent plays on for both seats. Regret is the value of the best move minus that of the move
chosen; per deal it is the sum over the decisions of one seat. Its interval is over deals."""

EXAMPLES = """examples:
  casino regret greedy
  casino regret runs/first/checkpoints/step_100.safetensors --positions 2000 --json regret.json"""


@dataclass(frozen=True)
class Regret:
    """What an agent gives away, in points."""

    agent: str
    rules: str
    positions: int
    per_decision: float  # mean over the decisions with more than one move
    per_deal: float  # mean over deals and seats of the sum
    low: float | None  # 95 % interval of `per_deal`
    high: float | None
    blunders: float  # share of decisions that give away more than BLUNDER
    versions: dict[str, str]


def measure_regret(agent: Agent, rules: Rules, positions: int, name: str, progress: Any = None) -> Regret:
    """The regret of an agent over the first of the fixed positions."""
    lost: list[NDArray[np.float64]] = []
    for chunk, start in enumerate(range(0, positions, CHUNK)):
        games = min(CHUNK, positions - start)
        lost.append(_play_on(agent, name, rules, chunk)[:games])
        if progress:
            progress(games)
    by_decision = np.concatenate(lost)  # [B, PLIES], NaN where there was one move
    decisions = by_decision[~np.isnan(by_decision)]
    per_deal = estimate(np.nansum(by_decision, axis=1) / PLAYERS)
    return Regret(
        agent=name,
        rules=str(rules),
        positions=positions,
        per_decision=float(decisions.mean()),
        per_deal=per_deal.mean,
        low=per_deal.low,
        high=per_deal.high,
        blunders=float((decisions > BLUNDER).mean()),
        versions=versions("numpy", "numba", "torch"),
    )


def _play_on(agent: Agent, name: str, rules: Rules, chunk: int) -> NDArray[np.float64]:
    """What each decision of a chunk's last hands gives away, float64[B, PLIES]; NaN for a sole move."""
    env, rng = VectorEnv(CHUNK, rules, PLAYERS, seed=chunk), np.random.default_rng(chunk)
    legal, counter = env.reset(), CounterAgent(rules, PLAYERS, POSITION_WORLDS)
    plies = PLAYERS * rules.table.hand_size
    for _ in range(deal_turns(rules.table) - plies):
        legal = env.step(counter.choose(env.view(), legal, rng)).legal
    last_hand, lost = LastHand(rules), np.full((CHUNK, PLIES), np.nan)
    for ply in range(plies):
        view = env.view()
        values, choices = last_hand.values(view, legal), ask(agent, name, view, legal, rng)
        best = np.maximum.reduceat(values, legal.offsets[:-1])
        chosen = values[legal.offsets[:-1] + choices]
        lost[:, ply] = np.where(np.diff(legal.offsets) > 1, best - chosen, np.nan)
        legal = env.step(choices).legal
    return lost


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `casino regret`."""
    parser.add_argument("agent", metavar="AGENT", help="see above")
    parser.add_argument(
        "--positions", type=int, default=POSITIONS, metavar="N", help="how many (default: %(default)s)"
    )
    parser.add_argument("--rules", default="royal", help="rule set (default: royal)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to FILE")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """`casino regret`: measure, print, write the file."""
    rules, positions = Rules.parse(arguments.rules), check_count("positions", arguments.positions, 2)
    agent = make_agent(arguments.agent, rules, PLAYERS)
    target = check_target(arguments.json, "--json") if arguments.json else None
    with progress_bar("positions", arguments.quiet) as progress:
        task = progress.add_task("positions", total=positions)
        result = measure_regret(
            agent, rules, positions, arguments.agent, lambda games: progress.advance(task, games)
        )
    Console().print(_table(result))
    if target:
        write_text(target, json.dumps(asdict(result), indent=2) + "\n")


def _table(result: Regret) -> Table:
    table = Table(title=f"last hands, {result.rules}, {result.positions:,} positions")
    table.add_column("agent", overflow="fold", min_width=16)
    for heading in ("per decision", "per deal", "95 % interval", "blunders"):
        table.add_column(heading, justify="right", no_wrap=True)
    interval = f"{result.low:.3f} to {result.high:.3f}"
    numbers = (f"{result.per_decision:.3f}", f"{result.per_deal:.3f}", interval, f"{result.blunders:.1%}")
    table.add_row(result.agent, *numbers)
    table.caption = f"points; blunders: decisions that give away more than {BLUNDER} points"
    return table
