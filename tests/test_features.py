"""Features: widths, card classes, and that hidden cards reach the critic only."""

import numpy as np
import pytest

from agents import features
from agents.features import (
    CARD_CLASS,
    MOVE_WIDTH,
    N_CLASSES,
    hidden_features,
    hidden_width,
    move_features,
    state_features,
    state_width,
)
from casino_env import Move, Position, Rules, VectorEnv
from casino_env.cards import card_id
from casino_env.legal import LegalMoves, MoveLister
from casino_env.state import copy_state
from casino_env.view import View, see

RULES = Rules().table


def features_of(view: View, legal: LegalMoves) -> np.ndarray:
    """Of all legal moves."""
    return move_features(view, legal.moves, legal.offsets, RULES)


def random_envs(players, turns=20):
    env, rng = VectorEnv(32, players=players, seed=1), np.random.default_rng(0)
    legal = env.reset()
    for _ in range(turns):
        yield env, env.view(), legal
        counts = np.diff(legal.offsets)
        legal = env.step((rng.random(len(counts)) * counts).astype(np.int64)).legal


def test_classes_tell_only_spades_and_the_ten_of_diamonds_apart():
    assert len(set(CARD_CLASS.tolist())) == N_CLASSES
    assert CARD_CLASS[card_id("9C")] == CARD_CLASS[card_id("9H")] != CARD_CLASS[card_id("9S")]
    assert len({CARD_CLASS[card_id(name)] for name in ("TC", "TD", "TS")}) == 3


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_column_is_written_within_the_width(players):
    used = np.zeros(state_width(players), bool), np.zeros(MOVE_WIDTH, bool)
    for env, view, legal in random_envs(players, turns=47):
        states, moves = state_features(view, RULES), features_of(view, legal)
        hidden = hidden_features(env.state)
        assert states.shape == (32, state_width(players))
        assert moves.shape == (len(legal.moves), MOVE_WIDTH)
        assert hidden.shape == (32, hidden_width(players))
        assert np.isfinite(states).all()
        assert np.isfinite(moves).all()
        used[0][states.any(axis=0)] = True
        used[1][moves.any(axis=0)] = True
    unused_states = np.flatnonzero(~used[0])
    # the score columns stay 0 in single deals, and rare builds may not come up
    assert len(unused_states) < 40
    assert used[0][-features.side_count(players) - 1]
    assert used[1].mean() > 0.9


@pytest.mark.parametrize("players", [2, 3, 4])
def test_swapping_unseen_cards_moves_no_feature_of_the_actor(players):
    for env, view, legal in random_envs(players):
        state, game = copy_state(env.state), 0
        for game in range(32):
            other = (state.turn[game] + 1) % players
            mine, stock = state.hands[game, other], state.deck[game, state.dealt[game] :]
            if not mine or not len(stock):
                continue
            card = int(mine).bit_length() - 1
            state.hands[game, other] = int(mine) ^ 1 << card | 1 << int(stock[0])
            stock[0] = card
        swapped = see(state)
        relisted = MoveLister(32)(state, RULES)
        assert np.array_equal(state_features(view, RULES), state_features(swapped, RULES))
        assert np.array_equal(features_of(view, legal), features_of(swapped, relisted))


def test_the_critic_sees_the_other_hand():
    position = Position.deal(seed=3)
    hidden = hidden_features(position.state)[0]
    other = int(position.state.hands[0, (position.turn + 1) % 2])
    expected = np.zeros(N_CLASSES)
    for card in range(52):
        expected[CARD_CLASS[card]] += other >> card & 1
    assert hidden.tolist() == expected.tolist()


def test_features_of_a_sweep_by_hand():
    position = Position.parse("royal 2D9S/AHAS 4H5C - -/- - 0 - 0/0 0/0 1", partial=True)
    state = position.state
    legal = MoveLister(1)(state, RULES)
    rows = features_of(see(state), legal)
    texts = [str(move) for move in map(Move.unpack, legal.moves)]
    gain = features.KINDS + 2 * N_CLASSES + features.N_BUILDS + 1
    sweep = rows[texts.index("9S*4H5C")]
    assert sweep[gain : gain + 6].tolist() == pytest.approx([3 / 4, 1 / 4, 0, 1, 0, 0])
    trail = rows[texts.index("2D")]
    assert trail[gain : gain + 6].tolist() == pytest.approx([0, 0, 0, 0, 3 / 4, 0])
