"""What `dsh-fp prove --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.certificates import PROOF_SHAPES
from dsh_fp.cli.schemas.parts import (
    NO_SUCH_STEP,
    Schema,
    document,
    form,
    maybe,
    ref,
    refused,
    text,
)


def schema() -> Schema:
    """The schema."""
    file = maybe(text(), "Where it was written; null without -o.")
    return document(
        "prove",
        "A proof about a log, for those who have its root and not the log.",
        form("a request belongs to the log", {"proof": ref("inclusion"), "file": file}),
        form("the log extends an earlier one", {"proof": ref("consistency"), "file": file}),
        NO_SUCH_STEP,
        refused("FILE_EXISTS", "NO_EXTENSION"),
        **PROOF_SHAPES,
    )
