"""Who writes in examples: a store with its recorder, and everything that was reported."""

from __future__ import annotations

import itertools
from types import TracebackType
from typing import Any, Self

from dsh_fp import Code, Event, Rejected, Session, unwrap
from dsh_fp.storage.backend import Backend
from dsh_fp.storage.recorder import Recorder
from dsh_fp.store.sessions import LiveSession, SessionStore

USER = {"kind": "user"}


class Desk:
    """A store whose sessions are kept in a backend. Leaving it gives the locks back."""

    def __init__(self, backend: Backend, **options: Any) -> None:
        ticks = itertools.count(1000)
        self.reported: list[BaseException] = []
        self.store = SessionStore(
            clock=lambda: next(ticks), report=lambda told: self.reported.append(told.error)
        )
        self.recorder = Recorder(self.store, backend, **options)

    def attach(self, backend: Backend) -> None:
        """Have another recorder keep the sessions from now on."""
        self.recorder.close()
        self.recorder = Recorder(self.store, backend)

    @property
    def codes(self) -> list[Code]:
        """The codes of what was refused where nobody waited for it."""
        return [error.rejection.code for error in self.reported if isinstance(error, Rejected)]

    def create(self, session_id: str = "s", **options: Any) -> LiveSession:
        """A live session."""
        return self.store.create(session_id, **options)

    def flush(self, *lives: LiveSession) -> None:
        """Flush sessions, one after the other."""
        for live in lives:
            self.store.flush_sync(live)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.recorder.close()


def note(live: LiveSession, *numbers: int) -> None:
    """Append a log-only event for each number, at a time that follows from it."""
    for number in numbers:
        live.append("plugin/note", {"n": number}, time=number)


def start_turn(live: LiveSession, turn: int = 1) -> None:
    """Open a turn."""
    live.append("turn/start", {"turn": turn, "trigger": {"kind": "message", "source": USER}})


def end_turn(live: LiveSession, turn: int = 1) -> None:
    """Close a turn."""
    live.append("turn/end", {"turn": turn, "reason": {"kind": "completed"}})


def notes(*numbers: int, after: int = 0) -> tuple[Event, ...]:
    """The events of notes, as a log that begins with `after` others would hold them."""
    session = unwrap(Session.create())
    for number in (*range(after), *numbers):
        session = unwrap(session.append("plugin/note", {"n": number}, time=number))
    return session.events[after:]


def numbers(session: Session) -> list[int]:
    """The numbers of the notes in a session."""
    return [event.data["n"] for event in session if event.type == "plugin/note"]
