"""Two agents at the table: the count by hand, games against games played one at a time, agents that fail."""

from itertools import product

import numpy as np
import pytest

from agents.arena import label_agents
from agents.base import Agent
from agents.baselines import RandomAgent
from agents.contestant import Pace
from agents.matchup import Played, Setting, chunk_sizes, join_chunks, play_chunk, two_seatings
from agents.tally import estimate, tally
from casino_env import CasinoError, Position, Rules, VectorEnv
from casino_env.decks import DeckStreams
from casino_env.legal import select_legal
from casino_env.objectives import margins
from casino_env.rules import TURNS
from casino_env.state import NOBODY
from tests.helpers_agents import ROYAL, Answers, Extreme, Fails, Slow, greedy


def play(setting: Setting, agents: list[Agent], size: int, chunk: int = 0) -> Played:
    """A chunk of `agents`, named after themselves."""
    return play_chunk(setting, agents, label_agents(agents), two_seatings(setting.sides), chunk, size)


@pytest.mark.jitless
def test_tally_by_hand() -> None:
    points = np.array([[[7, 4], [5, 5]], [[2, 9], [6, 3]]])  # [seating, deck, side]
    told = tally(margins(points), np.array([[0, 1], [1, 0]]))
    assert told.margins.tolist() == [(3 + 7) / 2, (0 - 3) / 2]
    assert told.wins.tolist() == [1, 0] and told.draws.tolist() == [0, 0.5]
    assert told.shares.tolist() == [1, 0.25]
    assert told.by_seat.tolist() == [[[3, 7], [-7, -3]], [[0, -3], [3, 0]]]  # [deck, agent, side]
    turned = told.reversed()
    assert turned.margins.tolist() == [-5, 1.5]
    assert turned.wins.tolist() == [0, 0.5] and turned.shares.tolist() == [0, 0.75]
    assert turned.by_seat.tolist() == [[[-7, -3], [3, 7]], [[3, 0], [0, -3]]]


@pytest.mark.jitless
def test_tally_of_agents_that_hold_two_of_three_sides() -> None:
    """A A B: only A is best; A B A, A B B, B A A and B A B: both; B B A: only B."""
    points = np.tile([4, 4, 1], (6, 1, 1))
    told = tally(margins(points), two_seatings(3))
    best, last = 4 - 2.5, 1 - 4
    assert told.margins.tolist() == [(6 * best + 3 * last) / 9]  # every agent has each side three times
    assert told.wins.tolist() == [1 / 6] and told.draws.tolist() == [4 / 6]
    assert told.by_seat.tolist() == [[[best, best, last]] * 2]


@pytest.mark.jitless
def test_interval_by_hand() -> None:
    found = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    reach = 1.96 * np.sqrt((1.5**2 + 0.5**2 + 0.5**2 + 1.5**2) / 3) / 2
    assert (found.mean, found.low, found.high) == pytest.approx((2.5, 2.5 - reach, 2.5 + reach))
    turned = found.reversed()
    assert (turned.mean, turned.low, turned.high) == (-found.mean, -found.high, -found.low)
    lone = estimate(np.array([1.0]))
    assert (lone.mean, lone.low, lone.high) == (1, None, None)


@pytest.mark.jitless
@pytest.mark.parametrize(("sides", "expected"), [(2, "AB BA"), (3, "AAB ABA ABB BAA BAB BBA")])
def test_seatings_are_all_in_which_both_play(sides: int, expected: str) -> None:
    assert " ".join("".join("AB"[agent] for agent in seating) for seating in two_seatings(sides)) == expected


@pytest.mark.jitless
def test_chunks_of_decks() -> None:
    assert [chunk_sizes(decks) for decks in (1, 256, 300, 512)] == [[1], [256], [256, 44], [256, 256]]


def test_select_legal_takes_the_lists_of_the_games() -> None:
    env = VectorEnv(6, seed=1)
    legal = env.reset()
    games = np.array([4, 0, 5])
    some = select_legal(legal, games)
    wanted = [legal.moves[legal.offsets[game] : legal.offsets[game + 1]].tolist() for game in games]
    assert [moves.tolist() for moves in np.split(some.moves, some.offsets[1:-1])] == wanted
    assert some.offsets[-1] == len(some.moves) and len(some.bounded) == len(games)


@pytest.mark.parametrize(("players", "chunk"), [(2, 0), (2, 3), (3, 0), (4, 1)])
def test_deals_are_played_as_by_hand(players: int, chunk: int) -> None:
    setting, agents = Setting(ROYAL, players, seed=5), [Extreme("low"), Extreme("high", highest=True)]
    played = play(setting, agents, 2, chunk)
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(chunk, 0)))
    decks = [rng.permutation(np.arange(52, dtype=np.int8)) for _ in range(2)]
    seatings = two_seatings(setting.sides)
    by_hand = [[points_of(extreme_deal(deck, players, held)) for deck in decks] for held in seatings]
    assert played.rewards.tolist() == margins(np.array(by_hand)).tolist()
    assert played.cut_lists == 0 and played.reasons == ("", "") and (played.failed == NOBODY).all()


