"""Self-play: whole deals played by one policy in every seat, kept as flat arrays.

Axes: `T` = 48 turns, `B` games, `P` seats, `N` = T·B decisions (turn by turn), `M` moves of all decisions.
A rollout holds whole deals, so that no advantage has to be cut off.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from agents.features import FloatArray, hidden_features, move_features, state_features
from agents.merging import choices_of
from agents.network import Actor, Critic
from agents.ragged import log_prob, owners, sample
from agents.stopwatch import Stopwatch
from casino_env.bits import popcount
from casino_env.cards import SPADES
from casino_env.jit import borrow, kernel
from casino_env.moves import move_loose, move_pile, move_raises, move_value
from casino_env.objectives import margins
from casino_env.rules import TURNS, RuleTable
from casino_env.scoring import card_points, side_cards
from casino_env.state import IntArray, State
from casino_env.vector_env import VectorEnv

HALF_DECK, HALF_SUIT = 26, 6  # more than half is certain to be the most


class Rollout(NamedTuple):
    """Decisions of `B` whole deals."""

    states: FloatArray  # [N, F]
    hidden: FloatArray  # [N, F']
    moves: FloatArray  # [M, G]
    offsets: IntArray  # [N + 1]
    choices: IntArray  # [N] index into each decision's list
    log_probs: NDArray[np.float32]  # [N] of the choices, by the policy that made them
    values: NDArray[np.float64]  # [T, B]
    seats: IntArray  # [T, B]
    rewards: NDArray[np.float64]  # [T, B, P]
    done: NDArray[np.bool_]  # [T, B]
    kinds: IntArray  # [N] 0 trail, 1 capture, 2 build, 3 raise


def collect(
    env: VectorEnv, actor: Actor, critic: Critic, rng: np.random.Generator, watch: Stopwatch | None = None
) -> Rollout:
    """Play one deal in every game of `env`, all seats by the actor; `rng` seeds the deals and choices."""
    watch = watch or Stopwatch()
    legal = env.reset(seed=int(rng.integers(2**63)))
    games, players = env.num_envs, env.players
    states, hidden, moves, counts, choices, logps, packed = [], [], [], [], [], [], []
    values, seats = np.zeros((TURNS, games)), np.zeros((TURNS, games), np.int64)
    rewards, done = np.zeros((TURNS, games, players)), np.zeros((TURNS, games), np.bool_)
    banked = banked_margins(env.state, env.rules.table)
    for turn in range(TURNS):
        view = env.view()
        seats[turn] = env.state.turn
        watch.lap("engine")
        states.append(state_features(view, env.rules.table))
        hidden.append(hidden_features(env.state))
        kept = choices_of(actor, legal)
        moves.append(move_features(view, kept.moves, kept.offsets, env.rules.table))
        counts.append(np.diff(kept.offsets))
        watch.lap("features")
        with torch.inference_mode():
            state = torch.from_numpy(states[-1])
            owner = torch.from_numpy(owners(kept.offsets))
            logits = actor(state, torch.from_numpy(moves[-1]), owner).numpy()
            values[turn] = critic(state, torch.from_numpy(hidden[-1])).numpy()
        watch.lap("inference")
        choice, logp = np.zeros(games, np.int64), np.zeros(games, np.float32)
        sample(logits, kept.offsets, rng.random(games), choice)
        log_prob(logits, kept.offsets, choice, logp)
        choices.append(choice)
        logps.append(logp)
        packed.append(kept.moves[kept.offsets[:-1] + choice])
        watch.lap("rest")
        step = env.step(kept.originals(choice, legal.offsets))
        legal = step.legal
        done[turn] = step.terminated
        after = banked_margins(env.state, env.rules.table) * ~step.terminated[:, None]
        rewards[turn] = step.rewards + after - banked
        banked = after
        watch.lap("engine")
    rollout = Rollout(
        states=np.concatenate(states),
        hidden=np.concatenate(hidden),
        moves=np.concatenate(moves),
        offsets=np.concatenate([[0], np.cumsum(np.concatenate(counts))]),
        choices=np.concatenate(choices),
        log_probs=np.concatenate(logps),
        values=values,
        seats=seats,
        rewards=rewards,
        done=done,
        kinds=move_kinds(np.concatenate(packed)),
    )
    watch.lap("rest")
    return rollout


def banked_margins(state: State, rules: RuleTable) -> NDArray[np.float64]:
    """Margin of each seat [B, P] in the points that are already certain: cards that score, sweeps, and a
    majority once more than half is held.

    Paying its change at every turn and the rest at the end adds up exactly to the margin of the deal
    (potential-based shaping, Ng et al. 1999, for a discount of 1).
    """
    games, players = state.hands.shape
    sides = state.score.shape[1]
    totals = np.zeros((games, sides), np.int64)
    _bank(state, rules, totals)
    return margins(totals)[:, np.arange(players) % sides]


@kernel
def _bank(state: State, rules: RuleTable, totals: IntArray) -> None:
    state, sides = borrow(state), totals.shape[1]
    for game in range(totals.shape[0]):
        for seat in range(state.hands.shape[1]):
            if rules.sweeps:
                totals[game, seat % sides] += state.sweeps[game, seat]
        for side in range(sides):
            cards = side_cards(state, game, side, sides)
            totals[game, side] += card_points(rules, cards)
            if popcount(cards) > HALF_DECK:
                totals[game, side] += rules.most_cards
            if popcount(cards & SPADES) > HALF_SUIT:
                totals[game, side] += rules.most_spades


@kernel
def move_kinds(moves: IntArray) -> IntArray:
    """Kind of each packed move [N]: 0 trail, 1 capture, 2 build, 3 raise."""
    kinds = np.zeros(moves.shape[0], np.int64)
    for i in range(moves.shape[0]):
        if move_value(moves[i]):
            kinds[i] = 2 + move_raises(moves[i])
        elif move_loose(moves[i]) or move_pile(moves[i]):
            kinds[i] = 1
    return kinds
