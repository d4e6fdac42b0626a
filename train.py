"""Train an agent by self-play: `python train.py --config configs/quickstart.yaml --ppo.entropy 0.02`.

Reads a configuration, then collects, learns, evaluates, logs and saves until the budget is used up. What
is played is no concern of this file: it knows rollouts, a learner and agents' margins.
"""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from agents.arena import compete, margin_against
from agents.arena_tables import result_table
from agents.command import CommandParser, run_command
from agents.config import Config, load_config, network_shape, read_overrides
from agents.metrics import MOVE_KINDS, MetricsWriter
from agents.policy import PolicyAgent
from agents.ppo import Learner
from agents.registry import make_agent
from agents.rollout import Rollout, collect
from agents.run_folder import COUNTERS, RunFolder
from agents.stopping import StopRequest, stop_on_signal
from agents.stopwatch import Stopwatch
from casino_env.errors import CasinoError
from casino_env.rules import Rules
from casino_env.vector_env import VectorEnv

OPPONENTS = ("random", "greedy")
FIXED_ON_RESUME = ("game.", "network.", "run.name", "run.folder", "run.seed")
EPILOG = """any key of the configuration can be given as --section.key value; see configs/default.yaml
example: python train.py --config configs/quickstart.yaml --run.name first --budget.minutes 2"""


class Stopped(Exception):
    """A signal ended the run early; carries the path of its last checkpoint."""


class Trainer:
    """One run: its learner, its counters and its folder."""

    def __init__(self, config: Config, folder: RunFolder, console: Console) -> None:
        self.config, self.folder, self.console = config, folder, console
        self.rules, self.players = Rules.parse(config.game.rules), config.game.players
        self.learner = Learner(network_shape(config), config.ppo, config.run.seed)
        self.env = VectorEnv(config.budget.games, self.rules, self.players)
        self.last_checkpoint: Path | None = None
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.opponents = {name: make_agent(name, self.rules, self.players) for name in OPPONENTS}

    def train(self, metrics: MetricsWriter, progress: Progress, stop: StopRequest) -> Path:
        """Run until the budget is used up or a stop is asked for; returns the path of the last checkpoint."""
        task = progress.add_task("training", total=self.config.budget.decisions)
        earlier, start = self.counters["seconds"], time.monotonic()
        while not self.is_done:
            values = self.update()
            self.check_finite(values)
            self.counters["seconds"] = earlier + round(time.monotonic() - start)
            due = self.is_done or self.counters["updates"] % self.config.evaluation.every == 0
            margins = self.evaluate() if due else {}
            metrics.write(self.counters["decisions"], values | margins)
            if due or stop.is_set:
                checkpoint = self.folder.save(self.learner, self.rules, self.counters)
                self.last_checkpoint = checkpoint
            progress.update(task, completed=self.counters["decisions"])
            if margins:
                progress.console.print(self.progress_line(margins), highlight=False)
            if stop.is_set and not self.is_done:
                raise Stopped(checkpoint)
        return checkpoint

    @property
    def is_done(self) -> bool:
        """Whether the decisions or the minutes of the budget are used up."""
        budget = self.config.budget
        return (
            self.counters["decisions"] >= budget.decisions or self.counters["seconds"] >= 60 * budget.minutes
        )

    def update(self) -> dict[str, float]:
        """Collect and learn once. All randomness follows from the seed and the number of the update."""
        rng = np.random.default_rng([self.config.run.seed, self.counters["updates"]])
        watch = Stopwatch()
        rollout = collect(self.env, self.learner.actor, self.learner.critic, rng, watch)
        rate = self.learning_rate()
        values = self.learner.update(rollout, rate, rng, watch)
        decisions = len(rollout.choices)
        self.counters["updates"] += 1
        self.counters["decisions"] += decisions
        values["loss/learning_rate"] = rate
        values["time/decisions_per_second"] = decisions / sum(watch.seconds.values())
        return values | watch.shares() | move_shares(rollout)

    def learning_rate(self) -> float:
        """Falls linearly over the budget's decisions, to `budget.final_rate` of the start."""
        done = min(1.0, self.counters["decisions"] / self.config.budget.decisions)
        return self.config.ppo.learning_rate * (1 - done * (1 - self.config.budget.final_rate))

    def check_finite(self, values: dict[str, float]) -> None:
        """CasinoError, before anything is saved, if the update went astray."""
        for name, value in values.items():
            if not np.isfinite(value):
                good = self.last_checkpoint or "there is none yet"
                updates = self.counters["updates"]
                raise CasinoError(f"update {updates}: {name} is {value}; last good checkpoint: {good}")

    def evaluate(self) -> dict[str, float]:
        """Margins of the current policy, points per deal, over a fixed set of decks."""
        settings, game = self.config.evaluation, (self.rules, self.players)
        return {
            f"margin/{name}": margin_against(
                self.agent(), opponent, *game, n_decks=settings.decks, seed=settings.seed
            ).mean
            for name, opponent in self.opponents.items()
        }

    def progress_line(self, margins: dict[str, float]) -> str:
        """The margins for people."""
        text = ", ".join(f"{margins[f'margin/{name}']:+.2f} against {name}" for name in self.opponents)
        return f"{self.counters['decisions']:>12,} decisions: {text}"

    def larger_budget(self) -> str:
        """Options that let the run go on: twice of what is used up or nearly so."""
        budget, counters = self.config.budget, self.counters
        options = f"--budget.decisions {2 * max(budget.decisions, counters['decisions'])}"
        if counters["seconds"] >= 30 * budget.minutes:
            options += f" --budget.minutes {2 * max(budget.minutes, counters['seconds'] / 60):g}"
        return options

    def agent(self) -> PolicyAgent:
        """The current policy as an agent."""
        return PolicyAgent(self.learner.actor, self.rules, self.folder.path.name)