@pytest.mark.parametrize("players", [2, 3])
def test_matches_are_played_as_by_hand(players: int) -> None:
    setting = Setting(ROYAL, players, seed=5, objective="match")
    played = play(setting, [Extreme("low"), Extreme("high", highest=True)], size=3)
    seeds = np.random.SeedSequence(5, spawn_key=(0, 0)).generate_state(3, np.uint64)
    for (k, seating), (d, seed) in product(enumerate(two_seatings(setting.sides)), enumerate(seeds)):
        decks, score, winner, dealer = DeckStreams(1, [int(seed)], ROYAL.table), None, None, 0
        while winner is None:
            deck = decks.draw(np.array([0]))[0]
            score, winner = extreme_deal(deck, players, seating, dealer, score).settle()
            dealer = (dealer + 1) % players
        rewards = [1 if side == winner else -1 / (setting.sides - 1) for side in range(setting.sides)]
        assert played.rewards[k, d].tolist() == rewards


def extreme_deal(
    deck: np.ndarray, players: int, seating: np.ndarray, dealer: int = 0, score: tuple[int, ...] | None = None
) -> Position:
    """The end of a deal in which agent 0 plays the lowest and agent 1 the highest packed move."""
    position = Position.deal(deck=deck, players=players, dealer=dealer, score=score)
    while not position.is_over:
        agent = seating[position.turn % len(seating)]
        pick = max if agent else min
        position = position.play(pick(position.legal_moves(), key=lambda move: move.packed))
    return position


def points_of(position: Position) -> list[int]:
    """Of each side."""
    return [points.total for points in position.deal_points()]


def test_an_agent_is_asked_once_a_turn_with_all_its_games() -> None:
    agents: list[Extreme] = [Extreme("low"), Extreme("high")]
    play(Setting(ROYAL), list(agents), 5)
    assert agents[0].batches == agents[1].batches == [5] * TURNS


def test_an_agent_is_not_asked_in_matches_that_are_over() -> None:
    agent = Extreme("low")
    play(Setting(ROYAL, objective="match"), [agent, greedy()], 20)
    assert max(agent.batches) == 20 and min(agent.batches) < 20 and agent.batches[-1] > 0


def test_streams_follow_from_seed_chunk_and_name() -> None:
    def draws(seed: int, chunk: int = 0) -> list[list[float]]:
        agents = [Extreme("same"), Extreme("same")]
        play(Setting(ROYAL, seed=seed), list(agents), 1, chunk)
        return [agent.draws for agent in agents]

    first, second = draws(0)
    assert not set(first) & set(second)
    assert draws(0) == [first, second]
    assert draws(1) != [first, second] != draws(0, 1)


def test_names_of_one_length_have_streams_of_their_own() -> None:
    agents = [Extreme("abc"), Extreme("abd")]
    play(Setting(ROYAL), list(agents), 1)
    assert not set(agents[0].draws) & set(agents[1].draws)


def test_the_first_decks_of_a_chunk_do_not_depend_on_its_size() -> None:
    agents: list[Agent] = [Extreme("low"), Extreme("high", highest=True)]
    few, many = (play(Setting(ROYAL, seed=2), agents, size).rewards for size in (3, 8))
    assert (few == many[:, :3]).all()


@pytest.mark.parametrize(
    ("answer", "lost", "reason"),
    [
        ([0, 0, 99], 1, "chose the move with index 99; valid: 0 to"),
        ([0, -1, 99], 2, "chose the move with index -1; valid: 0 to"),
        ([0, 0], 3, "answered int64[2]; valid: an integer for each of 3 games"),
        ([0.0, 0.0, 0.0], 3, "answered float64[3]; valid: an integer for each of 3 games"),
    ],
)
def test_an_agent_loses_the_games_of_a_wrong_answer(answer: list[float], lost: int, reason: str) -> None:
    stubborn, random = Answers(*answer), RandomAgent()
    played = play(Setting(ROYAL), [random, stubborn], 3)
    assert played.reasons[0] == "" and played.reasons[1].startswith(reason)
    first_seating, second_seating = played.rewards[:, :, 0]
    assert (first_seating == 11).sum() >= lost and (second_seating == -11).sum() >= lost
    assert (played.failed == 1).sum() >= 2 * lost and not (played.failed == 0).any()
    assert played.rewards.sum() == 0


