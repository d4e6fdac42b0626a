"""What a competition comes to, from rewards that are given: every number, table, line and row by hand."""

import csv
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from agents.arena_result import ArenaResult, Games, summarise
from agents.arena_tables import complaints, csv_text, notes, short_names, tables
from agents.contestant import Pace
from agents.matchup import Played, Setting, two_seatings
from agents.tournament import choose_pairings
from casino_env.state import NOBODY
from tests.helpers_agents import ROYAL

NAMES = ["a", "b", "c"]
PACE = Pace(0, 0, 0.0)


def played(first: list[list[float]], second: list[list[float]], **others: object) -> Played:
    """Rewards of side 0 in both seatings, [D] each; side 1 has the opposite."""
    rewards = np.array([[[reward, -reward] for reward in side] for side in (first, second)])
    nobody = np.full(rewards.shape[:2], NOBODY)
    told = {"failed": nobody, "reasons": ("", ""), "paces": (PACE, PACE), "cut_lists": 0, **others}
    return Played(rewards=rewards, **told)


def result(*pairings: Played, order: list[str] | None = None) -> ArenaResult:
    """Of agents a, b and c (of two, a and b), in the given order."""
    names = NAMES[: 2 if len(pairings) == 1 else 3]
    games = Games(names, choose_pairings(len(names)), list(pairings))
    return summarise(games, order or names, Setting(ROYAL), None, False, fresh=4, seconds=2.0)


def test_two_agents_by_hand() -> None:
    """Deck 1: a wins 7 and 3 (as side 1). Deck 2: a and b are level, then b wins 3 as side 0."""
    told = result(played([7, 0], [-3, 3]))
    assert told.margin == [(5 - 1.5) / 2, -(5 - 1.5) / 2]
    assert (told.win, told.draw, told.loss) == ([0.5, 0.25], [0.25, 0.25], [0.25, 0.5])
    assert told.win_share == [0.625, 0.375]
    assert [[seat.mean for seat in seats] for seats in told.by_seat] == [[3.5, 0.0], [0.0, -3.5]]
    assert (told.decks, told.seatings, told.fresh) == (2, 2, 8)
    assert told.ratings == [] and told.pairings[0].residual is None
    turned = result(played([7, 0], [-3, 3]), order=["b", "a"])
    assert turned.margin == told.margin[::-1] and turned.win == told.win[::-1]
    assert turned.by_seat == told.by_seat[::-1]
    assert turned.pairings[0].agents == ("b", "a") and turned.pairings[0].win == 0.25


def test_at_three_seats_it_is_told_what_the_first_gets_beyond_the_second_there() -> None:
    """Side 0 is good, side 2 bad; a gets one point more than b on each side, on deck 2 two more."""
    seatings = two_seatings(3)
    seat_worth = np.array([2.0, 0.0, -2.0])
    lead = np.where(seatings == 0, 0.5, -0.5)[:, None] * np.array([1.0, 2.0])[:, None]
    games = Games(NAMES[:2], choose_pairings(2), [played([0, 0], [0, 0])._replace(rewards=seat_worth + lead)])
    for order, sign in ((["a", "b"], 1), (["b", "a"], -1)):
        told = summarise(games, order, Setting(ROYAL, 3), None, False, fresh=6, seconds=1.0)
        assert [gain.mean for gain in told.seat_gain] == [1.5 * sign] * 3
        shown = Console(width=100, record=True, file=StringIO())
        shown.print(*tables(told, 100))
        assert f"{order[0]} − {order[1]}" in shown.export_text()
    assert result(played([7, 0], [-3, 3])).seat_gain == []


def circle() -> ArenaResult:
    """a beats b, b beats c, c beats a, by two points and a bit."""
    ahead = played([2.0, 2.1, 1.9], [-2.0, -2.1, -1.9])
    behind = played([-2.0, -2.1, -1.9], [2.0, 2.1, 1.9])
    return result(ahead, behind._replace(cut_lists=2), ahead)


def test_a_circle_is_told() -> None:
    told = circle()
    assert told.cycles == [["a", "b", "c"]]
    assert notes(told) == ["cycle: a beats b beats c beats a"]
    assert [pairing.residual.mean for pairing in told.pairings if pairing.residual] == [2, -2, 2]
    text = printed(told, 200)
    assert text.count("*") == 6 + 1  # every cell, and the title that explains it
    assert complaints(told) == ["2 lists of legal moves were cut at their bound"]


def printed(told: ArenaResult, width: int) -> str:
    """All tables as text."""
    console = Console(width=width, file=StringIO(), color_system=None)
    for table in tables(told, width):
        console.print(table)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100])
def test_tables_fit_a_terminal(width: int) -> None:
    text = printed(circle(), width)
    assert "…" not in text and max(map(len, text.splitlines())) <= width
    names = [f"agent number {i}" for i in range(12)]
    crowd = Games(names, choose_pairings(12), [played([1.0, 2.0], [0.5, 1.0])] * 66)
    many = summarise(crowd, crowd.names, Setting(ROYAL), None, False, fresh=0, seconds=1.0)
    text = printed(many, width)
    assert "…" not in text and max(map(len, text.splitlines())) <= width
    assert text.count("margin of the row") > 1 and "a second" not in text  # all from a store


def test_rows_of_the_csv_file() -> None:
    rows = list(csv.DictReader(StringIO(csv_text(circle()))))
    assert [(row["agent"], row["opponent"], float(row["margin"])) for row in rows] == [
        ("a", "b", pytest.approx(2)),
        ("b", "a", pytest.approx(-2)),
        ("a", "c", pytest.approx(-2)),
        ("c", "a", pytest.approx(2)),
        ("b", "c", pytest.approx(2)),
        ("c", "b", pytest.approx(-2)),
    ]
    assert [(row["win"], row["loss"]) for row in rows[:2]] == [("1.0", "0.0"), ("0.0", "1.0")]
    assert [(row["decks"], row["games"]) for row in rows[:1]] == [("3", "6")]
    first, turned = rows[:2]
    ends = [float(first[name]) for name in ("residual", "residual_low", "residual_high")]
    assert [-float(turned[name]) for name in ("residual", "residual_high", "residual_low")] == ends


def test_failures_and_late_ones_are_of_their_agent() -> None:
    both, first = np.array([[0], [1]]), np.array([[0], [0]])
    lost = played([-11.0], [11.0], failed=first, reasons=("raised", ""), paces=(Pace(9, 0, 1.0), PACE))
    late = played([1.0], [1.0], failed=both, reasons=("slept", "raised"), paces=(Pace(5, 2, 30.0), PACE))
    told = result(lost, late, played([0.0], [0.0], paces=(Pace(5, 1, 20.0), Pace(1, 1, 0.00012))))
    assert told.failures == [
        {"agent": "a", "games": 3, "reason": "raised"},
        {"agent": "c", "games": 1, "reason": "raised"},
    ]
    assert [(one["agent"], one["calls"], one["over"], one["worst"]) for one in told.late] == [
        ("a", 14, 2, 30.0),
        ("b", 5, 1, 20.0),
        ("c", 1, 1, 0.00012),
    ]
    assert complaints(told)[-1].endswith("in 1 of 1 calls, up to 0.00012 ms a move")


def test_short_names_tell_agents_apart() -> None:
    runs = [f"runs/x/checkpoints/step_{end}" for end in ("1.safetensors", "2.safetensors:greedy=yes")]
    runs.append("greedy")
    same = ["one/r/bots.py:First", "two/r/bots.py:First", "two/r/bots.py:First#2"]
    assert list(short_names(same).values()) == same
