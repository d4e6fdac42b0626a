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

from casino_env.arguments import check_count, check_flag, check_seed, check_seeds, quoted, whole_numbers
from casino_env.decks import seeded_rng, shuffled_deck
from casino_env.engine import next_dealers, start_deals
from casino_env.errors import CasinoError, IllegalMove, InvalidMove, NotReset
from casino_env.legal import MoveLister
from casino_env.masks import why_illegal_token
from casino_env.objectives import ILLEGAL_REWARD, end_deals
from casino_env.observation import block_offsets, observe_batch, write_spellings
from casino_env.one_game import overwrite
from casino_env.position import Position
from casino_env.rendering import RENDER_MODES, check_render_mode, rendered, warn_of_no_mode
from casino_env.resets import read_options, start_state
from casino_env.royal_casino_v0 import raw_env
from casino_env.rules import Rules
from casino_env.single_agent import (
    RANDOM_SEAT,
    Opponent,
    check_learner_seat,
    check_start,
    choose,
    draw_start,
    spawn,
)
from casino_env.state import IntArray, empty_state, select
from casino_env.token_game import (
    DEAL_OVER,
    NAMED,
    TokenGames,
    begin_turns,
    name_tokens,
    nothing_named,
    play_moves,
)
from casino_env.tokens import N_TOKENS
from casino_env.view import see

