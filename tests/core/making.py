"""Events as wire objects, for examples: what is not said is plain and never the point."""

from __future__ import annotations

from typing import Any, Final

from dsh_fp import Rejection, Session, parse, snapshot
from dsh_fp.rejected import unwrap

Wire = dict[str, Any]

CONFIG: Final[Wire] = {"model": "m-1"}
USER: Final[Wire] = {"kind": "user"}


def text(words: str) -> Wire:
    """A text block."""
    return {"type": "text", "text": words}


def event(kind: str, seq: int, data: Any = None, **more: Any) -> Wire:
    """An event of any type; its time follows from its seq."""
    return {"type": kind, "seq": seq, "time": 1000 + seq, "data": data, **more}


def note(seq: int) -> Wire:
    """A log-only event of a plugin."""
    return event("plugin/note", seq, {"n": seq})


def user(seq: int, words: str = "Hello", **more: Any) -> Wire:
    """A user message that appends."""
    data = {"content": [text(words)], "source": USER}
    return event("user/message", seq, data, **{"surfaceOp": "append", **more})


def replacing(seq: int, start: int, end: int, cites: list[int], words: str = "In short") -> Wire:
    """A context message that takes the place of the nodes from start through end."""
    data = {"content": [text(words)], "source": {"kind": "plugin", "plugin": "compact"}}
    op = {"op": "replace", "start": start, "end": end}
    return event("context/message", seq, data, sourceEventSeqs=cites, surfaceOp=op)


def turn_start(seq: int, turn: Any = 1) -> Wire:
    """The start of a turn."""
    return event("turn/start", seq, {"turn": turn, "trigger": {"kind": "continuation"}})


def turn_end(seq: int, turn: Any = 1) -> Wire:
    """The end of a turn."""
    return event("turn/end", seq, {"turn": turn, "reason": {"kind": "completed"}})


def step_start(seq: int, turn: Any = 1, step: Any = 1) -> Wire:
    """The start of a step."""
    return event("step/start", seq, {"turn": turn, "step": step})


def step_end(seq: int, turn: Any = 1, step: Any = 1) -> Wire:
    """The end of a step."""
    return event("step/end", seq, {"turn": turn, "step": step})


def assistant(seq: int, *blocks: Wire, turn: int = 1, step: int = 1, **fields: Any) -> Wire:
    """An assistant message of these blocks; of one text block when none is given."""
    data = {"turn": turn, "step": step, "content": list(blocks) or [text("Yes")], **fields}
    return event("assistant/message", seq, data, surfaceOp="append")


def asking(call_id: str, name: str = "look") -> Wire:
    """A tool-call block."""
    return {"type": "tool-call", "id": call_id, "name": name, "arguments": "{}"}


def call(seq: int, call_id: str, turn: int = 1, step: int = 1) -> Wire:
    """A logged tool call."""
    data = {"turn": turn, "step": step, "callId": call_id, "name": "look", "arguments": "{}"}
    return event("tool/call", seq, data)


def result(seq: int, call_id: str, turn: int = 1, step: int = 1, **fields: Any) -> Wire:
    """A tool result that appends."""
    data = {"turn": turn, "step": step, "callId": call_id, "content": [text("seen")]}
    return event("tool/result", seq, {**data, "isError": False, **fields}, surfaceOp="append")


def header(seq: int, reason: str = "initial", **parts: Any) -> Wire:
    """A header snapshot."""
    return event("request/header", seq, {"header": {"config": CONFIG, **parts}, "reason": reason})


def delta(seq: int, **parts: Any) -> Wire:
    """A header delta."""
    return event("request/header-delta", seq, parts)


def replayed(*events: Wire) -> Session:
    """The session of these events, which are all acceptable."""
    return unwrap(Session.replay(events))


def refused(*events: Wire) -> Rejection:
    """Why a log of these events is refused; raises when it is not."""
    return Session.replay(events).failure()


def nested(levels: int, inside: Any = None) -> Any:
    """A list in a list and so on, `levels` of them."""
    value: Any = [] if inside is None else [inside]
    for _ in range(levels - 1):
        value = [value]
    return value


def frozen(value: object) -> Any:
    """The snapshot of a value that is accepted."""
    return unwrap(snapshot(value))


def parsed(text: str | bytes) -> Any:
    """The value of a JSON text that is accepted."""
    return unwrap(parse(text))
