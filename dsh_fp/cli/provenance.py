"""Which event brought a message to the model, and what it took the place of."""

from __future__ import annotations

from typing import Any

import attrs
from returns.result import Failure

from dsh_fp.cli.page import sender_of
from dsh_fp.core.events import Event
from dsh_fp.core.lossless import JsonObject
from dsh_fp.core.origins import replaced_in
from dsh_fp.core.projection import project
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.session import Session


@attrs.frozen
class Brought:
    """One node in force, the message it makes or why it makes none, and what it replaced."""

    event: Event
    message: JsonObject | Rejection | None
    replaces: tuple[int, ...] | None
    sender: str  # who it comes from, in words

    def to_wire(self) -> dict[str, Any]:
        """The event that brought the message, for a program."""
        event = self.event
        wire: dict[str, Any] = {"seq": event.seq, "type": event.type, "time": event.time}
        wire["sources"] = event.source_event_seqs
        wire["replaces"] = self.replaces
        return wire


def brought_by(session: Session) -> list[Brought]:
    """The nodes in force in surface order, each with its message."""
    replaced = replaced_in(session).nodes_of
    made: list[Brought] = []
    for event in session.nodes():
        projected = project(event, session.vocabulary)
        failed = isinstance(projected, Failure)
        message = projected.failure() if failed else projected.unwrap()
        sender = sender_of(event.data, session.vocabulary.rule(event.type).message)
        made.append(Brought(event, message, replaced.get(event.seq), sender))
    return made


def first_fault(brought: list[Brought]) -> Rejection | None:
    """The first node whose message cannot be made."""
    faults = (one.message for one in brought if isinstance(one.message, Rejection))
    return next(faults, None)


@attrs.frozen
class HeaderOrigin:
    """The event that put the request header in force, and the snapshot it rests on."""

    set_by: Event
    snapshot: Event | None


def header_origin(session: Session) -> HeaderOrigin | None:
    """Where the header in force, or the fault in its place, comes from; None before any."""
    headers = session.history.header_seqs
    if not headers:
        return None
    events = session.events
    snapshot = None
    for place in range(len(headers) - 1, -1, -1):
        event = events[headers[place]]
        if event.type == "request/header":
            snapshot = event
            break
    return HeaderOrigin(events[headers[-1]], snapshot)
