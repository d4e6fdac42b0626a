"""The arena: which agent is better, by how much, and how sure that is. Same as `casino arena`.

Owns the command and what it does with a competition. How decks are played is in `matchup`, who meets whom in
`tournament`, what it comes to in `arena_result`, how that looks in `arena_tables` and `arena_plot`.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from agents.arena_plot import check_plot, plot_ratings
from agents.arena_result import ArenaResult, Games, summarise
from agents.arena_tables import csv_text, print_result
from agents.base import Agent
from agents.chunk_store import ChunkStore
from agents.command import CommandParser, progress_bar, run_command
from agents.files import check_target, digest, write_atomically, write_text
from agents.matchup import Setting, chunk_sizes, join_chunks, play_chunk
from agents.records import write_records
from agents.registry import agent_file, make_agent, valid_agents
from agents.sprt import Sprt, Verdict, read_sprt
from agents.tally import Estimate, FloatArray, estimate, tally
from agents.tournament import Entry, choose_pairings, play_pairings
from agents.versions import source_digest, versions
from agents.workers import BACKENDS, LOCAL, Workers
from casino_env.errors import CasinoError
from casino_env.rules import RULE_SETS, Rules

DEFAULT_DECKS = 1000
HERE = Workers()  # this process

DESCRIPTION = f"""Play agents against each other and print each one's margin with its 95 % interval.

AGENT is {valid_agents()}.

Each two agents meet; with --gauntlet, the first and each other. Every deck is played once
in every seating: A and B play A B and B A; with 3 players one A against two B and two A
against one B, in every order; with 4 players partners are the same agent. The margin is a
side's points in a deal minus the mean of the other sides', averaged over the seatings of a
deck, then over decks; the interval is over decks. A deal is won by an agent if only sides
of its own have the most points. All pairings have the same decks, and the same seed gives
the same numbers, in whichever order the agents are named and however many jobs there are.

With three agents and more there are two ratings, both 0 in the mean: Elo by Bradley and
Terry, from wins and half the draws, and one by margins; residuals are what a pairing's
margin has beyond the difference of the two. Their intervals are by bootstrap over decks.

