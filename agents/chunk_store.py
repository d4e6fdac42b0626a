"""Chunks of a competition that are done, kept in a file, so that an interrupted one goes on.

The file is an SQLite database: a chunk is in it whole or not at all, whatever interrupts the writing.
Nothing in it is executed when it is read.
"""

import json
import sqlite3
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.contestant import Pace
from agents.matchup import Played
from casino_env.errors import CasinoError

KIND = 0x43415349  # the database's application_id: "CASI"
TABLES = """
    CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS chunks (
        first TEXT, second TEXT, chunk INTEGER, size INTEGER, arrays BLOB NOT NULL, rest TEXT NOT NULL,
        PRIMARY KEY (first, second, chunk, size)
    );
"""


class ChunkKey(NamedTuple):
    """What a chunk depends on beside the setting."""

    first: str  # the two agents, with a digest of the files they come from
    second: str
    chunk: int
    size: int  # decks


class ChunkStore:
    """The chunks of one setting, a mapping of names to texts.

    Raises CasinoError, naming the file, if it is no such store, is damaged or is one of another setting.
    `saved` counts the decks that were added to it.
    """

    def __init__(self, path: Path, setting: Mapping[str, str]) -> None:
        self._path, self.saved = path, 0
        try:
            self._base = sqlite3.connect(path)
            self._check_kind()
            self._base.executescript(TABLES)
            if not self._base.execute("SELECT 1 FROM setting").fetchone():
                with self._base:
                    self._base.executemany("INSERT INTO setting VALUES (?, ?)", setting.items())
            kept = dict(self._base.execute("SELECT name, value FROM setting"))
        except sqlite3.Error as error:
            raise CasinoError(f"{path}: cannot be used as a store of chunks ({error})") from None
        for name, value in setting.items():
            if kept.get(name) != value:
                reason = f"{name} was {kept.get(name)}, is {value}"
                raise CasinoError(f"{path}: of another competition: {reason}; valid: a new file")

    def _check_kind(self) -> None:
        """Mark a new database as a store; sqlite3.Error if it is a database of something else."""
        kind = self._base.execute("PRAGMA application_id").fetchone()[0]
        if kind != KIND and self._base.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise sqlite3.DatabaseError("it is the database of something else")
        self._base.execute(f"PRAGMA application_id = {KIND}")

    def load(self, key: ChunkKey, shape: tuple[int, int, int]) -> Played | None:
        """The chunk if it is there, with rewards of this shape."""
        query = "SELECT arrays, rest FROM chunks WHERE first = ? AND second = ? AND chunk = ? AND size = ?"
        try:
            row = self._base.execute(query, key).fetchone()
            played = _read(*row) if row else None
        except Exception as error:  # damage can come to light in any of the libraries
            raise CasinoError(f"{self._path}: damaged: {error}; valid: a new file") from None
        if played and (played.rewards.shape != shape or played.failed.shape != shape[:2]):
            raise CasinoError(f"{self._path}: damaged: a chunk of another shape; valid: a new file")
        return played

    def save(self, key: ChunkKey, played: Played) -> None:
        """Keep a chunk; it is on the disk when this returns."""
        try:
            with self._base:
                insert = "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?)"
                self._base.execute(insert, key + _text(played))
        except sqlite3.Error as error:
            raise CasinoError(f"{self._path}: cannot be written ({error})") from None
        self.saved += key.size

    def close(self) -> None:
        """Close the file."""
        self._base.close()


def _text(played: Played) -> tuple[bytes, str]:
    """A chunk as the last two columns."""
    arrays = BytesIO()
    np.savez_compressed(arrays, rewards=played.rewards, failed=played.failed)
    rest = {"reasons": played.reasons, "paces": played.paces, "cut_lists": played.cut_lists}
    return arrays.getvalue(), json.dumps(rest)


def _read(content: bytes, rest: str) -> Played:
    told = json.loads(rest)
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        return Played(
            rewards=np.asarray(arrays["rewards"], np.float64),
            failed=np.asarray(arrays["failed"], np.int64),
            reasons=tuple(map(str, told["reasons"])),
            paces=tuple(Pace(*pace) for pace in told["paces"]),
            cut_lists=int(told["cut_lists"]),
        )
