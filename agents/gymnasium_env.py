"""`RoyalCasino-v0`: the Gymnasium environment with opponents by name."""

from collections.abc import Sequence
from typing import Any

from agents.registry import make_agent
from casino_env.errors import CasinoError
from casino_env.rules import Rules, check_players
from casino_env.single_agent import Opponent, RoyalCasinoEnv


def make_env(
    rules: str | Rules = "royal",
    players: int = 2,
    opponent: str | Opponent | Sequence[str | Opponent] = "greedy",
    **others: Any,
) -> RoyalCasinoEnv:
    """What `gymnasium.make("RoyalCasino-v0", …)` gives.

    Args:
        rules: rule set, e.g. `royal` or `royal;near21=pagat` (R8).
        players: 2, 3 or 4.
        opponent: an agent's name (`random`, `greedy`, the path of a checkpoint, with options) or an agent,
            for all other seats; or one for each, in order of play after the learner.
        others: see `casino_env.single_agent.RoyalCasinoEnv`.
    """
    rules, seats = Rules.parse(rules), check_players(players) - 1
    given = [opponent] * seats if isinstance(opponent, str) or hasattr(opponent, "choose") else list(opponent)
    if len(given) != seats:
        raise CasinoError(f"opponent: {len(given)} given; valid: one, or {seats} for {players} players")
    opponents = [make_agent(one, rules, players) if isinstance(one, str) else one for one in given]
    return RoyalCasinoEnv(opponents, rules, **others)
