"""Where the seqs of other events and made-up names stand in an event, and how to change them.

The envelope has seqs in `sourceEventSeqs` and `surfaceOp`; of July's payloads only those of
the compaction plugin name any, of later ones some more. Call ids stand in content blocks,
messages, stream chunks and tool events; later generations make up more names than those.
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
    sources that would be left empty is left out, and so is a single seq of a payload. A
    replacement keeps a place that is gone, as the seq it had: the caller decides what becomes
    of it.
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
        op = range_renumbered(value["surfaceOp"], _or_as_it_was(renumber))
    data = payload_renumbered(event.type, value["data"], renumber, gone=UNSET, released=released)
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


def _or_as_it_was(renumber: Renumber) -> Renumber:
    """The same, but that an event that is gone keeps its seq."""

    def placed(seq: int) -> int:
        new = renumber(seq)
        return seq if new is None else new

    return placed


def payload_renumbered(
    type: str, data: AnyJson, renumber: Renumber, *, gone: AnyJson = None, released: bool = False
) -> AnyJson:
    """A payload with the seqs it names changed; the same object when it names none.

    A single seq of an event that is gone becomes `gone`; UNSET leaves it out, with the range
    or the target that it is part of.
    """
    changes = (_RELEASED_SEQS if released else _JULY_SEQS).get(type)
    if changes is None or not isinstance(data, JsonObject):
        return data
    parts = dict(data)
    for key, change in changes.items():
        if key in parts:
            parts[key] = change(parts[key], renumber, gone)
    return json_object({key: value for key, value in parts.items() if value is not UNSET})


def listed_renumbered(seqs: AnyJson, renumber: Renumber) -> AnyJson:
    """A list of seqs, those of events that are gone left out; anything else as it is."""
    if not isinstance(seqs, JsonArray):
        return seqs
    renamed = [renumber(seq) if is_seq(seq) else seq for seq in seqs]
    return json_array(seq for seq in renamed if seq is not None)


def range_renumbered(span: AnyJson, renumber: Renumber, gone: AnyJson = None) -> AnyJson:
    """The ends of a range changed; that of an event that is gone is `gone`.

    Shapes:  `start` and `end`, or `startSeq` and `endSeq`, of an object.
    """
    if not isinstance(span, JsonObject):
        return span
    changed = {
        key: _place(value, renumber, gone) if key in _ENDS else value for key, value in span.items()
    }
    is_left_out = any(value is UNSET for value in changed.values())
    return UNSET if is_left_out else json_object(changed)


_ENDS: Final = frozenset({"start", "end", "startSeq", "endSeq"})


def _place(seq: AnyJson, renumber: Renumber, gone: AnyJson) -> AnyJson:
    """One seq changed; what is none stays."""
    if not is_seq(seq):
        return seq
    new = renumber(seq)
    return gone if new is None else new


def _listed(seqs: AnyJson, renumber: Renumber, _gone: AnyJson) -> AnyJson:
    return listed_renumbered(seqs, renumber)


def _targets(targets: AnyJson, renumber: Renumber, gone: AnyJson) -> AnyJson:
    """A list of objects, the `seq` of each changed."""
    if not isinstance(targets, JsonArray):
        return targets
    made: list[AnyJson] = []
    for target in targets:
        changed = target
        if isinstance(target, JsonObject) and "seq" in target:
            seq = _place(target["seq"], renumber, gone)
            changed = UNSET if seq is UNSET else json_object({**target, "seq": seq})
        made.append(changed)
    return json_array(target for target in made if target is not UNSET)


def names_shadowed(event: Event) -> bool:
    """Whether a payload may tell, in `shadowedSeqs` and `shadowedRange`, what was replaced."""
    rules = _RELEASED_SEQS if isinstance(event, ReleasedEvent) else _JULY_SEQS
    return rules.get(event.type) is _SHADOWED


_Change = Callable[[AnyJson, Renumber, AnyJson], AnyJson]
_SHADOWED: Final[Mapping[str, _Change]] = MappingProxyType(
    {"shadowedSeqs": _listed, "shadowedRange": range_renumbered}
)
_JULY_SEQS: Final[Mapping[str, Mapping[str, _Change]]] = MappingProxyType({SUMMARY: _SHADOWED})
_RELEASED_SEQS: Final[Mapping[str, Mapping[str, _Change]]] = MappingProxyType(
    {
        "compaction/start": _SHADOWED,
        "compaction/summary": _SHADOWED,
        "compaction/end": _SHADOWED,
        "compaction/prune": _SHADOWED,
        "session/title": {"messageSeqs": _listed},
        "command/done": {"sourceEventSeq": _place},
        "session-log-deepseek/delivery-accepted": {"throughSeq": _place},
        "developer/message": {"headerSeq": _place},
        "image/offload": {"targets": _targets},
    }
)


Rename = Callable[[AnyJson], AnyJson]
"""What stands for a call id, or for another name that was made up while recording."""

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


def calls_renamed(type: str, data: AnyJson, rename: Rename, *, released: bool = False) -> AnyJson:
    """A payload of a known type with its call ids changed, each asked for in order of the text.

    Call ids are `callId` of tool events, `id` of a tool-call block, `toolCallId` of a
    tool-result block, `id` of a tool-call-delta, in content, in stream chunks and in the
    messages of a header's prefix. In the released generations the ids of messages,
    compactions, retries, jobs, commands and sessions are changed as well.

    Source:  docs/reference/digests.md, "Of a session's content alone".
    """
    if not isinstance(data, JsonObject):
        return data
    if released:
        return _released_renamed(type, data, rename)
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
                prefix = messages_renamed(value["messagePrefix"], rename)
                parts[key] = json_object({**value, "messagePrefix": prefix})
        elif key == "messagePrefix" and type == "request/header-delta":
            parts[key] = messages_renamed(value, rename)
        elif key == "summary" and type == SUMMARY:
            parts[key] = _blocks_renamed(value, rename)
    return json_object(parts)


def messages_renamed(messages: AnyJson, rename: Rename, *, released: bool = False) -> AnyJson:
    """The messages of a request or a prefix, call ids and names changed as in payloads."""
    if not isinstance(messages, JsonArray):
        return messages
    of_one = _record_renamed if released else _message_renamed
    return json_array(of_one(message, rename) for message in messages)


_COMPACTION: Final = frozenset({"compactionId", "sourceCommandId"})
_NAMES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "tool/call": frozenset({"callId"}),
        "compaction/start": _COMPACTION,
        "compaction/summary": _COMPACTION,
        "compaction/end": _COMPACTION,
        "compaction/prune": _COMPACTION,
        "llm/retry": frozenset({"retryId"}),
        "llm/retry-started": frozenset({"retryId"}),
        "job/registered": frozenset({"jobId"}),
        "job/settled": frozenset({"jobId"}),
        "command/run": frozenset({"commandId"}),
        "command/done": frozenset({"commandId"}),
        "subagent/catalog": frozenset({"childId"}),
        "session-log-deepseek/delivery-accepted": frozenset({"sessionId"}),
    }
)
"""Which members of a payload of the released generations are names made up by the recorder."""
_NAMED_BY_SOURCES: Final = frozenset({*_COMPACTION, "callId", "senderSessionId"})
_NAMED_BY_JOBS: Final = frozenset({"callId", "rootCallId"})
_RECORDS: Final = frozenset(
    {"assistant/message", "developer/message", "system/message", "tool/result"}
)
_STREAMS: Final = frozenset({"assistant/message", "assistant/attempt"})


def _released_renamed(type: str, data: JsonObject, rename: Rename) -> AnyJson:
    if type == "user/message":
        return _record_renamed(data, rename)
    names = _NAMES.get(type, _NO_NAMES)
    parts: dict[str, AnyJson] = dict(data)
    for key, value in data.items():
        if key in names:
            parts[key] = rename(value)
        elif key == "message" and type in _RECORDS:
            parts[key] = _record_renamed(value, rename)
        elif key == "inserted" and type == "agent/inbox/spliced":
            parts[key] = messages_renamed(value, rename, released=True)
        elif key == "stream" and type in _STREAMS and isinstance(value, JsonArray):
            parts[key] = json_array(_streamed_renamed(record, rename) for record in value)
        elif key == "chunk" and type == "assistant/chunk":
            parts[key] = _chunk_renamed(value, rename)
        elif key in ("rawOutput", "summary") and type == "compaction/summary":
            parts[key] = _blocks_renamed(value, rename)
        elif key == "toolCall" and type.startswith("job/"):
            parts[key] = _members_renamed(value, _NAMED_BY_JOBS, rename)
    return json_object(parts)


_NO_NAMES: Final[frozenset[str]] = frozenset()


def _record_renamed(message: AnyJson, rename: Rename) -> AnyJson:
    """A message of the released generations: its id, its blocks, and what its source names."""
    if not isinstance(message, JsonObject):
        return message
    parts = dict(message)
    for key, value in message.items():
        if key == "content":
            parts[key] = _blocks_renamed(value, rename)
        elif key == "id" or (key == "toolCallId" and message.get("role") == "tool"):
            parts[key] = rename(value)
        elif key == "source":
            parts[key] = _members_renamed(value, _NAMED_BY_SOURCES, rename)
    return json_object(parts)


def _members_renamed(value: AnyJson, names: frozenset[str], rename: Rename) -> AnyJson:
    if not isinstance(value, JsonObject):
        return value
    return json_object({key: rename(v) if key in names else v for key, v in value.items()})


def _streamed_renamed(record: AnyJson, rename: Rename) -> AnyJson:
    """A record of a stream: one chunk, or a run of pieces of one call's arguments."""
    if not isinstance(record, JsonObject):
        return record
    if _kind(record) == "tool-call-chunks" and "id" in record:
        return json_object({**record, "id": rename(record["id"])})
    if _kind(record) == "chunk" and "chunk" in record:
        return json_object({**record, "chunk": _chunk_renamed(record["chunk"], rename)})
    return _chunk_renamed(record, rename)


def _message_renamed(message: AnyJson, rename: Rename) -> AnyJson:
    """A message of July's."""
    if not isinstance(message, JsonObject) or "content" not in message:
        return message
    return json_object({**message, "content": _blocks_renamed(message["content"], rename)})


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
