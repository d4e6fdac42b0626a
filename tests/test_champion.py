"""The shipped champions: each has a card, fits its game, and plays; a game without one is refused by name."""

import numpy as np
import pytest

from agents.champion import WEIGHTS
from agents.registry import make_agent
from casino_env import CasinoError, Rules, VectorEnv

GAMES = [path.stem.rpartition("-") for path in sorted(WEIGHTS.glob("*.safetensors"))]


@pytest.mark.parametrize(("rules", "players"), [(rules, int(size[0])) for rules, _, size in GAMES])
def test_a_champion_plays_its_game(rules, players):
    game, rng = Rules.parse(rules), np.random.default_rng(0)
    champion = make_agent("champion", game, players)
    env = VectorEnv(32, game, players, auto_reset=False)
    legal = env.reset(seed=0)
    for _ in range(48):
        step = env.step(champion.choose(env.view(), legal, rng))
        legal = step.legal
    assert champion.name == "champion" and step.terminated.all()
    card = (WEIGHTS / f"{rules}-{players}p.md").read_text(encoding="utf-8")
    for fact in ("commit", "decisions", "hours", "configs/"):
        assert fact in card


def test_there_is_one_at_least():
    assert ("royal", "-", "2p") in GAMES


def test_by_default_it_does_not_sample_and_no_seed_matters():
    env = VectorEnv(64, "royal", 2)
    legal = env.reset(seed=1)
    champion, sampled = (make_agent(f"champion{spec}", Rules(), 2) for spec in ("", ":greedy=no"))
    seeds = [np.random.default_rng(seed) for seed in (0, 1)]
    choices = [champion.choose(env.view(), legal, rng) for rng in seeds]
    assert (choices[0] == choices[1]).all()
    assert (sampled.choose(env.view(), legal, seeds[0]) != choices[0]).any()


def test_a_game_without_a_champion_is_refused_by_name():
    with pytest.raises(CasinoError, match="champion: there is none for kasino with 4 players; there is: "):
        make_agent("champion", Rules.parse("kasino"), 4)
