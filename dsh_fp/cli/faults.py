"""How a fault is told: to a person in one shape, to a program as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import attrs

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.output import Output
from dsh_fp.cli.safe import one_line, wrapped
from dsh_fp.core.rejection import Code, Rejection

_LABEL: Final = 9


@attrs.frozen
class Complaint:
    """What went wrong, where, why, and what to do now; `wire` is the same for a program."""

    what: str
    where: str
    why: str
    now: str
    wire: Mapping[str, Any]


def complaint_of(what: str, fault: Rejection) -> Complaint:
    """A fault of the library, told to a person."""
    return Complaint(what, place_of(fault), fault.message, fault.advice, wire_of(fault))


def usage_complaint(code: str, why: str, now: str, **data: object) -> Complaint:
    """What was asked for cannot be answered, though nothing is wrong with any log."""
    wire: dict[str, object] = {"code": code, "severity": "error", "message": why, "advice": now}
    if data:
        wire["data"] = data
    return Complaint(why, where="", why="", now=now, wire=wire)


def tell(err: Output, complaint: Complaint) -> None:
    """Write a complaint for a person: what, where, why, what now."""
    err.line(f"{err.paint('dsh-fp:', 'bad')} {one_line(complaint.what)}")
    for label, text in (
        ("where", complaint.where),
        ("why", complaint.why),
        ("now", complaint.now),
    ):
        if text:
            first, *more = wrapped(one_line(text), max(err.width - _LABEL, _LABEL))
            err.line(f"  {label:<{_LABEL - 2}}{first}")
            for line in more:
                err.line(" " * _LABEL + line)


def place_of(fault: Rejection, *, with_file: bool = True) -> str:
    """File, line, seq, byte offset and JSON path of a fault, as far as they are known."""
    named = (
        ("line", fault.line_number),
        ("seq", fault.seq),
        ("byte", fault.byte_offset),
        ("at", fault.path),
    )
    parts = [f"{name} {value}" for name, value in named if value is not None]
    if with_file and fault.file is not None:
        parts.insert(0, fault.file)
    return one_line(", ".join(parts))


def wire_of(fault: Rejection) -> dict[str, Any]:
    """A fault as JSON; a number that JSON has not is given as text."""
    wire = fault.to_wire()
    if "data" in wire:
        wire["data"] = {name: _plain(value) for name, value in wire["data"].items()}
    return wire


def _plain(value: object) -> object:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def exit_of(fault: Rejection) -> Exit:
    """The exit code for a log that was refused with this fault."""
    return Exit.UNSUPPORTED if fault.code is Code.VERSION_UNSUPPORTED else Exit.UNREADABLE
