"""A run's configuration: typed sections, YAML files and command-line overrides.

The defaults stand in the sections below; `configs/default.yaml` states and explains them, and a test keeps
the two equal. Other files state only differences. An unknown or ill-typed key is refused by name.
"""

import dataclasses
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from agents.league import LeagueConfig
from agents.network import NetworkShape
from agents.ppo import BF16_SETTINGS, PPOConfig
from agents.registry import LADDER
from casino_env.errors import CasinoError, InvalidRules
from casino_env.objectives import OBJECTIVES
from casino_env.rules import Rules, check_players

MADE_BY = "made_by"  # what a run's own config.yaml records beside the configuration; ignored when read


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
    """Width of the networks, and what the actor chooses between."""

    hidden: int = 256
    scorer: int = 128
    merged: bool = False


@dataclass(frozen=True)
class BudgetConfig:
    """How long to train: whichever is used up first."""

    decisions: int = 20_000_000
    minutes: float = 60.0
    games: int = 512
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
_LIMITS: dict[str, tuple[float, float]] = {
    "run.seed": (0, 2**63 - 1),
    "run.threads": (1, 1024),
    "network.hidden": (1, 8192),
    "network.scorer": (1, 8192),
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
    "league.past": (0, 1),
    "league.ladder": (0, 1),
    "league.guests": (1, 64),
    "league.size": (1, 1000),
    "league.every": (1, 10**9),
    "budget.decisions": (1, 10**15),
    "budget.minutes": (0.001, 10**6),
    "budget.games": (1, 2**20),
    "budget.final_rate": (0, 1),
    "budget.final_entropy": (0, 1),
    "evaluation.every": (1, 10**9),
    "evaluation.decks": (2, 10**7),
    "evaluation.regret": (0, 10**7),
    "evaluation.final_decks": (2, 10**7),
    "evaluation.seed": (0, 2**63 - 1),
}


def load_config(path: Path | None, overrides: dict[str, str] | None = None, whole: bool = False) -> Config:
    """The configuration of a YAML file (None: the defaults) with `section.key` overrides as text.

    `whole`: the file must state every key, as that of a run does.
    Raises CasinoError naming the file and key: unknown, of the wrong type, or out of range.
    """
    values: dict[str, Any] = {}
    if path is not None:
        for section, keys in _read_yaml(path).items():
            if section == MADE_BY:
                continue
            if section not in _sections():
                raise _unknown(str(path), "section", str(section), list(_sections()))
            if not isinstance(keys, dict):
                raise CasinoError(f"{path}: section '{section}' must hold key: value lines")
            values.update({f"{section}.{key}": (str(path), value) for key, value in keys.items()})
        missing = [name for name in key_names() if name not in values]
        if whole and missing:
            raise CasinoError(
                f"{path}: damaged, since {missing[0]} is missing: a run's file states every key"
            )
    for name, text in (overrides or {}).items():
        values[name] = (f"--{name}", text)
    return _build(values)


def read_overrides(words: Sequence[str]) -> dict[str, str]:
    """The overrides of a command line, `--section.key value` or `--section.key=value`, by `section.key`.

    Raises CasinoError for a key that does not exist, is given twice or has no value.
    """
    overrides: dict[str, str] = {}
    rest = list(words)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        key = name.removeprefix("--")
        if not name.startswith("--") or key not in key_names():
            raise _unknown("command line", "key", name, [f"--{key}" for key in key_names()])
        if not equals:
            if not rest:
                raise CasinoError(f"command line: {name} has no value")
            value = rest.pop(0)
        if key in overrides:
            raise CasinoError(f"command line: {name} is given twice")
        overrides[key] = value
    return overrides


def config_dict(config: Config) -> dict[str, dict[str, Any]]:
    """The configuration as nested dicts, ready for YAML."""
    return dataclasses.asdict(config)


def network_shape(config: Config) -> NetworkShape:
    """The networks that the configuration asks for."""
    return NetworkShape(config.game.players, **dataclasses.asdict(config.network))


def key_names() -> list[str]:
    """All `section.key` names."""
    sections = _sections().items()
    return [f"{section}.{key.name}" for section, kind in sections for key in dataclasses.fields(kind)]


def _sections() -> dict[str, Any]:
    return {section.name: section.default_factory for section in dataclasses.fields(Config)}


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CasinoError(f"config {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CasinoError(f"config {path}: not YAML ({' '.join(str(error).split())[:120]})") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise CasinoError(f"config {path}: must hold sections with key: value lines")
    return content


def _build(values: dict[str, tuple[str, Any]]) -> Config:
    sections: dict[str, dict[str, Any]] = {section: {} for section in _sections()}
    for name, (source, value) in values.items():
        if name not in key_names():
            raise _unknown(source, "key", name, key_names())
        section, key = name.split(".")
        default = getattr(_sections()[section](), key)
        sections[section][key] = _typed(source, name, value, type(default))
    config = Config(**{section: kind(**sections[section]) for section, kind in _sections().items()})
    try:
        Rules.parse(config.game.rules)
        check_players(config.game.players)
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
    if config.league.past + config.league.ladder > 1:
        raise CasinoError("league.past and league.ladder are shares of the deals; valid: together at most 1")
    if config.ppo.magnet and not config.ppo.average:
        raise CasinoError("ppo.magnet pulls towards the averaged policy; valid: with ppo.average above 0")
    if not config.run.name or "/" in config.run.name or config.run.name.startswith("."):
        raise CasinoError(f"run.name is '{config.run.name}'; valid: a folder name without '/'")
    return config


def _typed(source: str, name: str, value: Any, kind: Any) -> Any:
    if isinstance(value, str):
        value = _from_text(value, kind)
    elif kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise CasinoError(f"{source}: {name} is {value!r}; valid: {_KIND_NAMES[kind]}")
    if name in _LIMITS:
        low, high = _LIMITS[name]
        if not low <= value <= high:
            raise CasinoError(f"{source}: {name} is {value!r}; valid: {low:g} to {high:g}")
    return value


def _from_text(text: str, kind: Any) -> Any:
    """The text as a value of the kind, else as it is: of the command line, or `1e-3`, text to YAML."""
    if kind is bool:
        return {"true": True, "false": False}.get(text, text)
    try:
        number = text if kind is str else float(text)
        if kind is int:
            whole = int(text) if re.fullmatch("-?[0-9_]+", text) else int(number)
            return whole if whole == number else text
        return number
    except (ValueError, OverflowError):
        return text


_KIND_NAMES = {
    bool: "true, false",
    int: "a whole number",
    float: "a number",
    str: "text (in quotes if it looks like a number)",
}


def _unknown(source: str, what: str, name: str, valid: list[str]) -> CasinoError:
    close = difflib.get_close_matches(name, valid, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return CasinoError(f"{source}: unknown {what} '{name}'; {hint}valid: {', '.join(valid)}")
