"""The agent protocol: batches of views and legal moves in, one choice per game out.

Axes: `B` games, `M` moves of all games together. An agent never sees a state, only a `View`.
"""

from typing import Protocol

import numpy as np

from casino_env.legal import LegalMoves
from casino_env.state import IntArray
from casino_env.view import View


class Agent(Protocol):
    """Whoever plays: any object with a name and a `choose`."""

    name: str

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """For each game the index, int64[B], of a move in its list `legal.moves[offsets[b]:offsets[b+1]]`.

        Every list has at least one move. `rng` is the only randomness an agent may use, so that the same
        seed gives the same games.
        """
        ...
