"""Views: hidden cards and the numbering of seats enter neither what a seat sees nor its observation."""

from typing import Any

import numpy as np
import pytest

from casino_env import CasinoError, royal_casino_v0
from casino_env.invariants import broken_promise
from casino_env.legal import MoveLister
from casino_env.observation import observe_batch
from casino_env.rules import PLAYER_COUNTS, Rules
from casino_env.state import State, select
from casino_env.tokens import MAX_TOKENS
from casino_env.view import View, see, select_view
from tests.helpers_env import hide_again, position_of, random_states, rotate

ROYAL = Rules().table
TURNS = 48


def same(one: View, other: View) -> bool:
    """Whether two views agree in every bit, and so do their observations."""
    equal = all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
    return equal and observe_batch(one, ROYAL).tobytes() == observe_batch(other, ROYAL).tobytes()


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_hidden_cards_do_not_enter(players: int) -> None:
    """For every seat in over 1,000 positions: the other hands and the stock dealt anew."""
    rng, seen, changed = np.random.default_rng(0), 0, 0
    for state in random_states(players, games=32, seed=players):
        for by in range(players):
            seats = (state.turn + by) % players
            other = hide_again(state, rng, seats)
            assert same(see(state, seats), see(other, seats))
            seen += len(seats)
            changed += int((state.hands != other.hands).any(axis=1).sum())
    assert seen == TURNS * 32 * players
    assert changed > 1000 * players


@pytest.mark.jitless
def test_the_seat_to_act_sees() -> None:
    state = next(random_states(4, games=4, seed=1))
    assert same(see(state), see(state, state.turn))
    assert not same(see(state), see(state, (state.turn + 1) % 4))


def hide_within_the_rules(state: State, rng: np.random.Generator) -> State:
    """`hide_again` until the owners of builds hold the promised cards: the environment asks for that."""
    while True:
        twin = hide_again(state, rng)
        if broken_promise(twin, 0, Rules().table) is None:
            return twin


@pytest.mark.jitless
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_hidden_cards_do_not_enter_the_environment(players: int) -> None:
    """Token by token, the mover's observation and mask are the same with the hidden cards dealt anew.

    The others see nothing of the unfinished move: their observation stays as it was before it.
    """
    rng = np.random.default_rng(1)
    envs = [royal_casino_v0.raw_env(players=players) for _ in range(2)]
    for state in random_states(players, games=8, seed=players):
        for env, twin in zip(envs, (state, hide_within_the_rules(state, rng)), strict=True):
            env.reset(options={"position": position_of(twin, 0, "royal")})
        mover = envs[0].agent_selection
        waiting = [agent for agent in envs[0].agents if agent != mover]
        before = [seen_by(envs[0], agent) for agent in waiting]
        for _ in range(MAX_TOKENS):
            assert [seen_by(envs[0], agent) for agent in waiting] == before
            assert seen_by(envs[0], mover) == seen_by(envs[1], mover)
            token = int(rng.choice(np.flatnonzero(envs[0].observe(mover)["action_mask"])))
            for env in envs:
                env.step(token)
            if not envs[0].spelled:
                break


def seen_by(env: royal_casino_v0.raw_env, agent: str) -> tuple[bytes, bytes]:
    """Observation and mask of an agent, in bits."""
    observation = env.observe(agent)
    return observation["observation"].tobytes(), observation["action_mask"].tobytes()


@pytest.mark.jitless
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_seats_rotated_give_the_same_view(players: int) -> None:
    """And the same legal moves."""
    rules, lister = Rules().table, MoveLister(4)
    for state in random_states(players, games=4, seed=9):
        for by in range(1, players):
            turned = rotate(state, by)
            assert same(see(state), see(turned))
            for viewer in range(players):
                seats = np.full_like(state.turn, viewer)
                assert same(see(state, seats), see(turned, (seats + by) % players))
            assert np.array_equal(lister(state, rules).moves, lister(turned, rules).moves)


@pytest.mark.jitless
def test_a_view_is_a_copy() -> None:
    state = next(random_states(3, games=2, seed=0))
    for array in see(state):
        array[...] = 7
    assert same(see(state), see(next(random_states(3, games=2, seed=0))))


@pytest.mark.jitless
@pytest.mark.parametrize("seats", [[0, 2], [0], [0, -1], ["a", "b"]], ids=str)
def test_seats_that_are_none(seats: Any) -> None:
    with pytest.raises(CasinoError, match="seats: give 2 seats from 0 to 1"):
        see(next(random_states(2, 2, 0)), seats)


def test_views_of_some_games() -> None:
    state = next(random_states(4, games=5, seed=0))
    for games in ([0, 1], [4, 2, 2]):
        assert same(select_view(see(state), np.array(games)), see(select(state, np.array(games))))
