"""Royal Casino for reinforcement learning: exact rules, batched kernels and environments."""

from casino_env import royal_casino_v0
from casino_env.errors import (
    CasinoError,
    IllegalMove,
    InvalidMove,
    InvalidPosition,
    InvalidRules,
    MoveListCut,
)
from casino_env.moves import Move
from casino_env.position import DealPoints, Position, Settlement
from casino_env.rules import Rules
from casino_env.vector_env import VectorEnv
from casino_env.view import View

__all__ = [
    "CasinoError",
    "DealPoints",
    "IllegalMove",
    "InvalidMove",
    "InvalidPosition",
    "InvalidRules",
    "Move",
    "MoveListCut",
    "Position",
    "Rules",
    "Settlement",
    "VectorEnv",
    "View",
    "royal_casino_v0",
]
