"""The one place that sets compiler options, lends arrays to kernels and decides where compiled ones are kept.

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
import numba.core
from numba.extending import intrinsic, register_jitable

core: Any = numba.core  # has no types for checkers

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,  # calls between kernels would pass every array as seven numbers
    "no_cfunc_wrapper": True,  # never called from C: saves compiling
}

JIT_DISABLED = bool(core.config.DISABLE_JIT)
HERE = Path(__file__).resolve().parent


def kernel(function: F) -> F:
    """Compile `function` in nopython mode and cache the machine code; the type is kept for checkers."""
    previous = core.config.CACHE_DIR
    core.config.CACHE_DIR = str(_cache_folder(Path(function.__code__.co_filename).resolve().parent))
    try:
        return cast(F, numba.njit(**OPTIONS, cache=True)(function))
    finally:
        core.config.CACHE_DIR = previous


def inner_kernel(function: F) -> F:
    """Compile `function` into the kernels that call it; called from Python, it runs as Python.

    It has no wrapper for Python, whose compiling would take as long as the rest.
    """
    return register_jitable(**OPTIONS)(function)


if JIT_DISABLED:

    def borrow(arrays: T) -> T:
        """The arrays themselves."""
        return arrays

else:

    @intrinsic
    def borrow(typing_context: Any, arrays: Any) -> Any:
        """The same array, or named tuple of arrays and numbers, without an owner to count references for.

        Numba counts a reference to every array that a kernel passes to another, at several times the cost
        of playing a turn. A kernel that loops over games borrows its arguments first: the caller keeps
        them alive. What is borrowed must not be returned.
        """

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _without_owner(context, builder, arrays, args[0])

        return arrays(arrays), code


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The value of a numba type with no owner noted in any array."""
    if isinstance(kind, core.types.Array):
        array = core.cgutils.create_struct_proxy(kind)(context, builder, value=value)
        array.meminfo = core.cgutils.get_null_value(array.meminfo.type)
        return array._getvalue()
    if isinstance(kind, core.types.BaseTuple):
        parts = zip(kind, core.cgutils.unpack_tuple(builder, value), strict=True)
        return context.make_tuple(builder, kind, [_without_owner(context, builder, *part) for part in parts])
    return value


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
