"""The rows of the cost table: what is compared with what, and what it may cost.

Lines as str are usually the cheaper, so the harder, yardstick, since decoding them is not
counted; the cheaper one is taken. Rows without a limit inform only.
"""

import gc
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import dsh_fp
from benchmarks.durable_rows import durable_rows
from benchmarks.files import hostile_path, single_line_path
from benchmarks.jobs import (
    bytes_lines,
    check_log,
    loads_each,
    read_digests,
    read_final,
    read_findings,
    read_only,
    read_requests,
    str_lines,
)
from benchmarks.measure import Job, best_seconds, collect_seconds, import_seconds, peak_bytes
from benchmarks.plan import SEED, SMALL, Plan, in_mb, in_ms, in_us
from benchmarks.profiles import CHATTY, WIDE
from benchmarks.table import Row

SINGLE_LINE_BYTES: Final = 50_000_000
CALLS: Final = 200
APPENDS: Final = 1_000
REPLACEMENTS: Final = 10_000
HEADER_DELTAS: Final = 5_000
BASE_IMPORT: Final = "import attrs, pyrsistent, returns.result"


def rows(plan: Plan) -> Iterator[Row]:
    """Every row, measured as it is asked for."""
    check_logs(plan)
    yield from reading_rows(plan)
    yield from growth_rows(plan)
    yield from prefix_rows(plan)
    yield from append_rows(plan)
    yield from durable_rows(plan)
    yield from memory_rows(plan)
    yield from collector_rows(plan)
    yield from import_rows()
    yield from wide_rows(plan)
    yield from hostile_rows(plan)


def check_logs(plan: Plan) -> None:
    """Raise UnfitLogError unless every generated log is valid and reads as it must."""
    wanted = [(SMALL, CHATTY), (plan.events, CHATTY), (plan.events, WIDE)]
    if plan.large is not None:
        wanted.append((plan.large, CHATTY))
    for events, profile in wanted:
        check_log(plan.path(events, profile), events)


def reading_seconds(path: Path, repeats: int) -> dict[str, float]:
    """Seconds of each reading job, and of the harder yardstick as Y."""
    lines, raw_lines = str_lines(path), bytes_lines(path)
    jobs: dict[str, Job] = {
        "str": lambda: loads_each(lines),
        "bytes": lambda: loads_each(raw_lines),
        "final": lambda: read_final(path),
        "requests": lambda: read_requests(path),
        "only": lambda: read_only(path),
        "digests": lambda: read_digests(path),
        "findings": lambda: read_findings(path),
    }
    seconds = best_seconds(jobs, repeats)
    seconds["Y"] = min(seconds["str"], seconds["bytes"])
    return seconds


def reading_rows(plan: Plan) -> Iterator[Row]:
    """The main log in units of its yardstick."""
    path = plan.path(plan.events)
    seconds = reading_seconds(path, plan.repeats)
    yardstick = seconds["Y"]
    which = "str" if seconds["str"] <= seconds["bytes"] else "bytes"
    size = f"{plan.events:,} events, {in_mb(path.stat().st_size)}"
    yield Row(
        "read, accept, final messages and header",
        seconds["final"] / yardstick,
        "Y",
        limit=0.70,
        aim=0.45,
        seen=f"{in_ms(seconds['final'])}; {size}; Y = {in_ms(yardstick)} ({which} lines)",
    )
    yield Row(
        "the same and every past request's messages",
        seconds["requests"] / yardstick,
        "Y",
        limit=0.90,
        seen=in_ms(seconds["requests"]),
    )
    yield Row(
        "digests of every past request, beyond reading and accepting",
        (seconds["digests"] - seconds["only"]) / yardstick,
        "Y",
        limit=0.40,
        seen=f"{in_ms(seconds['digests'])} less {in_ms(seconds['only'])}",
    )
    yield Row(
        "read and every finding",
        seconds["findings"] / yardstick,
        "Y",
        seen=in_ms(seconds["findings"]),
    )


