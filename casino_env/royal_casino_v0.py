"""Royal Casino as a PettingZoo AEC environment. Holds no rule: it adapts the engine's kernels."""

import operator
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from casino_env.arguments import check_flag, quoted
from casino_env.decks import seeded_rng, shuffled_deck
from casino_env.engine import next_dealers, start_deal
from casino_env.errors import IllegalMove, InvalidMove, NotReset
from casino_env.global_state import state_blocks, write_hidden
from casino_env.manual import MANUAL
from casino_env.masks import why_illegal_token
from casino_env.moves import Move
from casino_env.objectives import ILLEGAL_REWARD, check_max_deals, check_objective, end_deals
from casino_env.observation import (
    blocks,
    length,
    observation_size,
    upper_bounds,
)
from casino_env.one_game import (
    new_game,
    observe_seat,
    overwrite,
    start_turn,
    take_apart,
    take_move,
    take_token,
)
from casino_env.position import Position, check_move
from casino_env.rendering import RENDER_MODES, Picture, check_render_mode, rendered, warn_of_no_mode
from casino_env.resets import read_options, start_state
from casino_env.rules import PLAYER_COUNTS, Rules, check_players
from casino_env.state import State, copy_state
from casino_env.token_game import DEAL_OVER, ILLEGAL, NAMED
from casino_env.tokens import N_TOKENS, token_names

__doc__ = f"{__doc__}\n{MANUAL}"

Space = gymnasium.spaces.Space[Any]

SET_BY_RESET = (
    *("agents", "agent_selection", "rewards", "terminations", "truncations", "infos"),
    *("_cumulative_rewards", "_partial", "_deals", "position"),
)


def env(
    rules: str | Rules = "royal",
    players: int = 2,
    objective: str = "deal",
    max_deals: int | None = None,
    auto_complete: bool = True,
    render_mode: str | None = None,
) -> AECEnv:
    """`raw_env` with PettingZoo's stock wrappers.

    An illegal token ends the episode: its agent gets `ILLEGAL_REWARD`, the others 0.
    """
    raw = raw_env(rules, players, objective, max_deals, auto_complete, render_mode)
    return wrap(raw, ILLEGAL_REWARD[objective])


def wrap(raw: AECEnv, illegal_reward: float) -> AECEnv:
    """PettingZoo's stock wrappers for masked discrete actions, around any such environment."""
    stopped = wrappers.TerminateIllegalWrapper(raw, illegal_reward=illegal_reward)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(stopped))


