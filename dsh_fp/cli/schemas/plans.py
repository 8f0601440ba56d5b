"""The plan of a repair, as `resume-check` and `repair` both print it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from dsh_fp.cli.resume_check import Lock
from dsh_fp.cli.schemas.parts import (
    Schema,
    anything,
    constant,
    count,
    listed,
    maybe,
    one_of,
    record,
    ref,
)

LOCKS: Final[tuple[str, ...]] = get_args(Lock)
_CLOSERS: Final = ("tool/result", "step/end", "turn/end")
_CLOSER: Final = record(
    {
        "seq": ref("seq"),
        "type": one_of(_CLOSERS),
        "call_id": anything("The call that is answered; null for the ends of step and turn."),
    }
)
_SIZES: Final[Mapping[str, Schema]] = {
    "session": ref("session"),
    "events": count("How many events the good part holds."),
    "good_bytes": count("Up to which byte the file is good."),
    "size": count("How many bytes there are."),
}
_NEXT: Final[Mapping[str, Schema]] = {"next_seq": ref("seq", "The seq after resuming.")}

IDLE: Final[Mapping[str, Schema]] = {
    **_SIZES,
    "would_change": constant(False),
    "cut": constant(None),
    "append": {"type": "array", "maxItems": 0},
    **_NEXT,
}
"""Nothing is to be done."""

CHANGING: Final[Mapping[str, Schema]] = {
    **_SIZES,
    "would_change": constant(True),
    "cut": maybe(ref("finding"), "The torn tail; null when there is none."),
    "append": listed(_CLOSER, "The events that close an interrupted turn."),
    **_NEXT,
}
"""Something is to be done, or was."""
