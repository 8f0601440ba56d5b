"""What `dsh-fp check-wire --json` prints."""

from __future__ import annotations

from typing import get_args

from dsh_fp.cli.schemas.parts import (
    REFUSED,
    Schema,
    about,
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
    text,
)
from dsh_fp.core.json_paths import Kind
from dsh_fp.wire.expected import COMPACTION
from dsh_fp.wire.matching import REPEATED_KEY

_COUNTS = {
    "total": "How many requests the capture holds.",
    "equal": "How many of them are as the logs say, byte for byte.",
    "differs": "How many differ.",
    "unexpected": "How many correspond to no request of the logs.",
    "unknown": "Of how many the logs do not tell the body.",
    "unreadable": "How many have no body.",
}


def _names() -> dict[str, Schema]:
    """How a request is named."""
    return {
        "session": text("The id of its session."),
        "turn": anything("As the log gives it; a number where nesting is sound."),
        "step": anything("As the log gives it; null for a compaction."),
        "seq": ref("seq", "The step/start, or the event that began the compaction."),
        "purpose": {"enum": [None, COMPACTION], "description": "Null for a step."},
    }


def schema() -> Schema:
    """The schema."""
    names = _names()
    no_names = {key: constant(None) for key in names}
    no_place = {key: constant(None) for key in ("path", "kind", "expected", "got", "offset")}
    start = {"index": count("The place among the captures, from 0."), "place": ref("place")}
    end = {
        "taken_from_body": listed(text(), "What no log holds and was taken from the capture."),
        "repeat": flag("Whether the same request was captured before."),
        "out_of_order": flag("Whether it stands before one that was sent earlier."),
    }
    none = {"event": constant(None)}
    note = maybe(text(), "More about it, for a person.")
    of_place = {
        "path": about({"type": "string", "pattern": r"^\$"}, "A JSON path of the body."),
        "kind": one_of((*get_args(Kind), REPEATED_KEY)),
        "expected": anything(
            "What the log says; its keys, where only their order differs; null for a repeated key."
        ),
        "got": anything("What the capture has; likewise."),
        "offset": maybe(count(), "Where two texts part, in characters."),
        "cut": flag("Whether one of the two is only a piece of the value's text."),
        "event": maybe(ref("event_told"), "The event that put the expected value there."),
    }

    def verdict(word: str, *parts: dict[str, Schema]) -> Schema:
        whole: dict[str, Schema] = {**start, "verdict": constant(word), **end}
        for part in parts:
            whole |= part
        return record(whole)

    nothing = {**no_place, "cut": constant(False), **none}
    no_fault = {"fault": constant(None)}
    words = ("equal", "differs", "unexpected", "unknown", "unreadable")
    logs = listed({"anyOf": [ref("log_read"), ref("log_refused")]}, "Every log found.", minItems=1)
    return document(
        "check-wire",
        "Captured request bodies held against what the logs say was sent.",
        form(
            "verdicts",
            {
                "logs": logs,
                "capture": text("As it was named in the call; <stdin> for standard input."),
                **{name: count(says) for name, says in _COUNTS.items()},
                "verdicts": listed(
                    {"anyOf": [ref(f"capture_{word}") for word in words]},
                    "One for each captured request, in order.",
                ),
                "not_captured": listed(
                    record({**names, "fault": maybe(ref("fault"), "Why its body is not known.")}),
                    "Requests of the logs to which no capture belongs.",
                ),
                "skipped": listed(
                    record({"place": ref("place"), "why": text("For a person.")}),
                    "What in the capture is no request to a model.",
                ),
            },
        ),
        form(
            "no log in the folder",
            {"logs": listed(ref("log_refused"), "Every log found."), "error": ref("fault")},
        ),
        REFUSED,
        log_read=record(
            {
                "file": text("Where it is; <stdin> for standard input."),
                "session": text("The id of its session."),
                "events": count("How many events the good part holds."),
                "used": flag(
                    "False for a copy that another file holds later, or with more events."
                ),
            }
        ),
        log_refused=record({"file": text("Where it is."), "error": ref("fault")}),
        place=record(
            {"file": text()},
            {"line": count("From 1.", least=1), "entry": count("Of a HAR file, from 0.")},
            "Where a capture stands.",
        ),
        event_told=record({"seq": ref("seq"), "type": text()}),
        capture_equal=verdict("equal", names, nothing, no_fault, {"note": note}),
        capture_differs=verdict("differs", names, of_place, no_fault, {"note": note}),
        capture_unexpected=verdict("unexpected", no_names, nothing, no_fault, {"note": note}),
        capture_unknown=verdict(
            "unknown", names, nothing, {"note": note, "fault": maybe(ref("fault"))}
        ),
        capture_unreadable=verdict(
            "unreadable", no_names, nothing, {"note": note, "fault": ref("fault")}
        ),
    )
