"""The golden games: the engine still plays them, and writes them down, as the files say."""

from difflib import unified_diff
from itertools import islice

import pytest

from casino_env import Position
from casino_env.moves import low_value
from casino_env.rules import TURNS, is_paired
from casino_env.state import build_owner
from tests.make_playthroughs import FOLDER, GAMES, WANTED, Game, Turn, count_events, play, write_game
from tests.reference_game import ReferenceGame

LARGEST_FILE = 60_000  # bytes: a file is read by people
DIFFERENCE = 40  # lines of a difference that are shown

games = pytest.mark.parametrize("game", GAMES, ids=[game.name for game in GAMES])


@pytest.mark.jitless
@games
def test_playthrough(game: Game) -> None:
    path = FOLDER / f"{game.name}.txt"
    written, played = path.read_text(encoding="utf-8"), write_game(game)
    if written != played:
        names = f"{path.name}, the file", "the engine now"
        lines = unified_diff(written.splitlines(), played.splitlines(), *names, lineterm="")
        shown = "\n".join(islice(lines, DIFFERENCE))
        pytest.fail(f"{shown}\nIf it is meant to be so: make playthroughs", pytrace=False)
    assert path.stat().st_size < LARGEST_FILE


def test_no_file_without_a_game() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{game.name}.txt" for game in GAMES}


@games
def test_positions_and_moves_of_a_file_can_be_played(game: Game) -> None:
    """Read back from the text alone, as a person would."""
    sections = (FOLDER / f"{game.name}.txt").read_text(encoding="utf-8").split("\n\n== ")[1:]
    positions = [Position.parse(section.splitlines()[1]) for section in sections]
    moves = [line.split()[1] for section in sections for line in section.splitlines() if line[:5] == "move "]
    assert len(moves) == TURNS
    for position, move, after in zip(positions, moves, positions[1:], strict=False):
        assert position.play(move) == after
    assert positions[-1].is_over


@games
def test_the_reference_game_plays_them_too(game: Game) -> None:
    """So that a file is not only what the engine said when it was written."""
    start, turns = play(game)
    reference = ReferenceGame.parse(str(start))
    for turn in turns:
        assert reference.legal_moves() == [str(move) for move in turn.moves]
        reference = reference.play(str(turn.move))
        assert str(reference) == str(turn.after)
    settled = turns[-1].after.settle()
    assert reference.settle() == (list(settled.score), settled.winner)


def all_turns() -> list[Turn]:
    return [turn for game in GAMES for turn in play(game)[1]]


def test_the_games_show_what_can_happen() -> None:
    found = count_events(all_turns())
    assert min(found[kind] for kind in WANTED) >= 5, found
    assert found["a sweep"] >= 10


def test_the_games_show_the_overrides() -> None:
    raises = [turn for turn in all_turns() if turn.move.kind == "raise"]
    assert any(turn.move.loose for turn in raises)  # raise_absorb
    assert any(raised_owner(turn) == turn.before.turn for turn in raises)  # raise_own
    pairs = [turn.move for turn in all_turns() if is_paired(turn.before.rules.table, turn.move.card)]
    assert {move.loose.bit_count() for move in pairs} == {0, 1, 3}  # R8: one, or all three


def raised_owner(turn: Turn) -> int:
    """The owner of the build that is raised."""
    old = turn.move.value - low_value(turn.move.card)
    return build_owner(turn.before.state.owned, 0, old)


def test_the_game_near_21_is_won_by_an_item() -> None:
    """R7.1, R7.2: most cards at 18 comes before Big Casino at 19."""
    game = next(game for game in GAMES if game.name == "royal_near21")
    assert play(game)[1][-1].after.settle() == ((21, 21), 0)
