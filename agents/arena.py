"""The arena: which agent is better, by how much, and how sure that is. Same as `casino arena`.

Owns competitions: chunks of decks, the result, its table and file, the arguments of the command. How a
deck is played and counted is in `matchup`.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.base import Agent
from agents.command import CommandParser, progress_bar, run_command
from agents.files import check_target, write_text
from agents.matchup import Played, all_seatings, label_agents, mean_interval, play_decks
from agents.registry import CHECKPOINT_SUFFIX, make_agent, valid_agents
from agents.sprt import Sprt, Verdict, read_sprt
from agents.versions import versions
from casino_env.cards import N_CARDS
from casino_env.errors import CasinoError
from casino_env.rules import RULE_SETS, Rules, check_players, side_count
from casino_env.state import IntArray

__all__ = ["ArenaResult", "Played", "compete", "margin_against", "play_decks", "result_table"]

DECKS_PER_CHUNK = 256
DECK_STREAM, PLAY_STREAM = 0, 1  # a chunk's random streams
DEFAULT_DECKS = 1000

DESCRIPTION = f"""Play agents against each other and print each one's margin with its 95 % interval.

AGENT is {valid_agents()}.

Every deck is played once in every seating: two agents A and B play A B and B A; with
3 players one A against two B and two A against one B, in every order; with 4 players
partners are the same agent. The margin is a side's points in a deal minus the mean of
the other sides', averaged over the seatings of a deck, then over decks; the interval
is over decks. The win share is the share of deals with the most points, ties divided.
The same seed gives the same numbers, in whichever order the agents are named."""

EXAMPLES = """examples:
  casino arena random greedy
  casino arena runs/first/checkpoints/step_100.safetensors greedy --deals 4000 --seed 1
  casino arena counter greedy --sprt 0,0.5
  casino arena random greedy --players 3 --rules "royal;sweeps=plain" --json result.json"""


@dataclass(frozen=True)
class ArenaResult:
    """A competition. Lists have one entry for each agent, in the order in which they were named."""

    agents: list[str]
    rules: str
    players: int
    decks: int
    seatings: int  # of each deck: decks * seatings deals were played
    seed: int
    margin: list[float]  # mean over decks
    low: list[float | None]  # 95 % interval of the margin; None with a single deck
    high: list[float | None]
    win_share: list[float]
    cut_lists: int  # lists of legal moves that were cut at their bound
    sprt: dict[str, Any] | None  # the sequential test of the first agent's margin, and its verdict
    versions: dict[str, str]
    seconds: float = field(compare=False)

    def to_json(self) -> dict[str, Any]:
        """All but the time it took, so that the same competition leaves the same file."""
        return {name: value for name, value in asdict(self).items() if name != "seconds"}


def compete(
    agents: Sequence[Agent],
    n_decks: int,
    seed: int,
    rules: Rules | str = "royal",
    players: int = 2,
    *,
    names: Sequence[str] | None = None,
    advance: Callable[[int], None] | None = None,
    sprt: Sprt | None = None,
) -> ArenaResult:
    """Play `n_decks` decks in every seating (see `matchup`), or until `sprt` has a verdict on two agents.

    `names` are the agents' in the result, by default their own; random streams follow from them, so give
    names where different agents share one. `advance` is told of decks that are done.
    """
    start = perf_counter()
    labels = label_agents(agents, names)
    seatings = all_seatings(labels, side_count(check_players(players)))
    if sprt and len(agents) != 2:
        raise CasinoError(f"sprt compares two agents; {len(agents)} given")
    setting = Rules.parse(rules), players, n_decks, seed
    played, verdict = _play_chunks(agents, labels, seatings, setting, advance, sprt)
    intervals = [mean_interval(margin) for margin in played.margin.T]
    return ArenaResult(
        agents=labels,
        rules=str(rules),
        players=players,
        decks=len(played.margin),
        seatings=len(seatings),
        seed=seed,
        margin=[mean for mean, _, _ in intervals],
        low=[None if isnan(low) else low for _, low, _ in intervals],
        high=[None if isnan(high) else high for _, _, high in intervals],
        win_share=played.win_share.mean(axis=0).tolist(),
        cut_lists=played.cut_lists,
        sprt={**asdict(sprt), **asdict(verdict)} if sprt and verdict else None,
        versions=versions("numpy", "numba", "torch"),
        seconds=perf_counter() - start,
    )


def margin_against(
    agent: Agent, opponent: Agent, rules: Rules | str, players: int, n_decks: int, seed: int
) -> tuple[float, float, float]:
    """Margin of `agent`, on each side in turn, against `opponent` on all others: mean, low, high."""
    sides = side_count(check_players(players))
    seatings = 1 - np.eye(sides, dtype=np.int64)
    setting = (Rules.parse(rules), players, n_decks, seed)
    played, _ = _play_chunks([agent, opponent], ["agent", "opponent"], seatings, setting)
    return mean_interval(played.margin[:, 0])


def result_table(result: ArenaResult) -> Table:
    """The result for people."""
    seatings = f"each deck in {result.seatings} seatings"
    table = Table(title=f"{result.rules}, {result.players} players, seed {result.seed}, {seatings}")
    table.add_column("agent", overflow="fold")
    for heading in ("margin", "95 % interval", "win share", "decks", "deals/s"):
        table.add_column(heading, justify="right", no_wrap=True)
    speed = f"{result.decks * result.seatings / result.seconds:,.0f}"
    columns = (result.agents, result.margin, result.low, result.high, result.win_share)
    for name, margin, low, high, share in zip(*columns, strict=True):
        interval = "-" if low is None or high is None else f"{low:+.3f} to {high:+.3f}"
        table.add_row(
            Text(_short_name(name)), f"{margin:+.3f}", interval, f"{share:.1%}", f"{result.decks:,}", speed
        )
    return table


def _sprt_line(result: ArenaResult, sprt: Sprt) -> str:
    """The verdict in words."""
    told = result.sprt or {}
    claims = {"H0": f"{sprt.low:+g} points or less", "H1": f"{sprt.high:+g} points or more"}
    accepted = told["accepted"]
    says = f"{accepted}, {claims[accepted]} for the first agent" if accepted else "no verdict"
    lower, upper = sprt.bounds
    ratio = f"log-likelihood ratio {told['ratio']:+.2f}; {lower:+.2f}, {upper:+.2f}"
    return f"SPRT after {told['decks']} decks: {says} ({ratio})"


def _short_name(name: str) -> str:
    """A checkpoint's run and file instead of its path; other names as they are."""
    path, suffix, options = name.partition(CHECKPOINT_SUFFIX)
    parts = [part for part in Path(path).parts if part != "checkpoints"]
    return "/".join(parts[-2:]) + options if suffix else name


