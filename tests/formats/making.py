"""Small sound logs of every generation and container, and the parts to damage them with."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final

from dsh_fp import Rejection
from dsh_fp.formats.frames import compressed
from dsh_fp.formats.reading import ReleasedLogFile, read
from tests.storage.logs import line

Wire = dict[str, Any]

GENERATIONS: Final = (0, 1, 2, 3, 4)
CONTAINERS: Final = ("plain", "zstd")
FORMS: Final = [(version, container) for version in GENERATIONS for container in CONTAINERS]
TIME: Final = 1_700_000_000_000


def header(version: int, **fields: Any) -> Wire:
    """A session header of a generation; a field given as Ellipsis is left out."""
    own = {"isSeeded": False} if version >= 2 else {}
    wire = {
        "type": "session",
        "version": version,
        "id": "s-1",
        "createdAt": TIME,
        "cwd": "/srv/garden",
        **own,
        "delegationDepth": 0,
        **fields,
    }
    return {key: value for key, value in wire.items() if value is not ...}


class Writer:
    """Writes the events of one generation, seqs counted."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.events: list[Wire] = []

    def add(self, kind: str, data: Any, **more: Any) -> int:
        """One event more; answers its seq."""
        seq = len(self.events)
        event = {"type": kind, "seq": seq, "time": TIME + 5 * seq, "data": data, **more}
        self.events.append(event)
        return seq

    def say(self, words: str) -> int:
        """A user message."""
        data = {
            "role": "user",
            "content": [{"type": "text", "text": words}],
            "source": {"kind": "user"},
            "id": f"m-{len(self.events)}",
        }
        return self.add("user/message", data, surfaceOp="append")

    def system(self, turn: int, step: int, words: str) -> int | None:
        """The system prompt, where a message holds it."""
        if self.version < 3:
            return None
        source = (
            {"kind": "system-prompt"} if self.version == 4 else {"kind": "plugin", "plugin": "p"}
        )
        content = [{"type": "text", "text": words}] if words else []
        message = {"role": "system", "content": content, "source": source, "id": "m-system"}
        data = {"turn": turn, "step": step, "message": message}
        return self.add("system/message", data, surfaceOp="append")

    def header(self, reason: str = "initial") -> int:
        """A request header."""
        own = {"system": "Be brief."} if self.version < 3 else {}
        config = {"provider": "p", "model": "m-1"}
        return self.add("request/header", {"header": {"config": config, **own}, "reason": reason})

    def chunk(self, turn: int, step: int, chunk: Wire) -> int:
        """A stream chunk as an event of its own."""
        return self.add("assistant/chunk", {"turn": turn, "step": step, "chunk": chunk})

    def answer(self, turn: int, step: int, content: list[Wire], pieces: Sequence[str] = ()) -> int:
        """An assistant message, with the pieces of its text before or within it."""
        cited: list[int] = []
        stream: list[Wire] = []
        if self.version < 2:
            cited = [
                self.chunk(turn, step, {"type": "text-delta", "index": 0, "text": piece})
                for piece in pieces
            ]
        elif pieces:
            gaps = [1] * (len(pieces) - 1)
            stream = [
                {"type": "text-chunks", "time0": TIME, "index": 0, "dt": gaps, "texts": [*pieces]}
            ]
        message = {
            "role": "assistant",
            "content": content,
            "source": {"kind": "model", "provider": "p", "model": "m-1"},
            "id": f"m-{len(self.events)}",
        }
        data: Wire = {"turn": turn, "step": step, "message": message}
        if self.version >= 2:
            data["stream"] = stream
        sources = {"sourceEventSeqs": cited} if cited else {}
        return self.add("assistant/message", data, **sources, surfaceOp="append")

    def call(self, turn: int, step: int, call_id: str, arguments: str = "{}") -> int:
        """A tool call that was started."""
        data = {
            "turn": turn,
            "step": step,
            "callId": call_id,
            "name": "dig",
            "arguments": arguments,
        }
        return self.add("tool/call", data)

    def result(self, turn: int, step: int, call_id: str, cites: int | None, **more: Any) -> int:
        """A tool result."""
        message = self.result_message(call_id, "done")
        sources = {} if cites is None else {"sourceEventSeqs": [cites]}
        data = {"turn": turn, "step": step, "message": message, **more}
        return self.add("tool/result", data, **sources, surfaceOp="append")

    def result_message(self, call_id: str, words: str) -> Wire:
        """The message of a tool result, as the generation shapes it."""
        content: list[Wire] = [{"type": "text", "text": words}]
        identity = {"source": {"kind": "tool", "callId": call_id}, "id": f"r-{call_id}"}
        if self.version == 4:
            return {"role": "tool", "toolCallId": call_id, "content": content, **identity}
        block = {"type": "tool-result", "toolCallId": call_id, "content": content}
        return {"role": "user", "content": [block], **identity}