An agent that fails loses the game with all its points (a match, with --match), is named,
and plays on in its other games."""

EXAMPLES = """examples:
  casino arena random greedy
  casino arena runs/first/checkpoints/step_100.safetensors greedy --deals 4000 --seed 1
  casino arena counter greedy --sprt 0,0.5
  casino arena random greedy counter searcher --jobs 2 --store ladder.db --plot ladder.png
  casino arena random greedy --players 3 --rules "royal;sweeps=plain" --json result.json"""


def compete(
    agents: Sequence[Agent | str],
    n_decks: int,
    seed: int,
    rules: Rules | str = "royal",
    players: int = 2,
    *,
    names: Sequence[str] | None = None,
    objective: str = "deal",
    gauntlet: bool = False,
    move_time: float | None = None,
    sprt: Sprt | None = None,
    workers: Workers = HERE,
    store: Path | None = None,
    records: Path | None = None,
    advance: Callable[[int], None] | None = None,
) -> ArenaResult:
    """Play `n_decks` decks (matches) in every seating between each two agents, or until `sprt` has a verdict.

    Args:
        agents: what they are called on the command line (see `registry`), to be made anew for each chunk of
            decks; or agents, which are used as they are: one that keeps something from chunk to chunk plays
            otherwise in several processes.
        n_decks: of each pairing.
        seed: of decks and agents.
        rules: a rule set or its text (R8).
        players: 2, 3 or 4.
        names: the agents' in the result, by default their own; random streams follow from them, so give names
            where different agents share one.
        objective: `deal`, or `match` for matches to the target.
        gauntlet: only the first meets the others.
        move_time: milliseconds a move; who takes longer is named in the result.
        sprt: of the first of two agents.
        workers: who plays the chunks of decks.
        store: file of the chunks that are done; those in it are not played again.
        records: file that all games are written to (see `records`); not with a store.
        advance: told of decks that are done.

    Raises CasinoError if something of that cannot be.
    """
    start = perf_counter()
    setting = Setting(Rules.parse(rules), players, seed, objective, move_time, recorded=records is not None)
    sizes = chunk_sizes(n_decks)
    labels = label_agents(agents, names)
    if store and not all(isinstance(agent, str) for agent in agents):
        raise CasinoError("a store tells agents by name: give them as on the command line")
    if store and records:
        raise CasinoError("a store keeps no moves: give records or a store")
    entries = [_entry(*named, setting) for named in zip(agents, labels, strict=True)]
    in_order = sorted(entries, key=lambda entry: entry.name)
    hero = in_order.index(entries[0])
    pairings = choose_pairings(len(entries), hero if gauntlet else None)
    if sprt and len(entries) != 2:
        raise CasinoError(f"sprt compares two agents; {len(entries)} given")
    judge = partial(_judge, sprt, hero) if sprt else None
    with closing(ChunkStore(store, _kept(setting))) if store else nullcontext() as chunks:
        played, verdict = play_pairings(
            in_order, pairings, setting, sizes, workers=workers, store=chunks, judge=judge, advance=advance
        )
        fresh = chunks.saved if chunks else sum(one.rewards.shape[1] for one in played)
    if records:
        write_records(records, (line for one in played for line in one.records))
    games = Games([entry.name for entry in in_order], pairings, played)
    ended = (sprt, verdict) if sprt and verdict else None
    return summarise(games, labels, setting, ended, gauntlet, fresh, perf_counter() - start)


def margin_against(
    agent: Agent,
    opponent: Agent,
    rules: Rules | str,
    players: int,
    n_decks: int,
    seed: int,
    objective: str = "deal",
) -> Estimate:
    """Margin of `agent`, on each side in turn, against `opponent` on all others."""
    setting = Setting(Rules.parse(rules), players, seed, objective)
    seatings = 1 - np.eye(setting.sides, dtype=np.int64)
    pair, names = (agent, opponent), ("agent", "opponent")
    chunks = [
        play_chunk(setting, pair, names, seatings, chunk, size)
        for chunk, size in enumerate(chunk_sizes(n_decks))
    ]
    return estimate(tally(join_chunks(chunks).rewards, seatings).margins)


def label_agents(agents: Sequence[Agent | str], names: Sequence[str] | None = None) -> list[str]:
    """The given names, else the agents' own; those that occur again become `name#2`, `name#3`."""
    labels: list[str] = []
    if names and len(names) != len(agents):
        raise CasinoError(f"names: {len(names)} given; valid: one for each of {len(agents)} agents")
    for name in names or [agent if isinstance(agent, str) else agent.name for agent in agents]:
        label, copies = name, 1
        while label in labels:
            copies += 1
            label = f"{name}#{copies}"
        labels.append(label)
    return labels


def _entry(agent: Agent | str, label: str, setting: Setting) -> Entry:
    if not isinstance(agent, str):
        return Entry(label, partial(_itself, agent), label)
    file = agent_file(agent)
    content = digest(file) if file and file.is_file() else None
    make = partial(_make, agent, setting.rules, setting.players, content)
    make()  # what is wrong with it is told before anything is played
    return Entry(label, make, f"{label}@{content}" if content else label)


def _make(spec: str, rules: Rules, players: int, content: str | None) -> Agent:
    """The agent; CasinoError if its file is not what it was."""
    agent = make_agent(spec, rules, players)
    file = agent_file(spec)
    if file and digest(file) != content:
        raise CasinoError(f"agent '{spec}': its file has changed since the competition began")
    return agent


def _itself(agent: Agent) -> Agent:
    return agent


def _judge(sprt: Sprt, hero: int, margins: FloatArray) -> Verdict:
    """The verdict on the agent at place `hero` of two; the margins are those of place 0."""
    return sprt.verdict(-margins if hero else margins)


