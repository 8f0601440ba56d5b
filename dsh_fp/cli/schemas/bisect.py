"""What `dsh-fp bisect --json` prints."""

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
    form,
    listed,
    maybe,
    one_of,
    record,
    ref,
    text,
)
from dsh_fp.core.bisecting import Verdict

_LAST_CODE = 127  # COMMAND ends the search with a greater one


def schema() -> Schema:
    """The schema."""
    length = count("How many events the prefix has.")
    trial = record(
        {
            "length": length,
            "seq": maybe(ref("seq"), "Its last event."),
            "verdict": one_of(verdict.value for verdict in Verdict),
            "exit_code": {"type": "integer", "minimum": 0, "maximum": _LAST_CODE},
        }
    )
    known = {
        "session": ref("session"),
        "events": count("How many events the log has."),
        "by": one_of(("event", "step", "turn"), "Where the prefixes tried end."),
        "trials": listed(trial, "In the order they were made."),
    }
    codes = ("END_NOT_BAD", "START_NOT_GOOD", "COMMAND_GAVE_UP", "COMMAND_NOT_STARTED")
    candidates = listed(length, "The lengths that the first bad prefix may have.")
    last_good = maybe(ref("prefix"), "The longest prefix known to be good.")
    return document(
        "bisect",
        "The first prefix of a log for which a program fails.",
        form(
            "found",
            {
                **known,
                "first_bad": ref("prefix"),
                "last_good": last_good,
                "candidates": {**candidates, "minItems": 1, "maxItems": 1},
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form(
            "not told apart: the program skipped the prefixes between",
            {
                **known,
                "first_bad": constant(None),
                "last_good": last_good,
                "candidates": {**candidates, "minItems": 2},
                "exit_code": exit_code(Exit.FINDING),
            },
        ),
        form(
            "the search cannot be made, or not be ended",
            {**known, "error": {"anyOf": [ref("fault"), asked_wrongly(*codes)]}},
        ),
        REFUSED,
        prefix={
            "anyOf": [
                record(
                    {
                        "length": {**length, "minimum": 1},
                        "seq": ref("seq", "Its last event."),
                        "type": text(),
                        "turn": anything("Of that event, or the one open there."),
                        "step": anything("Of that event, or the one open there."),
                        "time": count("Epoch milliseconds."),
                    }
                ),
                record(
                    {
                        "length": constant(0),
                        **{key: constant(None) for key in ("seq", "type", "turn", "step", "time")},
                    }
                ),
            ],
            "description": "A prefix by its last event.",
        },
    )
