"""What a run logs: every metric's name and meaning, and the writer of TensorBoard events and metrics.csv."""

import csv
import io
from pathlib import Path
from types import TracebackType

from torch.utils.tensorboard import SummaryWriter

from agents.files import write_text

METRICS = {
    "loss/policy": "clipped surrogate loss of the actor, mean over the update's minibatches",
    "loss/value": "mean squared error of the critic, in points squared",
    "loss/entropy": "mean entropy of the choices among two or more moves, in nats",
    "loss/kl": "estimated KL divergence from the policy that collected to the current one, in nats",
    "loss/clip_fraction": "share of choices whose probability ratio lies outside the clip range",
    "loss/explained_variance": "share of the returns' variance that the critic explained when collecting",
    "loss/learning_rate": "learning rate of the update",
    "moves/trail": "share of all moves in self-play that are trails",
    "moves/capture": "share that are captures",
    "moves/build": "share that make or add to a build",
    "moves/raise": "share that raise a build",
    "margin/random": "points per deal above the agent random, every deck played in all seat rotations",
    "margin/greedy": "points per deal above the agent greedy, every deck played in all seat rotations",
    "time/decisions_per_second": "decisions collected and learned per second of collecting and learning",
}
COLUMNS = ["decisions", *METRICS]
MOVE_KINDS = ("moves/trail", "moves/capture", "moves/build", "moves/raise")


class MetricsWriter:
    """Writes named numbers against the count of decisions to TensorBoard and to `metrics.csv`.

    `resume_at`: rows from that count on are dropped, so that a resumed run continues without a seam.
    """

    def __init__(self, folder: Path, resume_at: int | None = None) -> None:
        path = folder / "metrics.csv"
        kept = [] if resume_at is None else _rows_until(path, resume_at)
        write_text(path, _csv_text(kept))
        purge = None if resume_at is None else resume_at + 1
        self._board = SummaryWriter(str(folder), purge_step=purge)
        self._file = path.open("a", newline="", encoding="utf-8")

    def __enter__(self) -> "MetricsWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._board.close()
        self._file.close()

    def write(self, decisions: int, values: dict[str, float]) -> None:
        """Log values; KeyError for a name that METRICS does not explain."""
        for name in values:
            if name not in METRICS:
                raise KeyError(f"metric '{name}' is not explained in agents.metrics.METRICS")
        for name, value in values.items():
            self._board.add_scalar(name, value, decisions)
        csv.DictWriter(self._file, COLUMNS).writerow({"decisions": decisions, **values})
        self._file.flush()

    def describe(self, config: str) -> None:
        """Show the configuration and the metrics' meanings as text in TensorBoard."""
        self._board.add_text("config", f"```yaml\n{config}\n```")
        table = "\n".join(f"| {name} | {meaning} |" for name, meaning in METRICS.items())
        self._board.add_text("metrics", f"| metric | meaning |\n|---|---|\n{table}")


def _csv_text(rows: list[dict[str, str]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rows_until(path: Path, resume_at: int) -> list[dict[str, str]]:
    """The rows of an earlier part of the run, up to where it continues; a torn last line is dropped."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = [{name: row.get(name) or "" for name in COLUMNS} for row in csv.DictReader(file)]
    return [row for row in rows if row["decisions"].isdigit() and int(row["decisions"]) <= resume_at]
