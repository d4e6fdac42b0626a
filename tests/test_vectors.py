"""The shared vectors: rule book positions, whole games, settled matches and perft, every row."""

from typing import Any

import pytest

from casino_env import IllegalMove, Position
from tests.helpers import legal, load_vectors

pytestmark = pytest.mark.jitless

Row = dict[str, Any]


def rows(name: str) -> list[Any]:
    """The rows of a file as parameters with readable ids."""
    return [pytest.param(row, id=row_id(i, row)) for i, row in enumerate(load_vectors(name))]


def row_id(number: int, row: Row) -> str:
    """The row's own id, or its number, rule set and number of seats."""
    if "id" in row:
        return row["id"]
    rules, hands = row.get("start", row.get("position")).split(" ")[:2]
    return f"{number}-{rules}-{hands.count('/') + 1}p"


def points(position: Position) -> list[dict[str, int]]:
    """The points of each side in the form of the vectors."""
    return [side._asdict() for side in position.deal_points()]


@pytest.mark.parametrize("row", rows("rulebook"))
def test_rulebook(row: Row) -> None:
    position = Position.parse(row["position"], partial=True)
    assert legal(position) == sorted(row["legal"])
    assert {move: str(position.play(move)) for move in row["legal"]} == row["after"]
    assert str(position) == row["position"]


@pytest.mark.parametrize("row", rows("games"))
def test_game(row: Row) -> None:
    position = Position.deal(
        deck=row["deck"], rules=row["rules"], players=row["players"], dealer=row["dealer"]
    )
    assert str(position) == row["start"]
    for turn in row["turns"]:
        assert not position.is_over
        assert legal(position) == sorted(turn["legal"])
        position = position.play(turn["move"])
        assert str(position) == turn["position"]
        assert Position.parse(turn["position"]) == position
    assert position.is_over
    assert points(position) == row["points"]


@pytest.mark.parametrize("row", rows("settle"))
def test_settle(row: Row) -> None:
    position = Position.parse(row["position"])
    assert points(position) == row["points"]
    settlement = position.settle()
    assert list(settlement.score) == row["score"]
    assert settlement.winner == row["winner"]
    with pytest.raises(IllegalMove, match="over"):
        position.play("2C")


@pytest.mark.parametrize("row", rows("perft"))
def test_perft(row: Row) -> None:
    position = Position.parse(row["position"])
    assert [position.perft(depth) for depth in range(1, len(row["nodes"]) + 1)] == row["nodes"]
    assert position.perft(0) == 1
