"""Games played token by token: what naming a token leads to, for every environment that takes tokens.

Owns the unfinished move as arrays. What a token does is in `tokens`, which are legal in `masks`, what a move
does in `engine`. Axes: `B` games.
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

DEAL_OVER, ILLEGAL = -1, -2  # what naming a token leads to, if not to a seat that is to act
NAMED, OPEN = range(2)  # counts: tokens named, tokens that are legal next


class Unfinished(NamedTuple):
    """The unfinished moves of `B` games."""

    spelling: IntArray  # [B, 9] the fields of a `Spelling`
    tokens: IntArray  # [B, MAX_TOKENS] named so far
    counts: IntArray  # [B, 2] NAMED and OPEN
    mask: Mask  # int8[B, 236] legal next


def nothing_named(games: int) -> Unfinished:
    """Unfinished moves before any turn: no token is legal."""
    return Unfinished(
        spelling=np.tile(np.array(EMPTY, np.int64), (games, 1)),
        tokens=np.zeros((games, MAX_TOKENS), np.int64),
        counts=np.zeros((games, 2), np.int64),
        mask=np.zeros((games, N_TOKENS), np.int8),
    )


@inner_kernel
def begin_turn(state: State, game: int, rules: RuleTable, unfinished: Unfinished) -> None:
    """Start spelling the move of the seat to act; no token is legal where the deal is over."""
    unfinished.counts[game, NAMED] = 0
    _await_token(rules, look(state, game, rules), EMPTY, unfinished, game)


@inner_kernel
def name_token(
    state: State, game: int, rules: RuleTable, unfinished: Unfinished, token: int, auto_complete: bool
) -> int:
    """Name a token, and with `auto_complete` every sole legal one after it; play a completed move.

    Returns the seat to act, DEAL_OVER, or ILLEGAL if the token is not legal (nothing changes then).
    """
    if not unfinished.mask[game, token]:
        return ILLEGAL
    table, counts = look(state, game, rules), unfinished.counts[game]
    spelling = kept_spelling(unfinished.spelling[game])
    while True:
        unfinished.tokens[game, counts[NAMED]] = token
        counts[NAMED] += 1
        spelling, move = advance(rules, table, spelling, token)
        if move != NO_MOVE:
            break
        _await_token(rules, table, spelling, unfinished, game)
        if not auto_complete or counts[OPEN] != 1:
            return int(state.turn[game])
        token = int(unfinished.mask[game].argmax())
    return play_move(state, game, rules, unfinished, move)


@inner_kernel
def play_move(state: State, game: int, rules: RuleTable, unfinished: Unfinished, move: int) -> int:
    """Play a legal packed move; returns the seat to act, whose turn is begun, or DEAL_OVER."""
    apply_move(state, game, rules, move)
    begin_turn(state, game, rules, unfinished)
    return DEAL_OVER if is_over(state, game) else int(state.turn[game])


@inner_kernel
def _await_token(
    rules: RuleTable, table: Table, spelling: Spelling, unfinished: Unfinished, game: int
) -> None:
    keep_spelling(spelling, unfinished.spelling[game])
    unfinished.counts[game, OPEN] = write_mask(rules, table, spelling, unfinished.mask[game])


@kernel
def begin_turns(state: State, rules: RuleTable, unfinished: Unfinished, games: IntArray) -> None:
    """`begin_turn` in each of `games` [N]."""
    state, unfinished = borrow(state), borrow(unfinished)
    for game in games:
        begin_turn(state, game, rules, unfinished)


@kernel
def name_tokens(
    state: State,
    rules: RuleTable,
    unfinished: Unfinished,
    games: IntArray,
    tokens: IntArray,
    auto_complete: bool,
) -> IntArray:
    """`name_token` in each of `games` [N], which differ, with `tokens` [N]; what they lead to, [N]."""
    state, unfinished = borrow(state), borrow(unfinished)
    outcomes = np.empty(games.shape[0], np.int64)
    for i in range(games.shape[0]):
        outcomes[i] = name_token(state, games[i], rules, unfinished, tokens[i], auto_complete)
    return outcomes


@kernel
def play_moves(
    state: State, rules: RuleTable, unfinished: Unfinished, games: IntArray, moves: IntArray
) -> IntArray:
    """`play_move` in each of `games` [N], which differ, with `moves` [N]; what they lead to, [N]."""
    state, unfinished = borrow(state), borrow(unfinished)
    outcomes = np.empty(games.shape[0], np.int64)
    for i in range(games.shape[0]):
        outcomes[i] = play_move(state, games[i], rules, unfinished, moves[i])
    return outcomes
