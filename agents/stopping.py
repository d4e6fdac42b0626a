"""Leaving a long run cleanly: the first Ctrl-C or SIGTERM asks it to stop at the next safe point."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Whether a signal has asked the run to stop."""

    def __init__(self) -> None:
        self.is_set = False

    def set(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal; a second one interrupts at once."""
        if self.is_set:
            raise KeyboardInterrupt
        self.is_set = True


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """Watch for the signals within the block; afterwards they do what they did before."""
    request = StopRequest()
    earlier = {number: signal.signal(number, request.set) for number in SIGNALS}
    try:
        yield request
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
