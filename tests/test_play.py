"""`casino play`: matches by scripted answers, what is shown, undo, saving and going on; nothing hidden."""

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents.cli import main
from agents.play import Play
from agents.play_screen import Screen, own_cards
from agents.records import read_records
from agents.sitting import YOU, Sitting
from casino_env import CasinoError, MoveListCut, Position, Rules
from casino_env.cards import iter_cards
from casino_env.moves import Move
from tests.helpers import study

ROYAL = Rules.parse("royal")


def sitting(*names: str, rules: str = "royal", seed: int = 7) -> Sitting:
    return Sitting(Rules.parse(rules), names or (YOU, "greedy"), seed)


def table(tmp_path: Path, answers: list[str], game: Sitting) -> str:
    """What is printed while a person answers so, and leaves then."""
    console = Console(width=80, record=True, file=(tmp_path / "screen").open("w"), highlight=False)
    given = iter([*answers, "q"])
    Play(game, console, lambda prompt: next(given), tmp_path / "game.jsonl").run()
    return console.export_text()


def first_moves(game: Sitting, count: int | None = None) -> Iterator[None]:
    """Play the first legal move again and again, until the deal is over or `count` times."""
    game.reply()
    while not game.position.is_over and count != 0:
        game.play(game.position.legal_moves()[0])
        game.reply()
        count = None if count is None else count - 1
        yield


def play_deal(game: Sitting) -> None:
    for _ in first_moves(game):
        pass


def test_a_match_is_played_to_its_end() -> None:
    game = sitting(rules="royal;target=11")
    scores = []
    while True:
        play_deal(game)
        settled = game.settlement
        assert settled
        scores.append(settled.score)
        if settled.winner is not None:
            break
        game.next_deal()
        assert (game.position.score, game.position.dealer) == (settled.score, game.number % 2 ^ 1)
    assert max(scores[-1]) >= 11
    with pytest.raises(CasinoError, match="no further deal"):
        game.next_deal()
    assert game.record().check() == game.record()


def test_taking_back_and_saving_change_nothing_that_comes(tmp_path: Path) -> None:
    straight, winding = sitting("random", YOU, "greedy"), sitting("random", YOU, "greedy")
    play_deal(straight)
    straight.next_deal()
    play_deal(straight)
    winding.reply()
    number = 0
    while not winding.position.is_over:
        if number % 3 == 1:
            winding.play(winding.position.legal_moves()[-1])
            winding.reply()
            winding.undo()
        if number % 4 == 2:
            winding = Sitting.resume(winding.record())
        winding.play(winding.position.legal_moves()[0])
        winding.reply()
        number += 1
    winding = Sitting.resume(winding.record())
    winding.next_deal()
    play_deal(winding)
    assert winding.record() == straight.record()
    with pytest.raises(CasinoError, match="nothing to take back"):
        sitting().undo()


def test_what_cannot_be_gone_on_with() -> None:
    record = sitting().record()
    for wrong in (
        {"agents": ("greedy", "greedy")},
        {"seed": None},
        {"failed": "greedy"},
        {"agents": (YOU, YOU)},
    ):
        with pytest.raises(CasinoError, match="not a match that 'you' saved"):
            Sitting.resume(type(record)(**{**vars(record), **wrong}))


def shown(game: Sitting, signs: bool = False) -> str:
    screen = Screen(game, signs)
    return "\n".join(line.plain for line in [*screen.table(), screen.hand()])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_nothing_hidden_is_shown(players: int) -> None:
    game = sitting(YOU, *["greedy"] * (players - 1))
    for _ in first_moves(game, 7):
        position = game.position
        text, state = shown(game), position.state
        hidden = set(range(52)) - set(own_cards(game))
        seen = np.concatenate([state.loose, state.captured[0], state.build_cards[0]])
        hidden -= set(iter_cards(int(np.bitwise_or.reduce(seen))))
        names = {str(Move(card)).replace("T", "10") for card in hidden}
        assert names and not names & set(text.replace(":", " ").split())
        for card in own_cards(game):
            assert str(Move(card)).replace("T", "10") in text.split()


