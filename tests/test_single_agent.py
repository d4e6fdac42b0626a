"""`RoyalCasino-v0`: Gymnasium's checker, who sits where, rewards, seeds, illegal tokens."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from casino_env import CasinoError, IllegalMove, InvalidMove
from casino_env.errors import NotReset
from casino_env.legal import LegalMoves
from casino_env.objectives import ILLEGAL_REWARD
from casino_env.rules import PLAYER_COUNTS, RULE_SETS
from casino_env.single_agent import RoyalCasinoEnv
from casino_env.tokens import N_TOKENS
from casino_env.view import View
from tests.helpers import check
from tests.helpers_env import margins

ENV = "RoyalCasino-v0"
DEALER = 1


class Witness:
    """Plays its first legal move and notes the seats that it is asked for, given the dealer."""

    def __init__(self) -> None:
        self.seats: set[int] = set()

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
        self.seats.add(int(DEALER - view.dealer[0]) % view.captured.shape[1])
        return np.zeros(1, np.int64)


def make(**arguments: Any) -> RoyalCasinoEnv:
    """The environment without Gymnasium's wrappers."""
    return gymnasium.make(ENV, **arguments).unwrapped


def play(env: RoyalCasinoEnv, seed: int, **options: Any) -> tuple[list[np.ndarray], float]:
    """One episode of random legal tokens: the observations, and the sum of rewards."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed, options=options)
    seen, total, over = [observation], 0.0, False
    while not over:
        assert np.array_equal(env.action_masks(), info["action_mask"])
        check(env.position)
        token = rng.choice(np.flatnonzero(info["action_mask"]))
        observation, reward, terminated, truncated, info = env.step(token)
        seen.append(observation)
        total += reward
        over = terminated or truncated
    assert not info["action_mask"].any()
    return seen, total


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("rules", RULE_SETS)
def test_gymnasium_contract(rules: str, players: int, render_mode: str | None) -> None:
    check_env(make(rules=rules, players=players, opponent="random", render_mode=render_mode))


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("seat", [0, 1])
def test_opponents_sit_in_order_of_play_after_the_learner(players: int, seat: int) -> None:
    witnesses = [Witness() for _ in range(players - 1)]
    env = make(players=players, opponent=witnesses, learner_seat=seat)
    play(env, 1, dealer=DEALER)
    assert [witness.seats for witness in witnesses] == [{(seat + i) % players} for i in range(1, players)]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_reward_is_the_margin_of_the_deal(players: int) -> None:
    env = make(players=players)
    seats = set()
    for seed in range(8):
        _, total = play(env, seed)
        seat = env.reset(seed=seed)[1]["seat"]
        seats.add(seat)
        play(env, seed)
        assert total == margins(env.position)[seat]
    assert len(seats) > 1  # learner_seat="random"


def test_a_match_brings_one_or_minus_one() -> None:
    env = make(objective="match", rules="royal;target=11;near21=none", opponent="random")
    assert {play(env, seed)[1] for seed in range(6)} == {1.0, -1.0}
    assert play(make(objective="match", max_deals=1), 0)[1] == 0


def test_the_same_seed_gives_the_same_episode() -> None:
    one, other = (
        make(players=3, opponent=["random", "greedy"]),
        make(players=3, opponent=["random", "greedy"]),
    )
    play(other, 3)
    for seed in (5, 6):
        (seen, total), (again, same) = play(one, seed), play(other, seed)
        assert total == same
        assert len(seen) == len(again)
        assert all(map(np.array_equal, seen, again))


def test_an_illegal_token_ends_the_episode_or_is_refused() -> None:
    env, strict = make(), make(refuse_illegal=True)
    for one in (env, strict):
        one.reset(seed=2)
    illegal = int(np.flatnonzero(~env.action_masks())[0])
    _, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (ILLEGAL_REWARD["deal"], True, False)
    assert "is illegal after nothing; legal: " in info["illegal"]
    with pytest.raises(CasinoError, match="the episode is over: call reset"):
        env.step(illegal)
    before = strict.position, strict.action_masks().tolist()
    with pytest.raises(IllegalMove):
        strict.step(illegal)
    assert (strict.position, strict.action_masks().tolist()) == before


@pytest.mark.parametrize("wrong", [None, True, 10.0, "10", [10], np.array([10]), float("nan"), -1, 236])
def test_what_is_no_token_is_refused(wrong: Any) -> None:
    env = make()
    env.reset(seed=2)
    before = env.position
    with pytest.raises(InvalidMove, match="is not a token; valid: 0 to 235"):
        env.step(wrong)
    assert env.position == before


def test_lists_of_frames() -> None:
    """Gymnasium collects frames if it finds the modes where it looks for them."""
    env = gymnasium.make(ENV, render_mode="rgb_array_list")
    env.reset(seed=0)
    assert [frame.shape for frame in env.render()] == [(660, 1080, 3)]


def test_before_the_first_reset() -> None:
    env = make()
    for use in (lambda: env.step(0), env.action_masks, lambda: env.position):
        with pytest.raises(NotReset, match="before the first reset: call reset"):
            use()


@pytest.mark.parametrize("seed", [-1, True, 1.5, "1"])
def test_wrong_seeds(seed: Any) -> None:
    with pytest.raises(CasinoError, match="is not possible; valid: a whole number"):
        make().reset(seed=seed)
    make().reset(seed=np.int64(3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponent": "nobody"}, "unknown agent 'nobody'"),
        ({"opponent": 5}, "opponent=5 is none; valid: an object with choose, or random, greedy"),
        ({"opponent": ["greedy", None], "players": 3}, "opponent=None is none"),
        ({"refuse_illegal": "no"}, "refuse_illegal='no' is not possible; valid: True, False"),
        ({"learner_seat": np.array([0, 1])}, "learner_seat=array.* is not a seat"),
        ({"opponent": ["random"], "players": 3}, "opponent: 1 given; valid: one, or 2 for 3 players"),
        ({"learner_seat": 2}, "learner_seat=2 is not a seat; valid: 0 to 1, or 'random'"),
        ({"learner_seat": "dealer"}, "learner_seat='dealer' is not a seat"),
        ({"rules": "regal"}, "unknown rule set"),
        ({"players": 5}, "players=5 is not possible"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CasinoError, match=message):
        make(**arguments)


def test_spaces() -> None:
    env = make()
    assert env.action_space == gymnasium.spaces.Discrete(N_TOKENS)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
