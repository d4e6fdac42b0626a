"""The result of a competition as tables for people, and as rows for a spreadsheet."""

import csv
import sys
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from pathlib import PurePath
from statistics import NormalDist
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.arena_result import ArenaResult, Pairing
from agents.registry import CHECKPOINT_SUFFIX
from agents.sprt import Sprt
from agents.tally import NORMAL_95, Estimate

WIDEST = 10_000  # columns where the output is no terminal: as many as a table needs
NAME, CELL = 24, 16  # columns of a name and of a cell, when a table is split to fit a terminal
CSV_COLUMNS = (
    *("agent", "opponent", "rules", "players", "objective", "decks", "games", "margin", "low", "high"),
    *("win", "draw", "loss", "residual", "residual_low", "residual_high"),
)


def print_result(result: ArenaResult) -> None:
    """All tables that the competition has something for, and a line for what should be known beside."""
    console = Console()
    if not console.is_terminal:
        console.width = WIDEST
    for table in tables(result, console.width):
        console.print(table)
    for line in notes(result):
        print(line)
    for line in complaints(result):
        print("casino:", line, file=sys.stderr)


def tables(result: ArenaResult, width: int = WIDEST) -> list[Table]:
    """Standings and seats; with three agents or more also who did what against whom, in parts that fit."""
    found = [result_table(result), _seats(result)]
    if result.ratings:
        title = "margin of the row against the column"
        found += _pairwise(result, title, lambda pairing: _cell(pairing.margin), width)
    if any(pairing.residual for pairing in result.pairings):
        title = "residual: margin beyond the difference of the margin ratings; * beyond chance"
        found += _pairwise(result, title, lambda pairing: _residual_cell(result, pairing), width)
    return found


def result_table(result: ArenaResult) -> Table:
    """The standings, best agent first where there are ratings."""
    ratings = {rating.agent: rating for rating in result.ratings}
    headings = ["Elo", "margin rating", "margin"] if ratings else ["margin", "95 % interval"]
    table = _new_table(_title(result), "agent", *headings, "win", "draw", "loss")
    names = short_names(result.agents)
    for name in ranked(result):
        i = result.agents.index(name)
        margin = Estimate(result.margin[i], result.low[i], result.high[i])
        shares = (f"{part[i]:.1%}" for part in (result.win, result.draw, result.loss))
        if ratings:
            row = [_cell(ratings[name].elo, 0), _cell(ratings[name].margin), _cell(margin)]
        else:
            row = [_signed(margin.mean, 3), _interval(margin)]
        table.add_row(Text(names[name]), *row, *shares)
    return table


def notes(result: ArenaResult) -> list[str]:
    """Cycles, and the verdict of a sequential test."""
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
        f"{late['calls']:,} calls, up to {late['worst']:.3g} ms a move"
        for late in result.late
    ]
    cut = f"{result.cut_lists} lists of legal moves were cut at their bound"
    return lines + ([cut] if result.cut_lists else [])


def csv_text(result: ArenaResult) -> str:
    """A row for each agent in each pairing, as CSV with a head line (`CSV_COLUMNS`)."""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(CSV_COLUMNS)
    for told in _both_ways(result.pairings):
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