def move_shares(rollout: Rollout) -> dict[str, float]:
    """Share of each kind of move among all decisions."""
    counts = np.bincount(rollout.kinds, minlength=len(MOVE_KINDS))
    return {name: float(count) / len(rollout.kinds) for name, count in zip(MOVE_KINDS, counts, strict=True)}


def report(trainer: Trainer, checkpoint: Path) -> None:
    """The arena's verdict on the final policy, and where to look further."""
    settings, console, players = trainer.config.evaluation, trainer.console, trainer.players
    agent = trainer.agent()
    for opponent in trainer.opponents.values():
        result = compete([agent, opponent], settings.final_decks, settings.seed + 1, trainer.rules, players)
        console.print(result_table(result))
    console.print(f"checkpoint: {checkpoint}", soft_wrap=True, highlight=False)
    console.print("look further:", highlight=False)
    game = f"--rules {shlex.quote(str(trainer.rules))} --players {players}"
    folder = shlex.quote(str(trainer.folder.path))
    for command in (
        f"casino arena {shlex.quote(str(checkpoint))} greedy --deals 4000 {game}",
        f"tensorboard --logdir {folder}",
        f"python train.py --resume {folder} {trainer.larger_budget()}",
    ):
        console.print(f"  {scripts_folder()}{command}", soft_wrap=True, highlight=False)


def scripts_folder() -> str:
    """What goes before a command's name for it to be the one of this interpreter: nothing on the PATH."""
    here = Path(sys.executable).parent
    if str(here) in os.environ.get("PATH", "").split(os.pathsep):
        return ""
    return shlex.quote(os.path.relpath(here) + os.sep)


def run(arguments: argparse.Namespace) -> None:
    """Train a new run, or continue one."""
    overrides = read_overrides(arguments.rest)
    if arguments.resume:
        folder = RunFolder(arguments.resume)
        config = load_resumed(folder, overrides, arguments.config)
    else:
        config = load_config(arguments.config, overrides)
        folder = RunFolder.create(config)
    console = LastingConsole(quiet=arguments.quiet)
    torch.set_num_threads(config.run.threads)
    trainer = Trainer(config, folder, console)
    resume_at = None
    if arguments.resume:
        trainer.counters = folder.restore(trainer.learner, trainer.rules)
        resume_at = trainer.counters["decisions"]
        if trainer.is_done:
            more = f"give more, e.g. {trainer.larger_budget()}"
            raise CasinoError(f"{folder.path}: the budget is used up; {more}")
    text = folder.write_config(config)
    console.print(f"run folder: {folder.path}", highlight=False)
    with MetricsWriter(folder.path, resume_at) as metrics, stop_on_signal() as stop:
        metrics.describe(text)
        if metrics.set_aside:
            console.print(f"metrics.csv was damaged; it is now {metrics.set_aside}", soft_wrap=True)
        try:
            with progress_bar(console) as progress:
                checkpoint = trainer.train(metrics, progress, stop)
        except Stopped as stopped:
            console.print(f"stopped; checkpoint: {stopped}", soft_wrap=True, highlight=False)
            command = f"{scripts_folder()}python train.py --resume {shlex.quote(str(folder.path))}"
            console.print(f"  {command}", soft_wrap=True, highlight=False)
            raise KeyboardInterrupt from None
    report(trainer, checkpoint)


def load_resumed(folder: RunFolder, overrides: dict[str, str], file: Path | None) -> Config:
    """The configuration of a run that continues; CasinoError for what cannot change on the way."""
    if file:
        raise CasinoError("--config and --resume: give one of the two; a run has its own config.yaml")
    for name in overrides:
        if name.startswith(FIXED_ON_RESUME):
            raise CasinoError(f"--{name} cannot change when a run is resumed; start a new run for it")
    return load_config(folder.config_path, overrides, whole=True)


class LastingConsole(Console):
    """Training goes on in silence when nobody reads its output any more, as behind `| head`."""

    def on_broken_pipe(self) -> None:
        """See `Console.on_broken_pipe`, which would end the program."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress_bar(console: Console) -> Iterator[Progress]:
    """A bar with the time left, on a terminal only."""
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%")
    times = TextColumn("elapsed"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()
    with Progress(*columns, *times, console=console, disable=not console.is_terminal) as progress:
        yield progress


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
