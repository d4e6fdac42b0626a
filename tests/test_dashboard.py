"""What a terminal, and what a file, shows of a run."""

import io

from rich.console import Console

from agents.config import BudgetConfig
from agents.dashboard import Dashboard, margins_text

MARGINS = {"margin/greedy": 1.5, "margin/greedy_low": 1.25, "margin/greedy_high": 1.75}
VALUES = {"loss/entropy": 0.5, "loss/kl": 0.001, "moves/build": 0.15, "time/decisions_per_second": 30123.0}


def shown(terminal: bool, *steps: tuple[int, int, dict[str, float]]) -> str:
    output = io.StringIO()
    console = Console(file=output, force_terminal=terminal, width=80, height=24, color_system=None)
    dashboard = Dashboard(console, BudgetConfig(decisions=1000, minutes=10))
    with dashboard.shown():
        for decisions, seconds, values in steps:
            dashboard.show({"updates": 1, "decisions": decisions, "seconds": seconds}, values)
    return output.getvalue()


def test_a_terminal_shows_progress_and_the_numbers_that_matter():
    text = shown(True, (250, 30, VALUES | MARGINS), (500, 60, VALUES))
    for part in ("50%", "0:01:00 left", "0.50 nats", "15.0% of moves", "30,123 decisions/s"):
        assert part in text
    # what was measured stays until it is measured again
    assert "+1.50 points a deal (+1.25 to +1.75)" in text.rpartition("training")[0][-900:]
    assert max(len(line) for line in text.splitlines()) < 1000


def test_a_file_gets_a_line_for_each_measurement():
    assert shown(False, (250, 30, VALUES | MARGINS), (500, 60, VALUES)) == (
        "           250 decisions: +1.50 against greedy\n"
    )


def test_the_time_left_is_that_of_what_ends_first():
    dashboard = Dashboard(Console(quiet=True), BudgetConfig(decisions=1000, minutes=1))
    assert dashboard.share_done({"updates": 1, "decisions": 100, "seconds": 45}) == 0.75
    assert dashboard.share_done({"updates": 1, "decisions": 2000, "seconds": 1}) == 1


def test_no_margins_no_line():
    assert margins_text({"loss/kl": 1.0}) == ""
