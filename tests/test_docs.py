"""The pages of docs/: pictures and tables are what the code makes, examples are as said, programs run."""

import json
import re
from pathlib import Path

import pytest

from agents.cli import main
from casino_env import IllegalMove
from docs import generate

NOTEBOOKS = generate.FOLDER.parent / "notebooks"
PROGRAMS = {
    page.name: re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for page in sorted(generate.FOLDER.glob("*.md"))
}


def test_pictures_and_tables_are_what_the_code_makes() -> None:
    drawn = generate.pictures()
    for path, text in {**drawn, **generate.pages()}.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: make docs writes it anew"
    assert set(drawn) == set((generate.FOLDER / "rules").iterdir())


def test_every_table_is_of_a_page() -> None:
    names = [name for text in generate.pages().values() for _, name, _ in generate.TABLE.findall(text)]
    assert sorted(names) == sorted(generate.TABLES)


@pytest.mark.parametrize("example", generate.examples(), ids=lambda example: example.picture)
def test_moves_of_an_example_are_as_it_says(example: generate.Example) -> None:
    legal = [str(move) for move in example.position.legal_moves()]
    assert {verdict for verdict, _ in example.verdicts} <= {"legal", "illegal", "played"}
    for verdict, move in example.verdicts:
        assert (move in legal) == (verdict != "illegal"), move
        if verdict == "illegal":
            with pytest.raises(IllegalMove):
                example.position.play(move)


@pytest.mark.parametrize("page", [page for page, programs in PROGRAMS.items() if programs])
def test_programs_of_a_page_run(page: str) -> None:
    names: dict[str, object] = {"__name__": "docs"}
    for program in PROGRAMS[page]:
        exec(compile(program, page, "exec"), names)


def test_the_tokens_of_the_example_are_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    page = (generate.FOLDER / "environment.md").read_text(encoding="utf-8")
    exec(compile(PROGRAMS["environment.md"][0], "environment.md", "exec"), {})
    assert capsys.readouterr().out == re.findall(r"```text\n(.*?)```", page, re.DOTALL)[0]


def test_the_agent_of_the_guide_beats_random(tmp_path: Path) -> None:
    program, *_ = (code for code in PROGRAMS["agents.md"] if "class MostCards" in code)
    (tmp_path / "most_cards.py").write_text(program, encoding="utf-8")
    result = tmp_path / "result.json"
    spec = f"{tmp_path / 'most_cards.py'}:MostCards"
    assert main(["arena", spec, "random", "--deals", "50", "--quiet", "--json", str(result)]) == 0
    assert json.loads(result.read_text(encoding="utf-8"))["low"][0] > 0


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_rendered_notebook_has_the_cells_of_the_notebook(path: Path) -> None:
    rendered = (generate.FOLDER / "notebooks" / f"{path.stem}.md").read_text(encoding="utf-8")
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert "".join(cell["source"]).strip() in rendered, f"make notebooks writes {path.stem}.md anew"
