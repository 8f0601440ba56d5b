"""Two processes that append to one session, each whenever it can get it."""

from __future__ import annotations

import mmap
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

import attrs

from benchmarks.crash.places import KINDS, Place, doubled
from benchmarks.crash.processes import Child, WriterFailedError
from benchmarks.crash.writer import SESSION_ID, digests
from dsh_fp import Rejected, encode_log, read, unwrap

THIEF_PAUSE_S: Final = 0.002
LONGEST_WAIT_S: Final = 120.0
"""How long a writer may have to wait for its first turn on a slow machine."""


@attrs.frozen
class Shared:
    """What two writers left behind."""

    kind: str
    events: int
    promises: tuple[int, int]  # of each writer
    lost_events: int
    doubled_seqs: int
    findings: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """Whether both wrote and the log holds all of it, once and soundly."""
        faults = (self.lost_events, self.doubled_seqs, len(self.findings))
        return min(self.promises) > 0 and not any(faults)

    def __str__(self) -> str:
        first, second = self.promises
        verdict = "verifies" if not self.findings else f"has findings: {self.findings[0]}"
        return (
            f"{self.kind}: {self.events:,} events by two writers ({first:,} and {second:,}"
            f" flushes), {self.lost_events} lost, {self.doubled_seqs} duplicate seqs;"
            f" the log {verdict}"
        )


def share(kind: str, seconds: float, seed: int, *, steals: bool = False) -> Shared:
    """Let two processes append to one session for so many seconds.

    With `steals` a third one takes their lock files away all the time.
    """
    folder = Path(tempfile.mkdtemp(prefix="shared-"))
    try:
        place = KINDS[kind](folder)
        with _thief(place) if steals else nullcontext():
            children, failures = _write(place, seconds, random.Random(f"{seed} {kind}"))
        kind = f"{kind}, locks stolen" if steals else kind
        return _looked_at(place, kind, children, failures)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(place: Place, seconds: float, rng: random.Random) -> tuple[list[Child], list[str]]:
    """Two writers that have ended, and what they failed with, if anything."""
    over = mmap.mmap(-1, 1)  # seen by all
    children = [
        Child.start(
            place, rng.getrandbits(64), shares=True, dies=False, is_over=lambda: over[0] != 0
        )
        for _ in range(2)
    ]
    _listen(children, seconds)
    over[0] = 1
    while [child for child in children if child.listen(0.01)]:
        pass
    return children, [failure for child in children for failure in _failure_of(child)]


def _listen(children: list[Child], seconds: float) -> None:
    """So long, and as long as one of them never had its turn, but not for ever."""
    began = time.monotonic()
    while time.monotonic() < began + seconds + LONGEST_WAIT_S:
        running = [child.listen(0.01) for child in children]
        is_early = time.monotonic() < began + seconds
        if not any(running) or not (is_early or [one for one in children if not one.promises]):
            return


def _failure_of(child: Child) -> list[str]:
    try:
        status = child.end()
    except WriterFailedError as failed:
        return [f"a writer failed by itself: {failed}"]
    return [f"a writer ended with {status}"] if status else []


def _looked_at(place: Place, kind: str, children: list[Child], failures: list[str]) -> Shared:
    doubled_seqs, findings = doubled(place.seqs(SESSION_ID)), tuple[str, ...]()
    lost, events = 0, 0
    try:
        stored, writer = place.backend().resume(SESSION_ID)
        writer.close()
        session = stored.session
        events = len(session)
        log = unwrap(read(encode_log(session.header, session.events)))
        findings = tuple(str(found) for found in log.findings if found.severity != "note")
        told = digests(session.events)
        for promise in [promise for child in children for promise in child.promises]:
            if not promise.is_kept_by(told):
                kept = len(told[promise.start : promise.stop])
                lost += max(1, promise.stop - promise.start - kept)
    except Rejected as refused:
        findings = (str(refused),)
    first, second = (len(child.promises) for child in children)
    return Shared(kind, events, (first, second), lost, doubled_seqs, (*findings, *failures))


@contextmanager
def _thief(place: Place) -> Generator[None]:
    """A process that deletes lock files meanwhile."""
    parent = os.getpid()
    pid = os.fork()
    if not pid:
        try:
            while os.getppid() == parent:
                for lock in place.locks():
                    with suppress(FileNotFoundError):
                        lock.unlink()
                time.sleep(THIEF_PAUSE_S)
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
