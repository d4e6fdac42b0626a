"""`casino bench`: how fast the engine and the environments are, as medians of several runs on one core."""

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from agents.command import CommandParser, progress_bar
from agents.files import check_target, write_text
from agents.loops import (
    OPEN_SPIEL_GAMES,
    IdleEnv,
    Loop,
    batch_loop,
    gymnasium_loop,
    has_open_spiel,
    observe,
    observe_and_feature,
    open_spiel_loop,
    pettingzoo_loop,
    position_loop,
)
from agents.versions import versions
from casino_env.arguments import check_count
from casino_env.errors import CasinoError
from casino_env.royal_casino_v0 import env, raw_env, wrap
from casino_env.state import empty_state

BATCHES = (1, 64, 1024, 16384)
MAIN_BATCH = 1024
FIRST_TURNS = 2000  # to guess how many turns fill a run
WRAPPED, IDLE, SHARE = "PettingZoo env", "PettingZoo idle, wrapped", "env, of idle"

DESCRIPTION = """Measure the engine and the environments on one core, and print medians of several runs.

turns    random whole-move play through VectorEnv: legal list, choice, step
observed the same with the observation of every seat to act
featured the same with observations and the features that agents read
PettingZoo, Gymnasium: tokens of the environments, drawn with numpy from the masks; the Gymnasium
         batch plays against greedy; idle is a do-nothing environment with the spaces and wrappers
         of `env`, the interface's own limit
start    from `import casino_env` to the first deal of an arena match played, in a fresh process:
         cold (everything compiled) and warm (from the cache)
training (with --train) self-play and learning of a run, and the shares of its time; or with --beat
         how long runs with several seeds learn until the lower end of their margin against an agent
         is above 0

If OpenSpiel is installed, the same loop is timed in some of its card games, so that the ratio comes
from one run; so is MaskablePPO, with --train, if sb3-contrib is. Shared machines are noisy: compare
ratios, not single numbers."""

EXAMPLES = """examples:
  casino bench
  casino bench --runs 9 --seconds 2 --json bench.json"""

_START = """
import sys, time
start = time.perf_counter()
import casino_env
from agents.arena import compete
from agents.registry import make_agent
from casino_env.rules import Rules
rules = Rules()
compete([make_agent(name, rules, 2) for name in ("random", "greedy")], 1, 0)
print(time.perf_counter() - start)
"""


