"""Replays: what the page is given of every position, by whose eyes, and what is refused."""

import json
import random
import re
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.arena import compete
from agents.cli import main
from agents.insight import Analyst
from agents.policy import PolicyAgent
from agents.records import GameRecord, read_records
from agents.registry import make_agent
from agents.replay import replay_page
from casino_env import Position, Rules
from casino_env.moves import Move
from tests.helpers import random_line, study
from tests.helpers_cards import in_order
from tests.helpers_learning import small_learner

ROYAL = Rules.parse("royal")


def record(tmp_path: Path, *agents: str, **arguments: Any) -> tuple[Path, GameRecord]:
    file = tmp_path / "games.jsonl"
    compete(agents or ("random", "greedy"), 1, 3, records=file, **arguments)
    return file, next(read_records(file))


def data_of(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


@pytest.fixture(scope="module")
def analyst() -> Analyst:
    agent = make_agent("champion", ROYAL, 2)
    assert isinstance(agent, PolicyAgent)
    return Analyst(agent, ROYAL, 2, worlds=4)


def test_every_position_is_on_the_page(tmp_path: Path, analyst: Analyst) -> None:
    _, game = record(tmp_path, objective="match")
    told = data_of(replay_page(game, analyst))
    steps = told["steps"]
    assert told["analyst"] == "champion"
    assert len(steps) == sum(len(deal.moves) + 1 for deal in game.deals)
    assert [step["move"] for step in steps if step["deal"] == 1] == [*game.deals[0].moves, None]
    for step in steps:
        assert step["svg"].startswith("<svg") and step["svg"].endswith("</svg>")
        assert ("points" in step) == (step["move"] is None)
        if "insight" not in step:
            continue
        shares = [share for _, share, _ in step["insight"]["moves"]]
        assert shares == sorted(shares, reverse=True) and 0.9 < sum(shares) <= 1.001
        assert step["move"] in [move for move, _, _ in step["insight"]["moves"]]
    ends = [step["points"] for step in steps if "points" in step]
    for end, deal in zip(ends, game.deals, strict=True):
        assert end["rows"][-1] == ["total", *deal.points]
    how = "player_0 had 19 of 21 before the deal: only the big casino counts, and wins (R7.1)."
    assert ends[-1]["score"] == f"{how} Score 21 : 16; player_0 wins a match to 21."


def test_partners_have_one_column(tmp_path: Path) -> None:
    _, game = record(tmp_path, players=4)
    told = data_of(replay_page(game))
    assert told["analyst"] is None
    assert told["steps"][-1]["points"]["sides"] == ["player_0 and player_2", "player_1 and player_3"]


class Reader(HTMLParser):
    """Notes what a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts, self.links = 0, []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.links += [
            value for name, value in attrs if name in ("src", "href") and not value.startswith("#")
        ]


def test_the_page_stands_alone_and_runs_no_text_of_the_record(tmp_path: Path) -> None:
    _, game = record(tmp_path)
    bad = ("{{data}}<script>bad()</script>", "</script><script>bad()</script>")
    page = replay_page(GameRecord(game.rules, game.players, bad, game.deals))
    reader = Reader()
    reader.feed(page)
    assert (reader.scripts, reader.links) == (2, [])
    assert "<script>bad" not in page
    assert data_of(page)["steps"][0]["doing"].startswith(f"player_1 ({bad[1]})")
    assert "{{" not in page.replace("{{data}}", "")


def test_a_game_that_broke_off_says_so(tmp_path: Path) -> None:
    _, game = record(tmp_path)
    (deal,) = game.deals
    short = type(deal)(deal.deck, deal.dealer, deal.score, deal.moves[:5])
    for failed, text in ((None, "The record ends here."), ("greedy", "greedy failed, and lost the game.")):
        broken = GameRecord(game.rules, game.players, game.agents, (short,), failed=failed)
        assert data_of(replay_page(broken))["steps"][-1]["doing"] == text


def test_thoughts_depend_on_nothing_hidden(analyst: Analyst) -> None:
    position = Position.deal(seed=4)
    fields = str(position).split(" ")
    hands, stock = fields[1].split("/"), fields[5]
    assert position.turn == 1
    swapped = in_order([stock[i : i + 2] for i in range(0, 8, 2)])
    fields[1], fields[5] = f"{swapped}/{hands[1]}", hands[0] + stock[8:]
    other = Position.parse(" ".join(fields))
    assert str(other) != str(position)
    assert analyst.look(other, seed=1) == analyst.look(position, seed=1)


def test_values_are_those_of_the_policy_at_play() -> None:
    """With two cards and one nothing is left to chance: the value is the margin of the deal."""
    lines = (after for after, *_ in random_line(Position.deal(seed=1), "uniform", random.Random(1)))
    (position,) = islice(lines, 45, 46)
    agent = PolicyAgent(small_learner().actor, ROYAL, greedy=True)
    seen = Analyst(agent, ROYAL, 2, worlds=3).look(position)
    for told in seen.moves:
        after = position.play(told.move)
        while not after.is_over:
            moves = after.legal_moves()
            replies = {str(move): after.play(move) for move in moves}
            thoughts = Analyst(agent, ROYAL, 2, worlds=1).look(after)
            after = replies[thoughts.moves[0].move]
        first, second = (points.total for points in after.deal_points())
        margin = first - second if position.turn == 0 else second - first
        assert told.value == pytest.approx(margin)
    shares = np.array([told.probability for told in seen.moves])
    values = np.array([told.value for told in seen.moves])
    assert seen.value == pytest.approx(shares @ values / shares.sum())


def test_the_likeliest_move_is_told_however_unlikely() -> None:
    crowd = study("royal 2H9S/ACAS 2C2D3C3D4C4D5C5D6C6D7C7D8CAD", dealer="1")
    analyst = Analyst(PolicyAgent(small_learner().actor, ROYAL), ROYAL, 2, worlds=1)
    assert max(analyst.probabilities(crowd).values()) < 0.005
    assert analyst.look(crowd).moves


def test_equivalent_moves_are_told_by_the_one_played() -> None:
    position = study("royal 9C9H/5C5D 2C3C", dealer="1")
    agent = PolicyAgent(small_learner(merged=True).actor, ROYAL)
    analyst = Analyst(agent, ROYAL, 2, worlds=2)
    for played in ("9C", "9H"):
        told = [move.move for move in analyst.look(position, played).moves]
        assert played in told
        assert len({Move.parse(move).card // 4 for move in told}) == len(told) == 1


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, _ = record(tmp_path)
    page = tmp_path / "games.html"
    assert main(["replay", str(file), "--worlds", "2", "--quiet"]) == 0
    assert capsys.readouterr().out.strip() == str(page)
    assert data_of(page.read_text())["analyst"] == "champion"
    again = tmp_path / "second.html"
    words = ["replay", str(file), "--game", "2", "--agent", "none", "-o", str(again)]
    assert main(words) == 0
    assert "insight" not in data_of(again.read_text())["steps"][0]


def test_games_without_a_champion_are_shown_without_thoughts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, _ = record(tmp_path, rules="kasino")
    assert main(["replay", str(file)]) == 0
    assert "no probabilities are shown: champion: there is none for kasino" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--game", "3"], "game=3: .* has fewer games"),
        (["--game", "0"], "game=0 is not possible; valid: 1 or more"),
        (["--game", "9" * 30], "game=9+: .* has fewer games"),
        (["--worlds", "0"], "worlds=0 is not possible; valid: 1 or more"),
        (["--worlds", "10001"], "worlds=10001 is not possible; valid: 1 to 10000"),
        (["--agent", "greedy"], "agent 'greedy' tells no probabilities; valid: champion, a checkpoint"),
        (["--agent", "nobody"], "unknown agent 'nobody'"),
        (["-o", "games.jsonl"], "--output games.jsonl: that is the file of the records"),
    ],
)
def test_errors(
    words: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file, _ = record(tmp_path)
    before = file.read_bytes()
    monkeypatch.chdir(tmp_path)
    assert main(["replay", file.name, *words]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert file.read_bytes() == before and not (tmp_path / "games.html").exists()


def test_a_damaged_or_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "games.jsonl"
    assert main(["replay", str(file)]) == 2
    assert main(["replay", str(tmp_path)]) == 2
    assert "that is a folder; valid: a file of records" in capsys.readouterr().err
    file.write_text("{}\n")
    assert main(["replay", str(file)]) == 2
    assert "games.jsonl, line 1: format=None is unknown" in capsys.readouterr().err
