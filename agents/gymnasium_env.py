"""`RoyalCasino-v0`: the Gymnasium environments, of one game and of many, with opponents by name."""

from collections.abc import Sequence
from typing import Any

from agents.registry import make_agent, valid_agents
from casino_env.arguments import quoted
from casino_env.errors import CasinoError
from casino_env.rules import Rules, check_players
from casino_env.single_agent import Opponent, RoyalCasinoEnv
from casino_env.vector_single_agent import RoyalCasinoVectorEnv


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
    rules = Rules.parse(rules)
    return RoyalCasinoEnv(_make_opponents(opponent, rules, players), rules, **others)


def make_vector_env(
    num_envs: int = 1,
    rules: str | Rules = "royal",
    players: int = 2,
    opponent: str | Opponent | Sequence[str | Opponent] = "greedy",
    **others: Any,
) -> RoyalCasinoVectorEnv:
    """What `gymnasium.make_vec("RoyalCasino-v0", num_envs, …)` gives.

    Args: as for `make_env`; `others`: see `casino_env.vector_single_agent.RoyalCasinoVectorEnv`.
    """
    rules = Rules.parse(rules)
    return RoyalCasinoVectorEnv(num_envs, _make_opponents(opponent, rules, players), rules, **others)


def _make_opponents(
    opponent: str | Opponent | Sequence[str | Opponent], rules: Rules, players: int
) -> list[Opponent]:
    seats = check_players(players, rules) - 1
    several = isinstance(opponent, list | tuple)
    given = list(opponent) if several else [opponent] * seats  # type: ignore[arg-type]
    if len(given) != seats:
        raise CasinoError(f"opponent: {len(given)} given; valid: one, or {seats} for {players} players")
    return [_make_opponent(one, rules, players) for one in given]


def _make_opponent(given: Any, rules: Rules, players: int) -> Opponent:
    if isinstance(given, str):
        return make_agent(given, rules, players)
    if not hasattr(given, "choose"):
        raise CasinoError(
            f"opponent={quoted(given)} is none; valid: an object with choose, or {valid_agents()}"
        )
    return given


make_env.metadata = RoyalCasinoEnv.metadata  # type: ignore[attr-defined]  # where Gymnasium looks for modes
