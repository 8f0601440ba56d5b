"""What `dsh-fp verify --json` prints."""

from __future__ import annotations

from typing import get_args

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.certificates import checked_signature
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
from dsh_fp.core.verifying import Part


def schema() -> Schema:
    """The schema."""
    summary = record(
        {
            "logs": count("How many were looked at.", least=1),
            "hold": count(),
            "with_findings": count(),
            "refused": count(),
        }
    )
    verdicts = listed(
        {"anyOf": [ref("log_read"), ref("log_refused")]},
        "One verdict a log, in the order of the call.",
        minItems=1,
    )
    return document(
        "verify",
        "A verdict on each log, and its findings.",
        form(
            "verdicts: every log can be read",
            {
                "logs": {**verdicts, "items": ref("log_read")},
                "summary": summary,
                "exit_code": exit_code(Exit.HOLDS, Exit.FINDING),
            },
        ),
        form(
            "verdicts: a log is refused",
            {
                "logs": {**verdicts, "contains": ref("log_refused")},
                "summary": summary,
                "exit_code": exit_code(Exit.UNREADABLE, Exit.UNSUPPORTED),
                "error": ref("fault", "That of the gravest refused log."),
            },
        ),
        refused("EXTRA_MISSING"),
        certified=record(
            {
                "file": text("The certificate's file, as it was named in the call."),
                "verdict": one_of(("equal", "extends", "differs")),
                "signature": checked_signature("Null when none was checked."),
                "root": ref("hex_digest", "The certified root."),
                "log_root": ref("hex_digest", "The root of the log as it is."),
                "same_content": flag("Whether nothing differs but times, names and call ids."),
                "mismatches": listed(ref("mismatch"), "Of each part the first."),
            },
            says="What came of holding the log against a certificate.",
        ),
        mismatch={
            "anyOf": [
                record(
                    {
                        "part": constant("request"),
                        "message": text(),
                        "seq": ref("seq"),
                        "turn": anything(),
                        "step": anything(),
                    }
                ),
                record(
                    {
                        "part": one_of(part for part in get_args(Part) if part != "request"),
                        "message": text(),
                        "seq": maybe(ref("seq"), "Null where no event can be named."),
                    }
                ),
            ]
        },
        log_read=record(
            {
                "file": text("As it was named in the call; <stdin> for standard input."),
                "verdict": one_of(
                    ("ok", "findings", "extends", "differs"),
                    "The last two by its certificate, whatever else was found.",
                ),
                "session": ref("session"),
                "events": count("How many events the good part holds."),
                "turns": count("How many turns were begun."),
                "nodes": count("How many nodes are in force."),
                "good_bytes": count("Up to which byte the file is good."),
                "size": count("How many bytes there are."),
                "unknown_types": {
                    "type": "object",
                    "additionalProperties": count(least=1),
                    "description": "How many events there are of each type the format lacks.",
                },
                "findings": listed(ref("finding")),
            },
            {"certificate": ref("certified", "Only with --certificate.")},
        ),
        log_refused=record(
            {
                "file": text("As it was named in the call; <stdin> for standard input."),
                "verdict": constant("refused"),
                "error": ref("fault"),
            }
        ),
    )
