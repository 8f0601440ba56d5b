"""What a log says was sent, as bodies to compare with captured ones, in order of the log.

One Encoding is one way of making one body: the chat completions of a step, its call of the
Messages API, the call of a compaction. Matching knows only what stands in Expected, so
another provider's bodies, or those of another time, are further encodings and nothing else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import attrs

from dsh_fp.core.events import Event
from dsh_fp.core.json_paths import Step
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.origins import SessionOrigins
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.requests import PastRequest, inherited_length, past_requests
from dsh_fp.core.session import Session
from dsh_fp.wire.compaction import Compaction, compactions, is_compaction
from dsh_fp.wire.encodings import (
    INSTRUCTION,
    SYSTEM_TEXT,
    Makers,
    compaction_encodings,
    july_compaction_encoding,
    step_encodings,
)
from dsh_fp.wire.released_compaction import ReleasedCompaction, released_compactions
from dsh_fp.wire.ways import Way

__all__ = [
    "COMPACTION",
    "INSTRUCTION",
    "SYSTEM_TEXT",
    "Encoding",
    "Expected",
    "expected_requests",
    "purpose_of",
]

COMPACTION: Final = "compaction"
"""The purpose of a compaction's call."""


class Encoding(Protocol):
    """One request of a log as a body, on one way."""

    @property
    def way(self) -> Way:
        """How it went over the wire."""
        ...

    @property
    def free(self) -> frozenset[str]:
        """The keys of the body that no log holds."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether no log holds which messages were sent, so that only a body can tell."""
        ...

    @property
    def is_instructed(self) -> bool:
        """Whether the body ends with an instruction that no log holds."""
        ...

    @property
    def is_july_compaction(self) -> bool:
        """Whether it has a system text in front that no log holds."""
        ...

    @property
    def open_messages(self) -> Sequence[JsonObject]:
        """The wire messages of the same log, as far as they were made, that hold images."""
        ...

    def body(self, given: Mapping[str, AnyJson]) -> JsonObject:
        """The body, given values for what is free; a key that is not given stays out."""
        ...

    def taken(self, body: JsonObject, given: Mapping[str, AnyJson]) -> dict[str, AnyJson]:
        """What no log holds, as a captured body has it; but for what is given."""
        ...

    def event_at(
        self, steps: tuple[Step, ...], offset: int | None, given: Mapping[str, AnyJson]
    ) -> Event | None:
        """The event behind what stands at a path of that body, and at a character of it."""
        ...


@attrs.frozen(eq=False)
class Expected:
    """One request that a log says was made.

    `fault` says why its body is not known; then there is no encoding. `others` are encodings
    for other ways it may have gone; `run` counts the times the session was resumed before.

    Units:   session is the place among the sessions that are compared, index the place among
             the requests of that session, in order of the log.
    """

    session: int
    index: int
    session_id: str
    turn: AnyJson
    step: AnyJson
    seq: int
    purpose: str | None
    inherited: bool
    fault: Rejection | None
    encoding: Encoding | None = attrs.field(repr=False)
    others: tuple[Encoding, ...] = attrs.field(repr=False, default=())
    run: int = 0
    model: AnyJson = None


def expected_requests(
    session: Session, *, place: int = 0, inherited: bool = True
) -> tuple[Expected, ...]:
    """The requests of a session's steps and of its compactions, in the order they were sent.

    What a session inherited from the one it was forked from was sent by that one; without
    `inherited` it is left out.

    Source:  docs/reference/wire.md, "What is expected".
    """
    origins, makers = SessionOrigins(session), Makers(session)
    own = inherited_length(session)
    resumed = [event.seq for event in session.events if event.type == "session/end-seed"]
    calls: list[PastRequest | Compaction | ReleasedCompaction] = [
        *past_requests(session),
        *compactions(session),
        *released_compactions(session),
    ]
    made: list[Expected] = []
    for call in sorted(calls, key=_sent_at):
        if call.seq < own and not inherited:
            continue
        purpose: str | None = COMPACTION
        step: AnyJson = None
        model: AnyJson = None
        encodings: tuple[Encoding, ...] = ()
        if isinstance(call, PastRequest):
            purpose, step = None, call.step
            if call.fault is None:
                model = None if call.header is None else call.header["config"].get("model")
                encodings = step_encodings(makers, call, origins.of(call))
        elif call.fault is not None:
            pass
        elif isinstance(call, Compaction):
            encodings = (july_compaction_encoding(session, call),)
        else:
            encodings, model = compaction_encodings(makers, call), call.model
        made.append(
            Expected(
                session=place,
                index=len(made),
                session_id=session.header.id,
                turn=call.turn,
                step=step,
                seq=call.seq,
                purpose=purpose,
                inherited=call.seq < own,
                fault=call.fault,
                encoding=encodings[0] if encodings else None,
                others=encodings[1:],
                run=bisect_left(resumed, call.seq),
                model=model,
            )
        )
    return tuple(made)


def _sent_at(call: PastRequest | Compaction | ReleasedCompaction) -> int:
    """Where in the log a request was sent: a compaction in a step comes before the step's own."""
    return call.cut if isinstance(call, PastRequest) else call.seq


def purpose_of(body: AnyJson) -> str | None:
    """The purpose that a captured body has by its shape alone."""
    return COMPACTION if is_compaction(body) else None
