"""The observation: its table of blocks, its bounds, what can be read from it, and that it fixes the mask."""

from collections.abc import Iterator

import numpy as np
import pytest

from casino_env import Position, royal_casino_v0
from casino_env.cards import card_id
from casino_env.observation import (
    OBSERVATION_VERSION,
    block_offsets,
    blocks,
    observation_size,
    observe_batch,
    upper_bounds,
    write_observation,
    write_spelling,
)
from casino_env.rules import PLAYER_COUNTS, Rules
from casino_env.state import NOBODY, State
from casino_env.view import see
from tests.helpers import study
from tests.helpers_env import (
    SETTINGS,
    STYLES,
    TOKENS,
    Speller,
    cards_in,
    hide_again,
    play_out,
    position_of,
    random_states,
    random_token,
    some_positions,
)

pytestmark = pytest.mark.jitless

TARGET = 21
SIZES = {2: 589, 3: 660, 4: 729}  # of OBSERVATION_VERSION 1: a change here asks for a new version


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_block_table(players: int) -> None:
    table = blocks(players)
    ends = [block.offset + block.size for block in table]
    assert [block.offset for block in table] == [0, *ends[:-1]]
    assert len({block.name for block in table}) == len(table)
    assert all(block.size > 0 and block.meaning for block in table)
    assert block_offsets(players).tolist() == [block.offset for block in table]
    assert (OBSERVATION_VERSION, observation_size(players)) == (1, SIZES[players])
    assert ends[-1] == SIZES[players] == len(upper_bounds(blocks(players)))
    env = royal_casino_v0.raw_env(players=players)
    for agent in env.possible_agents:
        space = env.observation_space(agent)["observation"]
        assert space.shape == (SIZES[players],)
        assert space.dtype == np.float32
        assert (space.low == 0).all()
        assert (space.high == upper_bounds(blocks(players))).all()


@pytest.mark.parametrize(("rules", "players"), SETTINGS)
def test_observations_are_within_bounds(rules: str, players: int) -> None:
    """Of every seat at every token of a deal, and of a batch with scores beyond the target."""
    env = royal_casino_v0.raw_env(rules=rules, players=players)
    choose = random_token(0)

    def check_all(observation: dict[str, np.ndarray]) -> int:
        for agent in env.agents:
            assert env.observation_space(agent).contains(env.observe(agent))
        return choose(observation)

    env.reset(seed=0)
    play_out(env, check_all)
    for state in random_states(players, games=8, seed=5, rules=rules):
        observation = observe_batch(see(state), Rules.parse(rules).table)
        assert observation.dtype == np.float32
        assert (observation >= 0).all()
        assert (observation <= upper_bounds(blocks(players))).all()


def unfinished(position: Position) -> Iterator[tuple[bytes, list[int]]]:
    """Observation and legal tokens at every unfinished move of a position."""
    view, offsets = see(position.state), block_offsets(position.players)
    for prefix in Speller(position).prefixes():
        vector = np.zeros(observation_size(position.players), np.float32)
        write_observation(view, 0, offsets, position.rules.table, vector)
        write_spelling(np.array(prefix.spelling), offsets, vector)
        yield vector.tobytes(), prefix.legal


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("rules", "players"), SETTINGS)
def test_equal_observations_have_equal_masks(rules: str, players: int, style: str) -> None:
    """The unfinished move is all there: over every prefix of a move, and with the hidden cards dealt anew."""
    rng, known, met_again = np.random.default_rng(2), {}, 0
    for position in some_positions(rules, players, style, seed=3, share=0.3):
        for twin in (position, position_of(hide_again(position.state, rng), 0, rules)):
            for observation, tokens in unfinished(twin):
                met_again += observation in known
                assert known.setdefault(observation, tokens) == tokens
    assert met_again >= len(known)


@pytest.mark.parametrize(
    "text",
    [
        "royal AHAS/3S4S KCAC",  # VALUE 14 with the ace as 1 or as 14
        "royal;capture=free 9H9S/3S4S 2C3C4C5C6C7C9C 9=4D5D@1",
        "royal;raise_absorb=yes 2S9H/8C9S 3D6C9D 7=3C4C@1",
        "plain 2SJS/3S4S JCJDJH",
    ],
)
def test_different_unfinished_moves_look_different(text: str) -> None:
    """Where the next tokens differ, so do the observations."""
    known = {}
    for observation, tokens in unfinished(study(text)):
        assert known.setdefault(observation, tokens) == tokens
    assert len(known) > 3


