"""What `dsh-fp convert --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    Schema,
    anything,
    count,
    document,
    exit_code,
    form,
    listed,
    maybe,
    one_of,
    record,
    ref,
    refused,
    text,
)

_FROM = ("v0", "v1", "v2", "v3")
_TO = ("v1", "v2", "v3", "v4")
_WHAT = ("config", "system", "tools", "messages", "fault", "missing")


def _answer(name: str, *, differs: bool) -> Schema:
    differences = listed(ref("difference"), "The requests that are not what they were.")
    return form(
        name,
        {
            "file": text("As it was named in the call; <stdin> for standard input."),
            "from": one_of(_FROM, "The generation of the log."),
            "to": one_of(_TO, "The generation of what was written."),
            "events": count("How many events the log has."),
            "events_after": count("How many events what was written has."),
            "requests": count("How many requests the log made; all of them were compared."),
            "differences": (
                {**differences, "minItems": 1} if differs else {"type": "array", "maxItems": 0}
            ),
            "output": text("Where it was written."),
            "exit_code": exit_code(Exit.FINDING if differs else Exit.HOLDS),
        },
    )


def schema() -> Schema:
    """The schema."""
    return document(
        "convert",
        "A log in a later generation, and the requests that are not what they were.",
        _answer("converted", differs=False),
        _answer("converted, and a request differs", differs=True),
        refused("FILE_EXISTS", "NOT_WRITABLE"),
        difference=record(
            {
                "seq": maybe(ref("seq"), "Of its step/start; null when the log has no such step."),
                "turn": anything("As the step/start gives it."),
                "step": anything("As the step/start gives it."),
                "what": one_of(_WHAT, "What of it differs."),
            },
            says="A request that is not what it was.",
        ),
    )
