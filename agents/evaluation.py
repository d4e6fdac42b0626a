"""How good a policy is at a moment of its training: margins against the ladder, and last-hand regret."""

from collections.abc import Callable
from dataclasses import astuple
from functools import partial

from agents.arena import margin_against
from agents.base import Agent
from agents.config import EvaluationConfig
from agents.hand_search import PLAYERS as REGRET_PLAYERS
from agents.ranks import Ranks
from agents.registry import make_agent
from agents.regret import measure_regret
from casino_env.rules import Rules

Measurement = Callable[[], list[float]]


class Evaluation:
    """The measurements that a run repeats, always over the same decks."""

    def __init__(self, config: EvaluationConfig, rules: Rules, players: int, objective: str = "deal") -> None:
        self._config, self._rules, self._players = config, rules, players
        self._objectives = {"margin": "deal"} | ({"match": "match"} if objective == "match" else {})
        self.opponents = {name: make_agent(name, rules, players) for name in config.opponents.split()}

    def measure(self, agent: Agent, ranks: Ranks) -> dict[str, float]:
        """Metrics of the agent; the work is shared among the ranks."""
        jobs = self._jobs(agent)
        names = [name for given in jobs for name in given]
        mine: list[float] = []
        for i, (given, work) in enumerate(jobs.items()):
            mine += work() if i % ranks.size == ranks.rank else [0.0] * len(given)
        return dict(zip(names, map(float, ranks.sum(mine)), strict=True))

    def _jobs(self, agent: Agent) -> dict[tuple[str, ...], Measurement]:
        """What to do for the metrics of these names."""
        jobs: dict[tuple[str, ...], Measurement] = {
            (f"{group}/{name}", f"{group}/{name}_low", f"{group}/{name}_high"): partial(
                self._margin, agent, opponent, objective
            )
            for group, objective in self._objectives.items()
            for name, opponent in self.opponents.items()
        }
        if self._config.regret and self._players == REGRET_PLAYERS:
            jobs["regret/per_deal",] = partial(self._regret, agent)
        return jobs

    def _margin(self, agent: Agent, opponent: Agent, objective: str) -> list[float]:
        config, game = self._config, (self._rules, self._players)
        found = margin_against(agent, opponent, *game, config.decks, config.seed, objective)
        return [float(number) for number in astuple(found)]

    def _regret(self, agent: Agent) -> list[float]:
        return [measure_regret(agent, self._rules, self._config.regret, agent.name).per_deal]
