"""`casino`: the command line. Owns the list of commands, and the two that show what the rules allow.

A command of its own module is one line in `COMMANDS`, and there, as in `arena`, `add_arguments` with the
default `run`.
"""

import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from textwrap import fill
from typing import NamedTuple

from agents import arena, bench, curves, exploit, play, regret, replay, soak
from agents.command import CommandParser, run_command
from casino_env.errors import CasinoError, MoveListCut
from casino_env.moves import Move
from casino_env.notation import FIELDS
from casino_env.position import Position

DESCRIPTION = "Royal Casino: let agents compete, and see what the rules allow."
EXAMPLES = """examples:
  casino arena random greedy --deals 4000
  casino legal "royal 2C7H/5S7D 5D - -/- - 0 - 0/0 0/0 1" --partial
  casino perft "royal 2C7H/5S7D 5D - -/- - 0 - 0/0 0/0 1" 3 --partial --divide

casino COMMAND --help explains a command."""

POSITION_TEXT = f"""POSITION is one text of {len(FIELDS)} fields with a space between, - for none:
{fill(", ".join(FIELDS))}.
Example (a study, so with --partial): "royal 2C7H/5S7D 5D - -/- - 0 - 0/0 0/0 1"
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 2 after an error of the user's, 130 if interrupted."""
    parser = CommandParser("casino", description=DESCRIPTION, epilog=EXAMPLES)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_arguments(
            commands.add_parser(
                command.name, help=command.summary, description=command.description, epilog=command.examples
            )
        )
    return run_command(parser, argv)


def _add_legal_arguments(parser: CommandParser) -> None:
    _add_position(parser)
    parser.set_defaults(run=_run_legal)


def _add_perft_arguments(parser: CommandParser) -> None:
    _add_position(parser)
    parser.add_argument("depth", type=int, metavar="DEPTH", help="length of the paths, in moves")
    parser.add_argument("--divide", action="store_true", help="also the paths behind each first move")
    parser.set_defaults(run=_run_perft)


def _add_position(parser: CommandParser) -> None:
    parser.add_argument("position", metavar="POSITION", help="the position; see above")
    parser.add_argument("--partial", action="store_true", help="a study: cards may be missing")


def _run_legal(arguments: Namespace) -> None:
    position = Position.parse(arguments.position, arguments.partial)
    moves = _legal_moves(position)
    for move in moves:
        print(move)
    if not moves:
        reason = "the deal is over" if position.is_over else f"seat {position.turn} may play no card"
        print(f"casino: no legal move: {reason}", file=sys.stderr)


def _run_perft(arguments: Namespace) -> None:
    position = Position.parse(arguments.position, arguments.partial)
    if arguments.divide:
        if arguments.depth < 1:
            raise CasinoError(f"depth={arguments.depth} cannot be divided; valid: 1 or more")
        for move in _legal_moves(position):
            print(move, position.play(move).perft(arguments.depth - 1))
    print(position.perft(arguments.depth))


def _legal_moves(position: Position) -> list[Move]:
    """The moves, and a line on stderr if the list was cut at its bound."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", MoveListCut)
        moves = position.legal_moves()
    for note in notes:
        print("casino:", note.message, file=sys.stderr)
    return moves


class _Command(NamedTuple):
    name: str
    summary: str  # for the list of commands
    description: str
    examples: str | None
    add_arguments: Callable[[CommandParser], None]


COMMANDS = (
    _Command(
        "arena",
        "play agents against each other",
        arena.DESCRIPTION,
        arena.EXAMPLES,
        arena.add_arguments,
    ),
    _Command(
        "bench",
        "measure the engine and the environments",
        bench.DESCRIPTION,
        bench.EXAMPLES,
        bench.add_arguments,
    ),
    _Command(
        "curves",
        "show how training runs went",
        curves.DESCRIPTION,
        curves.EXAMPLES,
        curves.add_arguments,
    ),
    _Command(
        "exploit",
        "measure policies of a small game by their exact best responses",
        exploit.DESCRIPTION,
        exploit.EXAMPLES,
        exploit.add_arguments,
    ),
    _Command(
        "legal",
        "list the legal moves of a position",
        f"Print every legal move of a position, one a line.\n\n{POSITION_TEXT}",
        None,
        _add_legal_arguments,
    ),
    _Command(
        "perft",
        "count the paths of legal moves from a position",
        f"Print how many paths of DEPTH legal moves there are.\n\n{POSITION_TEXT}",
        None,
        _add_perft_arguments,
    ),
    _Command(
        "play",
        "play against agents in the terminal",
        play.DESCRIPTION,
        play.EXAMPLES,
        play.add_arguments,
    ),
    _Command(
        "regret",
        "measure what an agent gives away in the last hand",
        regret.DESCRIPTION,
        regret.EXAMPLES,
        regret.add_arguments,
    ),
    _Command(
        "replay",
        "write a recorded game as a page to step through",
        replay.DESCRIPTION,
        replay.EXAMPLES,
        replay.add_arguments,
    ),
    _Command(
        "soak",
        "play random games and check every state of them",
        soak.DESCRIPTION,
        soak.EXAMPLES,
        soak.add_arguments,
    ),
)

if __name__ == "__main__":
    sys.exit(main())
