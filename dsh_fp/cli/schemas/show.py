"""What `dsh-fp show --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.parts import (
    REFUSED,
    Schema,
    anything,
    count,
    document,
    form,
    listed,
    maybe,
    record,
    ref,
)

_KINDS = ("input", "output", "cache_read", "cache_write", "reasoning")


def schema() -> Schema:
    """The schema."""
    entry = record(
        {"event": ref("event")},
        {
            "replaces": {**ref("seqs"), "description": "The nodes it took the place of."},
            "replaced_by": ref("seq", "What took its place."),
        },
    )
    state = record(
        {
            "nodes": ref("seqs", "The nodes in force, in surface order."),
            "request_header": maybe(ref("request_header"), "Null too when `faults` say why."),
            "todos": maybe(listed(anything()), "The list last written."),
            "usage": record({"own": ref("tokens"), "inherited": ref("tokens")}),
            "faults": listed(ref("fault"), "Why the header or the todos are null.", maxItems=2),
        }
    )
    answer = {"session": ref("session"), "events": listed(entry), "state": state}
    tokens = {f"{kind}_tokens": {"type": "number"} for kind in _KINDS}
    return document(
        "show",
        "A log event by event, and the state it amounts to.",
        form("answer", answer),
        REFUSED,
        tokens=record(
            {**tokens, "calls": count("How many model calls reported their usage.")},
            says="Token counts added up as the model calls reported them.",
        ),
    )
