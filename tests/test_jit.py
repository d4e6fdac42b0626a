"""Compiler options that could go wrong without a word: arrays lent to kernels, kernels called from Python."""

import sys
from typing import NamedTuple

import numpy as np
import pytest

from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.state import IntArray

pytestmark = pytest.mark.jitless


class Shelf(NamedTuple):
    """Arrays and a number, as the kernels pass them."""

    low: IntArray
    high: IntArray
    step: int


@inner_kernel
def _raise_one(shelf: Shelf, i: int) -> int:
    if shelf.low[i] > shelf.high[i]:
        return 0
    shelf.low[i] += shelf.step
    return 1


@kernel
def _raise_all(shelf: Shelf, rows: IntArray) -> int:
    shelf, rows = borrow(shelf), borrow(rows)
    raised = 0
    for i in range(rows.shape[0]):
        raised += _raise_one(shelf, i)
        row = rows[i]  # a view of what is borrowed
        row[0] = raised
    return raised


def test_borrowed_arrays_are_the_caller_s() -> None:
    shelf = Shelf(np.arange(4), np.array([0, 0, 9, 9]), 10)
    rows = np.zeros((4, 2), np.int64)
    counts = [sys.getrefcount(array) for array in (shelf.low, shelf.high, rows)]
    assert _raise_all(shelf, rows) == 3
    assert shelf.low.tolist() == [10, 1, 12, 13]
    assert rows.tolist() == [[1, 0], [1, 0], [2, 0], [3, 0]]
    for _ in range(100):
        _raise_all(shelf, rows)
    assert [sys.getrefcount(array) for array in (shelf.low, shelf.high, rows)] == counts


def test_an_inner_kernel_can_be_called_from_python() -> None:
    shelf = Shelf(np.zeros(1, np.int64), np.zeros(1, np.int64), 5)
    assert _raise_one(shelf, 0) == 1
    assert shelf.low[0] == 5
