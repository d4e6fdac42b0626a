"""The PettingZoo environment: PettingZoo's own tests, whole games against `Position`, rewards, matches."""

import copy
import pickle
import random
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from pettingzoo import AECEnv
from pettingzoo.test import api_test, render_test, seed_test

from casino_env import IllegalMove, royal_casino_v0
from casino_env.errors import NotReset
from casino_env.rules import PLAYER_COUNTS, RULE_SETS
from tests.helpers import study
from tests.helpers_env import (
    SETTINGS,
    TOKENS,
    margins,
    match_rewards,
    play_by_moves,
    play_out,
    random_token,
)

SHORT = "royal;near21=none;target=14"  # a match of one to three deals
EVERY_GAME = [(rules, players) for rules in RULE_SETS for players in PLAYER_COUNTS]
CONTRACT = [
    *(("env", rules, players, "deal") for rules, players in EVERY_GAME),
    *(("raw_env", rules, players, "match") for rules, players in EVERY_GAME),
]
EXPECTED_WARNINGS = (
    "unknown reset option 'options'",  # api_test passes it
    "Observation space for each agent probably should be",  # a dict, as for all games with a mask
    "Observation is not a NumPy array",  # likewise
    "Action mask numpy array is all zeros",  # of agents that are done
)


@pytest.mark.parametrize(("make", "rules", "players", "objective"), CONTRACT)
def test_pettingzoo_contract(make: str, rules: str, players: int, objective: str) -> None:
    constructor = partial(getattr(royal_casino_v0, make), rules=rules, players=players, objective=objective)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(constructor(), num_cycles=1000)
        seed_test(constructor, num_cycles=1000)
    messages = {str(warning.message) for warning in caught}
    assert not [message for message in messages if not message.startswith(EXPECTED_WARNINGS)]


@pytest.mark.parametrize(("rules", "players"), EVERY_GAME)
def test_pettingzoo_rendering(rules: str, players: int) -> None:
    render_test(partial(royal_casino_v0.env, rules=rules, players=players))


@pytest.mark.jitless
@pytest.mark.parametrize("auto_complete", [True, False])
@pytest.mark.parametrize(("rules", "players"), SETTINGS)
def test_a_game_equals_the_moves_of_position(rules: str, players: int, auto_complete: bool) -> None:
    """Positions after every move; at the end the rewards, which sum to zero."""
    env = royal_casino_v0.env(rules=rules, players=players, auto_complete=auto_complete)
    for seed in range(3):
        env.reset(seed=seed, options={"dealer": seed % players})
        for turn, position in enumerate(play_by_moves(env, seed), 1):
            assert env.unwrapped.position == position
            assert env.unwrapped.spelled == []
            assert position.is_over == (turn == 48)
            rewards = margins(position) if position.is_over else [0] * players
            assert list(env.rewards.values()) == rewards
        assert turn == 48
        assert sum(rewards) == pytest.approx(0)
        assert list(env.terminations.values()) == [True] * players
        assert play_out(env, random_token(0)) == dict(zip(env.possible_agents, rewards, strict=True))


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_a_match_equals_the_settling_of_position(players: int) -> None:
    """R7, R2.3: score carried, dealer moves on; at the end +1 and -1, or truncation after two deals."""
    env = royal_casino_v0.env(rules=SHORT, players=players, objective="match", max_deals=2)
    ends = []
    for seed in range(12):
        env.reset(seed=seed)
        deal = 1
        for position in play_by_moves(env, seed):
            if not position.is_over:
                assert env.unwrapped.position == position
                continue
            score, winner = position.settle()
            assert list(env.rewards.values()) == match_rewards(winner, players)
            assert list(env.terminations.values()) == [winner is not None] * players
            assert list(env.truncations.values()) == [winner is None and deal == 2] * players
            after = env.unwrapped.position
            if winner is None and deal < 2:
                assert (after.score, after.dealer) == (score, (position.dealer + 1) % players)
                assert after.turn == (after.dealer + 1) % players
            else:
                ends.append(winner)
                assert after == position
            deal += 1
    assert len(ends) == 12
    assert len(set(ends)) >= 3  # some side, another side, and nobody


