"""Logs of the released generations, built event by event, for the tests of their bodies."""

from __future__ import annotations

from typing import Any, Self

from dsh_fp import Session, unwrap
from dsh_fp.core.generations import V0, V2, V3, V4
from dsh_fp.core.vocabulary import Vocabulary

TIDE = {
    "name": "tide",
    "description": "When the tide turns.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}, "day": {}}},
}
SWELL = {"name": "swell", "description": "How high it is.", "parameters": {"type": "object"}}
CONFIG = {"provider": "harbour", "model": "tern-1", "maxTokens": 90, "reasoningEffort": "high"}


def text(said: str) -> list[dict[str, Any]]:
    """Content that is one text."""
    return [{"type": "text", "text": said}]


class Released:
    """A log of a released generation that grows."""

    def __init__(self, vocabulary: Vocabulary = V4, id: str = "quay", **header: Any) -> None:
        fields = {"id": id, "createdAt": 1, **header}
        self.session: Session = unwrap(Session.replay([], fields, vocabulary=vocabulary))
        self.headed = vocabulary in (V3, V4)
        self.roled = vocabulary is V4
        self.turn = self.step = self._messages = 0

    def add(self, type: str, data: dict[str, Any], *, op: Any = None, sources: Any = None) -> int:
        """Append an event; its seq."""
        grown = self.session.append(
            type, data, time=len(self.session), surface_op=op, source_event_seqs=sources
        )
        self.session = unwrap(grown)
        return len(self.session) - 1

    def record(self, role: str, content: Any, source: Any = None, **more: Any) -> dict[str, Any]:
        """A message with an id of its own."""
        self._messages += 1
        told = {"role": role, "content": content, "source": source or {"kind": "user"}}
        return {**told, **more, "id": f"m{self._messages}"}

    def begin(self, *, system: str | None = "Be brief.", header: Any = None) -> Self:
        """A turn with its first step; on the first one the system and the header."""
        self.turn, self.step = self.turn + 1, 1
        self.add("turn/start", {"turn": self.turn})
        self.add("step/start", {"turn": self.turn, "step": 1})
        if self.turn == 1:
            if self.headed:
                self.system(system)
            own = {} if self.headed or system is None else {"system": system}
            self.header({"tools": [TIDE], **own} if header is None else header, "initial")
        return self

    def more(self) -> Self:
        """The next step of the turn."""
        self.add("step/end", {"turn": self.turn, "step": self.step})
        self.step += 1
        self.add("step/start", {"turn": self.turn, "step": self.step})
        return self

    def end(self, reason: Any = None) -> Self:
        """The end of step and turn."""
        self.add("step/end", {"turn": self.turn, "step": self.step})
        self.add("turn/end", {"turn": self.turn, "reason": reason or {"kind": "completed"}})
        return self

    def header(self, header: Any, reason: str = "resume", **more: Any) -> int:
        """A request header in force."""
        whole = {"config": CONFIG, **header}
        return self.add("request/header", {"header": whole, "reason": reason, **more})

    def system(self, said: str | None, *, op: Any = "append", sources: Any = None) -> int:
        """A system message; None says nothing."""
        content = [] if said is None else text(said)
        message = self.record("system", content, {"kind": "system-prompt"})
        told = {"turn": self.turn, "step": self.step, "message": message}
        return self.add("system/message", told, op=op, sources=sources)

    def say(self, said: Any, *, op: Any = "append", sources: Any = None) -> int:
        """A user's message."""
        content = text(said) if isinstance(said, str) else said
        return self.add("user/message", self.record("user", content), op=op, sources=sources)

    def answer(self, *blocks: dict[str, Any], model: str = "tern-1", **source: Any) -> int:
        """An answer of these blocks."""
        told = {"kind": "model", "provider": "harbour", "model": model, **source}
        message = self.record("assistant", list(blocks), told)
        data: dict[str, Any] = {"turn": self.turn, "step": self.step, "message": message}
        return self.add("assistant/message", data, op="append")

    def result(self, call: str, content: Any, **more: Any) -> int:
        """The result of a call."""
        source = {"kind": "tool", "callId": call}
        if self.roled:
            message = self.record("tool", content, source, toolCallId=call, **more)
        else:
            block = {"type": "tool-result", "toolCallId": call, "content": content, **more}
            message = self.record("user", [block], source)
        called = self.add("tool/call", {"turn": self.turn, "step": self.step, "callId": call})
        told = {"turn": self.turn, "step": self.step, "message": message}
        return self.add("tool/result", told, op="append", sources=[called])

    def developer(self, *content: dict[str, Any], header_seq: int | None = None) -> int:
        """A developer's message."""
        message = self.record("developer", list(content), {"kind": "tool-registry"})
        told: dict[str, Any] = {"turn": self.turn, "step": self.step, "message": message}
        if header_seq is not None:
            told["headerSeq"] = header_seq
        return self.add("developer/message", told, op="append")

    def compact(self, *, keep: int = 0, error: str | None = None, **summary: Any) -> int:
        """A compaction of all nodes but the head and the last few; the seq of its summary."""
        begun = self.add("compaction/start", {"compactionId": "k", "turn": None})
        if error is not None:
            return self.add("compaction/end", {"compactionId": "k", "error": {"message": error}})
        nodes = list(self.session.surface.seqs)[1 if self.headed else 0 :]
        gone = nodes[: len(nodes) - keep]
        told = {
            "summary": text("They asked for tides."),
            "rawOutput": text("They asked for tides."),
            "shadowedRange": {"start": gone[0], "end": gone[-1]},
            "shadowedSeqs": gone,
            "model": "tern-1",
            "maxTokens": 64,
            **summary,
        }
        seq = self.add("compaction/summary", {key: v for key, v in told.items() if v is not None})
        ends = ("startSeq", "endSeq") if self.headed else ("start", "end")
        op = {"op": "replace", ends[0]: gone[0], ends[1]: gone[-1]}
        self.say("They asked for tides.", op=op, sources=[begun, seq, *gone])
        self.add("compaction/end", {"compactionId": "k", "turn": None})
        return seq


def reasoning(said: str) -> dict[str, Any]:
    """A block of reasoning."""
    return {"type": "reasoning", "text": said}


def call(id: str, arguments: str = '{"day": 1}', name: str = "tide") -> dict[str, Any]:
    """A block that calls a tool."""
    return {"type": "tool-call", "id": id, "name": name, "arguments": arguments}


__all__ = [
    "CONFIG",
    "SWELL",
    "TIDE",
    "V0",
    "V2",
    "V3",
    "V4",
    "Released",
    "call",
    "reasoning",
    "text",
]
