"""One game in one array: its parts lie apart, and are those of a batch of one game."""

import numpy as np
import pytest

from casino_env import Rules
from casino_env.one_game import SIZE, new_game, overwrite, take_apart
from casino_env.rules import PLAYER_COUNTS, RULE_SETS
from casino_env.state import empty_state
from casino_env.token_game import nothing_named
from casino_env.view import empty_view
from tests.helpers_env import random_states


@pytest.mark.jitless
@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("rules", [*RULE_SETS, "royal;near21=pagat;target=9999;raise_own=yes"])
def test_a_new_game(rules: str, players: int) -> None:
    table = Rules.parse(rules).table
    game = take_apart(new_game(table, players))
    assert game.games.rules == table
    for part, fresh in (
        (game.games.state, empty_state(1, players)),
        (game.games.unfinished, nothing_named(1)),
    ):
        for kept, array in zip(part, fresh, strict=True):
            assert (kept.dtype, kept.shape) == (array.dtype, array.shape)
            assert (kept == array).all()


@pytest.mark.jitless
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_parts_keep_what_is_written_and_share_no_word(players: int) -> None:
    words = new_game(Rules().table, players)
    game = take_apart(words)
    for array, model in zip(game.seen, empty_view(1, players), strict=True):
        assert (array.dtype, array.shape) == (model.dtype, model.shape)
    parts = [*game.games.state, *game.games.unfinished, *game.seen, game.offsets]
    assert all(np.shares_memory(part, words) for part in parts)
    for number, part in enumerate(parts):
        part[:] = number
    for number, part in enumerate(parts):
        assert (part == number).all()
    assert game.games.rules == take_apart(words).games.rules == Rules().table
    assert len(words) == SIZE


@pytest.mark.jitless
def test_a_state_of_play_is_kept() -> None:
    game = take_apart(new_game(Rules().table, 3))
    for state in random_states(3, 1, seed=2):
        overwrite(game.games.state, state)
        for kept, array in zip(game.games.state, state, strict=True):
            assert (kept == array).all()
