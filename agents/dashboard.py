"""What a terminal shows of a run while it trains: progress, time left, and the few numbers that matter."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from agents.config import BudgetConfig
from agents.registry import LADDER

# What is shown, by metric: its name for people and how it is written.
NUMBERS = {
    "loss/entropy": ("entropy", "{:.2f} nats"),
    "loss/kl": ("moved by", "{:.4f} nats"),
    "value/explained": ("critic explains", "{:.0%}"),
    "moves/build": ("builds", "{:.1%} of moves"),
    "league/rating": ("Elo rating", "{:.0f}"),
    "regret/per_deal": ("last-hand regret", "{:.2f} points a deal"),
    "time/decisions_per_second": ("speed", "{:,.0f} decisions/s"),
}


class Dashboard:
    """Shows numbers as they come. Where nobody watches a terminal, a line for each measurement is left."""

    def __init__(self, console: Console, budget: BudgetConfig) -> None:
        self._console, self._budget = console, budget
        self._values: dict[str, float] = {}
        self._live: Live | None = None
        columns = TextColumn("training"), BarColumn(), TextColumn("{task.percentage:>3.0f}%")
        times = TimeElapsedColumn(), TextColumn("elapsed, {task.fields[left]} left")
        self._progress = Progress(*columns, *times)
        self._task = self._progress.add_task("training", total=1.0, left="?")

    @contextmanager
    def shown(self) -> Iterator["Dashboard"]:
        """Keep the dashboard on the screen within the block, if the console is one."""
        if not self._console.is_terminal or self._console.quiet:
            yield self
            return
        with Live(self._layout(), console=self._console, refresh_per_second=4) as self._live:
            yield self
        self._live = None

    def show(self, counters: dict[str, int], values: dict[str, float]) -> None:
        """The numbers of an update; some come seldom, and stay until they come again."""
        self._values |= values
        done = self.share_done(counters)
        left = _clock(counters["seconds"] * (1 - done) / done) if done else "?"
        self._progress.update(self._task, completed=done, left=left)
        if self._live:
            self._live.update(self._layout())
        margins = margins_text(values)
        if margins:
            line = f"{counters['decisions']:>14,} decisions: {margins}"
            self._console.print(line, highlight=False, soft_wrap=True)

    def share_done(self, counters: dict[str, int]) -> float:
        """How much of the budget is used up, of what will be first."""
        decisions = counters["decisions"] / self._budget.decisions
        return min(1.0, max(decisions, counters["seconds"] / 60 / self._budget.minutes))

    def _layout(self) -> Group:
        table = Table.grid(padding=(0, 2))
        for name, (label, form) in NUMBERS.items():
            if name in self._values:
                table.add_row(label, form.format(self._values[name]))
        for rung in LADDER:
            if f"margin/{rung}" in self._values:
                mean, low, high = (self._values[f"margin/{rung}{end}"] for end in ("", "_low", "_high"))
                table.add_row(f"against {rung}", f"{mean:+.2f} points a deal ({low:+.2f} to {high:+.2f})")
        return Group(table, self._progress)


def margins_text(values: dict[str, float]) -> str:
    """The margins among the values, for people; empty if there are none."""
    margins = {rung: values[f"margin/{rung}"] for rung in LADDER if f"margin/{rung}" in values}
    return ", ".join(f"{margin:+.2f} against {rung}" for rung, margin in margins.items())


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
