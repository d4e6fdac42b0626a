"""Playing a hand out in worlds: each seat makes the move that brings most once the next has replied to it.

For any number of players. Every move under consideration is played out in the same worlds, so that luck is
shared. Axes: `B` games, `M` moves of all games together.
"""

from typing import NamedTuple

import numpy as np

from agents.worlds import Question, copy_game, deal_hidden, hand_is_over, write_seen
from agents.worth import NEVER, Scale, greedy_move, lead, move_gain
from casino_env.engine import apply_move
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.legal import list_turn
from casino_env.rules import RuleTable
from casino_env.state import IntArray, State, empty_state
from casino_env.turn import look
from casino_env.unions import COUNT, MAX_MOVES, MOVES, WORK_SIZE

WORLD, GAME, TRIAL = range(3)  # rows of the scratch state


class Board(NamedTuple):
    """Room to play on in."""

    rows: State  # [3]
    work: IntArray  # of the lists of moves
    moves: IntArray  # [MAX_MOVES] of the seat whose move is looked for


def new_board(players: int) -> Board:
    """Room for games of so many seats."""
    return Board(empty_state(3, players), np.zeros(WORK_SIZE, np.int64), np.zeros(MAX_MOVES, np.int64))


@kernel
def play_out(rules: RuleTable, scale: Scale, board: Board, question: Question, worlds: int) -> None:
    """Add what each move leads to in `worlds` worlds together, by the end of the hand."""
    board, question = borrow(board), borrow(question)
    rows, offsets = board.rows, question.offsets
    for game in range(offsets.shape[0] - 1):
        if offsets[game + 1] - offsets[game] == 1:
            continue
        write_seen(question.seen, game, rows, WORLD)
        for _ in range(worlds):
            deal_hidden(rules, question, game, rows, WORLD)
            for i in range(offsets[game], offsets[game + 1]):
                copy_game(rows, WORLD, rows, GAME)
                _play_hand(rules, scale, board, question.moves[i])
                question.values[i] += lead(rules, scale, rows, GAME)


@inner_kernel
def _play_hand(rules: RuleTable, scale: Scale, board: Board, move: int) -> None:
    """Play a move, and then all others until the hand is over."""
    rows, work, moves = board.rows, board.work, board.moves
    dealt = rows.dealt[WORLD]
    row, length, tried, gain, best = GAME, 0, 0, 0, NEVER
    while True:
        if row == GAME:
            apply_move(rows, GAME, rules, move)
        if not hand_is_over(rules, rows, row, dealt):
            list_turn(rules, look(rows, row, rules), work)
            listed = work[MOVES : MOVES + work[COUNT]]
        elif row == GAME:
            return
        else:
            listed = work[MOVES:MOVES]
        if row == GAME and not listed.shape[0]:  # a study's promise that nobody can keep
            return
        if row == GAME:  # the moves of a seat, to be tried one by one
            length, tried, best, move = listed.shape[0], 0, NEVER, listed[0]
            moves[:length] = listed
        else:  # the replies to the move that was tried
            if listed.shape[0]:
                reply = listed[greedy_move(rules, scale, rows, TRIAL, listed)]
                gain -= max(0, move_gain(rules, scale, rows, TRIAL, reply))
            if gain > best:
                best, move = gain, moves[tried]
            tried += 1
        if length == 1 or tried == length:
            row = GAME
            continue
        row = TRIAL
        copy_game(rows, GAME, rows, TRIAL)
        gain = max(0, move_gain(rules, scale, rows, TRIAL, moves[tried]))
        apply_move(rows, TRIAL, rules, moves[tried])
