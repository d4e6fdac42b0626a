"""The result of a competition as tables for people, and as rows for a spreadsheet."""

import csv
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.arena_result import ArenaResult, Pairing
from agents.registry import CHECKPOINT_SUFFIX
from agents.sprt import Sprt
from agents.tally import Estimate

WIDE = 200  # columns, where the output is no terminal
CSV_COLUMNS = (
    *("agent", "opponent", "rules", "players", "objective", "decks", "games", "margin", "low", "high"),
    *("win", "draw", "loss", "residual", "residual_low", "residual_high"),
)


def print_result(result: ArenaResult) -> None:
    """All tables that the competition has something for, and a line for what should be known beside."""
    console = Console()
    if not console.is_terminal:
        console.width = WIDE
    for table in tables(result):
        console.print(table)
    for line in notes(result):
        print(line)
    for line in complaints(result):
        print("casino:", line, file=sys.stderr)


def tables(result: ArenaResult) -> list[Table]:
    """Standings and seats; with three agents or more also who did what against whom."""
    several = [_crosstable(result), _residuals(result)] if result.ratings else []
    return [result_table(result), _seats(result), *several]


def result_table(result: ArenaResult) -> Table:
    """The standings, best agent first where there are ratings."""
    ratings = {rating.agent: rating for rating in result.ratings}
    headings = ["margin", "95 % interval", "win", "draw", "loss"]
    if ratings:
        headings = ["Elo", "95 %", "margin rating", "95 %", *headings]
    table = _new_table(_title(result), "agent", *headings)
    for name in ranked(result):
        i = result.agents.index(name)
        margin = Estimate(result.margin[i], result.low[i], result.high[i])
        shares = (f"{part[i]:.1%}" for part in (result.win, result.draw, result.loss))
        row = [f"{margin.mean:+.3f}", _interval(margin, "+.3f"), *shares]
        if ratings:
            elo, rated = ratings[name].elo, ratings[name].margin
            strength = f"{elo.mean:+.0f}", _interval(elo, "+.0f"), f"{rated.mean:+.2f}"
            row = [*strength, _interval(rated, "+.2f"), *row]
        table.add_row(Text(short_name(name)), *row)
    return table


def notes(result: ArenaResult) -> list[str]:
    """The verdict of a sequential test, and cycles."""
    lines = [f"cycle: {' beats '.join([*cycle, cycle[0]])}" for cycle in result.cycles]
    unit = "points" if result.objective == "deal" else "of a match"
    return lines + ([_sprt_line(result.sprt, unit)] if result.sprt else [])


def complaints(result: ArenaResult) -> list[str]:
    """Who failed, who was late, and lists that were cut."""
    lines = [
        f"agent '{failure['agent']}' lost {failure['games']:,} games by failing: it {failure['reason']}"
        for failure in result.failures
    ]
    lines += [
        f"agent '{late['agent']}' took longer than the move time in {late['over']:,} of "
        f"{late['calls']:,} calls, up to {late['worst']:.1f} ms a move"
        for late in result.late
    ]
    cut = f"{result.cut_lists} lists of legal moves were cut at their bound"
    return lines + ([cut] if result.cut_lists else [])


def csv_text(result: ArenaResult) -> str:
    """A row for each agent in each pairing, as CSV with a head line (`CSV_COLUMNS`)."""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(CSV_COLUMNS)
    for pairing in result.pairings:
        for told in (pairing, pairing.reversed()):
            residual = told.residual
            beyond = (residual.mean, residual.low, residual.high) if residual else ("", "", "")
            rows.writerow(
                [
                    *(*told.agents, result.rules, result.players, result.objective, result.decks),
                    *(result.decks * result.seatings, told.margin.mean, told.margin.low, told.margin.high),
                    *(told.win, told.draw, told.loss, *beyond),
                ]
            )
    return text.getvalue()