def test_an_agent_that_raises_loses_all_its_games_and_is_not_asked_again() -> None:
    broken = Fails(ValueError("no\nidea " + "x" * 1000))
    opponent = Extreme("low")
    played = play(Setting(ROYAL), [broken, opponent], 4)
    assert (played.failed == 0).all()
    reason = played.reasons[0]
    assert reason.startswith("failed: ValueError: no idea xxx") and len(reason) < 250
    assert (played.rewards[0] == [-11, 11]).all() and (played.rewards[1] == [11, -11]).all()
    assert opponent.batches == [4]  # its first turn in the seating in which it is first to act


class Panic(BaseException):
    """As extensions raise it; even its text fails."""

    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize(
    "error", [SystemExit(3), CasinoError("wrong"), MemoryError(), GeneratorExit(), Panic()]
)
def test_whatever_an_agent_raises_is_its_failure(error: BaseException) -> None:
    played = play(Setting(ROYAL), [Fails(error, after=7), greedy()], 2)
    assert (played.failed == 0).all() and type(error).__name__ in played.reasons[0]


def test_an_interrupt_is_no_failure() -> None:
    with pytest.raises(KeyboardInterrupt):
        play(Setting(ROYAL), [Fails(KeyboardInterrupt()), greedy()], 2)


@pytest.mark.parametrize(
    ("rules", "players", "objective", "stake"),
    [
        ("royal", 2, "deal", 11),
        ("royal", 3, "deal", 11),
        ("royal", 4, "deal", 11),
        ("spade", 2, "deal", 24),
        ("royal", 2, "match", 1),
        ("royal", 3, "match", 1),
    ],
)
def test_what_is_lost_with_a_game(rules: str, players: int, objective: str, stake: int) -> None:
    """All points of a deal but for sweeps go to the other agent's sides, in equal parts."""
    setting = Setting(Rules.parse(rules), players, objective=objective)
    played = play(setting, [Fails(ValueError()), RandomAgent()], 1)
    for seating, rewards in zip(two_seatings(setting.sides), played.rewards[:, 0], strict=True):
        points = np.where(seating == 0, 0, stake / (seating == 1).sum())
        assert rewards.tolist() == margins(points).tolist()


def test_the_move_time_is_of_a_move_and_does_not_count_the_first_call() -> None:
    slow = Slow(0.004)
    played = play(Setting(ROYAL, move_time=0.5), [slow, RandomAgent()], 4)  # 1 ms a move
    calls, over, worst = played.paces[0]
    assert calls == over == TURNS - 1 and worst >= 1
    assert played.paces[1].over < TURNS // 2
    assert played.rewards.tolist() == play(Setting(ROYAL), [slow, RandomAgent()], 4).rewards.tolist()
    assert play(Setting(ROYAL), [slow, RandomAgent()], 1).paces == (Pace(0, 0, 0.0),) * 2


def test_cut_lists_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    step = VectorEnv.step

    def cut_the_first(env: VectorEnv, choices: np.ndarray) -> object:
        told = step(env, choices)
        told.legal.bounded[0] = True
        return told

    monkeypatch.setattr(VectorEnv, "step", cut_the_first)
    assert play(Setting(ROYAL), [greedy(), RandomAgent()], 1).cut_lists == TURNS - 1


def test_chunks_are_joined() -> None:
    agents: list[Agent] = [Fails(ValueError("first")), RandomAgent()]
    chunks = [play(Setting(ROYAL, move_time=1e-9), agents, size, chunk) for chunk, size in enumerate((2, 3))]
    whole = join_chunks(chunks)
    assert (whole.rewards == np.concatenate([chunk.rewards for chunk in chunks], axis=1)).all()
    assert (whole.failed == 0).all() and whole.failed.shape == (2, 5)
    assert whole.reasons == ("failed: ValueError: first", "")
    assert whole.paces[1].calls == sum(chunk.paces[1].calls for chunk in chunks)
    assert whole.paces[1].worst == max(chunk.paces[1].worst for chunk in chunks)


@pytest.mark.jitless
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"players": 5}, "players=5 is not possible"),
        ({"seed": -1}, "seed=-1 is not possible; valid: 0 or more"),
        ({"objective": "win"}, "objective='win' is unknown; valid: deal, match"),
        ({"move_time": 0}, "move_time=0 is not possible; valid: milliseconds above 0"),
        ({"move_time": float("nan")}, "move_time=nan is not possible"),
    ],
)
def test_settings_that_cannot_be(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(CasinoError, match=message):
        Setting(ROYAL, **wrong)


@pytest.mark.jitless
def test_decks_that_cannot_be() -> None:
    with pytest.raises(CasinoError, match="deals=0 is not possible; valid: 1 or more"):
        chunk_sizes(0)
