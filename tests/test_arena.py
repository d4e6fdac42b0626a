"""Competitions: the same numbers in any order, place and number of processes; matches, gauntlets, stores."""

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from io import StringIO
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agents import arena, arena_plot, matchup
from agents.arena import compete, label_agents, margin_against
from agents.arena_result import ArenaResult
from agents.arena_tables import CSV_COLUMNS
from agents.baselines import RandomAgent
from agents.cli import main
from agents.registry import KINDS, Kind, make_agent
from agents.workers import BACKENDS, Workers
from casino_env import CasinoError, Rules
from tests.helpers_agents import ROYAL, Extreme, Fails, greedy

ARENA = [sys.executable, "-m", "agents.arena"]
FILES = {"json": "json", "csv": "csv", "plot": "png"}
BOT = """
import numpy as np

class Bot:
    name = "bot"

    def __init__(self, *game):
        pass

    def choose(self, view, legal, rng):
        return np.zeros(len(view.hand), int)
"""
TRIO = ["random", "greedy", "counter:worlds=1"]


@pytest.mark.jitless
def test_names_that_occur_again_get_a_number() -> None:
    agents = [RandomAgent()] * 4
    assert label_agents(agents) == ["random", "random#2", "random#3", "random#4"]
    assert label_agents(agents, ["a", "a#2", "a", "b"]) == ["a", "a#2", "a#3", "b"]
    with pytest.raises(CasinoError, match="one for each of 4"):
        label_agents(agents, ["a"])


def test_the_same_seed_gives_the_same_result() -> None:
    first, again, other = (compete(["random", "greedy"], 20, seed) for seed in (1, 1, 2))
    assert first == again and first.to_json() == again.to_json()
    assert first.margin != other.margin


@pytest.mark.parametrize(("players", "objective"), [(2, "deal"), (2, "match"), (3, "deal"), (4, "deal")])
def test_the_order_of_names_changes_nothing(players: int, objective: str) -> None:
    told = [
        by_agent(compete(order, 12, 5, players=players, objective=objective)) for order in permutations(TRIO)
    ]
    assert all(one == told[0] for one in told)


def by_agent(result: ArenaResult) -> dict[str, list[object]]:
    """Everything that is told of each agent, alone and against each other one."""
    alone = ("margin", "low", "high", "win_share", "win", "loss", "by_seat")
    told: dict[str, list[object]] = {
        name: [getattr(result, what)[i] for what in alone] for i, name in enumerate(result.agents)
    }
    for rating in result.ratings:
        told[rating.agent] += [rating.elo, rating.margin]
    for one in result.pairings:
        for pairing in (one, one.reversed()):
            told[pairing.agents[0]].append((pairing.agents[1], pairing.margin, pairing.win, pairing.residual))
    return {name: sorted(row, key=str) for name, row in told.items()}


def test_two_agents_are_the_same_in_a_crowd() -> None:
    """All pairings have the same decks and streams: a pairing's numbers do not depend on who else plays."""
    crowd, pair = compete(TRIO, 30, 1), compete(TRIO[:2], 30, 1)
    assert crowd.pairings[0].agents == pair.pairings[0].agents == ("random", "greedy")
    assert crowd.pairings[0].margin == pair.pairings[0].margin
    assert [pairing.agents for pairing in crowd.pairings] == [
        ("random", "greedy"),
        ("random", "counter:worlds=1"),
        ("greedy", "counter:worlds=1"),
    ]
    against = [pairing.margin.mean for pairing in crowd.pairings if "random" in pairing.agents]
    assert crowd.margin[0] == pytest.approx(np.mean(against))
    assert pair.ratings == [] and len(crowd.ratings) == 3
    elo = [rating.elo.mean for rating in crowd.ratings]
    assert elo == sorted(elo)


def test_equal_agents_are_level() -> None:
    result = compete([RandomAgent(), RandomAgent()], 200, 0)
    assert result.agents == ["random", "random#2"] and result.seatings == 2
    assert interval_of(result, 0)[0] < 0 < interval_of(result, 0)[1]
    assert sum(result.win_share) == pytest.approx(1)
    assert result.win[0] + result.draw[0] + result.loss[0] == pytest.approx(1)


