"""What `dsh-fp what-if --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    REFUSED,
    Schema,
    anything,
    asked_wrongly,
    constant,
    count,
    document,
    exit_code,
    flag,
    form,
    listed,
    maybe,
    one_of,
    record,
    ref,
    text,
)

_MESSAGES = {
    "before": "How many it had.",
    "after": "How many it has now.",
    "added": "How many are new.",
    "removed": "How many are gone.",
    "changed": "How many are others now.",
}


def schema() -> Schema:
    """The schema."""
    known = {"session": ref("session"), "events": count("How many events the log has.")}
    edits = listed(
        {
            "anyOf": [
                record({"edit": one_of(("drop", "replace")), "seq": ref("seq")}),
                record({"edit": constant("insert"), "before": ref("seq"), "type": text()}),
            ]
        },
        "The edits, without their payloads.",
    )
    changes = listed(ref("change"), "Every request that is another one.")
    output = maybe(text(), "Where the edited log was written; null without -o.")
    admitted = {
        **known,
        "edits": edits,
        "admissible": constant(True),
        "refusal": constant(None),
        "blamed": {"type": "array", "maxItems": 0},
        "events_after": count("How many events the edited log has."),
    }
    breaches = listed(ref("fault"), "What of turns and steps is broken by the edits.")
    pairing = listed(ref("lost_pair"), "Calls and results that the edits left alone.")
    refused = {
        **known,
        "edits": edits,
        "admissible": constant(False),
        "refusal": ref("fault", "Why; its seq is that of the edited log."),
        "blamed": listed(count(), "Which of the edits, from 0."),
        "events_after": constant(None),
        "requests": {"type": "array", "maxItems": 0},
        "breaches": {"type": "array", "maxItems": 0},
        "pairing": {"type": "array", "maxItems": 0},
        "output": constant(None),
        "exit_code": exit_code(Exit.FINDING),
    }
    return document(
        "what-if",
        "Which requests would have been others, had some events been others.",
        form(
            "every request stays as it was",
            {
                **admitted,
                "requests": {"type": "array", "maxItems": 0},
                "breaches": breaches,
                "pairing": pairing,
                "output": output,
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form(
            "requests change",
            {
                **admitted,
                "requests": {**changes, "minItems": 1},
                "breaches": breaches,
                "pairing": pairing,
                "output": output,
                "exit_code": exit_code(Exit.FINDING),
            },
        ),
        form("the edited log is refused", refused),
        form(
            "an edit cannot be made, or the log not be written",
            {**known, "error": {"anyOf": [ref("fault"), asked_wrongly("FILE_EXISTS")]}},
        ),
        REFUSED,
        lost_pair=record(
            {
                "lacks": one_of(("result", "call")),
                "call_id": text("The id of the call."),
                "place": one_of(("log", "surface"), "In the whole log, or only in force."),
                "seq": ref("seq", "Of the call's message or the result, in the edited log."),
                "old_seq": maybe(ref("seq"), "In the log as it was; null when it is inserted."),
                "partner": maybe(
                    ref("seq"), "The event that was the other half in the log as it was."
                ),
            },
            says="A call without a result, or a result without a call.",
        ),
        change=record(
            {
                "kind": one_of(("changed", "appears", "vanishes")),
                "turn": anything("As the step/start gives it."),
                "step": anything("As the step/start gives it."),
                "old_seq": maybe(ref("seq"), "In the log as it was."),
                "new_seq": maybe(ref("seq"), "In the edited log."),
                "header_changed": maybe(flag(), "Null unless both requests are known."),
                "messages": record(
                    {name: maybe(count(), says) for name, says in _MESSAGES.items()}
                ),
                "bytes": record(
                    {
                        "before": maybe(count(), "The length of its JSON text."),
                        "after": maybe(count(), "The length of its JSON text now."),
                    }
                ),
                "fault_before": maybe(ref("fault"), "Why it was not known."),
                "fault_after": maybe(ref("fault"), "Why it is not known now."),
            },
            says="What becomes of one request; a number is null where it is not known.",
        ),
    )
