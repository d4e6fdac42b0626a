"""Features: widths, card classes, and that hidden cards reach the critic only."""

from itertools import pairwise

import numpy as np
import pytest

from agents import features
from agents.critic_features import critic_features, critic_width, hands_width
from agents.features import (
    CARD_CLASS,
    MOVE_WIDTH,
    N_CLASSES,
    move_features,
    state_features,
    state_width,
)
from casino_env import Move, Position, Rules, VectorEnv
from casino_env.cards import card_id
from casino_env.legal import LegalMoves, MoveLister
from casino_env.state import State, copy_state
from casino_env.view import View, see
from tests.helpers_env import cards_in

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
        hidden = critic_sees(env.state)
        assert states.shape == (32, state_width(players))
        assert moves.shape == (len(legal.moves), MOVE_WIDTH)
        assert hidden.shape == (32, critic_width(players))
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


def critic_sees(state: State, rules: str = "royal") -> np.ndarray:
    """What is hidden in all games."""
    games, players = state.hands.shape
    out = np.full((games, critic_width(players)), np.nan, np.float32)
    return critic_features(state, np.arange(games), Rules.parse(rules).table, out)


def classes_of(cards: list[int]) -> list[float]:
    """Number of cards of each class."""
    return np.bincount(CARD_CLASS[cards], minlength=N_CLASSES).tolist()


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", ["royal", "kasino"])
def test_the_critic_sees_the_other_hands_and_who_will_be_dealt_what(rules, players):
    """Found out by playing on: what a seat is dealt does not depend on the moves."""
    env, rng = VectorEnv(1, rules, players, seed=3, auto_reset=False), np.random.default_rng(0)
    env.reset()
    states = [copy_state(env.state)]
    for _ in range(48):
        moves = np.diff(env.legal.offsets)
        env.step((rng.random(1) * moves).astype(np.int64))
        states.append(copy_state(env.state))
    for turn in (0, 1, 7, 24, 45, 47):
        state = states[turn]
        seats = [(int(state.turn[0]) + i) % players for i in range(players)]
        hands = [cards_in(int(state.hands[0, seat])) for seat in seats[1:]]
        dealt = {seat: [] for seat in seats}
        for before, after in pairwise(states[turn:]):
            for seat in seats:
                new = int(after.hands[0, seat]) & ~int(before.hands[0, seat])
                dealt[seat] += cards_in(new)
        coming = [part for seat in seats for part in (dealt[seat][:4], dealt[seat][4:])]
        expected = [classes_of(cards) for cards in (*hands, *coming)]
        row = critic_sees(state, rules)[0]
        found = row[: len(expected) * N_CLASSES].reshape(-1, N_CLASSES)
        assert found.tolist() == expected
        assert hands_width(players) == (players - 1) * N_CLASSES


def test_the_critic_sees_what_the_other_hand_would_take():
    # the nine takes its build and four and five; the ace takes nothing; the four takes the four
    text = "royal 2D3H9D/4S9SAH 4H5C 9=2C7H@0 -/- - 0 - 0/0 0/0 1"
    state = Position.parse(text, partial=True).state
    grabs = critic_sees(state)[0, -17:]
    nine, four = (grabs[value - 1] for value in (9, 4))
    assert nine == pytest.approx(4 * 3 / 26, abs=1e-2) and four == pytest.approx(3 / 26, abs=1e-2)
    assert np.flatnonzero(grabs).tolist() == [3, 8, 16] and grabs[16] == nine


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
