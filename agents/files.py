"""Writing files so that nothing is ever half written: to a temporary name, then renamed."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from casino_env.errors import CasinoError


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call `write(temporary)` and rename the result to `path`; on failure `path` stays as it was.

    Raises CasinoError, naming the file, where the system cannot write it, as on a full disk.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise CasinoError(f"{path}: cannot be written ({error.strerror}); it is as it was before") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8."""
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def digest(*paths: Path) -> str:
    """What the files contain, in 16 characters."""
    content = sha256()
    for path in paths:
        content.update(sha256(path.read_bytes()).digest())
    return content.hexdigest()[:16]


def check_target(path: Path, option: str) -> Path:
    """The file that `path` stands for, if it can be written: found out before the work, not after it."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise CasinoError(f"{option} {path}: not a regular file")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            return target
    except OSError as error:
        reason = f"{error.strerror}; valid: a file that can be written"
        raise CasinoError(f"{option} {path}: {reason}") from None
