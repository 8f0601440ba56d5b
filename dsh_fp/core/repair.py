"""Closers of an interrupted turn: the events that end what a crash cut short.

Nothing here invents what happened: a call without a recorded result gets a result that says
exactly that, citing the call if it was logged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs

from dsh_fp.core.events import UNSET, Event, new_event
from dsh_fp.core.lossless import JsonObject, json_array, json_object, to_text

INTERRUPTED_TEXT: Final = "Tool call interrupted by a crash; no result was recorded."
# The order the reference writes a closer's envelope in.
_CLOSER_ORDER: Final = ("type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs")


@attrs.frozen
class _Asked:
    """A tool call the model asked for: its id, its message's step, its logged call."""

    call_id: Any
    step: Any
    call_seq: int | None = None


def interrupted_turn_closers(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events that close the last turn of a log, or none when it is closed.

    Shapes:  a tool/result for each pending call in order of asking, then a step/end if a
             step is open, then a turn/end of kind `interrupted`.
    Units:   seqs continue the log; the time is the last event's.
    Law:     repair_closes_any_cut.
    Source:  docs/reference/repair.md.
    """
    turn: Any = None
    step: Any = None
    in_turn = in_step = False
    pending: dict[str, _Asked] = {}
    last: Event | None = None
    for event in events:
        last = event
        match event.type:
            case "turn/start":
                turn, in_turn, in_step = _field(event, "turn"), True, False
                pending.clear()
            case "turn/end":
                in_turn = in_step = False
                pending.clear()
            case "step/start":
                step, in_step = _field(event, "step"), True
            case "step/end":
                in_step = False
                pending.clear()
            case "assistant/message":
                for call_id in _asked_ids(event):
                    pending[to_text(call_id)] = _Asked(call_id, _field(event, "step"))
            case "tool/call":
                key = to_text(_field(event, "callId"))
                if key in pending:
                    pending[key] = attrs.evolve(pending[key], call_seq=event.seq)
            case "tool/result":
                pending.pop(to_text(_field(event, "callId")), None)
            case _:
                pass
    if last is None or not in_turn:
        return ()
    closers: list[Event] = []

    def close(type: str, data: dict[str, Any], op: Any = UNSET, sources: Any = UNSET) -> None:
        seq = last.seq + 1 + len(closers)
        order = _CLOSER_ORDER if sources is not UNSET else None
        frozen = json_object(data)
        closers.append(
            new_event(type, seq, last.time, frozen, op=op, sources=sources, order=order)
        )

    for asked in pending.values():
        sources = UNSET if asked.call_seq is None else json_array((asked.call_seq,))
        close("tool/result", _result_data(turn, asked), "append", sources)
    if in_step:
        close("step/end", {"turn": turn, "step": step})
    reason = json_object({"kind": "interrupted"})
    close("turn/end", {"turn": turn, "reason": reason})
    return tuple(closers)


def _field(event: Event, key: str) -> Any:
    data = event.peek_data()
    return data.get(key) if isinstance(data, JsonObject) else None


def _asked_ids(event: Event) -> list[Any]:
    content = _field(event, "content")
    if not isinstance(content, tuple):
        return []
    return [
        block.get("id")
        for block in content
        if isinstance(block, JsonObject) and block.get("type") == "tool-call"
    ]


def _result_data(turn: Any, asked: _Asked) -> dict[str, Any]:
    text = json_object({"type": "text", "text": INTERRUPTED_TEXT})
    return {
        "turn": turn,
        "step": asked.step,
        "callId": asked.call_id,
        "content": json_array((text,)),
        "isError": True,
        "error": json_object({"name": "InterruptedError", "code": "interrupted"}),
    }
