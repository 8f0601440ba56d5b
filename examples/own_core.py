"""A small session log as somebody else may have written it, for the page on judging one.

It knows acceptance, the surface and the messages, in its own words and with its own names.
"""

import json
from typing import Any, TypeAlias

Json: TypeAlias = Any

SPOKEN = {
    "user/message",
    "assistant/message",
    "tool/result",
    "context/message",
    "steering/message",
}
KEYS = {"type", "seq", "time", "data"}
MORE_KEYS = {"surfaceOp", "sourceEventSeqs"}


class Bad(Exception):
    """An event that is not taken; `place` is its index, or the seq of a payload of no use."""

    def __init__(self, code: str, place: int) -> None:
        super().__init__(f"{code} at {place}")
        self.code = code
        self.place = place


def is_count(value: Json) -> bool:
    """Whether a value is an integer from 0 to 2**53 - 1."""
    return type(value) is int and 0 <= value < 2**53


class Log:
    """A log and its surface, grown event by event."""

    def __init__(self, events: list[Any]) -> None:
        self.events: list[dict[str, Any]] = []
        self.surface: list[int] = []
        self.replacements = 0
        for event in events:
            self.push(event)

    def push(self, event: Json) -> None:
        """Take an event, or raise Bad."""
        code = self._shape(event) or self._place(event) or self._sources(event)
        if code:
            raise Bad(code, len(self.events))
        self.events.append(event)
        op = event.get("surfaceOp")
        if op == "append":
            self.surface.append(event["seq"])
        elif op is not None:
            first, last = self.surface.index(op["start"]), self.surface.index(op["end"])
            self.surface[first : last + 1] = [event["seq"]]
            self.replacements += 1

    def _shape(self, event: Json) -> str | None:
        if not (isinstance(event, dict) and KEYS <= event.keys() <= KEYS | MORE_KEYS):
            return "BAD_ENVELOPE"
        if not isinstance(event["type"], str):
            return "BAD_ENVELOPE"
        if not (is_count(event["seq"]) and is_count(event["time"])):
            return "BAD_ENVELOPE"
        if event["seq"] != len(self.events):
            return "SEQ_GAP"
        if event["type"] in SPOKEN:
            return None
        if "surfaceOp" in event:
            return "SURFACE_OP_FORBIDDEN"
        return "SOURCES_FORBIDDEN" if "sourceEventSeqs" in event else None

    def _place(self, event: dict[str, Any]) -> str | None:
        if event["type"] not in SPOKEN:
            return None
        if "surfaceOp" not in event:
            return "SURFACE_OP_MISSING"
        op, sources = event["surfaceOp"], event.get("sourceEventSeqs", [])
        if op != "append" and not self._is_range(op):
            return "SURFACE_OP_INVALID"
        if not (isinstance(sources, list) and all(map(is_count, sources))):
            return "SOURCES_INVALID"
        if op == "append":
            return None
        if op["start"] not in self.surface:
            return "REPLACE_START_UNKNOWN"
        if op["end"] not in self.surface:
            return "REPLACE_END_UNKNOWN"
        is_forward = self.surface.index(op["start"]) <= self.surface.index(op["end"])
        return None if is_forward else "REPLACE_REVERSED"

    def _is_range(self, op: Json) -> bool:
        sound = isinstance(op, dict) and op.keys() == {"op", "start", "end"}
        return sound and op["op"] == "replace" and is_count(op["start"]) and is_count(op["end"])

    def _sources(self, event: dict[str, Any]) -> str | None:
        sources = event.get("sourceEventSeqs", [])
        if "sourceEventSeqs" in event:
            if not sources:
                return "SOURCES_EMPTY"
            if len(set(sources)) < len(sources):
                return "SOURCES_DUPLICATE"
            if max(sources) >= event["seq"]:
                return "SOURCES_NOT_EARLIER"
        op = event.get("surfaceOp", "append")
        if op == "append":
            return None
        gone = self.surface[self.surface.index(op["start"]) : self.surface.index(op["end"]) + 1]
        return None if set(gone) <= set(sources) else "REPLACE_UNCITED"

    def chat(self) -> list[dict[str, Any]]:
        """The messages in force."""
        spoken = (self.spoken(self.events[seq]) for seq in self.surface)
        return [message for message in spoken if message is not None]

    def spoken(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """The message of one event."""
        data, kind = event["data"], event["type"]
        if not isinstance(data, dict) or not isinstance(data.get("content"), list):
            raise Bad("PAYLOAD_INVALID", event["seq"])
        content = data["content"]
        if kind == "assistant/message":
            return {"role": "assistant", "content": content} if content else None
        if kind == "tool/result":
            if "callId" not in data:
                raise Bad("PAYLOAD_INVALID", event["seq"])
            block = {"type": "tool-result", "toolCallId": data["callId"], "content": content}
            content = [block | {key: data[key] for key in ("isError",) if key in data}]
        elif kind != "user/message":
            if not isinstance(data.get("source"), dict):
                raise Bad("PAYLOAD_INVALID", event["seq"])
            content = self.framed(kind.partition("/")[0], data["source"], content)
        return {"role": "user", "content": content}

    def framed(self, tag: str, source: dict[str, Any], content: list[Any]) -> list[Any]:
        """Content between two tags."""
        kind = "undefined"
        if "kind" in source:
            kind = json.dumps(source["kind"], separators=(",", ":"), ensure_ascii=False)
        opening, closing = f"<{tag} source={kind}>", f"</{tag}>"
        return [{"type": "text", "text": opening}, *content, {"type": "text", "text": closing}]
