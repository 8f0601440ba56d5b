"""From v1 to v2: the pieces of a stream move into the message or the attempt they made."""

from __future__ import annotations

from typing import Final

import attrs

from dsh_fp.core.events import SessionHeader
from dsh_fp.core.lossless import AnyJson, JsonObject, json_object
from dsh_fp.core.migration.closing import with_turns_closed
from dsh_fp.core.migration.drafts import Draft, fields_of
from dsh_fp.core.packed import CHUNK, TimedChunk, pack_stream
from dsh_fp.core.rejection import Rejection, conversion_refused

_CLOSERS: Final = frozenset({"turn/end", "step/end", "llm/retry", "llm/retry-started"})
_MARKER: Final = "session/end-seed"
_INHERITED: Final = json_object({"inherited": True})


def header_to_v2(header: SessionHeader) -> SessionHeader:
    """The session header of the same session in v2: whether it inherited, not how much."""
    extra = {"isSeeded": header.seed_length is not None, **header.extra}
    return SessionHeader(
        header.id,
        header.created_at,
        header.cwd,
        header.parent_session,
        version=2,
        extra=json_object(extra),
    )


def v1_to_v2(header: SessionHeader, drafts: list[Draft]) -> list[Draft] | Rejection:
    """The drafts with streams in place of pieces, inherited ones marked.

    Errors:  CONVERSION_REFUSED for a message that does not cite exactly the pieces before it,
             for an end of inheritance inside them, and for a goal's change in a message.
    """
    closed = with_turns_closed(drafts, fresh=len(drafts))
    if header.seed_length is None:
        return _Streams(closed, None).run()
    if header.seed_length > len(drafts):
        return conversion_refused(None, "the header counts more inherited events than there are")
    marked, place = _marked(header, closed, len(drafts))
    return _Streams(marked, marked[place]).run()


def _marked(header: SessionHeader, drafts: list[Draft], count: int) -> tuple[list[Draft], int]:
    """The drafts with an event at the end of what was inherited, and its place among them.

    `count` is how many there were before any was inserted.
    """
    cut = header.seed_length or 0
    place = next((k for k, one in enumerate(drafts) if one.key == cut), len(drafts))
    if cut < count and drafts[place].type == _MARKER:
        marker = attrs.evolve(drafts[place], data=_INHERITED)
        return [*drafts[:place], marker, *drafts[place + 1 :]], place
    time = drafts[place - 1].time if place else int(header.created_at)
    return [*drafts[:place], Draft(2 * count, _MARKER, time, _INHERITED), *drafts[place:]], place


@attrs.define
class _Attempt:
    """The pieces of one model call so far; `place` is where the last one stood."""

    where: tuple[AnyJson, AnyJson]
    keys: list[int]
    chunks: list[TimedChunk]
    place: int = 0
    is_finished: bool = False


class _Streams:
    def __init__(self, drafts: list[Draft], marker: Draft | None) -> None:
        self.drafts = drafts
        self.marker = marker
        # Each None keeps the place of an attempt's last piece until it is known what became of it.
        self.made: list[Draft | None] = []
        self.attempt: _Attempt | None = None

    def run(self) -> list[Draft] | Rejection:
        for draft in self.drafts:
            fault = self.take(draft)
            if fault is not None:
                return fault
        self.flush()
        return [draft for draft in self.made if draft is not None]

    def take(self, draft: Draft) -> Rejection | None:
        kind = draft.type
        if kind == CHUNK:
            return self.take_piece(draft)
        if kind == "assistant/message":
            return self.take_message(draft)
        if kind in _CLOSERS:
            self.flush()
        elif draft is self.marker:
            if self.attempt is not None:
                return conversion_refused(draft.key, "what was inherited ends inside an answer")
        elif kind == _MARKER and fields_of(draft.data).get("inherited") is True:
            what = "it marks an end of inheritance that the session header does not"
            return conversion_refused(draft.key, what)
        elif kind == "user/message" and _changes_goal(draft.data):
            what = "its source holds a goal's change, which no log we know shows in v2"
            return conversion_refused(draft.key, what)
        self.made.append(attrs.evolve(draft, is_op_first=False))
        return None

    def take_piece(self, draft: Draft) -> Rejection | None:
        data = fields_of(draft.data)
        chunk = data.get("chunk")
        if not isinstance(chunk, JsonObject):
            return conversion_refused(draft.key, "it holds no chunk")
        where = data.get("turn"), data.get("step")
        attempt = self.attempt
        if attempt is None or attempt.where != where or attempt.is_finished:
            self.flush()
            self.attempt = attempt = _Attempt(where, [], [])
        attempt.keys.append(draft.key)
        attempt.chunks.append(TimedChunk(draft.time, chunk))
        attempt.place = len(self.made)
        attempt.is_finished = chunk.get("type") == "finish"
        self.made.append(None)
        return None

    def take_message(self, draft: Draft) -> Rejection | None:
        data, attempt = fields_of(draft.data), self.attempt
        cited = draft.sources or ()
        taken: list[TimedChunk] = []
        keys: tuple[int, ...] = ()
        if attempt is not None and attempt.where == (data.get("turn"), data.get("step")):
            keys, taken = tuple(attempt.keys), attempt.chunks
            self.attempt = None
        else:
            self.flush()
        if cited != keys:
            what = "it does not cite exactly the pieces of its stream, in order"
            return conversion_refused(draft.key, what)
        data["stream"] = pack_stream(taken)
        self.made.append(attrs.evolve(draft, data=json_object(data), sources=None))
        return None

    def flush(self) -> None:
        """Write what was streamed and made no message as an attempt, where its last piece was."""
        attempt, self.attempt = self.attempt, None
        if attempt is None:
            return
        turn, step = attempt.where
        data = {"turn": turn, "step": step, "stream": pack_stream(attempt.chunks)}
        # A piece of an attempt has no other name any more, so nothing may refer to it.
        key = -1 - attempt.keys[-1]
        time = attempt.chunks[-1].time
        self.made[attempt.place] = Draft(key, "assistant/attempt", time, json_object(data))


def _changes_goal(data: AnyJson) -> bool:
    source = fields_of(data).get("source")
    return isinstance(source, JsonObject) and source.get("kind") == "goal" and "change" in source
