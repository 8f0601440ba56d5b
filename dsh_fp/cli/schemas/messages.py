"""What `dsh-fp messages --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.parts import (
    NO_SUCH_SEQ,
    REFUSED,
    Schema,
    document,
    form,
    listed,
    maybe,
    ref,
)


def schema() -> Schema:
    """The schema."""
    known = {
        "session": ref("session"),
        "at": maybe(ref("seq"), "The last event looked at; null for an empty log."),
    }
    return document(
        "messages",
        "What the model sees, and which event brought each message there.",
        form(
            "answer",
            {
                **known,
                "messages": listed(ref("message")),
                "events": listed(ref("brought"), "One for each message, in the same order."),
            },
        ),
        form("a payload makes no message", {**known, "error": ref("fault")}),
        NO_SUCH_SEQ,
        REFUSED,
    )
