"""`champion`: the strongest policies that this package ships, one for each game that it has been trained for.

A file of weights is named after its game: `weights/RULES-PLAYERSp.safetensors`. A card beside it says how it
was made and what it is worth.
"""

from pathlib import Path

from agents.checkpoint import load_actor
from agents.policy import PolicyAgent
from casino_env.errors import CasinoError
from casino_env.rules import Rules

WEIGHTS = Path(__file__).parent / "weights"


def load_champion(rules: Rules, players: int, greedy: bool) -> PolicyAgent:
    """The champion of a game; CasinoError, naming those that there are, if it has none.

    `greedy`: it plays the most likely move instead of sampling.
    """
    path = WEIGHTS / f"{rules}-{players}p.safetensors"
    if not path.is_file():
        games = ", ".join(sorted(file.stem for file in WEIGHTS.glob("*.safetensors")))
        raise CasinoError(f"champion: there is none for {rules} with {players} players; there is: {games}")
    return PolicyAgent(load_actor(path, rules, players), rules, "champion", greedy)
