"""Where the time of a training run goes."""

from time import perf_counter

PARTS = ("engine", "features", "inference", "guests", "teacher", "learning", "rest")


class Stopwatch:
    """Gives time to parts: `lap` says what the time since the last lap was spent on."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._last = perf_counter()

    def lap(self, part: str) -> None:
        """KeyError for a part that is none of PARTS."""
        now = perf_counter()
        self.seconds[part] += now - self._last
        self._last = now

    def shares(self) -> dict[str, float]:
        """Each part's share of the time, as metrics."""
        total = sum(self.seconds.values())
        return {f"time/{part}": spent / total for part, spent in self.seconds.items()}
