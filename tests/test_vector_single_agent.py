"""The batched Gymnasium environment: game by game what Gymnasium's own batch of single ones gives."""

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from casino_env import CasinoError, IllegalMove, InvalidMove
from casino_env.errors import NotReset
from casino_env.legal import LegalMoves
from casino_env.rules import PLAYER_COUNTS
from casino_env.vector_single_agent import RoyalCasinoVectorEnv
from casino_env.view import View
from tests.helpers import check, study
from tests.helpers_env import SETTINGS

ENV = "RoyalCasino-v0"
GAMES = 6
SHORT = "royal;near21=none;target=9"  # a match of a few deals


class Latest:
    """Plays its last legal move: no lots, so that batches and single games can be compared."""

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
        return np.diff(legal.offsets) - 1


def make(num_envs: int = GAMES, **arguments: Any) -> RoyalCasinoVectorEnv:
    """The batched environment."""
    return gymnasium.make_vec(ENV, num_envs=num_envs, **arguments).unwrapped


def one_by_one(mode: AutoresetMode, **arguments: Any) -> SyncVectorEnv:
    """Gymnasium's batch of single environments."""
    alone = partial(gymnasium.make, ENV, disable_env_checker=True, **arguments)
    return SyncVectorEnv([alone] * GAMES, autoreset_mode=mode)


def tokens_of(infos: dict[str, Any], rng: np.random.Generator, illegal: float) -> np.ndarray:
    """A legal token for every game, or now and then any; anything for a game that is over."""
    tokens = [
        rng.integers(236) if rng.random() < illegal or not mask.any() else rng.choice(np.flatnonzero(mask))
        for mask in infos["action_mask"]
    ]
    return np.array(tokens, np.int64)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(
    ("rules", "players", "others"),
    [
        *((rules, players, {}) for rules, players in SETTINGS),
        (SHORT, 2, {"objective": "match"}),
        (SHORT, 3, {"objective": "match", "max_deals": 2, "auto_complete": False, "learner_seat": 1}),
    ],
)
def test_it_equals_a_batch_of_single_games(
    rules: str, players: int, others: dict[str, Any], mode: AutoresetMode
) -> None:
    """Observations, rewards, ends, infos, with illegal tokens, restarts and new seeds on the way."""
    arguments = {"rules": rules, "players": players, "opponent": Latest(), **others}
    batch, single = make(autoreset_mode=mode, **arguments), one_by_one(mode, **arguments)
    rng, ends, refused = np.random.default_rng(players), 0, 0
    for seed in (7, [3, 1, 4, 1, 5, 9], None):
        observations, infos = batch.reset(seed=seed)
        assert data_equivalence((observations, infos), single.reset(seed=seed), exact=True)
        for _ in range(80):
            tokens = tokens_of(infos, rng, illegal=0.01)
            step = batch.step(tokens)
            assert data_equivalence(step, single.step(tokens), exact=True)
            observations, _, terminated, truncated, infos = step
            over = terminated | truncated
            ends += over.sum()
            refused += "illegal" in infos or "illegal" in infos.get("final_info", ())
            if mode is AutoresetMode.DISABLED and over.any():
                options = {"reset_mask": over}
                observations, infos = batch.reset(options=dict(options))
                assert data_equivalence((observations, infos), single.reset(options=options), exact=True)
                infos = {"action_mask": batch.action_masks()}
    assert ends > 3 * GAMES and refused > 0


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_one_game_equals_a_single_one_whose_opponents_draw_lots(players: int) -> None:
    batch, alone = (
        make(1, players=players, opponent="random"),
        gymnasium.make(ENV, players=players, opponent="random"),
    )
    rng, (_, infos) = np.random.default_rng(1), batch.reset(seed=4)
    alone.reset(seed=4)
    over = False
    while not over:
        tokens = tokens_of(infos, rng, illegal=0)
        observations, rewards, terminated, _, infos = batch.step(tokens)
        observation, reward, over, _, info = alone.step(tokens[0])
        assert np.array_equal(observations[0], observation)
        assert (rewards[0], terminated[0], infos["seat"][0]) == (reward, over, info["seat"])
        check(batch.position(0))
        assert batch.position(0) == alone.unwrapped.position


