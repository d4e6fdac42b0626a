"""The search of a hand equals plain minimax: by points at the end of the deal, by worth before it."""

import random

import numba
import numpy as np
import pytest

from agents.hand_search import (
    NODES,
    PLIES,
    WAS_CUT,
    Yardstick,
    new_search,
    points_of,
    search_state,
    worth_of,
)
from agents.worlds import copy_game, hand_is_over
from agents.worth import cards_worth
from casino_env import Position, Rules, VectorEnv
from casino_env.engine import apply_move
from casino_env.legal import list_turn
from casino_env.rules import RULE_SETS, TURNS
from casino_env.scoring import ITEMS, deal_points
from casino_env.state import State, empty_state
from casino_env.turn import look
from casino_env.unions import COUNT, MAX_MOVES, MOVES, WORK_SIZE
from tests.helpers import random_line
from tests.helpers_env import position_of

OTHERS = ("royal;sweeps=none", "royal;draw=yes", "plain;capture=match_forced", "royal;capture=free")


def plies(text: str) -> int:
    """Turns before the end: the last hand; less where much may lie loose, for minimax to come to an end."""
    return PLIES if text.startswith("royal") and "free" not in text else PLIES - 2


def hands_before(rules: str, games: int, turn: int, seed: int) -> State:
    """The states of random games before a turn; half of the moves make builds where they can."""
    rng, env = np.random.default_rng(seed), VectorEnv(games, rules, seed=seed)
    legal = env.reset()
    for _ in range(turn):
        counts = np.diff(legal.offsets)
        from_end = (rng.random(games) * np.minimum(counts, 3)).astype(np.int64)  # builds are listed last
        uniform = (rng.random(games) * counts).astype(np.int64)
        legal = env.step(np.where(rng.random(games) < 0.5, counts - 1 - from_end, uniform)).legal
    return env.state


@numba.njit
def minimax(rules, yardstick, rows, ply, lists, work, points, dealt):
    """Margin of the seat to act in row 0 at the end of the hand, by trying everything."""
    if hand_is_over(rules, rows, ply, dealt):
        if yardstick.majorities:
            deal_points(rows, ply, rules, points)
            return (points[0] - points[1]).sum()
        scale, margin = yardstick.scale, 0
        for seat in range(2):
            worth = cards_worth(rules, scale, rows.captured[ply, seat]) + scale.sweep * rows.sweeps[ply, seat]
            margin += worth if seat == 0 else -worth
        return margin
    list_turn(rules, look(rows, ply, rules), work)
    count, seat = work[COUNT], rows.turn[ply]
    lists[ply, :count] = work[MOVES : MOVES + count]
    best = -(2**40)
    for i in range(count):
        copy_game(rows, ply, rows, ply + 1)
        apply_move(rows, ply + 1, rules, lists[ply, i])
        value = minimax(rules, yardstick, rows, ply + 1, lists, work, points, dealt)
        best = max(best, value if seat == 0 else -value)
    return best if seat == 0 else -best


def banked(rules: Rules, yardstick: Yardstick, state: State, game: int) -> int:
    """What the seat to act is ahead by without the majorities."""
    totals = [
        cards_worth(rules.table, yardstick.scale, int(state.captured[game, seat]))
        + yardstick.scale.sweep * int(state.sweeps[game, seat])
        for seat in range(2)
    ]
    seat = int(state.turn[game])
    return totals[seat] - totals[1 - seat]


def check_against_minimax(rules: Rules, yardstick: Yardstick, state: State) -> int:
    """Compare every game; returns the number of nodes of the search."""
    search = new_search()
    rows, lists = empty_state(10, 2), np.zeros((10, MAX_MOVES), np.int64)
    work, points = np.zeros(WORK_SIZE, np.int64), np.zeros((2, len(ITEMS)), np.int64)
    for game in range(len(state.turn)):
        value = search_state(rules.table, yardstick, search, state, game)
        copy_game(state, game, rows, 0)
        expected = minimax(rules.table, yardstick, rows, 0, lists, work, points, rows.dealt[0])
        seat = int(state.turn[game])
        ahead = value + banked(rules, yardstick, state, game)
        assert ahead == (expected if seat == 0 else -expected), position_of(state, game, str(rules))
    assert not search.numbers[WAS_CUT]
    return int(search.numbers[NODES])


@pytest.mark.parametrize("text", [*RULE_SETS, *OTHERS])
def test_last_hands_equal_minimax(text: str) -> None:
    rules = Rules.parse(text)
    check_against_minimax(rules, points_of(rules), hands_before(text, 30, TURNS - plies(text), seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("text", RULE_SETS)
def test_two_thousand_last_hands_equal_minimax(text: str) -> None:
    rules = Rules.parse(text)
    check_against_minimax(rules, points_of(rules), hands_before(text, 2000, TURNS - plies(text), seed=2))


@pytest.mark.parametrize("text", ["royal", "spade"])
def test_hands_of_which_more_follow_equal_minimax_by_worth(text: str) -> None:
    rules = Rules.parse(text)
    for turn in (8, 19, 34):
        check_against_minimax(rules, worth_of(rules), hands_before(text, 15, turn, seed=turn))


def test_minimax_is_what_position_plays() -> None:
    """The yardstick itself, on the last four turns of games played as values."""

    def margin(position: Position) -> int:
        if position.is_over:
            points = [side.total for side in position.deal_points()]
            return points[0] - points[1]
        values = [margin(position.play(move)) for move in position.legal_moves()]
        return max(values) if position.turn == 0 else min(values)

    rules, search = Rules(), new_search()
    for seed in range(12):
        line = [after for after, *_ in random_line(Position.deal(seed=seed), "builds", random.Random(seed))]
        position = line[TURNS - 5]
        value = search_state(rules.table, points_of(rules), search, position.state, 0)
        ahead = value + banked(rules, points_of(rules), position.state, 0)
        assert ahead == margin(position) * (1 if position.turn == 0 else -1)
