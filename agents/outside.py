"""Agents from outside the package: a class of any Python file, `path/to/file.py:ClassName`.

Naming a file runs it, as `python file.py` would. What such an agent needs:

    import numpy as np


    class LastMove:
        name = "last move"

        def __init__(self, rules, players):
            self.players = players

        def choose(self, view, legal, rng):
            counts = np.diff(legal.offsets)  # legal moves of each game
            return counts - 1

`view` (`casino_env.View`) is what the seats to act see, `legal` (`casino_env.legal.LegalMoves`) their moves;
`choose` returns for each game the index of a move in its list (`agents.base.Agent`).
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from agents.base import Agent
from casino_env.errors import CasinoError
from casino_env.rules import Rules

OUTSIDE = r".+\.py:[A-Za-z_]\w*"  # what such an agent is called


def load_outside(name: str, rules: Rules, players: int) -> Agent:
    """The agent `file.py:ClassName`, made with the rules and the number of players.

    Raises CasinoError, one line that names the file, if there is no such file or class, if the file or the
    class cannot be run, or if what it makes is no agent.
    """
    file, _, class_name = name.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise CasinoError(f"agent '{name}': there is no file {path}")
    try:
        module = _run_file(path)
        maker = getattr(module, class_name, None)
        if not isinstance(maker, type):
            classes = ", ".join(key for key, value in vars(module).items() if isinstance(value, type))
            raise CasinoError(f"agent '{name}': no class {class_name}; valid: {classes or 'none'}")
        agent = maker(rules, players)
    except CasinoError:
        raise
    except (Exception, SystemExit) as error:
        raise CasinoError(f"agent '{name}' cannot be made: {type(error).__name__}: {error}") from error
    if not callable(getattr(agent, "choose", None)) or not isinstance(getattr(agent, "name", None), str):
        raise CasinoError(f"agent '{name}': an agent has a text `name` and a method `choose`")
    return agent


def _run_file(path: Path) -> ModuleType:
    """The file as a module; the files beside it can be imported by it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader, "a file that ends in .py has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module
