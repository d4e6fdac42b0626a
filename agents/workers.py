"""Where work is done: in this process, in several, or on a cluster, through joblib.

The results come in the order of the calls, whoever does them.
"""

import logging
import os
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from casino_env.arguments import quoted
from casino_env.errors import CasinoError

LOCAL = "loky"  # joblib's own processes
BACKENDS = (LOCAL, "ray", "dask")
EXECUTORS = ("joblib", "ray", "distributed")  # packages whose own exceptions tell of a lost worker
EXTRA = "integrations"
ROUND = 4  # tasks of each job
THREAD_SECONDS = 5.0  # to wait at most for a thread of processes that are ended


@dataclass(frozen=True)
class Workers:
    """So many processes of a joblib backend; CasinoError if there is none such.

    `jobs` is -1 for as many as there are cores; None stands for 1, this process, or for all of a cluster.
    Dask gives work to all workers of a cluster, however many jobs there are.
    """

    jobs: int | None = None
    backend: str = LOCAL

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise CasinoError(f"backend={quoted(self.backend)} is unknown; valid: {', '.join(BACKENDS)}")
        jobs = self.processes
        if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < -1 or not jobs:
            raise CasinoError(
                f"jobs={quoted(self.jobs)} is not possible; valid: 1 or more, or -1 for all cores"
            )
        if self.jobs == 1 and self.backend != LOCAL:
            raise CasinoError(f"jobs=1 is this process; valid for backend '{self.backend}': 2 or more, or -1")

    @property
    def processes(self) -> int:
        """How many, or -1."""
        return self.jobs if self.jobs is not None else 1 if self.backend == LOCAL else -1

    def run(self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Generator[Any]:
        """The results of `function` for the arguments of each call, in order; closing it drops the rest."""
        tasks = (delayed(function)(*call) for call in calls)
        with self._cluster():
            try:
                yield from self._in_rounds(tasks) if self.backend == "ray" else self._streamed(tasks)
            except Exception as error:
                if type(error).__module__.partition(".")[0] not in EXECUTORS:
                    raise
                reason = f"a worker was lost ({type(error).__name__}): short of memory, or ended by a task"
                raise CasinoError(f"{reason}; what is stored is kept") from None

    def _streamed(self, tasks: Iterable[Any]) -> Generator[Any]:
        earlier = set(threading.enumerate())
        results = Parallel(n_jobs=self.processes, return_as="generator")(tasks)
        try:
            for result in results:  # noqa: UP028 (`yield from` would close them outside of what follows)
                yield result
        except BaseException:
            with warnings.catch_warnings():  # joblib's, of tasks that are dropped
                warnings.simplefilter("ignore", UserWarning)
                results.close()
            if self.backend == LOCAL:  # its tracker would warn of a lock that a thread removes at our exit
                for thread in set(threading.enumerate()) - earlier:
                    thread.join(THREAD_SECONDS)
            raise

    def _in_rounds(self, tasks: Iterator[Any]) -> Generator[Any]:
        """Where joblib cannot stream: its Ray backend builds on a pool that may lock up then."""
        with Parallel(n_jobs=self.processes) as parallel:
            size = ROUND * effective_n_jobs(self.processes)
            while tasks_of_round := list(islice(tasks, size)):
                yield from parallel(tasks_of_round)

    @contextmanager
    def _cluster(self) -> Generator[None]:
        """joblib set to the backend: on the cluster that the environment names, else on a local one."""
        if self.backend == LOCAL:
            yield
            return
        try:
            stop = _start_ray(self.processes) if self.backend == "ray" else _start_dask(self.processes)
        except (OSError, RuntimeError, ValueError) as error:  # no cluster at the address
            raise CasinoError(f"backend '{self.backend}' cannot be used: {error}") from None
        except ModuleNotFoundError as error:
            needs = f"needs {error.name}: pip install 'royal-casino-lab[{EXTRA}]'"
            raise CasinoError(f"backend '{self.backend}' {needs}") from None
        try:
            with parallel_config(backend=self.backend):
                yield
        finally:
            stop()


def _start_ray(jobs: int) -> Callable[[], None]:
    """Connect to the cluster of RAY_ADDRESS or one on this machine, or start one; returns how to leave it."""
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    if ray.is_initialized():
        return lambda: None
    start = partial(ray.init, logging_level=logging.ERROR, log_to_driver=False)
    try:
        start(address=os.environ.get("RAY_ADDRESS", "auto"))
    except ConnectionError:
        if "RAY_ADDRESS" in os.environ:
            raise
        start(address="local", num_cpus=None if jobs < 0 else jobs)
    return ray.shutdown


def _start_dask(jobs: int) -> Callable[[], None]:
    """Connect to the cluster of DASK_SCHEDULER_ADDRESS, or start one here; returns how to leave it."""
    from distributed import Client

    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    workers = {"n_workers": jobs if jobs > 0 else None, "threads_per_worker": 1}
    quiet = {"dashboard_address": None, "silence_logs": logging.ERROR}
    client = Client(address) if address else Client(**workers, **quiet)
    return client.close
