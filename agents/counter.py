"""`counter`: looks one round ahead in worlds dealt from the cards that it has not seen.

A move is worth what the viewer's side banks with it and with its best capture at its next turn, minus what
the others bank in between with their best replies, over sampled worlds. So cards left within reach count,
and builds that may be taken, and what they promise. Axes: `B` games, `M` moves of all games together.
"""

from typing import NamedTuple

import numpy as np

from agents.shortlist import MOST, shorten_by_gain
from agents.worlds import Question, copy_game, deal_hidden, hand_is_over, start_streams, write_seen
from agents.worth import Scale, greedy_move, lead, move_gain, scale_of
from casino_env.engine import apply_move
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.legal import LegalMoves, list_turn
from casino_env.rules import Rules, RuleTable
from casino_env.state import IntArray, State, empty_state
from casino_env.turn import look
from casino_env.unions import COUNT, MOVES, WORK_SIZE
from casino_env.view import View

WORLDS = 16
WORLD, ROUND = range(2)  # rows of the scratch state


class Scratch(NamedTuple):
    """Room to play on in."""

    rows: State  # [2] WORLD and ROUND
    work: IntArray  # of the lists of moves


class CounterAgent:
    """Looks one round ahead in `worlds` worlds. Of equal moves, the first of the list."""

    name = "counter"

    def __init__(self, rules: Rules, players: int, worlds: int = WORLDS) -> None:
        self._rules, self._scale, self._worlds = rules.table, scale_of(rules.table), worlds
        self._scratch = Scratch(empty_state(2, players), np.zeros(WORK_SIZE, np.int64))

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`."""
        most = np.full(len(legal.offsets) - 1, MOST)
        picked = shorten_by_gain(self._rules, self._scale, view, legal, most)
        values = np.zeros(len(picked.moves), np.int64)
        streams = start_streams(rng, len(legal.offsets) - 1)
        question = Question(view, picked.offsets, picked.moves, streams, values)
        look_ahead(self._rules, self._scale, self._scratch, question, self._worlds)
        return picked.choose(legal.offsets, values)


@kernel
def look_ahead(rules: RuleTable, scale: Scale, scratch: Scratch, question: Question, worlds: int) -> None:
    """Add what each move is worth in `worlds` worlds together; sole moves are left out."""
    scratch, question = borrow(scratch), borrow(question)
    rows, offsets = scratch.rows, question.offsets
    for game in range(offsets.shape[0] - 1):
        if offsets[game + 1] - offsets[game] == 1:
            continue
        write_seen(question.seen, game, rows, WORLD)
        for _ in range(worlds):
            deal_hidden(rules, question, game, rows, WORLD)
            for i in range(offsets[game], offsets[game + 1]):
                copy_game(rows, WORLD, rows, ROUND)
                _play_round(rules, scale, scratch, question.moves[i])
                question.values[i] += lead(rules, scale, rows, ROUND)


@inner_kernel
def _play_round(rules: RuleTable, scale: Scale, scratch: Scratch, move: int) -> None:
    """Play a move, the others' best replies, and a capture if the next turn of the viewer has one."""
    rows, work = scratch.rows, scratch.work
    players = rows.hands.shape[1]
    for step in range(players + 1):
        if step:
            if hand_is_over(rules, rows, ROUND, rows.dealt[WORLD]):
                return
            list_turn(rules, look(rows, ROUND, rules), work)
            if work[COUNT] == 0:  # a study's promise that nobody can keep
                return
            listed = work[MOVES : MOVES + work[COUNT]]
            move = listed[greedy_move(rules, scale, rows, ROUND, listed)]
            if step == players and move_gain(rules, scale, rows, ROUND, move) <= 0:
                return
        apply_move(rows, ROUND, rules, move)
