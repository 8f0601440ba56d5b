"""Kill writers at any moment, and hold what they leave to what they had promised."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import attrs
from returns.result import Failure

from benchmarks.crash.places import KINDS, Place, doubled
from benchmarks.crash.processes import Child, WriterFailedError
from benchmarks.crash.writer import SESSION_ID, Promise, digests
from dsh_fp import Code, Rejected, Session, encode_log, read, unwrap

KILLS_OF_A_SESSION: Final = 12
LONGEST_LIFE_S: Final = 0.3
GOES_ON_S: Final = 60.0
"""How soon a second writer has to have gone on."""


@attrs.define
class Tally:
    """What was found after the kills of one kind."""

    kind: str
    kills: int = 0
    by_itself: int = 0  # at a chosen call or step; the others at a random moment
    promises: int = 0
    lost_events: int = 0
    doubled_seqs: int = 0
    unloadable: int = 0
    unsound: int = 0  # cannot be resumed or written, do not verify, change when resumed again
    stuck: int = 0  # second writers that did not go on
    notes: list[str] = attrs.field(factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost, doubled or damaged."""
        faults = (self.lost_events, self.doubled_seqs, self.unloadable, self.unsound, self.stuck)
        return not any(faults)


class Trial:
    """Sessions of one kind of storage, killed again and again."""

    def __init__(self, kind: str, *, has_second: bool, folder: Path, seed: int) -> None:
        self.tally = Tally(f"{kind}, two writers" if has_second else kind)
        self._kind = kind
        self._has_second = has_second
        self._folder = folder
        self._rng = random.Random(f"{seed} {kind} {has_second}")
        self._rounds = 0
        self._place: Place | None = None
        self._promises: list[Promise] = []

    def round(self) -> None:
        """Start writers, kill them, check after each."""
        if self._place is None or self._rounds % KILLS_OF_A_SESSION == 0:
            self._new_place()
        place = self._place
        assert place is not None
        self._rounds += 1
        first = self._start(place)
        second = self._start(place, may_die=False) if self._has_second else None
        first.listen(self._rng.random() ** 2 * LONGEST_LIFE_S)
        if second is not None:
            second.listen(0)
            self._promises += second.promises  # kept whoever dies
        self._kill(first, place)
        if second is not None:
            if not second.wait_for_promise(GOES_ON_S):
                self.tally.stuck += 1
                self.tally.notes.append("the second writer did not go on")
            second.listen(self._rng.random() ** 2 * LONGEST_LIFE_S)
            self._kill(second, place)
        self._check_resuming(place)

    def _new_place(self) -> None:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        self._place, self._promises = KINDS[self._kind](folder), []

    def _start(self, place: Place, *, may_die: bool = True) -> Child:
        dies = may_die and self._rng.random() < 0.5
        child = Child.start(place, self._rng.getrandbits(64), shares=self._has_second, dies=dies)
        if dies:
            self.tally.by_itself += 1
            child.listen(LONGEST_LIFE_S)
        return child

    def _kill(self, child: Child, place: Place) -> None:
        try:
            self.tally.kills += child.kill()
        except WriterFailedError as failed:
            self.tally.unsound += 1
            self.tally.notes.append(f"a writer failed by itself: {failed}")
        self._promises += child.promises
        self.tally.promises += len(child.promises)
        self._check_loading(place)

    def _check_loading(self, place: Place) -> None:
        """Load as it stands, perhaps while the second writer goes on."""
        tally = self.tally
        # A promise is kept by what is read after it, so reading comes last.
        loaded = place.backend().load(SESSION_ID)
        tally.doubled_seqs += doubled(place.seqs(SESSION_ID))
        if isinstance(loaded, Failure):
            if loaded.failure().code is not Code.SESSION_NOT_FOUND or self._promises:
                tally.unloadable += 1
                tally.notes.append(str(loaded.failure()))
            return
        self._check_promises(loaded.unwrap().session)

    def _check_promises(self, session: Session) -> None:
        told = digests(session.events)
        broken = [promise for promise in self._promises if not promise.is_kept_by(told)]
        for promise in broken:
            kept = len(told[promise.start : promise.stop])
            self.tally.lost_events += max(1, promise.stop - promise.start - kept)
            self.tally.notes.append(f"{promise} is not kept by {session}")
        if self._promises and not broken:  # one that says as much is looked at sooner
            stop = max(promise.stop for promise in self._promises)
            self._promises = [Promise.of(told, 0, stop)]

    def _check_resuming(self, place: Place) -> None:
        """Resume, which has to leave a sound log, and resuming again the same log."""
        tally = self.tally
        try:
            stored, writer = place.backend().resume(SESSION_ID)
            writer.close()
            content = encode_log(stored.session.header, stored.session.events)
            again, writer = place.backend().resume(SESSION_ID)
            writer.close()
        except Rejected as refused:
            if refused.rejection.code is not Code.SESSION_NOT_FOUND or self._promises:
                tally.unsound += 1
                tally.notes.append(str(refused))
            return
        self._check_promises(stored.session)
        seqs = list(place.seqs(SESSION_ID))
        findings = [found for found in unwrap(read(content)).findings if found.severity != "note"]
        if findings or not again.is_whole or seqs != list(range(len(stored.session))):
            tally.unsound += 1
            tally.notes.append(f"resumed: {findings[:3]}, {again}, seqs {seqs[-3:]}")


def trials(folder: Path, seed: int) -> list[Trial]:
    """One trial of each kind, with and without a second writer."""
    return [
        Trial(kind, has_second=has_second, folder=folder, seed=seed)
        for kind in KINDS
        for has_second in (False, True)
    ]


def run(kills: int, seed: int, told: Callable[[str], None]) -> list[Tally]:
    """Kill at least so many writers, as many of each kind; what was found."""
    began_s = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="crash-"))
    try:
        running = trials(folder, seed)
        share = -(-kills // len(running))
        for trial in running:
            while trial.tally.kills < share:
                trial.round()
            told(f"{trial.tally.kind}: {trial.tally.kills} kills")
        told(f"{time.monotonic() - began_s:.0f} s")
        return [trial.tally for trial in running]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def table(tallies: list[Tally]) -> Iterator[str]:
    """The counts as lines of text."""
    rows = {
        "kills": [tally.kills for tally in tallies],
        "set to die at a chosen call": [tally.by_itself for tally in tallies],
        "promises checked": [tally.promises for tally in tallies],
        "lost flushed events": [tally.lost_events for tally in tallies],
        "duplicate seqs": [tally.doubled_seqs for tally in tallies],
        "unloadable logs": [tally.unloadable for tally in tallies],
        "unsound after resuming": [tally.unsound for tally in tallies],
        "second writers stuck": [tally.stuck for tally in tallies],
    }
    heads = [tally.kind for tally in tallies]
    wide = max(map(len, rows))
    yield " ".join([" " * wide, *(f"{head:>20}" for head in heads), f"{'all':>8}"])
    for name, counts in rows.items():
        cells = [f"{count:>20,}" for count in counts]
        yield " ".join([f"{name:<{wide}}", *cells, f"{sum(counts):>8,}"])


def verdict(tallies: list[Tally]) -> str:
    """The closing line."""
    kills = sum(tally.kills for tally in tallies)
    lost = sum(tally.lost_events for tally in tallies)
    doubled_seqs = sum(tally.doubled_seqs for tally in tallies)
    unloadable = sum(tally.unloadable + tally.unsound for tally in tallies)
    return (
        f"{kills:,} kills: {lost} lost flushed events, {doubled_seqs} duplicate seqs,"
        f" {unloadable} unloadable logs"
    )
