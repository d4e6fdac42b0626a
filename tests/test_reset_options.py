"""Reset options, and what a user can do wrong: options, tokens and arguments, each refused in one line."""

import copy
from typing import Any

import numpy as np
import pytest

from casino_env import CasinoError, IllegalMove, InvalidMove, Position, royal_casino_v0
from casino_env.cards import FULL_DECK, cards_text
from tests.helpers import study
from tests.helpers_env import TOKENS, play_out, random_token

pytestmark = pytest.mark.jitless

DECK = "".join(rank + suit for suit in "SHDC" for rank in "A23456789TJQK")
START = Position.deal(seed=3, score=(5, 6), dealer=1)
BROKEN = study("royal 2H3H/3S4S KC 9=4C5H@0")
FINISHED = f"royal -/- - - {cards_text(FULL_DECK)}/- - 0 0 0/0 0/0 1"


def everything(env: Any) -> tuple[Any, ...]:
    """All that an env shows."""
    game = env.unwrapped
    seen = [env.observe(agent) for agent in env.possible_agents]
    arrays = tuple(array.tobytes() for observation in seen for array in observation.values())
    flags = [dict(flag) for flag in (env.rewards, env.terminations, env.truncations, env.infos)]
    return str(game.position), game.spelled, env.agent_selection, list(env.agents), flags, arrays


@pytest.fixture
def env() -> royal_casino_v0.raw_env:
    """A started env in the middle of a move."""
    env = royal_casino_v0.raw_env(auto_complete=False)
    env.reset(seed=8)
    choose = random_token(1)
    while len(env.spelled) < 2:
        env.step(choose(env.last()[0]))
    return env


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"deck": DECK}, Position.deal(deck=DECK)),
        ({"deck": list(range(52)), "dealer": 1}, Position.deal(deck=range(52), dealer=1)),
        ({"deck": DECK, "score": [3, 20]}, Position.deal(deck=DECK, score=(3, 20))),
        ({"position": START}, START),
        ({"position": str(START)}, START),
        ({"position": study("royal 2HAS/3S4S KCAH")}, study("royal 2HAS/3S4S KCAH")),
        ({"deck": DECK, "position": None, "dealer": None}, Position.deal(deck=DECK)),
    ],
)
def test_reset_options(env: royal_casino_v0.raw_env, options: dict[str, Any], expected: Position) -> None:
    env.reset(options=options)
    assert env.position == expected
    assert env.spelled == []
    assert env.agent_selection == f"player_{expected.turn}"


def test_dealer_and_score_of_a_shuffled_deal(env: royal_casino_v0.raw_env) -> None:
    env.reset(seed=5, options={"dealer": 1, "score": (18, 3)})
    assert (env.position.dealer, env.position.turn, env.position.score) == (1, 0, (18, 3))


WRONG_OPTIONS = [
    ({"position": START, "deck": DECK}, "a position comes alone"),
    ({"position": START, "dealer": 0}, "a position comes alone"),
    ({"position": START, "score": [0, 0]}, "a position comes alone"),
    ({"position": "royal"}, "a position has 11 fields"),
    ({"position": str(START).replace("royal", "plain")}, "valid here: 2 players, rules 'royal'"),
    ({"position": Position.deal(seed=1, players=3)}, "valid here: 2 players, rules 'royal'"),
    ({"position": FINISHED}, "the deal is over"),
    ({"deck": DECK[2:]}, "51 cards; valid: the ids from 0 to 51 once each"),
    ({"deck": [0] * 52}, "card 2C appears twice"),
    ({"deck": range(1, 53)}, "valid: the ids from 0 to 51 once each"),
    ({"deck": 5}, "deck: "),
    ({"dealer": 2}, "dealer=2 is not a seat; valid: 0 to 1"),
    ({"dealer": -1, "deck": DECK}, "dealer=-1 is not a seat"),
    ({"dealer": "0"}, "dealer='0' is not a seat"),
    ({"score": [1]}, "valid: 2 numbers from 0 to 1000000000, one for each side"),
    ({"score": [-1, 0]}, "valid: 2 numbers from 0"),
    ({"score": [0.5, 0]}, "valid: 2 numbers from 0"),
    ({"score": [0, 0], "deck": "2C"}, "deck: 1 cards"),
    ({"score": 5}, "score=5"),
    ({"score": ["a", "b"]}, "score=['a', 'b']"),
    ({"score": [10**30, 0]}, "valid: 2 numbers from 0"),
    ({"position": 5}, "a position is a text of 11 fields, not 5"),
    ({"position": BROKEN}, "seat 0 owns the build of 9 without a card that captures it"),
    ({"dealer": True}, "dealer=True is not a seat"),
    ({"deck": [card + 0.5 for card in range(52)]}, "valid: the ids from 0 to 51 once each"),
]


