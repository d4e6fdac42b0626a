"""What the tests of tokens, views and environments share: spelling by hand, random states, playing an env.

Owns no expected value. Axes: `B` games, `P` seats, `S` sides.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from casino_env import Move, Position, Rules, VectorEnv
from casino_env.masks import write_mask
from casino_env.moves import NO_MOVE
from casino_env.soundness import SOUND, check_batch
from casino_env.spelling import spell
from casino_env.state import NOBODY, State, copy_state, select
from casino_env.tokens import EMPTY, MAX_TOKENS, N_TOKENS, Spelling, advance, token_name
from casino_env.turn import look
from tests.helpers import check, random_line

LOOSE = "royal;capture=free;raise_own=yes;raise_absorb=yes;partner_builds=own_card"  # all that may be, may
SETTINGS = (
    ("royal", 2),
    ("royal", 3),
    ("royal", 4),
    ("plain", 2),
    ("plain;capture=match_forced", 3),
    ("spade", 4),
    (LOOSE, 4),
)
STYLES = ("uniform", "builds", "trails")
TOKENS = {token_name(token): token for token in range(N_TOKENS)}
ENDLESS = 20_000  # steps that no episode takes

Choice = Callable[[dict[str, np.ndarray]], int]  # a token for an observation


class Prefix(NamedTuple):
    """An unfinished move: the tokens named, what they spell, and the tokens that are legal next."""

    tokens: tuple[int, ...]
    spelling: Spelling
    legal: list[int]


class Speller:
    """The token kernels at one position."""

    def __init__(self, position: Position) -> None:
        self.rules = position.rules.table
        self.table = look(position.state, 0, self.rules)

    def legal(self, spelling: Spelling = EMPTY) -> list[int]:
        """The legal next tokens; the count that `write_mask` returns is checked."""
        mask = np.ones(N_TOKENS, np.int8)
        count = write_mask(self.rules, self.table, spelling, mask)
        tokens = np.flatnonzero(mask).tolist()
        assert count == len(tokens) == mask.sum()
        return tokens

    def name(self, spelling: Spelling, token: int) -> tuple[Spelling, Move | None]:
        """The spelling after one more token, and the move if that completes it."""
        after, move = advance(self.rules, self.table, spelling, token)
        return after, None if move == NO_MOVE else Move.unpack(move)

    def read(self, tokens: list[int]) -> Move:
        """The move that the tokens spell; each must be legal, and the last alone completes the move."""
        spelling, move = EMPTY, None
        for token in tokens:
            assert move is None and token in self.legal(spelling)
            spelling, move = self.name(spelling, token)
        assert move is not None
        return move

    def spell(self, move: Move) -> list[int]:
        """The tokens of a legal move."""
        tokens = np.zeros(MAX_TOKENS, np.int64)
        return tokens[: spell(self.rules, self.table, move.packed, tokens)].tolist()

    def prefixes(self) -> Iterator[Prefix]:
        """Every unfinished move that legal tokens lead to, the empty one first."""
        stack: list[tuple[tuple[int, ...], Spelling]] = [((), EMPTY)]
        while stack:
            tokens, spelling = stack.pop()
            prefix = Prefix(tokens, spelling, self.legal(spelling))
            yield prefix
            for token in prefix.legal:
                after, move = self.name(spelling, token)
                if move is None:
                    stack.append(((*tokens, token), after))


def some_positions(rules: str, players: int, style: str, seed: int, share: float = 1) -> Iterator[Position]:
    """Unfinished positions of one random game, each kept with the probability `share`."""
    rng = random.Random(seed)
    start = Position.deal(seed=seed, rules=rules, players=players)
    for position, *_ in random_line(start, style, rng):
        if not position.is_over and rng.random() < share:
            yield position


def random_states(players: int, games: int, seed: int, rules: str = "royal") -> Iterator[State]:
    """The states of a batch of games, turn by turn through one deal of uniform play; scores are random.

    Every state is checked for broken invariants.
    """
    rng, codes = np.random.default_rng(seed), np.zeros(games, np.int64)
    env = VectorEnv(games, rules=rules, players=players, seed=seed)
    legal = env.reset()
    env.state.score[:] = rng.integers(0, 25, env.state.score.shape)
    while True:
        yield copy_state(env.state)
        step = env.step(rng.integers(0, np.diff(legal.offsets)))
        legal = step.legal
        check_batch(env.state, env.rules.table, codes)
        assert (codes == SOUND).all()
        if step.terminated.any():
            return


def rotate(state: State, by: int) -> State:
    """The same games with every seat `s` renamed to `s + by`, and the sides with them."""
    players = state.hands.shape[1]

    def seat(array: np.ndarray) -> np.ndarray:
        return np.where(array == NOBODY, NOBODY, (array + by) % players)

    by_seat = ("hands", "owned", "captured", "sweeps")
    rolled = {name: np.roll(getattr(state, name), by, axis=1) for name in by_seat}
    renamed = {name: seat(getattr(state, name)) for name in ("turn", "last_capture", "dealer")}
    return state._replace(**rolled, **renamed, score=np.roll(state.score, by, axis=1))


def hide_again(state: State, rng: np.random.Generator, seats: np.ndarray | None = None) -> State:
    """The same games with the cards that `seats` (default: to act) cannot see dealt anew.

    Those are the other hands and the stock; promises (R4.4) may break. The order in which the cards seen
    were dealt changes too.
    """
    state = copy_state(state)
    for game, seat in enumerate(state.turn if seats is None else seats):
        others = [other for other in range(state.hands.shape[1]) if other != seat]
        stock = state.deck[game, state.dealt[game] :]
        hidden = [*stock, *(card for other in others for card in cards_in(state.hands[game, other]))]
        hidden = rng.permutation(np.array(hidden, np.int64))
        stock[:] = hidden[: len(stock)]
        hidden = hidden[len(stock) :]
        for other in others:
            size = int(state.hands[game, other]).bit_count()
            state.hands[game, other] = sum(1 << int(card) for card in hidden[:size])
            hidden = hidden[size:]
        rng.shuffle(state.deck[game, : state.dealt[game]])
    return state


def cards_in(cards: int) -> list[int]:
    """Card ids of a set, without the package's own scan."""
    return [card for card in range(52) if int(cards) >> card & 1]