def growth_rows(plan: Plan) -> Iterator[Row]:
    """A log ten times as long over the main one."""
    if plan.large is None:
        return
    path, large_path = plan.path(plan.events), plan.path(plan.large)
    jobs: tuple[tuple[str, Callable[[Path], object]], ...] = (
        ("read, accept, final messages and header", read_final),
        ("the same and every past request's messages", read_requests),
    )
    for name, job in jobs:
        seconds = best_seconds(
            {"main": partial(job, path), "large": partial(job, large_path)},
            max(2, plan.repeats // 2),
        )
        yield Row(
            f"{name}: {plan.large:,} over {plan.events:,} events",
            seconds["large"] / seconds["main"],
            "times",
            limit=12.0,
            seen=f"{in_ms(seconds['large'])} over {in_ms(seconds['main'])}",
        )


def turn_ends(path: Path) -> list[int]:
    """The seqs of turn/end, seen in the text."""
    lines = str_lines(path)[1:]
    return [seq for seq, line in enumerate(lines) if line.startswith('{"type":"turn/end"')]


def prefix_rows(plan: Plan) -> Iterator[Row]:
    """Prefixes and forks of a long log over those of a short one."""
    long = plan.large or plan.events
    sessions = {}
    seqs: dict[int, list[int]] = {}
    boundaries: dict[int, list[int]] = {}
    random = Random(SEED)
    for events in (SMALL, long):
        path = plan.path(events)
        sessions[events] = dsh_fp.read(path).unwrap().session
        seqs[events] = random.choices(range(events), k=CALLS)
        boundaries[events] = random.choices(turn_ends(path), k=CALLS)

    def at(events: int) -> None:
        session = sessions[events]
        for seq in seqs[events]:
            session.at(seq).unwrap().state  # noqa: B018  the state is part of it

    def fork(events: int) -> None:
        session = sessions[events]
        for boundary in boundaries[events]:
            session.fork(boundary).unwrap().state  # noqa: B018

    for name, job in (("at(seq) and its state", at), ("fork(boundary) and its state", fork)):
        seconds = best_seconds(
            {"short": partial(job, SMALL), "long": partial(job, long)},
            3 * plan.repeats,
        )
        yield Row(
            f"{name}: {long:,} over {SMALL:,} events",
            seconds["long"] / seconds["short"],
            "times",
            limit=3.0,
            seen=f"{in_us(seconds['long'] / CALLS)} over {in_us(seconds['short'] / CALLS)} a call",
        )


def append_rows(plan: Plan) -> Iterator[Row]:
    """Chunks appended one by one to a loaded session, over their JSON there and back."""
    random = Random(SEED)
    words = ("kale", "rocket", "chard", "leek", "dill", "sorrel", "fennel")
    chunks = [
        {
            "turn": 1,
            "step": 1,
            "chunk": {"type": "text-delta", "index": 0, "text": f"{random.choice(words)} "},
        }
        for _ in range(APPENDS)
    ]
    sizes = (SMALL, plan.events) if plan.large is None else (SMALL, plan.events, plan.large)
    loaded = {size: dsh_fp.read(plan.path(size)).unwrap().session for size in sizes}
    strict = dsh_fp.Session.create(guard=dsh_fp.strict()).unwrap()
    trigger = {"kind": "message", "source": {"kind": "user"}}
    strict = strict.append("turn/start", {"turn": 1, "trigger": trigger}, time=0).unwrap()
    strict = strict.append("step/start", {"turn": 1, "step": 1}, time=0).unwrap()

    def append_all(session: dsh_fp.Session) -> object:
        for chunk in chunks:
            session = session.append("assistant/chunk", chunk, time=1).unwrap()
        return session

    def there_and_back() -> None:
        for chunk in chunks:
            json.loads(json.dumps(chunk))

    jobs: dict[str, Job] = {"yardstick": there_and_back, "strict": partial(append_all, strict)}
    jobs |= {f"{size:,}": partial(append_all, session) for size, session in loaded.items()}
    seconds = best_seconds(jobs, 3 * plan.repeats)
    yardstick = seconds["yardstick"]
    for size in sizes:
        append = seconds[f"{size:,}"]
        yield Row(
            f"append of one chunk to {size:,} events, over dumps and loads of its data",
            append / yardstick,
            "times",
            limit=3.0,
            seen=f"{in_us(append / APPENDS)} over {in_us(yardstick / APPENDS)}",
        )
    yield Row(
        "append of one chunk to a short log under strict()",
        seconds["strict"] / yardstick,
        "times",
        seen=in_us(seconds["strict"] / APPENDS),
    )


def memory_rows(plan: Plan) -> Iterator[Row]:
    """Peaks of processes of their own, less that of one that only imports dsh_fp."""
    bare = peak_bytes("import")

    def row(what: str, path: Path, job: str, limit: float | None = None) -> Row:
        size = path.stat().st_size
        over = peak_bytes(job, str(path)) - bare
        seen = f"{in_mb(over)}; file {in_mb(size)}"
        return Row(f"peak memory, {what}", over / size, "file sizes", limit=limit, seen=seen)

    path = plan.path(plan.events)
    yield row(f"{plan.events:,} events, session and final messages", path, "final", 5.0)
    if plan.large is not None:
        large_path = plan.path(plan.large)
        yield row(f"{plan.large:,} events, session and final messages", large_path, "final", 5.0)
        yield row(f"{plan.large:,} events, all past requests kept", large_path, "requests")
    yield row(f"{plan.events:,} events, all past requests kept", path, "requests")
    single = single_line_path(plan.folder, SINGLE_LINE_BYTES, wide_text=False)
    yield row("one line of 50 MB, session and final messages", single, "final", 5.0)
    yield row("one line of 50 MB, session only", single, "read", 5.0)
    odd = single_line_path(plan.folder, SINGLE_LINE_BYTES, wide_text=True)
    yield row("the same line with one character beyond U+FFFF, session only", odd, "read", 5.0)
    yield row("the same, its message (a str of 4 bytes a character)", odd, "final")


def collector_rows(plan: Plan) -> Iterator[Row]:
    """What a loaded session adds to a full garbage collection."""
    path = plan.path(plan.events)
    yardstick = best_seconds({"Y": partial(loads_each, str_lines(path))}, plan.repeats)["Y"]
    without = collect_seconds(plan.repeats)
    kept = read_final(path)
    loaded = collect_seconds(plan.repeats)
    del kept
    kept = read_requests(path)
    requested = collect_seconds(plan.repeats)
    del kept
    gc.collect()
    yield Row(
        "full collection with a loaded session, less one without",
        (loaded - without) / yardstick,
        "Y",
        limit=0.10,
        seen=f"{1_000 * loaded:.1f} ms less {1_000 * without:.1f} ms",
    )
    yield Row(
        "the same with all past requests kept too",
        (requested - without) / yardstick,
        "Y",
        seen=f"{1_000 * requested:.1f} ms",
    )


def import_rows() -> Iterator[Row]:
    """The import of the package over that of what it stands on."""
    seconds = import_seconds(
        {
            "base": BASE_IMPORT,
            "bare": "import dsh_fp",
            "used": "import dsh_fp; dsh_fp.read, dsh_fp.Session, dsh_fp.past_requests",
        },
        15,
    )
    base = seconds["base"]
    yield Row(
        f"import dsh_fp over {BASE_IMPORT}",
        seconds["bare"] / base,
        "times",
        limit=2.0,
        seen=f"{1_000 * seconds['bare']:.1f} ms over {1_000 * base:.1f} ms",
    )
    yield Row(
        "the same, with read, Session and past_requests looked up",
        seconds["used"] / base,
        "times",
        seen=f"{1_000 * seconds['used']:.1f} ms",
    )


def wide_rows(plan: Plan) -> Iterator[Row]:
    """The unfriendly log, for information."""
    path = plan.path(plan.events, WIDE)
    seconds = reading_seconds(path, plan.repeats)
    yardstick = seconds["Y"]
    size = path.stat().st_size
    yield Row(
        "wide log: read, accept, final messages and header",
        seconds["final"] / yardstick,
        "Y",
        seen=f"{in_ms(seconds['final'])}; {in_mb(size)}; Y = {in_ms(yardstick)}",
    )
    yield Row(
        "wide log: the same and every past request's messages",
        seconds["requests"] / yardstick,
        "Y",
        seen=in_ms(seconds["requests"]),
    )
    yield Row(
        "wide log: read and every finding",
        seconds["findings"] / yardstick,
        "Y",
        seen=in_ms(seconds["findings"]),
    )
    over = peak_bytes("final", str(path)) - peak_bytes("import")
    yield Row("wide log: peak memory", over / size, "file sizes", seen=in_mb(over))


def hostile_rows(plan: Plan) -> Iterator[Row]:
    """Small logs made to be dear, for information."""
    bare = peak_bytes("import")
    for kind, count, what in (
        ("rolling", REPLACEMENTS, "replacements, each at the head of as many nodes"),
        ("deltas", HEADER_DELTAS, "changes of a growing request header"),
    ):
        path = hostile_path(plan.folder, kind, count)
        lines = str_lines(path)
        check_log(path, len(lines) - 1)
        seconds = best_seconds(
            {"Y": partial(loads_each, lines), "final": partial(read_final, path)},
            max(2, plan.repeats // 3),
        )
        yardstick, size = seconds["Y"], path.stat().st_size
        yield Row(
            f"hostile log, {count:,} {what}",
            seconds["final"] / yardstick,
            "Y",
            seen=f"{in_ms(seconds['final'])}; {in_mb(size)}; Y = {in_ms(yardstick)}",
        )
        over = peak_bytes("final", str(path)) - bare
        yield Row("the same: peak memory", over / size, "file sizes", seen=in_mb(over))
