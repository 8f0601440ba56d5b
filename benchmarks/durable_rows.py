"""The rows of live sessions and stored logs: what keeping them costs over doing it by hand."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

import dsh_fp
from benchmarks.files import sessions_root
from benchmarks.jobs import UnfitLogError, str_lines
from benchmarks.measure import Job, best_seconds, peak_bytes
from benchmarks.plan import Plan, in_mb, in_ms, in_us
from benchmarks.profiles import CHATTY
from benchmarks.table import Row
from dsh_fp.storage.files import Files

BATCH: Final = 100
APPENDS: Final = 5_000
LISTED: Final = 10_000
LISTED_EVENTS: Final = 4
IDLE: Final = 1_000
IDLE_EVENTS: Final = 200


class Unsynced(Files):
    """Files that nobody waits for."""

    def fsync(self, descriptor: int) -> None:
        """Nothing."""


def durable_rows(plan: Plan) -> Iterator[Row]:
    """Every row of live sessions and stored logs."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    yield from storing_rows(plan)
    yield from live_rows(plan)
    yield from listing_rows(plan)
    yield from idle_rows(plan)


def in_batches(items: Sequence[Any]) -> list[Sequence[Any]]:
    """The items in order, so many at once."""
    return [items[start : start + BATCH] for start in range(0, len(items), BATCH)]


