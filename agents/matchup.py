"""Decks played in every seating: the games that the arena counts, and the statistics of their points.

Fair by construction: a deck is played once in every *seating*, the seatings being all ways to give the
sides to agents such that as many different agents as possible play. Two agents A and B: A B and B A; at
three sides one A against two B and two A against one B, in every order; A, B and C at three sides: all six
orders; more agents than sides: every choice of them in every order. Seat 0 deals always, since seatings
move the agents around it. So the luck of the deal is shared, and who is named first makes no difference.

Axes: `A` agents, `B` games, `D` decks, `K` seatings, `S` sides. Game `k * D + d` is deck `d` in seating `k`.
"""

from collections.abc import Sequence
from itertools import product
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from casino_env.errors import CasinoError, IllegalMove
from casino_env.legal import LegalMoves, select_legal
from casino_env.objectives import margins
from casino_env.rules import TURNS, Rules, side_count
from casino_env.state import IntArray
from casino_env.vector_env import VectorEnv
from casino_env.view import View, select_view

DEALER = 0
NORMAL_95 = 1.96  # standard errors on either side that hold 95 % of a normal distribution

FloatArray = NDArray[np.float64]


class Played(NamedTuple):
    """What each deck brought each agent: means over the seatings and the sides held in them."""

    margin: FloatArray  # [D, A] points of a side minus the mean of the other sides'
    win_share: FloatArray  # [D, A] 1 for most points alone, 1/n for n sides level, else 0
    cut_lists: int  # lists of legal moves that were cut at their bound


def play_decks(
    agents: Sequence[Agent],
    decks: NDArray[np.int8],
    rules: Rules | str,
    players: int,
    seed: int | np.random.SeedSequence,
    names: Sequence[str] | None = None,
    seatings: IntArray | None = None,
) -> Played:
    """Play each of `decks` [D, 52] in each of `seatings` (agent of each side, [K, S]; default: all).

    An agent's random stream follows from the seed and its name, never from its place among `agents`.
    """
    labels = label_agents(agents, names)
    if seatings is None:
        seatings = all_seatings(labels, side_count(players))
    holders = np.repeat(seatings, len(decks), axis=0)  # [B, S]
    rngs = [_agent_rng(seed, label) for label in labels]
    env = VectorEnv(len(holders), rules, players, seed=0)
    legal = env.reset(decks=np.tile(decks, (len(seatings), 1)), dealers=np.full(len(holders), DEALER))
    cut_lists = 0
    for _ in range(TURNS):
        cut_lists += int(legal.bounded.sum())
        view = env.view()
        side = env.state.turn[0] % holders.shape[1]  # the same in all games: a turn is a move
        actors = holders[:, side]
        choices = np.zeros(len(holders), np.int64)
        for i, agent in enumerate(agents):
            games = np.flatnonzero(actors == i)
            if len(games):
                asked = select_view(view, games), select_legal(legal, games)
                choices[games] = ask(agent, labels[i], *asked, rngs[i])
        legal, _, terminated, _, points = env.step(choices)
    assert terminated.all(), "a deal has 48 turns"
    return Played(*share_out(points.reshape(len(seatings), len(decks), -1), seatings, len(agents)), cut_lists)


def label_agents(agents: Sequence[Agent], names: Sequence[str] | None = None) -> list[str]:
    """The given names, else the agents' own; those that occur again become `name#2`, `name#3`."""
    labels: list[str] = []
    if names and len(names) != len(agents):
        raise CasinoError(f"names: {len(names)} given; valid: one for each of {len(agents)} agents")
    for name in names or [agent.name for agent in agents]:
        label, copies = name, 1
        while label in labels:
            copies += 1
            label = f"{name}#{copies}"
        labels.append(label)
    return labels


def all_seatings(labels: Sequence[str], sides: int) -> IntArray:
    """The agent of each side in every seating, [K, S], in an order that follows from the labels alone."""
    if len(labels) < 2:
        raise CasinoError(f"agents: {len(labels)} given; valid: 2 or more")
    ranked = sorted(range(len(labels)), key=labels.__getitem__)
    different = min(len(labels), sides)
    return np.array([held for held in product(ranked, repeat=sides) if len(set(held)) == different])


def share_out(points: IntArray, seatings: IntArray, n_agents: int) -> tuple[FloatArray, FloatArray]:
    """Margins and win shares, both [D, A], from the points of every deal, [K, D, S]."""
    best = points == points.max(axis=-1, keepdims=True)
    shares = best / best.sum(axis=-1, keepdims=True)
    return _by_agent(margins(points), seatings, n_agents), _by_agent(shares, seatings, n_agents)


def mean_interval(values: FloatArray) -> tuple[float, float, float]:
    """Mean of independent values and its 95 % interval (normal approximation), NaN for a single value."""
    mean = float(values.mean())
    reach = NORMAL_95 * float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else nan
    return mean, mean - reach, mean + reach


def ask(agent: Agent, label: str, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
    """The agent's choices; IllegalMove naming it unless they are one legal index for each game.

    CasinoError naming it if it fails.
    """
    counts = np.diff(legal.offsets)
    try:
        choices = np.asarray(agent.choose(view, legal, rng))
    except CasinoError:
        raise
    except Exception as error:
        raise CasinoError(f"agent '{label}' failed: {type(error).__name__}: {error}") from error
    if choices.shape != counts.shape or not np.issubdtype(choices.dtype, np.integer):
        form = f"{choices.dtype}{list(choices.shape)}"
        raise IllegalMove(
            f"agent '{label}' answered {form}; valid: an integer for each of {len(counts)} games"
        )
    wrong = np.flatnonzero((choices < 0) | (choices >= counts))
    if len(wrong):
        index, last = choices[wrong[0]], counts[wrong[0]] - 1
        raise IllegalMove(f"agent '{label}' chose the move with index {index}; valid: 0 to {last}")
    return choices


def _agent_rng(seed: int | np.random.SeedSequence, label: str) -> np.random.Generator:
    stream = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    key = (*stream.spawn_key, *label.encode())
    return np.random.default_rng(np.random.SeedSequence(stream.entropy, spawn_key=key))


def _by_agent(values: FloatArray, seatings: IntArray, n_agents: int) -> FloatArray:
    """Mean over the seatings and sides that each agent holds, [D, A], of `values` [K, D, S]."""
    by_deck = values.swapaxes(0, 1)
    return np.stack([by_deck[:, seatings == i].mean(axis=1) for i in range(n_agents)], axis=1)
