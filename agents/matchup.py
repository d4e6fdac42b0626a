"""Two agents, decks played in every seating: the games that the arena counts.

Fair by construction: a deck, or the decks of a match, is played once in every *seating*, the seatings being
all ways to give the sides to the two agents such that both play. A and B: A B and B A; at three sides one A
against two B and two A against one B, in every order. Seat 0 deals first, since seatings move the agents
around it. So the luck of the deal is shared, and who is named first makes no difference.

Decks come in chunks, and what a chunk brings depends on the setting, its number and size, and the two agents
and their names alone: chunks may be played in any order and anywhere.
Axes: `K` seatings, `D` decks of a chunk, `S` sides, `B` games. Game `k * D + d` is deck `d` in seating `k`.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from agents.contestant import Contestant, Pace, whole_pace
from agents.recording import Recording
from agents.records import GameRecord
from agents.tally import FloatArray
from casino_env.arguments import check_count
from casino_env.decks import shuffled_decks
from casino_env.errors import CasinoError
from casino_env.legal import LegalMoves, select_legal
from casino_env.objectives import check_objective, margins
from casino_env.rules import Rules, check_players, side_count
from casino_env.scoring import card_points
from casino_env.state import NOBODY, IntArray
from casino_env.vector_env import VectorEnv
from casino_env.view import select_view

DECKS_PER_CHUNK = 256
DECK_STREAM, PLAY_STREAM = 0, 1  # a chunk's random streams
DEALER = 0

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Setting:
    """What is played. CasinoError if it cannot be."""

    rules: Rules
    players: int = 2
    seed: int = 0  # of decks and agents
    objective: str = "deal"  # or `match`: a deck is then the decks of a whole match
    move_time: float | None = None  # milliseconds a move, to be watched
    recorded: bool = False  # whether games are written down

    def __post_init__(self) -> None:
        check_players(self.players, self.rules)
        check_count("seed", self.seed, 0)
        check_objective(self.objective)
        if self.move_time is not None and not 0 < self.move_time < float("inf"):
            raise CasinoError(f"move_time={self.move_time} is not possible; valid: milliseconds above 0")

    @property
    def sides(self) -> int:
        """Sides at a table."""
        return side_count(self.players)


class Played(NamedTuple):
    """What the decks of a chunk brought."""

    rewards: FloatArray  # [K, D, S] of each side, as the environments give them for the objective
    failed: IntArray  # [K, D] which agent lost the game by failing, or NOBODY
    reasons: tuple[str, ...]  # of the first failure of each of the two agents, empty if there is none
    paces: tuple[Pace, ...]
    cut_lists: int  # lists of legal moves that were cut at their bound
    records: tuple[str, ...] = ()  # lines of `records`, deck after deck in every seating, if they are wanted


def two_seatings(sides: int) -> IntArray:
    """The agent, 0 or 1, of each side in every seating, [K, S]."""
    return np.array([held for held in product((0, 1), repeat=sides) if len(set(held)) == 2])


def chunk_sizes(n_decks: int) -> list[int]:
    """Decks of each chunk."""
    full, rest = divmod(check_count("deals", n_decks, 1), DECKS_PER_CHUNK)
    return [DECKS_PER_CHUNK] * full + [rest] * (rest > 0)


def play_chunk(
    setting: Setting,
    agents: Sequence[Agent],
    names: Sequence[str],
    seatings: IntArray,
    chunk: int,
    size: int,
) -> Played:
    """Play the first `size` decks of a chunk in `seatings` [K, S] of two agents.

    An agent's random stream follows from the seed, the chunk and its name, never from its place. An agent
    that fails (see `contestant`) loses the game, with all its points, and is not asked again in it.
    """
    env, legal = _start(setting, len(seatings), chunk, size)
    holders = np.repeat(seatings, size, axis=0)  # [B, S]
    contestants = [
        Contestant(agent, _agent_rng(setting.seed, chunk, name), setting.move_time)
        for agent, name in zip(agents, names, strict=True)
    ]
    rewards, failed = np.zeros(holders.shape), np.full(len(holders), NOBODY)
    going, cut_lists = np.ones(len(holders), np.bool_), 0
    recording = Recording(setting.rules, env.state) if setting.recorded else None
    while going.any():
        cut_lists += int((legal.bounded & going).sum())
        view = env.view()
        actors = holders[:, env.state.turn[0] % setting.sides]  # a turn is a move: the same seat in all games
        choices = np.zeros(len(holders), np.int64)
        for i, contestant in enumerate(contestants):
            games = np.flatnonzero(going & (actors == i))
            if len(games):
                answer = contestant.choose(select_view(view, games), select_legal(legal, games))
                choices[games] = answer.choices
                failed[games[answer.lost]] = i
        going &= failed == NOBODY
        moves = legal.moves[legal.offsets[:-1] + choices]
        step = env.step(choices)
        if recording:
            recording.note(moves, going, step.points, env.state)
        ended = going & step.terminated
        rewards[ended] = step.rewards[ended, : setting.sides]
        going &= ~step.terminated
        legal = step.legal
    numbers = chunk * DECKS_PER_CHUNK + np.tile(np.arange(size), len(seatings))
    lost = failed != NOBODY
    rewards[lost] = _forfeited(holders[lost] == failed[lost, None], _stake(setting))
    return Played(
        rewards=rewards.reshape(len(seatings), size, setting.sides),
        failed=failed.reshape(len(seatings), size),
        reasons=tuple(contestant.reason for contestant in contestants),
        paces=tuple(contestant.pace for contestant in contestants),
        cut_lists=cut_lists,
        records=_records(recording, setting, names, holders, failed, numbers) if recording else (),
    )


def join_chunks(chunks: Sequence[Played]) -> Played:
    """Chunks of the same two agents as one."""
    reasons = zip(*(chunk.reasons for chunk in chunks), strict=True)  # of each agent
    return Played(
        rewards=np.concatenate([chunk.rewards for chunk in chunks], axis=1),
        failed=np.concatenate([chunk.failed for chunk in chunks], axis=1),
        reasons=tuple(next(filter(None, told), "") for told in reasons),
        paces=tuple(map(whole_pace, zip(*(chunk.paces for chunk in chunks), strict=True))),
        cut_lists=sum(chunk.cut_lists for chunk in chunks),
        records=tuple(line for chunk in chunks for line in chunk.records),
    )


def _records(
    recording: Recording,
    setting: Setting,
    names: Sequence[str],
    holders: IntArray,
    failed: IntArray,
    numbers: IntArray,
) -> tuple[str, ...]:
    """The games of a chunk, with the number of each one's deck, in the order of these."""
    lines = []
    for game in np.argsort(numbers, kind="stable").tolist():
        seats = [names[holders[game, seat % setting.sides]] for seat in range(setting.players)]
        loser = None if failed[game] == NOBODY else names[failed[game]]
        record = GameRecord(
            rules=setting.rules,
            players=setting.players,
            agents=tuple(seats),
            deals=recording.deals(game, broken=loser is not None),
            objective=setting.objective,
            seed=setting.seed,
            number=int(numbers[game]),
            failed=loser,
        )
        lines.append(record.line)
    return tuple(lines)


