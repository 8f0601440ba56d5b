"""What is wrong with a file, all of it: where, what it breaks, and what can be done.

A diagnosis never changes anything and never picks a branch. Words are for a person to act on;
`kind` is for programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
from returns.result import Failure

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.rejection import Code, Rejection, file_unreadable
from dsh_fp.formats.branches import Branch, Parting, is_only_closers, part_rows, tail_of
from dsh_fp.formats.calls import call_faults
from dsh_fp.formats.effects import ADVICE, BREAKS, BREAKS_OF_KIND, Breaks, Severity
from dsh_fp.formats.reading import MAX_BYTES, read
from dsh_fp.formats.rows import Row, Rows, rows_of
from dsh_fp.storage.jsonl import LogFile, name_of

MOST_DAMAGES: Final = 1000
"""How many damages are told one by one; the rest is counted."""

_OF_READING: Final = frozenset({Code.LOG_CORRUPT, Code.TORN_TAIL})
_STRETCHES: Final = frozenset({"bad-frame", "no-frame", "torn-frame"})


@attrs.frozen
class Damage:
    """One thing that is wrong: where, how grave, what it breaks, what can be done.

    `severity` is `fatal` (no runtime reads the file), `tail` (what follows is left out),
    `finding` or `note`. `facts` hold what is special to the kind.

    Units:   byte_offset counts the file's own bytes; frames count from 0, lines from 1.
    """

    kind: str
    severity: Severity
    says: str
    file: str | None = None
    line_number: int | None = None
    frame: int | None = None
    byte_offset: int | None = None
    seq: int | None = None
    facts: tuple[tuple[str, Any], ...] = ()

    @property
    def data(self) -> dict[str, Any]:
        """The facts by name; two seqs are a list of the first and the last."""
        return {name: list(fact) if isinstance(fact, tuple) else fact for name, fact in self.facts}

    @property
    def breaks(self) -> Breaks:
        """What it breaks for the runtime that wrote the log."""
        return BREAKS_OF_KIND.get(self.kind, BREAKS[self.severity])

    @property
    def advice(self) -> str:
        """What can be done."""
        return ADVICE.get(self.kind, ADVICE[self.severity])

    def to_wire(self) -> dict[str, Any]:
        """The damage as JSON."""
        places = {
            "line": self.line_number,
            "frame": self.frame,
            "byte_offset": self.byte_offset,
            "seq": self.seq,
        }
        return {
            "kind": self.kind,
            "severity": self.severity,
            "message": self.says,
            **{name: value for name, value in places.items() if value is not None},
            **({"data": self.data} if self.facts else {}),
            "breaks": attrs.asdict(self.breaks),
            "advice": self.advice,
        }


@attrs.frozen
class BranchHeld:
    """What one branch of a log with several writers holds behind the split.

    Units:   tail_seqs are inclusive, of the events behind the split; None when there are none.
    """

    number: int
    split_seq: int
    split_line: int | None
    tail_seqs: tuple[int, int] | None
    tail_lines: int
    events: int
    tail_events: int
    turns: tuple[Any, ...]
    only_closers: bool

    @property
    def name(self) -> str:
        """Its name: `first`, `second`, then `branch-3` and so on."""
        return branch_name(self.number)


@attrs.frozen(eq=False)
class Diagnosis:
    """Everything that is wrong with one file.

    `refusal` is why it cannot be read, `log` what reading it gives. `intact` counts the events
    before the first damage of the lines. `later_turns` are whole turns behind missing events:
    intact, but nothing can follow on them.
    """

    file: str | None
    size: int
    refusal: Rejection | None
    log: LogFile | None = attrs.field(repr=False)
    rows: Rows | None = attrs.field(repr=False)
    parting: Parting | None = attrs.field(repr=False)
    damages: tuple[Damage, ...]
    untold: int
    branches: tuple[BranchHeld, ...]
    intact: int
    later_turns: tuple[Any, ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong but what notes say."""
        return all(one.severity == "note" for one in self.damages)


def branch_name(number: int) -> str:
    """The name of a branch by its number from 1."""
    return {1: "first", 2: "second"}.get(number, f"branch-{number}")


