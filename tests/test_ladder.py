"""The rungs above greedy: by name, for every game, repeatable, and each better than the one below."""

from itertools import pairwise
from time import perf_counter

import numpy as np
import pytest

from agents.arena import compete
from agents.base import Agent
from agents.hand_search import new_search, points_of, search_state
from agents.registry import make_agent
from agents.searcher import SearcherAgent
from agents.worth import POINT, cards_worth, move_gain, scale_of
from casino_env import CasinoError, Move, Position, Rules, VectorEnv
from casino_env.legal import LegalMoves, MoveLister
from casino_env.rules import PLAYER_COUNTS, RULE_SETS, TURNS
from casino_env.view import see
from tests.helpers import study
from tests.test_crowds import CROWDS, crowd

LADDER = ("searcher:worlds=12", "counter", "greedy", "random")
QUICK = ("greedy", "counter:worlds=2", "searcher:worlds=2,moves=3")


def agent(spec: str, rules: str = "royal", players: int = 2) -> Agent:
    """An agent by name."""
    return make_agent(spec, Rules.parse(rules), players)


def choose(spec: str, position: Position, seed: int = 0) -> str:
    """The move that an agent chooses in one position."""
    one = agent(spec, str(position.rules), position.players)
    legal = MoveLister(1)(position.state, position.rules.table)
    choice = one.choose(see(position.state), legal, np.random.default_rng(seed))
    return str(Move.unpack(legal.moves[choice[0]]))


def test_the_scale_is_whole_and_adds_up() -> None:
    """R6.1: all 52 cards are worth their points and twice the majorities, of which half a deck is one."""
    expected = {"royal": 7 + 2 * 3 + 13 / 7, "spade": 21 + 2 * 3, "kasino": 7 + 2 * 1 + 2 * 13 / 7}
    for name, points in expected.items():
        rules = Rules.parse(name)
        assert cards_worth(rules.table, scale_of(rules.table), (1 << 52) - 1) == pytest.approx(points * POINT)


