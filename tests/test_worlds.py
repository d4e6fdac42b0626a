"""Worlds: uniform among the deals that a seat cannot tell apart, promises kept; and the lots drawn."""

from collections import Counter

import numba
import numpy as np
import pytest

from agents.worlds import Question, Words, deal_hidden, draw_below, start_streams, write_seen
from casino_env import Position, Rules
from casino_env.cards import card_set, parse_cards
from casino_env.invariants import check_state
from casino_env.rules import RuleTable
from casino_env.state import IntArray, State, empty_state
from casino_env.view import View, see
from tests.helpers import study
from tests.helpers_env import LOOSE, random_states

DEVIATIONS = 5  # standard deviations that no count strays


@numba.njit
def draw_many(streams: Words, limit: int, draws: IntArray) -> None:
    for i in range(draws.shape[0]):
        draws[i] = draw_below(streams, 0, limit)


@numba.njit
def deal(rules: RuleTable, view: View, game: int, worlds: State, streams: Words) -> None:
    """Fill the rows of `worlds` for one game of a batch of views."""
    for row in range(worlds.turn.shape[0]):
        write_seen(view, game, worlds, row)
        deal_hidden(rules, Question(view, view.hand, view.hand, streams, view.hand), game, worlds, row)


def worlds_of(position: Position, count: int, seed: int = 0) -> State:
    """Worlds of the seat to act; the position's seat 0."""
    assert position.turn == 0
    worlds = empty_state(count, position.players)
    streams = start_streams(np.random.default_rng(seed), 1)
    deal(position.rules.table, see(position.state), 0, worlds, streams)
    return worlds


def is_level(counts: Counter[int], draws: int, kinds: int) -> bool:
    """Whether `draws` fell on all of so many equally likely kinds, and none strays."""
    share = draws / kinds
    return len(counts) == kinds and all(
        abs(count - share) < DEVIATIONS * np.sqrt(share) for count in counts.values()
    )


@pytest.mark.parametrize("limit", [1, 2, 7, 52])
def test_draws_are_uniform_and_follow_from_the_seed(limit: int) -> None:
    draws = np.zeros((2, 20_000), np.int64)
    for row in draws:
        draw_many(start_streams(np.random.default_rng(3), 1), limit, row)
    assert np.array_equal(*draws)
    assert is_level(Counter(draws[0].tolist()), 20_000, limit)
    pairs = Counter((limit * draws[0, 1:] + draws[0, :-1]).tolist())
    assert limit > 7 or is_level(pairs, 19_999, limit**2)


def test_hidden_hands_are_uniform() -> None:
    """One of the nine cards not seen, in the other hand."""
    seen = "2C2D2H2S3C3D3H3S4C4D4H4S5C5D5H5S6C6D6H6S7C7D7H7S8C8D8H8S9C9D9H9STCTDTHTSJCJDJHJSQC"
    position = study(f"royal KS/KH AC - {seen}/- QDQHQSKCKDADAHAS", turn="0", last_capture="0")
    hands = Counter(worlds_of(position, 8000).hands[:, 1].tolist())
    assert is_level(hands, 8000, 9)


def test_promises_are_kept_and_the_rest_is_uniform() -> None:
    """The owner of a build of 5 holds a five: of 2 fives and 3 others unseen, 7 hands of two cards do."""
    seen = "2C2D2H2S3C3D3H3S4C5C5D6C6D6H6S7C7D7H7S8C8D8H8S9C9D9H9STCTDTHTSJCJDJHJSQCQDQHQSKCKDKHKS"
    position = study(f"royal 4H4S/5HAH - 5=4DAC@1 {seen}/- -", turn="0", last_capture="0")
    hands = Counter(worlds_of(position, 7000).hands[:, 1].tolist())
    unseen = card_set(parse_cards("5H5SADAHAS"))
    assert all(hand & ~unseen == 0 and hand & card_set(parse_cards("5H5S")) for hand in hands)
    assert is_level(hands, 7000, 7)


def test_a_rare_promise_is_kept() -> None:
    """One of the forty cards not seen is the one that was promised."""
    position = study("royal 2C/KH - 13=6C7C@1", turn="0")
    worlds = worlds_of(position, 200)
    kings = card_set(parse_cards("KCKDKHKS"))
    assert (worlds.hands[:, 1] & kings != 0).all()
    assert len(set(worlds.hands[:, 1].tolist())) == 4


@pytest.mark.parametrize(
    ("rules", "players"), [("royal", 2), ("royal", 3), (LOOSE, 4), ("spade;draw=yes", 3)]
)
def test_worlds_are_positions_that_look_the_same(rules: str, players: int) -> None:
    table = Rules.parse(rules).table
    for number, state in enumerate(random_states(players, 4, seed=players, rules=rules)):
        worlds, view = empty_state(6, players), see(state)
        deal(table, view, 1, worlds, start_streams(np.random.default_rng(number), 4))
        for world in range(6):
            assert check_state(worlds, world, table, False) is None
        if number < 47:
            again = see(worlds)  # of seat 0, the viewer
            for one, others in zip(view, again, strict=True):
                assert (others == one[1]).all()
            assert number > 30 or len(np.unique(worlds.deck, axis=0)) > 1
