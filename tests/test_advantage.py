"""Advantages in alternating play, computed by hand.

Axes as in `agents.advantage`: `T` turns, `B` games, `P` seats.
"""

import numpy as np
import pytest

from agents.advantage import seat_advantages

pytestmark = pytest.mark.jitless


def advantages_of_one_game(rewards, values, seats, done, discount=0.9, trace=0.5):
    result = seat_advantages(
        np.array(rewards, float)[:, None, :],
        np.array(values)[:, None],
        np.array(seats)[:, None],
        np.array(done)[:, None],
        discount,
        trace,
    )
    return result[:, 0]


def test_three_turns_of_two_players():
    # Seat 0 acts at turns 0 and 2. Between them it loses 1 (by seat 1's move), at the end it wins 2:
    #   delta_2 = 2 - 1 = 1;            A_2 = 1
    #   delta_0 = (0 - 1) + 0.9 * 1 - 0.5 = -0.6;  A_0 = -0.6 + 0.9 * 0.5 * 1 = -0.15
    # Seat 1 acts at turn 1 only; it wins 1 then and loses 2 at the end: A_1 = (1 - 2) + 0.25 = -0.75.
    advantages = advantages_of_one_game(
        rewards=[[0, 0], [-1, 1], [2, -2]],
        values=[0.5, -0.25, 1.0],
        seats=[0, 1, 0],
        done=[False, False, True],
    )
    assert advantages == pytest.approx([-0.15, -0.75, 1.0])


def test_three_turns_of_three_players():
    # Each seat acts once; all it receives from its turn on is its own, whoever acted, and nothing bootstraps:
    #   A_0 = (1 + 0 - 2) - 0.5 = -1.5
    #   A_1 = (3 + 1) - 1 = 3      (the -0.5 of turn 0 came before its decision)
    #   A_2 = 1 - (-2) = 3         (the -3 of turn 1 came before its decision)
    advantages = advantages_of_one_game(
        rewards=[[1, -0.5, -0.5], [0, 3, -3], [-2, 1, 1]],
        values=[0.5, 1.0, -2.0],
        seats=[0, 1, 2],
        done=[False, False, True],
    )
    assert advantages == pytest.approx([-1.5, 3.0, 3.0])


def test_three_players_bootstrap_from_the_own_next_decision():
    # Seat 0 acts at turns 0 and 3: delta_3 = 4 - 2 = 2; delta_0 = (0 + 1 - 1) + 0.9 * 2 - 1 = 0.8;
    # A_0 = 0.8 + 0.45 * 2 = 1.7. The values of seats 1 and 2 (100, -100) have no part in it.
    advantages = advantages_of_one_game(
        rewards=[[0, 0, 0], [1, 0, -1], [-1, 1, 0], [4, -2, -2]],
        values=[1.0, 100.0, -100.0, 2.0],
        seats=[0, 1, 2, 0],
        done=[False, False, False, True],
    )
    assert advantages == pytest.approx([1.7, (0 + 1 - 2) - 100.0, (0 - 2) + 100.0, 2.0])


def test_nothing_flows_back_over_the_end_of_an_episode():
    first = advantages_of_one_game([[0, 0], [1, -1]], [0.5, 0.5], [0, 1], [False, True])
    both = advantages_of_one_game(
        rewards=[[0, 0], [1, -1], [7, -7], [7, -7]],
        values=[0.5, 0.5, 9.0, 9.0],
        seats=[0, 1, 0, 1],
        done=[False, True, False, True],
    )
    assert both[:2] == pytest.approx(first)


def test_games_of_a_batch_do_not_mix():
    rng = np.random.default_rng(3)
    rewards, values = rng.normal(size=(6, 4, 2)), rng.normal(size=(6, 4))
    seats = np.tile(np.arange(6)[:, None] % 2, (1, 4))
    done = np.zeros((6, 4), bool)
    done[-1] = True
    batch = seat_advantages(rewards, values, seats, done, 0.99, 0.9)
    for game in range(4):
        one = slice(game, game + 1)
        alone = seat_advantages(rewards[:, one], values[:, one], seats[:, one], done[:, one], 0.99, 0.9)
        assert np.array_equal(batch[:, one], alone)


def test_with_trace_one_an_advantage_is_all_that_follows_minus_the_value():
    rng = np.random.default_rng(4)
    rewards, values = rng.normal(size=(8, 1, 2)), rng.normal(size=(8, 1))
    seats = (np.arange(8) % 2)[:, None]
    done = np.zeros((8, 1), bool)
    done[-1] = True
    advantages = seat_advantages(rewards, values, seats, done, 1.0, 1.0)
    for turn in range(8):
        to_come = rewards[turn:, 0, seats[turn, 0]].sum()
        assert advantages[turn, 0] == pytest.approx(to_come - values[turn, 0])
