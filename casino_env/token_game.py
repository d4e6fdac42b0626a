"""One game played token by token: the kernels under the environment that takes tokens.

Owns the unfinished move as arrays. What a token does is in `tokens`, which are legal in `masks`, what a move
does in `engine`.
"""

from typing import NamedTuple

import numpy as np

from casino_env.engine import apply_move, is_over
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.masks import Mask, write_mask
from casino_env.moves import NO_MOVE
from casino_env.rules import RuleTable
from casino_env.state import IntArray, State
from casino_env.tokens import EMPTY, MAX_TOKENS, N_TOKENS, Spelling, advance, keep_spelling, kept_spelling
from casino_env.turn import Table, look

UNFINISHED, PLAYED, DEAL_OVER = range(3)  # what naming a token leads to
NAMED, OPEN = range(2)  # counts: tokens named, tokens that are legal next


class Unfinished(NamedTuple):
    """The unfinished move of one game."""

    spelling: IntArray  # the fields of a `Spelling`
    tokens: IntArray  # [MAX_TOKENS] named so far
    counts: IntArray  # [2] NAMED and OPEN
    mask: Mask  # [236] legal next


def nothing_named() -> Unfinished:
    """An unfinished move before any turn: no token is legal."""
    return Unfinished(
        spelling=np.array(EMPTY, np.int64),
        tokens=np.zeros(MAX_TOKENS, np.int64),
        counts=np.zeros(2, np.int64),
        mask=np.zeros(N_TOKENS, np.int8),
    )


@kernel
def begin_turn(state: State, rules: RuleTable, unfinished: Unfinished) -> None:
    """Start spelling the move of the seat to act; no token is legal where the deal is over."""
    state, unfinished = borrow(state), borrow(unfinished)
    unfinished.counts[NAMED] = 0
    _await_token(rules, look(state, 0, rules), EMPTY, unfinished)


@kernel
def name_token(
    state: State, rules: RuleTable, unfinished: Unfinished, token: int, auto_complete: bool
) -> int:
    """Name a legal token, and with `auto_complete` every sole legal one after it; play a completed move.

    Returns UNFINISHED, PLAYED (the next turn is begun) or DEAL_OVER.
    """
    state, unfinished = borrow(state), borrow(unfinished)
    table, spelling, counts = look(state, 0, rules), kept_spelling(unfinished.spelling), unfinished.counts
    while True:
        unfinished.tokens[counts[NAMED]] = token
        counts[NAMED] += 1
        spelling, move = advance(rules, table, spelling, token)
        if move != NO_MOVE:
            break
        _await_token(rules, table, spelling, unfinished)
        if not auto_complete or counts[OPEN] != 1:
            return UNFINISHED
        token = int(unfinished.mask.argmax())
    return play_move(state, rules, unfinished, move)


@kernel
def play_move(state: State, rules: RuleTable, unfinished: Unfinished, move: int) -> int:
    """Play a legal packed move; returns PLAYED (the next turn is begun) or DEAL_OVER."""
    apply_move(state, 0, rules, move)
    if is_over(state, 0):
        return DEAL_OVER
    begin_turn(state, rules, unfinished)
    return PLAYED


@inner_kernel
def _await_token(rules: RuleTable, table: Table, spelling: Spelling, unfinished: Unfinished) -> None:
    keep_spelling(spelling, unfinished.spelling)
    unfinished.counts[OPEN] = write_mask(rules, table, spelling, unfinished.mask)
