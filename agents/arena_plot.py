"""The ratings of a competition as a picture. Needs matplotlib: the extra `plots`."""

from importlib.util import find_spec
from pathlib import Path

from agents.arena_result import RATED, ArenaResult
from agents.arena_tables import ranked, short_names
from agents.tally import Estimate
from casino_env.errors import CasinoError

WIDTH, ROW, HEAD = 9.0, 0.35, 1.3  # inches
DOTS = 150  # an inch


def check_plot(path: Path, n_agents: int) -> None:
    """CasinoError, before anything is played, if the ratings cannot be drawn to the file."""
    if n_agents < RATED:
        raise CasinoError(f"--plot shows ratings, of {RATED} agents or more; {n_agents} given")
    check_png(path)


def check_png(path: Path) -> None:
    """CasinoError if nothing can be drawn to the file."""
    if path.suffix.lower() != ".png":
        raise CasinoError(f"--plot {path}: valid: a file that ends in .png")
    if find_spec("matplotlib") is None:
        raise CasinoError("--plot needs matplotlib: pip install 'royal-casino-lab[plots]'")


def plot_ratings(result: ArenaResult, path: Path) -> None:
    """Both ratings of every agent with their intervals, best on top, as a PNG of any name."""
    from matplotlib.figure import Figure  # loads much

    order = ranked(result)
    by_name = {rating.agent: rating for rating in result.ratings}
    figure = Figure(figsize=(WIDTH, HEAD + ROW * len(order)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    unit = "points a deal" if result.objective == "deal" else "of a match"
    panels = (
        (left, "Elo (Bradley-Terry)", [by_name[name].elo for name in order]),
        (right, f"margin rating ({unit})", [by_name[name].margin for name in order]),
    )
    for axes, label, values in panels:
        reach = [[_reach(value)[end] for value in values] for end in (0, 1)]
        axes.errorbar([value.mean for value in values], range(len(order)), xerr=reach, fmt="o", capsize=3)
        axes.axvline(0, color="0.7", linewidth=1, zorder=0)
        axes.grid(axis="x", color="0.9")
        axes.set_xlabel(label)
    names = short_names(result.agents)
    left.set_yticks(range(len(order)), [names[name] for name in order], parse_math=False)
    left.invert_yaxis()
    title = f"{result.rules}, {result.players} players, {result.decks:,} a pairing, 95 % intervals"
    figure.suptitle(title, fontsize=10, parse_math=False)
    figure.savefig(path, dpi=DOTS, format="png")


def _reach(value: Estimate) -> tuple[float, float]:
    """How far the interval goes below the mean and above it."""
    if value.low is None or value.high is None:
        return 0.0, 0.0
    return max(0.0, value.mean - value.low), max(0.0, value.high - value.mean)
