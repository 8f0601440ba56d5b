"""What `dsh-fp requests --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.parts import (
    REFUSED,
    Schema,
    anything,
    constant,
    count,
    document,
    form,
    listed,
    record,
    ref,
)

_SIZES = {
    "messages": "How many there are.",
    "system_lines": "How many lines the system text has.",
    "tools": "How many there are.",
    "bytes": "The length of the request's JSON text.",
}


def schema() -> Schema:
    """The schema."""
    step = {
        "turn": anything("As the step/start gives it; a number where nesting is sound."),
        "step": anything("As the step/start gives it; a number where nesting is sound."),
        "seq": ref("seq"),
    }
    sizes = {name: count(says) for name, says in _SIZES.items()}
    known = {"model": anything(), **sizes, "fault": constant(None)}
    unknown = {"model": constant(None), **{name: constant(None) for name in sizes}}
    return document(
        "requests",
        "Every request that was sent to the model, one row a step.",
        form(
            "answer",
            {
                "session": ref("session"),
                "requests": listed({"anyOf": [ref("row_known"), ref("row_unknown")]}),
            },
        ),
        REFUSED,
        row_known=record({**step, **known}),
        row_unknown=record(
            {**step, **unknown, "fault": ref("fault", "Why the request is not known.")}
        ),
    )