def diagnose(
    source: str | bytes, *, file: str | None = None, max_bytes: int = MAX_BYTES
) -> Diagnosis:
    """Everything that is wrong with a log file, or with its bytes. Never writes.

    Cost:    O(size); a compressed file's content is bounded by max_bytes.
    Law:     every damaged line is named (tests/formats/test_diagnosis.py).
    Source:  docs/reference/damage.md.
    """
    name = file if file is not None else name_of(source)
    if isinstance(source, bytes):
        content = source
    else:
        try:
            with open(source, "rb") as opened:
                content = opened.read()
        except (OSError, ValueError) as fault:
            cause = (fault.strerror if isinstance(fault, OSError) else None) or str(fault)
            return _unreadable(name, 0, file_unreadable(source, cause), None)
    made = read(source, max_bytes=max_bytes)
    refusal = made.failure() if isinstance(made, Failure) else None
    log = None if isinstance(made, Failure) else made.unwrap()
    rows = rows_of(content, max_bytes)
    if isinstance(rows, Rejection):
        # The header line, or what the file is: nothing behind it can be understood.
        return _unreadable(name, len(content), refusal or rows, rows)
    parting = part_rows(rows.rows)
    found = [
        *_of_the_file(rows),
        *_of_the_stretches(rows),
        *_of_the_lines(rows, parting, refusal),
    ]
    found += _of_reading(refusal, log, found)
    if log is not None:
        found += _of_the_calls(log)
    found.sort(key=lambda one: (one.byte_offset or 0, one.line_number or 0))
    damages = tuple(attrs.evolve(one, file=name) for one in found[:MOST_DAMAGES])
    branches = tuple(_held(one, parting) for one in parting.branches)
    return Diagnosis(
        name,
        len(content),
        refusal,
        log,
        rows,
        parting,
        damages,
        max(0, len(found) - MOST_DAMAGES),
        branches if len(branches) > 1 else (),
        intact_rows(rows)[1],
        tuple(turn for one in parting.islands for turn in _whole_turns(one.own)),
    )


def _unreadable(
    file: str | None, size: int, refusal: Rejection, closer: Rejection | None
) -> Diagnosis:
    told = closer or refusal
    return Diagnosis(
        file, size, refusal, None, None, None, (_of_rejection(told, "fatal"),), 0, (), 0, ()
    )


def intact_rows(rows: Rows) -> tuple[tuple[Row, ...], int]:
    """The rows before the first damage, and how many events they hold."""
    expected = 0
    last = next((place for place, one in enumerate(rows.stretches) if one.fault), None)
    for place, row in enumerate(rows.rows):
        is_behind = last is not None and row.stretch > last
        if is_behind or not row.is_event or row.seq != expected:
            return rows.rows[:place], expected
        expected = row.next_seq
    return rows.rows, expected


def _of_the_file(rows: Rows) -> Iterator[Damage]:
    if rows.has_bom:
        says = "the file begins with a byte order mark, which no runtime reads"
        yield Damage("bom", "fatal", says, line_number=1, byte_offset=0, facts=(("bytes", 3),))
    if not rows.header_is_alone:
        says = "the first frame holds events beside the header line: compressed again by hand?"
        yield Damage("header-frame", "fatal", says, line_number=1, frame=0, byte_offset=0)


def _of_the_stretches(rows: Rows) -> Iterator[Damage]:
    due = 0
    by_stretch: dict[int, int] = {}
    for row in rows.rows:
        due = max(due, row.next_seq if row.is_event else 0)
        by_stretch[row.stretch] = due
    due = 0
    for place, stretch in enumerate(rows.stretches):
        if stretch.fault is not None:
            what = {"bad-frame": "a frame cannot be decompressed", "torn-frame": "the last frame"}
            says = f"{what.get(stretch.fault, 'bytes that are no frame')}: {stretch.says}"
            facts: tuple[tuple[str, Any], ...] = (("bytes", stretch.stop - stretch.start),)
            if stretch.fault == "bad-frame":
                facts = (*facts, ("first_lost_seq", due))
            severity: Severity = "tail" if stretch.fault == "torn-frame" else "fatal"
            yield Damage(
                stretch.fault,
                severity,
                says,
                frame=stretch.frame,
                byte_offset=stretch.start,
                facts=facts,
            )
        due = by_stretch.get(place, due)


def _of_the_lines(rows: Rows, parting: Parting, refusal: Rejection | None) -> Iterator[Damage]:
    """What is wrong with the lines and their seqs; fatal unless reading leaves them out."""
    severity: Severity = "tail" if refusal is None else "fatal"
    for row in rows.rows:
        if row.fault is not None:
            # A fragment at the end of a plain file is never what a refusal is about.
            own: Severity = severity if row.is_ended or row.frame is not None else "tail"
            yield _at(row, row.fault, own, _line_says(row), _line_facts(row))
        elif row.bad_byte is not None:
            says = f"bytes that are no UTF-8, from byte {row.bad_byte} of the line on"
            yield _at(row, "invalid-utf8", "finding", says)
    for before, row in parting.splits:
        yield _doubled(row, before, "seq-duplicate", "is used a second time: two writers", severity)
    for before, row in parting.repeats:
        yield _doubled(row, before, "repeated-line", "stands twice, in the same words", severity)
    for expected, row in parting.gaps:
        assert row.seq is not None
        last = row.seq - 1
        says = f"the events with seqs {expected} to {last} are missing"
        facts = (("missing", (expected, last)), ("expected_seq", expected), ("got_seq", row.seq))
        yield _at(row, "seq-gap", severity, says, facts)
    for row in parting.doubts:
        says = "the line fits the end of more than one branch: nobody can say whose it is"
        yield _at(row, "ambiguous-branch", severity, says)
    for row in parting.unplaced:
        yield _at(row, "unplaced-line", severity, "the line fits no branch")


def _doubled(row: Row, before: Row, kind: str, what: str, severity: Severity) -> Damage:
    says = f"seq {row.seq} {what} (lines {before.line_number} and {row.line_number})"
    facts = (("first_line", before.line_number), ("second_line", row.line_number))
    return _at(row, kind, severity, says, facts)


