"""Batches of events for stored sessions: what is drawn is their kinds, the seqs come later.

Leaves out: what storage never looks at; the laws of events and files have that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

Log = list[dict[str, Any]]

_CALL = {"type": "tool-call", "id": "c", "name": "run", "arguments": "{}"}
_KINDS: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("plugin/note", {"text": "é\n😀", "n": 1.5}, {}),
    ("turn/start", {"turn": 1, "trigger": {}}, {}),
    ("step/start", {"turn": 1, "step": 1}, {}),
    (
        "assistant/message",
        {"turn": 1, "step": 1, "content": [_CALL]},
        {"surfaceOp": "append"},
    ),
    ("tool/call", {"turn": 1, "step": 1, "callId": "c", "name": "run", "arguments": "{}"}, {}),
    ("step/end", {"turn": 1, "step": 1}, {}),
    ("turn/end", {"turn": 1, "reason": {"kind": "completed"}}, {}),
)


@cache
def batches(max_size: int = 5) -> st.SearchStrategy[list[int]]:
    """The kinds of a batch's events, perhaps none."""
    return st.lists(st.integers(0, len(_KINDS) - 1), max_size=max_size)


def events_of(kinds: list[int], first: int, salt: int = 0) -> Log:
    """The events of a batch that begins at a seq; `salt` tells it from others."""
    return [
        {"type": kind, "seq": seq, "time": 1000 * salt + seq, "data": data, **marker}
        for seq, (kind, data, marker) in enumerate((_KINDS[kind] for kind in kinds), start=first)
    ]


@dataclass(frozen=True)
class Trouble:
    """A flush during which the call with this number fails; without one none does."""

    call: int | None
    error: str
    persists: bool
    is_done_first: bool


@cache
def troubles() -> st.SearchStrategy[Trouble]:
    """Flushes that go well, and flushes in which some call fails."""
    return st.builds(
        Trouble,
        st.none() | st.integers(0, 30),
        st.sampled_from(["ENOSPC", "EIO", "EACCES", "EROFS"]),
        st.booleans(),
        st.booleans(),
    )
