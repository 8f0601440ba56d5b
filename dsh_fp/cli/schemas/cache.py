"""What `dsh-fp cache --json` prints."""

from __future__ import annotations

from typing import get_args

from dsh_fp.cli.schemas.parts import (
    REFUSED,
    Schema,
    anything,
    constant,
    count,
    document,
    flag,
    form,
    listed,
    maybe,
    one_of,
    record,
    ref,
)
from dsh_fp.core.caching import BreakKind

_SIZES = {
    "messages": "How many whole messages the prompt has.",
    "bytes": "How long its lines are.",
    "common_messages": "How many whole messages it begins with as the one before it did.",
    "common_bytes": "How many bytes.",
}


def schema() -> Schema:
    """The schema."""
    step = {
        "turn": anything("As the step/start gives it; a number where nesting is sound."),
        "step": anything("As the step/start gives it; a number where nesting is sound."),
        "seq": ref("seq"),
    }
    usage = {"usage": maybe(ref("usage_told"), "What the provider reported.")}
    known = {
        **step,
        "fault": constant(None),
        **{name: count(says) for name, says in _SIZES.items()},
        "kept_all": maybe(flag(), "Whether all of the one before is kept; null for the first."),
        "unknown_before": count("How many requests that are not known stand between."),
        "broken_by": maybe(ref("cache_break")),
        **usage,
        "predicted_cache_read_tokens": maybe({"type": "integer"}, "An estimate."),
    }
    unknown = {
        **step,
        "fault": ref("fault", "Why the request is not known."),
        **{name: constant(None) for name in (*_SIZES, "kept_all")},
        "unknown_before": count(),
        "broken_by": constant(None),
        **usage,
        "predicted_cache_read_tokens": constant(None),
    }
    tokens = maybe({"type": "number"}, "Null where no number was reported.")
    return document(
        "cache",
        "How much of each prompt the one before it began with, and what broke it.",
        form(
            "answer",
            {
                "session": ref("session"),
                "requests": listed({"anyOf": [ref("row_known"), ref("row_unknown")]}),
            },
        ),
        REFUSED,
        row_known=record(known),
        row_unknown=record(unknown),
        usage_told=record(
            {f"{kind}_tokens": tokens for kind in ("input", "cache_read", "cache_write")}
        ),
        cache_break=record(
            {
                "how": one_of(get_args(BreakKind)),
                "event": maybe(ref("event_behind"), "What did it."),
                "first": maybe(ref("difference"), "Where, as a path of the request."),
                "line": maybe(count(least=1), "The line of the system text, from 1."),
            }
        ),
    )
