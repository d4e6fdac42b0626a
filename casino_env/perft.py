"""Counting the paths of legal moves, the field's test of a move generator."""

import numpy as np

from casino_env.engine import apply_batch
from casino_env.errors import CasinoError
from casino_env.legal import MoveLister
from casino_env.rules import RuleTable
from casino_env.state import State, select
from casino_env.unions import MAX_MOVES

CHUNK = 4096  # games expanded at a time


def perft(state: State, rules: RuleTable, depth: int) -> int:
    """Number of paths of `depth` legal moves from all games of the batch; a finished deal has none.

    Raises CasinoError rather than counting a list that was cut at its bound.
    """
    if depth == 0:
        return int(state.turn.shape[0])
    legal = MoveLister(CHUNK)(state, rules)
    if legal.bounded.any():
        raise CasinoError(
            f"perft: the list of legal moves of a position is cut (a search reached {MAX_MOVES})"
        )
    if depth == 1:
        return len(legal.moves)
    parents = np.repeat(np.arange(state.turn.shape[0]), np.diff(legal.offsets))
    nodes = 0
    for start in range(0, len(parents), CHUNK):
        part = slice(start, start + CHUNK)
        children = select(state, parents[part])
        moves = legal.moves[part]
        apply_batch(children, rules, moves, np.zeros(len(moves), np.bool_))
        nodes += perft(children, rules, depth - 1)
    return nodes
