"""Checkpoints: an actor's weights with what must match to use them, and the state to resume a run from.

Weights are safetensors and resume files are read with `weights_only=True`: loading never executes code.
"""

import io
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialise

from agents.features import FEATURES_VERSION
from agents.files import write_bytes
from agents.network import MAX_DEPTH, MAX_UNITS, Actor, NetworkShape
from casino_env.errors import CasinoError
from casino_env.observation import OBSERVATION_VERSION
from casino_env.rules import Rules

FORMAT = "royal-casino-actor-3"


def save_actor(path: Path, actor: Actor, shape: NetworkShape, rules: Rules, counters: dict[str, int]) -> None:
    """Write an actor's weights; `counters` (e.g. decisions trained) go into the metadata."""
    metadata = {
        **_versions(),
        "rules": str(rules),
        **shape.as_strings(),
        **{name: str(count) for name, count in counters.items()},
    }
    tensors = {name: tensor.detach().contiguous() for name, tensor in actor.state_dict().items()}
    write_bytes(path, serialise(tensors, metadata))


def load_actor(path: Path, rules: Rules, players: int) -> Actor:
    """Read an actor for a rule set and player count.

    Raises CasinoError, naming the file, if it is missing, is no checkpoint, or was made for something else.
    """
    if not path.is_file():
        raise CasinoError(f"checkpoint {path}: no such file")
    try:
        with safe_open(path, framework="pt") as file:
            actor = _fitting_actor(path, file.metadata() or {}, rules, players)
            tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
            actor.load_state_dict(tensors, assign=True)
    except (SafetensorError, OSError) as error:
        raise CasinoError(f"checkpoint {path}: not a safetensors file ({_one_line(error)})") from None
    except RuntimeError as error:
        raise CasinoError(f"checkpoint {path}: its tensors do not fit ({_one_line(error)})") from None
    if not all(tensor.isfinite().all() for tensor in actor.parameters()):
        raise CasinoError(f"checkpoint {path}: its weights are not all finite numbers")
    return actor.eval()


def save_resume(path: Path, state: dict[str, Any]) -> None:
    """Write what a run continues from: tensors, numbers and texts only."""
    content = io.BytesIO()
    torch.save(state, content)
    write_bytes(path, content.getvalue())


def load_resume(path: Path) -> dict[str, Any]:
    """Read a resume file; CasinoError, naming the file, if there is none or it is something else."""
    if not path.is_file():
        raise CasinoError(f"resume: {path} is missing, so there is no run to continue")
    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # torch raises many kinds for a file that is not its own
        state = None
    if not isinstance(state, dict):
        raise CasinoError(f"resume: {path} is not a resume file, or is damaged")
    return state


def _fitting_actor(path: Path, metadata: dict[str, str], rules: Rules, players: int) -> Actor:
    """An actor of the checkpoint's shape, without memory for weights, if it was made for this game."""
    for name, expected in {**_versions(), "rules": str(rules), "players": str(players)}.items():
        if metadata.get(name) != expected:
            raise CasinoError(f"checkpoint {path}: its {name} is {metadata.get(name)!r}, wanted {expected!r}")
    with torch.device("meta"):  # so that no file makes us allocate more than it holds
        return Actor(_read_shape(path, metadata))


def _versions() -> dict[str, str]:
    return {
        "format": FORMAT,
        "observation_version": str(OBSERVATION_VERSION),
        "features_version": str(FEATURES_VERSION),
    }


def _read_shape(path: Path, metadata: dict[str, str]) -> NetworkShape:
    values: dict[str, Any] = {}
    for field in fields(NetworkShape):
        text = metadata.get(field.name, "")
        if field.type is bool:
            valid, is_valid = "True, False", text in ("True", "False")
            values[field.name] = text == "True"
        else:
            most = MAX_DEPTH if field.name == "depth" else MAX_UNITS
            valid = f"1 to {most}"
            is_valid = bool(re.fullmatch("[1-9][0-9]{0,3}", text)) and int(text) <= most
            values[field.name] = int(text) if is_valid else 0
        if not is_valid:
            raise CasinoError(f"checkpoint {path}: its {field.name} is {text!r}; valid: {valid}")
    return NetworkShape(**values)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
