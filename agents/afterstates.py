"""What each legal move leads to: the game after it, and what it pays at once.

A critic of afterstates (Sutton and Barto 2018, section 6.8) judges every legal move, not only those played.
Axes: `B` games, `M` moves of all games together, `P` seats.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.play_facts import banked_margins, points_by_item
from agents.ragged import owners
from casino_env.engine import apply_batch
from casino_env.objectives import margins
from casino_env.rules import RuleTable
from casino_env.state import IntArray, State, select


class Afterstates(NamedTuple):
    """The games after each of the moves."""

    state: State  # [M]
    movers: IntArray  # [M] the seat that made the move
    paid: NDArray[np.float64]  # [M] what the mover is paid for the move itself
    over: NDArray[np.bool_]  # [M] the deal has ended


def after_each(
    state: State, games: IntArray, moves: IntArray, offsets: IntArray, rules: RuleTable, early: bool
) -> Afterstates:
    """Play each of the moves [M], those of `games` [E] by `offsets` [E + 1], in a game of its own.

    `early`: points are paid once they are certain (see `banked_margins`), not at the end of the deal.
    """
    after = select(state, games[owners(offsets)])
    movers, over = after.turn.copy(), np.zeros(len(moves), np.bool_)
    everyone = np.arange(len(moves))
    before = banked_margins(after, rules)[everyone, movers] if early else np.zeros(len(moves))
    apply_batch(after, rules, moves, over)
    paid = banked_margins(after, rules)[everyone, movers] - before if early else before
    if over.any():
        final = margins(points_by_item(after, rules).sum(axis=2))
        ended = np.flatnonzero(over)
        paid[ended] = final[ended, movers[ended] % final.shape[1]] - before[ended]
    return Afterstates(after, movers, paid, over)
