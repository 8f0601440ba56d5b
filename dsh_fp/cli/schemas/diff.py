"""What `dsh-fp diff --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.differing import REQUESTS_SHAPES
from dsh_fp.cli.schemas.parts import (
    NO_SUCH_STEP,
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
    record,
    ref,
)


def schema() -> Schema:
    """The schema."""
    step = {
        "turn": anything("As the step/start gives it; a number where nesting is sound."),
        "step": anything("As the step/start gives it; a number where nesting is sound."),
        "seq": ref("seq"),
    }
    sides = {"old": ref("side"), "new": ref("side")}
    counts = {
        "equal": "How many pairs are equal.",
        "different": "How many pairs differ.",
        "unknown": "Of how many pairs a request is not known.",
        "only_old": "How many requests only the old log has.",
        "only_new": "How many requests only the new log has.",
    }
    requests = record(
        {
            **{name: count(says) for name, says in counts.items()},
            "pairs": listed(ref("pair"), "In order of the logs."),
        }
    )
    logs = {"old": ref("session"), "new": ref("session")}
    return document(
        "diff",
        "The difference between two requests, or between two logs.",
        form("two requests: equal", {**sides, "request": ref("requests_equal")}),
        form("two requests: different", {**sides, "request": ref("requests_differ")}),
        form(
            "two requests: one is not known",
            {**sides, "request": constant(None), "error": ref("fault")},
        ),
        form(
            "two logs",
            {
                **logs,
                "equal": flag("Whether the logs tell the same."),
                "content_equal": flag("Whether they do but for clocks, ids and so on."),
                "first_event": maybe(ref("event_change"), "Where their content parts first."),
                "requests": requests,
                "first_pair": maybe(ref("pair"), "The first pair that differs."),
                "first_request": maybe(ref("requests_differ"), "How it differs."),
            },
        ),
        NO_SUCH_STEP,
        REFUSED,
        side=record({"session": ref("session"), **step}, says="One of the two requests."),
        pair=record(
            {
                "old": maybe(record(step)),
                "new": maybe(record(step)),
                "equal": maybe(flag(), "Null where one is missing or not known."),
            },
            says="Two requests in the same place.",
        ),
        event_change=record(
            {
                "place": count("The place among the events that are compared, from 0."),
                "old": maybe(ref("event_behind")),
                "new": maybe(ref("event_behind")),
                "first": maybe(ref("difference")),
            }
        ),
        **REQUESTS_SHAPES,
    )