@pytest.mark.jitless
@pytest.mark.parametrize(("players", "rewards"), [(2, [-1, 1]), (3, [-0.5, -0.5, 1]), (4, [-1, -1, 1, 1])])
def test_a_full_match_ends(players: int, rewards: list[float]) -> None:
    env = royal_casino_v0.env(players=players, objective="match")
    env.reset(seed=players)
    returns = play_out(env, random_token(players))
    assert sorted(returns.values()) == rewards
    assert env.agents == []
    if players == 4:
        assert returns["player_0"] == returns["player_2"] == -returns["player_1"]


@pytest.mark.jitless
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_observations_along_a_game(players: int) -> None:
    """Waiting agents have no legal token, the mover has what `last` shows; agents that are done step None."""
    env = royal_casino_v0.env(players=players)
    env.reset(seed=1)
    spaces = [(env.observation_space(agent), env.action_space(agent)) for agent in env.possible_agents]
    choose = random_token(1)
    for mover in env.agent_iter():
        observation, _, terminated, _, _ = env.last()
        for agent in env.agents:
            seen = env.observe(agent)
            assert seen["action_mask"].any() == (agent == mover and not terminated)
            assert seen["action_mask"].dtype == np.int8
        for name, array in env.observe(mover).items():
            assert np.array_equal(array, observation[name])
        if terminated:
            with pytest.raises(ValueError, match="None"):
                env.unwrapped.step(0)
        env.step(None if terminated else choose(observation))
    assert env.agents == []
    env.reset(seed=2)
    for agent, (observation_space, action_space) in zip(env.possible_agents, spaces, strict=True):
        assert env.observation_space(agent) is observation_space
        assert env.action_space(agent) is action_space
        assert action_space.n == 236


@pytest.mark.jitless
def test_observations_are_copies() -> None:
    """What was observed does not change with the game, nor the game with what was observed."""
    env = royal_casino_v0.raw_env()
    env.reset(seed=6)
    first, kept = env.last()[0], copy.deepcopy(env.last()[0])
    env.step(random_token(0)(first))
    for name, array in kept.items():
        assert np.array_equal(first[name], array)
        env.last()[0][name][:] = 1
    assert not env.last()[0]["action_mask"].all()
    env.position.state.hands[:] = 0
    assert env.position.state.hands.all()
    env.spelled.append(0)
    assert 0 not in env.spelled


@pytest.mark.jitless
@pytest.mark.parametrize("auto_complete", [True, False])
def test_auto_complete(auto_complete: bool) -> None:
    """After its first token a move goes on by itself where one token is legal; a turn never begins so."""
    env = royal_casino_v0.env(auto_complete=auto_complete)
    env.reset(options={"position": study("royal 2HAS/3S4S KCAH")})
    env.step(TOKENS["CAPTURE AS"])
    assert env.unwrapped.spelled == [TOKENS["CAPTURE AS"]]
    env.step(TOKENS["TAKE KC"])
    if not auto_complete:
        assert [token for token in TOKENS.values() if env.observe("player_0")["action_mask"][token]] == [
            TOKENS["TAKE AH"]
        ]
        env.step(TOKENS["TAKE AH"])
        env.step(TOKENS["DONE"])
    assert str(env.unwrapped.position).split(" ")[1:5] == ["2H/3S4S", "-", "-", "KCAHAS/-"]
    env.step(TOKENS["TRAIL 3S"])
    assert env.observe("player_0")["action_mask"].sum() == 1
    assert env.agent_selection == "player_0"


