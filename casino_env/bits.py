"""Counting and scanning of 52-bit card sets held in an int64 (bit i = card id i).

int64 on purpose: mixing uint64 with int64 makes numba compute in float64.
"""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from casino_env.jit import JIT_DISABLED, kernel


@intrinsic
def _count_ones(typing_context: Any, cards: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), code


@intrinsic
def _trailing_zeros(typing_context: Any, cards: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), code


if JIT_DISABLED:

    def popcount(cards: int) -> int:
        """Number of cards in the set."""
        return int(cards).bit_count()

    def lowest(cards: int) -> int:
        """Id of the lowest card of a non-empty set."""
        return (int(cards) & -int(cards)).bit_length() - 1

else:

    @kernel
    def popcount(cards: int) -> int:
        """Number of cards in the set."""
        return _count_ones(cards)  # type: ignore[call-arg]

    @kernel
    def lowest(cards: int) -> int:
        """Id of the lowest card of a non-empty set."""
        return _trailing_zeros(cards)  # type: ignore[call-arg]
