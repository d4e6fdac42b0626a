"""What these pages take from the code: pictures of the examples in rules.md, and tables. `make docs` runs it.

An example is a picture, then a block of text: a position (R9, partial) in its first line, then moves, each as
`legal MOVE why`, `illegal MOVE why`, or `played MOVE`, whose outcome a second picture shows. A table stands
between `<!-- table: NAME -->` and `<!-- end -->`, and is written anew there.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from agents.files import write_text
from agents.metrics import METRICS
from agents.registry import KINDS, LADDER
from casino_env import Position
from casino_env.manual import Table, block_table, state_table, token_table

FOLDER = Path(__file__).parent
RULES = FOLDER / "rules.md"
EXAMPLE = re.compile(r"!\[[^]]*\]\((rules/[\w-]+)\.svg\)\n\n```text\n(.*?)```", re.DOTALL)
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


class Example(NamedTuple):
    """A position of rules.md and what is said of moves in it."""

    picture: str  # path in this folder, without its ending
    position: Position
    verdicts: list[tuple[str, str]]  # legal, illegal or played; the move


def examples() -> list[Example]:
    """The examples of rules.md in order."""
    found = []
    for picture, text in EXAMPLE.findall(RULES.read_text(encoding="utf-8")):
        first, *lines = text.splitlines()
        verdicts = [(line.split()[0], line.split()[1]) for line in lines]
        found.append(Example(picture, Position.parse(first, partial=True), verdicts))
    return found


def pictures() -> dict[Path, str]:
    """Each picture of rules.md, as the code draws it; all hands face up."""
    drawn = {}
    for name, position, verdicts in examples():
        seats = range(position.players)
        drawn[FOLDER / f"{name}.svg"] = position.svg(seats)
        for verdict, move in verdicts:
            if verdict == "played":
                drawn[FOLDER / f"{name}-after.svg"] = position.play(move).svg(seats)
    return drawn


def pages() -> dict[Path, str]:
    """Each page that has tables, with the tables as the code has them."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
    return {path: TABLE.sub(_write_table, text) for path, text in texts.items() if TABLE.search(text)}


def metric_table() -> Table:
    """Names and meanings of the metrics; those of one agent of the ladder stand for those of all."""
    first, *others = LADDER
    rows: Table = [("metric", "what it is")]
    for name, meaning in METRICS.items():
        if not any(f"/{other}" in name for other in others):
            rows.append((f"`{name}`".replace(f"/{first}", "/AGENT"), meaning.replace(first, "AGENT")))
    return rows


def agent_table() -> Table:
    """Names of agents and the options of each."""
    rows: Table = [("agent", "options")]
    rows += [
        (f"`{name}`", ", ".join(f"`{option}`" for option in kind.options)) for name, kind in KINDS.items()
    ]
    return rows


TABLES: dict[str, Callable[[], Table]] = {
    "agents": agent_table,
    "metrics": metric_table,
    "observation": block_table,
    "state": state_table,
    "tokens": token_table,
}


def _write_table(found: re.Match[str]) -> str:
    head, *rows = TABLES[found[2]]()
    lines = [head, ("---",) * len(head), *rows]
    return found[1] + "".join(f"| {' | '.join(cells)} |\n" for cells in lines) + found[3]


if __name__ == "__main__":
    for path, text in {**pictures(), **pages()}.items():
        write_text(path, text)
