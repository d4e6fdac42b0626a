"""Royal Casino for reinforcement learning: exact rules, batched kernels and environments."""

import gymnasium

from casino_env import royal_casino_v0
from casino_env.errors import (
    CasinoError,
    IllegalMove,
    InvalidMove,
    InvalidPosition,
    InvalidRules,
    MoveListCut,
)
from casino_env.explain import explain
from casino_env.moves import Move
from casino_env.position import DealPoints, Position, Settlement
from casino_env.rules import Rules
from casino_env.vector_env import VectorEnv
from casino_env.view import View

# Opponents go by the names of agents, so that what makes the environment stands with them.
gymnasium.register(
    "RoyalCasino-v0",
    entry_point="agents.gymnasium_env:make_env",
    vector_entry_point="agents.gymnasium_env:make_vector_env",
)

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
    "explain",
    "royal_casino_v0",
]
