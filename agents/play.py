"""`casino play`: a person against agents, in the terminal. Owns the dialogue; one line is read at a time."""

import shlex
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.text import Text

from agents.command import CommandParser
from agents.files import check_target
from agents.play_screen import Screen, own_cards
from agents.records import read_records, write_records
from agents.registry import make_agent, valid_agents
from agents.sitting import YOU, Sitting
from casino_env.arguments import check_count
from casino_env.errors import CasinoError, MoveListCut
from casino_env.moves import Move
from casino_env.position import check_seat
from casino_env.rules import RULE_SETS, Rules, check_players

if TYPE_CHECKING:
    from agents.insight import Analyst

CHAMPION, SUBSTITUTE = "champion", "counter"  # who plays where there is no champion
SEEDS = 2**31
PAGE = 12  # moves of a card shown at a time

DESCRIPTION = f"""Play a match against agents, in the terminal: choose a card, then what to do with it.

AGENT is {valid_agents()}. At every question h gives a hint, u takes back, s saves, q leaves,
and ? lists what can be answered. A match is saved as a record (see casino arena --records),
which casino replay shows; --resume goes on with it. The same seed gives the same cards."""

EXAMPLES = """examples:
  casino play
  casino play --opponent searcher --seed 7
  casino play --players 4 --opponent champion --opponent greedy --opponent champion
  casino play --resume casino-7.jsonl"""

HELP = """Answer with the number of a card, then with the number of a move; or with a move as text (9S*4H5C).
  h  hint: what the champion would play      u  take back your last move
  s  save the match                          q  save and leave
  b  back to the cards                       ?  this help"""


Thing = TypeVar("Thing")


class Quit(Exception):
    """The person leaves."""