@pytest.mark.parametrize(("options", "message"), WRONG_OPTIONS)
def test_wrong_options_change_nothing(
    env: royal_casino_v0.raw_env, options: dict[str, Any], message: str
) -> None:
    """One clear line; the position, the unfinished move and the random stream stay as they were."""
    before, twin = everything(env), copy.deepcopy(env)
    with pytest.raises(CasinoError) as error:
        env.reset(options=options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert everything(env) == before
    env.reset()
    twin.reset()
    assert env.position == twin.position


def test_an_unknown_option_warns(env: royal_casino_v0.raw_env) -> None:
    with pytest.warns(UserWarning, match="'decks' is ignored; valid: deck, position, dealer, score"):
        env.reset(options={"decks": DECK, "dealer": 1})
    assert env.position.dealer == 1


def test_illegal_tokens_change_nothing(env: royal_casino_v0.raw_env) -> None:
    before = everything(env)
    legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
    for token in sorted(set(range(236)) - set(legal.tolist())):
        with pytest.raises(IllegalMove, match=r"is illegal after .+, .+; legal: "):
            env.step(token)
    for token in (-1, 236, 1.5, np.float32(3), float("nan"), None, "5", [1]):
        with pytest.raises(InvalidMove, match="is not a token; valid: 0 to 235"):
            env.step(token)
    assert everything(env) == before
    env.step(legal[0])
    assert everything(env) != before


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(("objective", "penalty"), [("deal", -50.0), ("match", -1.0)])
def test_an_illegal_token_loses(players: int, objective: str, penalty: float) -> None:
    """Through `env`: the episode ends at once, and who named it gets less than any play could bring."""
    env = royal_casino_v0.env(players=players, objective=objective)
    env.reset(seed=0)
    loser = env.agent_selection
    expected = {agent: penalty * (agent == loser) for agent in env.possible_agents}
    env.step(TOKENS["DONE"])
    assert env.rewards == expected
    assert all(env.terminations.values())
    assert play_out(env, random_token(0)) == expected
    assert env.agents == []
    env.reset(seed=0)
    assert not any(env.terminations.values())


def test_an_illegal_token_shows_nothing_of_the_hand() -> None:
    """The agents that step after it see neither the loser's legal tokens nor its unfinished move."""
    env = royal_casino_v0.env(auto_complete=False)
    env.reset(options={"position": study("royal 3S4S/2HAS KCAH", turn="1", dealer="0")})
    other = env.observe("player_0")["observation"].tobytes()
    env.step(TOKENS["CAPTURE AS"])
    env.step(TOKENS["TRAIL 2H"])
    for agent in env.agents:
        assert not env.observe(agent)["action_mask"].any()
    assert env.observe("player_0")["observation"].tobytes() == other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": 1}, "players=1 is not possible; valid: 2, 3, 4"),
        ({"rules": "royal;sweeps=many"}, "rule field 'sweeps' is 'many'; valid: none, plain, net"),
        ({"objective": "win"}, "objective='win' is unknown; valid: deal, match"),
        ({"max_deals": 2}, "max_deals limits a match: give objective='match' too"),
        ({"objective": "match", "max_deals": 0}, "max_deals=0 is not possible; valid: 1 or more"),
        ({"render_mode": "svg"}, "render_mode='svg' is unknown; valid: ansi, human, rgb_array, None"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    for make in (royal_casino_v0.env, royal_casino_v0.raw_env):
        with pytest.raises(CasinoError) as error:
            make(**arguments)
        assert str(error.value) == message
