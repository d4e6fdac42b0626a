"""Equivalent moves are kept once: against the definition, card by card, in games and on crowded tables."""

import numpy as np
import pytest

from agents.features import CARD_CLASS, move_features
from agents.merging import merge_moves
from agents.network import NetworkShape
from agents.policy import PolicyAgent
from agents.ppo import Learner, PPOConfig
from casino_env import Move, Rules, VectorEnv
from casino_env.cards import iter_cards
from casino_env.legal import LegalMoves


def kind_of(packed: int) -> tuple[object, ...]:
    """What tells a move from those that are not equivalent."""
    move = Move.unpack(packed)
    taken = sorted(int(CARD_CLASS[card]) for card in iter_cards(move.loose))
    return int(CARD_CLASS[move.card]), *taken, "=", move.value, move.pile, move.raises


@pytest.mark.parametrize("rules", ["royal", "royal;capture=free;raise_own=yes", "spade", "kasino"])
@pytest.mark.parametrize("players", [2, 4])
def test_the_first_of_each_kind_is_kept(rules: str, players: int) -> None:
    env, rng = VectorEnv(64, rules, players, seed=1), np.random.default_rng(0)
    legal, merged = env.reset(), 0
    for _ in range(48):
        kept = merge_moves(legal)
        for game in range(64):
            kinds = [kind_of(move) for move in legal.moves[legal.offsets[game] : legal.offsets[game + 1]]]
            first = [i for i, kind in enumerate(kinds) if kind not in kinds[:i]]
            rows = kept.rows[kept.offsets[game] : kept.offsets[game + 1]]
            assert (rows - legal.offsets[game]).tolist() == first
            merged += len(kinds) - len(first)
        assert (kept.moves == legal.moves[kept.rows]).all()
        features = move_features(env.view(), legal.moves, legal.offsets, env.rules.table)
        assert len(np.unique(features[kept.rows], axis=0)) <= len(kept.rows)
        counts = np.diff(legal.offsets)
        legal = env.step((rng.random(64) * counts).astype(np.int64)).legal
    assert merged > 50


def test_an_actor_gives_a_kind_one_probability() -> None:
    """Three equivalent cards and another one to be trailed: one half each, not a quarter."""
    cards = [Move.parse(name).packed for name in ("2C", "2D", "2H", "9S")]
    legal = LegalMoves(np.array([0, 4]), np.array(cards), np.zeros(1, np.bool_))
    env = VectorEnv(1, seed=0)
    env.reset()
    for is_merged, expected in ((True, {0: 0.5, 3: 0.5}), (False, dict.fromkeys(range(4), 0.25))):
        actor = Learner(NetworkShape(2, 8, 4, is_merged), PPOConfig(), 0).actor
        actor.score.weight.data.zero_()
        agent, rng = PolicyAgent(actor, Rules()), np.random.default_rng(0)
        drawn = [int(agent.choose(env.view(), legal, rng)[0]) for _ in range(2000)]
        shares = {index: drawn.count(index) / 2000 for index in set(drawn)}
        assert shares == pytest.approx(expected, abs=0.05)