def test_games_of_one_seed_differ_and_the_same_seed_repeats_them() -> None:
    env, again = make(8, opponent="random"), make(8, opponent="random")
    trajectories = []
    for one in (env, again):
        rng, seen = np.random.default_rng(0), []
        observations, infos = one.reset(seed=11)
        for _ in range(40):
            seen.append(observations)
            observations, *_, infos = one.step(tokens_of(infos, rng, illegal=0))
        trajectories.append(np.stack(seen))
    assert np.array_equal(*trajectories)
    games = trajectories[0].transpose(1, 0, 2).reshape(8, -1)
    assert len(np.unique(games, axis=0)) == 8
    assert len({str(env.position(game)) for game in range(8)}) == 8


def test_spaces() -> None:
    env = make()
    observations, infos = env.reset(seed=0)
    assert env.observation_space.contains(observations)
    assert env.single_observation_space.contains(observations[0])
    assert env.action_space.contains(tokens_of(infos, np.random.default_rng(0), illegal=0))
    assert np.array_equal(env.action_masks(), infos["action_mask"].astype(bool))
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def pickled(env: RoyalCasinoVectorEnv) -> RoyalCasinoVectorEnv:
    """A copy by way of a pickle."""
    return pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_a_copy_is_independent(copied: Callable[[RoyalCasinoVectorEnv], RoyalCasinoVectorEnv]) -> None:
    env = make(3, opponent="random", objective="match")
    _, infos = env.reset(seed=5)
    env.step(tokens_of(infos, np.random.default_rng(0), illegal=0))
    twins, ends = (copied(env), copied(env)), []
    for twin in twins:
        rng, infos = np.random.default_rng(1), {"action_mask": twin.action_masks()}
        for _ in range(60):
            *_, infos = twin.step(tokens_of(infos, rng, illegal=0))
        ends.append([str(twin.position(game)) for game in range(3)])
    assert ends[0] == ends[1] != [str(env.position(game)) for game in range(3)]


def test_rendering() -> None:
    env = make(2, render_mode="ansi", auto_complete=False)
    env.reset(seed=1)
    assert env.render() == tuple(str(env.position(game)) for game in range(2))
    with pytest.warns(UserWarning, match="without a render_mode; valid: ansi, rgb_array"):
        assert make(2).render() is None
    env = make(2, render_mode="rgb_array")
    env.reset(seed=1)
    assert [picture.shape for picture in env.render()] == [(660, 1080, 3)] * 2


