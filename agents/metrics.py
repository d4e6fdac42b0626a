"""What a run logs: every metric's name and meaning, and the writer of TensorBoard events and metrics.csv."""

import csv
import io
from pathlib import Path
from types import TracebackType

from torch.utils.tensorboard import SummaryWriter

from agents.files import write_text
from agents.registry import LADDER
from casino_env.errors import CasinoError
from casino_env.rules import ITEMS

_MARGINS = {
    name: meaning
    for rung in LADDER
    for name, meaning in (
        (f"margin/{rung}", f"points per deal above {rung} on all other sides, every deck from each side"),
        (f"margin/{rung}_low", "lower end of its 95 % interval"),
        (f"margin/{rung}_high", "upper end"),
        (
            f"match/{rung}",
            f"matches against {rung}: mean of +1 for one won, -1 lost (of three players -1/2)",
        ),
        (f"match/{rung}_low", "lower end of its 95 % interval"),
        (f"match/{rung}_high", "upper end"),
    )
}
_HANDS = {f"value/explained_hand_{hand}": f"the same in hand {hand} of the deal" for hand in range(1, 7)}
_ITEMS = {
    f"points/{item}": f"points per deal for {item} above the guests on all other sides, in deals with guests"
    for item in ITEMS
}

METRICS = {
    "loss/policy": "clipped surrogate loss of the actor, mean over the update's minibatches",
    "loss/value": "mean squared error of the critic, in points squared (of a match: in shares of it)",
    "loss/entropy": "mean entropy of the choices among two or more moves, in nats",
    "loss/kl": "mean divergence from the policy that collected to that after the update, in nats",
    "loss/clip_fraction": "share of choices whose probability ratio lies outside the clip range",
    "loss/magnet": "mean divergence from the current policy to the averaged one, in nats, if ppo.magnet",
    "loss/regret": "expected regret in solved last hands, in points, with its cross entropy, if ppo.solved",
    "loss/hand": "mean surprise at a card of another hand, in nats, if ppo.hand",
    "loss/actor_gradient": "length of the actor's gradient before it is cut to 1",
    "loss/critic_gradient": "length of the critic's",
    "schedule/learning_rate": "learning rate of the update",
    "schedule/entropy": "weight of the entropy bonus",
    "value/explained": "share of the returns' variance that the critic explained when collecting",
    **_HANDS,
    "entropy/near_certain": "share of the choices in which one move had more than 99 %",
    "entropy/moves_2": "mean entropy of choices among 2 moves, as a share of the most that it can be",
    "entropy/moves_3_4": "the same among 3 or 4",
    "entropy/moves_5_8": "the same among 5 to 8",
    "entropy/moves_9_up": "the same among 9 or more",
    "moves/trail": "share of the learner's moves that are trails",
    "moves/capture": "share that are captures",
    "moves/build": "share that make or add to a build",
    "moves/raise": "share that raise a build",
    "moves/own_build": "share that capture a build of the own side: builds kept",
    "moves/foreign_build": "share that capture another side's: in self-play, builds lost",
    "deals/sweep_points": "points for sweeps per deal, of all sides together",
    **_ITEMS,
    "league/margin_past": "points per deal above past selves, the prioritised ones of the rollout",
    "league/margin_ladder": "points per deal above the ladder's agents among the guests",
    "league/rating": "Elo rating of the learner among its guests; the untrained one had 0",
    "league/past_selves": "past selves in the pool",
    **_MARGINS,
    "regret/per_deal": "points per deal given away in the last hand (see casino regret)",
    "time/decisions_per_second": "decisions collected and learned per second, of all ranks together",
    "time/whole_run": "the same over the whole run so far, evaluating and saving included",
    "time/engine": "share of an update's time in the game: views, legal moves, steps, points",
    "time/features": "share in features of states and moves",
    "time/inference": "share in the networks' forward passes while collecting",
    "time/guests": "share in guests' choices",
    "time/teacher": "share in solving last hands",
    "time/learning": "share in gradient steps: forward, backward, optimiser",
    "time/rest": "share in sampling, gathering minibatches, advantages and bookkeeping",
}
OF_SEVERAL = """Of several processes, losses, the league, margins and regret are of all; shares of moves,
entropies, values, points and times are of the first one's rollout."""
COLUMNS = ["decisions", *METRICS]


class MetricsWriter:
    """Writes named numbers against the count of decisions to TensorBoard and to `metrics.csv`.

    `resume_at`: rows from that count on are dropped, so that a resumed run continues without a seam.
    """

    def __init__(self, folder: Path, resume_at: int | None = None) -> None:
        path = folder / "metrics.csv"
        self.set_aside: Path | None = None  # where a damaged metrics.csv went
        kept = [] if resume_at is None else self._rows_until(path, resume_at)
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
        try:
            csv.DictWriter(self._file, COLUMNS).writerow({"decisions": decisions, **values})
            self._file.flush()
        except OSError as error:
            raise CasinoError(f"{self._file.name}: cannot be written ({error.strerror})") from None

    def _rows_until(self, path: Path, resume_at: int) -> list[dict[str, str]]:
        """The rows of an earlier part of the run, up to where it continues; a torn last line is dropped.

        What is no such table is kept under another name: it is a log, and a run can go on without it.
        """
        if not path.exists():
            return []
        try:
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            if list(csv.reader(lines[:1])) != [COLUMNS]:
                raise ValueError("other columns")
            whole = [row for row in csv.reader(line for line in lines[1:] if line.endswith("\n"))]
            kept = [row for row in whole if len(row) == len(COLUMNS) and int(row[0]) <= resume_at]
            return [dict(zip(COLUMNS, row, strict=True)) for row in kept]
        except (OSError, ValueError, csv.Error):
            self.set_aside = path.with_name(f"{path.name}.{resume_at}.damaged")
            path.replace(self.set_aside)
            return []

    def describe(self, config: str) -> None:
        """Show the configuration and the metrics' meanings as text in TensorBoard."""
        self._board.add_text("config", f"```yaml\n{config}\n```")
        table = "\n".join(f"| {name} | {meaning} |" for name, meaning in METRICS.items())
        self._board.add_text("metrics", f"{OF_SEVERAL}\n\n| metric | meaning |\n|---|---|\n{table}")


def _csv_text(rows: list[dict[str, str]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
