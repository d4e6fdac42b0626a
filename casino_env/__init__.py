"""Royal Casino for reinforcement learning: exact rules, batched kernels and environments."""

from casino_env.errors import CasinoError, IllegalMove, InvalidMove, InvalidPosition, InvalidRules
from casino_env.moves import Move
from casino_env.position import DealPoints, Position, Settlement
from casino_env.rules import Rules

__all__ = [
    "CasinoError",
    "DealPoints",
    "IllegalMove",
    "InvalidMove",
    "InvalidPosition",
    "InvalidRules",
    "Move",
    "Position",
    "Rules",
    "Settlement",
]
