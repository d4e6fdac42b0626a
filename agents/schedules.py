"""What changes over a run, as pure functions of how much of it is done."""

from agents.config import BudgetConfig, Config
from agents.ppo import Rates
from casino_env.rules import RuleTable, deal_turns

HURRY = (
    9  # after n updates an average keeps at most n / (n + HURRY) of itself: at first there is little in it
)
LEAST_BATCH = 256  # decisions in a gradient step: with fewer it takes as long
GROWTH = 0.05  # a rollout is as large as this share of all that has been learned from before


def linear(start: float, final_share: float, done: float) -> float:
    """Falls in a line from `start` to `final_share` of it while `done` goes from 0 to 1, and stays there."""
    return start * (1 - min(done, 1.0) * (1 - final_share))


def games_at(budget: BudgetConfig, rules: RuleTable, decisions: int, processes: int) -> int:
    """Deals of each process in the next rollout, after so many decisions of all processes.

    At first the gradient is large beside its noise, so small rollouts do, and steps come sooner; later the
    noise is what counts (McCandlish et al. 2018, arXiv:1812.06162).
    """
    wanted = round(GROWTH * decisions / (deal_turns(rules) * processes))
    return min(max(wanted, budget.first_games), budget.games)


def rates_at(config: Config, decisions: int, updates: int, games: int) -> Rates:
    """The rates of the next update, after so many decisions and updates, on a rollout of `games` deals."""
    done = decisions / config.budget.decisions
    least = min(LEAST_BATCH, config.ppo.minibatch)
    return Rates(
        learning=linear(config.ppo.learning_rate, config.budget.final_rate, done),
        entropy=linear(config.ppo.entropy, config.budget.final_entropy, done),
        average=min(config.ppo.average, updates / (updates + HURRY)),
        minibatch=max(config.ppo.minibatch * games // config.budget.games, least),
    )
