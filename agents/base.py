"""The agent protocol: batches of views and legal moves in, one choice per game out.

Axes: `B` games, `M` moves of all games together. An agent never sees a state, only a `View`.
"""

from typing import Protocol

from casino_env.single_agent import Opponent


class Agent(Opponent, Protocol):
    """Whoever plays: any object with a name and the `choose` of an opponent."""

    name: str
