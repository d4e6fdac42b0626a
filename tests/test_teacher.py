"""The teacher of last hands: whom it judges, what it says, and that a policy learns from it."""

import numpy as np
import pytest
import torch

from agents.advantage import seat_advantages
from agents.baselines import RandomAgent
from agents.batches import Targets
from agents.league import our_margins
from agents.losses import IMITATION, TEMPERATURE, regret_loss
from agents.payments import SolvedEnd
from agents.registry import make_agent
from agents.rollout import Guests
from agents.teacher import EndgameTeacher, no_lesson
from casino_env import Position, Rules
from casino_env.decks import shuffled_decks
from casino_env.state import State
from tests.helpers_learning import RATES, deals, generator, play, small_learner

LAST_HAND = 40  # turns before it


def at_turn(turn, games=8, seed=0):
    """Games of random play, with the view and the legal moves of a turn."""
    env, rng = deals(games), np.random.default_rng(seed)
    legal = env.reset(seed=seed)
    for _ in range(turn):
        legal = env.step(rng.integers(np.diff(legal.offsets))).legal
    return env, env.view(), legal


def margin(position, seat):
    """By how many points the seat will end ahead, both playing best."""
    if position.is_over:
        points = [side.total for side in position.deal_points()]
        return points[seat] - points[1 - seat]
    best = max if position.turn == seat else min
    return best(margin(position.play(move), seat) for move in position.legal_moves())


def test_only_choices_of_last_hands_are_judged():
    teacher = EndgameTeacher(Rules())
    for turn in range(0, 48, 4):
        _, view, legal = at_turn(turn)
        lesson = teacher.judge(view, legal)
        assert (lesson.solved == ((turn >= LAST_HAND) & (np.diff(legal.offsets) > 1))).all()
        assert not lesson.regrets[~np.repeat(lesson.solved, np.diff(legal.offsets))].any()
        assert (np.minimum.reduceat(lesson.regrets, legal.offsets[:-1]) == 0).all()
    assert no_lesson(legal).regrets.shape == lesson.regrets.shape


def test_regrets_are_those_of_plain_minimax():
    env, view, legal = at_turn(LAST_HAND + 3, games=16)
    lesson = EndgameTeacher(Rules()).judge(view, legal)
    for game in np.flatnonzero(lesson.solved):
        position = Position(Rules(), State(*(array[game : game + 1].copy() for array in env.state)))
        values = {move.packed: margin(position.play(move), position.turn) for move in position.legal_moves()}
        rows = slice(legal.offsets[game], legal.offsets[game + 1])
        given = dict(zip(legal.moves[rows].tolist(), lesson.regrets[rows].tolist(), strict=True))
        assert given == {move: max(values.values()) - value for move, value in values.items()}


def test_lessons_belong_to_the_moves_that_the_learner_chose_between():
    """Some seats are a guest's, and equivalent moves are merged."""
    learner, rng = small_learner(merged=True), generator()
    holders = np.tile([[0, 1], [1, 0]], (8, 1))
    guests = Guests([RandomAgent()], holders)
    rollout = play(learner, deals(16), rng, guests, teacher=EndgameTeacher(Rules()))
    counts = np.diff(rollout.offsets)
    assert rollout.lesson.solved.shape == counts.shape
    assert rollout.lesson.regrets.shape == (counts.sum(),) == rollout.log_probs.shape
    last_hand = np.repeat(np.arange(48) >= LAST_HAND, rollout.ours.sum(axis=1))
    assert (rollout.lesson.solved == last_hand & (counts > 1)).all()
    assert (np.minimum.reduceat(rollout.lesson.regrets, rollout.offsets[:-1]) == 0).all()


def test_the_loss_by_hand():
    # two moves, each with probability 1/2; the second gives 2 points away: 1 on average
    soft = np.exp(-2 / TEMPERATURE)
    wanted = np.array([1, soft]) / (1 + soft)
    expected = 1 + IMITATION * -(wanted * np.log(0.5)).sum()
    halves, owner = torch.tensor([0.5, 0.5]).log(), torch.zeros(2, dtype=torch.int64)
    assert regret_loss(halves, torch.tensor([0.0, 2.0]), owner, 1).tolist() == pytest.approx([expected])


def test_a_policy_learns_from_it():
    learner, rng = small_learner(solved=1.0, hand=0.0, epochs=30, max_kl=100.0), generator()
    rollout = play(learner, deals(64), rng, teacher=EndgameTeacher(Rules()))
    assert rollout.lesson.solved.any()
    zeros = np.zeros(len(rollout.choices))
    blank = Targets(zeros, zeros, zeros)
    rates = [RATES._replace(learning=rate) for rate in (0.0, 3e-3, 0.0)]
    first, _, last = (learner.update(rollout, blank, rate, rng)["loss/regret"] for rate in rates)
    assert last < 0.5 * first


@pytest.mark.parametrize("rules", ["royal", "plain", "royal;size=tiny"])
def test_a_solved_end_is_paid_as_both_play_it_best(rules):
    """Every game is paid once for what precedes its open hand, and at the end for what became of it."""
    game, learner = Rules.parse(rules), small_learner()
    env = deals(48, rules)
    rollout = play(learner, env, generator(5), payment=SolvedEnd(game))
    turns = len(rollout.done)
    cuts = rollout.done[:-1].argmax(axis=0)  # the turn after which each game is known
    assert (rollout.done.sum(axis=0) == 2).all() and rollout.done[-1].all()
    assert np.median(cuts) == turns - 1 - 2 * game.table.hand_size
    assert rollout.rewards.sum(axis=0)[:, 0] == pytest.approx(our_margins(rollout))
    assert our_margins(rollout) == pytest.approx(rollout.points.sum(axis=2) @ [1, -1])
    exact = make_agent("random:endgame=exact", game, 2)
    legal, counts = env.reset(decks=shuffled_decks(generator(5), 48, game.table)), np.diff(rollout.offsets)
    starts = rollout.offsets[:-1].reshape(turns, 48)
    assert counts.sum() == len(rollout.moves) and starts[0, 0] == 0
    for turn in range(turns):
        known = cuts < turn
        best = exact.choose(env.view(), legal, generator())
        step = env.step(np.where(known, best, rollout.choices.reshape(turns, 48)[turn]))
        legal = step.legal
    paid = rollout.rewards[cuts, np.arange(48)]
    assert paid == pytest.approx(step.rewards)
    assert not rollout.rewards[:-1].any(axis=2)[~rollout.done[:-1]].any()


def test_decisions_before_a_solved_end_learn_nothing_of_what_became_of_it():
    """One game, by hand: the seats 0 and 1 by turns; after turn 1 all is paid, at the end a difference."""
    rewards = np.zeros((4, 1, 2))
    rewards[1, 0], rewards[3, 0] = (3, -3), (-2, 2)
    values = np.array([[1.0], [2.0], [0.5], [0.25]])
    seats, done = np.array([[0], [1], [0], [1]]), np.array([[False], [True], [False], [True]])
    advantages = seat_advantages(rewards, values, seats, done, discount=1, trace=0.8)
    assert advantages[:, 0].tolist() == [3 - 1, -3 - 2, -2 - 0.5, 2 - 0.25]
