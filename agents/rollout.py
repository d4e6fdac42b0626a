"""Self-play: whole deals, played by the learner in every seat or against guests, kept as flat arrays.

Axes: `T` turns (48 of a full deck), `B` games, `P` seats, `S` sides, `I` items that score, `N` decisions of
the learner (turn by turn), `M` legal moves of all of them. A rollout holds whole deals: no advantage is cut
off.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from agents.base import Agent
from agents.buffers import Buffers
from agents.contestant import ask
from agents.critic_features import critic_features
from agents.features import move_features, state_features
from agents.merging import choices_of
from agents.network import Actor, Critic
from agents.outlook import FloatArray
from agents.payments import Payment
from agents.play_facts import lift_kinds, points_by_item
from agents.ragged import normalise, owners, sample
from agents.stopwatch import Stopwatch
from agents.teacher import EndgameTeacher, Lesson, no_lesson
from casino_env.decks import shuffled_decks
from casino_env.legal import LegalMoves, select_legal
from casino_env.rules import deal_turns
from casino_env.state import IntArray
from casino_env.vector_env import VectorEnv
from casino_env.view import View, select_view

LEARNER = 0  # in `Guests.holders`


class Guests(NamedTuple):
    """Who else sits at the tables."""

    agents: Sequence[Agent]
    holders: IntArray  # [B, P] who plays each seat: LEARNER, or k for `agents[k - 1]`


class Rollout(NamedTuple):
    """The learner's decisions in `B` whole deals; valid until its buffers are filled again."""

    states: FloatArray  # [N, F]
    hidden: FloatArray  # [N, F'] what only the critic sees
    moves: FloatArray  # [M, G]
    offsets: IntArray  # [N + 1]
    choices: IntArray  # [N] index into each decision's list
    log_probs: FloatArray  # [M] of all moves, by the policy that chose
    values: NDArray[np.float64]  # [T, B], 0 where a guest acts
    seats: IntArray  # [T, B] the acting seat
    ours: NDArray[np.bool_]  # [T, B] whether the learner acts; the N decisions are these, in order
    rewards: NDArray[np.float64]  # [T, B, P]
    done: NDArray[np.bool_]  # [T, B] all before is paid: the deal is over, or its end is solved
    played: IntArray  # [N] packed moves chosen
    lifted: IntArray  # [N] 0, OWN or FOREIGN (see `play_facts`)
    points: IntArray  # [B, S, I] of the finished deals
    holders: IntArray  # [B, P] as in `Guests`
    lesson: Lesson  # of the N decisions and their M moves


def collect(
    env: VectorEnv,
    networks: tuple[Actor, Critic],
    rng: np.random.Generator,
    buffers: Buffers,
    payment: Payment,
    guests: Guests | None = None,
    watch: Stopwatch | None = None,
    teacher: EndgameTeacher | None = None,
) -> Rollout:
    """Play one deal in every game of `env`, which must not reset by itself; `rng` draws decks and choices.

    A teacher judges the decisions, if there is one. Raises CasinoError, naming it, if a guest fails.
    """
    watch = watch or Stopwatch()
    everyone = np.arange(env.num_envs)
    holders = guests.holders if guests else np.zeros((env.num_envs, env.players), np.int64)
    legal = env.reset(decks=shuffled_decks(rng, env.num_envs, env.rules.table))
    payment.start(env, rng)
    record = _Record(env, networks, buffers, watch, teacher)
    for turn in range(deal_turns(env.rules.table)):
        acting, answers = holders[everyone, env.state.turn], np.zeros(env.num_envs, np.int64)
        rows = np.flatnonzero(acting == LEARNER)
        answers[rows] = record.decide(turn, rows, legal, rng)
        for k, guest in enumerate(guests.agents if guests else (), start=1):
            rows = np.flatnonzero(acting == k)
            if len(rows):
                answers[rows] = ask(guest, guest.name, *_of_games(env.view(), legal, rows), rng)
        watch.lap("guests")
        step = env.step(answers)
        record.note_pay(turn, *payment.pay(env, step))
        legal = step.legal
        watch.lap("engine")
    rollout = record.finish(holders)
    watch.lap("rest")
    return rollout


