"""A batch equals its games one at a time, and a list of moves that reaches its bound says so."""

import random
from itertools import islice

import numpy as np
import pytest

from casino_env import CasinoError, Position
from casino_env.engine import apply_batch, settle_batch
from casino_env.legal import MoveLister
from casino_env.notation import format_position
from casino_env.rules import side_count
from casino_env.state import select
from casino_env.unions import MAX_MOVES
from tests.helpers import TABLES, batch, deal_arguments, random_line, study


def many_positions(rules: str, players: int, style: str, count: int) -> list[Position]:
    """Positions of as many deals, each stopped at another turn; the last of every 49 is finished."""
    rng = random.Random(f"{rules} {players} {style}")
    starts = [Position.deal(**deal_arguments(rules, players, rng)) for _ in range(count)]
    return [next(islice(random_line(start, style, rng), i % 49, None))[0] for i, start in enumerate(starts)]


def packed(position: Position) -> list[int]:
    return sorted(move.packed for move in position.legal_moves())


@pytest.mark.parametrize(("rules", "players"), TABLES)
def test_batch_lists_as_its_games(rules: str, players: int) -> None:
    positions = many_positions(rules, players, "trails", 64)
    legal = MoveLister(64)(batch(positions), positions[0].rules.table)
    assert not legal.bounded.any()
    for i, position in enumerate(positions):
        assert sorted(legal.moves[legal.offsets[i] : legal.offsets[i + 1]]) == packed(position)


@pytest.mark.jitless
@pytest.mark.parametrize(("rules", "players"), TABLES)
def test_batch_plays_as_its_games(rules: str, players: int) -> None:
    rng = random.Random(rules)
    positions = many_positions(rules, players, "builds", 64)
    alive = np.array([i for i, position in enumerate(positions) if not position.is_over])
    moves = [rng.choice(positions[i].legal_moves()) for i in alive]
    state, over = select(batch(positions), alive), np.zeros(len(alive), np.bool_)
    apply_batch(state, positions[0].rules.table, np.array([move.packed for move in moves]), over)
    for game, (i, move) in enumerate(zip(alive, moves, strict=True)):
        played = positions[i].play(move)
        assert format_position(state, game, played.rules) == str(played)
        assert over[game] == played.is_over


@pytest.mark.jitless
@pytest.mark.parametrize(("rules", "players"), TABLES)
def test_batch_settles_as_its_games(rules: str, players: int) -> None:
    rng, sides = random.Random(rules), side_count(players)
    starts = [Position.deal(**deal_arguments(rules, players, rng)) for _ in range(16)]
    positions = [list(random_line(start, "uniform", rng))[-1][0] for start in starts]
    ended = np.arange(15, -1, -2)
    totals, settled = np.zeros((8, sides), np.int64), np.zeros((8, sides), np.int64)
    winners = settle_batch(batch(positions), positions[0].rules.table, ended, totals, settled)
    for row, game in enumerate(ended):
        assert [side.total for side in positions[game].deal_points()] == totals[row].tolist()
        score, winner = positions[game].settle()
        assert (score, -1 if winner is None else winner) == (tuple(settled[row]), winners[row])


CROWDED = "royal THKC/2C2S 2D2H3C3H4D4S5C5H7D7S8DTDQCQHQSKSAC"  # 3,044 legal moves
CUT = "royal;capture=free TC/KS 2C2D2H3C3D3H4C4D4H5C5D5H6C6D6H7C7D7HAHAS"


def test_list_grows_its_buffer() -> None:
    """A lister made for one game lists a batch of crowded tables."""
    positions = [study(text) for text in (CROWDED, "royal 2C3C/2D2S 4D", CROWDED, CROWDED)]
    legal = MoveLister(1)(batch(positions), positions[0].rules.table)
    assert np.diff(legal.offsets).tolist() == [3044, 2, 3044, 3044]
    assert not legal.bounded.any()
    assert sorted(legal.moves[-3044:]) == packed(positions[0])


def test_list_at_the_bound_is_reported() -> None:
    """For its own game only; what such a list holds is in `test_crowds`."""
    positions = [study(CUT), study("royal;capture=free TC/KS 2C")]
    legal = MoveLister(2)(batch(positions), positions[0].rules.table)
    assert legal.bounded.tolist() == [True, False]
    assert np.diff(legal.offsets).tolist() == [MAX_MOVES, 1]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("royal AS/2C 2S3C3D3H4H7C9STCTDTHJDJSQDQHKCACADAH", 2610),
        ("royal AS/2C 2D3S4H5C5D6C6H7C7D7H7S8S9STSQCQHKSACADAH", 17528),
        ("royal QSKS/2C2D 2S4D4H5S6S7H8D8H8S9STDTSJDJHQCKDKHACAS", 3780),
        ("royal QSKC/2C2H 2D2S4D5S6C6H6S7C7D7S8HTHJCQDKDKHKSAS", 3673),
    ],
)
def test_list_is_complete_or_reported(text: str, count: int) -> None:
    """Counts of the reference game; a bound reached on the way to a list cuts the list as well."""
    position = study(text)
    legal = MoveLister(1)(position.state, position.rules.table)
    assert legal.bounded[0] or len(legal.moves) == count


def test_perft_refuses_at_the_bound() -> None:
    with pytest.raises(CasinoError, match=str(MAX_MOVES)):
        study(CUT).perft(1)
