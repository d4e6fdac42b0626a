"""Exact play of the last hand by any agent, and what others give away there."""

import json
from pathlib import Path

import numpy as np
import pytest

from agents.arena import compete
from agents.cli import main
from agents.registry import make_agent
from agents.regret import measure_regret
from casino_env import CasinoError, Rules
from casino_env.rules import RULE_SETS

POSITIONS = 60


@pytest.mark.parametrize("rules", [*RULE_SETS, "royal;draw=yes"])
def test_exact_play_gives_nothing_away(rules: str) -> None:
    game = Rules.parse(rules)
    for spec in ("random:endgame=exact", "searcher:worlds=1"):
        result = measure_regret(make_agent(spec, game, 2), game, POSITIONS, spec)
        assert (result.per_deal, result.per_decision, result.blunders) == (0, 0, 0)


def test_each_rung_gives_away_less() -> None:
    specs = ("random", "greedy", "counter", "counter:endgame=exact")
    results = [measure_regret(make_agent(spec, Rules(), 2), Rules(), 4 * POSITIONS, spec) for spec in specs]
    regrets = [result.per_deal for result in results]
    assert regrets == sorted(regrets, reverse=True)
    assert regrets[-1] == 0 < regrets[-2]
    for result in results[:-1]:
        assert result.low < result.per_deal < result.high
        assert 0 < result.blunders < 1


def test_only_the_last_hand_is_played_otherwise() -> None:
    pair = [make_agent(spec, Rules(), 2) for spec in ("greedy:endgame=exact", "greedy")]
    result = compete(pair, 60, 1)
    assert result.agents == ["greedy:endgame=exact", "greedy"]
    assert result.low[0] is not None
    assert 0 < result.low[0] < result.margin[0] < 4


def test_only_two_players_have_an_open_last_hand() -> None:
    with pytest.raises(CasinoError, match="endgame=exact needs the open last hand of 2 players; players=3"):
        make_agent("greedy:endgame=exact", Rules(), 3)
    with pytest.raises(CasinoError, match="option 'endgame' of agent 'greedy' is 'no'; valid: exact"):
        make_agent("greedy:endgame=no", Rules(), 2)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "regret.json"
    assert main(["regret", "greedy", "--positions", str(POSITIONS), "--quiet", "--json", str(file)]) == 0
    result = json.loads(file.read_text())
    assert (result["agent"], result["rules"], result["positions"]) == ("greedy", "royal", POSITIONS)
    assert f"{result['per_deal']:.3f}" in capsys.readouterr().out
    assert np.isfinite([result[name] for name in ("per_decision", "low", "high", "blunders")]).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [("nobody", "unknown agent 'nobody'"), ("greedy --positions 1", "positions=1 is not possible; valid: 2")],
)
def test_errors(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["regret", *words.split()]) == 2
    assert message in capsys.readouterr().err
