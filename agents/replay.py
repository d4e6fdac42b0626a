"""`casino replay`: a recorded game as one page, to be stepped through in a browser without a network.

Owns what the page says of each position; how it looks and moves is in `replay_page.html`.
"""

import json
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from agents.command import CommandParser, progress_bar
from agents.files import check_target, write_text
from agents.match_texts import side_name, special_count
from agents.records import DealRecord, GameRecord, read_records
from agents.registry import CHECKPOINT_SUFFIX, make_agent
from casino_env.arguments import check_count
from casino_env.errors import CasinoError
from casino_env.position import DealPoints, Position
from casino_env.svg import dark_style, sign_symbols, to_inner_svg
from casino_env.table_drawing import DARK, draw_table, tall_layout

PAGE = Path(__file__).with_name("replay_page.html")
CHAMPION, NOBODY = "champion", "none"
WORLDS, MOST_WORLDS = 32, 10_000

DESCRIPTION = f"""Write a recorded game as one self-contained page: every position drawn, the moves in text
form, and beside each what an agent thinks of it: how likely it makes the moves, and the points
by which the seat to act ends the deal ahead after them, on average over worlds dealt from what
it sees.

FILE holds records of games, a line each, as `casino arena --records FILE` writes them.
AGENT is {CHAMPION}, the path of a checkpoint *{CHECKPOINT_SUFFIX}, or {NOBODY}."""

EXAMPLES = """examples:
  casino replay games.jsonl
  casino replay games.jsonl --game 7 --agent none -o seventh.html"""


def replay_page(game: GameRecord, analyst: Any = None, advance: Callable[[int], None] | None = None) -> str:
    """The page of a game. `analyst`: an `insight.Analyst` or None; `advance` is told of positions done."""
    steps = []
    for step in _steps(game, analyst):
        steps.append(step)
        if advance:
            advance(1)
    data = json.dumps({"steps": steps, "analyst": analyst and analyst.name}, ensure_ascii=False)
    seats = ", ".join(f"player_{seat} {name}" for seat, name in enumerate(game.agents))
    origin = "" if game.number is None else f"; seed {game.seed}, deck {game.number}"
    texts = {
        "title": "Royal Casino: " + " against ".join(dict.fromkeys(game.agents)),
        "heading": f"Royal Casino ({game.rules})",
        "players": f"{seats}{origin}",
    }
    parts = {name: escape(text) for name, text in texts.items()}
    parts |= {"style": dark_style(DARK), "symbols": sign_symbols(), "data": data.replace("<", "\\u003c")}
    return re.sub("{{([a-z]+)}}", lambda place: parts[place[1]], PAGE.read_text(encoding="utf-8"))


def _steps(game: GameRecord, analyst: Any) -> Iterator[dict[str, Any]]:
    """What the page shows of each position, in order."""
    for number, deal in enumerate(game.deals, 1):
        positions = deal.positions(game.rules, game.players)
        for place, position in enumerate(positions):
            move = deal.moves[place] if place < len(deal.moves) else None
            step: dict[str, Any] = {
                "deal": number,
                "number": place + 1,
                "turn": position.turn,
                "move": move,
                "doing": _doing(game, deal, position, place),
                "svg": to_inner_svg(draw_table(game.rules, position.state, layout=tall_layout)),
            }
            if analyst and not position.is_over:
                insight = analyst.look(position, move, seed=place)
                told = [(name, round(share, 4), round(value, 2)) for name, share, value in insight.moves]
                step["insight"] = {"value": round(insight.value, 2), "moves": told}
            if position.is_over:
                step["points"] = _points(position)
            yield step


def _doing(game: GameRecord, deal: DealRecord, position: Position, place: int) -> str:
    """A sentence on the position: what was played, and by whom."""
    if place < len(deal.moves):
        return f"player_{position.turn} ({game.agents[position.turn]}) plays {deal.moves[place]}"
    if position.is_over:
        return "The deal is over."
    return f"{game.failed} failed, and lost the game." if game.failed else "The record ends here."


def _points(position: Position) -> dict[str, Any]:
    """The table of a deal's points, a row for each item, and how the match stands."""
    settled, points = position.settle(), position.deal_points()
    score = " : ".join(map(str, settled.score))
    names = [f"player_{seat}" for seat in range(position.players)]
    won = "" if settled.winner is None else f"; {side_name(settled.winner, names)} wins a match to"
    target = f"{won or ', of'} {position.rules.table.target}"
    return {
        "sides": [side_name(side, names) for side in range(len(points))],
        "rows": [
            *([item, *(getattr(side, item) for side in points)] for item in DealPoints._fields),
            ["total", *(side.total for side in points)],
        ],
        "score": " ".join([*special_count(position, names), f"Score {score}{target}."]),
    }


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `casino replay`."""
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="see above")
    add("--game", type=int, default=1, metavar="N", help="which game of the file (default: the first)")
    add("--agent", metavar="AGENT", help=f"whose thoughts are shown (default: {CHAMPION}, if there is one)")
    add(
        "--worlds",
        type=int,
        default=WORLDS,
        metavar="W",
        help="worlds played out for the points (default: %(default)s)",
    )
    add("-o", "--output", type=Path, metavar="FILE", help="the page (default: FILE with the ending .html)")
    add("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """`casino replay`: read, think, write the page."""
    worlds, number = check_count("worlds", arguments.worlds, 1), check_count("game", arguments.game, 1)
    if worlds > MOST_WORLDS:
        raise CasinoError(f"worlds={worlds} is not possible; valid: 1 to {MOST_WORLDS}")
    if arguments.file.is_dir():
        raise CasinoError(f"{arguments.file}: that is a folder; valid: a file of records")
    output = arguments.output or arguments.file.with_suffix(".html")
    target = check_target(output, "--output")
    if target == arguments.file.resolve():
        raise CasinoError(f"--output {output}: that is the file of the records; valid: another")
    games = enumerate(read_records(arguments.file), 1)
    game = next((game for place, game in games if place == number), None)
    if game is None:
        raise CasinoError(f"game={number}: {arguments.file} has fewer games")
    analyst = _make_analyst(arguments.agent, game, worlds)
    with progress_bar("positions", arguments.quiet) as progress:
        total = sum(len(deal.moves) + 1 for deal in game.deals)
        task = progress.add_task("positions", total=total)
        page = replay_page(game, analyst, lambda done: progress.advance(task, done))
    write_text(target, page)
    print(output)


def _make_analyst(name: str | None, game: GameRecord, worlds: int) -> Any:
    """Whose thoughts are shown, or None; CasinoError if the agent tells none."""
    if name == NOBODY:
        return None
    from agents.insight import Analyst  # brings torch
    from agents.policy import PolicyAgent

    try:
        agent = make_agent(name or CHAMPION, game.rules, game.players)
    except CasinoError as error:
        if name:
            raise
        print(f"casino: no probabilities are shown: {error}", file=sys.stderr)
        return None
    if not isinstance(agent, PolicyAgent):
        valid = f"{CHAMPION}, a checkpoint's path, {NOBODY}"
        raise CasinoError(f"agent '{name}' tells no probabilities; valid: {valid}")
    return Analyst(agent, game.rules, game.players, worlds)
