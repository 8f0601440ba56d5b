"""Where the seqs and call ids of other events stand in an event, and how to change them.

The envelope has seqs in `sourceEventSeqs` and `surfaceOp`; of July's payloads only those of
the compaction plugin name any, of later ones some more. Call ids stand in content blocks,
messages, stream chunks and tool events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Raw

from dsh_fp.core.events import (
    UNSET,
    Event,
    ReleasedEvent,
    is_seq,
    new_event,
    remade_event,
    seqs_of_runs,
)
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object

Renumber = Callable[[int], int | None]
"""The new seq of an event named by its old one; None when the event is gone."""

SUMMARY: Final = "compact/summary"


def renumbered(event: Event, seq: int, renumber: Renumber) -> Event:
    """The event at another seq, every seq it names changed along.

    What names no event is left as it is. Events that are gone leave lists of seqs; a list of
    sources that would be left empty is left out. A replacement keeps a place that is gone,
    as the seq it had: the caller decides what becomes of it.
    """
    moved = _moved(event, seq)
    if moved is not None:
        return moved
    value = event.stored_value  # decoded apart: the event itself need not keep it decoded
    released = isinstance(event, ReleasedEvent)
    sources: AnyJson = UNSET
    if "sourceEventSeqs" in value:
        named = plain_sources(event, value["sourceEventSeqs"])
        sources = listed_renumbered(named, renumber)
        if sources == () and named != ():
            sources = UNSET
    op: AnyJson = UNSET
    if "surfaceOp" in value:
        op = range_renumbered(value["surfaceOp"], renumber)
    data = payload_renumbered(event.type, value["data"], renumber, released=released)
    if released:
        return remade_event(event, seq, data, sources=sources, op=op)
    order = tuple(value)
    return new_event(event.type, seq, event.time, data, sources=sources, op=op, order=order)


def plain_sources(event: Event, written: AnyJson) -> AnyJson:
    """The sources of an event, given as they were written: runs written out."""
    return seqs_of_runs(written, event.seq) if isinstance(event, ReleasedEvent) else written


_OPENING: Final = re.compile(rb'\{"type":"[^"\\]*","seq":(?P<seq>\d+),"time":\d+,"data":')
_ENDINGS: Final = (b"}", b',"surfaceOp":"append"}')


def _moved(event: Event, seq: int) -> Event | None:
    """The event at another seq, undecoded, if it plainly names no other; else None.

    Told from its line: most of a log is chunks as their writer spells them.
    """
    line, data = event.line, event.stored_data
    if line is None or type(data) is not Raw or type(event) is not Event or event.type == SUMMARY:
        return None
    opening = _OPENING.match(line)
    if opening is None or line[opening.end() :] not in [bytes(data) + end for end in _ENDINGS]:
        return None
    start, stop = opening.span("seq")
    text: AnyJson = line[:start] + str(seq).encode() + line[stop:]
    return Event(event.type, seq, event.time, data, event.stored_sources, event.stored_op, text)


def payload_renumbered(
    type: str, data: AnyJson, renumber: Renumber, *, released: bool = False
) -> AnyJson:
    """A payload with the seqs it names changed; the same object when it names none."""
    changes = (_RELEASED_SEQS if released else _JULY_SEQS).get(type)
    if changes is None or not isinstance(data, JsonObject):
        return data
    parts = dict(data)
    for key, change in changes.items():
        if key in parts:
            parts[key] = change(parts[key], renumber)
    return json_object(parts)


def listed_renumbered(seqs: AnyJson, renumber: Renumber) -> AnyJson:
    """A list of seqs, those of events that are gone left out; anything else as it is."""
    if not isinstance(seqs, JsonArray):
        return seqs
    renamed = [renumber(seq) if is_seq(seq) else seq for seq in seqs]
    return json_array(seq for seq in renamed if seq is not None)


def range_renumbered(span: AnyJson, renumber: Renumber) -> AnyJson:
    """The ends of a range changed; a place that is gone keeps its seq.

    Shapes:  `start` and `end`, or `startSeq` and `endSeq`, of an object.
    """
    if not isinstance(span, JsonObject):
        return span
    ends = ("start", "end", "startSeq", "endSeq")
    return json_object(
        {key: _place(value, renumber) if key in ends else value for key, value in span.items()}
    )


def _place(seq: AnyJson, renumber: Renumber) -> AnyJson:
    """One seq changed; that of an event that is gone stays as it was."""
    new = renumber(seq) if is_seq(seq) else None
    return seq if new is None else new


def _targets(targets: AnyJson, renumber: Renumber) -> AnyJson:
    """A list of objects, the `seq` of each changed."""
    if not isinstance(targets, JsonArray):
        return targets
    return json_array(
        json_object({**target, "seq": _place(target["seq"], renumber)})
        if isinstance(target, JsonObject) and "seq" in target
        else target
        for target in targets
    )


_Change = Callable[[AnyJson, Renumber], AnyJson]
_SHADOWED: Final[Mapping[str, _Change]] = MappingProxyType(
    {"shadowedSeqs": listed_renumbered, "shadowedRange": range_renumbered}
)
_JULY_SEQS: Final[Mapping[str, Mapping[str, _Change]]] = MappingProxyType({SUMMARY: _SHADOWED})
_RELEASED_SEQS: Final[Mapping[str, Mapping[str, _Change]]] = MappingProxyType(
    {
        "compaction/start": _SHADOWED,
        "compaction/summary": _SHADOWED,
        "compaction/end": _SHADOWED,
        "compaction/prune": _SHADOWED,
        "session/title": {"messageSeqs": listed_renumbered},
        "command/done": {"sourceEventSeq": _place},
        "session-log-deepseek/delivery-accepted": {"throughSeq": _place},
        "developer/message": {"headerSeq": _place},
        "image/offload": {"targets": _targets},
    }
)


Rename = Callable[[AnyJson], AnyJson]
"""What stands for a call id."""

_CONTENT: Final = frozenset(
    {
        "user/message",
        "assistant/message",
        "context/message",
        "steering/message",
        "prompt/blocked",
        "tool/result",
    }
)
_CALL_EVENTS: Final = frozenset({"tool/call", "tool/result"})
_RECORDS: Final = frozenset({"assistant/message", "tool/result"})
_STREAMS: Final = frozenset({"assistant/message", "assistant/attempt"})


def calls_renamed(type: str, data: AnyJson, rename: Rename, *, released: bool = False) -> AnyJson:
    """A payload of a known type with its call ids changed, each asked for in order of the text.

    Call ids are `callId` of tool events, `id` of a tool-call block, `toolCallId` of a
    tool-result block, `id` of a tool-call-delta, in content, in stream chunks and in the
    messages of a header's prefix. In the released generations they also stand in the message
    that a payload holds, in its stream, and where a job names the call it is for.
    """
    if not isinstance(data, JsonObject):
        return data
    parts: dict[str, AnyJson] = dict(data)
    for key, value in data.items():
        if released and key in ("message", "stream", "toolCall", "rawOutput", "summary"):
            parts[key] = _released_renamed(type, key, value, rename)
            continue
        if key == "callId" and type in _CALL_EVENTS:
            parts[key] = rename(value)
        elif key == "content" and type in _CONTENT:
            parts[key] = _blocks_renamed(value, rename)
        elif key == "chunk" and type == "assistant/chunk":
            parts[key] = _chunk_renamed(value, rename)
        elif key == "header" and type == "request/header" and isinstance(value, JsonObject):
            if "messagePrefix" in value:
                prefix = _messages_renamed(value["messagePrefix"], rename)
                parts[key] = json_object({**value, "messagePrefix": prefix})
        elif key == "messagePrefix" and type == "request/header-delta":
            parts[key] = _messages_renamed(value, rename)
        elif key == "summary" and type == SUMMARY:
            parts[key] = _blocks_renamed(value, rename)
    return json_object(parts)


def _released_renamed(type: str, key: str, value: AnyJson, rename: Rename) -> AnyJson:
    """A member of a payload that only the released generations have."""
    if key == "message" and type in _RECORDS:
        return _message_renamed(value, rename)
    if key == "stream" and type in _STREAMS and isinstance(value, JsonArray):
        return json_array(_streamed_renamed(record, rename) for record in value)
    if key in ("rawOutput", "summary") and type == "compaction/summary":
        return _blocks_renamed(value, rename)
    if key == "toolCall" and type.startswith("job/") and isinstance(value, JsonObject):
        named = ("callId", "rootCallId")
        return json_object(
            {name: rename(held) if name in named else held for name, held in value.items()}
        )
    return value


def _streamed_renamed(record: AnyJson, rename: Rename) -> AnyJson:
    """A record of a stream: one chunk, or a run of pieces of one call's arguments."""
    if not isinstance(record, JsonObject):
        return record
    if _kind(record) == "tool-call-chunks" and "id" in record:
        return json_object({**record, "id": rename(record["id"])})
    if _kind(record) == "chunk" and "chunk" in record:
        return json_object({**record, "chunk": _chunk_renamed(record["chunk"], rename)})
    return _chunk_renamed(record, rename)


