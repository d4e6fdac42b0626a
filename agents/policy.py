"""A trained actor as an agent: it samples from its policy, or takes the most likely move."""

from pathlib import Path

import numpy as np

from agents.checkpoint import load_actor
from agents.features import move_features, state_features
from agents.merging import choices_of
from agents.network import Actor
from agents.ragged import best, sample
from agents.rollout import score_moves
from agents.shortlist import Shortlist
from casino_env.legal import LegalMoves
from casino_env.rules import Rules
from casino_env.state import IntArray
from casino_env.view import View


class PolicyAgent:
    """Plays by an actor's scores. `greedy` takes the move with the highest score instead of sampling."""

    def __init__(self, actor: Actor, rules: Rules, name: str = "policy", greedy: bool = False) -> None:
        self.name, self.actor, self._rules, self.greedy = name, actor, rules.table, greedy

    @classmethod
    def load(cls, path: Path, rules: Rules, players: int, greedy: bool = False) -> "PolicyAgent":
        """The agent of a checkpoint; CasinoError, naming the file, if it cannot be used here."""
        return cls(load_actor(path, rules, players), rules, path.stem, greedy)

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`."""
        kept = self.choices(legal)
        logits = self.logits(view, kept)
        choices = np.zeros(len(kept.offsets) - 1, np.int64)
        if self.greedy:
            best(logits, kept.offsets, choices)
        else:
            sample(logits, kept.offsets, rng.random(len(choices)), choices)
        return kept.originals(choices, legal.offsets)

    def choices(self, legal: LegalMoves) -> Shortlist:
        """The moves between which the policy chooses."""
        return choices_of(self.actor, legal)

    def logits(self, view: View, kept: Shortlist) -> np.ndarray:
        """Score of each move, float32[K]; a softmax over each list gives the policy."""
        states = state_features(view, self._rules)
        moves = move_features(view, kept.moves, kept.offsets, self._rules)
        return score_moves(self.actor, states, moves, kept.offsets)
