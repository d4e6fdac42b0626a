"""Checks of arguments that several modules take."""

from typing import Any

import numpy as np

from casino_env.errors import CasinoError


def is_count(value: Any) -> bool:
    """Whether the value is a whole number of 0 or more (a bool is none)."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def check_count(name: str, value: Any, lowest: int) -> int:
    """`value` as an int if it is a whole number of `lowest` or more, else CasinoError."""
    if not is_count(value) or value < lowest:
        raise CasinoError(f"{name}={value!r} is not possible; valid: {lowest} or more")
    return int(value)


def check_seed(seed: Any) -> int | None:
    """`seed` if it is a whole number of 0 or more, or None for a fresh one; else CasinoError."""
    if seed is not None and not is_count(seed):
        raise CasinoError(f"seed={seed!r} is not possible; valid: a whole number of 0 or more, or None")
    return None if seed is None else int(seed)
