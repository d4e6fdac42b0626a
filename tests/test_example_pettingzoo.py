"""`examples/pettingzoo_random.py`: what it prints, legal tokens only, one line for what is wrong."""

import re

import pytest

from casino_env import royal_casino_v0
from casino_env.rules import PLAYER_COUNTS
from examples import pettingzoo_random


def run(capsys: pytest.CaptureFixture[str], words: str) -> list[str]:
    """Lines on stdout of a run that succeeds without a word on stderr."""
    assert pettingzoo_random.main(words.split()) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_it_prints_the_mean_score_of_each_agent(
    players: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(royal_casino_v0, "env", royal_casino_v0.raw_env)  # refuses illegal tokens
    heading, *lines = run(capsys, f"--deals 30 --players {players} --rules spade")
    assert heading == "30 deals: mean points more than the other sides"
    scores = [re.fullmatch(r"(player_\d)  ([+-]\d+\.\d\d)", line).groups() for line in lines]
    assert [agent for agent, _ in scores] == [f"player_{seat}" for seat in range(players)]
    assert abs(sum(float(score) for _, score in scores)) < 0.02  # rounded


def test_the_seed_decides_the_scores(capsys: pytest.CaptureFixture[str]) -> None:
    one, same, other = (run(capsys, f"--deals 5 --seed {seed}") for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--players 5", "players=5 is not possible; valid: 2, 3, 4"),
        ("--rules regal", "unknown rule set"),
        ("--deals 0", "deals=0 is not possible; valid: 1 or more"),
        ("--seed -1", "seed=-1 is not possible; valid: 0 or more"),
        ("--deals many", "argument --deals: invalid int value: 'many'"),
    ],
)
def test_what_is_wrong_is_one_line(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert pettingzoo_random.main(words.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
