"""`train.py` as its user runs it, on a tiny budget."""

import csv
import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import train
from agents.arena import margin_against
from agents.checkpoint import load_resume, save_resume
from agents.metrics import METRICS, MetricsWriter
from agents.network import NetworkShape
from agents.policy import PolicyAgent
from agents.ppo import Learner, PPOConfig
from agents.registry import make_agent
from agents.run_folder import RunFolder
from casino_env import Rules

GAMES = 8
PER_UPDATE = 48 * GAMES
TINY = [
    *("--network.hidden", "8", "--network.scorer", "4", "--budget.games", str(GAMES)),
    *("--evaluation.every", "2", "--evaluation.decks", "4", "--evaluation.final_decks", "4"),
]


def run(folder, *arguments, updates=2):
    budget = ["--budget.decisions", str(updates * PER_UPDATE)]
    return train.main(["--run.folder", str(folder), "--run.name", "tiny", *TINY, *budget, *arguments])


def test_rollouts_grow_and_a_resumed_run_goes_on_where_they_were(tmp_path):
    grow, goal = ("--budget.first_games", "1"), ("--budget.decisions", str(8 * PER_UPDATE))
    assert run(tmp_path / "whole", *grow, updates=8) == run(tmp_path / "parts", *grow, updates=4) == 0
    assert train.main(["--resume", str(tmp_path / "parts" / "tiny"), *goal]) == 0
    whole, parts = (
        [int(row["decisions"]) // 48 for row in csv.DictReader((path / "tiny" / "metrics.csv").open())]
        for path in (tmp_path / "whole", tmp_path / "parts")
    )
    sizes = np.diff([0, *whole])
    assert sizes[0] == 1 and 1 < sizes[-1] < GAMES and (np.diff(sizes) >= 0).all()
    assert parts == whole


def weights(folder):
    return load_resume(folder / "resume.pt")["learner"]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_run_leaves_what_it_promises(tmp_path, capsys, players):
    assert run(tmp_path, "--game.players", str(players)) == 0
    folder = tmp_path / "tiny"
    names = sorted(path.name for path in folder.iterdir())
    assert names[:3] == ["checkpoints", "config.yaml", names[2]]
    assert names[2].startswith("events.out.tfevents")
    assert names[3:] == ["metrics.csv", "resume.pt"]
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["step_000000000768.safetensors"]
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert config["game"]["players"] == players
    assert set(config["made_by"]) >= {"commit", "python", "torch", "numpy"}
    rows = list(csv.DictReader((folder / "metrics.csv").open()))
    assert [row["decisions"] for row in rows] == [str(PER_UPDATE), str(2 * PER_UPDATE)]
    assert set(rows[-1]) == {"decisions", *METRICS}
    silent = {name for name, value in rows[-1].items() if not value}
    # of what is not switched on, of hands and crowds that do not come up, of agents not met
    optional = (
        "loss/magnet",
        "loss/hand",
        "loss/regret",
        "points/",
        "league/",
        "regret/",
        "margin/searcher",
        "margin/champion",
        "match/",
    )
    absent = {name for name in silent if not name.startswith(optional)}
    assert absent <= {f"value/explained_hand_{hand}" for hand in range(48 // (4 * players) + 1, 7)}
    printed = capsys.readouterr().out
    for part in (
        "random",
        "greedy",
        "counter",
        "checkpoint: ",
        "casino arena",
        "tensorboard --logdir",
        "--resume",
    ):
        assert part in printed


LEAGUE = [
    *("--league.past", "0.5", "--league.ladder", "0.25", "--league.every", "1", "--league.size", "2"),
    *("--ppo.average", "0.9", "--ppo.magnet", "0.1", "--ppo.hand", "0.1", "--ppo.kl", "0.1"),
]


GROWING = ["--budget.first_games", "1", "--ppo.solved", "1", "--network.depth", "2"]


@pytest.mark.parametrize("options", [[], LEAGUE, GROWING], ids=["plain", "league", "growing"])
def test_a_run_interrupted_and_resumed_equals_one_that_went_through(tmp_path, monkeypatch, options):
    assert run(tmp_path / "whole", *options, updates=4) == 0
    update, parts = train.Trainer.update, tmp_path / "parts" / "tiny"
    cut = load_resume(tmp_path / "whole" / "tiny" / "resume.pt")["counters"]["updates"] - 1

    def interrupted(trainer):
        values = update(trainer)
        if trainer.counters["updates"] == cut:
            signal.raise_signal(signal.SIGINT)
        return values

    with monkeypatch.context() as patch:
        patch.setattr(train.Trainer, "update", interrupted)
        assert run(tmp_path / "parts", *options, updates=4) == 130
    assert load_resume(parts / "resume.pt")["counters"]["updates"] == cut
    assert train.main(["--resume", str(parts)]) == 0
    first, second = weights(tmp_path / "whole" / "tiny"), weights(parts)
    for part in ("actor", "average", "critic", "hand_head"):
        assert all(torch.equal(first[part][name], second[part][name]) for name in first[part])
    assert logged(tmp_path / "whole" / "tiny") == logged(parts)
    assert board_steps(parts) == board_steps(tmp_path / "whole" / "tiny")
    leagues = [load_resume(folder / "resume.pt")["league"] for folder in (tmp_path / "whole" / "tiny", parts)]
    assert leagues[0]["rating"] == leagues[1]["rating"] and leagues[0]["rungs"] == leagues[1]["rungs"]
    names = [[past["name"] for past in league["past"]] for league in leagues]
    assert names[0] == names[1] and len(names[0]) == (2 if options == LEAGUE else 0)


def board_steps(folder):
    """The steps that TensorBoard shows of a metric."""
    board = EventAccumulator(str(folder))
    board.Reload()
    return [event.step for event in board.Scalars("loss/policy")]


def logged(folder):
    """The rows of metrics.csv without the one that tells the time."""
    rows = csv.DictReader((folder / "metrics.csv").open())
    return [{name: row[name] for name in row if not name.startswith("time/")} for row in rows]


def test_a_finished_run_goes_on_with_a_larger_budget(tmp_path, capsys):
    assert run(tmp_path) == 0
    folder = tmp_path / "tiny"
    assert train.main(["--resume", str(folder)]) == 2
    assert "the budget is used up" in capsys.readouterr().err
    assert train.main(["--resume", str(folder), "--budget.decisions", str(3 * PER_UPDATE)]) == 0
    assert load_resume(folder / "resume.pt")["counters"]["updates"] == 3


def test_a_taken_name_loses_nothing(tmp_path):
    assert run(tmp_path, updates=1) == 0
    before = (tmp_path / "tiny" / "resume.pt").read_bytes()
    assert run(tmp_path, "--run.seed", "1", updates=1) == 0
    assert (tmp_path / "tiny" / "resume.pt").read_bytes() == before
    assert (tmp_path / "tiny-2" / "resume.pt").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--ppo.entropie", "1"], "unknown key '--ppo.entropie'; did you mean '--ppo.entropy'? valid: --run"),
        (["--ppo.clip"], "--ppo.clip has no value"),
        (["--ppo.clip=0.1", "--ppo.clip", "0.2"], "--ppo.clip is given twice"),
        (["--ppo.clip", "x"], "--ppo.clip: ppo.clip is 'x'; valid: a number"),
        (["--budget.minutes", "0"], "budget.minutes is 0.0; valid: 0.001"),
        (["--game.players", "5"], "players=5 is not possible; valid: 2, 3, 4"),
        (["--game.rules", "regal"], "unknown rule set 'regal'; valid: royal, plain, spade, kasino"),
        (["--config", "nowhere.yaml"], "nowhere.yaml: No such file"),
        (["--resume", "nowhere"], "nowhere/config.yaml: No such file"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path, monkeypatch, capsys, arguments, reason):
    monkeypatch.chdir(tmp_path)
    assert train.main(arguments) == 2
    error = capsys.readouterr().err
    assert reason in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_unexplained_metric_is_an_error(tmp_path):
    with MetricsWriter(tmp_path) as metrics, pytest.raises(KeyError, match="loss/secret"):
        metrics.write(1, {"loss/secret": 1.0})


def test_what_a_run_is_cannot_change_on_the_way(tmp_path, capsys):
    assert run(tmp_path) == 0
    folder, larger = tmp_path / "tiny", ["--budget.decisions", str(3 * PER_UPDATE)]
    before = (folder / "config.yaml").read_bytes()
    for name, value in (("game.rules", "plain"), ("game.players", "3"), ("run.seed", "1"), ("run.name", "x")):
        capsys.readouterr()
        assert train.main(["--resume", str(folder), f"--{name}", value, *larger]) == 2
        assert f"--{name} cannot change" in capsys.readouterr().err
    assert train.main(["--resume", str(folder), "--config", "nowhere.yaml", *larger]) == 2
    text = yaml.safe_load(before)
    text["game"]["rules"] = "plain"
    (folder / "config.yaml").write_text(yaml.safe_dump(text))
    capsys.readouterr()
    assert train.main(["--resume", str(folder), *larger]) == 2
    assert "has game.rules 'royal', wanted 'plain'" in capsys.readouterr().err
    (folder / "config.yaml").write_text("")
    assert train.main(["--resume", str(folder), *larger]) == 2
    assert (folder / "config.yaml").read_text() == ""


def test_a_run_begins_with_the_actor_of_a_checkpoint_and_learns_to_win_matches(tmp_path, capsys):
    assert run(tmp_path, updates=1) == 0
    (start,) = (tmp_path / "tiny" / "checkpoints").iterdir()
    match = ["--game.objective", "match", "--run.start", str(start)]
    assert run(tmp_path, *match, "--ppo.learning_rate", "0", updates=2) == 0
    (end,) = (tmp_path / "tiny-2" / "checkpoints").iterdir()
    before, after = load_file(start), load_file(end)
    assert all(torch.equal(before[name], after[name]) for name in before)
    rows = list(csv.DictReader((tmp_path / "tiny-2" / "metrics.csv").open()))
    agent, settings = PolicyAgent.load(end, Rules(), 2), ("royal", 2, 4, 1_000_000)
    for group, objective in (("margin", "deal"), ("match", "match")):
        found = margin_against(agent, make_agent("greedy", Rules(), 2), *settings, objective)
        assert float(rows[1][f"{group}/greedy"]) == found.mean
        assert float(rows[1][f"{group}/greedy_low"]) == found.low
    resumed = ["--resume", str(tmp_path / "tiny-2"), "--budget.decisions", str(3 * PER_UPDATE)]
    assert train.main(resumed) == 0
    capsys.readouterr()
    for options, reason in (
        (["--run.start", "nowhere"], "run.start: checkpoint nowhere: no such file"),
        (["--run.start", str(start), "--network.merged", "true"], "holds NetworkShape(players=2, hidden=8"),
        (["--run.start", str(start), "--game.players", "3"], "its players is '2', wanted '3'"),
    ):
        assert run(tmp_path, *options) == 2
        assert reason in capsys.readouterr().err
    assert train.main(["--resume", str(tmp_path / "tiny-2"), "--run.start", str(start)]) == 2
    assert "--run.start cannot change" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny", "tiny-2"]


@pytest.mark.parametrize("counters", [{}, 5, {"updates": 1, "decisions": -1, "seconds": 0}])
def test_a_resume_file_with_wrong_contents_is_refused(tmp_path, capsys, counters):
    assert run(tmp_path) == 0
    path = tmp_path / "tiny" / "resume.pt"
    state = load_resume(path)
    save_resume(path, state | {"counters": counters})
    assert train.main(["--resume", str(path.parent)]) == 2
    save_resume(path, state | {"learner": 5})
    assert train.main(["--resume", str(path.parent)]) == 2
    assert [line[:17] for line in capsys.readouterr().err.splitlines()] == ["train.py: resume:"] * 2


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a,b\n1,2\n", b"", "49\u00b252".encode()])
def test_a_damaged_log_is_set_aside_and_the_run_goes_on(tmp_path, capsys, content):
    assert run(tmp_path) == 0
    log = tmp_path / "tiny" / "metrics.csv"
    log.write_bytes(content)
    arguments = ["--resume", str(log.parent), "--budget.decisions", str(3 * PER_UPDATE)]
    assert train.main(arguments) == 0
    assert "metrics.csv was damaged; it is now" in capsys.readouterr().out.replace("\n", " ")
    assert [path.read_bytes() for path in log.parent.glob("metrics.csv.*.damaged")] == [content]
    assert [row["decisions"] for row in logged(log.parent)] == [str(3 * PER_UPDATE)]


def test_a_torn_line_of_the_log_is_dropped(tmp_path):
    assert run(tmp_path) == 0
    log = tmp_path / "tiny" / "metrics.csv"
    log.write_bytes(log.read_bytes()[:-5])
    assert train.main(["--resume", str(log.parent), "--budget.decisions", str(3 * PER_UPDATE)]) == 0
    assert [row["decisions"] for row in logged(log.parent)] == [str(PER_UPDATE), str(3 * PER_UPDATE)]


def test_an_update_that_goes_astray_ends_the_run_and_keeps_the_last_checkpoint(tmp_path, monkeypatch, capsys):
    update = train.Trainer.update

    def astray(trainer):
        values = update(trainer)
        return values | ({"loss/policy": float("nan")} if trainer.counters["updates"] == 3 else {})

    monkeypatch.setattr(train.Trainer, "update", astray)
    assert run(tmp_path, updates=4) == 2
    assert "update 3: loss/policy is nan; last good checkpoint: " in capsys.readouterr().err
    assert load_resume(tmp_path / "tiny" / "resume.pt")["counters"]["updates"] == 2
    # so it is if the run is resumed and goes astray at once
    assert train.main(["--resume", str(tmp_path / "tiny")]) == 2
    assert (
        "last good checkpoint: " + str(tmp_path / "tiny" / "checkpoints" / "step_") in capsys.readouterr().err
    )


def test_a_policy_that_explodes_ends_the_run(tmp_path, capsys):
    assert run(tmp_path, "--ppo.stop_kl", "0", updates=1) == 2
    error = capsys.readouterr().err
    assert "the policy moved by" in error and "ppo.stop_kl is 0; last good checkpoint: there is none" in error


def test_a_full_disk_leaves_the_last_checkpoint_as_it_was(tmp_path, monkeypatch, capsys):
    saved = RunFolder.save

    def fills_up(folder, learner, league, rules, counters):
        if counters["updates"] == 4:
            monkeypatch.setattr(os, "fsync", full)
        return saved(folder, learner, league, rules, counters)

    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "save", fills_up)
        assert run(tmp_path, updates=6) == 2
    assert "cannot be written (No space left on device); it is as it was before" in capsys.readouterr().err
    monkeypatch.undo()
    folder = tmp_path / "tiny"
    assert load_resume(folder / "resume.pt")["counters"]["updates"] == 2
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["step_000000000768.safetensors"]
    assert train.main(["--resume", str(folder)]) == 0


def test_training_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    Learner(NetworkShape(2, 8, 4), PPOConfig(), 0)
    assert torch.equal(before, torch.get_rng_state())


def test_a_reader_that_leaves_does_not_end_the_training(tmp_path):
    arguments = ["--run.folder", str(tmp_path), "--run.name", "tiny", *TINY]
    command = [sys.executable, train.__file__, *arguments, "--budget.decisions", str(4 * PER_UPDATE)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait()
    assert load_resume(tmp_path / "tiny" / "resume.pt")["counters"]["updates"] == 4
