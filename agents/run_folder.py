"""The folder of a run: its name, resolved configuration, checkpoints and resume file."""

import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from agents.checkpoint import load_resume, save_actor, save_resume
from agents.config import Config
from agents.config_files import MADE_BY, config_dict
from agents.features import FEATURES_VERSION
from agents.files import write_text
from agents.league import League
from agents.ppo import Learner
from agents.versions import versions
from casino_env.arguments import is_count
from casino_env.errors import CasinoError
from casino_env.rules import Rules

PACKAGES = ("numpy", "numba", "torch", "gymnasium", "pettingzoo")
RESUME_FORMAT = "royal-casino-resume-4"
CHECKPOINTS = "checkpoints"
COUNTERS = ("updates", "decisions", "seconds")


class RunFolder:
    """`FOLDER/NAME/`: `config.yaml`, `metrics.csv`, TensorBoard events, `checkpoints/`, `resume.pt`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, config: Config) -> "RunFolder":
        """A new folder for the run; if the name is taken, `NAME-2`, `NAME-3` … so that nothing is lost."""
        parent, name, number = Path(config.run.folder), config.run.name, 1
        while True:
            path = parent / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir(parents=True)
                return cls(path)
            except FileExistsError:
                number += 1
            except OSError as error:
                raise CasinoError(f"run.folder: cannot make {path} ({error.strerror})") from None

    @property
    def config_path(self) -> Path:
        """The resolved configuration."""
        return self.path / "config.yaml"

    def last_checkpoint(self) -> Path | None:
        """The latest checkpoint, if there is one."""
        return max((self.path / CHECKPOINTS).glob("step_*.safetensors"), default=None)

    def write_config(self, config: Config, processes: int) -> str:
        """Write the configuration with what made the run; returns the text."""
        content: dict[str, Any] = {**config_dict(config), MADE_BY: _provenance(processes)}
        text = yaml.safe_dump(content, sort_keys=False)
        write_text(self.config_path, text)
        return text

    def save(self, learner: Learner, league: League, rules: Rules, counters: dict[str, int]) -> Path:
        """Write the released actor's checkpoint and the resume file; returns the checkpoint's path."""
        path = self.path / CHECKPOINTS / f"step_{counters['decisions']:012d}.safetensors"
        save_actor(path, learner.released, learner.shape, rules, counters)
        state = {
            "format": RESUME_FORMAT,
            "rules": str(rules),
            "features": FEATURES_VERSION,
            "counters": counters,
            "learner": learner.state_dict(),
            "league": league.state_dict(),
        }
        save_resume(self.path / "resume.pt", state)
        return path

    def restore(self, learner: Learner, league: League, rules: Rules) -> dict[str, int]:
        """Load the state of learner and league; returns the counters. CasinoError if it does not fit."""
        path = self.path / "resume.pt"
        state = load_resume(path)
        if state.get("format") != RESUME_FORMAT:
            raise CasinoError(f"resume: {path} has format {state.get('format')!r}, wanted '{RESUME_FORMAT}'")
        for name, what, wanted in (
            ("rules", "game.rules", str(rules)),
            ("features", "features version", FEATURES_VERSION),
        ):
            if state.get(name) != wanted:
                raise CasinoError(f"resume: {path} has {what} {state.get(name)!r}, wanted {wanted!r}")
        counters = state.get("counters")
        if not isinstance(counters, dict) or not all(is_count(counters.get(name)) for name in COUNTERS):
            raise CasinoError(f"resume: {path} has no counts of {', '.join(COUNTERS)}")
        try:
            learner.load_state_dict(state["learner"])
            league.load_state_dict(state["league"])
            return {name: counters[name] for name in COUNTERS}
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise CasinoError(f"resume: {path} does not fit this configuration ({reason})") from None


def _provenance(processes: int) -> dict[str, Any]:
    return {
        "commit": _commit(),
        "processes": processes,
        "cpus": os.cpu_count(),
        **versions(*PACKAGES),
    }


def _commit() -> str:
    """The commit of the working tree that this file stands in, with `+` if it has changes."""
    here = Path(__file__).resolve().parent
    try:
        command = ["git", "-C", str(here), "describe", "--always", "--abbrev=40", "--dirty=+"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
