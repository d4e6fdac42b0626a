"""The shipped champions: each has a card, fits its game, and plays; a game without one is refused by name."""

import numpy as np
import pytest

from agents.champion import WEIGHTS
from agents.registry import make_agent
from casino_env import CasinoError, Rules, VectorEnv
from casino_env.cards import iter_cards
from casino_env.moves import Move

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


@pytest.mark.parametrize("skill", ["builds", "raises", "sums"])
def test_an_agent_without_a_skill_uses_it_only_where_it_must(skill):
    env, rng = VectorEnv(200, "royal", 2, auto_reset=False), np.random.default_rng(0)
    agent = make_agent(f"greedy:without={skill}", Rules(), 2)
    needs = {
        "builds": lambda move: move.value and not move.raises,
        "raises": lambda move: move.raises,
        "sums": lambda move: (
            not move.value and {card // 4 for card in iter_cards(move.loose)} - {move.card // 4}
        ),
    }[skill]
    legal, avoided = env.reset(seed=2), 0
    for turn in range(48):
        choices = agent.choose(env.view(), legal, rng)
        for game in range(200):
            moves = [Move.unpack(move) for move in legal.moves[legal.offsets[game] : legal.offsets[game + 1]]]
            used = [bool(needs(move)) for move in moves]
            assert not used[choices[game]] or all(used)
            avoided += any(used) and not all(used)
        # random moves in turns, so that there are builds to raise
        counts = np.diff(legal.offsets)
        played = choices if turn % 2 else (rng.random(200) * counts).astype(np.int64)
        legal = env.step(played).legal
    assert agent.name == f"greedy:without={skill}" and avoided > 20


def test_an_unknown_skill_is_refused_by_name():
    with pytest.raises(
        CasinoError, match="option 'without' of agent 'greedy' is 'luck'; valid: builds, raises, sums"
    ):
        make_agent("greedy:without=luck", Rules(), 2)