def ranked(result: ArenaResult) -> list[str]:
    """The agents, best first where they are rated, else as they were named."""
    elo = {rating.agent: rating.elo.mean for rating in result.ratings}
    return sorted(result.agents, key=lambda name: -elo.get(name, 0))


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Of a file its own name and its folder's (a checkpoint's run), or more where that is not enough to tell
    the agents apart; other names as they are."""
    for parts in range(2, 2 + max(len(PurePath(name).parts) for name in names)):
        short = {name: _short_name(name, parts) for name in names}
        if len(set(short.values())) == len(short):
            return short
    return {name: name for name in names}


def _short_name(name: str, parts: int) -> str:
    for suffix in (CHECKPOINT_SUFFIX, ".py"):
        path, found, options = name.partition(suffix)
        if found:
            folders = [part for part in PurePath(path).parts if part != "checkpoints"]
            return "/".join(folders[-parts:]) + (suffix if suffix == ".py" else "") + options
    return name


def _title(result: ArenaResult) -> str:
    games, decks = ("matches", "matches") if result.objective == "match" else ("deals", "decks")
    parts = [result.rules, f"{result.players} players", f"seed {result.seed}"]
    if result.ratings:
        parts.append(result.format)
    parts.append(f"{result.decks:,} {decks}, each in {result.seatings} seatings")
    if result.fresh:
        parts.append(f"{result.fresh / result.seconds:,.0f} {games} a second")
    return ", ".join(parts)


def _seats(result: ArenaResult) -> Table:
    sides = len(result.by_seat[0])
    seats = ["+".join(str(seat) for seat in range(side, result.players, sides)) for side in range(sides)]
    seats[0] += " (deals first)" if result.objective == "match" else " (deals)"
    table = _new_table("margin by seat", "agent", *(f"seat {seat}" for seat in seats))
    names = short_names(result.agents)
    for name in ranked(result):
        table.add_row(Text(names[name]), *map(_cell, result.by_seat[result.agents.index(name)]))
    if result.seat_gain:
        first, second = (names[name] for name in result.agents)
        table.add_row(Text(f"{first} − {second}"), *map(_cell, result.seat_gain))
    return table


def _pairwise(result: ArenaResult, title: str, cell: Callable[[Pairing], str], width: int) -> list[Table]:
    """Every agent against every other, in tables of so many columns as fit the width."""
    cells = {told.agents: cell(told) for told in _both_ways(result.pairings)}
    order, names = ranked(result), short_names(result.agents)
    columns, found = max(1, (width - NAME) // CELL), []
    for first in range(0, len(order), columns):
        others = order[first : first + columns]
        numbers = map(str, range(first + 1, first + 1 + len(others)))
        table = _new_table(title, "agent", *numbers)
        for number, name in enumerate(order, 1):
            row = (cells.get((name, other), "") for other in others)
            table.add_row(Text(f"{number} {names[name]}"), *row)
        found.append(table)
    return found


def _both_ways(pairings: Iterable[Pairing]) -> list[Pairing]:
    """Each pairing, told of its first agent and of its second."""
    return [told for pairing in pairings for told in (pairing, pairing.reversed())]


def _new_table(title: str, agent: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(agent, overflow="fold", min_width=8)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _residual_cell(result: ArenaResult, pairing: Pairing) -> str:
    """With a star if it is beyond chance at 5 % for all pairings together (Bonferroni)."""
    value = pairing.residual
    if value is None or value.low is None or value.high is None:
        return _cell(value)
    far = NormalDist().inv_cdf(1 - 0.025 / len(result.pairings)) / NORMAL_95
    return _cell(value) + ("*" if abs(value.mean) > far * (value.high - value.low) / 2 else "")


def _cell(value: Estimate | None, digits: int = 2) -> str:
    """Mean and half the width of the interval."""
    if value is None:
        return ""
    if value.low is None or value.high is None:
        return _signed(value.mean, digits)
    return f"{_signed(value.mean, digits)} ±{(value.high - value.low) / 2:.{digits}f}"


def _interval(value: Estimate) -> str:
    if value.low is None or value.high is None:
        return "-"
    return f"{_signed(value.low, 3)} to {_signed(value.high, 3)}"


def _signed(value: float, digits: int) -> str:
    """With its sign, but no -0.00."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def _sprt_line(told: dict[str, Any], unit: str) -> str:
    """The verdict in words."""
    sprt = Sprt(*(told[name] for name in ("low", "high", "alpha", "beta")))
    claims = {"H0": f"{sprt.low:+g} {unit} or less", "H1": f"{sprt.high:+g} {unit} or more"}
    accepted = told["accepted"]
    says = f"{accepted}, {claims[accepted]} for the first agent" if accepted else "no verdict"
    lower, upper = sprt.bounds
    ratio = f"log-likelihood ratio {told['ratio']:+.2f}; {lower:+.2f}, {upper:+.2f}"
    return f"SPRT after {told['decks']} decks: {says} ({ratio})"
