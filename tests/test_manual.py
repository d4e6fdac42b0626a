"""The manual in the docstring of the environment says what the code does."""

import ast
import inspect
import re

import numpy as np
import pytest

from casino_env import royal_casino_v0
from casino_env.manual import TOKENS, block_table, state_table, token_table
from casino_env.observation import blocks
from casino_env.rules import PLAYER_COUNTS
from casino_env.tokens import N_TOKENS, token_name

WIDTH = 120  # of a line


def test_the_manual_is_the_docstring() -> None:
    manual = royal_casino_v0.__doc__ or ""
    for table in (token_table(), block_table(), state_table()):
        for row in table:
            assert re.search(r"^ {4}" + r" +".join(map(re.escape, row)) + "$", manual, re.MULTILINE), row
    assert max(map(len, manual.splitlines())) <= WIDTH
    for heading in ("Arguments", "Agents", "Actions", "Observation", "State", "Rewards", "Reset", "Versions"):
        assert f"\n{heading}" in manual


def test_the_manual_has_every_argument_with_its_default() -> None:
    arguments = inspect.signature(royal_casino_v0.raw_env).parameters
    assert list(arguments) == list(inspect.signature(royal_casino_v0.env).parameters)
    section = (royal_casino_v0.__doc__ or "").split("\nArguments")[1].split("\nAgents")[0]
    entries = re.findall(r"^    (\w+) +(.*(?:\n {15}.*)*)\((.*)\)$", section, re.MULTILINE)
    assert {name: ast.literal_eval(default) for name, _, default in entries} == {
        name: argument.default for name, argument in arguments.items()
    }
    for mode in royal_casino_v0.raw_env.metadata["render_modes"]:
        assert mode in section


def test_the_token_table_names_every_token_once() -> None:
    named = [token for first, last, _, _ in TOKENS for token in range(first, last + 1)]
    assert named == list(range(N_TOKENS))
    for first, last, name, _ in TOKENS:
        for token in (first, last):
            assert token_name(token).split()[0] == name.split()[0]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_block_table_gives_offsets_and_sizes(players: int) -> None:
    """As a reader takes the table: the number for two, three or four players."""
    index = PLAYER_COUNTS.index(players)
    numbers_of = {name: (offset, size) for name, offset, size, _ in block_table()}
    for block in blocks(players):
        numbers = [cell.split("/") for cell in numbers_of[block.name]]
        offset, size = (int(cell[index] if len(cell) > 1 else cell[0]) for cell in numbers)
        assert (offset, size) == (block.offset, block.size)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_spaces_are_as_the_manual_says(players: int) -> None:
    env = royal_casino_v0.env(players=players)
    env.reset(seed=0)
    manual = royal_casino_v0.__doc__ or ""
    for agent in env.possible_agents:
        assert f"Discrete({env.action_space(agent).n})" in manual
        space = env.observation_space(agent)
        assert space is env.observation_space(agent)
        assert f"int8[{space['action_mask'].n}]" in manual
        assert space["observation"].dtype == np.float32
        assert space.contains(env.observe(agent))