def test_the_table_in_words() -> None:
    game = sitting()
    game.position = study(
        "royal 2D9SKC/9CAHAS 3S4D 5=2C3C@1,9*=4H5H9H@0 2STDAD/4S",
        turn="0",
        last_capture="0",
        sweeps="1/0",
        score="3/14",
        dealer="1",
    )
    assert shown(game).splitlines() == [
        "Deal 1. Score: you: 3, greedy: 14, of 21. 0 cards in the stock.",
        "  greedy    3 cards, captured 1 (1 spade), dealer",
        "",
        "  build   5, of greedy: 2C 3C",
        "  build   9 multiple, yours: 4H 5H 9H",
        "  loose   3S 4D",
        "",
        "  you       3 cards, captured 3 (1 spade), 1 sweep: 2S 10D AD",
        "  hand    1 2D   2 9S   3 KC",
    ]
    assert "10♦ A♦" in shown(game, signs=True)
    screen = Screen(game, signs=False)
    words = {
        "KC": "trail KC",
        "9S*4D5C": "take 4D 5C with 9S",
        "9S*[9]": "take the build of 9 with 9S",
        "9S*4D5C[9]": "take the build of 9 and 4D 5C with 9S",
        "4D+5C=9": "build 9 with 4D and the loose 5C",
        "4D+5C+[9]=9": "add to the build of 9: 4D and the loose 5C",
        "2D+[5]=7": "raise the build of 5 to 7 with 2D",
        "2D+[7]+4D+5C+[9]=9": "raise the build of 7 to 9 with 2D and the loose 4D 5C, joining the build of 9",
    }
    assert {text: screen.move(Move.parse(text)).plain for text in words} == words


ITEM_NAMES = ("cards", "spades", "big casino", "little casino", "aces", "sweeps")


@pytest.mark.parametrize("rules", ["royal", "spade"])
@pytest.mark.parametrize(
    ("names", "sides"),
    [
        ((YOU, "greedy"), ("you", "greedy")),
        (("greedy", YOU, "greedy"), ("greedy #0", "you", "greedy #2")),
        ((YOU, "greedy", "random", "greedy"), ("you and random (your p", "greedy #1 and greedy #3")),
    ],
)
def test_every_point_is_told(names: tuple[str, ...], sides: tuple[str, ...], rules: str) -> None:
    game = sitting(*names, rules=rules)
    play_deal(game)
    lines = [line.plain for line in Screen(game, signs=True).points()]
    assert len(lines) <= 12 and max(map(len, lines[:9])) <= 80
    head, *rows, total = lines[1:9]
    assert all(side in head for side in sides)
    points, starts = game.position.deal_points(), [head.index(side) for side in sides]
    for row, item, name in zip(rows, zip(*points, strict=True), ITEM_NAMES, strict=True):
        assert row[: starts[0]].strip() == name
        assert [int(row[start:].split()[0]) for start in starts] == list(item)
    assert [int(number) for number in total.split()[2:]] == [side.total for side in points]
    aces = [cell.split()[1:] for cell in cut(rows[4], starts)]
    assert sum(map(len, aces)) == 4
    cards = [int(cell.split()[2].strip(",")) for cell in cut(rows[0], starts)]
    assert sum(cards) == 52
    assert ("tied" in rows[0]) == (cards.count(max(cards)) > 1)


