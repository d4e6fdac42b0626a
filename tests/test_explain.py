"""Observations in words."""

import numpy as np
import pytest

from casino_env import CasinoError, royal_casino_v0
from casino_env.explain import explain
from casino_env.rules import PLAYER_COUNTS
from tests.helpers import study
from tests.helpers_env import TOKENS, play_out, random_token

pytestmark = pytest.mark.jitless

EXPECTED = """\
hand:          2H AS
loose:         KC AH
build 9:       4C 5H 9D (multiple, +1)
captured me:   2: 2C 2D
captured +1:   0: -
unseen:        43: UNSEEN
hand sizes:    me 2, +1 2
stock:         0 cards
sweeps:        me 1, +1 0
last capture:  me
dealer:        +1
score:         me 100%, +1 24%
being spelled: CAPTURE AS, TAKE KC (open group: KC)"""


def test_words() -> None:
    env = royal_casino_v0.raw_env(auto_complete=False)
    position = study("royal 2HAS/3S9S KCAH 9*=4C5H9D@1 2C2D/- - 0 0 1/0 21/5")
    env.reset(options={"position": position})
    for token in ("CAPTURE AS", "TAKE KC"):
        env.step(TOKENS[token])
    lines = explain(env.observe("player_0")["observation"]).splitlines()
    for line, expected in zip(lines, EXPECTED.splitlines(), strict=True):
        assert line.startswith(expected.removesuffix("UNSEEN"))
    assert "nothing" in explain(env.observe("player_1")["observation"])


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_every_observation_of_a_game_can_be_explained(players: int) -> None:
    env, choose, seen = royal_casino_v0.env(players=players), random_token(1), set()

    def explained(observation: dict[str, np.ndarray]) -> int:
        seen.add(explain(observation["observation"]))
        return choose(observation)

    env.reset(seed=1)
    play_out(env, explained)
    assert len(seen) >= 48


def test_another_vector_is_refused() -> None:
    with pytest.raises(
        CasinoError, match=r"observation of shape \(7,\); valid: a vector of 589, 660, 729 numbers"
    ):
        explain(np.zeros(7))
