"""Many tables of Royal Casino as one Gymnasium vector environment: a learner at each, opponents in batches.

Plays what `single_agent` plays, game by game the same, over the batched kernels. Axes: `B` games, `P` seats.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from casino_env.arguments import check_count, check_seed, quoted, whole_numbers
from casino_env.decks import seeded_rng, shuffled_deck
from casino_env.engine import start_deal
from casino_env.errors import CasinoError, IllegalMove, InvalidMove
from casino_env.legal import MoveLister
from casino_env.masks import why_illegal_token
from casino_env.objectives import end_deals
from casino_env.observation import block_offsets, observe_batch, write_spellings
from casino_env.one_game import overwrite
from casino_env.position import Position
from casino_env.resets import start_state
from casino_env.royal_casino_v0 import ILLEGAL_REWARD, raw_env, rendered
from casino_env.rules import Rules
from casino_env.single_agent import (
    NO_TURN,
    RANDOM_SEAT,
    Opponent,
    check_learner_seat,
    choose,
    draw_start,
    spawn,
)
from casino_env.state import IntArray, empty_state, select
from casino_env.token_game import DEAL_OVER, NAMED, begin_turns, name_tokens, nothing_named, play_moves
from casino_env.tokens import N_TOKENS
from casino_env.view import see

Infos = dict[str, Any]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


class RoyalCasinoVectorEnv(gymnasium.vector.VectorEnv[Floats, IntArray, NDArray[Any]]):
    """`num_envs` tables with a learner at each.

    Args:
        num_envs: number of games `B`.
        opponents, rules, objective, max_deals, auto_complete, learner_seat, refuse_illegal: as for
            `single_agent.RoyalCasinoEnv`, for every game.
        render_mode: `ansi` or `rgb_array`: `render` gives a tuple with one for each game.
        autoreset_mode: what happens to a game that is over, as for Gymnasium's `SyncVectorEnv`: it starts
            anew in the next step, whose action for it is ignored (`NextStep`), in the same step
            (`SameStep`, with `final_obs` and `final_info`), or by `reset` with a `reset_mask` (`Disabled`).

    Each game is what a `RoyalCasinoEnv` of its seed is, but that opponents who draw lots share a stream.
    """

    def __init__(
        self,
        num_envs: int,
        opponents: Sequence[Opponent],
        rules: str | Rules = "royal",
        objective: str = "deal",
        max_deals: int | None = None,
        auto_complete: bool = True,
        render_mode: str | None = None,
        learner_seat: int | str = RANDOM_SEAT,
        refuse_illegal: bool = False,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.num_envs, players = check_count("num_envs", num_envs, 1), len(opponents) + 1
        one = raw_env(rules, players, objective, max_deals, auto_complete, render_mode)
        self.rules, self.players, self.objective, self.max_deals = one.rules, players, objective, max_deals
        self.auto_complete, self.render_mode = one.auto_complete, render_mode
        if render_mode == "human":
            raise CasinoError("render_mode='human' is for one game; valid: ansi, rgb_array, None")
        self.learner_seat = check_learner_seat(learner_seat, players)
        self.opponents, self.refuse_illegal = list(opponents), refuse_illegal
        self.autoreset_mode = _check_autoreset_mode(autoreset_mode)
        self.metadata = {**raw_env.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = one.observation_space("player_0")["observation"]  # type: ignore[index]
        self.single_action_space = one.action_space("player_0")
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

        self.state, self._unfinished = empty_state(self.num_envs, players), nothing_named(self.num_envs)
        self._offsets, self._list_moves = block_offsets(players), MoveLister(self.num_envs)
        self._seats, self._deals = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.int64)
        self._rewards = np.zeros(self.num_envs)
        self._terminated, self._truncated, self._partial = np.zeros((3, self.num_envs), np.bool_)
        self._has_reset = False
        self._rngs = [seeding.np_random()[0] for _ in range(self.num_envs)]
        self._deck_rngs = list(self._rngs)
        self._opponents_rng = spawn(self._rngs[0])

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Floats, Infos]:
        """Start an episode in every game, or in those of `options["reset_mask"]` (bool[B]).

        A seed `s` gives the games the seeds `s`, `s + 1` …; or give one for each. The other options are
        those of `royal_casino_v0`, for every game alike. CasinoError, and nothing changes, if one is wrong.
        """
        options = dict(options or {})
        games = np.flatnonzero(self._check_reset_mask(options.pop("reset_mask", None)))
        seeds = self._check_seeds(seed)
        start_state(options, self.rules, self.players, np.random.default_rng(0))  # raises if they are wrong
        for game in games:
            if seeds[game] is not None:
                self._rngs[game] = seeding.np_random(seeds[game])[0]
        if seeds[0] is not None:
            self._opponents_rng = spawn(self._rngs[0])
        self._has_reset = True
        self._start(games, options)
        if self._over[games].any():
            raise CasinoError(NO_TURN)
        return self._observe(), self._infos(games)

    def step(self, actions: IntArray) -> tuple[Floats, NDArray[np.float64], Flags, Flags, Infos]:
        """Name a token [B] in every game, and let the opponents play until the learners are to act again.

        Raises InvalidMove or IllegalMove as `RoyalCasinoEnv` does; nothing changes then in any game.
        """
        if not self._has_reset:
            raise CasinoError("call reset before step")
        tokens, over = self._check_actions(actions), self._over
        if over.any() and self.autoreset_mode is AutoresetMode.DISABLED:
            raise CasinoError("games are over: reset them with options={'reset_mask': mask}")
        playing = np.flatnonzero(~over)
        illegal = playing[self._unfinished.mask[playing, tokens[playing]] == 0]
        reasons = {int(game): self._why_illegal(int(game), int(tokens[game])) for game in illegal}
        if reasons and self.refuse_illegal:
            raise IllegalMove("; ".join(f"game {game}: {reason}" for game, reason in reasons.items()))
        self._rewards[:] = 0
        self._play(playing[~np.isin(playing, illegal)], tokens)
        self._rewards[illegal] = ILLEGAL_REWARD[self.objective]
        self._terminated[illegal] = True
        self._unfinished.mask[illegal] = 0
        if over.any():  # NextStep
            self._start(np.flatnonzero(over), None)
        rewards, terminated, truncated = self._rewards.copy(), self._terminated.copy(), self._truncated.copy()
        everyone = np.arange(self.num_envs)
        ended = np.flatnonzero(self._over)
        if len(ended) and self.autoreset_mode is AutoresetMode.SAME_STEP:
            final = self._final(ended, reasons)
            self._start(ended, None)
            infos = self._infos(everyone) | final
        else:
            infos = self._infos(everyone, reasons)
        return self._observe(), rewards, terminated, truncated, infos

    def action_masks(self) -> Flags:
        """The legal tokens, bool[B, 236]; none in a game that is over."""
        return self._unfinished.mask.astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """A text or a picture of every game, as `royal_casino_v0` renders it."""
        if self.render_mode is None:
            return None
        games = range(self.num_envs)
        return tuple(rendered(self.position(game), self.spelled(game), self.render_mode) for game in games)

    def position(self, game: int) -> Position:
        """The position of one game before the learner's unfinished move."""
        return Position(self.rules, select(self.state, np.array([game])), bool(self._partial[game]))

    def spelled(self, game: int) -> list[int]:
        """Tokens of the learner's unfinished move in one game."""
        return self._unfinished.tokens[game, : self._unfinished.counts[game, NAMED]].tolist()

    @property
    def _over(self) -> Flags:
        """[B] whether the episode has ended."""
        return self._terminated | self._truncated

    def _start(self, games: IntArray, options: dict[str, Any] | None) -> None:
        """Start an episode in each of `games`, up to the learner's first turn."""
        for game in games:
            deal_seed, seat = draw_start(self._rngs[game], self.players)
            self._deck_rngs[game] = seeded_rng(deal_seed)
            state, partial = start_state(options, self.rules, self.players, self._deck_rngs[game])
            overwrite((array[game : game + 1] for array in self.state), state)
            self._partial[game] = partial
            self._seats[game] = seat if self.learner_seat == RANDOM_SEAT else self.learner_seat
        self._deals[games], self._terminated[games], self._truncated[games] = 0, False, False
        begin_turns(self.state, self.rules.table, self._unfinished, games)
        self._let_opponents_play(games)

    def _play(self, games: IntArray, tokens: IntArray) -> None:
        """Name legal tokens, and let the opponents play."""
        unfinished, named = self._unfinished, tokens[games]
        outcomes = name_tokens(self.state, self.rules.table, unfinished, games, named, self.auto_complete)
        self._end_deals(games[outcomes == DEAL_OVER])
        self._let_opponents_play(games)

    def _let_opponents_play(self, games: IntArray) -> None:
        """Play in each of `games` until the learner is to act or the episode is over."""
        while True:
            games = games[~self._over[games] & (self.state.turn[games] != self._seats[games])]
            if not len(games):
                return
            after = (self.state.turn[games] - self._seats[games]) % self.players
            for place, opponent in enumerate(self.opponents, 1):
                asked = games[after == place]
                if len(asked):
                    batch = select(self.state, asked)
                    legal = self._list_moves(batch, self.rules.table)
                    moves = choose(opponent, see(batch), legal, self._opponents_rng)
                    outcomes = play_moves(self.state, self.rules.table, self._unfinished, asked, moves)
                    self._end_deals(asked[outcomes == DEAL_OVER])

    def _end_deals(self, games: IntArray) -> None:
        """Rewards of the deals that ended; the next deal of a match (R2.3)."""
        if not len(games):
            return
        outcome = end_deals(self.state, self.rules.table, games, self.objective)
        self._rewards[games] += outcome.rewards[np.arange(len(games)), self._seats[games]]
        self._deals[games] += 1
        self._terminated[games] = outcome.finished
        if self.max_deals is not None:
            self._truncated[games] = ~outcome.finished & (self._deals[games] == self.max_deals)
        goes_on = ~self._over[games]
        for game, score in zip(games[goes_on], outcome.score[goes_on], strict=True):
            self.state.score[game] = score
            dealer = int(self.state.dealer[game] + 1) % self.players
            start_deal(self.state, game, shuffled_deck(self._deck_rngs[game]), dealer)
            self._partial[game] = False
        begin_turns(self.state, self.rules.table, self._unfinished, games[goes_on])

    def _observe(self) -> Floats:
        """What the learners see, float32[B, N]."""
        observations = observe_batch(see(self.state, self._seats), self.rules.table.target)
        write_spellings(self._unfinished.spelling, self._offsets, observations)
        return observations

    def _infos(self, games: IntArray, reasons: dict[int, str] | None = None) -> Infos:
        """What Gymnasium's own batches make of the `info` of some games: arrays [B], and who has an entry."""
        given = np.zeros(self.num_envs, np.bool_)
        given[games] = True
        masks = np.where(given[:, None], self._unfinished.mask, np.int8(0))
        infos = {"action_mask": masks, "_action_mask": given}
        infos |= {"seat": np.where(given, self._seats, 0), "_seat": given.copy()}
        if reasons:
            texts = np.full(self.num_envs, None, object)
            for game, reason in reasons.items():
                texts[game] = reason
            infos |= {"illegal": texts, "_illegal": np.array([text is not None for text in texts])}
        return infos

    def _final(self, ended: IntArray, reasons: dict[int, str]) -> Infos:
        """The last observation and info of the games that ended."""
        observations, last = np.full(self.num_envs, None, object), self._observe()
        for game in ended:
            observations[game] = last[game]
        infos = self._infos(ended, reasons)
        given = infos["_seat"]
        return {
            "final_obs": observations,
            "_final_obs": given.copy(),
            "final_info": infos,
            "_final_info": given.copy(),
        }

    def _why_illegal(self, game: int, token: int) -> str:
        return why_illegal_token(token, self.spelled(game), self._unfinished.mask[game])

    def _check_actions(self, actions: Any) -> IntArray:
        tokens = whole_numbers(actions, (self.num_envs,))
        if tokens is None or (tokens < 0).any() or (tokens >= N_TOKENS).any():
            raise InvalidMove(f"actions: give {self.num_envs} tokens from 0 to {N_TOKENS - 1}")
        return tokens

    def _check_reset_mask(self, mask: Any) -> Flags:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise CasinoError(f"reset option 'reset_mask': give an array of {self.num_envs} truth values")
        return mask

    def _check_seeds(self, seed: Any) -> list[int | None]:
        """A seed for each game."""
        if seed is None or not isinstance(seed, Sequence | np.ndarray):
            first = check_seed(seed)
            return [None if first is None else first + game for game in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise CasinoError(f"seed: {len(seed)} given; valid: one, or {self.num_envs} for as many games")
        return [check_seed(one) for one in seed]


def _check_autoreset_mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        valid = ", ".join(one.value for one in AutoresetMode)
        raise CasinoError(f"autoreset_mode={quoted(mode)} is unknown; valid: {valid}") from None