def test_gains_by_hand() -> None:
    position = study("royal 9STD/AHAS 4D5C9H 10=3C7C@1")
    rules, scale = position.rules, scale_of(position.rules.table)

    def gain(text: str) -> int:
        return move_gain(rules.table, scale, position.state, 0, Move.parse(text).packed)

    card, spade = scale.card, scale.spade
    assert (card, spade) == (3 * POINT // 26, POINT // 7)
    assert gain("9S*4D5C9H") == 4 * card + spade
    assert gain("TD*[10]") == 3 * card + 2 * POINT
    assert gain("TD") == -card - 2 * POINT
    assert gain("9S+4D=13") == 0
    sweep, taken = study("royal 9STD/AHAS 9H"), Move.parse("9S*9H").packed
    assert move_gain(rules.table, scale, sweep.state, 0, taken) == 2 * card + spade + POINT


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("rules", [*RULE_SETS, "royal;draw=yes"])
def test_they_play_every_game_and_repeat_it(rules: str, players: int) -> None:
    results = [
        compete([agent(spec, rules, players) for spec in QUICK[1:]], 2, 3, rules, players, names=QUICK[1:])
        for _ in range(2)
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize("spec", [QUICK[0], QUICK[2]])  # without lots: the last hand is solved
def test_a_choice_does_not_depend_on_the_batch(spec: str) -> None:
    """But for the lots: without them, a game alone is played as among others."""
    env, rng = VectorEnv(20, seed=4), np.random.default_rng(0)
    legal = env.reset()
    for _ in range(TURNS - 6):
        legal = env.step((rng.random(20) * np.diff(legal.offsets)).astype(np.int64)).legal
    many = agent(spec).choose(env.view(), legal, np.random.default_rng(1))
    for game in range(0, 20, 7):
        state = type(env.state)._make(array[game : game + 1] for array in env.state)
        lists = slice(legal.offsets[game], legal.offsets[game + 1])
        alone = LegalMoves(np.array([0, len(legal.moves[lists])]), legal.moves[lists], np.zeros(1, np.bool_))
        choice = agent(spec).choose(see(state), alone, np.random.default_rng(2))
        assert choice[0] == many[game]


def test_counter_takes_what_might_be_lost() -> None:
    """A ten that the opponent may have a card for, before it leaves another card."""
    assert choose("counter", study("royal 2CTD/AHAS 9HTC")) == "TD*TC"


def test_the_last_hand_is_played_exactly() -> None:
    """The searcher's move keeps the value of the position, in every last hand of some games."""
    rules = Rules()
    env, rng, one = VectorEnv(40, seed=8), np.random.default_rng(0), SearcherAgent(rules, 2)
    legal, search = env.reset(), new_search()
    for _ in range(TURNS - 8):
        legal = env.step((rng.random(40) * np.diff(legal.offsets)).astype(np.int64)).legal
    setting, seats = (rules.table, points_of(rules), search), env.state.turn.copy()
    before = [search_state(*setting, env.state, game) for game in range(40)]
    ahead = [banked(env, game, seats[game]) for game in range(40)]
    env.step(one.choose(env.view(), legal, rng))
    for game in range(40):
        after = -search_state(*setting, env.state, game) + banked(env, game, seats[game])
        assert after == before[game] + ahead[game]


def banked(env: VectorEnv, game: int, seat: int) -> int:
    """Points that a seat is ahead by, majorities left out."""
    table, scale = env.rules.table, points_of(env.rules).scale
    totals = [
        cards_worth(table, scale, int(cards)) + int(sweeps)
        for cards, sweeps in zip(env.state.captured[game], env.state.sweeps[game], strict=True)
    ]
    return totals[seat] - totals[1 - seat]


@pytest.mark.parametrize("name", CROWDS)
def test_crowded_tables_end(name: str) -> None:
    """Thousands of moves: the searcher looks at the promising ones, and lists so many and no more."""
    legal = MoveLister(1)(crowd(name).state, crowd(name).rules.table)
    one = SearcherAgent(crowd(name).rules, crowd(name).players, worlds=1, moves=2)
    choice = one.choose(see(crowd(name).state), legal, np.random.default_rng(0))
    assert 0 <= choice[0] < len(legal.moves)


def test_time_instead_of_worlds() -> None:
    start = perf_counter()
    assert choose("searcher:ms=200", Position.deal(seed=3)) in map(str, Position.deal(seed=3).legal_moves())
    assert perf_counter() - start > 0.2  # it takes its time


def test_studies_are_not_taken_for_known_hands() -> None:
    """Hands larger than dealt, and missing cards: worlds are searched, and exact play stands back."""
    for text in ("royal 5C9CJHQDKD/2D3D3SJCAD 4D5D", "royal 5C8D/5DKH 5H9H"):
        assert choose("greedy:endgame=exact", study(text)) == choose("greedy", study(text))
        assert choose("searcher:worlds=2", study(text)) in map(str, study(text).legal_moves())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("counter:worlds=0", "option 'worlds' of agent 'counter' is '0'; valid: 1 to 999999"),
        ("searcher:ms=0", "option 'ms' of agent 'searcher' is '0'; valid: a number above 0, to 999999"),
        ("searcher:ms=5,worlds=3", "searcher: give worlds or ms, not both"),
        ("searcher:depth=3", "unknown option 'depth' of agent 'searcher'; valid: worlds, moves, ms, endgame"),
    ],
)
def test_wrong_options(spec: str, message: str) -> None:
    with pytest.raises(CasinoError, match=message):
        agent(spec)


@pytest.mark.parametrize(("better", "worse"), list(pairwise(LADDER)))
def test_each_rung_beats_the_next(better: str, worse: str) -> None:
    result = compete([agent(better), agent(worse)], 60, 1, names=[better, worse])
    assert result.low[0] > 0
