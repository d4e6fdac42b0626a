"""What a rollout tells about the policy and the critic, as metrics (see `metrics` for their meanings).

Axes: `N` decisions, `M` legal moves of all of them, `T` turns, `B` games.
"""

import numpy as np

from agents.losses import explained_variance
from agents.play_facts import FOREIGN, MOVE_KINDS, OWN, move_kinds
from agents.rollout import Rollout
from casino_env.rules import SWEEPS, RuleTable

CROWDS = {"2": (2, 2), "3_4": (3, 4), "5_8": (5, 8), "9_up": (9, np.inf)}  # numbers of legal moves
NEAR_CERTAIN = 0.99


def rollout_metrics(rollout: Rollout, returns: np.ndarray, rules: RuleTable) -> dict[str, float]:
    """Metrics of the learner's decisions; `returns` [N] are what its critic should have said."""
    return {
        **_moves(rollout),
        **_decisiveness(rollout),
        **_critic(rollout, returns, rules),
        "deals/sweep_points": float(rollout.points[:, :, SWEEPS].sum(axis=1).mean()),
    }


def _moves(rollout: Rollout) -> dict[str, float]:
    decisions = len(rollout.played)
    counts = np.bincount(move_kinds(rollout.played), minlength=len(MOVE_KINDS))
    lifts = np.bincount(rollout.lifted, minlength=1 + FOREIGN)
    shares = {
        f"moves/{name}": float(count) / decisions for name, count in zip(MOVE_KINDS, counts, strict=True)
    }
    own, foreign = float(lifts[OWN]) / decisions, float(lifts[FOREIGN]) / decisions
    return {**shares, "moves/own_build": own, "moves/foreign_build": foreign}


def _decisiveness(rollout: Rollout) -> dict[str, float]:
    """Entropy by the number of legal moves, as a share of the most that it can be."""
    starts, counts = rollout.offsets[:-1], np.diff(rollout.offsets)
    logs = rollout.log_probs.astype(np.float64)
    entropies = np.add.reduceat(-logs * np.exp(logs), starts)
    free = counts > 1
    certain = np.exp(np.maximum.reduceat(logs, starts)[free]) > NEAR_CERTAIN
    metrics = {"entropy/near_certain": float(certain.mean())} if free.any() else {}
    for name, (least, most) in CROWDS.items():
        rows = (counts >= least) & (counts <= most)
        if rows.any():
            metrics[f"entropy/moves_{name}"] = float((entropies[rows] / np.log(counts[rows])).mean())
    return metrics


def _critic(rollout: Rollout, returns: np.ndarray, rules: RuleTable) -> dict[str, float]:
    """The share of the returns' variance that the critic explained, in all and by hand of the deal."""
    turns, games = rollout.ours.shape
    values = rollout.values[rollout.ours]
    hand_turns = rules.hand_size * rollout.holders.shape[1]
    hands = (np.arange(turns) // hand_turns)[:, None].repeat(games, axis=1)[rollout.ours]
    metrics = {"value/explained": explained_variance(values, returns)}
    for hand in range(turns // hand_turns):
        rows = hands == hand
        metrics[f"value/explained_hand_{hand + 1}"] = explained_variance(values[rows], returns[rows])
    return metrics