def test_greedy_beats_random() -> None:
    two = compete([greedy(), RandomAgent()], 300, 0)
    assert two.margin[0] >= 4 and two.margin[1] == -two.margin[0]
    for players in (3, 4):
        assert interval_of(compete([greedy(), RandomAgent()], 60, 0, players=players), 0)[0] > 0
    match = compete([greedy(), RandomAgent()], 60, 0, objective="match")
    assert match.margin[0] == pytest.approx(match.win[0] - match.loss[0]) and match.draw[0] == 0
    assert match.win[0] > two.win[0]


def interval_of(result: ArenaResult, agent: int) -> tuple[float, float]:
    low, high = result.low[agent], result.high[agent]
    assert low is not None and high is not None
    return low, high


@pytest.mark.parametrize("players", [2, 3])
def test_margin_against_takes_each_side_in_turn(players: int) -> None:
    found = margin_against(greedy(), RandomAgent(), "royal", players, 60, 0)
    assert found.low is not None and found.high is not None and 0 < found.low < found.mean < found.high
    assert margin_against(greedy(), RandomAgent(), "royal", players, 60, 0) == found
    against_itself = margin_against(greedy(), greedy(), "royal", players, 10, 0)
    assert against_itself.mean == pytest.approx(0)  # the same games in every seating


def test_a_single_deck_has_no_interval() -> None:
    result = compete(TRIO, 1, 0)
    assert result.low == result.high == [None] * 3
    assert result.ratings[0].elo.low is None and result.cycles == []
    json.dumps(result.to_json(), allow_nan=False)


def test_a_gauntlet() -> None:
    result = compete(TRIO, 20, 0, gauntlet=True)
    assert [pairing.agents for pairing in result.pairings] == [("random", name) for name in TRIO[1:]]
    assert result.format == "gauntlet"
    whole = compete(TRIO, 20, 0)
    assert [p.margin for p in result.pairings] == [p.margin for p in whole.pairings[:2]]
    assert result.margin[0] == whole.margin[0]


def test_an_agent_that_fails_loses_its_games_only() -> None:
    broken = Fails(ValueError("no idea"))
    result = compete([broken, RandomAgent(), greedy()], 20, 0)
    assert result.failures == [{"agent": "broken", "games": 80, "reason": "failed: ValueError: no idea"}]
    assert result.margin[0] == -11 and result.loss[0] == 1
    alone = compete([RandomAgent(), greedy()], 20, 0)
    assert result.pairings[2].margin == alone.pairings[0].margin
    assert result.ratings[2].elo.mean > result.ratings[1].elo.mean > result.ratings[0].elo.mean


def test_who_is_late_is_named() -> None:
    result = compete([RandomAgent(), greedy()], 20, 0, move_time=1e-9)
    assert [late["agent"] for late in result.late] == ["random", "greedy"]
    assert all(late["over"] == late["calls"] == 47 and late["worst"] > 0 for late in result.late)
    assert compete([RandomAgent(), greedy()], 20, 0, move_time=1e9).late == []


def test_agents_are_made_anew_for_every_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Extreme] = []
    monkeypatch.setattr(matchup, "DECKS_PER_CHUNK", 4)
    monkeypatch.setitem(KINDS, "extreme", Kind(lambda rules, players: made.append(Extreme("x")) or made[-1]))
    compete(["extreme", "random"], 10, 0)
    assert [len(agent.batches) for agent in made] == [0, 48, 48, 48]  # the first is made to see if it can be


def test_an_agent_of_which_the_file_changes_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matchup, "DECKS_PER_CHUNK", 4)
    bot, store = tmp_path / "bot.py", tmp_path / "store.db"
    bot.write_text(BOT)

    def edit(decks: int) -> None:
        bot.write_text(BOT + "# edited\n")

    with pytest.raises(CasinoError, match=r"bot\.py:Bot': its file has changed since the competition began"):
        compete([f"{bot}:Bot", "random"], 20, 0, store=store, advance=edit)
    assert chunks_of(store) == 1


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matchup, "DECKS_PER_CHUNK", 4)
    done: list[int] = []
    compete(TRIO, 10, 0, advance=done.append)
    assert done == [4] * 6 + [2] * 3


@pytest.mark.parametrize("jobs", [2, -1])
def test_processes_change_nothing(jobs: int) -> None:
    alone = compete(TRIO, 600, 3, players=3)
    assert compete(TRIO, 600, 3, players=3, workers=Workers(jobs)) == alone


@pytest.mark.integrations
@pytest.mark.parametrize("backend", BACKENDS)
def test_two_workers_of_a_cluster_change_nothing(backend: str) -> None:
    alone = compete(TRIO, 600, 3)
    assert compete(TRIO, 600, 3, workers=Workers(2, backend)) == alone
    places = set(Workers(2, backend).run(slow_place(), [(0.2,)] * 12))
    assert len(places) == 2 and os.getpid() not in places


