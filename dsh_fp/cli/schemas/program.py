"""What a call is answered that names no command of ours, or a wrong option before it."""

from __future__ import annotations

from dsh_fp.cli.schemas.parts import MISUSED, Schema, document


def schema() -> Schema:
    """The schema."""
    return document(None, "A call that names no command, so that its `command` is null.", MISUSED)