def asks(call_id: str, arguments: str = "{}") -> Wire:
    """The block of an answer that asks for a tool call."""
    return {"type": "tool-call", "id": call_id, "name": "dig", "arguments": arguments}


def says(words: str) -> Wire:
    """A text block."""
    return {"type": "text", "text": words}


def conversation(version: int, *, closed: bool = True) -> list[Wire]:
    """A sound log: one turn with a tool call, one with an answer streamed in pieces."""
    log = Writer(version)
    log.add("session/title", {"title": "Beds", "messageSeqs": [], "source": {"kind": "user"}})
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    log.system(1, 1, "Be brief.")
    log.say("Dig a bed, please.")
    log.header()
    log.answer(1, 1, [asks("c-1")])
    call = log.call(1, 1, "c-1")
    log.result(1, 1, "c-1", call)
    log.add("step/end", {"turn": 1, "step": 1})
    log.add("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    log.add("turn/start", {"turn": 2})
    log.add("step/start", {"turn": 2, "step": 1})
    log.say("And now?")
    log.answer(2, 1, [says("Sow it.")], ["S", "ow", " it", "."])
    if closed:
        log.add("step/end", {"turn": 2, "step": 1})
        log.add("turn/end", {"turn": 2, "reason": {"kind": "completed"}})
    return log.events


def packed(events: Iterable[Wire]) -> list[Wire]:
    """Events with the runs of three text deltas or more packed, written by hand."""
    rows: list[Wire] = []
    run: list[Wire] = []
    for event in [*events, {"type": "(end)"}]:
        if event["type"] == "assistant/chunk":
            run.append(event)
            continue
        if len(run) >= 3:
            first, data = run[0], run[0]["data"]
            times = [one["time"] for one in run]
            gaps = [after - before for before, after in itertools.pairwise(times)]
            place = {"turn": data["turn"], "step": data["step"], "index": 0, "dt": gaps}
            texts = [one["data"]["chunk"]["text"] for one in run]
            row = {"type": "text-chunks", "seq0": first["seq"], "time0": first["time"]}
            rows.append({**row, "data": {**place, "texts": texts}})
        else:
            rows += run
        run = []
        rows.append(event)
    return rows[:-1]


def lines(*rows: Any) -> bytes:
    """Rows as lines; what is given as bytes goes in as it is."""
    return b"".join(row if isinstance(row, bytes) else line(row) for row in rows)


def plain(version: int, rows: Iterable[Any], **fields: Any) -> bytes:
    """A plain log."""
    return lines(header(version, **fields), *rows)


def zstd(version: int, *batches: Iterable[Any], **fields: Any) -> bytes:
    """A compressed log: a frame for the header and one for each batch of rows."""
    return compressed(line(header(version, **fields))) + b"".join(
        compressed(lines(*batch)) for batch in batches
    )


def contained(container: str, version: int, rows: Sequence[Any], **fields: Any) -> bytes:
    """A log in a container; compressed, in three frames of rows."""
    if container == "plain":
        return plain(version, rows, **fields)
    third = max(1, len(rows) // 3)
    return zstd(version, rows[:third], rows[third : 2 * third], rows[2 * third :], **fields)


def opened(content: bytes, **options: Any) -> ReleasedLogFile:
    """The log of bytes that can be read."""
    made = read(content, **options).unwrap()
    assert isinstance(made, ReleasedLogFile)
    return made


def refusal(content: bytes, **options: Any) -> Rejection:
    """Why bytes cannot be read as a log; raises when they can."""
    return read(content, **options).failure()
