"""Match equity: each side's chance to win a match from the scores between two deals.

Found from sample deals by value iteration: the equity of scores is the mean, over the deals, of the equity of
the scores that R7 settles them to, and 1 or 0 where that decides the match.
Axes: `D` sample deals, `G` scores of all sides together, `S` sides, `L` scores of one side.
"""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from casino_env.engine import settle_batch
from casino_env.errors import CasinoError
from casino_env.jit import borrow, kernel
from casino_env.rules import RuleTable
from casino_env.scoring import N_ITEMS, deal_points, settle
from casino_env.state import NOBODY, IntArray, State, select

BEYOND = 4  # scores from the target on that are told apart: sides that are tied there play on
SETTLED = 400_000  # most scores times deals that are settled for a table
LEAST_DEALS = 16
ROUNDS, PRECISION = 60, 1e-6  # of value iteration
LARGEST = 50_000  # combinations of scores that a table may have

Floats = NDArray[np.float64]


def check_size(target: int, sides: int) -> None:
    """CasinoError if a match to `target` has too many combinations of scores."""
    if (target + BEYOND) ** sides > LARGEST:
        highest = int(LARGEST ** (1 / sides)) - BEYOND
        raise CasinoError(f"matches to {target} have too many scores; valid: a target of at most {highest}")


class MatchEquity:
    """The chances of all sides to win a match, by their scores."""

    def __init__(self, state: State, rules: RuleTable) -> None:
        """From sample deals: games that have ended, whatever their scores are."""
        sides = state.score.shape[1]
        self._length = rules.target + BEYOND
        scores = np.indices((self._length,) * sides).reshape(sides, -1).T.copy()  # [G, S]
        deals = min(len(state.turn), max(LEAST_DEALS, SETTLED // len(scores)))
        state = select(state, np.linspace(0, len(state.turn) - 1, deals).astype(np.int64))
        settled = np.zeros((len(scores), deals, sides), np.int64)
        winners = np.zeros((len(scores), deals), np.int64)
        _settle_all(state, rules, scores, settled, winners)
        self._chances = self._alike(self._iterate(self._index(settled), winners, sides))

    def chances(self, scores: IntArray, winners: IntArray) -> Floats:
        """Chance of each side [B, S] after deals that left `scores` [B, S] and `winners` [B], or NOBODY."""
        won = winners[:, None] == np.arange(scores.shape[1])
        return np.where(winners[:, None] == NOBODY, self._chances[self._index(scores)], won)

    def _index(self, scores: IntArray) -> IntArray:
        """The place of scores [..., S] in the table; those far beyond the target are moved down together."""
        excess = np.maximum(scores.max(axis=-1, keepdims=True) - (self._length - 1), 0)
        within = np.maximum(scores - excess, 0)
        places = self._length ** np.arange(scores.shape[-1])[::-1]
        return (within * places).sum(axis=-1)

    @staticmethod
    def _iterate(following: IntArray, winners: IntArray, sides: int) -> Floats:
        """Chances [G, S] of which each is the mean of those that follow."""
        chances = np.full((len(following), sides), 1 / sides)
        won = (winners[:, :, None] == np.arange(sides)).mean(axis=1)
        goes_on = winners == NOBODY
        for _ in range(ROUNDS):
            before = chances
            chances = won + (chances[following] * goes_on[:, :, None]).mean(axis=1)
            if np.abs(chances - before).max() < PRECISION:
                break
        return chances

    def _alike(self, chances: Floats) -> Floats:
        """The mean of chances [G, S] over all ways to exchange the sides, which in self-play are alike."""
        sides = chances.shape[1]
        table = chances.reshape(*(self._length,) * sides, sides)
        orders = list(permutations(range(sides)))
        exchanged = [table.transpose(*order, sides)[..., list(order)] for order in orders]
        return np.mean(exchanged, axis=0).reshape(chances.shape)


def settle_deals(state: State, rules: RuleTable) -> tuple[IntArray, IntArray]:
    """The scores [B, S] after the ended deals, and the winners [B], or NOBODY."""
    scores = np.zeros_like(state.score)
    winners = settle_batch(state, rules, np.arange(len(scores)), np.zeros_like(scores), scores)
    return scores, winners


@kernel
def _settle_all(
    state: State, rules: RuleTable, scores: IntArray, settled: IntArray, winners: IntArray
) -> None:
    """Settle each deal from all scores; the scores of `state` are overwritten."""
    state, settled = borrow(state), borrow(settled)
    sides = scores.shape[1]
    points = np.zeros((sides, N_ITEMS), np.int64)
    for deal in range(winners.shape[1]):
        deal_points(state, deal, rules, points)
        for g in range(scores.shape[0]):
            for side in range(sides):
                state.score[deal, side] = scores[g, side]
            winners[g, deal] = settle(state, deal, rules, points, settled[g, deal])