def test_illegal_tokens_change_nothing_where_they_are_refused() -> None:
    env = make(3, refuse_illegal=True)
    _, infos = env.reset(seed=2)
    tokens = tokens_of(infos, np.random.default_rng(0), illegal=0)
    before = [str(env.position(game)) for game in range(3)]
    tokens[1] = np.flatnonzero(infos["action_mask"][1] == 0)[0]
    with pytest.raises(IllegalMove, match=r"^game 1: .* is illegal after nothing; legal: "):
        env.step(tokens)
    for wrong in ([0, 1], [0, 1, 236], [-1, 0, 0], [0.5, 0, 0], None):
        with pytest.raises(InvalidMove, match="actions: give 3 tokens from 0 to 235"):
            env.step(wrong)
    assert [str(env.position(game)) for game in range(3)] == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs=0 is not possible; valid: 1 or more"),
        ({"opponent": "nobody"}, "unknown agent 'nobody'"),
        ({"learner_seat": 2}, "learner_seat=2 is not a seat; valid: 0 to 1, or 'random'"),
        ({"render_mode": "human"}, "render_mode='human' is unknown; valid: ansi, rgb_array, None"),
        (
            {"autoreset_mode": "Never"},
            "autoreset_mode='Never' is unknown; valid: NextStep, SameStep, ",
        ),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CasinoError, match=message):
        make(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": [1, 2]}, "seed: 2 given; valid: one, or 6 for as many games"),
        ({"seed": -1}, "seed=-1 is not possible"),
        ({"options": {"dealer": 2}}, "dealer=2 is not a seat"),
        ({"seed": 4, "options": {"dealer": 2}}, "dealer=2 is not a seat"),
        ({"seed": 4, "options": {"reset_mask": [True]}}, "'reset_mask': give an array of 6 truth values"),
        ({"seed": 4, "options": {"reset_mask": np.zeros(6, bool)}}, "'reset_mask': valid: some games"),
        ({"seed": 4, "options": {"position": study("royal 2H/- 3S", dealer="0")}}, "ends before the learner"),
        ({"options": [("dealer", 1)]}, "reset options are a dict, not"),
        ({"options": 5}, "reset options are a dict, not 5"),
    ],
)
def test_wrong_resets_change_nothing(arguments: dict[str, Any], message: str) -> None:
    env = make(learner_seat=1, opponent="random")
    env.reset(seed=3)
    twin = copy.deepcopy(env)
    with pytest.raises(CasinoError, match=message):
        env.reset(**arguments)
    assert data_equivalence(
        env.step(env.action_masks().argmax(axis=1)), twin.step(twin.action_masks().argmax(axis=1))
    )
    assert data_equivalence(env.reset(), twin.reset())


def test_a_seed_repeats_games_whatever_came_before() -> None:
    """Also if only some of them are reset, and opponents draw lots before the learner's first turn."""
    env = make(3, players=3, opponent="random", learner_seat=0)
    starts = []
    for before in (1, 2):
        env.reset(seed=before)
        env.reset(seed=7, options={"reset_mask": np.array([False, True, True])})
        starts.append([str(env.position(game)) for game in range(3)])
    assert starts[0][1:] == starts[1][1:]
    assert starts[0][0] != starts[1][0]


def test_streams_of_the_games() -> None:
    env = make(3)
    env.reset(seed=np.array(5))
    assert env.np_random_seed == (5, 6, 7)
    assert len({rng.integers(2**60) for rng in copy.deepcopy(env.np_random)}) == 3


def test_steps_out_of_place() -> None:
    env = make(2, autoreset_mode="Disabled")
    with pytest.raises(NotReset, match="before the first reset: call reset"):
        env.step(np.zeros(2, np.int64))
    with pytest.raises(CasinoError, match="'reset_mask': valid: some games, and at first all"):
        env.reset(options={"reset_mask": np.array([True, False])})
    _, infos = env.reset(seed=0)
    tokens = np.array([np.flatnonzero(mask == 0)[0] for mask in infos["action_mask"]])
    env.step(tokens)
    with pytest.raises(CasinoError, match="games are over: reset them with options="):
        env.step(tokens)


@pytest.mark.parametrize("batched", [True, False])
def test_a_position_that_ends_before_the_learner_acts_is_refused(batched: bool) -> None:
    position = study("royal 2H/- 3S", dealer="0")
    env = make(2, learner_seat=1) if batched else gymnasium.make(ENV, learner_seat=1)
    with pytest.raises(CasinoError, match="the episode ends before the learner is to act"):
        env.reset(options={"position": position})


@pytest.mark.parametrize("batched", [True, False])
def test_an_opponent_that_chooses_no_move_of_its_list_is_named(batched: bool) -> None:
    class Beyond:
        def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
            return np.diff(legal.offsets)

    arguments = {"opponent": Beyond(), "learner_seat": 0}
    env = make(2, **arguments) if batched else gymnasium.make(ENV, disable_env_checker=True, **arguments)
    with pytest.raises(CasinoError, match="opponent Beyond: choose gives for each game the index of a move"):
        env.reset(seed=0)
