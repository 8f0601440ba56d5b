"""The rules of turns and steps, up to the first breach."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from property_specs.models.json_values import exact, same

IN_STEP = ("step/end", "assistant/chunk", "assistant/message", "tool/call", "tool/result")
ABSENT = object()


@dataclass
class Trace:
    """Where in its turns and steps a log stands."""

    last_seq: float = -1
    open_turn: Any = None
    open_step: Any = None
    next_turn: int = 1
    next_step: int = 1
    pending: list[str] = field(default_factory=list)

    def breach(self, event: dict[str, Any]) -> str | None:
        """The first rule an event breaks."""
        kind = event["type"]
        if event["seq"] <= self.last_seq:
            return "SEQ_NOT_INCREASING"
        turn, step = _field(event, "turn"), _field(event, "step")
        if kind == "turn/start":
            if self.open_turn is not None:
                return "TURN_ALREADY_OPEN"
            return None if _is(turn, self.next_turn) else "TURN_NUMBER"
        if kind == "turn/end":
            if not _is(turn, self.open_turn):
                return "TURN_MISMATCH"
            return None if self.open_step is None else "STEP_OPEN_AT_TURN_END"
        if kind == "step/start":
            if not _is(turn, self.open_turn):
                return "STEP_TURN_MISMATCH"
            if self.open_step is not None:
                return "STEP_ALREADY_OPEN"
            return None if _is(step, self.next_step) else "STEP_NUMBER"
        if kind in IN_STEP:
            if not _is(turn, self.open_turn) or not _is(step, self.open_step):
                return "NOT_IN_OPEN_STEP"
            if kind == "tool/result" and not _is_repair(event):
                return None if _call(event) in self.pending else "RESULT_WITHOUT_CALL"
            return None
        return None if self.open_turn is not None else "OUTSIDE_TURN"

    def take(self, event: dict[str, Any]) -> None:
        """Go on with an event that breaks no rule."""
        self.last_seq = event["seq"]
        kind = event["type"]
        if kind == "turn/start":
            self.open_turn, self.next_step = self.next_turn, 1
        elif kind == "turn/end":
            self.open_turn, self.next_turn = None, self.next_turn + 1
        elif kind == "step/start":
            self.open_step = self.next_step
        elif kind == "step/end":
            self.open_step, self.next_step, self.pending = None, self.next_step + 1, []
        elif kind == "tool/call":
            if _call(event) not in self.pending:
                self.pending.append(_call(event))
        elif kind == "tool/result":
            self.pending = [call for call in self.pending if call != _call(event)]


def _field(event: dict[str, Any], key: str) -> Any:
    data = event["data"]
    return data.get(key, ABSENT) if isinstance(data, dict) else ABSENT


def _is(given: Any, wanted: Any) -> bool:
    return given is not ABSENT and same(given, wanted)


def _call(event: dict[str, Any]) -> str:
    return exact(_field(event, "callId"))


def _is_repair(event: dict[str, Any]) -> bool:
    error = _field(event, "error")
    return (
        _field(event, "isError") is True
        and isinstance(error, dict)
        and error.get("code") == "interrupted"
    )


def trace_of(events: list[dict[str, Any]]) -> Trace | tuple[int, str]:
    """Where a list of bare events ends up, or the index and code of its first breach."""
    trace = Trace()
    for index, event in enumerate(events):
        code = trace.breach(event)
        if code is not None:
            return index, code
        trace.take(event)
    return trace
