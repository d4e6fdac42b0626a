"""Train an agent by self-play: `python train.py --config configs/quickstart.yaml --ppo.entropy 0.02`.

Reads a configuration, makes or opens the run's folder, trains (see `agents.trainer`), and reports.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from agents.arena import compete
from agents.arena_tables import result_table
from agents.command import CommandParser, run_command
from agents.config import Config
from agents.config_files import load_config, read_overrides
from agents.dashboard import Dashboard
from agents.metrics import MetricsWriter
from agents.ranks import Ranks, join_ranks, leave_ranks
from agents.run_folder import RunFolder
from agents.stopping import stop_on_signal
from agents.trainer import Logbook, Stopped, Trainer
from casino_env.errors import CasinoError

FIXED_ON_RESUME = ("game.", "network.", "ppo.privileged", "run.name", "run.folder", "run.seed", "run.start")
EPILOG = """any key of the configuration can be given as --section.key value; see configs/default.yaml
example: python train.py --config configs/quickstart.yaml --run.name first --budget.minutes 2
several processes: torchrun --nproc-per-node 2 train.py --config configs/royal-2p.yaml --run.threads 1"""


def run(arguments: argparse.Namespace) -> None:
    """Train a new run, or continue one."""
    overrides = read_overrides(arguments.rest)
    if arguments.resume:
        config = load_resumed(RunFolder(arguments.resume), overrides, arguments.config)
    else:
        config = load_config(arguments.config, overrides)
    ranks = join_ranks(config.run.device)
    try:
        train(config, ranks, arguments)
        ranks.wait()  # a process that leaves while others go on may be aborted by gloo's threads
    finally:
        leave_ranks()


def train(config: Config, ranks: Ranks, arguments: argparse.Namespace) -> None:
    """One rank's part in the run."""
    console = LastingConsole(quiet=arguments.quiet or not ranks.is_first)
    torch.set_num_threads(config.run.threads)
    trainer, resume_at = Trainer(config, ranks), None
    if arguments.resume:
        folder = RunFolder(arguments.resume)
        trainer.counters = folder.restore(trainer.learner, trainer.league, trainer.rules)
        trainer.checkpoint = folder.last_checkpoint()
        resume_at = trainer.counters["decisions"]
        if trainer.is_done:
            more = f"give more, e.g. {larger_budget(trainer)}"
            raise CasinoError(f"{folder.path}: the budget is used up; {more}")
    elif config.run.start:
        trainer.start_from(Path(config.run.start))
    if ranks.is_first and not arguments.resume:
        folder = RunFolder.create(config)
    if not ranks.is_first:
        with stop_on_signal() as stop:
            try:
                trainer.train(None, stop)
            except Stopped:
                raise KeyboardInterrupt from None
        return
    dashboard = Dashboard(console, config.budget)
    console.print(f"run folder: {folder.path}", highlight=False)
    with MetricsWriter(folder.path, resume_at) as metrics, stop_on_signal() as stop:
        metrics.describe(folder.write_config(config, ranks.size))
        if metrics.set_aside:
            console.print(f"metrics.csv was damaged; it is now {metrics.set_aside}", soft_wrap=True)
        try:
            with dashboard.shown():
                trainer.train(Logbook(folder, metrics, dashboard), stop)
        except Stopped as stopped:
            console.print(f"stopped; checkpoint: {stopped}", soft_wrap=True, highlight=False)
            console.print(f"  {resume_command(folder, ranks)}", soft_wrap=True, highlight=False)
            raise KeyboardInterrupt from None
    report(trainer, folder, console)


def load_resumed(folder: RunFolder, overrides: dict[str, str], file: Path | None) -> Config:
    """The configuration of a run that continues; CasinoError for what cannot change on the way."""
    if file:
        raise CasinoError("--config and --resume: give one of the two; a run has its own config.yaml")
    for name in overrides:
        if name.startswith(FIXED_ON_RESUME):
            raise CasinoError(f"--{name} cannot change when a run is resumed; start a new run for it")
    return load_config(folder.config_path, overrides, whole=True)


def report(trainer: Trainer, folder: RunFolder, console: Console) -> None:
    """The arena's verdict on the final policy, and where to look further."""
    settings, players = trainer.config.evaluation, trainer.players
    for opponent in trainer.evaluation.opponents.values():
        pair = [trainer.agent(), opponent]
        result = compete(pair, settings.final_decks, settings.seed + 1, trainer.rules, players)
        console.print(result_table(result))
    console.print(f"checkpoint: {trainer.checkpoint}", soft_wrap=True, highlight=False)
    console.print("look further:", highlight=False)
    game = f"--rules {shlex.quote(str(trainer.rules))} --players {players}"
    path = shlex.quote(str(folder.path))
    for command in (
        f"casino arena {shlex.quote(str(trainer.checkpoint))} greedy --deals 4000 {game}",
        f"tensorboard --logdir {path}",
    ):
        console.print(f"  {scripts_folder()}{command}", soft_wrap=True, highlight=False)
    command = f"{resume_command(folder, trainer.ranks)} {larger_budget(trainer)}"
    console.print(f"  {command}", soft_wrap=True, highlight=False)


def resume_command(folder: RunFolder, ranks: Ranks) -> str:
    """What goes on with the run, in as many processes."""
    program = "python" if ranks.size == 1 else f"torchrun --nproc-per-node {ranks.size}"
    return f"{scripts_folder()}{program} train.py --resume {shlex.quote(str(folder.path))}"


def larger_budget(trainer: Trainer) -> str:
    """Options that let the run go on: twice of what is used up or nearly so."""
    budget, counters = trainer.config.budget, trainer.counters
    options = f"--budget.decisions {2 * max(budget.decisions, counters['decisions'])}"
    if counters["seconds"] >= 30 * budget.minutes:
        options += f" --budget.minutes {2 * max(budget.minutes, counters['seconds'] / 60):g}"
    return options


def scripts_folder() -> str:
    """What goes before a command's name for it to be the one of this interpreter: nothing on the PATH."""
    here = Path(sys.executable).parent
    if str(here) in os.environ.get("PATH", "").split(os.pathsep):
        return ""
    return shlex.quote(os.path.relpath(here) + os.sep)


class LastingConsole(Console):
    """Training goes on in silence when nobody reads its output any more, as behind `| head`."""

    def on_broken_pipe(self) -> None:
        """See `Console.on_broken_pipe`, which would end the program."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class TrainParser(CommandParser):
    """Leaves what it does not know, the overrides of the configuration, in `rest`."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See `ArgumentParser.parse_args`."""
        arguments, arguments.rest = self.parse_known_args(args, namespace)
        return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = TrainParser("train.py", description=str(__doc__).partition("\n")[0], epilog=EPILOG)
    parser.add_argument("--config", type=Path, help="YAML file with differences from configs/default.yaml")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="continue the run in this folder")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run=run)
    return run_command(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
