"""A trained network as an agent. (Being written: `PolicyAgent.load` is the interface.)"""

from pathlib import Path

from casino_env.errors import CasinoError
from casino_env.rules import Rules


class PolicyAgent:
    @classmethod
    def load(cls, path: Path, rules: Rules, players: int) -> "PolicyAgent":
        raise CasinoError(f"{path}: not yet")
