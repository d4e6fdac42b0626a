"""Agents by name: a rung of the ladder, or the path of a checkpoint, with options as `name:key=value`.

Owns the table of names and options and the reading of a spec. Owns no agent: what is heavy to import is
imported when it is asked for, so that simple agents never load torch.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.base import Agent
from agents.baselines import GreedyAgent, RandomAgent
from agents.blinded import SKILLS, Blinded
from agents.counter import CounterAgent
from agents.endgame import ExactEndgame
from agents.outside import OUTSIDE, load_outside
from agents.searcher import SearcherAgent
from casino_env.errors import CasinoError
from casino_env.rules import Rules, check_players

if TYPE_CHECKING:
    from agents.policy import PolicyAgent

CHECKPOINT_SUFFIX = ".safetensors"
ENDGAME, WITHOUT = "endgame", "without"  # options of every agent


@dataclass(frozen=True)
class Kind:
    """How agents of one name are made. An option is a keyword of `make`, with the reader of its text."""

    make: Callable[..., Agent]  # (rules, players, **options)
    options: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)  # readers raise ValueError


def make_agent(spec: str, rules: Rules, players: int) -> Agent:
    """The agent that `spec` names: `name`, `name:key=value,key=value`, or the same with a checkpoint's path.

    Raises CasinoError, one line that names what is wrong and what is valid.
    """
    name, options = split_spec(spec)
    kind = KINDS.get(name)
    if name.endswith(CHECKPOINT_SUFFIX):
        kind = _checkpoint(name)
    elif re.fullmatch(OUTSIDE, name):
        kind = Kind(partial(load_outside, name))
    if kind is None:
        raise CasinoError(f"unknown agent '{name}'; valid: {valid_agents()}")
    given = _read_options(name, kind, options)
    exact, skill = given.pop(ENDGAME, False), given.pop(WITHOUT, None)
    agent = kind.make(rules, check_players(players, rules), **given)
    if exact:
        agent = ExactEndgame(agent, rules, players)
    return Blinded(agent, skill) if skill else agent


def agent_file(spec: str) -> Path | None:
    """The file that an agent of this spec comes from, if it is one from outside the package."""
    name, _ = split_spec(spec)
    if name.endswith(CHECKPOINT_SUFFIX):
        return Path(name)
    return Path(name.rpartition(":")[0]) if re.fullmatch(OUTSIDE, name) else None


def runs_code(spec: str) -> bool:
    """Whether the agent is a class in a file, so that making it runs what is in there."""
    return re.fullmatch(OUTSIDE, split_spec(spec)[0]) is not None


def valid_agents() -> str:
    """What an agent may be called, for help and error texts."""
    return f"{', '.join(KINDS)}, the path of a checkpoint *{CHECKPOINT_SUFFIX}, or file.py:ClassName"


def split_spec(spec: str) -> tuple[str, str]:
    """The name, or the path of a checkpoint or class, which may have colons itself; and the options' text."""
    path, suffix, options = spec.rpartition(CHECKPOINT_SUFFIX)
    outside = re.fullmatch(f"({OUTSIDE})(:?)(.*)", spec)
    if suffix and options[:1] in ("", ":"):
        name, colon, options = path + suffix, options[:1], options[1:]
    elif outside:
        name, colon, options = outside.groups()
    else:
        name, colon, options = spec.partition(":")
    if colon and not options:
        raise CasinoError(f"agent '{spec}': options are given as {name}:key=value,key=value")
    return name, options


def _make_random(rules: Rules, players: int) -> Agent:
    return RandomAgent()


def _make_greedy(rules: Rules, players: int) -> Agent:
    return GreedyAgent(rules)


def _load_policy(path: str, rules: Rules, players: int, greedy: bool = False, search: int = 0) -> Agent:
    from agents.policy import PolicyAgent  # brings torch

    return _searching(PolicyAgent.load(Path(path), rules, players, greedy), rules, players, search)


def _yes_or_no(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError("yes (the most likely move), no (sampled)")
    return text == "yes"


def _make_counter(rules: Rules, players: int, **options: Any) -> Agent:
    return CounterAgent(rules, players, **options)


def _make_searcher(rules: Rules, players: int, **options: Any) -> Agent:
    return SearcherAgent(rules, players, **options)


def _make_champion(rules: Rules, players: int, greedy: bool = True, search: int = 0) -> Agent:
    from agents.champion import load_champion  # brings torch

    return _searching(load_champion(rules, players, greedy), rules, players, search)


def _searching(policy: "PolicyAgent", rules: Rules, players: int, worlds: int) -> Agent:
    """The policy, or if `worlds` are given the policy that searches them."""
    if not worlds:
        return policy
    from agents.policy_search import PolicySearch

    return PolicySearch(policy, rules, players, worlds)


def _exact(text: str) -> bool:
    if text != "exact":
        raise ValueError("exact")
    return True


def _skill(text: str) -> str:
    if text not in SKILLS:
        raise ValueError(", ".join(SKILLS))
    return text


def _count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise ValueError("1 to 999999")
    return int(text)


def _milliseconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or not float(text):
        raise ValueError("a number above 0, to 999999")
    return float(text)


_POLICY_OPTIONS = {"greedy": _yes_or_no, "search": _count}
KINDS: dict[str, Kind] = {
    "random": Kind(_make_random),
    "greedy": Kind(_make_greedy),
    "counter": Kind(_make_counter, {"worlds": _count}),
    "searcher": Kind(_make_searcher, {"worlds": _count, "moves": _count, "ms": _milliseconds}),
    "champion": Kind(_make_champion, _POLICY_OPTIONS),
}
LADDER = tuple(KINDS)  # roughly weakest first


def _checkpoint(path: str) -> Kind:
    if not Path(path).is_file():
        raise CasinoError(f"agent '{path}': there is no such file; valid: {valid_agents()}")
    return Kind(partial(_load_policy, path), _POLICY_OPTIONS)


def _read_options(name: str, kind: Kind, text: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    known = {**kind.options, ENDGAME: _exact, WITHOUT: _skill}
    for part in text.split(",") if text else ():
        key, equals, value = part.partition("=")
        if key not in known:
            raise CasinoError(f"unknown option '{key}' of agent '{name}'; valid: {', '.join(known)}")
        if not equals or key in values:
            raise CasinoError(f"option '{key}' of agent '{name}': give it once, as {key}=value")
        try:
            values[key] = known[key](value)
        except ValueError as error:
            raise CasinoError(f"option '{key}' of agent '{name}' is '{value}'; valid: {error}") from None
    return values
