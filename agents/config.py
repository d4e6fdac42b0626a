"""A run's configuration: typed sections with their defaults, limits, and what must fit together.

`configs/default.yaml` states and explains every key, and a test keeps the two equal. How configurations are
read is in `config_files`.
"""

from dataclasses import asdict, dataclass, field

from agents.hand_search import PLAYERS as SOLVED_PLAYERS
from agents.league import LeagueConfig
from agents.match_equity import check_size
from agents.network import MAX_DEPTH, MAX_UNITS, NetworkShape
from agents.ppo import BF16_SETTINGS, PPOConfig
from agents.registry import LADDER
from casino_env.errors import CasinoError, InvalidRules
from casino_env.objectives import OBJECTIVES
from casino_env.rules import Rules, check_players, side_count


@dataclass(frozen=True)
class RunConfig:
    """Where a run lives and what makes it repeatable."""

    name: str = "default"
    folder: str = "runs"
    seed: int = 0
    threads: int = 2
    device: str = "auto"
    start: str = ""


@dataclass(frozen=True)
class GameConfig:
    """What is played."""

    rules: str = "royal"
    players: int = 2
    objective: str = "deal"


@dataclass(frozen=True)
class NetworkConfig:
    """Size of the networks, and what the actor chooses between."""

    hidden: int = 256
    scorer: int = 128
    merged: bool = False
    depth: int = 1


@dataclass(frozen=True)
class BudgetConfig:
    """How long to train: whichever is used up first."""

    decisions: int = 20_000_000
    minutes: float = 60.0
    games: int = 512
    first_games: int = 16
    final_rate: float = 0.1
    final_entropy: float = 1.0


@dataclass(frozen=True)
class EvaluationConfig:
    """How to measure progress."""

    every: int = 20
    opponents: str = "random greedy counter"
    decks: int = 500
    regret: int = 0
    final_decks: int = 2000
    seed: int = 1_000_000


@dataclass(frozen=True)
class Config:
    """All sections."""

    run: RunConfig = field(default_factory=RunConfig)
    game: GameConfig = field(default_factory=GameConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    league: LeagueConfig = field(default_factory=LeagueConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)


DEVICES = ("auto", "cpu", "cuda")

# Lowest and highest valid value; every number is checked, so that a wrong one fails before training.
LIMITS: dict[str, tuple[float, float]] = {
    "run.seed": (0, 2**63 - 1),
    "run.threads": (1, 1024),
    "network.hidden": (1, MAX_UNITS),
    "network.scorer": (1, MAX_UNITS),
    "network.depth": (1, MAX_DEPTH),
    "ppo.epochs": (1, 100),
    "ppo.minibatch": (2, 2**24),
    "ppo.learning_rate": (0, 1),
    "ppo.clip": (0, 1),
    "ppo.entropy": (0, 10),
    "ppo.discount": (0, 1),
    "ppo.trace": (0, 1),
    "ppo.max_kl": (0, 1000),
    "ppo.stop_kl": (0, 1000),
    "ppo.kl": (0, 1000),
    "ppo.magnet": (0, 1000),
    "ppo.average": (0, 0.9999),
    "ppo.hand": (0, 1000),
    "ppo.solved": (0, 1000),
    "league.past": (0, 1),
    "league.ladder": (0, 1),
    "league.guests": (1, 64),
    "league.size": (1, 1000),
    "league.every": (1, 10**9),
    "budget.decisions": (1, 10**15),
    "budget.minutes": (0.001, 10**6),
    "budget.games": (1, 2**20),
    "budget.first_games": (1, 2**20),
    "budget.final_rate": (0, 1),
    "budget.final_entropy": (0, 1),
    "evaluation.every": (1, 10**9),
    "evaluation.decks": (2, 10**7),
    "evaluation.regret": (0, 10**7),
    "evaluation.final_decks": (2, 10**7),
    "evaluation.seed": (0, 2**63 - 1),
}


def network_shape(config: Config) -> NetworkShape:
    """The networks that the configuration asks for."""
    return NetworkShape(config.game.players, **asdict(config.network))


def check_config(config: Config) -> None:
    """CasinoError, naming section or key, if the parts of a configuration are not valid together."""
    try:
        check_players(config.game.players, Rules.parse(config.game.rules))
    except InvalidRules as error:
        raise CasinoError(f"section game: {error}") from None
    for name, value, valid in (
        ("run.device", config.run.device, DEVICES),
        ("ppo.bf16", config.ppo.bf16, BF16_SETTINGS),
        ("game.objective", config.game.objective, OBJECTIVES),
    ):
        if value not in valid:
            raise CasinoError(f"{name} is '{value}'; valid: {', '.join(valid)}")
    for name in config.evaluation.opponents.split():
        if name not in LADDER:
            raise CasinoError(f"evaluation.opponents: there is no '{name}'; valid: {', '.join(LADDER)}")
    if config.game.objective == "match":
        try:
            check_size(Rules.parse(config.game.rules).table.target, side_count(config.game.players))
        except CasinoError as error:
            raise CasinoError(f"game.objective: match: {error}") from None
    rungs = config.league.rungs.split()
    if len(set(rungs)) < len(rungs) or (config.league.ladder and not rungs):
        raise CasinoError(f"league.rungs is '{config.league.rungs}'; valid: agents, each named once")
    if config.league.past + config.league.ladder > 1:
        raise CasinoError("league.past and league.ladder are shares of the deals; valid: together at most 1")
    if config.ppo.solved and config.game.players != SOLVED_PLAYERS:
        raise CasinoError("ppo.solved is for the open last hand of 2 players; valid: 0 with other numbers")
    if config.ppo.solved_end and (
        config.game.players != SOLVED_PLAYERS or config.game.objective == "match" or config.ppo.early_points
    ):
        raise CasinoError(
            "ppo.solved_end is for deals of 2 players without ppo.early_points; valid: false with others"
        )
    if config.ppo.magnet and not config.ppo.average:
        raise CasinoError("ppo.magnet pulls towards the averaged policy; valid: with ppo.average above 0")
    if not config.run.name or "/" in config.run.name or config.run.name.startswith("."):
        raise CasinoError(f"run.name is '{config.run.name}'; valid: a folder name without '/'")