def position_of(state: State, game: int, rules: str) -> Position:
    """One game of a batch as a position."""
    return Position(Rules.parse(rules), select(state, np.array([game])))


def margins(position: Position) -> list[float]:
    """Each seat's points minus the mean of the other sides'."""
    totals = [side.total for side in position.deal_points()]
    sides = len(totals)
    return [
        totals[seat % sides] - (sum(totals) - totals[seat % sides]) / (sides - 1)
        for seat in range(position.players)
    ]


def match_rewards(winner: int | None, players: int) -> list[float]:
    """+1 for the winner's seats and -1 shared among the other sides; nothing while the match goes on."""
    sides = 2 if players == 4 else players
    return [
        (winner is not None) * (1 if seat % sides == winner else -1 / (sides - 1)) for seat in range(players)
    ]


def play_out(env: Any, choose: Choice) -> dict[str, float]:
    """Play a started AEC episode to its end, dead steps too; each agent's sum of rewards."""
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter(ENDLESS):
        observation, reward, terminated, truncated, _ = env.last()
        returns[agent] += reward
        check(env.unwrapped.position)
        env.step(None if terminated or truncated else choose(observation))
    assert env.agents == [], "the episode does not end"
    return returns


def spell_out(env: Any, move: Move) -> None:
    """Name the tokens of a legal move, but for those that the env takes by itself."""
    game, start = env.unwrapped, env.unwrapped.position
    tokens, named = Speller(start).spell(move), 0
    while named < len(tokens):
        assert env.agent_selection == f"player_{start.turn}"
        env.step(tokens[named])
        named = len(game.spelled)
        assert game.spelled == tokens[:named]
        if not named:
            break
        assert game.position == start


def play_by_moves(env: Any, seed: int) -> Iterator[Position]:
    """Play random whole moves in a started env until the episode ends.

    Yields each position that `Position.play` says the move leads to, the finished ones included.
    """
    rng = random.Random(seed)
    while not any([*env.terminations.values(), *env.truncations.values()]):
        position = env.unwrapped.position
        move = rng.choice(position.legal_moves())
        spell_out(env, move)
        yield position.play(move)


def random_token(seed: int) -> Choice:
    """A choice of a legal token, uniform."""
    rng = np.random.default_rng(seed)
    return lambda observation: int(rng.choice(np.flatnonzero(observation["action_mask"])))
