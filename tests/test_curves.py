"""`casino curves`: values of runs beside each other, a picture, and one line where that cannot be."""

import pytest

from agents.cli import main
from agents.curves import Curve, read_curve

TEXT = """decisions,loss/kl,margin/counter,margin/counter_low,margin/counter_high
100,0.1,,,
200,0.2,-0.5,-0.75,-0.25
300,0.3,,,
400,0.4,1.25,1.0,1.5
"""


@pytest.fixture
def runs(tmp_path):
    for name, text in (("one", TEXT), ("two", TEXT.replace("400,", "500,"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.csv").write_text(text)
    return tmp_path / "one", tmp_path / "two"


def test_values_are_read_where_they_were_measured(runs):
    assert read_curve(runs[0], "margin/counter") == Curve(
        "one", [200, 400], [-0.5, 1.25], [-0.75, 1.0], [-0.25, 1.5]
    )
    assert read_curve(runs[0], "loss/kl") == Curve("one", [100, 200, 300, 400], [0.1, 0.2, 0.3, 0.4], [], [])


def test_runs_stand_beside_each_other_and_are_drawn(runs, capsys):
    picture = runs[0].parent / "curves.png"
    assert main(["curves", *map(str, runs), "--plot", str(picture)]) == 0
    lines = [line.replace("│", " ").split() for line in capsys.readouterr().out.splitlines()]
    assert ["200", "-0.500", "-0.500"] in lines and ["400", "+1.250"] in lines and ["500", "+1.250"] in lines
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "text", "reason"),
    [
        (
            "nowhere",
            None,
            "nowhere/metrics.csv: No such file or directory; valid: the folder of a training run",
        ),
        ("one --metric loss/secret", None, "no metric 'loss/secret'; valid: loss/kl, margin/counter"),
        ("one", "decisions,margin/counter\n1,\n", "'margin/counter' has not been measured yet"),
        ("one", "decisions,margin/counter\n1,x\n", "metrics.csv: damaged"),
        ("one --plot a.txt", None, "--plot a.txt: valid: a file that ends in .png"),
    ],
)
def test_what_is_wrong_is_one_line(runs, monkeypatch, capsys, words, text, reason):
    monkeypatch.chdir(runs[0].parent)
    if text:
        (runs[0] / "metrics.csv").write_text(text)
    assert main(["curves", *words.split()]) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1
