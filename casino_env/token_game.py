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


class TokenGames(NamedTuple):
    """`B` games played token by token."""

    rules: RuleTable
    state: State
    unfinished: Unfinished


def nothing_named(games: int) -> Unfinished:
    """Unfinished moves before any turn: no token is legal."""
    return Unfinished(
        spelling=np.tile(np.array(EMPTY, np.int64), (games, 1)),
        tokens=np.zeros((games, MAX_TOKENS), np.int64),
        counts=np.zeros((games, 2), np.int64),
        mask=np.zeros((games, N_TOKENS), np.int8),
    )


@inner_kernel
def begin_turn(games: TokenGames, game: int) -> None:
    """Start spelling the move of the seat to act; no token is legal where the deal is over."""
    games.unfinished.counts[game, NAMED] = 0
    _await_token(games, game, look(games.state, game, games.rules), EMPTY)


@inner_kernel
def name_token(games: TokenGames, game: int, token: int, auto_complete: bool) -> int:
    """Name a token, and with `auto_complete` every sole legal one after it; play a completed move.

    Returns the seat to act, DEAL_OVER, or ILLEGAL if the token is not legal (nothing changes then).
    """
    rules, state, unfinished = games
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
        _await_token(games, game, table, spelling)
        if not auto_complete or counts[OPEN] != 1:
            return int(state.turn[game])
        token = int(unfinished.mask[game].argmax())
    return play_move(games, game, move)


@inner_kernel
def play_move(games: TokenGames, game: int, move: int) -> int:
    """Play a legal packed move; returns the seat to act, whose turn is begun, or DEAL_OVER."""
    apply_move(games.state, game, games.rules, move)
    begin_turn(games, game)
    return DEAL_OVER if is_over(games.state, game) else int(games.state.turn[game])


@inner_kernel
def _await_token(games: TokenGames, game: int, table: Table, spelling: Spelling) -> None:
    unfinished = games.unfinished
    keep_spelling(spelling, unfinished.spelling[game])
    unfinished.counts[game, OPEN] = write_mask(games.rules, table, spelling, unfinished.mask[game])


@kernel
def begin_turns(games: TokenGames, which: IntArray) -> None:
    """`begin_turn` in each of the games `which` [N]."""
    games = borrow(games)
    for game in which:
        begin_turn(games, game)


@kernel
def name_tokens(games: TokenGames, which: IntArray, tokens: IntArray, auto_complete: bool) -> IntArray:
    """`name_token` in each of the games `which` [N], which differ; what `tokens` [N] lead to, [N]."""
    games = borrow(games)
    outcomes = np.empty(which.shape[0], np.int64)
    for i in range(which.shape[0]):
        outcomes[i] = name_token(games, which[i], tokens[i], auto_complete)
    return outcomes


@kernel
def play_moves(games: TokenGames, which: IntArray, moves: IntArray) -> IntArray:
    """`play_move` in each of the games `which` [N], which differ; what `moves` [N] lead to, [N]."""
    games = borrow(games)
    outcomes = np.empty(which.shape[0], np.int64)
    for i in range(which.shape[0]):
        outcomes[i] = play_move(games, which[i], moves[i])
    return outcomes