MANY_RENDER_MODES = [mode for mode in RENDER_MODES if mode != "human"]
RESET_MASK = "reset_mask"

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
            anew in the next step, whatever token that names for it (`NextStep`), in the same step
            (`SameStep`, with `final_obs` and `final_info`), or by `reset` with a `reset_mask` (`Disabled`).

    A game that is over has a mask of zeros: with `NextStep` and a masked distribution that needs one legal
    token, give it any, or take `SameStep`, where no mask is ever empty.

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
        self.game = one = raw_env(rules, players, objective, max_deals, auto_complete)  # of the same kind
        self.rules, self.players, self.objective, self.max_deals = one.rules, players, objective, max_deals
        self.auto_complete = one.auto_complete
        self.render_mode = check_render_mode(render_mode, MANY_RENDER_MODES)
        self.learner_seat = check_learner_seat(learner_seat, players)
        self.opponents = list(opponents)
        self.refuse_illegal = check_flag("refuse_illegal", refuse_illegal)
        self.autoreset_mode = _check_autoreset_mode(autoreset_mode)
        changed = {"render_modes": MANY_RENDER_MODES, "autoreset_mode": self.autoreset_mode}
        self.metadata = {**raw_env.metadata, **changed}
        self.single_observation_space = one.observation_space("player_0")["observation"]  # type: ignore[index]
        self.single_action_space = one.action_space("player_0")
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

        self.state, self._unfinished = empty_state(self.num_envs, players), nothing_named(self.num_envs)
        self._games = TokenGames(self.rules.table, self.state, self._unfinished)
        self._offsets, self._list_moves = block_offsets(players), MoveLister(self.num_envs)
        self._seats, self._deals = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.int64)
        self._rewards = np.zeros(self.num_envs)
        self._terminated, self._truncated, self._partial = np.zeros((3, self.num_envs), np.bool_)
        self._has_reset = False
        streams = [seeding.np_random() for _ in range(self.num_envs)]
        self._rngs, self._rng_seeds = [rng for rng, _ in streams], [seed for _, seed in streams]
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
        games = np.flatnonzero(self._check_reset_mask(options))
        if isinstance(options, dict):
            options = {name: value for name, value in options.items() if name != RESET_MASK}
        known = read_options(options)
        seeds = self._check_seeds(seed)
        check_start(self.game, self.learner_seat, known)
        seeded = [game for game in games if seeds[game] is not None]
        for game in seeded:
            self._rngs[game], self._rng_seeds[game] = seeding.np_random(seeds[game])
        if seeded:
            self._opponents_rng = spawn(self._rngs[seeded[0]])
        self._has_reset = True
        self._start(games, known)
        return self._observe(), self._infos(games)

    def step(self, actions: IntArray) -> tuple[Floats, NDArray[np.float64], Flags, Flags, Infos]:
        """Name a token [B] in every game, and let the opponents play until the learners are to act again.

        Raises InvalidMove or IllegalMove as `RoyalCasinoEnv` does; nothing changes then in any game.
        """
        if not self._has_reset:
            raise NotReset("there is no game before the first reset: call reset")
        over = self._over
        tokens = self._check_actions(actions, over)
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
            self._start(np.flatnonzero(over), {})
        rewards, terminated, truncated = self._rewards.copy(), self._terminated.copy(), self._truncated.copy()
        everyone = np.arange(self.num_envs)
        ended = np.flatnonzero(self._over)
        if len(ended) and self.autoreset_mode is AutoresetMode.SAME_STEP:
            final = self._final(ended, reasons)
            self._start(ended, {})
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
            warn_of_no_mode(MANY_RENDER_MODES)
            return None
        games = range(self.num_envs)
        return tuple(rendered(self.position(game), self.spelled(game), self.render_mode) for game in games)

    def position(self, game: int) -> Position:
        """The position of one game before the learner's unfinished move."""
        return Position(self.rules, select(self.state, np.array([game])), bool(self._partial[game]))

    def spelled(self, game: int) -> list[int]:
        """Tokens of the learner's unfinished move in one game."""
        return self._unfinished.tokens[game, : self._unfinished.counts[game, NAMED]].tolist()

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The random stream of every game, as of Gymnasium's own batches."""
        return tuple(self._rngs)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of every game's stream."""
        return tuple(self._rng_seeds)

    @property
    def _over(self) -> Flags:
        """[B] whether the episode has ended."""
        return self._terminated | self._truncated

    def _start(self, games: IntArray, options: Infos) -> None:
        """Start an episode in each of `games`, up to the learner's first turn."""
        for game in games:
            deal_seed, seat = draw_start(self._rngs[game], self.players)
            self._deck_rngs[game] = seeded_rng(deal_seed)
            state, partial = start_state(options, self.rules, self.players, self._deck_rngs[game])
            overwrite((array[game : game + 1] for array in self.state), state)
            self._partial[game] = partial
            self._seats[game] = seat if self.learner_seat == RANDOM_SEAT else self.learner_seat
        self._deals[games], self._terminated[games], self._truncated[games] = 0, False, False
        begin_turns(self._games, games)
        self._let_opponents_play(games)

    def _play(self, games: IntArray, tokens: IntArray) -> None:
        """Name legal tokens, and let the opponents play."""
        outcomes = name_tokens(self._games, games, tokens[games], self.auto_complete)
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
                    outcomes = play_moves(self._games, asked, moves)
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
        again = games[goes_on]
        self.state.score[again] = outcome.score[goes_on]
        self._partial[again] = False
        if len(again):
            table = self.rules.table
            decks = np.stack([shuffled_deck(self._deck_rngs[game], table) for game in again])
            start_deals(self.state, again, table, decks, next_dealers(self.state, again))
            begin_turns(self._games, again)

    def _observe(self) -> Floats:
        """What the learners see, float32[B, N]."""
        observations = observe_batch(see(self.state, self._seats), self.rules.table)
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

    def _check_actions(self, actions: Any, over: Flags) -> IntArray:
        tokens = whole_numbers(actions, (self.num_envs,))
        if tokens is None or ((tokens < 0) | (tokens >= N_TOKENS))[~over].any():
            raise InvalidMove(f"actions: give {self.num_envs} tokens from 0 to {N_TOKENS - 1}")
        return tokens

    def _check_reset_mask(self, options: Any) -> Flags:
        """The games to start, [B]."""
        mask = options.get(RESET_MASK) if isinstance(options, dict) else None
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise CasinoError(f"reset option '{RESET_MASK}': give an array of {self.num_envs} truth values")
        if not mask.any() or not (mask.all() or self._has_reset):
            raise CasinoError(f"reset option '{RESET_MASK}': valid: some games, and at first all")
        return mask

    def _check_seeds(self, seed: Any) -> list[int | None]:
        """A seed for each game."""
        seeds = check_seeds(seed, self.num_envs)
        if seeds is not None:
            return seeds
        first = check_seed(seed)
        return [None if first is None else first + game for game in range(self.num_envs)]


def _check_autoreset_mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        valid = ", ".join(one.value for one in AutoresetMode)
        raise CasinoError(f"autoreset_mode={quoted(mode)} is unknown; valid: {valid}") from None
