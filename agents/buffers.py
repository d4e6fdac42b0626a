"""Memory that a rollout is written to and the next one uses again: new pages cost as much as features."""

from typing import NamedTuple

import numpy as np

from agents.critic_features import critic_width
from agents.features import MOVE_WIDTH, state_width
from agents.outlook import FloatArray


class Rows:
    """Rows of floats, appended a block at a time. A block is valid until the next `extend` or `clear`."""

    def __init__(self, width: int) -> None:
        self._array = np.empty((0, width), np.float32)
        self._used = 0

    def clear(self) -> None:
        """Forget all rows; their memory stays."""
        self._used = 0

    def extend(self, count: int) -> FloatArray:
        """`count` more rows, to be written: whatever was there before is still in them."""
        start, end = self._used, self._used + count
        if end > len(self._array):
            larger = np.empty((max(end, 2 * len(self._array)), self._array.shape[1]), np.float32)
            larger[:start] = self._array[:start]
            self._array = larger
        self._used = end
        return self._array[start:end]

    def all(self) -> FloatArray:
        """All rows."""
        return self._array[: self._used]


class Buffers(NamedTuple):
    """What networks read, of the decisions of one rollout."""

    states: Rows
    hidden: Rows
    moves: Rows

    @classmethod
    def of(cls, players: int) -> "Buffers":
        """Empty buffers for a game of so many seats."""
        return cls(Rows(state_width(players)), Rows(critic_width(players)), Rows(MOVE_WIDTH))

    def clear(self) -> None:
        """Forget all rows."""
        for rows in self:
            rows.clear()
