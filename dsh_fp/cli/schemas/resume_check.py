"""What `dsh-fp resume-check --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import REFUSED, Schema, document, exit_code, form, one_of, text
from dsh_fp.cli.schemas.plans import CHANGING, IDLE, LOCKS


def schema() -> Schema:
    """The schema."""
    file = {"file": text("As it was named in the call; <stdin> for standard input.")}
    lock = {"lock": one_of(LOCKS, "Whether a writer holds the log's lock.")}
    return document(
        "resume-check",
        "What resuming a log would change.",
        form("nothing would change", {**file, **IDLE, **lock, "exit_code": exit_code(Exit.HOLDS)}),
        form(
            "the file would change",
            {**file, **CHANGING, **lock, "exit_code": exit_code(Exit.FINDING)},
        ),
        REFUSED,
    )