def _kept(setting: Setting) -> dict[str, str]:
    """What chunks in a store depend on beside the agents."""
    given = {
        name: str(getattr(setting, name)) for name in ("rules", "players", "seed", "objective", "move_time")
    }
    return {**given, **versions("numpy", "numba", "torch"), "sources": source_digest()}


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `casino arena`."""
    add = parser.add_argument
    add("agents", nargs="+", metavar="AGENT", help="two or more; see above")
    add(
        "--deals",
        type=int,
        default=DEFAULT_DECKS,
        metavar="N",
        help="decks of each pairing (with --match: matches), each played once in every seating "
        "(default: %(default)s)",
    )
    add("--seed", type=int, default=0, metavar="S", help="of decks and agents (default: 0)")
    add("--rules", default="royal", help=f"rule set: {', '.join(RULE_SETS)}, with overrides")
    add("--players", type=int, default=2, help="2, 3 or 4 (default: 2)")
    add(
        "--match",
        action="store_true",
        help="play matches to the target of the rules; the margin of one won is +1, of one lost -1 "
        "(with 3 players -1/2)",
    )
    add("--gauntlet", action="store_true", help="only the first agent meets the others")
    add("--move-time", type=float, metavar="MS", help="name agents that take longer, milliseconds a move")
    add(
        "--sprt",
        metavar="LOW,HIGH",
        help="stop once it is settled whether the first of two agents' margin is LOW points or less (H0) or "
        "HIGH or more (H1), as 0,0.5; --deals is then the most decks",
    )
    add("--alpha", type=float, default=0.05, help="chance to accept H1 at LOW (default: %(default)s)")
    add("--beta", type=float, default=0.05, help="chance to accept H0 at HIGH (default: %(default)s)")
    add(
        "--jobs",
        type=int,
        metavar="N",
        help="processes that play at a time; -1: as many as there are cores (default: 1, on a cluster -1)",
    )
    add("--backend", default=LOCAL, help=f"joblib's, where they run: {', '.join(BACKENDS)}")
    add("--store", type=Path, metavar="FILE", help="keep what is done in FILE, and go on from what is there")
    add("--json", type=Path, metavar="FILE", help="write the result to FILE")
    add("--csv", type=Path, metavar="FILE", help="write a row for each agent in each pairing to FILE")
    add("--plot", type=Path, metavar="FILE", help="draw the ratings to FILE, a PNG; three agents or more")
    add("--records", type=Path, metavar="FILE", help="write every game to FILE, a line of JSON each")
    add("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """`casino arena`: play, print the tables, write the files."""
    targets = {
        name: check_target(path, f"--{name}")
        for name in ("json", "csv", "plot", "records")
        if (path := getattr(arguments, name))
    }
    if "plot" in targets:
        check_plot(arguments.plot, len(arguments.agents))
    files = [*targets.values(), *([arguments.store.resolve()] if arguments.store else [])]
    if len(set(files)) < len(files):
        raise CasinoError("--json, --csv, --plot, --records, --store: give each a file of its own")
    sprt = read_sprt(arguments.sprt, arguments.alpha, arguments.beta) if arguments.sprt else None
    pairings = len(choose_pairings(len(arguments.agents), 0 if arguments.gauntlet else None))
    with progress_bar("decks", arguments.quiet) as progress:
        task = progress.add_task("decks", total=arguments.deals * pairings)
        result = compete(
            arguments.agents,
            arguments.deals,
            arguments.seed,
            arguments.rules,
            arguments.players,
            objective="match" if arguments.match else "deal",
            gauntlet=arguments.gauntlet,
            move_time=arguments.move_time,
            sprt=sprt,
            workers=Workers(arguments.jobs, arguments.backend),
            store=arguments.store,
            records=targets.get("records"),
            advance=lambda decks: progress.advance(task, decks),
        )
    if "json" in targets:
        write_text(targets["json"], json.dumps(result.to_json(), indent=2, allow_nan=False) + "\n")
    if "csv" in targets:
        write_text(targets["csv"], csv_text(result))
    if "plot" in targets:
        write_atomically(targets["plot"], partial(plot_ratings, result))
    print_result(result)


if __name__ == "__main__":
    command = CommandParser("casino arena", description=DESCRIPTION, epilog=EXAMPLES)
    add_arguments(command)
    sys.exit(run_command(command, None))
