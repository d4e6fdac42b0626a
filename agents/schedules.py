"""What changes over a run, as pure functions of how much of it is done."""

from agents.config import Config
from agents.ppo import Rates

HURRY = (
    9  # after n updates an average keeps at most n / (n + HURRY) of itself: at first there is little in it
)


def linear(start: float, final_share: float, done: float) -> float:
    """Falls in a line from `start` to `final_share` of it while `done` goes from 0 to 1, and stays there."""
    return start * (1 - min(done, 1.0) * (1 - final_share))


def rates_at(config: Config, decisions: int, updates: int) -> Rates:
    """The rates of the next update, after so many decisions and updates."""
    done = decisions / config.budget.decisions
    return Rates(
        learning=linear(config.ppo.learning_rate, config.budget.final_rate, done),
        entropy=linear(config.ppo.entropy, config.budget.final_entropy, done),
        average=min(config.ppo.average, updates / (updates + HURRY)),
    )
