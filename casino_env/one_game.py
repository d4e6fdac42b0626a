"""One game in one array: what the environment that plays a single game calls for every token.

A kernel called from Python unpacks each array and number of its arguments, which for the tuples of a game
takes several times as long as playing. So the words (int64) of one array hold the rules, the state, the
unfinished move and scratch space; kernels take them apart, and Python reads them through views.
Axes: `P` seats, `S` sides, `V` = 15 build values; batches are of one game.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from casino_env.cards import N_CARDS
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.masks import Mask
from casino_env.observation import FloatArray, block_offsets, write_observation, write_spelling
from casino_env.rules import PLAYER_COUNTS, RuleTable, side_count
from casino_env.state import VALUES, IntArray, State, empty_state
from casino_env.token_game import TokenGames, Unfinished, begin_turn, name_token, nothing_named, play_move
from casino_env.tokens import EMPTY, MAX_TOKENS, N_TOKENS
from casino_env.view import View, see_game

N_RULES, N_OFFSETS, N_SPELLING = len(RuleTable._fields), len(block_offsets(2)), len(EMPTY)
SEATS, WORD = max(PLAYER_COUNTS), 8  # seats there is room for; bytes in a word
SINGLES, ROWS = 6, 5  # numbers of a state or view: one of a kind; by seat or side
BUILDS_END = SINGLES + VALUES
DECK_WORDS, MASK_WORDS = -(-N_CARDS // WORD), -(-N_TOKENS // WORD)

PLAYERS, RULES = 0, 1  # where things begin
OFFSETS = RULES + N_RULES
SPELLING = OFFSETS + N_OFFSETS
TOKENS = SPELLING + N_SPELLING
COUNTS = TOKENS + MAX_TOKENS
MASK = COUNTS + 2
STATE = MASK + MASK_WORDS
VIEW = STATE + BUILDS_END + DECK_WORDS + ROWS * SEATS
SIZE = VIEW + BUILDS_END + ROWS * SEATS


class Game(NamedTuple):
    """One game as views of its words."""

    games: TokenGames  # one
    seen: View  # scratch
    offsets: IntArray  # of the blocks of the observation


def new_game(rules: RuleTable, players: int) -> IntArray:
    """The words of a game before its first deal."""
    words = np.zeros(SIZE, np.int64)
    words[PLAYERS] = players
    words[RULES:OFFSETS] = rules
    words[OFFSETS:SPELLING] = block_offsets(players)
    games = take_apart(words).games
    overwrite(games.state, empty_state(1, players))
    overwrite(games.unfinished, nothing_named(1))
    return words


def overwrite(kept: Iterable[np.ndarray], new: Iterable[np.ndarray]) -> None:
    """Copy a tuple of arrays into another of the same shapes."""
    for array, values in zip(kept, new, strict=True):
        array[:] = values


@inner_kernel
def take_apart(words: IntArray) -> Game:
    """Views of the words of a game; a kernel borrows the words first."""
    unfinished = Unfinished(
        spelling=words[SPELLING:TOKENS].reshape(1, N_SPELLING),
        tokens=words[TOKENS:COUNTS].reshape(1, MAX_TOKENS),
        counts=words[COUNTS:MASK].reshape(1, 2),
        mask=words[MASK:STATE].view(np.int8)[:N_TOKENS].reshape(1, N_TOKENS),
    )
    state = _state(words[STATE:VIEW], words[PLAYERS])
    return Game(
        TokenGames(_rules(words[RULES:OFFSETS]), state, unfinished),
        _view(words[VIEW:SIZE], words[PLAYERS]),
        words[OFFSETS:SPELLING],
    )


@inner_kernel
def _rules(w: IntArray) -> RuleTable:
    a, b, c, d, e, f, g, h, i, j, k = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10]
    m, n, o, p, q, r, s, t = w[11], w[12], w[13], w[14], w[15], w[16], w[17], w[18]
    return RuleTable(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, w[19], w[20], w[21])


@inner_kernel
def _by_seat(words: IntArray, row: int, seats: int) -> IntArray:
    """A row of the numbers by seat or side at the end of the words of a state or view, [1, seats]."""
    start = words.shape[0] + (row - ROWS) * SEATS
    return words[start : start + seats].reshape(1, seats)


@inner_kernel
def _state(words: IntArray, players: int) -> State:
    deck = words[BUILDS_END : BUILDS_END + DECK_WORDS].view(np.int8)
    return State(
        hands=_by_seat(words, 0, players),
        loose=words[0:1],
        build_cards=words[SINGLES:BUILDS_END].reshape(1, VALUES),
        owned=_by_seat(words, 1, players),
        multiple=words[1:2],
        captured=_by_seat(words, 2, players),
        sweeps=_by_seat(words, 3, players),
        deck=deck[:N_CARDS].reshape(1, N_CARDS),
        dealt=words[2:3],
        turn=words[3:4],
        last_capture=words[4:5],
        dealer=words[5:6],
        score=_by_seat(words, 4, side_count(players)),
    )


@inner_kernel
def _view(words: IntArray, players: int) -> View:
    return View(
        hand=words[0:1],
        loose=words[1:2],
        build_cards=words[SINGLES:BUILDS_END].reshape(1, VALUES),
        owned=_by_seat(words, 0, players),
        multiple=words[2:3],
        captured=_by_seat(words, 1, players),
        sweeps=_by_seat(words, 2, players),
        hand_sizes=_by_seat(words, 3, players),
        stock_size=words[3:4],
        last_capture=words[4:5],
        dealer=words[5:6],
        score=_by_seat(words, 4, side_count(players)),
    )


@kernel
def start_turn(words: IntArray) -> None:
    """As `token_game.begin_turn`."""
    begin_turn(take_apart(borrow(words)).games, 0)


@kernel
def take_token(words: IntArray, token: int, auto_complete: bool) -> int:
    """As `token_game.name_token`."""
    return name_token(take_apart(borrow(words)).games, 0, token, auto_complete)


@kernel
def take_move(words: IntArray, move: int) -> int:
    """As `token_game.play_move`."""
    return play_move(take_apart(borrow(words)).games, 0, move)


@kernel
def observe_seat(words: IntArray, seat: int, acts: bool, vector: FloatArray, mask: Mask) -> None:
    """Write what a seat observes: `vector` float32[N], and `mask` int8[236], zeros unless it `acts`."""
    game, vector, mask = take_apart(borrow(words)), borrow(vector), borrow(mask)
    rules, state, unfinished = game.games
    see_game(state, 0, seat, game.seen)
    write_observation(game.seen, 0, game.offsets, rules, vector)
    if acts:
        write_spelling(unfinished.spelling[0], game.offsets, vector)
    for token in range(N_TOKENS):
        mask[token] = unfinished.mask[0, token] if acts else 0
