"""The arena: its statistics by hand, its games against games played one move at a time, its fairness."""

from itertools import permutations

import numpy as np
import pytest

from agents import arena
from agents.arena import ArenaResult, Played, compete, margin_against, play_decks
from agents.base import Agent
from agents.baselines import GreedyAgent, RandomAgent
from agents.matchup import all_seatings, label_agents, mean_interval, share_out
from agents.registry import KINDS, Kind, make_agent
from casino_env import CasinoError, IllegalMove, Position, Rules, VectorEnv, View
from casino_env.legal import LegalMoves, select_legal
from casino_env.rules import TURNS

ROYAL = Rules.parse("royal")


class Extreme:
    """Plays the move with the lowest or highest packed number; keeps what it was given."""

    def __init__(self, name: str, highest: bool = False) -> None:
        self.name, self.highest = name, highest
        self.draws: list[float] = []
        self.batches: list[int] = []

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
        self.draws.append(rng.random())
        self.batches.append(len(view.hand))
        lists = np.split(legal.moves, legal.offsets[1:-1])
        return np.array([moves.argmax() if self.highest else moves.argmin() for moves in lists])


class Answers:
    """Always answers the same."""

    name = "stubborn"

    def __init__(self, *answer: float) -> None:
        self.answer = np.array(answer)

    def choose(self, view: View, legal: LegalMoves, rng: np.random.Generator) -> np.ndarray:
        return self.answer


def greedy() -> Agent:
    return GreedyAgent(ROYAL)


def decks_of(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(52) for _ in range(count)], np.int8)


@pytest.mark.jitless
def test_shares_by_hand() -> None:
    points = np.array([[[7, 4], [5, 5]], [[2, 9], [6, 3]]])  # [seating, deck, side]
    margin, win_share = share_out(points, np.array([[0, 1], [1, 0]]), 2)
    assert margin.tolist() == [[(3 + 7) / 2, -5.0], [(0 - 3) / 2, 1.5]]
    assert win_share.tolist() == [[1.0, 0.0], [(0.5 + 0) / 2, 0.75]]


@pytest.mark.jitless
def test_shares_of_an_agent_that_holds_two_of_three_sides() -> None:
    margin, win_share = share_out(np.array([[[4, 4, 1]]]), np.array([[0, 1, 1]]), 2)
    assert margin.tolist() == [[4 - 2.5, ((4 - 2.5) + (1 - 4)) / 2]]
    assert win_share.tolist() == [[0.5, (0.5 + 0) / 2]]


@pytest.mark.jitless
def test_interval_by_hand() -> None:
    mean, low, high = mean_interval(np.array([1.0, 2.0, 3.0, 4.0]))
    reach = 1.96 * np.sqrt((1.5**2 + 0.5**2 + 0.5**2 + 1.5**2) / 3) / 2
    assert (mean, low, high) == pytest.approx((2.5, 2.5 - reach, 2.5 + reach))
    assert np.isnan(mean_interval(np.array([1.0]))[1:]).all()


@pytest.mark.jitless
@pytest.mark.parametrize(
    ("labels", "sides", "expected"),
    [
        ("AB", 2, "AB BA"),
        ("AB", 3, "AAB ABA ABB BAA BAB BBA"),
        ("ABC", 3, "ABC ACB BAC BCA CAB CBA"),
        ("ABC", 2, "AB AC BA BC CA CB"),
    ],
)
def test_seatings_are_all_that_let_most_agents_play(labels: str, sides: int, expected: str) -> None:
    for order in permutations(labels):
        seatings = all_seatings(order, sides)
        assert " ".join("".join(order[agent] for agent in seating) for seating in seatings) == expected


@pytest.mark.jitless
def test_names_that_occur_again_get_a_number() -> None:
    agents = [RandomAgent()] * 4
    assert label_agents(agents) == ["random", "random#2", "random#3", "random#4"]
    assert label_agents(agents, ["a", "a#2", "a", "b"]) == ["a", "a#2", "a#3", "b"]
    with pytest.raises(CasinoError, match="one for each of 4"):
        label_agents(agents, ["a"])


def test_select_legal_takes_the_lists_of_the_games() -> None:
    env = VectorEnv(6, seed=1)
    legal = env.reset()
    games = np.array([4, 0, 5])
    some = select_legal(legal, games)
    wanted = [legal.moves[legal.offsets[game] : legal.offsets[game + 1]].tolist() for game in games]
    assert [moves.tolist() for moves in np.split(some.moves, some.offsets[1:-1])] == wanted
    assert some.offsets[-1] == len(some.moves) and len(some.bounded) == len(games)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_decks_are_played_as_by_hand(players: int) -> None:
    agents, decks = [Extreme("low"), Extreme("high", highest=True)], decks_of(2)
    played = play_decks(agents, decks, ROYAL, players, seed=0)
    seatings = all_seatings(["low", "high"], 3 if players == 3 else 2)
    points = np.array([[by_hand(deck, players, seating) for deck in decks] for seating in seatings])
    margin, win_share = share_out(points, seatings, 2)
    assert played.margin.tolist() == margin.tolist() and played.win_share.tolist() == win_share.tolist()
    assert played.cut_lists == 0


def by_hand(deck: np.ndarray, players: int, seating: np.ndarray) -> list[int]:
    """Points of each side when agent 0 plays the lowest and agent 1 the highest packed move."""
    position = Position.deal(deck=deck, players=players, dealer=0)
    while not position.is_over:
        agent = seating[position.turn % len(seating)]
        pick = max if agent else min
        position = position.play(pick(position.legal_moves(), key=lambda move: move.packed))
    return [points.total for points in position.deal_points()]


