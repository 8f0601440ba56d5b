"""Where the seqs and call ids of other events stand in an event, and how to change them.

The envelope has seqs in `sourceEventSeqs` and `surfaceOp`; of payloads only those of the
compaction plugin name any. Call ids stand in content blocks, stream chunks and tool events.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Raw

from dsh_fp.core.events import UNSET, Event, is_seq, new_event
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
    sources: AnyJson = UNSET
    if "sourceEventSeqs" in value:
        sources = listed_renumbered(value["sourceEventSeqs"], renumber)
        if sources == () and value["sourceEventSeqs"] != ():
            sources = UNSET
    op: AnyJson = UNSET
    if "surfaceOp" in value:
        op = range_renumbered(value["surfaceOp"], renumber)
    data = payload_renumbered(event.type, value["data"], renumber)
    order = tuple(value)
    return new_event(event.type, seq, event.time, data, sources=sources, op=op, order=order)


_OPENING: Final = re.compile(rb'\{"type":"[^"\\]*","seq":(?P<seq>\d+),"time":\d+,"data":')
_ENDINGS: Final = (b"}", b',"surfaceOp":"append"}')


def _moved(event: Event, seq: int) -> Event | None:
    """The event at another seq, undecoded, if it plainly names no other; else None.

    Told from its line: most of a log is chunks as their writer spells them.
    """
    line, data = event.line, event.stored_data
    if line is None or type(data) is not Raw or event.type == SUMMARY:
        return None
    opening = _OPENING.match(line)
    if opening is None or line[opening.end() :] not in [bytes(data) + end for end in _ENDINGS]:
        return None
    start, stop = opening.span("seq")
    text: AnyJson = line[:start] + str(seq).encode() + line[stop:]
    return Event(event.type, seq, event.time, data, event.stored_sources, event.stored_op, text)


def payload_renumbered(type: str, data: AnyJson, renumber: Renumber) -> AnyJson:
    """A payload with the seqs it names changed; the same object when it names none."""
    if type != SUMMARY or not isinstance(data, JsonObject):
        return data
    parts = dict(data)
    if "shadowedSeqs" in parts:
        parts["shadowedSeqs"] = listed_renumbered(parts["shadowedSeqs"], renumber)
    if "shadowedRange" in parts:
        parts["shadowedRange"] = range_renumbered(parts["shadowedRange"], renumber)
    return json_object(parts)


def listed_renumbered(seqs: AnyJson, renumber: Renumber) -> AnyJson:
    """A list of seqs, those of events that are gone left out; anything else as it is."""
    if not isinstance(seqs, JsonArray):
        return seqs
    renamed = [renumber(seq) if is_seq(seq) else seq for seq in seqs]
    return json_array(seq for seq in renamed if seq is not None)


def range_renumbered(span: AnyJson, renumber: Renumber) -> AnyJson:
    """The `start` and `end` of an object changed; a place that is gone keeps its seq."""
    if not isinstance(span, JsonObject):
        return span
    parts = dict(span)
    for key in ("start", "end"):
        place: AnyJson = parts.get(key)
        if is_seq(place):
            new = renumber(place)
            parts[key] = place if new is None else new
    return json_object(parts)


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


def calls_renamed(type: str, data: AnyJson, rename: Rename) -> AnyJson:
    """A payload of a known type with its call ids changed, each asked for in order of the text.

    Call ids are `callId` of tool events, `id` of a tool-call block, `toolCallId` of a
    tool-result block, `id` of a tool-call-delta, in content, in stream chunks and in the
    messages of a header's prefix.
    """
    if not isinstance(data, JsonObject):
        return data
    parts: dict[str, AnyJson] = dict(data)
    for key, value in data.items():
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


def _messages_renamed(messages: AnyJson, rename: Rename) -> AnyJson:
    if not isinstance(messages, JsonArray):
        return messages
    return json_array(
        json_object({**message, "content": _blocks_renamed(message["content"], rename)})
        if isinstance(message, JsonObject) and "content" in message
        else message
        for message in messages
    )


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
