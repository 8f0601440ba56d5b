"""Which events of a log make up each model call: where it began, what came out, what ended it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonObject, json_object
from dsh_fp.core.session import Session


class Purpose(enum.StrEnum):
    """What a model was called for."""

    STEP = "step"
    COMPACTION = "compaction"


@attrs.frozen
class CallSpan:
    """The events of one model call.

    `turn` is known for a compaction only; a step's is in its step/start. `reason` is that of
    the turn/end when the step was the last of its turn, that of the retry that followed the
    call, or the error of the compaction's end.

    Units:   seq is that of the step/start, of the event that began a retry, or of the event
             that began the compaction; step_seq that of the step/start; attempt_seq that of
             the event that holds the stream of a call without a message.
    """

    purpose: Purpose
    seq: int
    turn: AnyJson
    chunk_seqs: tuple[int, ...]
    message_seq: int | None
    reason: AnyJson
    step_seq: int | None = None
    attempt_seq: int | None = None


def call_spans(session: Session) -> tuple[CallSpan, ...]:
    """The model calls of a session in order of the log. One pass; chunks stay undecoded.

    A step's call takes the chunks and the first appended assistant/message up to the
    step/end, or to the next step/start, turn/start or turn/end where that is missing. A retry
    within a step is a call of its own. A compaction's is its start and its summary.
    """
    scan = _Scan()
    knows = session.vocabulary.knows  # a name of another generation means nothing here
    takers = {name: take for name, take in _TAKERS.items() if knows(name)}
    for event in session.events:
        take = takers.get(event.type)
        if take is not None:
            take(scan, event)
    return tuple(draft.span() for draft in scan.drafts if draft.is_call)


def field_of(event: Event, key: str) -> AnyJson:
    """One field of an event's payload, None when there is none; nothing is kept decoded."""
    data = event.peek_data()
    return data.get(key) if isinstance(data, JsonObject) else None


class _Draft:
    """A call while its events are being gathered."""

    def __init__(
        self, purpose: Purpose, seq: int, turn: AnyJson = None, step_seq: int | None = None
    ) -> None:
        self.purpose = purpose
        self.seq = seq
        self.turn = turn
        self.step_seq = step_seq
        self.attempt: int | None = None
        self.chunks: list[int] = []
        self.message: int | None = None
        self.reason: AnyJson = None
        self.is_call = True

    def span(self) -> CallSpan:
        chunks = tuple(self.chunks)
        return CallSpan(
            self.purpose,
            self.seq,
            self.turn,
            chunks,
            self.message,
            self.reason,
            self.step_seq,
            self.attempt,
        )


class _Scan:
    """What is open at a place of the log."""

    def __init__(self) -> None:
        self.drafts: list[_Draft] = []
        self.step: _Draft | None = None  # takes what comes out
        self.last: _Draft | None = None  # the turn's last step: its end is told by the turn's
        self.compaction: _Draft | None = None
        self.turn: Event | None = None
        self.retried: Event | None = None  # a retry that was announced and has not begun

    def begin(self, draft: _Draft) -> _Draft:
        self.drafts.append(draft)
        return draft

    def chunk(self, event: Event) -> None:
        call = self.call()
        if call is not None:
            call.chunks.append(event.seq)

    def message(self, event: Event) -> None:
        call = self.call()
        # A replacement rewrites an earlier answer; it is not what this call said.
        if call is not None and call.message is None and event.appends:
            call.message = event.seq

    def attempt(self, event: Event) -> None:
        call = self.call()
        if call is not None and call.attempt is None:
            call.attempt = event.seq

    def call(self) -> _Draft | None:
        """What takes what comes out: after a retry was announced, that retry."""
        if self.retried is not None:
            self.retry_start(self.retried)
        return self.step

    def retry(self, event: Event) -> None:
        """A call failed and will be made again."""
        if self.step is not None:
            self.step.reason = json_object({"kind": "error", "error": field_of(event, "failure")})
            self.retried = event

    def retry_start(self, event: Event) -> None:
        if self.step is not None:
            step_seq = self.step.step_seq
            self.step = self.last = self.begin(_Draft(Purpose.STEP, event.seq, step_seq=step_seq))
        self.retried = None

    def step_start(self, event: Event) -> None:
        self.step = self.last = self.begin(_Draft(Purpose.STEP, event.seq, step_seq=event.seq))
        self.retried = None

    def step_end(self, _: Event) -> None:
        self.step = None
        self.retried = None

    def turn_start(self, event: Event) -> None:
        self.step = self.last = self.retried = None
        self.turn = event

    def turn_end(self, event: Event) -> None:
        # A call that was to be made again has its own reason.
        if self.last is not None and self.last.reason is None:
            self.last.reason = field_of(event, "reason")
        self.step = self.last = self.retried = None

    def compact_start(self, event: Event) -> None:
        turn = field_of(event, "turn")
        self.compaction = self.begin(_Draft(Purpose.COMPACTION, event.seq, turn))

    def compact_summary(self, event: Event) -> None:
        if self.compaction is None or self.compaction.message is not None:
            turn = None if self.turn is None else field_of(self.turn, "turn")
            self.compaction = self.begin(_Draft(Purpose.COMPACTION, event.seq, turn))
        self.compaction.message = event.seq

    def compact_end(self, event: Event) -> None:
        compaction = self.compaction
        if compaction is not None:
            compaction.reason = field_of(event, "error")
            # One that ended well without a summary had nothing to ask for.
            compaction.is_call = not (compaction.message is None and compaction.reason is None)
        self.compaction = None


_TAKERS: Final[Mapping[str, Callable[[_Scan, Event], None]]] = MappingProxyType(
    {
        "assistant/chunk": _Scan.chunk,
        "assistant/message": _Scan.message,
        "step/start": _Scan.step_start,
        "step/end": _Scan.step_end,
        "turn/start": _Scan.turn_start,
        "turn/end": _Scan.turn_end,
        "assistant/attempt": _Scan.attempt,
        "llm/retry": _Scan.retry,
        "llm/retry-started": _Scan.retry_start,
        "compact/start": _Scan.compact_start,
        "compact/summary": _Scan.compact_summary,
        "compact/end": _Scan.compact_end,
        "compaction/start": _Scan.compact_start,
        "compaction/summary": _Scan.compact_summary,
        "compaction/end": _Scan.compact_end,
    }
)