@pytest.mark.jitless
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_whole_moves_in_place_of_tokens(players: int) -> None:
    rng, env = random.Random(players), royal_casino_v0.raw_env(players=players)
    env.reset(seed=players)
    position = env.position
    while not position.is_over:
        assert env.agent_selection == f"player_{position.turn}"
        move = rng.choice(position.legal_moves())
        env.play(move)
        position = position.play(move)
        assert env.position == position
    assert list(env.rewards.values()) == margins(position)
    with pytest.raises(IllegalMove, match="the episode is over"):
        env.play(move)


def test_a_whole_move_is_refused_when_illegal_or_another_is_being_spelled() -> None:
    env = royal_casino_v0.raw_env(auto_complete=False)
    env.reset(options={"position": study("royal 2HAS/3S4S KCAH")})
    before = env.position
    with pytest.raises(IllegalMove, match="illegal move 7D: 7D is not in the hand"):
        env.play("7D")
    env.step(TOKENS["CAPTURE AS"])
    with pytest.raises(IllegalMove, match=r"illegal move 2H: another is being spelled \(CAPTURE AS\)"):
        env.play("2H")
    assert (env.position, env.spelled) == (before, [TOKENS["CAPTURE AS"]])


def pickled(env: AECEnv) -> AECEnv:
    """A copy by way of a pickle."""
    return pickle.loads(pickle.dumps(env))


@pytest.mark.jitless
@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_a_copy_is_independent(copied: Callable[[AECEnv], AECEnv]) -> None:
    """A copy in the middle of a move plays on alike, the decks of later deals included, and apart."""
    env = royal_casino_v0.env(rules=SHORT, objective="match", auto_complete=False)
    env.reset(seed=4)
    choose = random_token(5)
    while len(env.unwrapped.spelled) < 2:
        env.step(choose(env.last()[0]))
    before = str(env.unwrapped.position), env.unwrapped.spelled
    twins = copied(env), copied(env)
    returns = [play_out(twin, random_token(6)) for twin in twins]
    assert returns[0] == returns[1]
    assert twins[0].unwrapped.position == twins[1].unwrapped.position
    assert (str(env.unwrapped.position), env.unwrapped.spelled) == before


@pytest.mark.jitless
def test_rendered_texts(capsys: pytest.CaptureFixture[str]) -> None:
    position = study("royal 2HAS/3S4S KCAH")
    expected = f"{position} (CAPTURE AS)"
    env = royal_casino_v0.raw_env(render_mode="ansi")
    env.reset(options={"position": position})
    env.step(TOKENS["CAPTURE AS"])
    assert env.render() == expected
    assert capsys.readouterr().out == ""
    env = royal_casino_v0.raw_env(render_mode="human")
    env.reset(options={"position": position})
    env.step(TOKENS["CAPTURE AS"])
    assert env.render() is None
    assert capsys.readouterr().out.splitlines() == [str(position), expected, expected]


@pytest.mark.jitless
def test_before_the_first_reset() -> None:
    env = royal_casino_v0.raw_env(render_mode="ansi")
    uses = (lambda: env.step(0), lambda: env.observe("player_0"), lambda: env.play("2H"), env.render)
    for use in (*uses, lambda: env.agent_selection, lambda: env.position, env.last):
        with pytest.raises(NotReset, match="before the first reset: call reset"):
            use()
    assert not hasattr(env, "agents") and not hasattr(env, "no_such_thing")


def test_a_whole_move_asks_the_wrappers_to_look_again() -> None:
    """The stock wrapper keeps the mask that was last observed."""
    env = royal_casino_v0.env()
    env.reset(seed=1)
    env.last()
    env.unwrapped.play(env.unwrapped.position.legal_moves()[0])
    env.step(random_token(0)(env.last()[0]))
    assert not any(env.terminations.values())


def test_rendering_without_a_mode_warns() -> None:
    env = royal_casino_v0.raw_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode; valid: ansi, human, rgb_array"):
        assert env.render() is None
