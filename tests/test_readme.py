"""The README's Python examples run as they stand, and its commands name what exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.splitlines()[0])
def test_python_example_runs(code):
    exec(compile(code, "README.md", "exec"), {})


def test_the_pettingzoo_example_plays_a_deal_in_ten_lines(capsys):
    assert len(EXAMPLES[0].strip().splitlines()) <= 10
    exec(compile(EXAMPLES[0], "README.md", "exec"), {})
    first, second = (line.split() for line in capsys.readouterr().out.splitlines())
    assert {first[0], second[0]} == {"player_0", "player_1"}
    assert float(first[2]) == -float(second[2])


def test_files_and_make_targets_that_it_names_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make ([a-z-]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for path in re.findall(r"\b(?:configs|casino_env|tests|agents)/\w+\.\w+", README):
        assert (ROOT / path).is_file(), path
