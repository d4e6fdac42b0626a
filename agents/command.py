"""What the command lines of this project share: errors of one line, and exit statuses.

A module with a command fills a `CommandParser` and sets its default `run`, a function of the arguments.
"""

import argparse
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from casino_env.errors import CasinoError

OK, USER_ERROR, INTERRUPTED = 0, 2, 130
PIPE_CLOSED = 141  # as a shell reports a program that SIGPIPE ended


class CommandParser(argparse.ArgumentParser):
    """An argument parser that raises CasinoError, and shows texts as they are written."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        as_written = argparse.RawDescriptionHelpFormatter
        super().__init__(*args, **{"formatter_class": as_written, "allow_abbrev": False, **kwargs})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, which takes `--sprt -1,1` for two options: a value may begin with a minus sign."""
        joined: list[str] = []
        for word in sys.argv[1:] if args is None else args:
            if joined and re.fullmatch("--[a-z-]+", joined[-1]) and re.match("-[0-9.]", word):
                joined[-1] += f"={word}"
            else:
                joined.append(word)
        return super().parse_known_args(joined, namespace)

    def error(self, message: str) -> NoReturn:
        """Where argparse prints the usage and a line, one line."""
        raise CasinoError(f"{message} (see {self.prog} --help)")


def run_command(parser: CommandParser, argv: Sequence[str] | None) -> int:
    """Parse `argv` (default: the program's) and run what it asks for; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a ± where the terminal has only ASCII
    try:
        arguments = parser.parse_args(argv)
        with _terminated_as_interrupted():
            arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # `casino … | head`: the rest of the output goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (CasinoError, OSError) as error:
        print(f"{parser.prog.split()[0]}:", " ".join(str(error).splitlines()), file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    return OK


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, so that processes and files are left in order."""
    if current_thread() is not main_thread():  # where Python takes no signals
        yield
        return
    earlier = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def progress_bar(unit: str, quiet: bool) -> Progress:
    """What is done and the time left, on the terminal if there is one, and gone when done."""
    console = Console(stderr=True)
    columns = TextColumn(unit), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
