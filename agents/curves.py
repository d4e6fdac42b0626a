"""`casino curves`: how a metric of training runs went, as a table and as a picture."""

import csv
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from agents.arena_plot import DOTS, check_png
from agents.command import CommandParser
from agents.files import check_target, write_atomically
from casino_env.errors import CasinoError

LOW, HIGH = "_low", "_high"  # names of a metric's interval end like this
SIZE = (8.0, 4.5)  # inches

DESCRIPTION = """Print a metric of training runs at each of their measurements, and draw it.

RUN is a run's folder. The names of all metrics stand in the first line of its metrics.csv;
what they mean in agents/metrics.py. A metric with an interval is drawn with it."""

EXAMPLES = """examples:
  casino curves runs/quickstart
  casino curves runs/royal-2p runs/royal-2p-2 --metric margin/greedy --plot curves.png"""


class Curve(NamedTuple):
    """A metric of one run, where it was measured."""

    name: str
    decisions: list[int]
    values: list[float]
    lows: list[float]  # of its interval; empty if it has none
    highs: list[float]


def read_curve(run: Path, metric: str) -> Curve:
    """The metric's values in a run's `metrics.csv`.

    Raises CasinoError, naming the file, if there is none, it is damaged, or has no such metric.
    """
    path = run / "metrics.csv"
    names, rows = _read_table(path)
    if metric not in names or "decisions" not in names:
        raise CasinoError(f"{path}: no metric '{metric}'; valid: {', '.join(names[1:])}")
    rows = [row for row in rows if row[metric]]
    columns = [metric, *(metric + end for end in (LOW, HIGH) if metric + end in names)]
    try:
        values = [[float(row[column]) for row in rows] for column in columns]
        decisions = [int(row["decisions"]) for row in rows]
    except (ValueError, TypeError):  # text, or a line that is cut off
        raise CasinoError(f"{path}: damaged") from None
    if not rows:
        raise CasinoError(f"{path}: '{metric}' has not been measured yet")
    lows, highs = values[1:] if len(values) > 2 else ([], [])
    return Curve(run.resolve().name, decisions, values[0], lows, highs)


def _read_table(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The names of the columns, and the rows."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            return list(reader.fieldnames or []), list(reader)
    except OSError as error:
        raise CasinoError(f"{path}: {error.strerror}; valid: the folder of a training run") from None
    except (UnicodeDecodeError, csv.Error):
        raise CasinoError(f"{path}: damaged") from None


def plot_curves(curves: Sequence[Curve], metric: str, path: Path) -> None:
    """All curves in one picture, a PNG of any name."""
    from matplotlib.figure import Figure  # loads much

    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    for curve in curves:
        millions = [decisions / 1e6 for decisions in curve.decisions]
        axes.plot(millions, curve.values, marker=".", label=curve.name)
        if curve.lows:
            axes.fill_between(millions, curve.lows, curve.highs, alpha=0.15)
    axes.set_xlabel("million decisions")
    axes.set_ylabel(metric, parse_math=False)
    axes.grid(color="0.9")
    for text in axes.legend().get_texts():
        text.set_parse_math(False)
    figure.savefig(path, dpi=DOTS, format="png")


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `casino curves`."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folders of training runs")
    parser.add_argument(
        "--metric", default="margin/counter", help="which one (default: %(default)s)", metavar="NAME"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it to FILE, a PNG")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """`casino curves`: read, print, draw."""
    if arguments.plot:
        check_png(arguments.plot)
        check_target(arguments.plot, "--plot")
    curves = [read_curve(run, arguments.metric) for run in arguments.runs]
    Console().print(_table(curves, arguments.metric))
    if arguments.plot:
        target = arguments.plot.resolve()
        write_atomically(target, lambda path: plot_curves(curves, arguments.metric, path))


def _table(curves: Sequence[Curve], metric: str) -> Table:
    table = Table(title=metric)
    table.add_column("decisions", justify="right", no_wrap=True)
    for curve in curves:
        table.add_column(curve.name, justify="right", overflow="fold")
    points = [dict(zip(curve.decisions, curve.values, strict=True)) for curve in curves]
    for decisions in sorted(set().union(*points)):
        cells = [f"{values[decisions]:+.3f}" if decisions in values else "" for values in points]
        table.add_row(f"{decisions:,}", *cells)
    return table
