"""Shortlists: the moves that an agent looks at closely, where a table is so crowded that there are too many.

Axes: `B` games, `M` moves of all games together, `K` of those that are kept.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.worth import Scale, move_gain
from casino_env.jit import borrow, kernel
from casino_env.legal import LegalMoves
from casino_env.rules import RuleTable
from casino_env.state import IntArray
from casino_env.view import View

MOST = 48  # moves of a game that a look ahead is worth; one turn in a thousand has more


class Shortlist(NamedTuple):
    """Some of the moves of lists, in their order."""

    rows: IntArray  # [K] their rows in the full lists
    moves: IntArray  # [K] packed
    offsets: IntArray  # [B + 1] of games

    def shorten(self, values: IntArray, most: IntArray) -> "Shortlist":
        """The moves with the highest values [K], at most `most` [B] a game; of equal ones, the first."""
        counts = np.diff(self.offsets)
        keep = np.ones(len(self.rows), np.bool_)
        for game in np.flatnonzero(counts > most):
            start, end = self.offsets[game], self.offsets[game + 1]
            keep[start + np.argsort(-values[start:end], kind="stable")[most[game] :]] = False
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.minimum(counts, most))])
        return Shortlist(self.rows[keep], self.moves[keep], offsets)

    def choose(self, offsets: IntArray, values: IntArray) -> IntArray:
        """The index [B] in the full lists, which have `offsets`, of each game's first highest value [K]."""
        choices = np.zeros(len(offsets) - 1, np.int64)
        _pick_best(self.offsets, values, choices)
        return self.originals(choices, offsets)

    def originals(self, choices: IntArray, offsets: IntArray) -> IntArray:
        """The index [B] in the full lists, which have `offsets`, of each game's choice [B] in this one."""
        return self.rows[self.offsets[:-1] + choices] - offsets[:-1]


def all_moves(legal: LegalMoves) -> Shortlist:
    """The lists in full."""
    return Shortlist(np.arange(len(legal.moves)), legal.moves, legal.offsets)


def kept_moves(legal: LegalMoves, keep: NDArray[np.bool_]) -> Shortlist:
    """The moves that `keep` [M] says."""
    rows = np.flatnonzero(keep)
    kept_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
    return Shortlist(rows, legal.moves[rows], kept_before[legal.offsets])


def shorten_by_gain(
    rules: RuleTable, scale: Scale, view: View, legal: LegalMoves, most: IntArray
) -> Shortlist:
    """All moves, or in a game with more than `most` [B] those that bring most now."""
    everything = all_moves(legal)
    if (np.diff(legal.offsets) <= most).all():
        return everything
    gains = np.zeros(len(legal.moves), np.int64)
    _write_gains(rules, scale, view, legal.offsets, legal.moves, gains)
    return everything.shorten(gains, most)


@kernel
def _write_gains(
    rules: RuleTable, scale: Scale, view: View, offsets: IntArray, moves: IntArray, gains: IntArray
) -> None:
    view = borrow(view)
    for game in range(offsets.shape[0] - 1):
        for i in range(offsets[game], offsets[game + 1]):
            gains[i] = move_gain(rules, scale, view, game, moves[i])


@kernel
def _pick_best(offsets: IntArray, values: IntArray, choices: IntArray) -> None:
    for game in range(choices.shape[0]):
        choices[game] = values[offsets[game] : offsets[game + 1]].argmax()