def slow_place() -> Callable[[float], int]:
    """A function that returns, after a while, its process; a local one, for workers cannot import tests."""

    def place_of(seconds: float) -> int:
        time.sleep(seconds)
        return os.getpid()

    return place_of


def test_processes_are_others_and_results_in_order() -> None:
    places = set(Workers(2).run(slow_place(), [(0.2,)] * 8))
    assert len(places) == 2 and os.getpid() not in places
    assert list(Workers().run(slow_place(), [(0,)] * 2)) == [os.getpid()] * 2
    assert list(Workers(2).run(abs, ((-number,) for number in range(50)))) == list(range(50))


def test_no_thread_is_left_of_dropped_tasks() -> None:
    earlier = set(threading.enumerate())
    for _ in range(5):
        results = Workers(2).run(abs, ((number,) for number in range(10**6)))
        assert next(results) == 0
        results.close()
        assert set(threading.enumerate()) <= earlier


def test_a_worker_that_is_lost_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("import os\n" + BOT.replace("return", "os._exit(1)\n        return"))
    assert main(["arena", f"{bot}:Bot", "random", "--deals", "600", "--jobs", "2", "--quiet"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("casino: a worker was lost (TerminatedWorkerError)") and told.count("\n") == 1


@pytest.mark.jitless
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((0, "loky"), "jobs=0 is not possible; valid: 1 or more, or -1 for all cores"),
        ((-2, "loky"), "jobs=-2 is not possible"),
        ((1, "mpi"), "backend='mpi' is unknown; valid: loky, ray, dask"),
        ((1, "ray"), "jobs=1 is this process; valid for backend 'ray': 2 or more, or -1"),
    ],
)
def test_workers_that_cannot_be(wrong: tuple[int, str], message: str) -> None:
    with pytest.raises(CasinoError, match=message):
        Workers(*wrong)


def test_a_backend_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CasinoError, match=r"backend 'dask' needs distributed: pip install .*integrations"):
        list(Workers(2, "dask").run(abs, [(1,)]))


def test_a_store_spares_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matchup, "DECKS_PER_CHUNK", 8)
    asked: list[tuple[int, int]] = []
    play = matchup.play_chunk

    def counted(*arguments: object) -> matchup.Played:
        asked.append((arguments[4], arguments[5]))
        return play(*arguments)

    monkeypatch.setattr("agents.tournament.play_chunk", counted)
    file = tmp_path / "store.db"
    whole = compete(TRIO, 20, 0)
    assert asked == [(0, 8)] * 3 + [(1, 8)] * 3 + [(2, 4)] * 3
    asked.clear()
    assert compete(TRIO[:2], 16, 0, store=file) == compete(TRIO[:2], 16, 0)
    asked.clear()
    assert compete(TRIO, 20, 0, store=file) == whole  # more agents, more decks
    assert asked == [(0, 8)] * 2 + [(1, 8)] * 2 + [(2, 4)] * 3
    asked.clear()
    assert compete(TRIO[::-1], 20, 0, store=file).margin == whole.margin[::-1] and asked == []


def test_a_store_is_of_one_setting_and_of_agents_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, bot = tmp_path / "store.db", tmp_path / "bot.py"
    bot.write_text(BOT)
    agents = [f"{bot}:Bot", "random"]
    first = compete(agents, 5, 0, store=file)
    bot.write_text(BOT.replace("np.zeros(len(view.hand), int)", "np.diff(legal.offsets) - 1"))
    assert compete(agents, 5, 0, store=file).margin != first.margin
    for wrong in ({"seed": 1}, {"players": 3}, {"rules": "plain"}, {"objective": "match"}, {"move_time": 1}):
        reason = f"of another competition: {next(iter(wrong))} was .*; valid: a new file"
        with pytest.raises(CasinoError, match=reason):
            compete(agents, 5, **{"seed": 0, **wrong}, store=file)
    monkeypatch.setattr(arena, "source_digest", lambda: "other")
    with pytest.raises(CasinoError, match=r"of another competition: sources was \w+, is other"):
        compete(agents, 5, 0, store=file)
    with pytest.raises(CasinoError, match="a store tells agents by name"):
        compete([RandomAgent(), "random"], 5, 0, store=file)


