"""What a competition comes to: margins, shares, seats, pairings, ratings, and who failed.

Owns the result as data. Agents are worked with in the order of their names, so that the order in which they
were given changes no digit, and put into that order at the end.
Axes: `A` agents, `P` pairings, `D` decks, `S` sides.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agents.contestant import Pace, whole_pace
from agents.matchup import Played, Setting, two_seatings
from agents.ratings import Intervals, Ratings, find_cycles, rate
from agents.sprt import Sprt, Verdict
from agents.tally import Estimate, Tally, estimate, tally
from agents.versions import versions
from casino_env.state import IntArray

RATED = 3  # agents or more are rated


@dataclass(frozen=True)
class Pairing:
    """Two agents against each other, told of the first."""

    agents: tuple[str, str]
    margin: Estimate
    win: float  # shares of the games
    draw: float
    loss: float
    residual: Estimate | None  # margin beyond what the margin ratings say, where they can differ

    def reversed(self) -> "Pairing":
        """Told of the second."""
        residual = self.residual and self.residual.reversed()
        first, second = self.agents
        margin = self.margin.reversed()
        return Pairing((second, first), margin, self.loss, self.draw, self.win, residual)


@dataclass(frozen=True)
class Rating:
    """An agent among several."""

    agent: str
    elo: Estimate  # Bradley-Terry
    margin: Estimate


@dataclass(frozen=True)
class ArenaResult:
    """A competition. Lists have one entry for each agent, in the order in which they were named."""

    agents: list[str]
    rules: str
    players: int
    objective: str  # `deal`: margins are points a deal; `match`: rewards of a match
    format: str  # `round robin` or `gauntlet`
    decks: int  # of each pairing: decks * seatings games were played in it
    seatings: int
    seed: int
    margin: list[float]  # mean over decks and pairings
    low: list[float | None]  # 95 % interval of the margin; None with a single deck
    high: list[float | None]
    win_share: list[float]  # wins and half the draws
    win: list[float]
    draw: list[float]
    loss: list[float]
    by_seat: list[list[Estimate]]  # margin on each side; side 0 deals (first)
    seat_gain: list[Estimate]  # of two agents on three sides: what the first gets beyond the second there
    pairings: list[Pairing]
    ratings: list[Rating]  # of three agents and more
    cycles: list[list[str]]  # of three: each beats the next, the last the first, beyond the intervals
    failures: list[dict[str, Any]]  # agent, games lost by failing, reason
    late: list[dict[str, Any]]  # agent, calls, over: calls beyond the move time, worst: milliseconds a move
    cut_lists: int  # lists of legal moves that were cut at their bound
    sprt: dict[str, Any] | None  # the sequential test of the first agent's margin, and its verdict
    versions: dict[str, str]
    fresh: int = field(compare=False)  # games that were played now, not taken from a store
    seconds: float = field(compare=False)

    def to_json(self) -> dict[str, Any]:
        """All but what depends on the run: the same competition leaves the same file, if no one was late."""
        return {name: value for name, value in asdict(self).items() if name not in ("fresh", "seconds")}


class Games(NamedTuple):
    """A competition as it was played; agents in the order of their names."""

    names: list[str]  # [A]
    pairs: IntArray  # [P, 2]
    played: list[Played]  # [P]


def summarise(
    games: Games,
    order: Sequence[str],
    setting: Setting,
    sprt: tuple[Sprt, Verdict] | None,
    is_gauntlet: bool,
    fresh: int,
    seconds: float,
) -> ArenaResult:
    """The result of `games`, agents in the given `order`."""
    seatings = two_seatings(setting.sides)
    tallies = [tally(played.rewards, seatings) for played in games.played]
    ratings = _rate(games.pairs, tallies, len(seatings), setting.seed) if len(order) >= RATED else None
    places = [games.names.index(name) for name in order]
    means = [_mean_tally(games.pairs, tallies, agent) for agent in places]
    margins = [estimate(mean.margins) for mean in means]
    return ArenaResult(
        agents=list(order),
        rules=str(setting.rules),
        players=setting.players,
        objective=setting.objective,
        format="gauntlet" if is_gauntlet else "round robin",
        decks=len(tallies[0].margins),
        seatings=len(seatings),
        seed=setting.seed,
        margin=[margin.mean for margin in margins],
        low=[margin.low for margin in margins],
        high=[margin.high for margin in margins],
        win_share=[float(mean.shares.mean()) for mean in means],
        win=[float(mean.wins.mean()) for mean in means],
        draw=[float(mean.draws.mean()) for mean in means],
        loss=[float((1 - mean.wins - mean.draws).mean()) for mean in means],
        by_seat=[[estimate(side) for side in mean.by_seat[:, 0].T] for mean in means],
        seat_gain=_seat_gain(means[0]) if len(order) < RATED and setting.sides > 2 else [],
        pairings=_pairings(games, order, tallies, ratings),
        ratings=_ratings(order, places, ratings),
        cycles=_cycles(games, tallies),
        failures=_failures(games, places),
        late=_late(games, places),
        cut_lists=sum(played.cut_lists for played in games.played),
        sprt={**asdict(sprt[0]), **asdict(sprt[1])} if sprt else None,
        versions=versions("numpy", "numba", "torch"),
        fresh=fresh * len(seatings),
        seconds=seconds,
    )


def _seat_gain(told: Tally) -> list[Estimate]:
    return [estimate(side) for side in (told.by_seat[:, 0] - told.by_seat[:, 1]).T]


def _rate(pairs: IntArray, tallies: Sequence[Tally], seatings: int, seed: int) -> Ratings:
    margins, shares = (np.array([getattr(one, name) for one in tallies]) for name in ("margins", "shares"))
    return rate(pairs, margins, shares, seatings, seed)


def _mean_tally(pairs: IntArray, tallies: Sequence[Tally], agent: int) -> Tally:
    """An agent against all that it met, deck by deck."""
    met = [
        one if pair[0] == agent else one.reversed()
        for pair, one in zip(pairs, tallies, strict=True)
        if agent in pair
    ]
    return Tally(*(np.mean(parts, axis=0) for parts in zip(*met, strict=True)))


def _pairings(
    games: Games, order: Sequence[str], tallies: Sequence[Tally], ratings: Ratings | None
) -> list[Pairing]:
    """Of each pairing, told of the agent that was named first; in the order of the names given."""
    beyond = ratings.residual if ratings else None
    residuals = _estimates(beyond) if beyond else [None] * len(tallies)
    found = []
    for pair, one, residual in zip(games.pairs, tallies, residuals, strict=True):
        win, draw = float(one.wins.mean()), float(one.draws.mean())
        loss = float((1 - one.wins - one.draws).mean())
        first, second = (games.names[agent] for agent in pair)
        told = Pairing((first, second), estimate(one.margins), win, draw, loss, residual)
        found.append(told if order.index(first) < order.index(second) else told.reversed())
    return sorted(found, key=lambda pairing: [order.index(name) for name in pairing.agents])


def _ratings(order: Sequence[str], places: Sequence[int], ratings: Ratings | None) -> list[Rating]:
    if ratings is None:
        return []
    elo, margin = _estimates(ratings.elo), _estimates(ratings.margin)
    return [Rating(name, elo[place], margin[place]) for name, place in zip(order, places, strict=True)]


def _estimates(intervals: Intervals) -> list[Estimate]:
    return [
        Estimate(float(value), *(None if np.isnan(end) else float(end) for end in (low, high)))
        for value, low, high in zip(*intervals, strict=True)
    ]


def _cycles(games: Games, tallies: Sequence[Tally]) -> list[list[str]]:
    ends = [estimate(one.margins) for one in tallies]
    low, high = (np.array([getattr(end, name) for end in ends], np.float64) for name in ("low", "high"))
    return [[games.names[agent] for agent in cycle] for cycle in find_cycles(games.pairs, low, high)]


def _failures(games: Games, places: Sequence[int]) -> list[dict[str, Any]]:
    """Of each agent that failed the games it lost so, and the first reason."""
    found = []
    for place in places:
        lost, reason = 0, ""
        for pair, played in zip(games.pairs, games.played, strict=True):
            for which in np.flatnonzero(pair == place):
                lost += int((played.failed == which).sum())
                reason = reason or played.reasons[which]
        if lost:
            found.append({"agent": games.names[place], "games": lost, "reason": reason})
    return found


def _late(games: Games, places: Sequence[int]) -> list[dict[str, Any]]:
    paces = {place: whole_pace(_paces(games, place)) for place in places}
    return [{"agent": games.names[place], **pace._asdict()} for place, pace in paces.items() if pace.over]


def _paces(games: Games, place: int) -> list[Pace]:
    """An agent's, in its pairings."""
    pairs = zip(games.pairs, games.played, strict=True)
    return [played.paces[which] for pair, played in pairs for which in np.flatnonzero(pair == place)]
