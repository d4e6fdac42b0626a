"""A training run that is killed again and again: nothing is lost but the work since its last checkpoint."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from agents.checkpoint import load_actor, load_resume
from casino_env import Rules

ROOT = Path(__file__).parent.parent
UPDATES, GAMES, KILLS = 150, 16, 20
RUN = [
    *("--run.name", "killed", "--network.hidden", "32", "--network.scorer", "16"),
    *("--evaluation.every", "1", "--evaluation.decks", "2", "--evaluation.final_decks", "2"),
    *("--evaluation.opponents", "random greedy"),
    *("--budget.games", str(GAMES), "--budget.decisions", str(UPDATES * GAMES * 48)),
]


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """`train.py` as a process of its own group."""
    command = [sys.executable, str(ROOT / "train.py"), "--quiet", *arguments]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True)


@pytest.mark.slow
def test_twenty_kills_lose_only_what_came_after_the_last_checkpoint(tmp_path: Path) -> None:
    """SIGKILL at random moments; then the same weights, to the last bit, as a run that nobody disturbed."""
    whole, parts = tmp_path / "whole" / "killed", tmp_path / "parts" / "killed"
    assert start(*RUN, "--run.folder", str(tmp_path / "whole")).wait() == 0
    first, later = [*RUN, "--run.folder", str(tmp_path / "parts")], ["--resume", str(parts)]
    rng, reached = random.Random(0), 0
    for kill in range(KILLS):
        one = start(*(later if kill else first))
        while decisions_kept(parts) <= reached:
            assert one.poll() is None
            time.sleep(0.002)
        time.sleep(rng.random() * 0.1)
        os.killpg(one.pid, signal.SIGKILL)
        one.wait()
        counters = load_resume(parts / "resume.pt")["counters"]
        assert counters["decisions"] >= reached  # nothing of an earlier process is lost
        reached = counters["decisions"]
        for path in checkpoints(parts):
            load_actor(path, Rules(), 2)  # none is torn
    assert KILLS // 2 * GAMES * 48 < reached < UPDATES * GAMES * 48
    assert start(*later).wait() == 0
    same = [load_resume(folder / "resume.pt") for folder in (whole, parts)]
    assert same[0]["counters"]["updates"] == same[1]["counters"]["updates"] == UPDATES
    assert [path.name for path in checkpoints(whole)] == [path.name for path in checkpoints(parts)]
    for ours, theirs in zip(checkpoints(whole), checkpoints(parts), strict=True):
        tensors, others = load_file(ours), load_file(theirs)
        assert all(torch.equal(tensors[name], others[name]) for name in tensors)


def decisions_kept(folder: Path) -> int:
    """Of the resume file, from which the run would go on; 0 if there is none yet."""
    path = folder / "resume.pt"
    return load_resume(path)["counters"]["decisions"] if path.exists() else 0


def checkpoints(folder: Path) -> list[Path]:
    """Oldest first."""
    return sorted((folder / "checkpoints").glob("step_*.safetensors"))
