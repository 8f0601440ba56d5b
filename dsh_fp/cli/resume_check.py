"""`dsh-fp resume-check LOG`: what resuming a log would do to its file."""

from __future__ import annotations

import os
from typing import Any, Final, Literal

import attrs
import click

from dsh_fp.cli.answer import Answer, common_options, count, log_argument, log_name
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import wire_of
from dsh_fp.cli.output import Output
from dsh_fp.cli.page import scalar
from dsh_fp.cli.safe import one_line, padded
from dsh_fp.core.events import Event
from dsh_fp.core.rejection import Rejection
from dsh_fp.storage.jsonl import LogFile, stored_log
from dsh_fp.storage.jsonl_backend import is_locked

_LABEL: Final = 10
Lock = Literal["free", "held", "unknown"]


@attrs.frozen
class Plan:
    """What resuming a log would do: the torn tail it cuts, the events it appends."""

    log: LogFile
    closers: tuple[Event, ...]

    @property
    def cut(self) -> Rejection | None:
        """The torn tail: where it begins, how long it is and what it is."""
        return self.log.scan.tail

    @property
    def next_seq(self) -> int:
        """The seq of the first event after resuming."""
        return len(self.log.session) + len(self.closers)

    @property
    def changes(self) -> bool:
        """Whether resuming would change the file."""
        return self.cut is not None or bool(self.closers)

    def to_wire(self) -> dict[str, Any]:
        """The plan as JSON."""
        return {
            "session": self.log.header.to_wire(),
            "events": len(self.log.session),
            "good_bytes": self.log.good_bytes,
            "size": self.log.size,
            "would_change": self.changes,
            "cut": None if self.cut is None else wire_of(self.cut),
            "append": [
                {"seq": event.seq, "type": event.type, "call_id": call_id_of(event)}
                for event in self.closers
            ],
            "next_seq": self.next_seq,
        }


def plan_of(log: LogFile) -> Plan:
    """What resuming this log would do."""
    return Plan(log, stored_log(log, log.file or "").closers)


def call_id_of(closer: Event) -> Any:  # noqa: ANN401  # a log may hold any value there
    """The id of the call that a closing event answers; None for the ends of step and turn."""
    return closer.data.get("callId")


@click.command("resume-check")
@log_argument
@common_options
def command(log: str, as_json: bool, color: str) -> int:
    """Say what resuming LOG would change, changing nothing.

    Resuming cuts what a crash left behind the last whole event, and appends the events that
    close an interrupted turn. The exit code is 0 when neither is needed and 1 when one is.
    """
    answer = Answer("resume-check", as_json=as_json, color=color)
    plan = plan_of(answer.open(log))
    lock = lock_of(log)
    code = Exit.FINDING if plan.changes else Exit.HOLDS
    if as_json:
        file = log_name(log)
        answer.document(file=file, **plan.to_wire(), lock=lock, exit_code=int(code))
        return code
    would = "resuming would change the file" if plan.changes else "resuming would change nothing"
    print_head(answer.out, plan, would)
    print_plan(answer.out, plan, lock, ("cut", "append"))
    return code


def lock_of(log: str) -> Lock:
    """Whether a writer holds a log's lock; what is no file has none."""
    if log == "-":
        return "unknown"
    held = is_locked(file_of(log))
    return "unknown" if held is None else "held" if held else "free"


def file_of(log: str) -> str:
    """The file itself where a log's path is a link to it: writers lock that one's name."""
    return os.path.realpath(log) if os.path.islink(log) else log


def print_head(out: Output, plan: Plan, told: str) -> None:
    """The line that names the session and says how it stands."""
    name = one_line(plan.log.header.id, 80)
    out.line(f'session "{name}", {count(len(plan.log.session), "event")}: {told}', "bold")


def print_plan(out: Output, plan: Plan, lock: Lock | None, labels: tuple[str, str]) -> None:
    """What is cut and appended, under these labels, the lock and the next seq."""
    for label, lines in (
        (labels[0], _cut_lines(plan)),
        (labels[1], _closer_lines(plan)),
        ("lock", _lock_lines(plan, lock)),
        ("next", [f"seq {plan.next_seq}"]),
    ):
        print_labelled(out, label, lines)


def print_labelled(out: Output, label: str, lines: list[str]) -> None:
    """Safe lines beside a label."""
    for place, line in enumerate(lines):
        out.line(f"  {'' if place else label:<{_LABEL}}{line}".rstrip())


def _cut_lines(plan: Plan) -> list[str]:
    cut = plan.cut
    if cut is None:
        return ["nothing"]
    facts = cut.data
    size, lines = plan.log.size - plan.log.good_bytes, facts.get("dropped_lines")
    of = f" in {count(lines, 'line')}" if isinstance(lines, int) else ""
    return [f"{count(size, 'byte')}{of} from byte {cut.byte_offset} on ({facts.get('reason')})"]


def _closer_lines(plan: Plan) -> list[str]:
    if not plan.closers:
        return ["nothing"]
    seqs = [f"seq {event.seq}" for event in plan.closers]
    wide = max(map(len, seqs))
    lines = []
    for seq, event in zip(seqs, plan.closers, strict=True):
        call = f"  of {scalar(call_id_of(event))}" if event.type == "tool/result" else ""
        lines.append(f"{padded(seq, wide)}  {event.type}{call}")
    return lines


def _lock_lines(plan: Plan, lock: Lock | None) -> list[str]:
    if lock is None:
        return []
    if lock != "held":
        return ["no writer holds it" if lock == "free" else "cannot be told"]
    lines = ["a writer holds it: resuming is refused until it is closed (WRITER_CONFLICT)"]
    if plan.changes:
        lines.append("what looks left behind may be what it is writing")
    return lines
