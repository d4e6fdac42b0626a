"""The league: past selves and agents of the ladder that the learner meets beside itself.

Past selves are drawn by how hard they are to beat (prioritised fictitious self-play, Vinyals et al. 2019,
doi:10.1038/s41586-019-1724-z). Everyone has an Elo rating, which starts at 0 for the untrained learner.
Axes: `B` games, `P` seats, `S` sides.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.base import Agent
from agents.network import Actor, NetworkShape
from agents.policy import PolicyAgent
from agents.ranks import Ranks
from agents.registry import make_agent
from agents.rollout import LEARNER, Guests, Rollout
from casino_env.errors import CasinoError
from casino_env.objectives import margins
from casino_env.rules import ITEMS, Rules, side_count
from casino_env.state import IntArray

MEMORY = 0.9  # of a win share, each time the two meet
LEAST_WEIGHT = 0.01  # of a past self that never wins
ELO_STEP, ELO_SCALE = 16.0, 400.0


@dataclass(frozen=True)
class LeagueConfig:
    """Who else sits at the tables; each number is explained in `configs/default.yaml`."""

    past: float = 0.0
    ladder: float = 0.0
    rungs: str = "greedy counter"
    guests: int = 2
    size: int = 16
    every: int = 20


@dataclass(eq=False)
class Member:
    """A guest and how it fares against the learner."""

    agent: Agent
    rating: float = 0.0
    lost: float = 0.5  # share of recent games that the learner won from it, a draw being half a win


@dataclass(eq=False)
class PastSelf(Member):
    """A copy of the learner; its rating stays what the learner's was."""

    agent: PolicyAgent


