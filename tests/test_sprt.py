"""The sequential test: by hand, its error rates on drawn margins, in the arena."""

import json
from math import log
from pathlib import Path

import numpy as np
import pytest

from agents.arena import compete
from agents.baselines import RandomAgent
from agents.cli import main
from agents.registry import make_agent
from agents.sprt import FEWEST, PRIOR_DECKS, PRIOR_DEVIATION, Sprt, read_sprt
from casino_env import CasinoError, Rules
from tests.helpers_agents import Fails

TEST = Sprt(0, 1)
TRIALS = 400


def test_ratios_by_hand() -> None:
    ratios = TEST.ratios(np.array([2.0, 4.0]))
    first = 1 * (2 - 0.5) / (PRIOR_DECKS * PRIOR_DEVIATION**2 / PRIOR_DECKS)
    second = 2 * (3 - 0.5) / ((2 + PRIOR_DECKS * PRIOR_DEVIATION**2) / (PRIOR_DECKS + 1))
    assert ratios == pytest.approx([first, second])
    assert TEST.bounds == pytest.approx((log(0.05 / 0.95), log(0.95 / 0.05)))


@pytest.mark.parametrize(("mean", "wrong"), [(0.0, "H1"), (1.0, "H0")])
def test_errors_are_as_rare_as_asked_for(mean: float, wrong: str) -> None:
    """At either hypothesis a wrong verdict comes in at most one of twenty trials, but for chance."""
    rng = np.random.default_rng(1)
    verdicts = [TEST.verdict(rng.normal(mean, 4, 3000)) for _ in range(TRIALS)]
    assert all(verdict.accepted for verdict in verdicts)
    errors = sum(verdict.accepted == wrong for verdict in verdicts)
    assert errors / TRIALS < 0.05 + 3 * np.sqrt(0.05 * 0.95 / TRIALS)
    assert FEWEST <= np.median([verdict.decks for verdict in verdicts]) < 400


def test_the_verdict_does_not_change_with_more_decks() -> None:
    margins = np.random.default_rng(2).normal(0.8, 4, 3000)
    verdict = TEST.verdict(margins)
    assert verdict.accepted and FEWEST < verdict.decks < 3000
    assert TEST.verdict(margins[: verdict.decks]) == verdict
    assert TEST.verdict(margins[: verdict.decks - 1]).accepted is None


def test_agents_in_the_arena() -> None:
    """An agent against itself: H0; greedy against random: H1 in under 200 decks."""

    def play(*specs: str, **others: int) -> tuple[str | None, int]:
        agents = [make_agent(spec, Rules(), others.get("players", 2)) for spec in specs]
        result = compete(agents, 6000, 1, sprt=Sprt(0, 0.5), **others)
        assert result.sprt is not None and result.decks == result.sprt["decks"]
        return result.sprt["accepted"], result.decks

    for same in ("random", "greedy"):
        assert play(same, same)[0] == "H0"
    accepted, decks = play("greedy", "random")
    assert accepted == "H1" and decks < 200
    assert play("random", "greedy") == ("H0", play("random", "greedy")[1])
    assert play("greedy", "random", players=3)[0] == "H1"


def test_hypotheses_on_both_sides_of_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "greedy", "random", "--sprt", "-0.5,0.5", "--quiet"]) == 0
    assert "H1, +0.5 points or more for the first agent" in capsys.readouterr().out


def test_failures_in_decks_that_do_not_count_are_not_told() -> None:
    result = compete([Fails(ValueError()), RandomAgent()], 600, 0, sprt=Sprt(0, 0.5))
    assert result.sprt is not None and result.sprt["accepted"] == "H0"
    assert result.failures[0]["games"] == 2 * result.decks < 600


def test_decks_without_a_verdict() -> None:
    pair = [make_agent("random", Rules(), 2) for _ in range(2)]
    result = compete(pair, FEWEST - 1, 0, sprt=TEST)
    assert result.sprt is not None
    assert (result.decks, result.sprt["accepted"]) == (FEWEST - 1, None)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    words = ["arena", "greedy", "random", "--sprt", "0,0.5", "--quiet", "--json", str(file)]
    assert main(words) == 0
    told = capsys.readouterr().out.splitlines()[-1]
    result = json.loads(file.read_text())
    assert told.startswith(f"SPRT after {result['decks']} decks: H1, +0.5 points or more for the first agent")
    assert result["sprt"] == {
        **{"low": 0.0, "high": 0.5, "alpha": 0.05, "beta": 0.05, "accepted": "H1"},
        **{"decks": result["decks"], "ratio": result["sprt"]["ratio"]},
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--sprt 1", "sprt='1' is not possible; valid: LOW,HIGH in points, as 0,0.5"),
        ("--sprt 1,0", "sprt=1.0,0.0 is not possible; valid: two rising numbers"),
        ("--sprt nan,1", "sprt=nan,1.0 is not possible"),
        ("--sprt 0,1 --alpha 0.5", "alpha=0.5 is not possible; valid: above 0, below 0.5"),
    ],
)
def test_errors(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "greedy", "random", *words.split()]) == 2
    assert message in capsys.readouterr().err


def test_two_agents_are_compared() -> None:
    agents = [make_agent("random", Rules(), 2) for _ in range(3)]
    with pytest.raises(CasinoError, match="sprt compares two agents; 3 given"):
        compete(agents, 10, 0, sprt=read_sprt("0,1", 0.05, 0.05))
