"""A policy that looks before it plays: it plays its promising moves out by itself, in worlds that it deals.

One step of policy improvement by rollouts (Tesauro and Galperin 1996, "On-line policy improvement using
Monte-Carlo search"). Every promising move of a decision is played out to the end of the hand in the same
worlds, all seats following the policy, and is worth what its side has banked by then, or the points of the
deal if it is over; what the policy thought of it at first counts a little. For any number of players.
Who wants to know what moves are worth in the end has them played out to the end of the deal.
Axes: `B` games, `K` promising moves of all games together, `R` rows: one for each of these in each world.
"""

import numpy as np
from numpy.typing import NDArray

from agents.policy import PolicyAgent
from agents.ragged import normalise
from agents.shortlist import Shortlist
from agents.worlds import Question, copy_game, deal_hidden, hand_is_over, start_streams, write_seen
from agents.worth import POINT, Scale, lead, scale_of
from casino_env.cards import N_CARDS
from casino_env.engine import apply_batch, apply_move, is_over
from casino_env.jit import borrow, kernel
from casino_env.legal import LegalMoves, MoveLister, select_lists
from casino_env.rules import Rules, RuleTable, side_count
from casino_env.scoring import N_ITEMS, deal_points, total_points
from casino_env.state import IntArray, State, empty_state, select
from casino_env.view import View, see, select_view

CANDIDATES, LEAST = 6, 0.01  # moves that are played out, and the probability that each must have
PRIOR = 0.1  # points that a nat of the policy's log-probability counts
ROWS = 1 << 14  # played side by side
MICROPOINT = 1e-6  # in which values are compared


class PolicySearch:
    """Plays promising moves of `policy` out in `worlds` worlds, to the end of the hand or `whole` deal."""

    def __init__(
        self, policy: PolicyAgent, rules: Rules, players: int, worlds: int, whole: bool = False
    ) -> None:
        self.name, self._whole = f"{policy.name}:search={worlds}", whole
        self._policy, self._rules, self._worlds = policy, rules.table, worlds
        self._scale, self._others = scale_of(rules.table), side_count(players) - 1
        self._world, self._players = empty_state(1, players), players
        self._list_moves = MoveLister(1)

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> IntArray:
        """See `Agent.choose`."""
        picked, log_probs = self._promising(view, legal)
        games = np.flatnonzero(np.diff(picked.offsets) > 1)
        values = self.values(view, picked, games, rng) + PRIOR * log_probs
        return picked.choose(legal.offsets, np.rint(values / MICROPOINT).astype(np.int64))

    def values(
        self, view: View, picked: Shortlist, games: IntArray, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """What each picked move of `games` is worth, in points that the side to act gets beyond the mean of
        the others; of other games 0. float64[K].
        """
        values = np.zeros(len(picked.moves))
        at_once = max(1, ROWS // (CANDIDATES * self._worlds))
        for start in range(0, len(games), at_once):
            part = games[start : start + at_once]
            rows, offsets = select_lists(picked.offsets, part)
            streams = start_streams(rng, len(part))
            nothing = np.zeros(0, np.int64)
            question = Question(select_view(view, part), offsets, picked.moves[rows], streams, nothing)
            values[rows] = self._play_out(question, rng)
        return values

    def _promising(self, view: View, legal: LegalMoves) -> tuple[Shortlist, NDArray[np.float32]]:
        """The moves that the policy thinks of, and its log-probabilities [K] of them."""
        kept = self._policy.choices(legal)
        log_probs = self._policy.logits(view, kept)
        normalise(log_probs, kept.offsets)
        most = np.add.reduceat(log_probs >= np.log(LEAST), kept.offsets[:-1], dtype=np.int64)
        order = np.rint(log_probs / MICROPOINT).astype(np.int64)
        picked = kept.shorten(order, most.clip(1, CANDIDATES))
        return picked, log_probs[np.isin(kept.rows, picked.rows)]

    def _play_out(self, question: Question, rng: np.random.Generator) -> NDArray[np.float64]:
        """What the side to act will have banked beyond the mean of the others, in points, float64[K]."""
        rows = len(question.moves) * self._worlds
        state, leads = empty_state(rows, self._players), np.zeros(rows, np.int64)
        deal_worlds(self._rules, question, self._worlds, self._world, state)
        dealt = np.repeat(N_CARDS - question.seen.stock_size, np.diff(question.offsets) * self._worlds)
        playing = np.arange(rows)
        while len(playing):
            over = np.zeros(len(playing), np.bool_)
            note_ends(self._rules, self._scale, state, (playing, dealt, over, leads), self._whole)
            if over.any():
                on = np.flatnonzero(~over)
                state, dealt, playing = select(state, on), dealt[on], playing[on]
            legal = self._list_moves(state, self._rules)
            stuck = np.diff(legal.offsets) == 0  # by a study's promise that nobody can keep
            if stuck.any():
                dealt[stuck] = -1  # over at the next look
                continue
            if len(playing):
                choices = self._policy.choose(see(state), legal, rng)
                moves = legal.moves[legal.offsets[:-1] + choices]
                apply_batch(state, self._rules, moves, np.zeros(len(playing), np.bool_))
        return leads.reshape(-1, self._worlds).mean(axis=1) / (POINT * self._others)


@kernel
def deal_worlds(rules: RuleTable, question: Question, worlds: int, world: State, rows: State) -> None:
    """Deal `worlds` worlds of every game, and play in each of them each move of the game in a row of its own.

    A move's rows, one for each world, lie together. `world` is room for one game.
    """
    question, world, rows = borrow(question), borrow(world), borrow(rows)
    for game in range(question.offsets.shape[0] - 1):
        write_seen(question.seen, game, world, 0)
        for number in range(worlds):
            deal_hidden(rules, question, game, world, 0)
            for i in range(question.offsets[game], question.offsets[game + 1]):
                row = i * worlds + number
                copy_game(world, 0, rows, row)
                apply_move(rows, row, rules, question.moves[i])


@kernel
def note_ends(
    rules: RuleTable,
    scale: Scale,
    state: State,
    notes: tuple[IntArray, IntArray, NDArray[np.bool_], IntArray],
    whole: bool,
) -> None:
    """Mark the rows whose hand is over, or if `whole` the deal, and write the lead of the viewer's side.

    The lead is in units of `worth`; at the end of the deal it is that of its points. `notes`: of each row of
    the state its place [R] among all, the cards dealt when the hand began, and whether it is over, to be
    written; and the leads of all places.
    """
    state = borrow(state)
    places, dealt, over, leads = notes
    points = np.zeros((state.score.shape[1], N_ITEMS), np.int64)
    for row in range(places.shape[0]):
        if is_over(state, row):
            over[row] = True
            deal_points(state, row, rules, points)
            total = total_points(points, 0) * state.score.shape[1]
            for side in range(state.score.shape[1]):
                total -= total_points(points, side)
            leads[places[row]] = POINT * total
        elif dealt[row] < 0 or (not whole and hand_is_over(rules, state, row, dealt[row])):
            over[row] = True
            leads[places[row]] = lead(rules, scale, state, row)
