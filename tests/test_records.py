"""Records of games: written by the arena, read back to the same positions, refused when damaged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.arena import compete
from agents.baselines import RandomAgent
from agents.cli import main
from agents.matchup import Setting, play_chunk, two_seatings
from agents.records import GameRecord, read_record, read_records, write_records
from agents.sprt import Sprt
from agents.workers import Workers
from casino_env import CasinoError, Position, Rules
from casino_env.legal import LegalMoves
from casino_env.notation import format_position
from casino_env.rules import deal_turns
from casino_env.vector_env import VectorEnv
from casino_env.view import View
from tests.helpers_env import SETTINGS

BIG = 2**53 + 1


def records_of(path: Path, *agents: str, decks: int = 3, **arguments: Any) -> list[GameRecord]:
    compete(agents or ("random", "greedy"), decks, BIG, records=path, **arguments)
    return list(read_records(path))


@pytest.mark.parametrize(("rules", "players"), [*SETTINGS, ("royal;size=tiny", 2), ("plain;draw=yes", 2)])
def test_arena_games_replay_to_the_same_positions(
    rules: str, players: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed, seen = Rules.parse(rules), []
    step = VectorEnv.step

    def note_and_step(env: VectorEnv, choices: np.ndarray) -> Any:
        seen.append([format_position(env.state, game, parsed) for game in range(env.num_envs)])
        return step(env, choices)

    monkeypatch.setattr(VectorEnv, "step", note_and_step)
    records = records_of(tmp_path / "games.jsonl", rules=rules, players=players)
    seatings = len(two_seatings(2 if players == 4 else players))
    assert [record.number for record in records] == sorted([0, 1, 2] * seatings)
    order = np.arange(3 * seatings).reshape(seatings, 3).T.reshape(-1)  # deck after deck
    for record, game in zip(records, order, strict=True):
        texts = [str(position) for position in record.deals[0].positions(parsed, players)]
        assert texts[:-1] == [turn[game] for turn in seen]
        assert Position.parse(texts[-1]).is_over
        assert (record.seed, record.objective, record.failed) == (BIG, "deal", None)
        assert set(record.agents) == {"random", "greedy"}


def test_points_and_seats_are_those_of_the_result(tmp_path: Path) -> None:
    result = compete(["random", "greedy"], 30, 4, records=tmp_path / "games.jsonl")
    margins = []
    for record in read_records(tmp_path / "games.jsonl"):
        points = record.deals[0].points
        assert points
        mine = record.agents.index("greedy")
        margins.append(points[mine] - points[1 - mine])
    assert np.mean(margins) == pytest.approx(result.pairings[0].reversed().margin.mean)


def test_matches_go_deal_by_deal(tmp_path: Path) -> None:
    records = records_of(tmp_path / "games.jsonl", objective="match")
    assert all(len(record.deals) > 1 for record in records)
    for record in records:
        assert [deal.dealer for deal in record.deals[:3]] == [0, 1, 0][: len(record.deals)]
        assert record.deals[0].score == (0, 0)
        *_, last = record.deals[-1].positions(record.rules, 2)
        assert last.settle().winner is not None


def test_jobs_change_nothing(tmp_path: Path) -> None:
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for file, jobs in zip(files, (1, 2), strict=True):
        compete(["random", "greedy"], 300, 0, workers=Workers(jobs), records=file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert len(files[0].read_text().splitlines()) == 600


def test_decks_that_a_verdict_leaves_out_are_not_written(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    result = compete(["random", "greedy"], 300, 0, sprt=Sprt(0, 3), records=file)
    assert len(file.read_text().splitlines()) == 2 * result.decks < 600


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    records = records_of(tmp_path / "games.jsonl", objective="match")
    assert [read_record(record.line) for record in records] == records
    write_records(tmp_path / "again.jsonl", (record.line for record in records))
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "games.jsonl").read_bytes()


class Fails:
    """Fails after so many moves."""

    name = "fails"

    def __init__(self, moves: int) -> None:
        self.moves, self.calls = moves, 0

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
        self.calls += 1
        if self.calls > self.moves:
            raise RuntimeError("no more")
        return np.zeros(len(legal.offsets) - 1, np.int64)


@pytest.mark.parametrize(("objective", "moves"), [("deal", 2), ("deal", 0), ("match", 48), ("match", 50)])
def test_a_game_that_an_agent_loses_by_failing_ends_there(objective: str, moves: int) -> None:
    setting = Setting(Rules.parse("royal"), objective=objective, recorded=True)
    played = play_chunk(setting, [Fails(moves), RandomAgent()], ["fails", "random"], two_seatings(2), 0, 1)
    records = [read_record(line) for line in played.records]
    for record in records:
        deal = record.deals[-1]
        assert record.failed == "fails" and deal.points is None
        assert len(deal.moves) < deal_turns(record.rules.table)
    assert min(len(record.deals[-1].moves) for record in records) <= moves


def test_empty_lines_between_records_are_passed_over(line: str, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(f"\n{line}\n\n{line}\n\n")
    assert [record.line for record in read_records(file)] == [line, line]


def test_moves_are_only_kept_where_they_are_wanted() -> None:
    agents = [RandomAgent(), RandomAgent()]
    played = play_chunk(Setting(Rules.parse("royal")), agents, ["a", "b"], two_seatings(2), 0, 1)
    assert played.records == ()


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> str:
    return records_of(tmp_path_factory.mktemp("records") / "games.jsonl", decks=1)[0].line


def change(line: str, **fields: Any) -> str:
    return json.dumps({**json.loads(line), **fields})


def change_deal(line: str, **fields: Any) -> str:
    document = json.loads(line)
    document["deals"][0] |= fields
    return json.dumps(document)


def twice(line: str, **fields: Any) -> str:
    return change(line, deals=2 * json.loads(line)["deals"], **fields)


DAMAGE: list[tuple[Callable[[str], str], str]] = [
    (lambda line: "nothing", "not a record of a game"),
    (lambda line: change(line, version=True), "version=True is unknown; valid: 1"),
    (lambda line: change(line, agents=["random", "\x1b[2J"]), "agents=.*; valid: 2 names"),
    (lambda line: change(line, failed="nobody"), "failed='nobody'; valid: one of the agents, or null"),
    (lambda line: change(line, failed="random"), "failed='random', but the last deal was played to its end"),
    (lambda line: "7", "not a record of a game: 7"),
    (lambda line: "[" * 100_000, "not a record of a game"),
    (lambda line: line[:200], "not a record of a game"),
    (lambda line: change(line, format="chess"), "format='chess' is unknown; valid: 'royal-casino-game'"),
    (lambda line: change(line, version=2), "version=2 is unknown; valid: 1"),
    (lambda line: change(line, rules="whist"), "whist"),
    (lambda line: change(line, rules=None), "rules=None; valid: a text"),
    (lambda line: change(line, players=5), "players=5 is not possible; valid: 2, 3, 4"),
    (lambda line: change(line, agents=["random"]), "agents=.*; valid: 2 names"),
    (lambda line: change(line, agents=["random", 3]), "agents=.*; valid: 2 names"),
    (lambda line: change(line, objective="fun"), "objective='fun' is unknown; valid: deal, match"),
    (lambda line: change(line, seed=7), "seed=7; valid: a whole number as text, or null"),
    (lambda line: change(line, seed="-7"), "seed='-7'; valid: a whole number as text, or null"),
    (lambda line: change(line, number="x"), "number='x'; valid: a number or null"),
    (lambda line: change(line, deals=[]), r"deals=\[\]; valid: a list of deals"),
    (lambda line: change(line, deals=[3]), "not a record of a game: 3"),
    (lambda line: twice(line, objective="deal"), "2 deals; valid: one, since"),
    (lambda line: twice(line, objective="match"), "deal 2: dealer=0, but"),
    (lambda line: change_deal(line, deck="2C2C"), "deal 1: deck: "),
    (lambda line: change_deal(line, dealer=2), "deal 1: dealer=2 is not a seat; valid: 0 to 1"),
    (lambda line: change_deal(line, score=[0]), "deal 1: score="),
    (lambda line: change_deal(line, score=[0, -1]), "score=.*; valid: numbers"),
    (lambda line: change_deal(line, moves="2C*"), "deal 1: move 1: "),
    (lambda line: change_deal(line, moves=""), "deal 1: points=.*, but the moves bring None"),
    (lambda line: change_deal(line, points=[0, 0]), r"deal 1: points=\(0, 0\), but the moves bring"),
    (lambda line: change_deal(line, points=None), "deal 1: points=None, but the moves bring"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGE)
def test_a_damaged_record_is_refused_by_its_line(
    line: str, damage: Callable[[str], str], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(f"{line}\n{damage(line)}\n{line}\n")
    records = read_records(file)
    assert next(records).line == line
    with pytest.raises(CasinoError, match=rf"games.jsonl, line 2: .*{message}") as error:
        next(records)
    assert "\n" not in str(error.value) and len(str(error.value)) < 600


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CasinoError, match=r"games\.jsonl: not a text file"):
        list(read_records(file))


def test_the_command_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "games.jsonl"
    words = ["arena", "random", "greedy", "--deals", "2", "--quiet", "--records"]
    assert main([*words, str(file)]) == 0
    assert len(list(read_records(file))) == 4
    assert main([*words, str(file), "--store", str(tmp_path / "store.db")]) == 2
    assert "a store keeps no moves" in capsys.readouterr().err
    assert main([*words, str(file), "--json", str(file)]) == 2
    assert main([*words, str(tmp_path)]) == 2
    assert "--records" in capsys.readouterr().err
