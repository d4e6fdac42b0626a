"""The soak: random games by the million, every state of them checked. Same as `casino soak`.

Owns which games are played and the report; what is checked is in `casino_env.soundness` (a state) and
`casino_env.transitions` (a turn, the end of a deal). Axes: `B` games of a batch, `M` moves of all of them.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import ceil
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.command import CommandParser, progress_bar, run_command
from casino_env import soundness, transitions
from casino_env.arguments import check_count
from casino_env.bits import popcount
from casino_env.decks import shuffled_decks
from casino_env.engine import apply_batch, start_deal
from casino_env.invariants import check_state
from casino_env.jit import inner_kernel, kernel
from casino_env.legal import LegalMoves, MoveLister
from casino_env.moves import Move, move_loose, move_pile, move_raises, move_value
from casino_env.notation import format_position
from casino_env.rules import PLAYER_COUNTS, Rules, check_players, deal_turns, player_counts
from casino_env.state import NOBODY, IntArray, State, copy_state, empty_state
from casino_env.transitions import Turns

FOUND = 1  # exit status after a broken invariant
GAMES = 512  # of a batch, at most
CROWD = 12  # loose cards from which on the trail style captures: with more, lists reach their bound
BELOW_TARGET, ABOVE_TARGET = 14, 1  # scores before a deal: often near the end of the match (R7)
DEFAULT_TURNS = 1_000_000

STYLES = ("uniform", "builds", "trails")
UNIFORM, BUILDS, TRAILS = range(len(STYLES))
KINDS = ("trail", "capture", "build", "raise")
TRAIL, CAPTURE, BUILD, RAISE = range(len(KINDS))
RULE_SETS = (  # every rule set, and every value of every option
    "royal",
    "royal;near21=pagat;sweeps=plain",
    "royal;raise_own=yes;raise_absorb=yes",
    "royal;capture=free",
    "royal;partner_builds=own_card;raise_own=yes",
    "royal;target=11;near21=none;sweeps=none",
    "plain",
    "plain;capture=match_forced;raise_own=yes;sweeps=net",
    "spade",
    "spade;partner_builds=own_card;raise_absorb=no;near21=seed;target=21",
    "royal;draw=yes",
    "kasino",
    "kasino;draw=yes;capture=match_forced;near21=pagat",
    "royal;size=tiny",
)
SENTENCES = {**soundness.BROKEN, **transitions.BROKEN}

DESCRIPTION = f"""Play random games and check every state: that each card is there once, builds split and are
marked rightly, promises are held, hands are even, no build stands when hands are dealt, there is
a legal move, sweeps and captured cards only grow, a deal has its turns, points add up.