def write_by_hand(
    path: Path, header: bytes, batches: Sequence[Sequence[object]], sync: Callable[[int], None]
) -> None:
    """What a program does that trusts its luck: dumps, write, fsync."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    with path.open("xb", buffering=0) as file:
        file.write(header)
        for batch in batches:
            file.write("".join([f"{encode(wire)}\n" for wire in batch]).encode())
            sync(file.fileno())


def write_ready(path: Path, batches: Sequence[bytes], sync: Callable[[int], None]) -> None:
    """The same bytes as they are, so that little more than the syncs is left."""
    with path.open("xb", buffering=0) as file:
        for batch in batches:
            file.write(batch)
            sync(file.fileno())


def store(
    root: Path,
    header: dsh_fp.SessionHeader,
    batches: Sequence[Sequence[dsh_fp.Event]],
    files: Files,
) -> Path:
    """Store a session in batches; where it is."""
    writer = dsh_fp.JsonlBackend(root, files=files).create(header)
    for batch in batches:
        writer.write(batch)
    writer.close()
    return Path(writer.path)


def storing_rows(plan: Plan) -> Iterator[Row]:
    """Accepted events stored in batches, over dumping and writing them by hand."""
    path = plan.path(plan.events)
    header_line, *lines = str_lines(path)
    first = f"{header_line}\n".encode()
    wires = [json.loads(line) for line in lines]
    made = dsh_fp.Session.replay(wires, json.loads(header_line)).unwrap()
    read = dsh_fp.read(path).unwrap().session
    by_hand = in_batches(wires)
    ready = ["".join(f"{line}\n" for line in batch).encode() for batch in in_batches(lines)]
    accepted, as_read = in_batches(made.events), in_batches(read.events)
    synced, unsynced = Files(), Unsynced()
    with tempfile.TemporaryDirectory(dir=plan.folder) as name:
        fresh = (Path(name) / str(number) for number in count())

        def storing(batches: Sequence[Sequence[dsh_fp.Event]], files: Files) -> Job:
            return lambda: store(next(fresh), made.header, batches, files)

        def writing(files: Files) -> Job:
            return lambda: write_by_hand(next(fresh), first, by_hand, files.fsync)

        write_by_hand(hand := next(fresh), first, by_hand, unsynced.fsync)
        check_same_bytes(store(next(fresh), made.header, accepted, unsynced), hand)
        repeats = max(3, plan.repeats // 2)
        seconds = best_seconds(
            {
                "stored": storing(accepted, synced),
                "by hand": writing(synced),
                "fsync": lambda: write_ready(next(fresh), ready, synced.fsync),
            },
            repeats,
        )
        plain = best_seconds(
            {
                "stored": storing(accepted, unsynced),
                "as read": storing(as_read, unsynced),
                "by hand": writing(unsynced),
            },
            repeats,
        )
    per_sync = in_us(seconds["fsync"] / len(ready))
    yield Row(
        f"store {plan.events:,} accepted events, an fsync every {BATCH}, over dumps and by hand",
        seconds["stored"] / seconds["by hand"],
        "times",
        limit=2.0,
        seen=f"{in_ms(seconds['stored'])} over {in_ms(seconds['by hand'])}",
    )
    yield Row(
        "of which by hand: the fsyncs, their bytes ready made",
        seconds["fsync"] / seconds["by hand"],
        "times",
        seen=f"{in_ms(seconds['fsync'])}; {len(ready):,} of {per_sync} each",
    )
    yield Row(
        "store them without any fsync, over dumps and by hand without",
        plain["stored"] / plain["by hand"],
        "times",
        seen=f"{in_ms(plain['stored'])} over {in_ms(plain['by hand'])}",
    )
    yield Row(
        "the same, the events read from a log",
        plain["as read"] / plain["by hand"],
        "times",
        seen=in_ms(plain["as read"]),
    )


def check_same_bytes(stored: Path, by_hand: Path) -> None:
    """Raise UnfitLogError unless both ways of writing left the same file."""
    if stored.read_bytes() != by_hand.read_bytes():
        raise UnfitLogError("a stored log and one written by hand differ")


def live_rows(plan: Plan) -> Iterator[Row]:
    """Appends to a live session that grows, over those to a plain one that does."""
    chunks = [
        {"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": f"word {n} "}}
        for n in range(APPENDS)
    ]

    def observe(live: dsh_fp.LiveSession, event: dsh_fp.Event) -> None:
        pass

    def plain() -> object:
        session = dsh_fp.Session.create().unwrap()
        for chunk in chunks:
            session = session.append("assistant/chunk", chunk, time=1).unwrap()
        return session

    def grow(store: dsh_fp.SessionStore) -> object:
        live = store.create("session")
        for chunk in chunks:
            live.append("assistant/chunk", chunk, time=1)
        return live

    def observed() -> object:
        store = dsh_fp.SessionStore()
        store.on("event", observe)
        return grow(store)

    def recorded() -> object:
        store = dsh_fp.SessionStore()
        recorder = dsh_fp.Recorder(store, dsh_fp.MemoryBackend())
        return recorder, grow(store)

    jobs: dict[str, Job] = {"plain": plain, "observed": observed, "recorded": recorded}
    seconds = best_seconds(jobs, 6 * plan.repeats)
    appended = seconds["plain"]
    yield Row(
        "live append of one chunk with one observer, over Session.append",
        seconds["observed"] / appended,
        "times",
        limit=1.5,
        seen=f"{in_us(seconds['observed'] / APPENDS)} over {in_us(appended / APPENDS)}",
    )
    yield Row(
        "the same, the observer a Recorder until the next flush",
        seconds["recorded"] / appended,
        "times",
        seen=in_us(seconds["recorded"] / APPENDS),
    )


def listing_rows(plan: Plan) -> Iterator[Row]:
    """A root's sessions listed, over reading the first line of each file."""
    root = sessions_root(plan.folder, CHATTY, LISTED, LISTED_EVENTS)
    paths = [str(path) for path in sorted(root.glob("*/*.jsonl"))]
    backend = dsh_fp.JsonlBackend(root)

    def by_hand() -> None:
        for path in paths:
            with open(path, "rb") as file:
                file.readline()

    def parsed() -> None:
        for path in paths:
            with open(path, "rb") as file:
                json.loads(file.readline())

    listed = list(backend.list())
    if [listing.where for listing in listed if listing.header] != paths:
        raise UnfitLogError(f"{root.name}: {len(listed)} sessions listed, not {len(paths)}")
    del listed
    seconds = best_seconds(
        {"listed": lambda: list(backend.list()), "by hand": by_hand, "parsed": parsed},
        plan.repeats,
    )
    yield Row(
        f"list {LISTED:,} stored sessions, over opening and reading each first line",
        seconds["listed"] / seconds["by hand"],
        "times",
        limit=3.0,
        seen=f"{in_ms(seconds['listed'])} over {in_ms(seconds['by hand'])}",
    )
    yield Row(
        "the same, over json.loads of each first line too",
        seconds["listed"] / seconds["parsed"],
        "times",
        seen=f"{in_ms(seconds['listed'])} over {in_ms(seconds['parsed'])}",
    )


def idle_rows(plan: Plan) -> Iterator[Row]:
    """The peak of a process whose store holds many resumed sessions, each with its writer."""
    kept = sessions_root(plan.folder, CHATTY, IDLE, IDLE_EVENTS)
    size = sum(path.stat().st_size for path in kept.glob("*/*.jsonl"))
    # Resuming locks files, so each run has its own.
    with tempfile.TemporaryDirectory(dir=plan.folder) as name:
        root = shutil.copytree(kept, Path(name) / "root")
        over = peak_bytes("resume", str(root)) - peak_bytes("import")
    yield Row(
        f"peak memory, a store with {IDLE:,} idle resumed sessions of {IDLE_EVENTS} events",
        over / size,
        "file sizes",
        limit=5.0,
        seen=f"{in_mb(over)}; files {in_mb(size)}",
    )
