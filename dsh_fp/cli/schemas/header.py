"""What `dsh-fp header --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.parts import (
    NO_SUCH_SEQ,
    REFUSED,
    Schema,
    constant,
    count,
    document,
    form,
    maybe,
    one_of,
    record,
    ref,
)


def schema() -> Schema:
    """The schema."""
    time = count("Epoch milliseconds.")
    kinds = ("request/header", "request/header-delta")
    set_by = record({"seq": ref("seq"), "type": one_of(kinds), "time": time})
    snapshot = record({"seq": ref("seq"), "type": constant(kinds[0]), "time": time})
    known = {
        "session": ref("session"),
        "at": maybe(ref("seq"), "The last event looked at; null for an empty log."),
        "set_by": maybe(set_by, "The event that put the header in force."),
        "snapshot": maybe(snapshot, "The last whole header, which later changes amend."),
    }
    return document(
        "header",
        "The request header in force, and since when it is.",
        form(
            "answer",
            {**known, "header": maybe(ref("request_header"), "Null before any was logged.")},
        ),
        form("the header cannot be folded", {**known, "error": ref("fault")}),
        NO_SUCH_SEQ,
        REFUSED,
    )