def _at(
    row: Row, kind: str, severity: Severity, says: str, facts: tuple[tuple[str, Any], ...] = ()
) -> Damage:
    return Damage(
        kind,
        severity,
        says,
        line_number=row.line_number,
        frame=row.frame,
        byte_offset=row.byte_offset,
        seq=row.seq,
        facts=facts,
    )


_LINES: Final[Mapping[str, str]] = {
    "unparsable-line": "a line is no JSON",
    "fused-lines": "two records stand on one line",
    "blank-line": "a line is blank",
    "nul-run": "NUL bytes, as a power cut leaves them",
    "not-an-object": "a line is no JSON object",
    "torn-line": "half a line without an end",
    "no-final-newline": "a whole record whose line end is missing",
    "malformed-row": "a packed row that breaks its own rules",
    "bad-envelope": "an object that is no event",
    "seq-gap": "an object without a seq",
}


def _line_says(row: Row) -> str:
    says = _LINES.get(row.fault or "", "a line is no event")
    return says if row.what is None else f"{says}: {row.what.message}"


def _line_facts(row: Row) -> tuple[tuple[str, Any], ...]:
    facts: tuple[tuple[str, Any], ...] = (("bytes", len(row.text)),)
    if row.fault in ("no-final-newline", "torn-line"):
        facts = (*facts, ("complete_json", row.fault == "no-final-newline"))
    if row.fault == "nul-run":
        facts = (*facts, ("nul_bytes", row.text.count(b"\0")))
    return facts


def _of_reading(
    refusal: Rejection | None, log: LogFile | None, found: Sequence[Damage]
) -> Iterator[Damage]:
    """What reading says that the lines have not said yet."""
    if refusal is not None:
        said = any(one.severity == "fatal" for one in found)
        if refusal.code not in (Code.LOG_CORRUPT, Code.LOG_HEADER_INVALID) or not said:
            yield _of_rejection(refusal, "fatal")
        return
    assert log is not None
    for finding in log.findings:
        is_told = finding.code is Code.INVALID_UTF8 and finding.line_number != 1
        if finding.code is Code.TORN_TAIL and any(one.severity == "tail" for one in found):
            is_told = True
        if not is_told:
            yield _of_rejection(finding, "note" if finding.severity == "note" else "finding")


def _of_rejection(fault: Rejection, severity: Severity) -> Damage:
    reason = fault.data.get("reason")
    is_line = fault.code in _OF_READING or fault.code is Code.LOG_HEADER_INVALID
    kind = reason if is_line and isinstance(reason, str) else None
    frame = fault.data.get("frame")
    return Damage(
        kind or fault.code.value.lower().replace("_", "-"),
        severity,
        f"{fault.code.value}: {fault.message}",
        line_number=fault.line_number,
        frame=frame if isinstance(frame, int) else None,
        byte_offset=fault.byte_offset,
        seq=fault.seq,
    )


# ---- branches ------------------------------------------------------------------------------------


def _held(branch: Branch, parting: Parting) -> BranchHeld:
    tail = tail_of(branch, parting.branches)
    first = tail[0] if tail else None
    events = branch.next_seq
    in_tail = sum(row.count for row in tail)
    seqs = None if first is None or first.seq is None else (first.seq, tail[-1].next_seq - 1)
    return BranchHeld(
        branch.number,
        branch.split_seq if first is None or first.seq is None else first.seq,
        None if first is None else first.line_number,
        seqs,
        len(tail),
        events,
        in_tail,
        tuple(_turns_begun(tail)),
        bool(tail) and is_only_closers(tail),
    )


def _turns_begun(rows: Sequence[Row]) -> Iterator[Any]:
    for row in rows:
        if row.type == "turn/start":
            yield _turn(row)


def _turn(row: Row) -> AnyJson:
    turn = _member(row.part.peek_data(), "turn") if isinstance(row.part, Event) else None
    return turn if isinstance(turn, int | float) else None


def _whole_turns(rows: Sequence[Row]) -> Iterator[Any]:
    begun: tuple[Any] | None = None
    for row in rows:
        if row.type == "turn/start":
            begun = (_turn(row),)
        elif row.type == "turn/end" and begun is not None:
            yield begun[0]
            begun = None


# ---- calls and results in force ------------------------------------------------------------------


def _of_the_calls(log: LogFile) -> Iterator[Damage]:
    """Calls and results that the next request would send without their counterpart.

    The calls of a turn that is still open are not dangling: resuming closes them.
    """
    for kind, seq, call_id, says in call_faults(log.session):
        fault = Damage(kind, "finding", says, seq=seq, facts=(("call_id", call_id),))
        lines = log.scan.lines
        if seq < log.scan.count:
            place = lines.place_of(seq)
            fault = attrs.evolve(fault, line_number=place + 2)
            if log.container == "plain":
                fault = attrs.evolve(fault, byte_offset=lines.starts[place])
        yield fault


def _member(value: AnyJson, key: str) -> AnyJson:
    return value.get(key) if isinstance(value, JsonObject) else None
