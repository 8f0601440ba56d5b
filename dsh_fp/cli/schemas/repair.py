"""What `dsh-fp repair --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    MISUSED,
    Schema,
    constant,
    document,
    exit_code,
    form,
    maybe,
    one_of,
    ref,
    text,
)
from dsh_fp.cli.schemas.plans import CHANGING, IDLE, LOCKS


def schema() -> Schema:
    """The schema."""
    file = {"file": text("As it was named in the call.")}
    backup, none = text("The path of the file's copy."), constant(None)
    lock = one_of(LOCKS, "Whether a writer holds the log's lock.")
    holds, finding = exit_code(Exit.HOLDS), exit_code(Exit.FINDING)
    not_applied, applied = constant(False), constant(True)
    return document(
        "repair",
        "What a crash left in a log: what repairing it would do, or did.",
        form(
            "nothing to repair",
            {
                **file,
                **IDLE,
                "backup": none,
                "applied": not_applied,
                "lock": lock,
                "exit_code": holds,
            },
        ),
        form(
            "to be repaired",
            {
                **file,
                **CHANGING,
                "backup": none,
                "applied": not_applied,
                "lock": lock,
                "exit_code": finding,
            },
        ),
        form(
            "repaired",
            {
                **file,
                **CHANGING,
                "backup": backup,
                "applied": applied,
                "verified": applied,
                "exit_code": holds,
            },
        ),
        form(
            "another repair was faster",
            {
                **file,
                **IDLE,
                "backup": none,
                "applied": not_applied,
                "verified": applied,
                "exit_code": holds,
            },
        ),
        form(
            "not repaired",
            {
                **file,
                "applied": not_applied,
                "backup": maybe(backup, "Null when no copy was made yet."),
                "error": ref("fault"),
            },
        ),
        MISUSED,
    )
