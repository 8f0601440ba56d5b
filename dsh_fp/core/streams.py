"""The stream of an assistant message or attempt, as its generation holds it."""

from __future__ import annotations

from typing import Final

from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.packed import TimedChunk, expand_record
from dsh_fp.core.rejection import Rejection, payload_invalid

STREAMED: Final = frozenset({"assistant/message", "assistant/attempt"})


def expand_stream(stream: AnyJson, seq: int = 0) -> Result[tuple[TimedChunk, ...], Rejection]:
    """The chunks of a `data.stream`, each with its time.

    Errors:  PAYLOAD_INVALID, with the path of the first record that is malformed.
    Law:     stream_records_stand_for_their_chunks.
    Source:  docs/reference/formats.md, "Stream records".
    """
    if not isinstance(stream, tuple):
        return Failure(payload_invalid(seq, "$.data.stream", "list of stream records"))
    chunks: list[TimedChunk] = []
    for place, record in enumerate(stream):
        expanded = expand_record(record)
        if expanded is None:
            return Failure(payload_invalid(seq, f"$.data.stream[{place}]", "stream record"))
        chunks += expanded
    return Success(tuple(chunks))


def stream_of(event: Event) -> Result[tuple[TimedChunk, ...], Rejection]:
    """The chunks that an `assistant/message` or `assistant/attempt` of v2 or later holds.

    Errors:  PAYLOAD_INVALID; an event of another type, or without a stream, holds none.
    """
    data = event.peek_data() if event.type in STREAMED else None
    if not isinstance(data, JsonObject) or "stream" not in data:
        return Success(())
    return expand_stream(data["stream"], event.seq)