def test_an_agent_is_asked_once_a_turn_with_all_its_games() -> None:
    agents, decks = [Extreme("low"), Extreme("high")], decks_of(5)
    play_decks(agents, decks, ROYAL, 2, seed=0)
    assert agents[0].batches == agents[1].batches == [5] * TURNS


def test_copies_of_an_agent_draw_different_numbers_and_seeds_repeat_them() -> None:
    def draws(seed: int) -> list[list[float]]:
        agents = [Extreme("same"), Extreme("same")]
        play_decks(agents, decks_of(1), ROYAL, 2, seed)
        return [agent.draws for agent in agents]

    first, second = draws(0)
    assert not set(first) & set(second)
    assert draws(0) == [first, second] and draws(1) != [first, second]


def test_chunks_hold_whole_decks_that_depend_on_seed_and_chunk_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []

    def record(agents: list[Agent], decks: np.ndarray, *rest: object) -> Played:
        seen.append(decks)
        return Played(np.zeros((len(decks), len(agents))), np.zeros((len(decks), len(agents))), 0)

    monkeypatch.setattr(arena, "play_decks", record)
    done: list[int] = []
    compete([RandomAgent(), greedy()], 300, 3, advance=done.append)
    assert done == [256, 44]
    assert (np.sort(np.concatenate(seen)) == np.arange(52)).all()
    assert len(np.unique(np.concatenate(seen), axis=0)) == 300
    compete([greedy(), greedy(), RandomAgent()], 300, 3, players=3)
    assert all((one == other).all() for one, other in zip(seen[:2], seen[2:], strict=True))


def test_the_same_seed_gives_the_same_result() -> None:
    first, again, other = (compete([RandomAgent(), greedy()], 20, seed) for seed in (1, 1, 2))
    assert first == again and first.to_json() == again.to_json()
    assert first.margin != other.margin


@pytest.mark.parametrize(("players", "agents"), [(2, 2), (3, 2), (3, 3), (4, 2), (2, 3)])
def test_the_order_of_names_changes_nothing(players: int, agents: int) -> None:
    named = {"greedy": greedy(), "random": RandomAgent(), "wild": RandomAgent()}
    verdicts = []
    for order in permutations(list(named)[:agents]):
        result = compete([named[name] for name in order], 12, 5, players=players, names=order)
        rows = zip(result.margin, result.low, result.high, result.win_share, strict=True)
        verdicts.append(dict(zip(result.agents, rows, strict=True)))
    assert all(verdict == verdicts[0] for verdict in verdicts)
    assert sum(margin for margin, *_ in verdicts[0].values()) == pytest.approx(0)


def test_equal_agents_are_level() -> None:
    result = compete([RandomAgent(), RandomAgent()], 200, 0)
    assert result.agents == ["random", "random#2"] and result.seatings == 2
    assert interval_of(result, 0)[0] < 0 < interval_of(result, 0)[1]
    assert sum(result.win_share) == pytest.approx(1)


def test_greedy_beats_random() -> None:
    two = compete([greedy(), RandomAgent()], 300, 0)
    assert two.margin[0] >= 4 and two.margin[1] == pytest.approx(-two.margin[0])
    for players in (3, 4):
        assert interval_of(compete([greedy(), RandomAgent()], 60, 0, players=players), 0)[0] > 0


def interval_of(result: ArenaResult, agent: int) -> tuple[float, float]:
    low, high = result.low[agent], result.high[agent]
    assert low is not None and high is not None
    return low, high


@pytest.mark.parametrize("players", [2, 3])
def test_margin_against_takes_each_side_in_turn(players: int) -> None:
    margin, low, high = margin_against(greedy(), RandomAgent(), "royal", players, 60, 0)
    assert 0 < low < margin < high
    assert margin_against(greedy(), RandomAgent(), "royal", players, 60, 0) == (margin, low, high)
    against_itself = margin_against(greedy(), greedy(), "royal", players, 10, 0)
    assert against_itself == pytest.approx((0, 0, 0))  # the same games in every seating


def test_a_single_deck_has_no_interval() -> None:
    result = compete([RandomAgent(), greedy()], 1, 0)
    assert result.low == result.high == [None, None]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([0, 0, 99], "agent 'stubborn' chose the move with index 99; valid: 0 to"),
        ([0, -1, 0], "agent 'stubborn' chose the move with index -1; valid: 0 to"),
        ([0, 0], r"agent 'stubborn' answered int64\[2\]; valid: an integer for each of 3 games"),
        ([0.0, 0.0, 0.0], r"agent 'stubborn' answered float64\[3\]; valid: an integer for each of 3 games"),
    ],
)
def test_an_agent_that_breaks_the_protocol_is_named(answer: list[float], reason: str) -> None:
    with pytest.raises(IllegalMove, match=reason):
        compete([RandomAgent(), Answers(*answer)], 3, 0)


def test_agents_are_made_by_name_with_options(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_agent("random", ROYAL, 2).name == "random"
    assert make_agent("greedy", Rules.parse("spade"), 4).name == "greedy"
    monkeypatch.setitem(
        KINDS, "extreme", Kind(lambda rules, players, **given: Extreme(str(given)), {"deep": int})
    )
    assert make_agent("extreme:deep=3", ROYAL, 2).name == "{'deep': 3}"
    for spec, reason in {
        "extreme:deep=x": "option 'deep' of agent 'extreme' is 'x'",
        "extreme:deep=1,deep=2": "give it once",
        "extreme:deep": "deep=value",
        "extreme:wide=1": "unknown option 'wide' of agent 'extreme'; valid: deep",
        "random:deep=1": "unknown option 'deep' of agent 'random'; valid: endgame",
        "random:": "random:key=value",
        "": "unknown agent ''; valid: random, greedy",
    }.items():
        with pytest.raises(CasinoError, match=reason):
            make_agent(spec, ROYAL, 2)