def read_blocks(vector: np.ndarray, players: int) -> dict[str, np.ndarray]:
    """The blocks of an observation by name."""
    return {block.name: vector[block.offset : block.offset + block.size] for block in blocks(players)}


def read_builds(part: dict[str, np.ndarray], players: int) -> dict[int, tuple[list[int], int, int]]:
    """Value: cards, relative owner, multiple."""
    owners, values = part["build_owner"].reshape(-1, players), np.rint(part["build_cards"] * 14)
    return {
        value: (
            np.flatnonzero(values == value).tolist(),
            int(owners[value - 2].argmax()),
            int(part["build_multiple"][value - 2]),
        )
        for value in range(2, 15)
        if owners[value - 2].sum() == 1
    }


def true_builds(state: State, game: int) -> dict[int, tuple[list[int], int, int]]:
    """The same from the state."""
    players = state.hands.shape[1]
    return {
        value: (
            cards_in(state.build_cards[game, value]),
            (owner - int(state.turn[game])) % players,
            int(state.multiple[game] >> value & 1),
        )
        for owner in range(players)
        for value in cards_in(state.owned[game, owner])
    }


def one_hot(seat: int, viewer: int, players: int) -> list[int]:
    """A seat relative to the viewer; all zero for nobody."""
    return [int(seat != NOBODY and (seat - viewer) % players == i) for i in range(players)]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_state_read_back_from_the_vector(players: int) -> None:
    """All that the seat to act may know is there, exactly."""
    builds = 0
    for state in random_states(players, games=2, seed=7):
        for game, vector in enumerate(observe_batch(see(state), Rules().table)):
            part, seat = read_blocks(vector, players), int(state.turn[game])
            around = [(seat + i) % players for i in range(players)]
            captured = part["captured"].reshape(players, 52)
            own, loose = cards_in(state.hands[game, seat]), cards_in(state.loose[game])
            hidden = [card for other in around[1:] for card in cards_in(state.hands[game, other])]
            assert np.flatnonzero(part["hand"]).tolist() == own
            assert np.flatnonzero(part["loose"]).tolist() == loose
            assert read_builds(part, players) == true_builds(state, game)
            assert [np.flatnonzero(row).tolist() for row in captured] == [
                cards_in(state.captured[game, other]) for other in around
            ]
            stock = state.deck[game, state.dealt[game] :].tolist()
            assert np.flatnonzero(part["unseen"]).tolist() == sorted([*hidden, *stock])
            sizes = [len(cards_in(state.hands[game, other])) for other in around]
            assert np.rint(part["hand_sizes"] * 4).tolist() == sizes
            assert np.rint(part["captured_counts"] * 52).tolist() == captured.sum(axis=1).tolist()
            assert np.rint(part["stock_size"] * 48).tolist() == [len(stock)]
            assert np.rint(part["sweeps"] * 4).tolist() == state.sweeps[game, around].tolist()
            assert part["last_capture"].tolist() == one_hot(state.last_capture[game], seat, players)
            assert part["dealer"].tolist() == one_hot(state.dealer[game], seat, players)
            sides = state.score.shape[1]
            score = np.roll(state.score[game], -(seat % sides)).tolist()
            assert np.rint(part["score"] * TARGET).tolist() == score
            builds += len(read_builds(part, players))
    assert builds


def test_unfinished_move_in_the_observation() -> None:
    """BUILD 4S, VALUE 9, TAKE 5C, TAKE 3C: the group of the three is open."""
    env = royal_casino_v0.raw_env(auto_complete=False)
    env.reset(options={"position": study("royal 4S9H/3S4D 3C5C6C8C")})
    between_moves = env.observe("player_0")["observation"]
    names = [TOKENS[name] for name in ("BUILD 4S", "VALUE 9", "TAKE 5C", "TAKE 3C")]
    for token in names:
        assert not read_blocks(env.observe("player_1")["observation"], 2)["spelled_card"].any()
        env.step(token)
    vector = env.observe("player_0")["observation"]
    part = {name: np.flatnonzero(block).tolist() for name, block in read_blocks(vector, 2).items()}
    spelled = {name.removeprefix("spelled_"): part[name] for name in part if name.startswith("spelled_")}
    assert spelled == {
        "kind": [1],
        "card": [card_id("4S")],
        "value": [9 - 2],
        "pile": [],
        "used": [card_id("3C"), card_id("5C")],
        "group": [card_id("3C")],
        "first": [card_id("3C")],
    }
    for name, block in read_blocks(between_moves, 2).items():
        after = read_blocks(vector, 2)[name]
        assert np.array_equal(block, after) != name.startswith("spelled_") or name == "spelled_pile"