def _play_chunks(
    agents: Sequence[Agent],
    labels: list[str],
    seatings: IntArray,
    setting: tuple[Rules, int, int, int],
    advance: Callable[[int], None] | None = None,
    sprt: Sprt | None = None,
) -> tuple[Played, Verdict | None]:
    """A chunk depends on the seed and its number alone: chunks may be played in any order.

    With `sprt` the decks end with the one that brings its verdict on the first agent, returned too.
    """
    rules, players, n_decks, seed = setting
    if n_decks < 1:
        raise CasinoError(f"deals={n_decks} is not possible; valid: 1 or more")
    if seed < 0:
        raise CasinoError(f"seed={seed} is not possible; valid: 0 or more")
    chunks: list[Played] = []
    verdict = None
    for chunk, start in enumerate(range(0, n_decks, DECKS_PER_CHUNK)):
        size = min(DECKS_PER_CHUNK, n_decks - start)
        shuffling = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chunk, DECK_STREAM)))
        playing = np.random.SeedSequence(seed, spawn_key=(chunk, PLAY_STREAM))
        decks = shuffling.permuted(np.tile(np.arange(N_CARDS, dtype=np.int8), (size, 1)), axis=1)
        chunks.append(play_decks(agents, decks, rules, players, playing, labels, seatings))
        if advance:
            advance(size)
        if sprt:
            verdict = sprt.verdict(np.concatenate([played.margin[:, 0] for played in chunks]))
            if verdict.accepted:
                break
    used = slice(verdict.decks if verdict else n_decks)
    margin, win_share, cut_lists = zip(*chunks, strict=True)
    return Played(np.concatenate(margin)[used], np.concatenate(win_share)[used], sum(cut_lists)), verdict


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `casino arena`."""
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="two or more; see above")
    parser.add_argument(
        "--deals",
        type=int,
        default=DEFAULT_DECKS,
        metavar="N",
        help="number of decks; each is played once in every seating (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of decks and agents (default: 0)")
    parser.add_argument("--rules", default="royal", help=f"rule set: {', '.join(RULE_SETS)}, with overrides")
    parser.add_argument("--players", type=int, default=2, help="2, 3 or 4 (default: 2)")
    parser.add_argument(
        "--sprt",
        metavar="LOW,HIGH",
        help="stop once it is settled whether the first of two agents' margin is LOW points or less (H0) or "
        "HIGH or more (H1), as 0,0.5; --deals is then the most decks",
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, help="chance to accept H1 at LOW (default: %(default)s)"
    )
    parser.add_argument(
        "--beta", type=float, default=0.05, help="chance to accept H0 at HIGH (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to FILE")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """`casino arena`: play, print the table, write the file."""
    rules, players = Rules.parse(arguments.rules), check_players(arguments.players)
    agents = [make_agent(spec, rules, players) for spec in arguments.agents]
    target = check_target(arguments.json, "--json") if arguments.json else None
    sprt = read_sprt(arguments.sprt, arguments.alpha, arguments.beta) if arguments.sprt else None
    with progress_bar("decks", arguments.quiet) as progress:
        task = progress.add_task("decks", total=arguments.deals)
        result = compete(
            agents,
            arguments.deals,
            arguments.seed,
            rules,
            players,
            names=arguments.agents,
            advance=lambda decks: progress.advance(task, decks),
            sprt=sprt,
        )
    Console().print(result_table(result))
    if sprt:
        print(_sprt_line(result, sprt))
    if result.cut_lists:
        print(f"casino: {result.cut_lists} lists of legal moves were cut at their bound", file=sys.stderr)
    if target:
        write_text(target, json.dumps(result.to_json(), indent=2, allow_nan=False) + "\n")


if __name__ == "__main__":
    command = CommandParser("casino arena", description=DESCRIPTION, epilog=EXAMPLES)
    add_arguments(command)
    sys.exit(run_command(command, None))
