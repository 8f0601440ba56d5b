"""What a session holds apart from when and under which names it was recorded.

Two recordings of the same decisions differ in times, session id, the call ids a provider made
up and, in later generations, in ids of messages and more; their content is the same. So seqs
become places, and such a name becomes the number of names met before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import attrs
from returns.result import Failure

from dsh_fp.core.digests import tag
from dsh_fp.core.events import ReleasedEvent
from dsh_fp.core.lossless import AnyJson, JsonObject, json_array, json_object, text_of
from dsh_fp.core.references import (
    calls_renamed,
    listed_renumbered,
    payload_renumbered,
    plain_sources,
    range_renumbered,
)
from dsh_fp.core.session import Session
from dsh_fp.core.streams import STREAMED, expand_stream

_PIECE: Final = "assistant/chunk"


@attrs.frozen
class ContentDigests:
    """Digests of a session's content alone: 64 lower-case hex digits each.

    `content` is of its events without the pieces of the stream, `events` of all of them. So
    the same answer cut into other pieces has the same `content` and other `events`.

    Source:  docs/reference/digests.md.
    """

    content: str
    events: str


def content_digests(session: Session) -> ContentDigests:
    """The digests of what a session holds, whenever and by whatever name it was recorded.

    Times, the session header and the spelling of call ids do not count; nor, in later
    generations, that of other names made up while recording.

    Law:     content_ignores_clock_and_names.
    Source:  docs/reference/digests.md.
    """
    digests: list[str] = []
    for kind, pieces in (("content", False), ("events", True)):
        hashed = sha256(tag(kind))
        for _, text in content_texts(session, pieces=pieces):
            hashed.update(text.encode() + b"\n")
        digests.append(hashed.hexdigest())
    return ContentDigests(*digests)


def content_texts(session: Session, *, pieces: bool = False) -> Iterator[tuple[int, str]]:
    """The seq of each event that counts, with the text of what counts of it.

    Stream chunks count only with `pieces`.
    """
    places: dict[int, int] = {}
    names: dict[str, int] = {}

    def number(name: AnyJson) -> int:
        return names.setdefault(text_of(name), len(names))

    for event in session.events:
        if event.type == _PIECE and not pieces:
            continue
        stored = event.stored_value
        released = isinstance(event, ReleasedEvent)
        data = stored["data"]
        if released and event.type in STREAMED:
            data = _without_times(data, event.seq, pieces=pieces)
        data = payload_renumbered(event.type, data, places.get, released=released)
        data = calls_renamed(event.type, data, number, released=released)
        counted = {"type": event.type, "data": data}
        if "sourceEventSeqs" in stored:
            named = plain_sources(event, stored["sourceEventSeqs"])
            sources = listed_renumbered(named, places.get)
            if sources != ():
                counted["sourceEventSeqs"] = sources
        if "surfaceOp" in stored:
            counted["surfaceOp"] = range_renumbered(stored["surfaceOp"], places.get)
        places[event.seq] = len(places)
        yield event.seq, text_of(counted)


def _without_times(data: AnyJson, seq: int, *, pieces: bool) -> AnyJson:
    """The payload of an answer with its stream as bare chunks, or without it."""
    if not isinstance(data, JsonObject) or "stream" not in data:
        return data
    stream = expand_stream(data["stream"], seq)
    if isinstance(stream, Failure):
        return data
    parts = dict(data)
    del parts["stream"]
    if pieces:
        parts["stream"] = json_array(timed.chunk for timed in stream.unwrap())
    return json_object(parts)