class League:
    """The guests of a run."""

    def __init__(self, config: LeagueConfig, shape: NetworkShape, rules: Rules) -> None:
        self.config, self._shape, self._rules = config, shape, rules
        self.rating = 0.0  # of the learner
        self.past: list[PastSelf] = []
        self._rungs = self._make_rungs()  # by the texts that name them
        self._invited: list[Member] = []

    @property
    def rungs(self) -> list[Member]:
        """The agents of the ladder."""
        return list(self._rungs.values())

    def admit(self, actor: Actor, updates: int) -> None:
        """Take in a copy of the learner if it is time; a full pool gives up who loses most."""
        if not self.config.past or updates % self.config.every:
            return
        if len(self.past) >= self.config.size:
            self.past.remove(max(self.past, key=lambda member: member.lost))
        self.past.append(self._member(f"update {updates}", actor.state_dict(), self.rating))

    def invite(self, rng: np.random.Generator, games: int) -> Guests | None:
        """Guests for `games` deals; None if there are none. In each deal one side is the learner's."""
        chosen = self._draw_past(rng)
        self._invited = [*chosen, *self.rungs]
        players, sides = self._shape.players, side_count(self._shape.players)
        seated = [_spread(self.config.past, games, len(chosen), 1)]
        seated.append(_spread(self.config.ladder, games, len(self.rungs), 1 + len(chosen)))
        guests = np.concatenate(seated)[:games]
        if not len(guests):
            return None
        ours = rng.integers(sides, size=(len(guests), 1)) == np.arange(players) % sides
        holders = np.full((games, players), LEARNER)
        holders[: len(guests)] = np.where(ours, LEARNER, guests[:, None])
        return Guests([member.agent for member in self._invited], holders)

    def note(self, rollout: Rollout, ranks: Ranks) -> dict[str, float]:
        """Learn from a rollout's results, of all ranks, who is hard to beat; returns metrics."""
        margins = our_margins(rollout)
        won = np.where(margins > 0, 1.0, 0.5 * (margins == 0))
        tally = [[float(rows.sum()), won[rows].sum(), margins[rows].sum()] for rows in self._tables(rollout)]
        sums = ranks.sum([value for row in tally for value in row]).reshape(-1, 3)
        for member, (games, wins, _) in zip(self._invited, sums, strict=True):
            if games:
                self._rate(member, float(wins / games))
        if not self._invited:
            return {}
        metrics = {"league/rating": self.rating, "league/past_selves": float(len(self.past))}
        n_past = len(self._invited) - len(self.rungs)
        for name, rows in (("past", sums[:n_past]), ("ladder", sums[n_past:])):
            if rows[:, 0].sum():
                metrics[f"league/margin_{name}"] = float(rows[:, 2].sum() / rows[:, 0].sum())
        return metrics

    def state_dict(self) -> dict[str, Any]:
        """Everything that a run continues from: tensors, numbers and texts."""
        past = [
            {
                "name": member.agent.name,
                "actor": member.agent.actor.state_dict(),
                "rating": member.rating,
                "lost": member.lost,
            }
            for member in self.past
        ]
        rungs = {name: [member.rating, member.lost] for name, member in self._rungs.items()}
        return {"rating": self.rating, "past": past, "rungs": rungs}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a `state_dict`; KeyError, RuntimeError, TypeError, ValueError if it does not fit."""
        self.rating = float(state["rating"])
        self.past = [
            self._member(str(one["name"]), one["actor"], float(one["rating"]), float(one["lost"]))
            for one in state["past"]
        ]
        for name, member in self._rungs.items():
            if name in state["rungs"]:
                member.rating, member.lost = map(float, state["rungs"][name])

    def _make_rungs(self) -> dict[str, Member]:
        names = self.config.rungs.split() if self.config.ladder else []
        try:
            return {name: Member(make_agent(name, self._rules, self._shape.players)) for name in names}
        except CasinoError as error:
            raise CasinoError(f"league.rungs: {error}") from None

    def _member(self, name: str, weights: dict[str, Any], rating: float, lost: float = 0.5) -> PastSelf:
        actor = Actor(self._shape)
        actor.load_state_dict(weights)
        return PastSelf(PolicyAgent(actor, self._rules, name), rating, lost)

    def _draw_past(self, rng: np.random.Generator) -> list[PastSelf]:
        """Some past selves, the hardest most often, each at most once."""
        weights = np.array([(1 - member.lost) ** 2 + LEAST_WEIGHT for member in self.past])
        count = min(self.config.guests, len(self.past))
        if not count:
            return []
        drawn = rng.choice(len(self.past), count, replace=False, p=weights / weights.sum())
        return [self.past[i] for i in drawn]

    def _tables(self, rollout: Rollout) -> list[np.ndarray]:
        """For each guest the games [B] that it sat in."""
        return [(rollout.holders == k).any(axis=1) for k in range(1, 1 + len(self._invited))]

    def _rate(self, member: Member, share: float) -> None:
        """A result's effect on both ratings (Elo 1978) and on the member's record."""
        expected = 1 / (1 + 10 ** ((member.rating - self.rating) / ELO_SCALE))
        gain = ELO_STEP * (share - expected)
        self.rating += gain
        if not isinstance(member, PastSelf):
            member.rating -= gain
        member.lost = MEMORY * member.lost + (1 - MEMORY) * share


def our_margins(rollout: Rollout) -> np.ndarray:
    """The margin [B] of the learner's side in the points of each deal, of the first side if it holds all."""
    sides = our_sides(rollout)
    return margins(rollout.points.sum(axis=2))[np.arange(len(sides)), sides]


def our_sides(rollout: Rollout) -> IntArray:
    """The side [B] of the learner in each deal, the first if it holds all."""
    return (rollout.holders == LEARNER).argmax(axis=1)  # the first seat is of the side of that number


def points_against_guests(rollout: Rollout) -> dict[str, float]:
    """What the learner's side gains on the others by each item that scores, points per deal with guests."""
    games = np.flatnonzero((rollout.holders != LEARNER).any(axis=1))
    if not len(games):
        return {}
    by_item = margins(rollout.points[games].swapaxes(1, 2))  # [E, I, S]
    gained = by_item[np.arange(len(games)), :, our_sides(rollout)[games]].mean(axis=0)
    return {f"points/{item}": float(gain) for item, gain in zip(ITEMS, gained, strict=True)}


def _spread(share: float, games: int, guests: int, first: int) -> IntArray:
    """A share of the games given to guests with the numbers `first`, `first + 1` …, evenly."""
    count = round(share * games) if guests else 0
    return first + np.arange(count) % max(guests, 1)
