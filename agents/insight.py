"""What a policy thinks of a position: how likely it makes its moves, and what they lead to.

A move is worth the points by which the side to act ends the deal ahead of the mean of the others, on average
over worlds dealt from what the seat sees, all seats following the policy. No critic is needed, and nothing
hidden is looked at.
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.merging import merge_key
from agents.policy import PolicyAgent
from agents.policy_search import PolicySearch
from agents.ragged import normalise
from agents.shortlist import Shortlist
from casino_env.legal import LegalMoves, MoveLister
from casino_env.moves import Move
from casino_env.position import Position
from casino_env.rules import Rules
from casino_env.view import View, see

WORLDS = 32
LEAST = 0.005  # probability of moves that are told, beside the one that was played


class MoveInsight(NamedTuple):
    """A move, or several that differ in suits of no account: told once, by the one that was played."""

    move: str
    probability: float
    value: float  # points


class Insight(NamedTuple):
    """What a policy thinks of a position."""

    moves: tuple[MoveInsight, ...]  # the likeliest first
    value: float  # points, mean of the moves told, as likely as they are


class Analyst:
    """Looks at positions with the eyes of the seat to act."""

    def __init__(self, policy: PolicyAgent, rules: Rules, players: int, worlds: int = WORLDS) -> None:
        self.name, self._policy = policy.name, policy
        self._rules, self._list_moves = rules.table, MoveLister(1)
        self._search = PolicySearch(policy, rules, players, worlds, whole=True)

    def probabilities(self, position: Position) -> dict[str, float]:
        """How likely the policy makes each move, likeliest first; of equivalent moves the first is told."""
        kept, probabilities = self._policy_at(see(position.state), self._list(position))
        told = zip(self._names(kept, None), probabilities.tolist(), strict=True)
        return dict(sorted(told, key=lambda move: -move[1]))

    def look(self, position: Position, played: str | None = None, seed: int = 0) -> Insight:
        """The moves of a position that is not over, and what they lead to. `seed`: of the worlds."""
        view = see(position.state)
        kept, probabilities = self._policy_at(view, self._list(position))
        names = self._names(kept, None if played is None else Move.parse(played).packed)
        least = min(LEAST, probabilities.max())
        told = [i for i, name in enumerate(names) if probabilities[i] >= least or name == played]
        picked = Shortlist(kept.rows[told], kept.moves[told], np.array([0, len(told)]))
        values = self._search.values(view, picked, np.zeros(1, np.int64), np.random.default_rng(seed))
        shares = probabilities[told] / probabilities[told].sum()
        moves = [
            MoveInsight(names[i], float(probabilities[i]), float(value))
            for i, value in zip(told, values, strict=True)
        ]
        return Insight(tuple(sorted(moves, key=lambda move: -move.probability)), float(shares @ values))

    def _list(self, position: Position) -> LegalMoves:
        return self._list_moves(position.state, self._rules)

    def _policy_at(self, view: View, legal: LegalMoves) -> tuple[Shortlist, NDArray[np.float64]]:
        """The moves between which the policy chooses, and how likely it makes each [K]."""
        kept = self._policy.choices(legal)
        log_probs = self._policy.logits(view, kept)
        normalise(log_probs, kept.offsets)
        return kept, np.exp(log_probs.astype(np.float64))

    def _names(self, kept: Shortlist, played: int | None) -> list[str]:
        """Each kept move as text; the one that stands for `played` by that."""
        packed = kept.moves.tolist()
        if played is not None and played not in packed:
            places = defaultdict(list)
            for i, move in enumerate(packed):
                places[merge_key(move)].append(i)
            for i in places[merge_key(played)]:
                packed[i] = played
        return [str(Move.unpack(move)) for move in packed]