class _Record:
    """A rollout in the making."""

    def __init__(
        self,
        env: VectorEnv,
        networks: tuple[Actor, Critic],
        buffers: Buffers,
        watch: Stopwatch,
        teacher: EndgameTeacher | None,
    ) -> None:
        self._env, self._networks, self._buffers, self._watch = env, networks, buffers, watch
        self._teacher = teacher
        self._buffers.clear()
        shape = deal_turns(env.rules.table), env.num_envs
        self._values, self._seats = np.zeros(shape), np.zeros(shape, np.int64)
        self._rewards = np.zeros((*shape, env.players))
        self._ours, self._done = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        self._lists: list[tuple[IntArray, ...]] = []  # of each turn: number of moves, choice, move, lifted
        self._log_probs: list[FloatArray] = []
        self._lessons: list[Lesson] = []

    def decide(self, turn: int, rows: IntArray, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """The learner's choices [R] in the games `rows` [R]; noted with all that led to them."""
        env, buffers, watch, (actor, critic) = self._env, self._buffers, self._watch, self._networks
        table = env.rules.table
        self._seats[turn], self._ours[turn, rows] = env.state.turn, True
        view, lists = _of_games(env.view(), legal, rows)
        watch.lap("engine")
        kept = choices_of(actor, lists)
        moves, offsets = kept.moves, kept.offsets
        states = state_features(view, table, buffers.states.extend(len(rows)))
        features = move_features(view, moves, offsets, table, buffers.moves.extend(len(moves)))
        hidden = critic_features(env.state, rows, table, buffers.hidden.extend(len(rows)))
        watch.lap("features")
        log_probs = score_moves(actor, states, features, offsets)
        self._values[turn, rows] = judge(critic, states, hidden)
        watch.lap("inference")
        choices = np.zeros(len(rows), np.int64)
        normalise(log_probs, offsets)
        sample(log_probs, offsets, rng.random(len(rows)), choices)
        chosen = moves[offsets[:-1] + choices]
        self._lists.append((np.diff(offsets), choices, chosen, lift_kinds(view, chosen, table)))
        self._log_probs.append(log_probs)
        watch.lap("rest")
        options = LegalMoves(offsets, moves, lists.bounded)
        self._lessons.append(self._teacher.judge(view, options) if self._teacher else no_lesson(options))
        watch.lap("teacher")
        return kept.originals(choices, lists.offsets)

    def note_pay(self, turn: int, rewards: NDArray[np.float64], done: NDArray[np.bool_]) -> None:
        """Note what a step brought, and where all before it is paid."""
        self._done[turn], self._rewards[turn] = done, rewards

    def finish(self, holders: IntArray) -> Rollout:
        """The rollout, once all deals are over."""
        counts, choices, played, lifted = (
            np.concatenate(arrays) for arrays in zip(*self._lists, strict=True)
        )
        return Rollout(
            states=self._buffers.states.all(),
            hidden=self._buffers.hidden.all(),
            moves=self._buffers.moves.all(),
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            choices=choices,
            log_probs=np.concatenate(self._log_probs),
            values=self._values,
            seats=self._seats,
            ours=self._ours,
            rewards=self._rewards,
            done=self._done,
            played=played,
            lifted=lifted,
            points=points_by_item(self._env.state, self._env.rules.table),
            holders=holders,
            lesson=Lesson(*(np.concatenate(parts) for parts in zip(*self._lessons, strict=True))),
        )


def score_moves(actor: Actor, states: FloatArray, moves: FloatArray, offsets: IntArray) -> FloatArray:
    """An actor's logits [M] of moves [M, G] in states [B, F]; `offsets` [B + 1] say which are whose."""
    device = actor.score.weight.device
    given = (states, moves, owners(offsets))
    with torch.inference_mode():
        logits: FloatArray = actor(*(torch.from_numpy(array).to(device) for array in given)).cpu().numpy()
    return logits


def judge(critic: Critic, states: FloatArray, hidden: FloatArray) -> FloatArray:
    """A critic's values [B] of states [B, F] and what is hidden [B, F']."""
    device = critic.value.weight.device
    with torch.inference_mode():
        values: FloatArray = (
            critic(*(torch.from_numpy(array).to(device) for array in (states, hidden))).cpu().numpy()
        )
    return values


def _of_games(view: View, legal: LegalMoves, games: IntArray) -> tuple[View, LegalMoves]:
    """What concerns some games, in rising order; nothing is copied if these are all."""
    if len(games) == len(view.hand):
        return view, legal
    return select_view(view, games), select_legal(legal, games)
