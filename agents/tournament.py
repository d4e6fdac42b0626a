"""Many agents, each two of which meet: chunks of decks, done anywhere, kept, and put together again.

Owns which pairings there are, what is still to be played, and when a sequential test ends it.
Axes: `P` pairings, `D` decks.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from itertools import combinations
from typing import NamedTuple

import numpy as np

from agents.base import Agent
from agents.chunk_store import ChunkKey, ChunkStore
from agents.matchup import Played, Setting, join_chunks, play_chunk, two_seatings
from agents.sprt import Verdict
from agents.tally import FloatArray, tally
from agents.workers import Workers
from casino_env.errors import CasinoError
from casino_env.state import IntArray


class Entry(NamedTuple):
    """An agent in a competition."""

    name: str  # no other has it; random streams follow from it
    make: Callable[[], Agent]  # called anew for each chunk: nothing is carried from one to the next
    identity: str  # tells it from other agents of the same name in a store


class _Task(NamedTuple):
    pairing: int
    chunk: int
    size: int


def choose_pairings(n_agents: int, hero: int | None = None) -> IntArray:
    """Which agents meet, [P, 2], the lower first: each two, or the `hero` of a gauntlet and each other."""
    if n_agents < 2:
        raise CasinoError(f"agents: {n_agents} given; valid: 2 or more")
    pairs = combinations(range(n_agents), 2)
    return np.array([pair for pair in pairs if hero is None or hero in pair])


def play_pairings(
    entries: Sequence[Entry],
    pairings: IntArray,
    setting: Setting,
    sizes: Sequence[int],
    *,
    workers: Workers,
    store: ChunkStore | None = None,
    judge: Callable[[FloatArray], Verdict] | None = None,
    advance: Callable[[int], None] | None = None,
) -> tuple[list[Played], Verdict | None]:
    """Play chunks of so many decks in each of `pairings` [P, 2]; of each pairing, what its decks brought.

    Decks of a sole pairing end with the one at which `judge`, given the margins of its first agent [D], has
    a verdict, which is returned too. `advance` is told of decks that are done. Chunks of `store` are not
    played again.
    """
    tasks = [_Task(pairing, *chunk) for chunk in enumerate(sizes) for pairing in range(len(pairings))]
    done: list[list[Played]] = [[] for _ in pairings]
    seatings, margins, verdict = two_seatings(setting.sides), np.zeros(0), None
    with closing(_results(entries, pairings, setting, tasks, workers, store)) as results:
        for task, played in zip(tasks, results, strict=True):
            done[task.pairing].append(played)
            if advance:
                advance(task.size)
            if judge:
                margins = np.concatenate([margins, tally(played.rewards, seatings).margins])
                verdict = judge(margins)
                if verdict.accepted:
                    break
    whole = list(map(join_chunks, done))
    if verdict:
        used, one = slice(verdict.decks), whole[0]
        records = one.records[: verdict.decks * len(seatings)]
        whole[0] = one._replace(rewards=one.rewards[:, used], failed=one.failed[:, used], records=records)
    return whole, verdict


def _results(
    entries: Sequence[Entry],
    pairings: IntArray,
    setting: Setting,
    tasks: Sequence[_Task],
    workers: Workers,
    store: ChunkStore | None,
) -> Generator[Played]:
    """What each task brings, in order: from the store, else played and stored."""
    seatings = two_seatings(setting.sides)
    pairs = [[entries[agent] for agent in pairings[task.pairing]] for task in tasks]
    keys = [
        ChunkKey(first.identity, second.identity, task.chunk, task.size)
        for (first, second), task in zip(pairs, tasks, strict=True)
    ]
    shape = len(seatings), setting.sides
    kept = [store.load(key, (shape[0], key.size, shape[1])) if store else None for key in keys]
    calls = (
        (setting, pair, seatings, task.chunk, task.size)
        for pair, task, played in zip(pairs, tasks, kept, strict=True)
        if not played
    )
    with closing(workers.run(_play, calls)) as fresh:
        for key, played in zip(keys, kept, strict=True):
            if not played:
                played = next(fresh)
                if store:
                    store.save(key, played)
            yield played


def _play(setting: Setting, pair: Sequence[Entry], seatings: IntArray, chunk: int, size: int) -> Played:
    agents, names = [entry.make() for entry in pair], [entry.name for entry in pair]
    return play_chunk(setting, agents, names, seatings, chunk, size)