class Play:
    """A match at a terminal. `ask` shows a prompt and returns a line, or raises EOFError."""

    def __init__(self, sitting: Sitting, console: Console, ask: Callable[[str], str], file: Path) -> None:
        self._sitting, self._console, self._ask, self._file = sitting, console, ask, file
        self._screen = Screen(sitting, signs=_has_signs(console))
        self._analyst: Analyst | None = None
        self._is_ours = file.exists()  # else the file is not there yet, and must not be until it is written
        self._news = sitting.latest  # what was played since the person last chose

    def run(self) -> None:
        """Play until the match is over or the person leaves, or something else ends it, and save it then.

        Raises what ended it, KeyboardInterrupt after Ctrl-C.
        """
        try:
            while self._match_goes_on():
                pass
        except Quit:
            pass
        except EOFError:
            self._console.print()
        except BaseException:
            self._console.print()
            self._save()
            raise
        self._save_somewhere()

    def _match_goes_on(self) -> bool:
        """Play a deal to its end; returns whether there is another, or the person took a move back."""
        self._play_deal()
        settled = self._sitting.settlement
        if settled is None or settled.winner is not None:
            return False
        while self._command("Enter for the next deal") and self._sitting.position.is_over:
            self._say("There is only the next deal: Enter, or ? for help.")
        if self._sitting.position.is_over:
            self._sitting.next_deal()
        return True

    def _play_deal(self) -> None:
        while not self._sitting.position.is_over:
            self._news += self._sitting.reply()
            if not self._sitting.position.is_over:
                self._show()
                self._choose()
        self._console.print()
        self._tell_news()
        self._print(self._screen.points())

    def _show(self) -> None:
        if self._console.is_terminal:
            self._console.clear()
        else:
            self._console.print()
        self._print(self._screen.table())
        self._print([self._screen.hand(), Text("")])
        self._tell_news()

    def _tell_news(self) -> None:
        self._print(self._screen.turn(turn) for turn in self._news)
        self._news = []

    def _choose(self) -> None:
        """Ask for a card and a move until one is played or taken back."""
        sitting = self._sitting
        cards, turns = own_cards(sitting), len(sitting.turns)
        moves = self._legal_moves()
        while len(sitting.turns) == turns:
            answer = self._command(f"Card {_numbers(cards)}")
            if len(sitting.turns) != turns:  # taken back
                return
            card = _numbered(cards, answer)
            if card is not None:
                of_card = sorted((move for move in moves if move.card == card), key=_weight)
                self._choose_move(of_card, turns)
            elif answer.isdecimal():
                self._say(f"There is no card {answer[:9]}; valid: {_numbers(cards)}, or ? for help.")
            else:
                self._play_text(answer)

    def _legal_moves(self) -> list[Move]:
        """The moves, and a line if the list was cut at its bound."""
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always", MoveListCut)
            moves = self._sitting.position.legal_moves()
        if notes:
            self._say("There are more moves than the lists show; any of them can be written as text.")
        return moves

    def _choose_move(self, moves: Sequence[Move], turns: int) -> None:
        """Ask what to do with a card; play it if there is only one thing."""
        if not moves:
            self._say("That card cannot be played now.")
        elif len(moves) == 1:
            self._play(moves[0])
        shown = 0
        while len(moves) > 1 and len(self._sitting.turns) == turns:
            if shown < len(moves):
                page = enumerate(moves[shown : shown + PAGE], shown + 1)
                self._print(Text(f"  {i:>2}  ", "dim") + self._screen.move(move) for i, move in page)
                shown += PAGE
            more = ", Enter for more" if shown < len(moves) else ""
            answer = self._command(f"Move {_numbers(moves)}, b for another card{more}")
            if answer == "b" or len(self._sitting.turns) != turns:
                return
            if not answer:
                continue
            move = _numbered(moves, answer)
            if move is not None:
                self._play(move)
            elif answer.isdecimal():
                self._say(f"There is no move {answer[:9]}; valid: {_numbers(moves)}, b, or ? for help.")
            else:
                self._play_text(answer)

    def _play_text(self, text: str) -> None:
        """Play a move given as text, or say why it cannot be."""
        if not text or text == "b":
            return
        try:
            self._play(Move.parse(text))
        except CasinoError as error:
            self._say(f"{error} (? for help)")

    def _play(self, move: Move) -> None:
        self._news = [self._sitting.play(move)]
        with suppress(CasinoError):  # told when it is asked for, and at the end
            self._write()

    def _command(self, prompt: str) -> str:
        """The next answer that is no command; commands are carried out."""
        while True:
            turns = len(self._sitting.turns)
            answer = self._ask(f"{prompt}: ").strip()
            match answer:
                case "?":
                    self._console.print(HELP, markup=False, highlight=False)
                case "h":
                    self._hint()
                case "u":
                    self._undo()
                case "s":
                    self._save()
                case "q":
                    raise Quit
                case _:
                    return answer
            if len(self._sitting.turns) != turns:
                return ""

    def _hint(self) -> None:
        position = self._sitting.position
        if position.is_over:
            self._say("The deal is over.")
            return
        try:
            self._analyst = self._analyst or self._make_analyst()
        except CasinoError as error:
            self._say(f"No hint: {error}")
            return
        self._print([Text("The champion would:")])
        self._print(self._screen.insight(self._analyst.look(position)))

    def _make_analyst(self) -> "Analyst":
        from agents.insight import Analyst  # brings torch
        from agents.policy import PolicyAgent

        rules, players = self._sitting.rules, len(self._sitting.names)
        champion = make_agent(CHAMPION, rules, players)
        assert isinstance(champion, PolicyAgent)
        return Analyst(champion, rules, players)

    def _undo(self) -> None:
        try:
            self._sitting.undo()
        except CasinoError as error:
            self._say(f"{str(error).capitalize()}.")
            return
        self._news = []

    def _save(self) -> bool:
        """Save the match, and tell where or why not; returns whether it is saved."""
        try:
            self._write()
        except CasinoError as error:
            self._say(str(error))
            return False
        self._say(f"Saved: casino play --resume {shlex.quote(str(self._file))}")
        return True

    def _write(self) -> None:
        if not self._is_ours and self._file.exists():
            raise CasinoError(f"{self._file}: there is a file now that was not there")
        write_records(self._file.resolve(), [self._sitting.record().line])
        self._is_ours = True

    def _save_somewhere(self) -> None:
        """Save the match, to another file if it cannot be that one."""
        while not self._save():
            try:
                answer = self._ask("Another file, or Enter to leave it unsaved: ").strip()
            except EOFError:
                return
            if not answer:
                return
            if Path(answer).exists():
                self._say("There is such a file.")
            else:
                self._file, self._is_ours = Path(answer), False

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def _print(self, lines: Iterable[Text]) -> None:
        for line in lines:
            self._console.print(line, highlight=False)


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `casino play`."""
    add = parser.add_argument
    add(
        "--opponent",
        action="append",
        metavar="AGENT",
        help=f"who plays with you: once for all, or once for each in order of play (default: {CHAMPION}, or "
        f"{SUBSTITUTE} where there is none)",
    )
    add("--players", type=int, help="2, 3 or 4 (default: 2)")
    add("--rules", help=f"rule set: {', '.join(RULE_SETS)}, with overrides (default: royal)")
    add("--seat", type=int, help="yours; seat 0 deals first (default: 0)")
    add("--seed", type=int, metavar="S", help="of the cards and the agents (default: at random)")
    add("--save", type=Path, metavar="FILE", help="where the match is saved (default: casino-SEED.jsonl)")
    add("--resume", type=Path, metavar="FILE", help="go on with a saved match")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """`casino play`: make or load the match, and play."""
    sitting, file = _resumed(arguments) if arguments.resume else _started(arguments)
    with suppress(ImportError):
        import readline  # noqa: F401  (arrow keys at the questions)
    console = Console()
    console.print(f"Royal Casino ({sitting.rules}), seed {sitting.seed}.", highlight=False)
    Play(sitting, console, _read_line, file).run()


def _started(arguments: Namespace) -> tuple[Sitting, Path]:
    rules = Rules.parse(arguments.rules or RULE_SETS[0])
    players = check_players(2 if arguments.players is None else arguments.players, rules)
    seat = check_seat("seat", arguments.seat or 0, players)
    seed = SystemRandom().randrange(SEEDS) if arguments.seed is None else arguments.seed
    check_count("seed", seed, 0)
    file = _new_file(arguments.save or Path(f"casino-{seed}.jsonl"))
    others = _opponents(arguments.opponent, rules, players)
    order = [(seat + place) % players for place in range(1, players)]
    names = dict(zip(order, others, strict=True)) | {seat: YOU}
    return Sitting(rules, [names[place] for place in range(players)], seed), file


def _resumed(arguments: Namespace) -> tuple[Sitting, Path]:
    for name in ("players", "rules", "seat", "seed"):
        if getattr(arguments, name) is not None:
            raise CasinoError(f"--{name}: a resumed match has its own; valid with --resume: --save")
    games = list(read_records(arguments.resume))
    if len(games) != 1:
        raise CasinoError(f"{arguments.resume}: {len(games)} games; valid: the file of one saved match")
    for name in arguments.opponent or ():
        if name not in games[0].agents:
            raise CasinoError(f"--opponent {name}: not in the match; valid: {', '.join(games[0].agents)}")
    file = _new_file(arguments.save) if arguments.save else arguments.resume
    check_target(file, "--resume")
    try:
        return Sitting.resume(games[0], arguments.opponent or ()), file
    except CasinoError as error:
        raise CasinoError(f"{arguments.resume}: {error}") from None


def _new_file(file: Path) -> Path:
    """The file to save to, which is nothing else yet."""
    if file.exists():
        raise CasinoError(f"{file}: there is a file; valid: --resume to go on with it, or another --save")
    check_target(file, "--save")
    return file


def _opponents(given: Sequence[str] | None, rules: Rules, players: int) -> list[str]:
    """The others, in order of play after the person."""
    if not given:
        try:
            make_agent(CHAMPION, rules, players)
        except CasinoError:
            return [SUBSTITUTE] * (players - 1)
        return [CHAMPION] * (players - 1)
    if len(given) not in (1, players - 1):
        raise CasinoError(f"--opponent: {len(given)} given; valid: 1, or {players - 1} for {players} players")
    return list(given) * (players - 1 if len(given) == 1 else 1)


def _read_line(prompt: str) -> str:
    return input(prompt)


def _numbers(things: Sequence[object]) -> str:
    return f"1-{len(things)}" if len(things) > 1 else "1"


def _numbered(things: Sequence[Thing], answer: str) -> Thing | None:
    """The thing with the number that was answered, if there is one."""
    for number, thing in enumerate(things, 1):
        if answer == str(number):
            return thing
    return None


def _weight(move: Move) -> tuple[bool, bool, int]:
    """Captures first, larger ones before; then builds; a trail last."""
    return move.kind == "trail", move.value > 0, -move.loose.bit_count()


def _has_signs(console: Console) -> bool:
    """Whether the terminal can show the signs of suits."""
    try:
        "♣♦♥♠".encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
