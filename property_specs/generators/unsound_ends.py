"""Accepted logs whose last event breaks one rule that only a strict session asks for.

Leaves out: SEQ_NOT_INCREASING, which no accepted log can have.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from property_specs.generators.headers import BROKEN_HEADERS
from property_specs.generators.logs import Log, Move, Writer, turn_moves

CODES = (
    "HEADER_DELTA_WITHOUT_SNAPSHOT",
    "HEADER_INVALID",
    "PAYLOAD_INVALID",
    "TURN_ALREADY_OPEN",
    "TURN_NUMBER",
    "TURN_MISMATCH",
    "STEP_OPEN_AT_TURN_END",
    "STEP_TURN_MISMATCH",
    "STEP_ALREADY_OPEN",
    "STEP_NUMBER",
    "NOT_IN_OPEN_STEP",
    "RESULT_WITHOUT_CALL",
    "OUTSIDE_TURN",
)
_HI: dict[str, Any] = {"content": [{"type": "text", "text": "hi"}]}
_USER = {"kind": "user"}
_APPENDED = {"surfaceOp": "append"}
_CLOSED, _IN_TURN, _IN_STEP = "end turn", "end step", "step"
# In which of the three the rule can be broken.
_PLACE = {
    "TURN_NUMBER": _CLOSED,
    "OUTSIDE_TURN": _CLOSED,
    "STEP_NUMBER": _IN_TURN,
    "NOT_IN_OPEN_STEP": _IN_TURN,
    "STEP_OPEN_AT_TURN_END": _IN_STEP,
    "STEP_ALREADY_OPEN": _IN_STEP,
    "RESULT_WITHOUT_CALL": _IN_STEP,
}

Ending = tuple[str, Any, dict[str, Any]]
"""Type, payload and marker of a last event."""


@st.composite
def unsound_ends(draw: st.DrawFn, code: str) -> Log:
    """A log that acceptance takes, and whose last event alone is unsound, with this code."""
    writer = Writer()
    moves = draw(st.lists(turn_moves(), max_size=4))
    if code == "HEADER_DELTA_WITHOUT_SNAPSHOT":
        moves = [move for move in moves if move.kind not in ("header", "delta", "odd delta")]
    for move in moves:
        writer.write(move)
    writer.write(Move(_PLACE.get(code, _IN_TURN)))
    kind, data, marker = draw(_endings(code, writer))
    writer.add(kind, data, marker)
    return writer.book.events


def _endings(code: str, writer: Writer) -> st.SearchStrategy[Ending]:
    turn, step = writer.turn, writer.step
    here = {"turn": turn, "step": step}
    call = {**here, "callId": "c1", "name": "run", "arguments": "{}"}
    trigger = {"kind": "message", "source": _USER}
    reason = {"kind": "completed"}
    off = (1, 2, -1)
    # Of a header that is no object the payload is at fault first.
    headers = [header for header in BROKEN_HEADERS if isinstance(header, dict)]
    said = [{"content": "hi", "source": _USER}, {"content": []}, {**_HI, "source": {}}, None]
    endings: dict[str, list[Ending]] = {
        "HEADER_DELTA_WITHOUT_SNAPSHOT": [
            ("request/header-delta", {"config": {"model": "small"}}, {})
        ],
        "HEADER_INVALID": [
            ("request/header", {"header": header, "reason": "initial"}, {}) for header in headers
        ],
        "PAYLOAD_INVALID": [("user/message", data, _APPENDED) for data in said],
        "TURN_ALREADY_OPEN": [("turn/start", {"turn": turn + 1, "trigger": trigger}, {})],
        "TURN_NUMBER": [
            ("turn/start", {"turn": turn + 1 + more, "trigger": trigger}, {}) for more in off
        ],
        "TURN_MISMATCH": [
            ("turn/end", {"turn": turn + more, "reason": reason}, {}) for more in off
        ],
        "STEP_OPEN_AT_TURN_END": [("turn/end", {"turn": turn, "reason": reason}, {})],
        "STEP_TURN_MISMATCH": [
            ("step/start", {"turn": turn + more, "step": step + 1}, {}) for more in off
        ],
        "STEP_ALREADY_OPEN": [("step/start", {"turn": turn, "step": step + 1}, {})],
        "STEP_NUMBER": [
            ("step/start", {"turn": turn, "step": step + 1 + more}, {}) for more in off
        ],
        "NOT_IN_OPEN_STEP": [
            ("step/end", here, {}),
            ("assistant/message", {**here, **_HI}, _APPENDED),
            ("tool/call", call, {}),
        ],
        "RESULT_WITHOUT_CALL": [
            ("tool/result", {**here, "callId": "c9", "content": [], "isError": False}, _APPENDED)
        ],
        "OUTSIDE_TURN": [
            ("user/message", {**_HI, "source": _USER}, _APPENDED),
            ("plugin/note", None, {}),
            ("todo/write", {"todos": []}, {}),
        ],
    }
    return st.sampled_from(endings[code])
