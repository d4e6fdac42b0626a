"""A policy that plays its moves out: in the same worlds, to the end of the hand, and better than without."""

import numpy as np
import pytest
import torch

from agents.arena import margin_against
from agents.checkpoint import save_actor
from agents.network import Actor, NetworkShape
from agents.policy import PolicyAgent
from agents.policy_search import PolicySearch, deal_worlds
from agents.registry import make_agent
from agents.worlds import Question, start_streams
from casino_env import Rules, VectorEnv
from casino_env.state import empty_state

WORLDS = 8


def untrained(players=2, rules="royal"):
    torch.manual_seed(0)
    return PolicyAgent(Actor(NetworkShape(players, 8, 4)).eval(), Rules.parse(rules), "untrained")


def searching(players=2, rules="royal", worlds=WORLDS):
    return PolicySearch(untrained(players, rules), Rules.parse(rules), players, worlds)


def test_moves_are_played_out_in_the_same_worlds():
    env = VectorEnv(4, "royal", 2)
    legal, view = env.reset(seed=3), env.view()
    streams = start_streams(np.random.default_rng(0), 4)
    question = Question(view, legal.offsets, legal.moves, streams, np.zeros(0, np.int64))
    rows = empty_state(len(legal.moves) * WORLDS, 2)
    deal_worlds(Rules().table, question, WORLDS, empty_state(1, 2), rows)
    others = rows.hands[:, 1].reshape(-1, WORLDS)  # [moves, worlds]
    for game in range(4):
        of_game = others[legal.offsets[game] : legal.offsets[game + 1]]
        assert (of_game == of_game[0]).all()
        assert len(set(of_game[0].tolist())) == WORLDS
        assert not (of_game & view.hand[game]).any() and not (of_game & view.loose[game]).any()


@pytest.mark.parametrize(
    ("players", "rules"), [(2, "royal"), (3, "royal"), (4, "plain"), (2, "kasino;draw=yes")]
)
def test_it_plays_whole_deals_and_the_same_again(players, rules):
    played = []
    for _ in range(2):
        env, rng = VectorEnv(6, rules, players, auto_reset=False), np.random.default_rng(5)
        agent, legal = searching(players, rules, 3), env.reset(seed=1)
        for _ in range(48):
            step = env.step(agent.choose(env.view(), legal, rng))
            legal = step.legal
        assert step.terminated.all()
        played.append(step.rewards)
    assert (played[0] == played[1]).all()


def test_even_a_policy_that_knows_nothing_gains_by_it():
    assert margin_against(searching(), untrained(), "royal", 2, 30, 1).low > 2


def test_the_last_card_is_played_exactly():
    env = VectorEnv(16, "royal", 2, auto_reset=False)
    legal, rng = env.reset(seed=2), np.random.default_rng(0)
    for _ in range(47):
        legal = env.step(rng.integers(np.diff(legal.offsets))).legal
    exact = make_agent("random:endgame=exact", Rules(), 2)
    chosen = [agent.choose(env.view(), legal, rng) for agent in (searching(worlds=1), exact)]
    values = [env_points(env, choices) for choices in chosen]
    assert (values[0] == values[1]).all()


def env_points(env, choices):
    """What the last seat to act ends ahead by, in each game."""
    copy = VectorEnv(env.num_envs, "royal", 2, auto_reset=False)
    copy.reset(seed=2)
    for name, array in env.state._asdict().items():
        getattr(copy.state, name)[...] = array
    copy.legal = env.legal
    rewards = copy.step(choices).rewards
    return rewards[np.arange(env.num_envs), env.state.turn]


def test_it_is_an_option_of_checkpoints(tmp_path):
    path = tmp_path / "step_1.safetensors"
    shape = NetworkShape(2, 8, 4)
    save_actor(path, Actor(shape), shape, Rules(), {})
    assert make_agent(f"{path}:search=4,greedy=yes", Rules(), 2).name == "step_1:search=4"
    assert make_agent(f"{path}:search=4,endgame=exact", Rules(), 2).name == "step_1:search=4:endgame=exact"
