"""What `dsh-fp digest --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    MISUSED,
    Schema,
    anything,
    constant,
    count,
    document,
    exit_code,
    form,
    listed,
    record,
    ref,
    text,
)
from dsh_fp.core.digests import RULES


def schema() -> Schema:
    """The schema."""
    file = text("As it was named in the call; <stdin> for standard input.")
    step = {
        "turn": anything("As the step/start gives it; a number where nesting is sound."),
        "step": anything("As the step/start gives it; a number where nesting is sound."),
        "seq": ref("seq"),
    }
    content = record({"content": ref("hex_digest"), "events": ref("hex_digest")})
    logs = listed(
        {"anyOf": [ref("log_digested"), ref("log_refused")]},
        "One a log, in the order of the call.",
        minItems=1,
    )
    return document(
        "digest",
        "Fingerprints of what each log holds and of every request in it.",
        form(
            "digests: every log can be read",
            {
                "logs": {**logs, "items": ref("log_digested")},
                "exit_code": exit_code(Exit.HOLDS, Exit.FINDING),
            },
        ),
        form(
            "digests: a log is refused",
            {
                "logs": {**logs, "contains": ref("log_refused")},
                "exit_code": exit_code(Exit.UNREADABLE, Exit.UNSUPPORTED),
                "error": ref("fault", "That of the gravest refused log."),
            },
        ),
        MISUSED,
        log_digested=record(
            {
                "file": file,
                "session": ref("session"),
                "events": count("How many events the good part holds."),
                "rules": constant(RULES, "How digests are taken."),
                "content": content,
                "requests": listed({"anyOf": [ref("row_known"), ref("row_unknown")]}),
            }
        ),
        log_refused=record({"file": file, "error": ref("fault")}),
        row_known=record({**step, "digests": ref("request_digests"), "fault": constant(None)}),
        row_unknown=record(
            {
                **step,
                "digests": constant(None),
                "fault": ref("fault", "Why the request is not known."),
            }
        ),
    )