def cut(row: str, starts: list[int]) -> list[str]:
    """The cells of a row that begin there."""
    return [row[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def test_who_gets_the_last_loose_cards_is_told() -> None:
    game = sitting()
    game.position = study("royal 2D/AH 3S", dealer="1", last_capture="1")
    for move in ("2D", "AH"):
        game.play(move)
    told = [line.plain for line in Screen(game, signs=False).points()]
    assert "The last loose cards, 2D 3S AH, go to greedy: last to capture (R5.2)." in told
    game.position = study("royal 2D/AH 3S", dealer="1")
    for move in ("2D", "AH"):
        game.play(move)
    assert any("nobody: nobody captured" in line.plain for line in Screen(game, signs=False).points())


@pytest.mark.parametrize(
    ("rules", "score", "needs"),
    [
        ("royal", "18/0", "most cards"),
        ("royal", "19/0", "the big casino"),
        ("royal", "20/0", "the little casino"),
        ("royal;near21=pagat", "20/0", "most spades"),
    ],
)
def test_who_is_near_is_told_what_is_needed(rules: str, score: str, needs: str) -> None:
    game = sitting(rules=rules)
    game.position = study(f"{rules} 2D/AH 3S", dealer="1", score=score)
    assert f"to win, you: {needs}" in shown(game)
    while not game.position.is_over:
        game.play(game.position.legal_moves()[0])
    text = "\n".join(line.plain for line in Screen(game, signs=True).points())
    assert f"you had {score[:2]} of 21 before the deal: only {needs} counts, and wins (R7.1)." in text


def test_who_is_beyond_the_target_is_told_that_sweeps_do_not_count() -> None:
    game = sitting()
    game.position = study("royal 2D/AH 3S", dealer="1", score="21/21")
    game.play("2D")
    game.play("AH")
    told = [line.plain for line in Screen(game, signs=False).points()]
    assert "you had 21 of 21 before the deal: sweeps do not count (R7.3)." in told


def test_a_dialogue(tmp_path: Path) -> None:
    text = table(tmp_path, ["x", "9", "?", "u", "1", "1", "u", "zz", "7H"], sitting())
    assert text.count("There is no card 9; valid: 1-4, or ? for help.") == 1
    assert "'x' is not a move" in text and "'zz' is not a move" in text
    assert "illegal move 7H" in text
    assert "take back your last move" in text
    assert "You have not played in this deal yet" in text
    assert "Saved: casino play --resume" in text
    (record,) = read_records(tmp_path / "game.jsonl")
    assert len(record.deals[0].moves) == 3  # the person's second, and the reply, were taken back
    assert record.seed == 7


def test_many_moves_of_a_card_come_page_by_page(tmp_path: Path) -> None:
    game = sitting()
    game.position = study("royal 2H9S/ACAS 2C2D3C3D4C4D5C5D6C6D7C7D8CAD", dealer="1")
    count = sum(move.card == Move.parse("9S").card for move in game.position.legal_moves())
    assert count > 99
    text = table(tmp_path, ["2", "", "b", "2", "99999", "9" * 5000], game)
    assert "  12  " in text and "  13  " in text
    assert f"There is no move 99999; valid: 1-{count}, b, or ? for help." in text


def test_a_list_that_is_cut_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(position: Position) -> list[Move]:
        warnings.warn("cut", MoveListCut, stacklevel=1)
        return [Move.parse("3S")]

    monkeypatch.setattr(Position, "legal_moves", cut)
    assert "any of them can be written as text" in table(tmp_path, [], sitting())


def test_a_deal_by_numbers_alone(tmp_path: Path) -> None:
    """The first card that can be played and its first move, until the next deal."""
    text = table(tmp_path, ["1", "2", "3", "4", ""] * 40, sitting())
    assert "The deal is over. Points of deal 1:" in text
    assert "Match: you: " in text and "There is only the next deal" in text


def test_a_hint_and_where_there_is_none(tmp_path: Path) -> None:
    text = table(tmp_path, ["h"], sitting())
    assert re.search(r"The champion would:\n +\d+%  +[+-]\d+\.\d  ", text)
    (tmp_path / "game.jsonl").unlink()
    text = table(tmp_path, ["h"], sitting(rules="kasino"))
    assert "No hint: champion: there is none for kasino" in text


def test_the_last_move_of_a_deal_can_be_taken_back(tmp_path: Path) -> None:
    game = sitting()
    play_deal(game)
    turns = len(game.turns)
    table(tmp_path, ["u"], game)
    assert len(game.turns) < turns and not game.position.is_over


def answering(answers: list[str], end: type[BaseException]) -> Callable[[str], str]:
    given = iter(answers)

    def ask(prompt: str) -> str:
        for answer in given:
            return answer
        raise end

    return ask


FILE_AGENT = """
from pathlib import Path


class Agent:
    name = "mine"

    def __init__(self, rules, players):
        Path("made").touch()

    def choose(self, view, legal, rng):
        raise RuntimeError("oops")
"""


def test_a_record_alone_runs_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(FILE_AGENT)
    record = sitting().record()
    Path("game.jsonl").write_text(type(record)(**{**vars(record), "agents": (YOU, "mine.py:Agent")}).line)
    assert main(["play", "--resume", "game.jsonl"]) == 2
    assert "agent 'mine.py:Agent' is code in a file: to have it run" in capsys.readouterr().err
    assert not Path("made").exists()
    assert main(["play", "--resume", "game.jsonl", "--opponent", "greedy"]) == 2
    assert "--opponent greedy: not in the match" in capsys.readouterr().err
    before = Path("game.jsonl").read_text()
    assert main(["play", "--resume", "game.jsonl", "--opponent", "mine.py:Agent"]) == 2
    streams = capsys.readouterr()
    assert "agent 'mine.py:Agent' failed: RuntimeError: oops" in streams.err  # and what was played is kept
    assert "Saved: casino play --resume game.jsonl" in streams.out
    assert Path("game.jsonl").read_text().rstrip() == before


def test_a_file_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "wall").touch()
    other = tmp_path / "other.jsonl"
    console = Console(width=200, record=True, file=(tmp_path / "screen").open("w"))
    answers = iter(["s", "1", "q", str(tmp_path / "wall"), str(other)])
    game = sitting()
    Play(game, console, lambda prompt: next(answers), tmp_path / "wall" / "game.jsonl").run()
    text = console.export_text()
    assert text.count("cannot be written") == 3 and "There is such a file." in text
    (record,) = read_records(other)
    assert record == game.record() and len(game.turns) > 1


def test_a_file_that_another_match_has_made_is_kept(tmp_path: Path) -> None:
    game, other = sitting(), tmp_path / "other.jsonl"
    file = tmp_path / "game.jsonl"
    console = Console(width=200, record=True, file=(tmp_path / "screen").open("w"))

    def answers() -> Iterator[str]:
        file.write_text("of another match")
        yield from ("q", str(other))

    given = answers()
    Play(game, console, lambda prompt: next(given), file).run()
    assert "there is a file now that was not there" in console.export_text()
    assert file.read_text() == "of another match"
    assert next(read_records(other)) == game.record()


def test_what_was_played_last_is_told_again_after_going_on(tmp_path: Path) -> None:
    game = sitting()
    for _ in first_moves(game, 2):
        pass
    last = [Screen(game, signs=True).turn(turn).plain for turn in game.latest]
    text = table(tmp_path, [], Sitting.resume(game.record()))
    assert len(last) == 2 and "\n".join(last) in text


@pytest.mark.parametrize(("end", "status"), [(EOFError, 0), (KeyboardInterrupt, 130)])
def test_leaving_in_any_way_saves(
    end: type[BaseException],
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", answering(["1", "1"], end))
    assert main(["play", "--opponent", "random", "--seed", "5"]) == status
    assert "Saved: casino play --resume casino-5.jsonl" in capsys.readouterr().out
    (before,) = read_records(tmp_path / "casino-5.jsonl")
    monkeypatch.setattr("builtins.input", answering(["q"], end))
    assert main(["play", "--resume", "casino-5.jsonl"]) == 0
    assert list(read_records(tmp_path / "casino-5.jsonl")) == [before]
    assert before.agents == (YOU, "random")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--players 5", "players=5 is not possible; valid: 2, 3, 4"),
        ("--seat 2", "seat=2 is not a seat; valid: 0 to 1"),
        ("--seed -1", "seed=-1 is not possible; valid: 0 or more"),
        ("--rules whist", "whist"),
        ("--opponent nobody", "unknown agent 'nobody'"),
        (
            "--players 4 --opponent random --opponent random",
            "--opponent: 2 given; valid: 1, or 3 for 4 players",
        ),
        ("--save taken.jsonl", "taken.jsonl: there is a file; valid: --resume"),
        ("--resume none.jsonl", "none.jsonl"),
        ("--resume taken.jsonl", "taken.jsonl, line 1: not a record"),
        ("--resume taken.jsonl --seed 3", "--seed: a resumed match has its own"),
        ("--resume empty.jsonl", "empty.jsonl: 0 games; valid: the file of one saved match"),
    ],
)
def test_errors(
    words: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken.jsonl").write_text("mine\n")
    Path("empty.jsonl").touch()
    assert main(["play", *words.split()]) == 2
    assert message in capsys.readouterr().err
    assert Path("taken.jsonl").read_text() == "mine\n"
    assert len(list(tmp_path.iterdir())) == 2
