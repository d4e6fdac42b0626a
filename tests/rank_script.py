"""What two processes of `torchrun` must agree on; run by `test_ranks`, it says "agreed" at the end."""

import numpy as np
import torch

from agents.batches import make_targets, standardised
from agents.config import EvaluationConfig
from agents.evaluation import Evaluation
from agents.network import NetworkShape
from agents.policy import PolicyAgent
from agents.ppo import Learner, PPOConfig
from agents.ranks import Ranks, join_ranks, leave_ranks
from casino_env import Rules
from tests.helpers_learning import RATES, deals, generator, play, small_learner


def main() -> None:
    torch.set_num_threads(1)
    ranks = join_ranks("cpu")
    assert ranks.size == 2 and ranks.sum([1.0, ranks.rank]).tolist() == [2.0, 1.0]
    check_statistics(ranks)
    check_same_games_teach_the_same(ranks)
    check_different_games(ranks)
    check_evaluation(ranks)
    leave_ranks()
    print("agreed", flush=True)


def check_statistics(ranks: Ranks) -> None:
    """Advantages are standardised over both: 0 and 2 here, 4 and 6 there have mean 3, deviation sqrt(5)."""
    mine = np.array([0.0, 2.0]) + 4 * ranks.rank
    scaled = standardised(mine, np.ones(2, np.bool_), ranks)
    assert np.allclose(scaled, (mine - 3) / np.sqrt(5))


def learner_of(ranks: Ranks) -> Learner:
    return Learner(NetworkShape(2, 32, 16), PPOConfig(hand=0.1), 0, ranks)


def check_same_games_teach_the_same(ranks: Ranks) -> None:
    """Two ranks with the same games do what one would do."""
    results = []
    for some in (ranks, Ranks()):
        learner, rng = learner_of(some), generator(1)
        rollout = play(learner, deals(8), rng)
        learner.update(rollout, make_targets(rollout, 1.0, 0.9, some), RATES, rng)
        results.append(torch.cat([tensor.ravel() for tensor in learner.actor.parameters()]))
    assert torch.allclose(*results, atol=1e-6)


def check_different_games(ranks: Ranks) -> None:
    """Ranks with games of their own end with the same parameters; if one goes astray, that is found out."""
    learner, rng = learner_of(ranks), generator(2 + ranks.rank)
    rollout = play(learner, deals(8), rng)
    metrics = learner.update(rollout, make_targets(rollout, 1.0, 0.9, ranks), RATES, rng)
    assert ranks.sum(list(metrics.values())).tolist() == [2 * value for value in metrics.values()]
    tensors = list(learner.actor.parameters())
    ranks.check_equal(tensors)
    with torch.no_grad():
        tensors[0][0, 0] += 1e-6 * ranks.rank
    try:
        ranks.check_equal(tensors)
    except RuntimeError as error:
        assert "parameters differ between ranks" in str(error)
    else:
        raise AssertionError("a difference was not found out")


def check_evaluation(ranks: Ranks) -> None:
    """Shared among ranks, the measurements are what one would measure."""
    config = EvaluationConfig(opponents="random greedy counter", decks=8, regret=20)
    evaluation, agent = Evaluation(config, Rules(), 2), PolicyAgent(small_learner().actor, Rules())
    assert evaluation.measure(agent, ranks) == evaluation.measure(agent, Ranks())


if __name__ == "__main__":
    main()
