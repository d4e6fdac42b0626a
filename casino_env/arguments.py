"""Checks of arguments that several modules take."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from casino_env.errors import CasinoError

LONGEST_QUOTE = 80  # characters


def is_count(value: Any) -> bool:
    """Whether the value is a whole number of 0 or more (a bool is none)."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def quoted(value: Any) -> str:
    """`repr` of what a user gave, for a message of one line: its beginning only, if it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def check_count(name: str, value: Any, lowest: int) -> int:
    """`value` as an int if it is a whole number of `lowest` or more, else CasinoError."""
    if not is_count(value) or value < lowest:
        raise CasinoError(f"{name}={quoted(value)} is not possible; valid: {lowest} or more")
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """`value` as a bool if it is one, else CasinoError."""
    if not isinstance(value, bool | np.bool_):
        raise CasinoError(f"{name}={quoted(value)} is not possible; valid: True, False")
    return bool(value)


def check_seed(seed: Any) -> int | None:
    """`seed` if it is a whole number of 0 or more, or None for a fresh one; else CasinoError."""
    seed = seed.item() if isinstance(seed, np.ndarray) and seed.ndim == 0 else seed
    if seed is not None and not is_count(seed):
        raise CasinoError(f"seed={quoted(seed)} is not possible; valid: a whole number of 0 or more, or None")
    return None if seed is None else int(seed)


def check_seeds(seeds: Any, games: int) -> list[int | None] | None:
    """A seed for each game if `seeds` is a list, tuple or array of them; None if it is something else.

    Raises CasinoError unless they are as many as `games`, each as `check_seed` wants it.
    """
    seeds = seeds.tolist() if isinstance(seeds, np.ndarray) else seeds
    if not isinstance(seeds, list | tuple):
        return None
    if len(seeds) != games:
        raise CasinoError(f"seed: {len(seeds)} given; valid: one, or {games} for as many games")
    return [check_seed(seed) for seed in seeds]


def indices_below(values: Any, counts: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The values as an index below each of `counts`, int64 as these, else None."""
    indices = whole_numbers(values, counts.shape)
    if indices is None or (indices < 0).any() or (indices >= counts).any():
        return None
    return indices


def whole_numbers(values: Any, shape: tuple[int, ...]) -> NDArray[np.int64] | None:
    """The values as an int64 array laid out row by row if they are whole numbers of this shape, else None."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different length
        return None
    if array.shape != shape or not np.issubdtype(array.dtype, np.integer):
        return None
    return np.ascontiguousarray(array, np.int64)
