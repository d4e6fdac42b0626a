"""VectorEnv: a batch equals its games one at a time, and a game does not depend on its neighbours."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from casino_env import CasinoError, IllegalMove, Move, Position, VectorEnv
from casino_env.legal import LegalMoves
from casino_env.rules import PLAYER_COUNTS
from casino_env.state import copy_state
from casino_env.vector_env import Step
from casino_env.view import see, select_view
from tests.helpers_env import SETTINGS, margins, match_rewards, position_of

GAMES = 16
TURNS = 48


def moves_of(legal: LegalMoves, game: int) -> list[Move]:
    """The moves listed for one game, in their order."""
    return [Move.unpack(move) for move in legal.moves[legal.offsets[game] : legal.offsets[game + 1]]]


def equal_arrays(one: tuple, other: tuple) -> bool:
    """Whether two tuples of arrays agree."""
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def random_steps(env: VectorEnv, legal: LegalMoves, count: int, seed: int = 0) -> Iterator[Step]:
    """Step with random choices; those of a game do not depend on how many there are."""
    streams = [np.random.default_rng([seed, game]) for game in range(env.num_envs)]
    for _ in range(count):
        counts = np.diff(legal.offsets)
        step = env.step(np.array([rng.integers(n) for rng, n in zip(streams, counts, strict=True)]))
        yield step
        legal = step.legal


@pytest.mark.parametrize(("rules", "players"), SETTINGS)
def test_a_batch_equals_its_games_one_at_a_time(rules: str, players: int) -> None:
    """Two deals and a half: lists, views, states, rewards, points, and the deal after the last."""
    env, rng = VectorEnv(GAMES, rules=rules, players=players, seed=1), np.random.default_rng(2)
    decks = [rng.permutation(52) for _ in range(GAMES)]
    dealers = rng.integers(0, players, GAMES)
    legal = env.reset(decks=np.array(decks, np.int8), dealers=dealers)
    games = [
        Position.deal(deck=deck, rules=rules, players=players, dealer=int(dealer))
        for deck, dealer in zip(decks, dealers, strict=True)
    ]
    for turn in range(1, 2 * TURNS + TURNS // 2):
        view, choices = env.view(), rng.integers(0, np.diff(legal.offsets))
        for game, position in enumerate(games):
            moves = moves_of(legal, game)
            assert sorted(moves, key=str) == position.legal_moves()
            assert equal_arrays(select_view(view, np.array([game])), see(position.state))
            games[game] = position.play(moves[choices[game]])
        legal, rewards, terminated, truncated, points = env.step(choices)
        over = turn % TURNS == 0
        assert not truncated.any()
        assert np.allclose(rewards.sum(axis=1), 0)
        assert terminated.tolist() == [over] * GAMES
        for game, position in enumerate(games):
            assert position.is_over == over
            assert rewards[game].tolist() == (margins(position) if over else [0] * players)
            totals = [side.total for side in position.deal_points()]
            assert points[game].tolist() == (totals if over else [0] * len(totals))
            if over:
                games[game] = Position.deal(
                    deck=env.state.deck[game],
                    rules=rules,
                    players=players,
                    dealer=(position.dealer + 1) % players,
                )
            assert position_of(env.state, game, rules) == games[game]


@pytest.mark.jitless
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_a_game_does_not_depend_on_its_neighbours(players: int) -> None:
    few, many = (VectorEnv(games, players=players, seed=5) for games in (3, 9))
    first, turns = np.arange(3), TURNS + 9
    steps = random_steps(few, few.reset(), turns), random_steps(many, many.reset(), turns)
    assert equal_arrays(few.view(), select_view(many.view(), first))
    for one, other in zip(*steps, strict=True):
        assert equal_arrays(few.view(), select_view(many.view(), first))
        assert equal_arrays(one[1:], tuple(array[first] for array in other[1:]))
        assert np.array_equal(one.legal.moves, other.legal.moves[: other.legal.offsets[3]])
    assert equal_arrays(few.state, tuple(array[first] for array in many.state))


@pytest.mark.jitless
def test_seeds() -> None:
    """The same seed gives the same trajectory, in a new env or by `reset`; other games, other decks."""
    one, other = VectorEnv(8, seed=3), VectorEnv(8, seed=4)
    legal = one.reset()
    steps = list(random_steps(one, legal, TURNS + 5))
    decks = one.state.deck.copy()
    other.reset()
    legal = other.reset(seed=3)
    for step, again in zip(steps, random_steps(other, legal, TURNS + 5), strict=True):
        assert equal_arrays((*step.legal, *step[1:]), (*again.legal, *again[1:]))
    assert len({deck.tobytes() for deck in decks}) == 8
    one.reset()
    assert not (one.state.deck == decks).all(axis=1).any()  # a reset without a seed goes on in the streams
    one, other = VectorEnv(8, seed=6), VectorEnv(8, seed=7)
    one.reset(), other.reset()
    assert not np.array_equal(one.view().hand, other.view().hand)


@pytest.mark.jitless
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_matches(players: int) -> None:
    """R7, R2.3: score carried, dealer moves on, +1 and -1 at the end, cut off after two deals."""
    rules, rng = "royal;near21=none;target=14", np.random.default_rng(0)
    env = VectorEnv(GAMES, rules=rules, players=players, seed=1, objective="match", max_deals=2)
    legal = env.reset()
    deals, won, cut = np.ones(GAMES, int), 0, 0
    for turn in range(1, 6 * TURNS + 1):
        choices = rng.integers(0, np.diff(legal.offsets))
        before, dealers = copy_state(env.state), (env.state.dealer + 1) % players
        step = env.step(choices)
        if turn % TURNS:
            assert not (step.terminated | step.truncated).any()
            assert not step.rewards.any()
        else:
            assert np.array_equal(env.state.dealer, dealers)
            for game in range(GAMES):
                move = moves_of(legal, game)[choices[game]]
                score, winner = position_of(before, game, rules).play(move).settle()
                over = winner is not None or deals[game] == 2
                assert step.terminated[game] == (winner is not None)
                assert step.truncated[game] == (winner is None and over)
                assert step.rewards[game].tolist() == match_rewards(winner, players)
                assert env.state.score[game].tolist() == [0 if over else points for points in score]
                deals[game] = 1 if over else deals[game] + 1
            won, cut = won + step.terminated.sum(), cut + step.truncated.sum()
        legal = step.legal
    assert min(won, cut) > 3


@pytest.mark.jitless
def test_wrong_choices_play_nothing() -> None:
    env = VectorEnv(4, seed=0)
    legal = env.reset()
    counts, state = np.diff(legal.offsets), copy_state(env.state)
    one_too_high, negative = np.zeros(4, int), np.zeros(4, int)
    one_too_high[2], negative[3] = counts[2], -1
    ragged: Any = [[0], [0], [0], []]
    others: list[Any] = [0, "zero", [0.0] * 4, [None] * 4, ragged]
    for choices in (one_too_high, negative, np.zeros(3, int), np.zeros((4, 1), int), *others):
        with pytest.raises(IllegalMove, match="4 indices"):
            env.step(choices)
        assert equal_arrays(env.state, state)
    env.step((counts - 1).astype(np.uint64))
    assert not equal_arrays(env.state, state)


@pytest.mark.jitless
@pytest.mark.parametrize(
    "options",
    [
        {"decks": np.zeros((4, 52), np.int8)},  # one card 52 times
        {"decks": np.arange(52, dtype=np.int8)},  # one deck for four games
        {"decks": np.tile(np.arange(51), (4, 1))},
        {"decks": [[0, 1], [2]]},
        {"decks": [[None] * 52] * 4},
        {"decks": np.tile(np.arange(52.0), (4, 1))},
        {"dealers": ["first", 0, 0, 0]},
        {"decks": np.tile(np.arange(1, 53), (4, 1))},
        {"dealers": [2, 0, 0, 0]},
        {"dealers": [0, 0, 0, -1]},
        {"dealers": [0]},
    ],
)
def test_wrong_decks_and_dealers_change_nothing(options: dict[str, Any]) -> None:
    env = VectorEnv(4, seed=0)
    env.reset()
    state = copy_state(env.state)
    with pytest.raises(CasinoError, match=f"{next(iter(options))}: give 4 "):
        env.reset(seed=1, **options)
    assert equal_arrays(env.state, state)
    env.reset()
    twin = VectorEnv(4, seed=0)
    twin.reset()
    twin.reset()
    assert equal_arrays(env.state, twin.state)  # the random streams are where they were


@pytest.mark.jitless
def test_a_seed_for_each_game() -> None:
    env, alone = VectorEnv(3, seed=[5, 8, 5]), VectorEnv(1, seed=np.array([8]))
    env.reset(dealers=[0, 0, 0]), alone.reset(dealers=[0])
    for _ in range(3):  # deals
        decks = env.state.deck.copy()
        assert (decks[0] == decks[2]).all() and (decks[1] == alone.state.deck[0]).all()
        assert (decks[0] != decks[1]).any()
        for one in (env, alone):
            list(random_steps(one, one.legal, TURNS))
    before = env.state.deck.copy()
    with pytest.raises(CasinoError, match="seed: 2 given; valid: one, or 3 for as many games"):
        env.reset(seed=[1, 2])
    assert (env.state.deck == before).all()


@pytest.mark.jitless
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs=0 is not possible; valid: 1 or more"),
        ({"players": 5}, "players=5 is not possible; valid: 2, 3, 4"),
        ({"rules": "royale"}, "unknown rule set 'royale'; valid: royal, plain, spade, kasino"),
        ({"objective": "win"}, "objective='win' is unknown; valid: deal, match"),
        ({"objective": "match", "max_deals": 0}, "max_deals=0 is not possible; valid: 1 or more"),
        ({"max_deals": 3}, "max_deals limits a match: give objective='match' too"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CasinoError) as error:
        VectorEnv(**{"num_envs": 2, **arguments})
    assert str(error.value) == message
