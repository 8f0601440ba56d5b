"""What `dsh-fp minimise --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    REFUSED,
    Schema,
    asked_wrongly,
    constant,
    count,
    document,
    exit_code,
    flag,
    form,
    record,
    ref,
    text,
)


def schema() -> Schema:
    """The schema."""
    known = {
        "session": ref("session"),
        "events": count("How many events the log has."),
    }
    found = {
        **known,
        "calls": count("How often COMMAND was run.", least=1),
        "is_minimal": flag("False when the search ended because of --max-calls."),
        "left": record({"events": count(), "bytes": count()}, says="Of the least log."),
        "removed": {
            "type": "object",
            "additionalProperties": count(least=1),
            "description": "How many events were left out, by type, the most first.",
        },
    }
    codes = ("NOTHING_FAILS", "COMMAND_GAVE_UP", "COMMAND_NOT_STARTED", "FILE_EXISTS")
    return document(
        "minimise",
        "The least log for which a program still fails.",
        form(
            "found",
            {
                **found,
                "output": constant(None),
                "log": text("The least log as a file holds it."),
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form(
            "written to a file",
            {
                **found,
                "output": text("The path of the file."),
                "log": constant(None),
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form(
            "the search cannot be made, or not be ended",
            {**known, "error": {"anyOf": [ref("fault"), asked_wrongly(*codes)]}},
        ),
        REFUSED,
    )