def test_files_that_are_no_store(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("not a database, but long enough to look like one" * 100)
    with pytest.raises(CasinoError, match=r"text\.db: cannot be used as a store of chunks"):
        compete(TRIO[:2], 5, 0, store=text)
    with pytest.raises(CasinoError, match="cannot be used as a store of chunks"):
        compete(TRIO[:2], 5, 0, store=tmp_path)
    assert text.read_text().startswith("not a database")
    file = tmp_path / "store.db"
    compete(TRIO[:2], 5, 0, store=file)
    for column, value in (("arrays", b"PK\3\4"), ("arrays", b"\x80\x04N."), ("rest", "{}"), ("rest", "[")):
        with sqlite3.connect(file) as base:
            kept = base.execute(f"SELECT {column} FROM chunks").fetchone()
            base.execute(f"UPDATE chunks SET {column} = ?", (value,))
        with pytest.raises(CasinoError, match=r"store.db: damaged: "):
            compete(TRIO[:2], 5, 0, store=file)
        with sqlite3.connect(file) as base:
            base.execute(f"UPDATE chunks SET {column} = ?", kept)
    compete(TRIO[:2], 5, 0, store=file)


def test_any_damage_is_one_line(tmp_path: Path) -> None:
    file, rng = tmp_path / "store.db", np.random.default_rng(0)
    compete(TRIO[:2], 5, 0, store=file)
    with sqlite3.connect(file) as base:
        whole = base.execute("SELECT arrays FROM chunks").fetchone()[0]
    told = 0
    for place in rng.integers(8 * len(whole), size=150):
        bits = np.unpackbits(np.frombuffer(whole, np.uint8))
        bits[place] ^= 1
        with sqlite3.connect(file) as base:
            base.execute("UPDATE chunks SET arrays = ?", (np.packbits(bits).tobytes(),))
        try:
            compete(TRIO[:2], 5, 0, store=file)
        except CasinoError as error:
            told += "damaged" in str(error)
    assert told > 50


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as base:
        base.execute("CREATE TABLE mine (x)")
    before = file.read_bytes()
    with pytest.raises(CasinoError, match="it is the database of something else"):
        compete(TRIO[:2], 5, 0, store=file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_killed_tournament_goes_on(jobs: str, tmp_path: Path) -> None:
    """Killed with SIGKILL half way and run again: the same tables and files as without."""
    store, resumed, whole = tmp_path / "store.db", tmp_path / "resumed.json", tmp_path / "whole.json"
    words = [*ARENA, *TRIO, "--deals", "1500", "--quiet", "--jobs", jobs]
    first = [*words, "--store", str(store)]
    with subprocess.Popen(first, stdout=subprocess.DEVNULL, start_new_session=True) as one:
        while chunks_of(store) < 4:
            assert one.poll() is None
            time.sleep(0.02)
        os.killpg(one.pid, signal.SIGKILL)
    assert 4 <= chunks_of(store) < 18
    subprocess.run([*words, "--store", str(store), "--json", str(resumed)], check=True)
    subprocess.run([*words[:-2], "--json", str(whole)], check=True)
    assert resumed.read_bytes() == whole.read_bytes()
    assert chunks_of(store) == 18


def chunks_of(store: Path) -> int:
    """How many are in the file."""
    if not store.exists():
        return 0
    with sqlite3.connect(store) as base:
        try:
            return base.execute("SELECT COUNT(*) FROM chunks").fetchone()[0]
        except sqlite3.OperationalError:  # just being made
            return 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_one_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    words = [*ARENA, *TRIO, "--deals", "9999", "--jobs", "2", "--store", str(store)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, **pipes, preexec_fn=heed_ctrl_c) as one:
        while not chunks_of(store):
            time.sleep(0.02)
        one.send_signal(number)
        out, errors = one.communicate(timeout=30)  # returns when no process holds the pipes
    assert (one.returncode, out, errors) == (130, "", "")


def heed_ctrl_c() -> None:
    """Undo what shells do to programs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_what_is_printed_of_three(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = [word for kind, end in FILES.items() for word in (f"--{kind}", str(tmp_path / f"a.{end}"))]
    assert main(["arena", *TRIO, "--deals", "40", *files]) == 0
    out, errors = capsys.readouterr()
    assert errors == ""
    assert "royal, 2 players, seed 0, round robin, 40 decks, each in 2 seatings" in out
    for title in ("margin by seat", "margin of the row against the column", "residual: margin beyond"):
        assert title in out
    standings = [line.split("│")[1].strip() for line in out.splitlines() if "│" in line][:3]
    assert standings == ["counter:worlds=1", "greedy", "random"]  # best first
    rows = list(csv.reader(StringIO((tmp_path / "a.csv").read_text())))
    assert rows[0] == list(CSV_COLUMNS) and len(rows) == 7
    written = json.loads((tmp_path / "a.json").read_text())
    assert [float(rows[1][CSV_COLUMNS.index(name)]) for name in ("margin", "low", "high")] == list(
        written["pairings"][0]["margin"].values()
    )
    assert set(written["ratings"][0]) == {"agent", "elo", "margin"}
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.format == "PNG" and picture.width > 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.json", "a.png"]


def test_files_are_written_before_anything_is_printed(tmp_path: Path) -> None:
    words = [*ARENA, "random", "greedy", "--deals", "5", "--json", str(tmp_path / "a.json")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        one.stdout.close()
        one.wait()
    assert json.loads((tmp_path / "a.json").read_text())["decks"] == 5


def test_a_terminal_that_has_only_ascii(tmp_path: Path) -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*ARENA, "random", "greedy", "--deals", "5"], env=ascii_only, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"") and b"margin by seat" in done.stdout


def test_what_is_complained_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "broken", Kind(lambda rules, players: Fails(ValueError("no idea"))))
    assert main(["arena", "broken", "random", "--deals", "3", "--move-time", "0.000001"]) == 0
    errors = capsys.readouterr().err.splitlines()
    assert errors[0] == "casino: agent 'broken' lost 6 games by failing: it failed: ValueError: no idea"
    late = "agent 'broken' took longer than the move time in 1 of 1 calls, up to "
    assert errors[-1].startswith(f"casino: {late}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("random", "agents: 1 given; valid: 2 or more"),
        ("random greedy --plot a.png", "--plot shows ratings, of 3 agents or more; 2 given"),
        ("random greedy greedy --plot a.jpg", "--plot a.jpg: valid: a file that ends in .png"),
        ("random greedy --jobs 0", "jobs=0 is not possible"),
        ("random greedy --backend slurm", "backend='slurm' is unknown; valid: loky, ray, dask"),
        ("random greedy --move-time 0", "move_time=0.0 is not possible; valid: milliseconds above 0"),
        ("random greedy greedy --sprt 0,1", "sprt compares two agents; 3 given"),
        (
            "random greedy --json a --csv a",
            "--plot, --records, --store: give each a file of its own",
        ),
        ("random greedy --json a --store ./a", "give each a file of its own"),
        ("random greedy --sprt -1,-2", "sprt=-1.0,-2.0 is not possible; valid: two rising numbers"),
        ("random greedy --store no/such/folder.db", "cannot be used as a store"),
        ("random greedy --csv no/such/folder.csv", "--csv no/such/folder.csv: No such file"),
        ("random unknown --store never.db", "unknown agent 'unknown'"),
        ("random greedy --deals 0 --store never.db", "deals=0 is not possible"),
    ],
)
def test_errors(words: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert main(["arena", *words.split()]) == 2
    finally:
        os.chdir(before)
    out, errors = capsys.readouterr()
    assert message in errors and errors.count("\n") == 1 and out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_plot_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_plot, "find_spec", lambda name: None)
    with pytest.raises(CasinoError, match=r"--plot needs matplotlib: pip install .*\[plots\]"):
        arena_plot.check_plot(Path("a.png"), 3)


def test_agents_are_made_by_name_with_options(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_agent("random", ROYAL, 2).name == "random"
    assert make_agent("greedy", Rules.parse("spade"), 4).name == "greedy"
    monkeypatch.setitem(
        KINDS, "extreme", Kind(lambda rules, players, **given: Extreme(str(given)), {"deep": int})
    )
    assert make_agent("extreme:deep=3", ROYAL, 2).name == "{'deep': 3}"
    for spec, reason in {
        "extreme:deep=x": "option 'deep' of agent 'extreme' is 'x'",
        "extreme:deep=1,deep=2": "give it once",
        "extreme:deep": "deep=value",
        "extreme:wide=1": "unknown option 'wide' of agent 'extreme'; valid: deep",
        "random:deep=1": "unknown option 'deep' of agent 'random'; valid: endgame",
        "random:": "random:key=value",
        "": "unknown agent ''; valid: random, greedy",
    }.items():
        with pytest.raises(CasinoError, match=reason):
            make_agent(spec, ROYAL, 2)