def _start(setting: Setting, n_seatings: int, chunk: int, size: int) -> tuple[VectorEnv, LegalMoves]:
    """The games of a chunk at their first move, with the same decks in every seating."""
    stream = np.random.SeedSequence(setting.seed, spawn_key=(chunk, DECK_STREAM))
    games, dealers = (n_seatings * size, setting.rules, setting.players), np.full(n_seatings * size, DEALER)
    if setting.objective == "match":
        seeds = np.tile(stream.generate_state(size, np.uint64), n_seatings)
        env = VectorEnv(*games, seed=seeds, objective=setting.objective)
        return env, env.reset(dealers=dealers)
    env = VectorEnv(*games, seed=0, auto_reset=False)
    decks = shuffled_decks(np.random.default_rng(stream), size, setting.rules.table)
    return env, env.reset(decks=np.tile(decks, (n_seatings, 1)), dealers=dealers)


def _agent_rng(seed: int, chunk: int, name: str) -> np.random.Generator:
    key = (chunk, PLAY_STREAM, *os.fsencode(name))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def _stake(setting: Setting) -> int:
    """What is lost with a game: the points of a deal without sweeps (R6.1), or a match."""
    table = setting.rules.table
    points = card_points(table, table.deck) + table.most_cards + table.most_spades
    return 1 if setting.objective == "match" else points


def _forfeited(lost: Flags, stake: int) -> FloatArray:
    """Rewards [F, S]: the sides that `lost` [F, S] a game have nothing, the others share `stake`."""
    return margins(np.where(lost, 0, stake / (~lost).sum(axis=1, keepdims=True)))
