"""What `dsh-fp request --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.parts import (
    NO_SUCH_STEP,
    REFUSED,
    Schema,
    anything,
    constant,
    count,
    document,
    form,
    listed,
    maybe,
    one_of,
    ref,
    text,
)


def schema() -> Schema:
    """The schema."""
    known = {
        "session": ref("session"),
        "turn": anything("As the step/start gives it; a number where nesting is sound."),
        "step": anything("As the step/start gives it; a number where nesting is sound."),
        "seq": ref("seq"),
    }
    events = listed(
        maybe(ref("brought")),
        "One for each message, in the same order; null for those the request header puts first.",
    )
    return document(
        "request",
        "One request as it was sent, and which event brought each message there.",
        form(
            "answer",
            {
                **known,
                "bytes": count("The length of the request's JSON text."),
                "request": ref("request"),
                "events": events,
            },
        ),
        form(
            "a body to send again",
            {
                **known,
                "provider": one_of(
                    ("openai", "anthropic", "chat", "messages"), "The API that takes it."
                ),
                "body": {"type": "object", "description": "The body, keys in their order."},
                "left_out": listed(text(), "What has no place in it, for a person."),
            },
        ),
        form(
            "the request is not known", {**known, "request": constant(None), "error": ref("fault")}
        ),
        NO_SUCH_STEP,
        REFUSED,
    )
