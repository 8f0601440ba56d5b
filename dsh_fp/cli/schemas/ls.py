"""What `dsh-fp ls --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    REFUSED,
    Schema,
    count,
    document,
    exit_code,
    form,
    listed,
    maybe,
    record,
    ref,
    text,
)


def schema() -> Schema:
    """The schema."""
    path, size = text("Where it is; the database's path in a database."), maybe(count())
    session = record({"session": ref("session"), "bytes": size, "path": path})
    fault = record({"path": path, "bytes": size, "error": ref("fault")})
    whole = {"root": text("As it was named in the call."), "sessions": listed(session)}
    return document(
        "ls",
        "The sessions of a store, by their metadata only.",
        form(
            "answer",
            {
                **whole,
                "faults": {"type": "array", "maxItems": 0},
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form(
            "answer with faults",
            {
                **whole,
                "faults": listed(fault, "What is no session one can tell of.", minItems=1),
                "exit_code": exit_code(Exit.FINDING),
            },
        ),
        REFUSED,
    )
