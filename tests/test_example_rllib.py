"""`examples/rllib_ppo.py`: it trains and measures; every agent is paid; one line for what is wrong."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.rllib")

from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

from casino_env.rules import PLAYER_COUNTS
from examples import rllib_ppo
from tests.helpers_env import margins

pytestmark = pytest.mark.integrations

ROOT = Path(__file__).parent.parent
LINE = r"iteration \d: player_0's return [+-]\d+\.\d\d, length \d+\.\d\n"
RESULT = r"against random: [+-]\d+\.\d\d points a deal \(([+-]\d+\.\d\d) to [+-]\d+\.\d\d, 100 deals\)\n"


def test_it_learns_to_beat_random(tmp_path: Path) -> None:
    budget = ["--iterations", "3", "--steps", "8192", "--deals", "100"]
    command = [sys.executable, str(ROOT / "examples" / "rllib_ppo.py"), *budget]
    home = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}  # RLlib writes to ~/ray_results
    result = subprocess.run(command, env=os.environ | home, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert float(re.fullmatch(LINE * 3 + RESULT, result.stdout)[1]) > 1


@pytest.mark.filterwarnings("ignore:.*Overriding environment")
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_rllib_pays_every_agent_for_its_last_token(players: int) -> None:
    config: Any = rllib_ppo.make_config({"players": players}, steps=1, seed=0)
    runner = MultiAgentEnvRunner(config=config.env_runners(num_env_runners=0, num_envs_per_env_runner=1))
    for _ in range(3):
        (episode,) = runner.sample(num_episodes=1)
        position = runner.env.envs[0].unwrapped.env.unwrapped.position
        for seat, margin in enumerate(margins(position)):
            own = episode.agent_episodes[f"player_{seat}"]
            tokens, masks = own.get_actions(), own.get_observations()["action_mask"]
            assert own.get_rewards().tolist() == [0] * (len(tokens) - 1) + [margin]
            assert all(mask[token] for mask, token in zip(masks, tokens, strict=False))
            assert not masks[-1].any()  # after the deal
            assert own.is_terminated


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--players 5", "players=5 is not possible; valid: 2, 3, 4"),
        ("--rules regal", "unknown rule set"),
        ("--opponent nobody", "unrecognized arguments: --opponent nobody"),
        ("--iterations 0", "iterations=0 is not possible; valid: 1 or more"),
        ("--steps 0", "steps=0 is not possible; valid: 1 or more"),
        ("--deals 0", "deals=0 is not possible; valid: 1 or more"),
        ("--seed -1", "seed=-1 is not possible; valid: 0 or more"),
    ],
)
def test_what_is_wrong_is_one_line(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert rllib_ppo.main(words.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
