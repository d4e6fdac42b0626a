"""`examples/sb3_maskable_ppo.py`: it learns, saves, measures; legal tokens only; clear refusals."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO

from casino_env.single_agent import RoyalCasinoEnv
from casino_env.tokens import N_TOKENS
from examples import sb3_maskable_ppo

pytestmark = pytest.mark.integrations

RESULT = re.compile(r"against (\S+): (\S+) points a deal \((\S+) to (\S+), (\d+) deals\)")


def run(capsys: pytest.CaptureFixture[str], words: str) -> list[str]:
    """Lines on stdout of a run that succeeds without a word on stderr, as any illegal token would bring."""
    assert sb3_maskable_ppo.main(words.split()) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def test_it_learns_to_beat_random(capsys: pytest.CaptureFixture[str]) -> None:
    *progress, learned, random, greedy = run(capsys, "--steps 100000 --deals 200")
    assert re.fullmatch(r" +98,304 tokens: \+\d\.\d\d points a deal while learning", progress[0])
    assert re.fullmatch(r"learned from 106,496 tokens in \d\.\d minutes", learned)
    results = [RESULT.fullmatch(line).groups() for line in (random, greedy)]
    assert [(opponent, deals) for opponent, *_, deals in results] == [("random", "200"), ("greedy", "200")]
    assert float(results[0][2]) > 3  # the lower end


def test_it_stops_once_it_beats_whom_it_should(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sb3_maskable_ppo, "EVERY", 2)
    *_, learned, random, _greedy = run(capsys, "--steps 1000000 --deals 200 --beat random")
    assert int(learned.split()[2].replace(",", "")) < 100_000
    assert float(RESULT.fullmatch(random)[3]) > 0


def test_it_saves_a_model_that_loads(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "ppo.zip"
    lines = run(capsys, f"--steps 1 --players 3 --rules spade --opponent greedy --deals 7 --save {path}")
    assert [RESULT.fullmatch(line)[1] for line in lines[1:]] == ["random", "greedy"]
    env = sb3_maskable_ppo.make_vec_env("RoyalCasino-v0", 1, env_kwargs={"players": 3})
    masks = np.eye(1, N_TOKENS, 7, dtype=bool)
    assert MaskablePPO.load(path).predict(env.reset(), action_masks=masks)[0] == 7


def test_an_illegal_token_would_be_noticed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RoyalCasinoEnv, "action_masks", lambda env: np.ones(N_TOKENS, np.bool_))
    assert sb3_maskable_ppo.main(["--steps", "1"]) == 2
    assert " is illegal after nothing; legal: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--players 5", "players=5 is not possible; valid: 2, 3, 4"),
        ("--opponent nobody", "unknown agent 'nobody'; valid: random, greedy, "),
        ("--beat nobody", "unknown agent 'nobody'; valid: random, greedy, "),
        ("--rules regal", "unknown rule set"),
        ("--steps 0", "steps=0 is not possible; valid: 1 or more"),
        ("--deals 1", "deals=1 is not possible; valid: 2 or more"),
        ("--seed -1", "seed=-1 is not possible; valid: 0 or more"),
        ("--save .", "--save"),
    ],
)
def test_what_is_wrong_is_one_line(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sb3_maskable_ppo.main(words.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
