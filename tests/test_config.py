"""Configurations: the default file equals the code, and wrong keys are refused by name."""

from pathlib import Path

import pytest
import yaml

from agents.config import Config
from agents.config_files import config_dict, key_names, load_config
from casino_env import CasinoError

CONFIGS = Path(__file__).parent.parent / "configs"


def test_the_default_file_states_every_key_with_its_default():
    content = yaml.safe_load((CONFIGS / "default.yaml").read_text())
    assert content == config_dict(Config())
    assert load_config(CONFIGS / "default.yaml") == Config()


@pytest.mark.parametrize("line", (CONFIGS / "default.yaml").read_text().splitlines())
def test_every_key_of_the_default_file_is_explained(line):
    if line.startswith("  "):
        assert "#" in line


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_config_loads(path):
    load_config(path)


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_configs_state_only_differences(path):
    for section, keys in yaml.safe_load(path.read_text()).items():
        for key, value in keys.items() if path.stem != "default" else ():
            assert config_dict(Config())[section][key] != value


def test_overrides_come_last_and_are_typed():
    config = load_config(
        CONFIGS / "quickstart.yaml",
        {"run.name": "7", "ppo.clip": "1", "budget.decisions": "1_000", "game.rules": "royal;target=11"},
    )
    assert (config.run.name, config.ppo.clip, config.budget.decisions) == ("7", 1.0, 1000)
    assert config.game.rules == "royal;target=11"
    assert config.budget.minutes == load_config(CONFIGS / "quickstart.yaml").budget.minutes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ppo: {entropie: 0.1}", "unknown key 'ppo.entropie'; did you mean 'ppo.entropy'? valid: run.name"),
        ("pppo: {clip: 0.1}", "unknown section 'pppo'; did you mean 'ppo'? valid: run, game"),
        ("ppo: {clip: high}", "ppo.clip is 'high'; valid: a number"),
        ("ppo: {epochs: 1.5}", "ppo.epochs is 1.5; valid: a whole number"),
        ("ppo: {epochs: true}", "ppo.epochs is True; valid: a whole number"),
        ("ppo: {clip: .nan}", "ppo.clip is nan; valid: 0 to 1"),
        ("ppo: {epochs: 2.5e0}", "ppo.epochs is '2.5e0'; valid: a whole number"),
        ("ppo: {clip: inf}", "ppo.clip is inf; valid: 0 to 1"),
        ("ppo: {bf16: sometimes}", "ppo.bf16 is 'sometimes'; valid: never, always, auto"),
        ("game: {objective: money}", "game.objective is 'money'; valid: deal, match"),
        (
            "game: {objective: match, rules: spade, players: 3}",
            "game.objective: match: matches to 61 have too many scores; valid: a target of at most 32",
        ),
        ("league: {ladder: 0.1, rungs: ''}", "league.rungs is ''; valid: agents, each named once"),
        ("league: {rungs: greedy greedy}", "league.rungs is 'greedy greedy'; valid: agents, each named once"),
        ("run: {device: tpu}", "run.device is 'tpu'; valid: auto, cpu, cuda"),
        (
            "evaluation: {opponents: greedy bob}",
            "evaluation.opponents: there is no 'bob'; valid: random, greedy",
        ),
        ("league: {past: 0.7, ladder: 0.4}", "league.past and league.ladder are shares of the deals"),
        (
            "ppo: {magnet: 0.1}",
            "ppo.magnet pulls towards the averaged policy; valid: with ppo.average above 0",
        ),
        ("{ppo: {solved_end: true}, game: {players: 4}}", "ppo.solved_end is for deals of 2 players"),
        ("{ppo: {solved_end: true, early_points: true}}", "ppo.solved_end is for deals of 2 players"),
        ("{ppo: {solved: 1}, game: {players: 3}}", "ppo.solved is for the open last hand of 2 players"),
        ("budget: {minutes: 0}", "budget.minutes is 0.0; valid: 0.001 to 1e+06"),
        ("1: {2: 3}", "unknown section '1'; valid: run, game"),
        ("run: {name: 010}", "run.name is 8; valid: text (in quotes if it looks like a number)"),
        ("budget: {games: 0}", "budget.games is 0; valid: 1 to 1.04858e+06"),
        ("ppo: 3", "section 'ppo' must hold key: value lines"),
        ("[1, 2]", "must hold sections"),
        ("ppo: [", "not YAML"),
        (
            "game: {rules: regal}",
            "section game: unknown rule set 'regal'; valid: royal, plain, spade, kasino",
        ),
        ("game: {players: 5}", "section game: players=5 is not possible; valid: 2, 3, 4"),
        ("run: {name: ../x}", "run.name is '../x'"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, text, reason):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(CasinoError) as error:
        load_config(path)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_numbers_may_be_written_with_exponents_and_names_like_numbers(tmp_path):
    path = tmp_path / "usual.yaml"
    path.write_text("ppo: {learning_rate: 1e-3}")
    overrides = {"budget.decisions": "5e6", "ppo.clip": "1e-1", "run.name": "010"}
    config = load_config(path, overrides)
    assert (config.ppo.learning_rate, config.ppo.clip) == (0.001, 0.1)
    assert (config.budget.decisions, config.run.name) == (5_000_000, "010")


def test_the_file_of_a_run_states_every_key(tmp_path):
    path = tmp_path / "config.yaml"
    for text in ("", "run: {name: x}"):
        path.write_text(text)
        with pytest.raises(CasinoError, match=r"damaged, since .* is missing"):
            load_config(path, whole=True)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CasinoError, match=r"nowhere\.yaml: No such file"):
        load_config(tmp_path / "nowhere.yaml")


def test_key_names_are_section_dot_key():
    assert "ppo.clip" in key_names()
    assert len(key_names()) == sum(map(len, config_dict(Config()).values()))