class raw_env(AECEnv):  # noqa: N801  (the name that PettingZoo environments have)
    """Royal Casino for 2, 3 or 4 agents. The manual is the docstring of this module.

    Args:
        rules: rule set, e.g. `royal` or `royal;near21=pagat` (R8).
        players: 2, 3 or 4.
        objective: `deal` (one deal; reward: own side's points minus the mean of the other sides') or `match`
            (to the target; +1 for the winners, -1 shared among the other sides).
        max_deals: truncate a match after so many deals.
        auto_complete: after the first token of a turn, take a sole legal token automatically.
        render_mode: what `render` gives: `ansi` a text, `rgb_array` a picture (uint8[height, width, 3]);
            `human` prints the text after `reset`, `step` and `play`; or None.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (PettingZoo reads a plain class attribute)
        "name": "royal_casino_v0",
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,
        "render_fps": 2,
    }
    AGENT_NAMES = tuple(f"player_{seat}" for seat in range(max(PLAYER_COUNTS)))  # by seat
    agent_selection: str  # set by `reset`

    def __init__(
        self,
        rules: str | Rules = "royal",
        players: int = 2,
        objective: str = "deal",
        max_deals: int | None = None,
        auto_complete: bool = True,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.rules = Rules.parse(rules)
        self.players = check_players(players, self.rules)
        self.objective = check_objective(objective)
        self.max_deals = check_max_deals(max_deals, objective)
        self.auto_complete = check_flag("auto_complete", auto_complete)
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self.possible_agents = list(self.AGENT_NAMES[: self.players])
        high = upper_bounds(blocks(self.players))
        self.observation_spaces: dict[str, Space] = {
            agent: gymnasium.spaces.Dict(
                {
                    "observation": gymnasium.spaces.Box(0, high, dtype=np.float32),
                    "action_mask": gymnasium.spaces.MultiBinary(N_TOKENS),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces: dict[str, Space] = {
            agent: gymnasium.spaces.Discrete(N_TOKENS) for agent in self.possible_agents
        }
        self.state_space = gymnasium.spaces.Box(0, upper_bounds(state_blocks(self.players)), dtype=np.float32)
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._rng = np.random.default_rng()
        self._size = observation_size(self.players)
        self._words = new_game(self.rules.table, self.players)
        self._share_words()

    def _share_words(self) -> None:
        """Views of the game's words. A copy has its own."""
        _, self._state, self._unfinished = take_apart(self._words).games

    def __getattr__(self, name: str) -> Any:
        """Asked for what is not there."""
        if name in SET_BY_RESET:
            raise NotReset(f"there is no {name.lstrip('_')} before the first reset: call reset")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_state", "_unfinished")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._share_words()

    def observation_space(self, agent: str) -> Space:
        """The space of `observe(agent)`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space:
        """`Discrete(236)`."""
        return self.action_spaces[agent]

    @property
    def position(self) -> Position:
        """The position before the unfinished move."""
        return Position(self.rules, copy_state(self._state), self._partial)

    @property
    def arrays(self) -> State:
        """The state as a batch of one game, for reading: these arrays change as play goes on."""
        return self._state

    @property
    def spelled(self) -> list[int]:
        """Tokens of the unfinished move."""
        return self._unfinished.tokens[0, : self._unfinished.counts[0, NAMED]].tolist()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode; CasinoError for wrong or contradicting options, before anything changes."""
        rng = self._rng if seed is None else seeded_rng(seed)
        state, self._partial = start_state(read_options(options), self.rules, self.players, rng)
        overwrite(self._state, state)
        self._rng, self._deals = rng, 0
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._start_turn()
        self._show()

    def observe(self, agent: str) -> dict[str, Any]:
        """The observation from the agent's seat."""
        seat = self._seats[agent]
        vector, mask = np.empty(self._size, np.float32), np.empty(N_TOKENS, np.int8)
        acts = agent == self.agent_selection and not (self.terminations[agent] or self.truncations[agent])
        observe_seat(self._words, seat, acts, vector, mask)
        return {"observation": vector, "action_mask": mask}

    def state(self) -> NDArray[np.float32]:
        """The whole game, hidden cards too, as the table `casino_env.global_state.state_blocks` says."""
        vector = np.empty(length(state_blocks(self.players)), np.float32)
        known = vector[: self._size]
        observe_seat(self._words, 0, True, known, np.empty(N_TOKENS, np.int8))
        write_hidden(self._state, vector[self._size :])
        return vector

    def step(self, action: int | None) -> None:
        """Name a token; IllegalMove (nothing changes) if it is not legal now. A finished agent steps None."""
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        token = check_token(action)
        outcome = take_token(self._words, token, self.auto_complete)
        if outcome == ILLEGAL:
            raise IllegalMove(why_illegal_token(token, self.spelled, self._unfinished.mask[0]))
        self._go_on(outcome)

    def play(self, move: str | Move) -> None:
        """Play a whole move in place of its tokens; IllegalMove or InvalidMove (nothing changes) else.

        The wrappers of `env` know nothing of it: call `last` before the next `step` through them.
        """
        move = Move.parse(move)
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            raise IllegalMove(f"illegal move {move}: the episode is over")
        if self.spelled:
            raise IllegalMove(f"illegal move {move}: another is being spelled ({token_names(self.spelled)})")
        packed = check_move(self._state, self.rules.table, move)
        self._go_on(take_move(self._words, packed))

    def render(self) -> Picture | None:
        """All cards (hidden ones too) and the unfinished move: as text, printed or as a picture."""
        if self.render_mode is None:
            warn_of_no_mode(RENDER_MODES)
            return None
        picture = rendered(self.position, self.spelled, self.render_mode)
        if self.render_mode != "human":
            return picture
        print(picture)
        return None

    def close(self) -> None:
        """Nothing to release: nothing is rendered into a window."""

    def _go_on(self, outcome: int) -> None:
        """What follows a token or move of the agent to act: rewards, the next agent, the next deal."""
        self._cumulative_rewards[self.agent_selection] = 0.0
        if outcome == DEAL_OVER:
            self._end_deal()
        else:
            self.agent_selection = self.possible_agents[outcome]
        self._show()

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _end_deal(self) -> None:
        outcome = end_deals(self._state, self.rules.table, np.zeros(1, np.int64), self.objective)
        self._deals += 1
        for seat, agent in enumerate(self.agents):
            self.rewards[agent] = float(outcome.rewards[0, seat])
        if outcome.finished[0]:
            self.terminations = dict.fromkeys(self.agents, True)
        elif self._deals == self.max_deals:
            self.truncations = dict.fromkeys(self.agents, True)
        else:
            self._state.score[0] = outcome.score[0]
            (dealer,) = next_dealers(self._state, np.zeros(1, np.int64))
            table = self.rules.table
            start_deal(self._state, 0, table, shuffled_deck(self._rng, table), dealer)
            self._partial = False
        self._accumulate_rewards()
        self._start_turn()

    def _start_turn(self) -> None:
        self.agent_selection = self.possible_agents[self._state.turn[0]]
        start_turn(self._words)


def check_token(action: Any) -> int:
    """The action as an int if it is a token, else InvalidMove."""
    try:
        token = -1 if isinstance(action, bool) else operator.index(action)
    except TypeError:
        token = -1
    if not 0 <= token < N_TOKENS:
        raise InvalidMove(f"action {quoted(action)} is not a token; valid: 0 to {N_TOKENS - 1}")
    return token
