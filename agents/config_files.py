"""Reading configurations: YAML files and command-line overrides, typed and checked.

A file states only what differs from the defaults. An unknown or ill-typed key is refused by name.
"""

import dataclasses
import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from agents.config import LIMITS, Config, check_config
from casino_env.errors import CasinoError

MADE_BY = "made_by"  # what a run's own config.yaml records beside the configuration; ignored when read


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
    check_config(config)
    return config


def _typed(source: str, name: str, value: Any, kind: Any) -> Any:
    if isinstance(value, str):
        value = _from_text(value, kind)
    elif kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise CasinoError(f"{source}: {name} is {value!r}; valid: {_KIND_NAMES[kind]}")
    if name in LIMITS:
        low, high = LIMITS[name]
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
