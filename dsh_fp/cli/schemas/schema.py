"""What `dsh-fp schema --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas import SUBJECTS
from dsh_fp.cli.schemas.parts import (
    DIALECT,
    MISUSED,
    Schema,
    about,
    constant,
    document,
    form,
    listed,
    one_of,
    record,
    text,
)


def schema() -> Schema:
    """The schema."""
    subject = one_of(SUBJECTS, "A command, or the program itself.")
    id = about({"type": "string", "pattern": "^urn:dsh-fp:schema:"}, "The `$id` of the schema.")
    row = record({"subject": subject, "id": id, "description": text()})
    made = {
        "type": "object",
        "properties": {"$schema": constant(DIALECT), "$id": id},
        "required": ["$schema", "$id"],
        "description": "A JSON Schema, self-contained.",
    }
    return document(
        "schema",
        "The schemas there are, or one of them.",
        form("the schemas there are", {"schemas": listed(row, minItems=1)}),
        form("one schema", {"subject": subject, "schema": made}),
        MISUSED,
    )
