"""The example for OpenSpiel: its contract, games equal to royal_casino_v0, hidden cards, searches."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from casino_env import IllegalMove, InvalidRules, royal_casino_v0
from casino_env.cards import N_CARDS, card_name, parse_cards
from casino_env.invariants import check_state
from casino_env.one_game import overwrite
from casino_env.rules import PLAYER_COUNTS, RULE_SETS
from tests.helpers_env import LOOSE, SETTINGS, TOKENS, hide_again

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms.ismcts import ISMCTSBot  # noqa: E402
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator  # noqa: E402
from open_spiel.python.algorithms.outcome_sampling_mccfr import OutcomeSamplingSolver  # noqa: E402

from examples import open_spiel_game  # noqa: E402

pytestmark = pytest.mark.integrations

ROOT = Path(__file__).parent.parent
DRAWING = ("royal;draw=yes", 3)
FEW_SETTINGS = (("royal", 2), DRAWING, (LOOSE, 4))
DEALS, SAMPLES = 4, 600


def load(rules: str = "royal", players: int = 2) -> Any:
    """The game."""
    return pyspiel.load_game(open_spiel_game.NAME, {"players": players, "rules": rules})


def random_action(state: Any, rng: np.random.Generator) -> int:
    """A legal action or a card, uniform."""
    return int(rng.choice(state.legal_actions()))


def play_out(state: Any, seed: int) -> Any:
    """The state, played to its end."""
    rng = np.random.default_rng(seed)
    while not state.is_terminal():
        state.apply_action(random_action(state, rng))
    return state


def random_history(game: Any, seed: int) -> list[Any]:
    """All states of a random game."""
    rng, states = np.random.default_rng(seed), [game.new_initial_state()]
    while not states[-1].is_terminal():
        states.append(states[-1].child(random_action(states[-1], rng)))
    return states


def decisions(game: Any, seed: int) -> list[Any]:
    """The states of a random game in which a seat is to act."""
    return [state for state in random_history(game, seed) if state.is_player_node()]


def seen(state: Any, seat: int) -> tuple[Any, ...]:
    """All that a player is shown."""
    tensor = state.observation_tensor(seat)
    return state.information_state_string(seat), state.observation_string(seat), tensor


def everything(state: Any) -> tuple[Any, ...]:
    """All that a state shows."""
    by_seat = [seen(state, seat) for seat in range(state.num_players())]
    return str(state), state.history(), state.current_player(), state.legal_actions(), by_seat


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("rules", [*RULE_SETS, DRAWING[0], LOOSE])
def test_random_sim_test(rules: str, players: int) -> None:
    pyspiel.random_sim_test(load(rules, players), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize(("rules", "players"), [*SETTINGS, ("kasino", 2), DRAWING])
def test_plays_the_same_game_as_royal_casino_v0(rules: str, players: int) -> None:
    game, env = load(rules, players), royal_casino_v0.raw_env(rules, players, auto_complete=False)
    for seed in range(DEALS):
        rng = np.random.default_rng(seed)
        deck = rng.permutation(N_CARDS).tolist()
        state, cards = game.new_initial_state(), iter(deck)
        env.reset(options={"deck": deck})
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(cards))
                continue
            check_equal(state, env)
            token = random_action(state, rng)
            env.step(token)
            state.apply_action(token)
        assert next(cards, None) is None
        assert all(env.terminations.values())
        assert state.returns() == [env.rewards[agent] for agent in env.possible_agents]
        assert sum(state.returns()) == game.utility_sum() == 0


def check_equal(state: Any, env: royal_casino_v0.raw_env) -> None:
    """The state shows what the env shows, but for the order of the stock, which chance has not drawn."""
    mask = env.observe(env.agent_selection)["action_mask"]
    assert env.agent_selection == f"player_{state.current_player()}"
    assert state.legal_actions() == np.flatnonzero(mask).tolist()
    for seat, agent in enumerate(env.possible_agents):
        assert np.array_equal(state.observation_tensor(seat), env.observe(agent)["observation"])
    env.render_mode = "ansi"
    shown, expected = str(state).split(" "), env.render().split(" ")
    assert parse_cards(shown.pop(5).strip("-")) == sorted(parse_cards(expected.pop(5).strip("-")))
    assert shown == expected


@pytest.mark.parametrize(("rules", "players"), FEW_SETTINGS)
def test_chance_draws_each_card_once_and_no_sooner_than_the_rules_deal_it(rules: str, players: int) -> None:
    game = load(rules, players)
    history = random_history(game, seed=2)
    for state in history:
        if state.is_chance_node():
            cards, chances = zip(*state.chance_outcomes(), strict=True)
            assert sorted([*cards, *state.drawn]) == list(range(N_CARDS))
            assert chances == pytest.approx([1 / len(cards)] * len(cards))
        else:
            assert state.deal.dealt[0] == len(state.drawn)
            assert check_state(state.deal, 0, game.rules.table) is None
    assert sum(state.is_chance_node() for state in history) == game.max_chance_nodes_in_history() == N_CARDS
    assert sum(state.is_player_node() for state in history) <= game.max_game_length()


@pytest.mark.parametrize(("rules", "players"), FEW_SETTINGS)
def test_clones_and_deserialised_states_are_equal_and_independent(rules: str, players: int) -> None:
    game = load(rules, players)
    for seed, state in enumerate(random_history(game, seed=3)[::9]):
        before = everything(state)
        _, read = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
        for copy in (state.clone(), read):
            assert everything(copy) == before
            end, again = play_out(copy, seed), play_out(state.clone(), seed)
            assert everything(end) == everything(again)
            assert end.returns() == again.returns()
            assert everything(state) == before


@pytest.mark.parametrize(("rules", "players"), FEW_SETTINGS)
def test_nothing_shown_depends_on_a_hidden_card(rules: str, players: int) -> None:
    game, rng, changed = load(rules, players), np.random.default_rng(4), 0
    for state in decisions(game, seed=4)[::4]:
        for seat in range(players):
            shown = seen(state, seat)
            hidden = [hand for other, hand in enumerate(state.deal.hands[0].tolist()) if other != seat]
            for card in range(N_CARDS):
                if card not in state.drawn or any(hand >> card & 1 for hand in hidden):
                    assert card_name(card) not in shown[0] or card_name(card) in " ".join(state.pending)
            redrawn = state.resample_from_infostate(seat, rng.random)
            assert seen(redrawn, seat) == shown
            assert check_state(redrawn.deal, 0, game.rules.table) is None
            changed += str(redrawn) != str(state)
            hidden_otherwise = state.clone()
            overwrite(hidden_otherwise.deal, hide_again(state.deal, rng, np.array([seat])))
            assert seen(hidden_otherwise, seat) == shown
    assert changed > 10


def test_the_information_state_is_the_whole_past_of_a_player() -> None:
    history = decisions(load("royal", 3), seed=5)
    for seat in range(3):
        for before, after in pairwise(history):
            parts = [state.information_state_string(seat).split("; ") for state in (before, after)]
            assert all(new.startswith(old) for old, new in zip(*parts, strict=True))
        texts = [state.information_state_string(seat) for state in history]
        assert len(set(texts)) == len(texts)


def test_information_state_and_observation_as_text() -> None:
    state = load().new_initial_state()
    for card in parse_cards("2C3CKCAC3D5C7SQH4D8H9DQS"):
        state.apply_action(card)
    state.apply_action(TOKENS["BUILD 2C"])
    assert state.information_state_string(1) == "player 1; 2C3CKCAC/4D8H9DQS; BUILD 2C"
    assert state.information_state_string(0) == "player 0; 3D5C7SQH/4D8H9DQS; BUILD 2C"
    assert "being spelled: BUILD 2C" in state.observation_string(1)
    assert "being spelled: nothing" in state.observation_string(0)
    assert str(state).endswith(" 1 - 0/0 0/0 0 (BUILD 2C)")


def test_resampling_is_uniform_over_the_cards_not_seen() -> None:
    state, rng = decisions(load("royal", 3), seed=6)[0], np.random.default_rng(6)
    counts = np.zeros((3, N_CARDS))
    for _ in range(SAMPLES):
        hands = state.resample_from_infostate(1, rng.random).deal.hands[0]
        counts += hands[:, None] >> np.arange(N_CARDS) & 1
    own, loose = int(state.deal.hands[0, 1]), int(state.deal.loose[0])
    hidden = np.array([not (own | loose) >> card & 1 for card in range(N_CARDS)])
    share = 4 / hidden.sum()
    spread = np.sqrt(SAMPLES * share * (1 - share))
    for other in (0, 2):
        assert np.abs(counts[other, hidden] - SAMPLES * share).max() < 5 * spread
        assert not counts[other, ~hidden].any()


def test_resampling_keeps_a_promise_after_the_build_is_gone() -> None:
    """Seat 1 builds 9; seat 0 captures it; the nine that seat 1 promised (R4.3) must still be in its hand."""
    state, rng = load().new_initial_state(), np.random.default_rng(7)
    for card in parse_cards("4C9CKCAC9D5C7SQH5D8H2SJS"):
        state.apply_action(card)
    for name in ("BUILD 4C", "VALUE 9", "TAKE 5D", "DONE", "CAPTURE 9D", "PILE 9", "DONE"):
        state.apply_action(TOKENS[name])
    assert state.deal.captured[0, 0] and state.current_player() == 1
    nines = sum(1 << card for card in parse_cards("9C9H9S"))
    for _ in range(50):
        assert state.resample_from_infostate(0, rng.random).deal.hands[0, 1] & nines


def test_illegal_actions_are_refused_and_change_nothing() -> None:
    for state in (load().new_initial_state(), *decisions(load(), seed=8)[:20:5]):
        before = everything(state)
        for action in {-2, 1000, *range(N_CARDS)} - set(state.legal_actions()):
            with pytest.raises(IllegalMove, match=f"action {action} is illegal in"):
                state.apply_action(action)
        assert everything(state) == before


@pytest.mark.parametrize("equals", "=:")
def test_rules_with_overrides_survive_the_text_of_the_game(equals: str) -> None:
    game = load(f"royal;capture{equals}free;near21{equals}pagat", 3)
    assert str(game.rules) == "royal;capture=free;near21=pagat"
    assert str(game) == "python_royal_casino(players=3,rules=royal;capture:free;near21:pagat)"
    assert str(pyspiel.load_game(str(game)).rules) == str(game.rules)


@pytest.mark.parametrize(("rules", "players"), [("royal", 5), ("royal", 1), ("poker", 2), ("royal;free", 2)])
def test_wrong_parameters_are_refused(rules: str, players: int) -> None:
    with pytest.raises(InvalidRules, match=r"valid: |not of the form"):
        load(rules, players)


def test_observers_of_other_kinds_are_refused() -> None:
    secret = pyspiel.IIGObservationType(
        perfect_recall=False, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS
    )
    for arguments in ((secret,), (None, {"scale": 2})):
        with pytest.raises(ValueError, match="no parameters"):
            load().make_py_observer(*arguments)


def test_is_mcts_chooses_a_legal_token() -> None:
    game, rng = load("royal", 3), np.random.RandomState(9)
    bot = ISMCTSBot(
        game, RandomRolloutEvaluator(1, rng), 5.0, 8, random_state=rng
    )  # with the state's resampler
    for state in decisions(game, seed=9)[::12]:
        before = everything(state)
        assert bot.step(state) in state.legal_actions()
        assert everything(state) == before


def test_mccfr_and_the_learning_environment_run() -> None:
    np.random.seed(10)  # both draw from the global generator
    game = load()
    solver = OutcomeSamplingSolver(game)
    solver.iteration()
    first = decisions(game, seed=10)[0]
    assert sum(solver.average_policy().action_probabilities(first).values()) == pytest.approx(1)
    env = rl_environment.Environment(game)
    step = env.reset()
    while not step.last():
        seat = step.observations["current_player"]
        assert len(step.observations["info_state"][seat]) == game.observation_tensor_shape()[0]
        step = env.step([step.observations["legal_actions"][seat][0]])
    assert sum(step.rewards) == 0


def test_the_program_prints_a_mean_margin() -> None:
    """As a user calls it."""
    command = [
        sys.executable,
        "examples/open_spiel_game.py",
        "--players",
        "4",
        "--rules",
        "plain",
        "--deals",
        "1",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100)
    assert run.returncode == 0 and run.stderr == ""
    assert "passes random_sim_test" in run.stdout
    assert "mean margin " in run.stdout.splitlines()[-1]


def test_the_same_seed_gives_the_same_deals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_spiel_game, "SIMULATIONS", 2)
    printed = []
    for seed in ("3", "3", "4"):
        assert open_spiel_game.main(["--deals", "2", "--seed", seed]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != printed[2]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--players", "5"], "players=5 is not possible; valid: 2, 3, 4"),
        (["--players", "two"], "argument --players: invalid int value: 'two'"),
        (["--rules", "poker"], "unknown rule set 'poker'; valid: royal"),
        (["--rules", "royal;capture=maybe"], "valid: match_forced, free"),
        (["--deals", "0"], "deals=0 is not possible; valid: 1 or more"),
        (["--seed", "-1"], "seed=-1 is not possible"),
        (["--bots", "2"], "unrecognized arguments: --bots 2"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert open_spiel_game.main(arguments) == 2
    out, err = capsys.readouterr()
    assert expected in err and len(err.splitlines()) == 1
    assert out == ""
