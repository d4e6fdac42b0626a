"""An agent at play: asked, checked, timed. Owns what counts as a failure and how it is told.

Axes: `B` games that the agent is asked about in one call.
"""

from collections.abc import Iterable
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from casino_env.errors import CasinoError
from casino_env.legal import LegalMoves, MoveLister
from casino_env.moves import Move
from casino_env.position import Position
from casino_env.state import IntArray
from casino_env.view import View, see

LONGEST_REASON = 200  # characters of an exception


class Answer(NamedTuple):
    """What an agent answers to a call."""

    choices: IntArray  # [B] 0 in games that are lost
    lost: NDArray[np.bool_]  # [B] games in which the agent failed
    reason: str  # of the first of them; empty if there is none


class Pace(NamedTuple):
    """How an agent keeps its time. The time of a move is that of a call divided by its games."""

    calls: int  # timed
    over: int  # calls in which a move took longer than allowed
    worst: float  # milliseconds a move


def whole_pace(paces: Iterable[Pace]) -> Pace:
    """Paces of one agent as one."""
    calls, over, worst = zip(*paces, strict=True)
    return Pace(sum(calls), sum(over), max(worst))


class Contestant:
    """An agent in a competition, with the random stream it draws from.

    The first call is not timed, since it may have to load and compile.
    """

    def __init__(self, agent: Agent, rng: np.random.Generator, move_time: float | None = None) -> None:
        self._agent, self._rng, self._move_time = agent, rng, move_time  # milliseconds
        self._has_answered = False
        self.reason = ""  # of its first failure
        self.pace = Pace(0, 0, 0.0)

    def choose(self, view: View, legal: LegalMoves) -> Answer:
        """The agent's answer; failures and time are noted."""
        start = perf_counter()
        answer = answer_of(self._agent, view, legal, self._rng)
        self._note_time(1000 * (perf_counter() - start) / len(answer.choices))
        self.reason = self.reason or answer.reason
        return answer

    def _note_time(self, milliseconds: float) -> None:
        if self._move_time is not None and self._has_answered:
            calls, over, worst = self.pace
            late = milliseconds > self._move_time
            self.pace = Pace(calls + 1, over + late, max(worst, milliseconds))
        self._has_answered = True


def ask(agent: Agent, name: str, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
    """The agent's choices [B]; CasinoError naming it if it fails."""
    answer = answer_of(agent, view, legal, rng)
    if answer.reason:
        raise CasinoError(f"agent '{name}' {answer.reason}")
    return answer.choices


def move_of(agent: Agent, name: str, position: Position, rng: np.random.Generator) -> Move:
    """The move that an agent plays in a position that is not over; CasinoError naming it if it fails."""
    state = position.state
    legal = MoveLister(1)(state, position.rules.table)
    (choice,) = ask(agent, name, see(state), legal, rng)
    return Move.unpack(int(legal.moves[choice]))


def answer_of(agent: Agent, view: View, legal: LegalMoves, rng: np.random.Generator) -> Answer:
    """Ask for one legal index for each game.

    An illegal index loses its game; an exception, or an answer that is not one integer for each game, all.
    """
    counts = np.diff(legal.offsets)
    all_lost = np.zeros_like(counts), np.ones(len(counts), np.bool_)
    try:
        choices = np.asarray(agent.choose(view, legal, rng))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # some are no `Exception`: sys.exit(), a panic in an extension
        return Answer(*all_lost, f"failed: {_told(error)}")
    if choices.shape != counts.shape or not np.issubdtype(choices.dtype, np.integer):
        form = f"{choices.dtype}{list(choices.shape)}"
        return Answer(*all_lost, f"answered {form}; valid: an integer for each of {len(counts)} games")
    lost = (choices < 0) | (choices >= counts)
    reason = ""
    if lost.any():
        first = int(lost.argmax())
        reason = f"chose the move with index {choices[first]}; valid: 0 to {counts[first] - 1}"
    return Answer(np.where(lost, 0, choices), lost, reason)


def _told(error: BaseException) -> str:
    """The exception in one printable line."""
    try:
        text = " ".join(str(error).split())[:LONGEST_REASON]
    except Exception:  # its own text fails
        text = ""
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    return f"{type(error).__name__}: {text}"
