"""What two processes of `torchrun` must agree on; run by `test_ranks`, it says "agreed" at the end."""

import numpy as np
import torch

from agents.batches import make_targets
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
    check_targets(ranks)
    check_same_games_teach_the_same(ranks)
    check_different_games(ranks)
    check_evaluation(ranks)
    leave_ranks()
    print("agreed", flush=True)


def learner_of(ranks: Ranks) -> Learner:
    return Learner(NetworkShape(2, 32, 16), PPOConfig(minibatch=512, hand=0.1), 0, ranks)


def check_targets(ranks: Ranks) -> None:
    """Advantages are in units of their spread over both: of n decisions here and there."""
    rollout = play(learner_of(ranks), deals(8), generator(ranks.rank))
    alone, together = (make_targets(rollout, 1.0, 0.9, 0.5, some) for some in (Ranks(), ranks))
    scale = float(np.median(alone.judged[alone.judged != 0] / together.judged[alone.judged != 0]))
    free = float((np.diff(rollout.offsets) > 1).sum())
    count, squares = ranks.sum([free, free / scale**2])
    assert np.isclose(squares, count)  # their mean square is 1 over all


def check_same_games_teach_the_same(ranks: Ranks) -> None:
    """Two ranks with the same games do what one would do."""
    results = []
    for some in (ranks, Ranks()):
        learner, rng = learner_of(some), generator(1)
        rollout = play(learner, deals(8), rng)
        learner.update(rollout, make_targets(rollout, 1.0, 0.9, 0.5, some), RATES, rng)
        results.append(torch.cat([tensor.ravel() for tensor in learner.actor.parameters()]))
    assert torch.allclose(*results, atol=1e-6)


def check_different_games(ranks: Ranks) -> None:
    """Ranks with games of their own end with the same parameters; if one goes astray, that is found out."""
    learner, rng = learner_of(ranks), generator(2 + ranks.rank)
    rollout = play(learner, deals(8), rng)
    metrics = learner.update(rollout, make_targets(rollout, 1.0, 0.9, 0.5, ranks), RATES, rng)
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