Without --rules and --players all rule sets and numbers of seats are played, in three styles:
{", ".join(STYLES)}. On a broken invariant it prints the position, the move and what broke,
and exits with status {FOUND}."""

EXAMPLES = """examples:
  casino soak --turns 10_000_000
  casino soak --turns 100_000 --seed 1 --rules "royal;capture=free" --players 4"""


class Setting(NamedTuple):
    """What a batch of games is played with."""

    rules: Rules
    players: int
    style: int  # index into STYLES

    def __str__(self) -> str:
        return f"{self.rules}, {self.players} players, style {STYLES[self.style]}"


@dataclass
class Tally:
    """What was played."""

    deals: int = 0
    turns: int = 0
    moves: int = 0  # in all lists of legal moves
    longest: int = 0  # list
    cut_lists: int = 0  # lists that were cut at their bound
    sweeps: int = 0
    kinds: IntArray = field(default_factory=lambda: np.zeros(len(KINDS), np.int64))


class BrokenInvariant(Exception):
    """A state, turn or end of a deal that cannot be; the text says all that is needed to play it again."""


def soak(
    turns: int,
    seed: int,
    rules: Sequence[str | Rules] = RULE_SETS,
    players: Sequence[int] = PLAYER_COUNTS,
    advance: Callable[[int], None] | None = None,
) -> Tally:
    """Play whole deals of `turns` turns or a few more, divided evenly among all settings.

    Raises BrokenInvariant at the first finding. `advance` is told of turns that are done. The same arguments
    give the same games.
    """
    check_count("turns", turns, 1)
    check_count("seed", seed, 0)
    settings = list(all_settings(rules, players))
    if not settings:
        check_players(players[0], Rules.parse(rules[0]))
    shortest = min(deal_turns(setting.rules.table) for setting in settings)
    batches = len(settings) * ceil(turns / shortest / len(settings) / GAMES)
    list_moves = MoveLister(GAMES)
    tally, done = Tally(), 0
    for batch in range(batches):
        setting = settings[batch % len(settings)]
        length = deal_turns(setting.rules.table)
        games = ceil((turns * (batch + 1) // batches - done) / length)
        if games <= 0:
            continue
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(batch,)))
        _play_batch(setting, games, rng, list_moves, tally)
        done += games * length
        if advance:
            advance(games * length)
    return tally


def all_settings(
    rules: Sequence[str | Rules] = RULE_SETS, players: Sequence[int] = PLAYER_COUNTS
) -> Iterator[Setting]:
    """Every rule set with every number of seats that can play it, in every style."""
    for parsed in map(Rules.parse, rules):
        for seats, style in product(players, range(len(STYLES))):
            if seats in player_counts(parsed):
                yield Setting(parsed, seats, style)


def _play_batch(
    setting: Setting, games: int, rng: np.random.Generator, list_moves: MoveLister, tally: Tally
) -> None:
    table = setting.rules.table
    state, turns = _deal(setting, games, rng), deal_turns(table)
    draws = rng.random((turns, games))
    codes, over = np.zeros(games, np.int64), np.zeros(games, np.bool_)
    soundness.check_batch(state, table, codes)
    _report(codes, setting, state)
    for turn in range(turns):
        legal = list_moves(state, table)
        transitions.check_lists(state, legal.offsets, codes)
        _report(codes, setting, state)
        moves = np.zeros(games, np.int64)
        choose_moves(setting.style, legal.offsets, legal.moves, (state.loose, draws[turn]), moves)
        before = copy_state(state)
        apply_batch(state, table, moves, over)
        _check_turn(Turns(before, moves, state, over, turn + 1), setting, codes)
        _count(legal, moves, tally)
    transitions.check_lists(state, list_moves(state, table).offsets, codes)
    _report(codes, setting, state)
    transitions.check_ends(state, table, codes)
    _report(codes, setting, state)
    tally.deals += games
    tally.sweeps += int(state.sweeps.sum())


def _deal(setting: Setting, games: int, rng: np.random.Generator) -> State:
    """Fresh deals with random decks, dealer and scores."""
    state = empty_state(games, setting.players)
    table = setting.rules.table
    decks = shuffled_decks(rng, games, table)
    target, dealer = table.target, int(rng.integers(setting.players))
    scores = target - rng.integers(-ABOVE_TARGET, BELOW_TARGET + 1, state.score.shape)
    state.score[:] = np.maximum(scores, 0)
    for game in range(games):
        start_deal(state, game, table, decks[game], dealer)
    return state


def _check_turn(turns: Turns, setting: Setting, codes: IntArray) -> None:
    soundness.check_batch(turns.after, setting.rules.table, codes)
    _report(codes, setting, turns.before, turns)
    transitions.check_turns(turns, setting.rules.table, codes)
    _report(codes, setting, turns.before, turns)


def _report(codes: IntArray, setting: Setting, state: State, turns: Turns | None = None) -> None:
    """Raise BrokenInvariant for the first game whose code is not SOUND."""
    if not codes.any():
        return
    game = int(np.flatnonzero(codes)[0])
    lines = [f"played    {setting}", f"position  {format_position(state, game, setting.rules)}"]
    sentence = SENTENCES[int(codes[game])]
    if turns:
        lines.append(f"move      {Move.unpack(turns.moves[game])}")
        lines.append(f"then      {format_position(turns.after, game, setting.rules)}")
        if codes[game] in soundness.BROKEN:
            sentence = check_state(turns.after, game, setting.rules.table) or sentence
    raise BrokenInvariant("\n".join([*lines, f"broken    {sentence}"]))


def _count(legal: LegalMoves, moves: IntArray, tally: Tally) -> None:
    tally.turns += len(moves)
    tally.moves += len(legal.moves)
    tally.longest = max(tally.longest, int(np.diff(legal.offsets).max()))
    tally.cut_lists += int(legal.bounded.sum())
    count_kinds(moves, tally.kinds)


@kernel
def choose_moves(
    style: int,
    offsets: IntArray,
    moves: IntArray,
    chance: tuple[IntArray, NDArray[np.float64]],
    chosen: IntArray,
) -> None:
    """Write a move of each game's list to `chosen` [B]; `chance`: loose cards and a draw in [0, 1) each.

    `builds` raises if it can, else builds; `trails` trails, or captures from a crowd on; the rest is uniform.
    """
    loose, draws = chance
    for game in range(chosen.shape[0]):
        listed = moves[offsets[game] : offsets[game + 1]]
        first, second = NOBODY, NOBODY
        if style == BUILDS:
            first, second = RAISE, BUILD
        elif style == TRAILS:
            first = CAPTURE if popcount(loose[game]) >= CROWD else TRAIL
        if not _has_kind(listed, first):
            first = second if _has_kind(listed, second) else NOBODY
        chosen[game] = _pick(listed, first, draws[game])


@inner_kernel
def _kind(move: int) -> int:
    if move_raises(move):
        return RAISE
    if move_value(move):
        return BUILD
    return CAPTURE if move_loose(move) or move_pile(move) else TRAIL


@inner_kernel
def _has_kind(listed: IntArray, kind: int) -> bool:
    for move in listed:
        if _kind(move) == kind:
            return True
    return False


@inner_kernel
def _pick(listed: IntArray, kind: int, draw: float) -> int:
    """A move of the kind (NOBODY: of any), each with the same probability."""
    count = 0
    for move in listed:
        count += kind in (NOBODY, _kind(move))
    left = int(draw * count)
    for move in listed:
        if kind in (NOBODY, _kind(move)):
            if left == 0:
                return int(move)
            left -= 1
    return int(listed[0])


@kernel
def count_kinds(moves: IntArray, counts: IntArray) -> None:
    """Add to `counts` [4] how many of the moves are of each kind."""
    for move in moves:
        counts[_kind(move)] += 1


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `casino soak`."""
    parser.add_argument(
        "--turns",
        type=int,
        default=DEFAULT_TURNS,
        metavar="N",
        help=f"played in whole deals (default: {DEFAULT_TURNS:_})",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of decks and moves (default: 0)")
    parser.add_argument("--rules", help="one rule set, with overrides (default: all)")
    parser.add_argument("--players", type=int, help="2, 3 or 4 (default: all)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """`casino soak`: play, and print what was played or what broke."""
    rules = RULE_SETS if arguments.rules is None else [arguments.rules]
    players = PLAYER_COUNTS if arguments.players is None else [arguments.players]
    start = perf_counter()
    try:
        with progress_bar("turns", arguments.quiet) as progress:
            task = progress.add_task("turns", total=arguments.turns)
            tally = soak(
                arguments.turns,
                arguments.seed,
                rules,
                players,
                advance=lambda turns: progress.advance(task, turns),
            )
    except BrokenInvariant as broken:
        print(f"an invariant of the engine is broken (seed {arguments.seed}):\n{broken}")
        sys.exit(FOUND)
    print(summary(tally, perf_counter() - start))


def summary(tally: Tally, seconds: float) -> str:
    """What was played, for people."""
    kinds = ", ".join(f"{count:,} {kind}s" for kind, count in zip(KINDS, tally.kinds, strict=True))
    return (
        f"every invariant held in {tally.turns:,} turns of {tally.deals:,} deals ({seconds:,.0f} s)\n"
        f"played: {kinds}; {tally.sweeps:,} sweeps\n"
        f"listed: {tally.moves:,} legal moves, the longest list {tally.longest:,}, "
        f"{tally.cut_lists:,} lists cut at their bound"
    )


if __name__ == "__main__":
    command = CommandParser("casino soak", description=DESCRIPTION, epilog=EXAMPLES)
    add_arguments(command)
    sys.exit(run_command(command, None))