def _title(result: ArenaResult) -> str:
    games, decks = ("matches", "matches") if result.objective == "match" else ("deals", "decks")
    speed = result.decks * result.seatings * len(result.pairings) / result.seconds
    parts = [result.rules, f"{result.players} players", f"seed {result.seed}"]
    if result.ratings:
        parts.append(result.format)
    parts.append(f"{result.decks:,} {decks}, each in {result.seatings} seatings")
    return ", ".join([*parts, f"{speed:,.0f} {games} a second"])


def _seats(result: ArenaResult) -> Table:
    sides = len(result.by_seat[0])
    seats = ["+".join(str(seat) for seat in range(side, result.players, sides)) for side in range(sides)]
    seats[0] += " (deals first)" if result.objective == "match" else " (deals)"
    table = _new_table("margin by seat", "agent", *(f"seat {seat}" for seat in seats))
    for name in ranked(result):
        table.add_row(Text(short_name(name)), *map(_cell, result.by_seat[result.agents.index(name)]))
    return table


def _crosstable(result: ArenaResult) -> Table:
    return _pairwise(result, "margin of the row against the column", lambda pairing: pairing.margin)


def _residuals(result: ArenaResult) -> Table:
    title = "residual: margin beyond the difference of the margin ratings; * beyond chance"
    return _pairwise(result, title, lambda pairing: pairing.residual, is_marked=True)


def _pairwise(
    result: ArenaResult, title: str, value: Callable[[Pairing], Estimate | None], is_marked: bool = False
) -> Table:
    """A table of every agent against every other."""
    told = [one for pairing in result.pairings for one in (pairing, pairing.reversed())]
    cells = {one.agents: _cell(value(one), is_marked) for one in told}
    order = ranked(result)
    table = _new_table(title, "agent", *map(str, range(1, len(order) + 1)))
    for number, name in enumerate(order, 1):
        row = (cells.get((name, other), "") for other in order)
        table.add_row(Text(f"{number} {short_name(name)}"), *row)
    return table


def _new_table(title: str, agent: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(agent, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def ranked(result: ArenaResult) -> list[str]:
    """The agents, best first where they are rated, else as they were named."""
    elo = {rating.agent: rating.elo.mean for rating in result.ratings}
    return sorted(result.agents, key=lambda name: -elo.get(name, 0))


def short_name(name: str) -> str:
    """Of a file its own name and its folder's (a checkpoint's run) only; other names as they are."""
    path, suffix, options = name.partition(CHECKPOINT_SUFFIX)
    if not suffix:
        path, suffix, options = name.partition(".py:")
        options = suffix + options
    parts = [part for part in Path(path).parts if part != "checkpoints"]
    return "/".join(parts[-2:]) + options if suffix else name


def _cell(value: Estimate | None, is_marked: bool = False) -> str:
    """Mean and half the width of the interval."""
    if value is None:
        return ""
    if value.low is None or value.high is None:
        return f"{value.mean:+.2f}"
    mark = "*" if is_marked and not value.low <= 0 <= value.high else ""
    return f"{value.mean:+.2f} ±{(value.high - value.low) / 2:.2f}{mark}"


def _interval(value: Estimate, form: str) -> str:
    return "-" if value.low is None else f"{value.low:{form}} to {value.high:{form}}"


def _sprt_line(told: dict[str, Any], unit: str) -> str:
    """The verdict in words."""
    sprt = Sprt(*(told[name] for name in ("low", "high", "alpha", "beta")))
    claims = {"H0": f"{sprt.low:+g} {unit} or less", "H1": f"{sprt.high:+g} {unit} or more"}
    accepted = told["accepted"]
    says = f"{accepted}, {claims[accepted]} for the first agent" if accepted else "no verdict"
    lower, upper = sprt.bounds
    ratio = f"log-likelihood ratio {told['ratio']:+.2f}; {lower:+.2f}, {upper:+.2f}"
    return f"SPRT after {told['decks']} decks: {says} ({ratio})"
