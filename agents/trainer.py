"""One training run: collects, learns, measures, logs and saves until its budget is used up.

What is played is no concern of this file: it knows rollouts, a learner, a league and agents' margins.
"""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.batches import make_targets
from agents.buffers import Buffers
from agents.checkpoint import load_actor
from agents.config import Config, network_shape
from agents.dashboard import Dashboard
from agents.evaluation import Evaluation
from agents.league import League, points_against_guests
from agents.metrics import MetricsWriter
from agents.payments import EarlyPoints, FinalMargins, MatchShare, Payment, SolvedEnd
from agents.policy import PolicyAgent
from agents.ppo import Learner
from agents.ranks import Ranks
from agents.rollout import collect
from agents.rollout_metrics import rollout_metrics
from agents.run_folder import COUNTERS, RunFolder
from agents.schedules import games_at, rates_at
from agents.stopping import StopRequest
from agents.stopwatch import Stopwatch
from agents.teacher import EndgameTeacher
from casino_env.errors import CasinoError
from casino_env.rules import Rules
from casino_env.vector_env import VectorEnv


class Stopped(Exception):
    """A signal ended the run early; carries the path of its last checkpoint, if this rank writes any."""


class Logbook(NamedTuple):
    """Where the first rank writes what comes of the run."""

    folder: RunFolder
    metrics: MetricsWriter
    dashboard: Dashboard


class Trainer:
    """The learner, league and counters of a run; `ranks` are the processes that share it."""

    def __init__(self, config: Config, ranks: Ranks) -> None:
        self.config, self.ranks = config, ranks
        self.rules, self.players = Rules.parse(config.game.rules), config.game.players
        shape = network_shape(config)
        self.learner = Learner(shape, config.ppo, config.run.seed, ranks)
        self.league = League(config.league, shape, self.rules)
        self.evaluation = Evaluation(config.evaluation, self.rules, self.players, config.game.objective)
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.checkpoint: Path | None = None  # the last one, on the rank that writes
        self._env = self._make_env(self._games())
        self._buffers = Buffers.of(self.players)
        self._payment = choose_payment(config)
        self._teacher = EndgameTeacher(self.rules) if config.ppo.solved else None

    def start_from(self, path: Path) -> None:
        """Begin with the actor of a checkpoint; CasinoError, naming the file, if it does not fit."""
        try:
            self.learner.adopt(load_actor(path, self.rules, self.players), path)
        except CasinoError as error:
            raise CasinoError(f"run.start: {error}") from None

    def train(self, logbook: Logbook | None, stop: StopRequest) -> None:
        """Run until the budget is used up. The first rank has a logbook.

        Raises Stopped, with everything saved, after a signal, and CasinoError if an update goes astray.
        """
        earlier, start = self.counters["seconds"], time.monotonic()
        while not self.is_done:
            values = self.update()
            self.check_health(values)
            stops = self._agree(earlier + time.monotonic() - start, stop.is_set)
            values["time/whole_run"] = self.counters["decisions"] / max(self.counters["seconds"], 1)
            is_due = self.is_done or self.counters["updates"] % self.config.evaluation.every == 0
            if is_due:
                values |= self.evaluation.measure(self.agent(), self.ranks)
            if logbook:
                logbook.metrics.write(self.counters["decisions"], values)
                if is_due or stops:
                    self.checkpoint = logbook.folder.save(
                        self.learner, self.league, self.rules, self.counters
                    )
                logbook.dashboard.show(self.counters, values)
            if stops and not self.is_done:
                raise Stopped(self.checkpoint)

    @property
    def is_done(self) -> bool:
        """Whether the decisions or the minutes of the budget are used up."""
        budget = self.config.budget
        return (
            self.counters["decisions"] >= budget.decisions or self.counters["seconds"] >= 60 * budget.minutes
        )

    def update(self) -> dict[str, float]:
        """Collect and learn once. All randomness follows from seed, number of the update and rank."""
        ppo, done = self.config.ppo, self.counters["updates"]
        shared = np.random.default_rng([self.config.run.seed, done])
        rng = np.random.default_rng([self.config.run.seed, done, 1 + self.ranks.rank])
        watch, networks = Stopwatch(), (self.learner.actor, self.learner.critic)
        games = self._games()
        if games != self._env.num_envs:
            self._env = self._make_env(games)
        guests = self.league.invite(shared, games)
        rollout = collect(
            self._env, networks, rng, self._buffers, self._payment, guests, watch, self._teacher
        )
        targets = make_targets(rollout, ppo.discount, ppo.trace, self.ranks)
        rates = rates_at(self.config, self.counters["decisions"], done, games)
        values = self.learner.update(rollout, targets, rates, rng, watch)
        values |= rollout_metrics(rollout, targets.returns, self._env.rules.table)
        values |= points_against_guests(rollout)
        values |= self.league.note(rollout, self.ranks)
        decisions = len(rollout.choices) * self.ranks.size
        self.counters["updates"] += 1
        self.counters["decisions"] += decisions
        self.league.admit(self.learner.actor, self.counters["updates"])
        watch.lap("rest")
        values["time/decisions_per_second"] = decisions / sum(watch.seconds.values())
        values |= {"schedule/learning_rate": rates.learning, "schedule/entropy": rates.entropy}
        return values | watch.shares()

    def check_health(self, values: dict[str, float]) -> None:
        """CasinoError, before anything is saved, if the update went astray."""
        good = f"last good checkpoint: {self.checkpoint or 'there is none yet'}"
        updates, moved = self.counters["updates"], values["loss/kl"]
        for name, value in values.items():
            if name.startswith("loss/") and not np.isfinite(value):  # what all ranks share, so that all stop
                raise CasinoError(f"update {updates}: {name} is {value}; {good}")
        if moved > self.config.ppo.stop_kl:
            limit = f"ppo.stop_kl is {self.config.ppo.stop_kl:g}"
            raise CasinoError(f"update {updates}: the policy moved by {moved:.3g} nats, and {limit}; {good}")

    def agent(self) -> PolicyAgent:
        """The policy, as it would be released now."""
        return PolicyAgent(self.learner.released, self.rules, self.config.run.name)

    def _games(self) -> int:
        """Deals of the next rollout."""
        table, decisions = self.rules.table, self.counters["decisions"]
        return games_at(self.config.budget, table, decisions, self.ranks.size)

    def _make_env(self, games: int) -> VectorEnv:
        return VectorEnv(games, self.rules, self.players, auto_reset=False)

    def _agree(self, seconds: float, stops: bool) -> bool:
        """Take the first rank's clock; returns whether any rank has been asked to stop."""
        clock, asked = self.ranks.sum([seconds * self.ranks.is_first, float(stops)])
        self.counters["seconds"] = round(clock)
        return asked > 0


def choose_payment(config: Config) -> Payment:
    """What the configuration pays a learner for."""
    if config.game.objective == "match":
        return MatchShare()
    if config.ppo.solved_end:
        return SolvedEnd(Rules.parse(config.game.rules))
    return EarlyPoints() if config.ppo.early_points else FinalMargins()
