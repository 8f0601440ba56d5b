"""Seconds and bytes: how a job is timed, and what a fresh process needs.

A time is the least of several runs: what disturbs a run only ever adds to it. Jobs that are
compared take turns, so that a machine that slows down slows both. The garbage collector is on,
as it is for a user, and each run begins after a full collection.
"""

import gc
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]

Job = Callable[[], object]


def best_seconds(jobs: Mapping[str, Job], repeats: int) -> dict[str, float]:
    """The least seconds of each job; freeing what a job returns is not counted."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(repeats):
        for name, job in jobs.items():
            best[name] = min(best[name], _seconds(job))
    return best


def _seconds(job: Job) -> float:
    gc.collect()
    start = perf_counter()
    kept = job()
    seconds = perf_counter() - start
    del kept
    return seconds


def collect_seconds(repeats: int) -> float:
    """The least seconds of a full collection of this process as it stands."""
    gc.collect()
    best = float("inf")
    for _ in range(repeats):
        start = perf_counter()
        gc.collect()
        best = min(best, perf_counter() - start)
    return best


def import_seconds(statements: Mapping[str, str], repeats: int) -> dict[str, float]:
    """The least seconds of each statement in a fresh process, its start-up not counted."""
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(repeats):
        for name, statement in statements.items():
            program = (
                "from time import perf_counter; start = perf_counter(); "
                f"{statement}; print(perf_counter() - start)"
            )
            best[name] = min(best[name], float(_run("-c", program)))
    return best


def peak_bytes(job: str, *arguments: str) -> int:
    """The most memory a fresh process held while it did one job of benchmarks.peak."""
    return int(_run("-m", "benchmarks.peak", job, *arguments))


def _run(*arguments: str) -> str:
    command = (sys.executable, *arguments)
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout
