"""What `dsh-fp doctor --json` prints."""

from __future__ import annotations

from typing import get_args

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    Schema,
    anything,
    constant,
    count,
    document,
    exit_code,
    flag,
    form,
    listed,
    maybe,
    one_of,
    record,
    ref,
    refused,
    text,
)
from dsh_fp.cli.schemas.plans import LOCKS
from dsh_fp.formats.effects import Severity


def schema() -> Schema:
    """The schema."""
    summary = record(
        {
            "logs": count("How many were looked at.", least=1),
            "sound": count(),
            "damaged": count("How many can be read and are damaged."),
            "refused": count("How many cannot be read."),
        }
    )
    checkups = listed(
        {"anyOf": [ref("log_read"), ref("log_refused")]},
        "One log each, in the order of their paths.",
        minItems=1,
    )
    common = {
        "file": text("The path of the log."),
        "generation": maybe(text(), "Null where it cannot be told."),
        "container": maybe(one_of(("plain", "zstd")), "Null where it cannot be told."),
        "size": maybe(count("How many bytes the file has.")),
        "intact_events": count("How many events stand before the first damaged line."),
        "lock": one_of(LOCKS, "Whether a writer holds the log's lock."),
        "damages": listed(ref("damage")),
        "untold": count("How many damages more there are."),
        "branches": listed(ref("branch"), "What each of several writers wrote."),
        "later_turns": listed(
            anything(), "The numbers of whole turns behind missing events, as logged."
        ),
        "policies": listed(text(), "The policies of salvage that fit."),
    }
    return document(
        "doctor",
        "Everything that is wrong with logs: where, what it breaks, what can be done.",
        form(
            "checkups: every log can be read",
            {
                "logs": {**checkups, "items": ref("log_read")},
                "summary": summary,
                "exit_code": exit_code(Exit.HOLDS, Exit.FINDING),
            },
        ),
        form(
            "checkups: a log cannot be read",
            {
                "logs": {**checkups, "contains": ref("log_refused")},
                "summary": summary,
                "exit_code": exit_code(Exit.UNREADABLE, Exit.UNSUPPORTED),
                "error": ref("fault", "That of the gravest log."),
            },
        ),
        refused(),
        log_read=record(
            {
                **common,
                "verdict": one_of(("sound", "damaged")),
                "events": count("How many events can be read."),
            }
        ),
        log_refused=record(
            {
                **common,
                "verdict": constant("refused"),
                "events": constant(None),
                "error": ref("fault", "Why it cannot be read."),
            }
        ),
        damage=record(
            {
                "kind": text("What it is, for programs; docs/reference/damage.md lists them."),
                "severity": one_of(get_args(Severity)),
                "message": text("What is wrong, for a person; its words may change."),
                "breaks": record(
                    {"read": text(), "resume": text(), "next_request": text()},
                    says="What becomes of these in the runtime that wrote the log.",
                ),
                "advice": text("What can be done, for a person; its words may change."),
            },
            {
                "line": count("The line, counted from 1.", least=1),
                "frame": count("The frame of a compressed file, counted from 0."),
                "byte_offset": count("Where in the file."),
                "seq": ref("seq"),
                "data": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {
                        "type": ["string", "number", "boolean", "null", "array"],
                    },
                    "description": "What is special to the kind.",
                },
            },
        ),
        branch=record(
            {
                "name": text("What salvage calls it, behind `keep-`."),
                "number": count(least=1),
                "split_seq": ref("seq", "Where it parts from the other."),
                "split_line": maybe(count(least=1)),
                "tail_seqs": maybe(
                    listed(ref("seq"), minItems=2, maxItems=2), "The first and last behind that."
                ),
                "tail_lines": count(),
                "events": count("How many events it has from the beginning."),
                "tail_events": count("How many of them are behind the parting."),
                "turns": listed(anything(), "The turns it begins there, as logged."),
                "only_closers": flag("Whether that is only what a resume writes by itself."),
            }
        ),
    )
