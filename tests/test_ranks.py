"""Training by several processes: `torchrun` on the processors of one machine."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import yaml

from agents.checkpoint import load_actor, load_resume
from agents.ranks import Ranks, join_ranks
from casino_env import CasinoError, Rules

ROOT = Path(__file__).parent.parent
TWO = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
GAMES = 8


def tiny_run(folder):
    """Options of a run in `folder/two` that takes no time."""
    where = ["--run.folder", str(folder), "--run.name", "two", "--run.threads", "1"]
    size = ["--budget.games", str(GAMES), "--network.hidden", "8", "--network.scorer", "4"]
    measuring = ["--evaluation.decks", "2", "--evaluation.final_decks", "2"]
    return [*where, *size, *measuring, "--evaluation.opponents", "random greedy"]


def test_alone_everything_is_its_own():
    ranks = Ranks()
    tensor = torch.ones(3, requires_grad=True)
    (2 * tensor).sum().backward()
    ranks.average_gradients([tensor])
    assert tensor.grad.tolist() == [2, 2, 2]
    assert ranks.sum([1.5, 2]).tolist() == [1.5, 2] and ranks.is_first
    assert ranks.check_equal([tensor]) == ranks.check_equal([tensor.detach().clone()])
    assert ranks.check_equal([tensor]) != ranks.check_equal([2 * tensor])


def test_a_gpu_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(
        CasinoError, match=r"run\.device is 'cuda', and PyTorch finds 0 GPUs for 1 process on"
    ):
        join_ranks("cuda")
    assert join_ranks("auto").device.type == "cpu"


@pytest.mark.parametrize(
    ("device", "gpus", "processes", "expected"),
    [("auto", 1, 2, "cpu"), ("auto", 2, 2, "cuda:1"), ("cpu", 2, 2, "cpu"), ("cuda", 1, 2, None)],
)
def test_each_process_has_a_gpu_of_its_own_or_none_has(monkeypatch, device, gpus, processes, expected):
    for name, value in (("LOCAL_RANK", 1), ("LOCAL_WORLD_SIZE", processes), ("WORLD_SIZE", 1)):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "set_device", lambda name: None)
    if expected:
        assert str(join_ranks(device).device) == expected
    else:
        with pytest.raises(
            CasinoError, match="finds 1 GPUs for 2 processes on this machine; valid here: auto"
        ):
            join_ranks(device)


def test_two_processes_agree():
    done = subprocess.run(
        [*TWO, "-m", "tests.rank_script"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0 and done.stdout.count("agreed") == 2, done.stderr[-2000:]


def test_a_run_of_two_processes_and_its_resumption_by_one(tmp_path):
    league = ["--league.past", "0.25", "--league.every", "1", "--evaluation.every", "2"]
    options = [*tiny_run(tmp_path), *league, "--budget.decisions", str(2 * 2 * GAMES * 40)]
    subprocess.run([*TWO, "train.py", "--quiet", *options], cwd=ROOT, check=True, timeout=600)
    folder = tmp_path / "two"
    rows = list(csv.DictReader((folder / "metrics.csv").open()))
    # half of the decisions of a deal with a guest are not the learner's: in the second update two deals of 8
    assert [int(row["decisions"]) for row in rows] == [2 * 8 * 48, 2 * (8 + 7) * 48]
    assert rows[1]["league/past_selves"] == "1.0" and rows[1]["margin/greedy"]
    checkpoints = sorted((folder / "checkpoints").iterdir())
    load_actor(checkpoints[-1], Rules(), 2)
    assert yaml.safe_load((folder / "config.yaml").read_text())["league"]["past"] == 0.25
    command = [sys.executable, "train.py", "--quiet", "--resume", str(folder)]
    subprocess.run([*command, "--budget.decisions", "2000"], cwd=ROOT, check=True, timeout=600)
    rows = list(csv.DictReader((folder / "metrics.csv").open()))
    assert len(rows) > 2 and int(rows[2]["decisions"]) - int(rows[1]["decisions"]) == 7 * 48


def test_a_signal_ends_all_processes_and_everything_is_saved(tmp_path):
    run = subprocess.Popen(
        [*TWO, "train.py", *tiny_run(tmp_path), "--evaluation.every", "1"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "two" / "resume.pt").exists():
        assert run.poll() is None
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)
    output = run.communicate(timeout=600)[0]
    assert "stopped; checkpoint: " in output and "agents.trainer.Stopped" not in output
    assert "torchrun --nproc-per-node 2 train.py --resume" in output
    last = sorted((tmp_path / "two" / "checkpoints").iterdir())[-1]
    counters = load_resume(tmp_path / "two" / "resume.pt")["counters"]
    assert last.stem == f"step_{counters['decisions']:012d}"
