"""Checkpoints: exact round trips; what is no checkpoint, or one for something else, is refused by name."""

import errno
import os
import pickle
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from agents.checkpoint import FORMAT, load_actor, load_resume, save_actor, save_resume
from agents.features import FEATURES_VERSION
from agents.files import write_atomically
from agents.network import Actor, NetworkShape
from casino_env import CasinoError, Rules

SHAPE = NetworkShape(players=2, hidden=8, scorer=4)


@pytest.fixture
def saved(tmp_path):
    actor = Actor(SHAPE)
    path = tmp_path / "checkpoints" / "step_1.safetensors"
    save_actor(path, actor, SHAPE, Rules(), {"decisions": 1})
    return path, actor


def refused(path, rules="royal", players=2):
    with pytest.raises(CasinoError) as error:
        load_actor(path, Rules.parse(rules), players)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)
    return str(error.value)


def test_round_trip(saved):
    path, actor = saved
    loaded = load_actor(path, Rules(), 2)
    assert all(torch.equal(a, b) for a, b in zip(actor.parameters(), loaded.parameters(), strict=True))
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_scorer_of_several_layers_comes_back(tmp_path):
    shape = replace(SHAPE, depth=3)
    actor, path = Actor(shape), tmp_path / "deep.safetensors"
    save_actor(path, actor, shape, Rules(), {})
    loaded = load_actor(path, Rules(), 2)
    assert loaded.shape == shape
    assert all(torch.equal(a, b) for a, b in zip(actor.parameters(), loaded.parameters(), strict=True))
    assert len(list(loaded.parameters())) == len(list(Actor(SHAPE).parameters())) + 4


def test_another_game_is_refused(saved):
    path, _ = saved
    assert "its rules is 'royal', wanted 'plain'" in refused(path, rules="plain")
    assert "its players is '2', wanted '3'" in refused(path, players=3)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    assert "no such file" in refused(tmp_path / "missing.safetensors")
    for content in (b"", b"hello", pickle.dumps({"a": 1}), b"\xff" * 64):
        path = tmp_path / "not.safetensors"
        path.write_bytes(content)
        assert "not a safetensors file" in refused(path)


def test_a_truncated_checkpoint_is_refused(saved):
    path, _ = saved
    path.write_bytes(path.read_bytes()[:-100])
    assert "not a safetensors file" in refused(path)


def test_foreign_or_hostile_metadata_is_refused(saved):
    path, _ = saved
    tensors = load_file(path)
    save_file(tensors, path)
    assert "its format is None" in refused(path)
    metadata = {
        "format": FORMAT,
        "observation_version": "1",
        "features_version": str(FEATURES_VERSION),
        "rules": "royal",
        "players": "2",
        "hidden": "999999999",
        "scorer": "4",
        "merged": "True",
        "depth": "1",
    }
    save_file(tensors, path, metadata)
    assert "its hidden is '999999999'; valid: 1 to 8192" in refused(path)
    save_file(tensors, path, metadata | {"hidden": "0000000019999999999"})
    assert "its hidden is '0000000019999999999'; valid: 1 to 8192" in refused(path)
    save_file(tensors, path, metadata | {"hidden": "8", "merged": "maybe"})
    assert "its merged is 'maybe'; valid: True, False" in refused(path)
    save_file(tensors, path, metadata | {"hidden": "8", "depth": "17"})
    assert "its depth is '17'; valid: 1 to 16" in refused(path)
    save_file(tensors, path, metadata | {"hidden": "16"})
    assert "its tensors do not fit" in refused(path)
    save_file(tensors, path, metadata | {"hidden": "8", "features_version": "0"})
    assert f"its features_version is '0', wanted '{FEATURES_VERSION}'" in refused(path)


def test_weights_that_are_no_numbers_are_refused(saved):
    path, actor = saved
    with torch.no_grad():
        actor.score.weight[0, 0] = float("nan")
    save_actor(path, actor, SHAPE, Rules(), {"decisions": 1})
    assert "its weights are not all finite numbers" in refused(path)


def test_resume_files_hold_data_and_never_run_code(tmp_path):
    path = tmp_path / "resume.pt"
    save_resume(path, {"counters": {"updates": 3}, "weights": torch.ones(2)})
    assert load_resume(path)["counters"] == {"updates": 3}
    path.write_bytes(pickle.dumps(Trap(), protocol=2))
    with pytest.raises(CasinoError, match="is not a resume file"):
        load_resume(path)
    assert not Trap.sprung
    with pytest.raises(CasinoError, match="there is no run to continue"):
        load_resume(tmp_path / "missing.pt")


class Trap:
    """Unpickling one is what must not happen."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(temporary):
        temporary.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(CasinoError, match=r"file: cannot be written \(No space left on device\)"):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
