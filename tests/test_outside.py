"""Agents of a user's own file: the example of the manual, and what is told where one cannot be used."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from agents import outside
from agents.arena import compete
from agents.cli import main
from agents.outside import load_outside
from agents.registry import make_agent
from casino_env import CasinoError, Rules

EXAMPLE = dedent((outside.__doc__ or "").split("needs:\n\n")[1].split("\n`view`")[0])


def write(folder: Path, code: str, name: str = "bot.py") -> str:
    """The path of a file with the code."""
    path = folder / name
    path.write_text(code, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("options", ["", ":endgame=exact"])
def test_the_example_plays(tmp_path: Path, options: str) -> None:
    assert len(EXAMPLE.strip().splitlines()) <= 15
    spec = f"{write(tmp_path, EXAMPLE)}:LastMove{options}"
    agent = make_agent(spec, Rules(), 2)
    assert agent.name == "last move" + options
    result = compete([agent, make_agent("random", Rules(), 2)], 20, 1)
    assert abs(sum(result.margin)) < 1e-9


def test_it_is_named_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = f"{write(tmp_path, EXAMPLE, 'my bot.py')}:LastMove"
    assert main(["arena", spec, "greedy", "--deals", "10", "--quiet"]) == 0
    assert "LastMove" in capsys.readouterr().out.replace("\n", "")


def test_files_beside_it_can_be_imported(tmp_path: Path) -> None:
    write(tmp_path, "NAME = 'helped'", "beside_the_bot.py")
    code = "from beside_the_bot import NAME\n" + EXAMPLE.replace('name = "last move"', "name = NAME")
    before = list(sys.path)
    assert load_outside(f"{write(tmp_path, code)}:LastMove", Rules(), 3).name == "helped"
    assert sys.path == before


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (EXAMPLE.replace("LastMove", "Other"), "no class LastMove; valid: Other"),
        ("LastMove = 3", "no class LastMove; valid: none"),
        ("raise SystemExit(0)", "cannot be made: SystemExit: 0"),
        ("import no_such_module", "cannot be made: ModuleNotFoundError: No module named 'no_such_module'"),
        ("class LastMove:", "cannot be made: .*Error: "),
        (EXAMPLE.replace("self, rules, players", "self"), "cannot be made: TypeError: "),
        (EXAMPLE.replace("choose", "select"), "an agent has a text `name` and a method `choose`"),
        (EXAMPLE.replace('"last move"', "3"), "an agent has a text `name`"),
    ],
)
def test_what_is_no_agent_is_one_line(code: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CasinoError, match=message) as error:
        make_agent(f"{write(tmp_path, code)}:LastMove", Rules(), 2)
    assert "bot.py:LastMove" in str(error.value)


def test_one_that_fails_in_play_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = f"{write(tmp_path, EXAMPLE.replace('counts - 1', 'counts + nothing'))}:LastMove"
    assert main(["arena", spec, "greedy", "--deals", "10", "--quiet"]) == 0
    told = capsys.readouterr().err
    reason = "it failed: NameError: name 'nothing' is not defined"
    assert f"agent '{spec}' lost 20 games by failing: {reason}" in told
    assert told.count("\n") == 1


def test_a_missing_file() -> None:
    with pytest.raises(CasinoError, match=r"there is no file nowhere\.py"):
        make_agent("nowhere.py:Bot", Rules(), 2)
