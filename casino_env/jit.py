"""The one place that sets compiler options and decides where compiled kernels are kept.

A kernel's cache folder carries a hash of every source file that can reach it (this package and the
kernel's own folder): numba itself only watches the file a kernel stands in, so that a kernel that calls
an edited one from another file would silently stay stale.
"""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config as numba_config

config: Any = numba_config  # its settings are made at run time

F = TypeVar("F", bound=Callable[..., object])

OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,  # calls between kernels would count references to every array passed
    "no_cfunc_wrapper": True,  # never called from C: saves compiling
}

JIT_DISABLED = bool(config.DISABLE_JIT)
HERE = Path(__file__).resolve().parent


def kernel(function: F) -> F:
    """Compile `function` in nopython mode and cache the machine code; the type is kept for checkers."""
    previous = config.CACHE_DIR
    config.CACHE_DIR = str(_cache_folder(Path(function.__code__.co_filename).resolve().parent))
    try:
        return cast(F, numba.njit(**OPTIONS)(function))
    finally:
        config.CACHE_DIR = previous


@cache
def _cache_folder(folder: Path) -> Path:
    digest = hashlib.sha256()
    for source in sorted({*HERE.glob("*.py"), *folder.glob("*.py")}):
        digest.update(source.read_bytes())
    return _writable_base() / f"kernels-{digest.hexdigest()[:16]}"


def _writable_base() -> Path:
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    beside = HERE / "__pycache__"
    if os.access(beside if beside.exists() else HERE, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "casino_env"
