"""The global state of the environment: its space, and the whole game read back from the vector."""

import numpy as np
import pytest
from pettingzoo.test.state_test import test_state_space as check_state_space

from casino_env import royal_casino_v0
from casino_env.global_state import state_blocks
from casino_env.observation import blocks, length, observation_size
from casino_env.rules import PLAYER_COUNTS
from casino_env.state import State
from tests.helpers_env import SETTINGS, cards_in, random_token

SEED, STEPS = 5, 400


def read_hidden(vector: np.ndarray, players: int) -> dict[str, np.ndarray]:
    """The blocks that only the global state has, by name."""
    extra = state_blocks(players)[len(blocks(players)) :]
    return {block.name: vector[block.offset : block.offset + block.size] for block in extra}


def assert_hidden(vector: np.ndarray, state: State) -> None:
    """Other hands, the stock in its order and the turn, read back."""
    players = state.hands.shape[1]
    part = read_hidden(vector, players)
    for seat, hand in enumerate(part["other_hands"].reshape(players - 1, -1), 1):
        assert np.flatnonzero(hand).tolist() == cards_in(state.hands[0, seat])
    stock = state.deck[0, state.dealt[0] :].tolist()
    assert np.argsort(-part["stock"], kind="stable")[: len(stock)].tolist() == stock
    assert np.count_nonzero(part["stock"]) == len(stock)
    assert np.flatnonzero(part["turn"]).tolist() == [state.turn[0]]


@pytest.mark.jitless
@pytest.mark.parametrize(("rules", "players"), SETTINGS)
def test_the_whole_game_is_in_the_state(rules: str, players: int) -> None:
    env = royal_casino_v0.env(rules=rules, players=players)
    env.reset(seed=SEED)
    choose = random_token(SEED)
    for agent in env.agent_iter(STEPS):
        observation, _, terminated, truncated, _ = env.last()
        vector, known = env.state(), observation_size(players)
        assert env.state_space.contains(vector)
        assert vector.shape == (length(state_blocks(players)),)
        assert_hidden(vector, env.unwrapped.position.state)
        if agent == "player_0":
            assert np.array_equal(vector[:known], observation["observation"])
        env.step(None if terminated or truncated else choose(observation))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_pettingzoo_contract(players: int) -> None:
    env = royal_casino_v0.raw_env(players=players)
    check_state_space(env)
    env.reset(seed=SEED)
    before = env.state()
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert not np.array_equal(before, env.state())  # a copy


def test_blocks_follow_one_another() -> None:
    for players in PLAYER_COUNTS:
        offset = 0
        for block in state_blocks(players):
            assert block.offset == offset
            offset += block.size
        assert offset == length(state_blocks(players))
