"""Closers of an interrupted turn: the events that end what a crash cut short.

Nothing here invents what happened: a call without a recorded result gets a result that says
exactly that, citing the call if it was logged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from dsh_fp.core.events import UNSET, Event, new_event
from dsh_fp.core.lossless import AnyJson, JsonObject, json_array, json_object, to_text

INTERRUPTED_TEXT: Final = "Tool call interrupted by a crash; no result was recorded."
# The order the reference writes a closer's envelope in.
_CLOSER_ORDER: Final = ("type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs")


@attrs.frozen
class _Asked:
    """A tool call the model asked for: its id, its message's step, its logged call."""

    call_id: AnyJson
    step: AnyJson
    call_seq: int | None = None


class _Walk:
    """What is open at the end of a log: its turn, its step, its calls."""

    def __init__(self) -> None:
        self.turn: AnyJson = None
        self.step: AnyJson = None
        self.in_turn = False
        self.in_step = False
        self.pending: dict[str, _Asked] = {}

    def see(self, event: Event) -> None:
        """Take one event at its word."""
        match event.type:
            case "turn/start":
                self._forget(in_turn=True)
                self.turn = _field(event, "turn")
            case "turn/end":
                self._forget(in_turn=False)
            case "step/start":
                self.in_step = True
                self.step = _field(event, "step")
            case "step/end":
                self._forget(in_turn=self.in_turn)
            case "assistant/message":
                step = _field(event, "step")
                for call_id in _asked_ids(event):
                    # Asked again, it keeps its place; the new message's step counts.
                    self.pending[to_text(call_id)] = _Asked(call_id, step)
            case "tool/call":
                key = to_text(_field(event, "callId"))
                if key in self.pending:
                    self.pending[key] = attrs.evolve(self.pending[key], call_seq=event.seq)
            case "tool/result":
                self.pending.pop(to_text(_field(event, "callId")), None)
            case _:
                pass

    def _forget(self, *, in_turn: bool) -> None:
        self.in_turn, self.in_step = in_turn, False
        self.pending.clear()


def interrupted_turn_closers(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events that close the last turn of a log, or none when it is closed.

    Shapes:  a tool/result for each pending call in order of asking, then a step/end if a
             step is open, then a turn/end of kind `interrupted`.
    Units:   seqs continue the log; the time is the last event's.
    Law:     repair_closes_any_cut.
    Source:  docs/reference/repair.md.
    """
    walk = _Walk()
    last: Event | None = None
    for event in events:
        last = event
        walk.see(event)
    if last is None or not walk.in_turn:
        return ()
    closers = [_result(walk.turn, asked) for asked in walk.pending.values()]
    if walk.in_step:
        step_end = json_object({"turn": walk.turn, "step": walk.step})
        closers.append(_Closer("step/end", step_end))
    reason = json_object({"kind": "interrupted"})
    closers.append(_Closer("turn/end", json_object({"turn": walk.turn, "reason": reason})))
    first = last.seq + 1
    return tuple(closer.event(first + place, last.time) for place, closer in enumerate(closers))


@attrs.frozen
class _Closer:
    """A closing event before it has its place and time."""

    type: str
    data: JsonObject
    op: AnyJson = UNSET
    sources: AnyJson = UNSET

    def event(self, seq: int, time_ms: int) -> Event:
        return new_event(
            self.type,
            seq,
            time_ms,
            self.data,
            op=self.op,
            sources=self.sources,
            order=_CLOSER_ORDER,
        )


def _result(turn: AnyJson, asked: _Asked) -> _Closer:
    text = json_object({"type": "text", "text": INTERRUPTED_TEXT})
    data = {
        "turn": turn,
        "step": asked.step,
        "callId": asked.call_id,
        "content": json_array((text,)),
        "isError": True,
        "error": json_object({"name": "InterruptedError", "code": "interrupted"}),
    }
    sources = UNSET if asked.call_seq is None else json_array((asked.call_seq,))
    return _Closer("tool/result", json_object(data), "append", sources)


def _field(event: Event, key: str) -> AnyJson:
    data = event.peek_data()
    return data.get(key) if isinstance(data, JsonObject) else None


def _asked_ids(event: Event) -> list[AnyJson]:
    content = _field(event, "content")
    if not isinstance(content, tuple):
        return []
    return [
        block.get("id")
        for block in content
        if isinstance(block, JsonObject) and block.get("type") == "tool-call"
    ]
