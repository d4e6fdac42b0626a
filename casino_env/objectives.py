"""What a finished deal is worth to each seat: rewards of a deal or of a match, shared by all environments.

Axes: `E` ended games, `P` seats, `S` sides.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casino_env.arguments import check_count
from casino_env.engine import settle_batch
from casino_env.errors import CasinoError
from casino_env.rules import RuleTable
from casino_env.state import NOBODY, IntArray, State

OBJECTIVES = ("deal", "match")
# Of who names an illegal token where that ends the episode: a lost match, or less than a deal can bring.
ILLEGAL_REWARD = {"deal": -50.0, "match": -1.0}


class Outcome(NamedTuple):
    """What the end of a deal brings."""

    rewards: NDArray[np.float64]  # [E, P]
    finished: NDArray[np.bool_]  # [E] the episode is decided
    totals: IntArray  # [E, S] points of the deal by side
    score: IntArray  # [E, S] match score after the deal


def check_objective(objective: str) -> str:
    """`objective` if there is such a one, else CasinoError."""
    if objective not in OBJECTIVES:
        raise CasinoError(f"objective='{objective}' is unknown; valid: {', '.join(OBJECTIVES)}")
    return objective


def check_max_deals(max_deals: int | None, objective: str) -> int | None:
    """`max_deals` if it limits a match to 1 deal or more, or None; else CasinoError."""
    if max_deals is not None and objective != "match":
        raise CasinoError("max_deals limits a match: give objective='match' too")
    return None if max_deals is None else check_count("max_deals", max_deals, 1)


def end_deals(state: State, rules: RuleTable, ended: IntArray, objective: str) -> Outcome:
    """Settle the games `ended` [E], whose deals are over. The state is not changed.

    `deal`: a seat's reward is its side's points minus the mean of the other sides'; every episode ends.
    `match`: once the match is won, +1 for the winner's seats and -1 shared among the other sides.
    """
    players, sides = state.hands.shape[1], state.score.shape[1]
    totals = np.zeros((len(ended), sides), np.int64)
    score = np.zeros_like(totals)
    winner = settle_batch(state, rules, ended, totals, score)
    if objective == "deal":
        by_side = margins(totals)
        finished = np.ones(len(ended), np.bool_)
    else:
        won = winner[:, None] == np.arange(sides)
        finished = winner != NOBODY
        by_side = np.where(won, 1.0, -1.0 / (sides - 1)) * finished[:, None]
    return Outcome(by_side[:, np.arange(players) % sides], finished, totals, score)


def margins(totals: IntArray | NDArray[np.float64]) -> NDArray[np.float64]:
    """Each side's points minus the mean of the other sides', [..., S]."""
    sides = totals.shape[-1]
    others = totals.sum(axis=-1, keepdims=True) - totals
    return totals - others / (sides - 1)