def _messages_renamed(messages: AnyJson, rename: Rename) -> AnyJson:
    if not isinstance(messages, JsonArray):
        return messages
    return json_array(_message_renamed(message, rename) for message in messages)


def _message_renamed(message: AnyJson, rename: Rename) -> AnyJson:
    """A message: its blocks and, of a result, the call that it and its source name."""
    if not isinstance(message, JsonObject):
        return message
    parts = dict(message)
    for key, value in message.items():
        if key == "content":
            parts[key] = _blocks_renamed(value, rename)
        elif key == "toolCallId" and message.get("role") == "tool":
            parts[key] = rename(value)
        elif key == "source" and _names_call(value):
            parts[key] = json_object({**value, "callId": rename(value["callId"])})
    return json_object(parts)


def _names_call(source: AnyJson) -> bool:
    """Whether a message's source is a tool that says for which call it was."""
    return isinstance(source, JsonObject) and source.get("kind") == "tool" and "callId" in source


def _blocks_renamed(content: AnyJson, rename: Rename) -> AnyJson:
    if not isinstance(content, JsonArray):
        return content
    return json_array(_block_renamed(block, rename) for block in content)


def _block_renamed(block: AnyJson, rename: Rename) -> AnyJson:
    if not isinstance(block, JsonObject):
        return block
    key = {"tool-call": "id", "tool-result": "toolCallId"}.get(_kind(block))
    if key is None or key not in block:
        return block
    return json_object({**block, key: rename(block[key])})


def _chunk_renamed(chunk: AnyJson, rename: Rename) -> AnyJson:
    if not isinstance(chunk, JsonObject):
        return chunk
    kind = _kind(chunk)
    if kind == "tool-call-delta" and "id" in chunk:
        return json_object({**chunk, "id": rename(chunk["id"])})
    if kind == "block-end" and "block" in chunk:
        return json_object({**chunk, "block": _block_renamed(chunk["block"], rename)})
    return chunk


def _kind(value: JsonObject) -> str:
    kind = value.get("type")
    return kind if isinstance(kind, str) else ""
