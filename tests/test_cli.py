"""The command line as a user meets it: output, files, one-line errors and exit statuses."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from agents import arena
from agents.cli import main
from agents.stopwatch import PARTS
from casino_env import Position
from casino_env.errors import MoveListCut

STUDY = "royal 2C7H/5S7D 5D - -/- - 0 - 0/0 0/0 1"
DEAL = str(Position.deal(seed=7))


def run_lines(capsys: pytest.CaptureFixture[str], words: str, *more: str) -> list[str]:
    """Lines on stdout of a command, `words` and `more`, that succeeds without a word on stderr."""
    assert main([*words.split(), *more]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def test_legal_prints_the_moves(capsys: pytest.CaptureFixture[str]) -> None:
    position = Position.parse(STUDY, partial=True)
    assert run_lines(capsys, "legal", STUDY, "--partial") == list(map(str, position.legal_moves()))
    assert run_lines(capsys, "legal", DEAL) == list(map(str, Position.parse(DEAL).legal_moves()))


def test_legal_reports_a_list_that_was_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(position: Position) -> list[str]:
        warnings.warn("the list is cut", MoveListCut, stacklevel=1)
        return ["2C"]

    monkeypatch.setattr(Position, "legal_moves", cut)
    assert main(["legal", DEAL]) == 0
    assert capsys.readouterr() == ("2C\n", "casino: the list is cut\n")


def test_legal_says_why_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    broken_promise = "royal 2C/3C - 9=4C5H@0 -/- - 0 - 0/0 0/0 1"
    assert main(["legal", broken_promise, "--partial"]) == 0
    assert capsys.readouterr() == ("", "casino: no legal move: seat 0 may play no card\n")
    assert main(["legal", "royal -/- 2D - -/- - 0 - 0/0 0/0 1", "--partial"]) == 0
    assert capsys.readouterr() == ("", "casino: no legal move: the deal is over\n")


def test_perft_prints_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    position = Position.parse(STUDY, partial=True)
    assert run_lines(capsys, "perft", STUDY, "3", "--partial") == [str(position.perft(3))]
    assert run_lines(capsys, "perft", DEAL, "0") == ["1"]


def test_perft_divides_by_first_move(capsys: pytest.CaptureFixture[str]) -> None:
    position = Position.parse(DEAL)
    *parts, total = run_lines(capsys, "perft", DEAL, "3", "--divide")
    assert parts == [f"{move} {position.play(move).perft(2)}" for move in position.legal_moves()]
    assert int(total) == position.perft(3) == sum(int(part.split()[1]) for part in parts)


def test_bench_splits_the_time_of_training(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    lines = run_lines(capsys, "bench --train --runs 1 --json", str(path))
    assert any("training, decisions" in line and "/s" in line for line in lines)
    rows = {row["name"]: row["median"] for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}
    shares = [rows[part] for part in PARTS]
    assert sum(shares) == pytest.approx(100) and min(shares) > 0


def test_bench_times_how_long_it_takes_to_beat_an_agent(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run_lines(capsys, "bench --train --beat random --runs 1")
    assert any("training" in line and " s " in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("bench --beat greedy", "bench: --beat and --config go with --train"),
        ("bench --train --beat bob", "unknown agent 'bob'"),
    ],
)
def test_bench_refuses_what_does_not_go_together(
    capsys: pytest.CaptureFixture[str], arguments: str, error: str
) -> None:
    assert main(arguments.split()) == 2
    assert error in capsys.readouterr().err


def test_arena_prints_a_table_and_writes_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    lines = run_lines(capsys, "arena random greedy --deals 20 --seed 3 --json", str(path))
    assert "royal, 2 players, seed 3, 20 decks, each in 2 seatings" in " ".join(lines[:2])
    assert "random" in lines[5] and "greedy" in lines[6]
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["agents"] == ["random", "greedy"]
    assert [written[name] for name in ("rules", "players", "decks", "seed")] == ["royal", 2, 20, 3]
    for agent in (0, 1):
        assert written["low"][agent] < written["margin"][agent] < written["high"][agent]
    assert sum(written["win_share"]) == pytest.approx(1)
    assert {"python", "numpy", "numba"} <= set(written["versions"])
    assert list(tmp_path.iterdir()) == [path]


def test_arena_lists_copies_and_mirrors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    results = []
    for pair in ("random greedy", "greedy random"):
        path = tmp_path / f"{pair}.json"
        run_lines(capsys, f"arena {pair} --deals 10 --players 3 --json", str(path))
        results.append(json.loads(path.read_text(encoding="utf-8")))
    assert results[0]["margin"] == results[1]["margin"][::-1]
    lines = run_lines(capsys, "arena random random --deals 2 --rules spade --players 4 --quiet")
    assert any("random#2" in line for line in lines)


VALID_AGENTS = (
    "valid: random, greedy, counter, searcher, champion, "
    "the path of a checkpoint *.safetensors, or file.py:ClassName"
)
VERSUS = "arena random greedy"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["arena", "random", "nobody"], f"unknown agent 'nobody'; {VALID_AGENTS}"),
        (
            ["arena", "random", "no.safetensors"],
            f"agent 'no.safetensors': there is no such file; {VALID_AGENTS}",
        ),
        (["arena", "random", "greedy:x=1"], "unknown option 'x' of agent 'greedy'; valid: endgame, without"),
        (["arena", "random"], "agents: 1 given; valid: 2 or more"),
        (["arena"], "the following arguments are required: AGENT (see casino arena --help)"),
        (
            [*VERSUS.split(), "--rules", "regal"],
            "unknown rule set 'regal'; valid: royal, plain, spade, kasino",
        ),
        ([*VERSUS.split(), "--players", "5"], "players=5 is not possible; valid: 2, 3, 4"),
        ([*VERSUS.split(), "--deals", "0"], "deals=0 is not possible; valid: 1 or more"),
        ([*VERSUS.split(), "--seed", "-1"], "seed=-1 is not possible; valid: 0 or more"),
        (
            [*VERSUS.split(), "--deals", "x"],
            "argument --deals: invalid int value: 'x' (see casino arena --help)",
        ),
        (
            [*VERSUS.split(), "--json", "/missing/result.json"],
            "--json /missing/result.json: No such file or directory; valid: a file that can be written",
        ),
        ([*VERSUS.split(), "--json", "/"], "--json /: not a regular file"),
        (["legal", "rubbish"], "a position has 11 fields separated by a space, not 1"),
        (["perft", DEAL, "-1"], "depth=-1 is not possible; valid: 0 or more"),
        (["perft", DEAL, "0", "--divide"], "depth=0 cannot be divided; valid: 1 or more"),
    ],
)
def test_an_error_is_one_line_and_status_2(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", f"casino: {line}\n")


@pytest.mark.parametrize(
    "arguments", [[], ["dance"], ["arena", "random", "greedy", "--fast"], ["legal", STUDY]]
)
def test_other_errors_too_are_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("casino: ") and err.count("\n") == 1


def test_an_interrupt_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(arena, "compete", interrupt)
    assert main(VERSUS.split()) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", [[], ["arena"], ["legal"], ["perft"]])
def test_help_explains_itself(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--help"])
    assert "casino" in capsys.readouterr().out


def test_the_examples_of_the_help_work(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["legal"], ["perft"]):
        with pytest.raises(SystemExit):
            main([*command, "--help"])
        assert f'"{STUDY}"' in capsys.readouterr().out


def test_the_module_is_the_command_and_simple_agents_load_no_torch(tmp_path: Path) -> None:
    script = "import sys; from agents.cli import main; sys.exit(main(sys.argv[1:]) or 'torch' in sys.modules)"
    results = []
    for start in (["-c", script, "arena"], ["-m", "agents.arena"]):
        path = tmp_path / start[0]
        arguments = ["random", "greedy", "--deals", "2", "--json", str(path)]
        subprocess.run([sys.executable, *start, *arguments], check=True, capture_output=True)
        results.append(path.read_bytes())
    assert results[0] == results[1]
