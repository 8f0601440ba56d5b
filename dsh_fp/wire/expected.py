"""What a log says was sent, as bodies to compare with captured ones, in order of the log.

One Encoding is one way of making bodies: the chat completions of a step, the call of a
compaction. Matching knows only what stands in Expected, so another provider's bodies, or those
of another time, are further encodings and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

import attrs

from dsh_fp.core.events import Event
from dsh_fp.core.json_paths import Step
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.origins import Origins, SessionOrigins
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session
from dsh_fp.wire.chat_completions import OPTIONS, ChatBodies
from dsh_fp.wire.compaction import Compaction, compactions, is_compaction

SYSTEM_TEXT: Final = "system"
"""The name of a system text that no log holds, beside those of OPTIONS."""

COMPACTION: Final = "compaction"
"""The purpose of a compaction's call."""


class Encoding(Protocol):
    """One request of a log as a body."""

    @property
    def free(self) -> frozenset[str]:
        """What of the body no log holds: keys of the body, or SYSTEM_TEXT."""
        ...

    def body(self, given: Mapping[str, AnyJson]) -> JsonObject:
        """The body, given values for what is free; a key that is not given stays out."""
        ...

    def event_at(
        self, steps: tuple[Step, ...], offset: int | None, given: Mapping[str, AnyJson]
    ) -> Event | None:
        """The event behind what stands at a path of that body, and at a character of it."""
        ...


@attrs.frozen(eq=False)
class Expected:
    """One request that a log says was made.

    `fault` says why its body is not known; then there is no encoding.

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


@attrs.frozen(eq=False)
class _StepEncoding:
    """A step's request as chat completions."""

    session: Session
    past: PastRequest
    origins: Origins
    bodies: ChatBodies
    free: frozenset[str] = frozenset(OPTIONS)

    def body(self, given: Mapping[str, AnyJson]) -> JsonObject:
        return self.bodies.encode(self.past.request.unwrap(), given).body

    def event_at(
        self, steps: tuple[Step, ...], offset: int | None, given: Mapping[str, AnyJson]
    ) -> Event | None:
        made = self.bodies.encode(self.past.request.unwrap(), given)
        request_steps = made.request_steps(steps)
        seq = None if request_steps is None else self.origins.event_at(request_steps)
        return None if seq is None else self.session.events[seq]


@attrs.frozen(eq=False)
class _CompactionEncoding:
    """A compaction's call as chat completions."""

    session: Session
    call: Compaction
    free: frozenset[str] = frozenset((*OPTIONS, SYSTEM_TEXT))

    def body(self, given: Mapping[str, AnyJson]) -> JsonObject:
        return self.call.encode(given.get(SYSTEM_TEXT, ""), given).wire.body

    def event_at(
        self, steps: tuple[Step, ...], offset: int | None, given: Mapping[str, AnyJson]
    ) -> Event | None:
        seq = self.call.encode(given.get(SYSTEM_TEXT, ""), given).event_at(steps, offset)
        return None if seq is None else self.session.events[seq]


def expected_requests(
    session: Session, *, place: int = 0, inherited: bool = True
) -> tuple[Expected, ...]:
    """The requests of a session's steps and of its compactions, in order of the log.

    What a session inherited from the one it was forked from was sent by that one; without
    `inherited` it is left out.

    Source:  docs/reference/wire.md, "What is expected".
    """
    origins, bodies = SessionOrigins(session), ChatBodies()
    own = session.header.seed_length or 0
    found: list[tuple[int, PastRequest | Compaction]] = [
        *((past.seq, past) for past in past_requests(session)),
        *((call.seq, call) for call in compactions(session)),
    ]
    found.sort(key=lambda entry: entry[0])
    made: list[Expected] = []
    for seq, call in found:
        if seq < own and not inherited:
            continue
        encoding: Encoding
        if isinstance(call, PastRequest):
            purpose, step = None, call.step
            encoding = _StepEncoding(session, call, origins.of(call), bodies)
        else:
            purpose, step = COMPACTION, None
            encoding = _CompactionEncoding(session, call)
        made.append(
            Expected(
                session=place,
                index=len(made),
                session_id=session.header.id,
                turn=call.turn,
                step=step,
                seq=seq,
                purpose=purpose,
                inherited=seq < own,
                fault=call.fault,
                encoding=None if call.fault is not None else encoding,
            )
        )
    return tuple(made)


def purpose_of(body: AnyJson) -> str | None:
    """The purpose that a captured body has by its shape alone."""
    return COMPACTION if is_compaction(body) else None