class Measured(NamedTuple):
    """One row: the values of the runs, best read by their median."""

    name: str
    unit: str
    values: list[float]

    @property
    def median(self) -> float:
        """Median of the runs."""
        return median(self.values)


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `casino bench`."""
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each loop (default: 5)")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="per run (default: 1)")
    parser.add_argument("--no-start", action="store_true", help="leave out the cold and warm start")
    parser.add_argument("--train", action="store_true", help="measure training instead, and its time's split")
    parser.add_argument("--config", type=Path, metavar="FILE", help="with --train: of the run, a YAML file")
    parser.add_argument("--beat", metavar="AGENT", help="with --train: time until AGENT is beaten")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to FILE")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """`casino bench`: measure, print the table, write the file."""
    check_count("runs", arguments.runs, 1)
    if not arguments.train and (arguments.beat or arguments.config):
        raise CasinoError("bench: --beat and --config go with --train")
    if not 0 < arguments.seconds <= 3600:
        raise CasinoError(f"seconds={arguments.seconds} is not possible; valid: above 0, to 3600")
    target = check_target(arguments.json, "--json") if arguments.json else None
    rows = _measure_training(arguments) if arguments.train else _measure_loops(arguments)
    Console().print(_table(rows))
    if target:
        write_text(target, json.dumps(_to_json(rows), indent=2) + "\n")


def _measure_loops(arguments: Namespace) -> list[Measured]:
    with _one_core(), progress_bar("loops", arguments.quiet) as progress:
        loops = {name: make() for name, make in _loops()}
        task = progress.add_task("loops", total=len(loops) * arguments.runs + (not arguments.no_start))
        rates: dict[str, list[float]] = {name: [] for name in loops}
        paces = {name: _find_pace(loop) for name, loop in loops.items()}
        for _ in range(arguments.runs):  # round by round, so that ratios come from the same minutes
            for name, loop in loops.items():
                rates[name].append(_turns_per_second(loop, paces[name] * arguments.seconds))
                progress.advance(task)
        rows = [Measured(name, "/s", values) for name, values in rates.items()]
        rows.append(Measured(SHARE, "%", _percent(rates[WRAPPED], rates[IDLE])))
        if not arguments.no_start:
            rows += _time_starts(arguments.runs)
            progress.advance(task)
    return [*rows, Measured("bytes per game", "bytes", [_bytes_per_game()])]


def _measure_training(arguments: Namespace) -> list[Measured]:
    """Updates of a run after one that compiles, and the shares of their time."""
    from agents import training_bench as bench
    from agents.config_files import load_config  # bring torch

    config = load_config(arguments.config)
    units = {bench.OURS: "/s", bench.THEIRS: "/s", bench.OUR_TIME: "s", bench.THEIR_TIME: "s"}
    units |= dict.fromkeys((bench.RATIO, bench.TIMES), "times")
    with progress_bar("rounds", arguments.quiet) as progress:
        rounds = progress.track(range(arguments.runs + 1))
        if arguments.beat:
            values = bench.time_to_beat(config, arguments.beat, rounds)
        else:
            values = bench.time_training(config, rounds)
    return [Measured(name, units.get(name, "%"), of_rounds) for name, of_rounds in values.items()]


def _loops() -> Iterator[tuple[str, Callable[[], Loop]]]:
    for games in BATCHES:
        yield f"turns, batch {games}", partial(batch_loop, games)
    for games in BATCHES:
        yield f"observed, batch {games}", partial(batch_loop, games, observe)
    for games in BATCHES:
        yield f"featured, batch {games}", partial(batch_loop, games, observe_and_feature)
    yield "Position, legal_moves and play", position_loop
    yield "PettingZoo raw_env", partial(pettingzoo_loop, raw_env)
    yield WRAPPED, partial(pettingzoo_loop, env)
    yield IDLE, partial(pettingzoo_loop, lambda: wrap(IdleEnv(), 0.0))
    for games in BATCHES[1:-1]:
        yield f"Gymnasium, batch {games}", partial(gymnasium_loop, games)
    if has_open_spiel():
        for name in OPEN_SPIEL_GAMES:
            yield f"OpenSpiel {name}", partial(open_spiel_loop, name)


def _find_pace(loop: Loop) -> float:
    """Turns per second, after a turn that compiles."""
    loop(1)
    return _turns_per_second(loop, FIRST_TURNS)


def _turns_per_second(loop: Loop, turns: float) -> float:
    start = perf_counter()
    return loop(max(1, int(turns))) / (perf_counter() - start)


def _percent(these: list[float], those: list[float]) -> list[float]:
    return [100 * this / that for this, that in zip(these, those, strict=True)]


def _time_starts(runs: int) -> list[Measured]:
    """Seconds of a first arena deal in a fresh process, with an empty and with a filled kernel cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        seconds = [_time_start(environment) for _ in range(runs + 1)]
    return [Measured("cold start", "s", seconds[:1]), Measured("warm start", "s", seconds[1:])]


def _time_start(environment: dict[str, str]) -> float:
    command = [sys.executable, "-c", _START]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CasinoError(f"bench: a fresh process failed ({done.stderr.strip().splitlines()[-1]})")
    return float(done.stdout)


def _bytes_per_game() -> float:
    return float(sum(array.nbytes for array in empty_state(1, 2)))


@contextmanager
def _one_core() -> Iterator[None]:
    """Stay on one core, where the system can be told so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _table(rows: list[Measured]) -> Table:
    table = Table(title="royal, 2 players")
    for heading in ("loop", "median", "runs", "slower by"):
        table.add_column(heading, justify="left" if heading == "loop" else "right", no_wrap=True)
    fastest = next((row.median for row in rows if row.name == f"turns, batch {MAIN_BATCH}"), None)
    for row in rows:
        runs = f"{_short(min(row.values))} to {_short(max(row.values))}" if len(row.values) > 1 else ""
        ratio = f"{fastest / row.median:,.1f}" if fastest and row.unit == "/s" else ""
        table.add_row(row.name, f"{_short(row.median)} {row.unit}", runs, ratio)
    if fastest:
        table.caption = f"one core; slower by: how many times, than turns at batch {MAIN_BATCH}"
    return table


def _short(value: float) -> str:
    """Three digits and a thousands' sign."""
    for sign, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {sign}"
    return f"{value:.3g}"


def _to_json(rows: list[Measured]) -> dict[str, Any]:
    return {
        "versions": versions("numba", "numpy", "open_spiel"),
        "rows": [{**row._asdict(), "median": row.median} for row in rows],
    }
