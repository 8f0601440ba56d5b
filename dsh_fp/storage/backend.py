"""What every kind of storage answers: one small protocol, and the records it speaks in.

A backend finds, lists and loads stored sessions, and makes writers; a writer appends accepted
events to one stored session, durably, and notices when it is not the only one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import attrs
from returns.result import Result

from dsh_fp.core.events import Event, SessionHeader
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.session import Session


@attrs.frozen
class Listing:
    """One row of a listing: what the metadata says, or why it cannot be told.

    `where` is the file's path, or the session's id in a store without files.

    Units:   size counts the bytes of its file; None where it has none.
    """

    where: str
    header: SessionHeader | None
    fault: Rejection | None = None
    size: int | None = None


@attrs.frozen
class Stored:
    """A stored session as it was read, and what resuming it would take.

    Units:   torn_bytes count what a crash left behind the last whole event.
    """

    session: Session
    where: str
    torn_bytes: int = 0
    closers: tuple[Event, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether resuming would change nothing."""
        return not self.torn_bytes and not self.closers


class Writer(Protocol):
    """The one writer of one stored session."""

    @property
    def stored(self) -> int:
        """How many events are stored; the next batch begins with this seq."""
        ...

    def write(self, events: Sequence[Event]) -> None:
        """Append a batch; when it returns, the batch survives a crash of the machine.

        Errors:  Rejected: WRITER_CONFLICT or STORAGE_FAILED, and nothing of the batch counts;
                 the same batch may be tried again after a STORAGE_FAILED.
        """
        ...

    def close(self) -> None:
        """Let another writer have the session."""
        ...


class Backend(Protocol):
    """A place where sessions are stored."""

    def create(self, header: SessionHeader) -> Writer:
        """A writer for a session that is not stored yet; nothing is stored before its batch.

        Errors:  Rejected: SESSION_ALREADY_EXISTS.
        """
        ...

    def resume(self, session_id: str) -> tuple[Stored, Writer]:
        """A stored session made whole, durably, and the writer that goes on with it.

        The torn tail is cut and the interrupted turn closed; `Stored` says what was done, its
        session holds the result.

        Errors:  Rejected: SESSION_NOT_FOUND, WRITER_CONFLICT, STORAGE_FAILED, or what makes
                 the log unreadable.
        """
        ...

    def load(self, session_id: str) -> Result[Stored, Rejection]:
        """A stored session as it stands; changes nothing.

        Errors:  SESSION_NOT_FOUND, FILE_UNREADABLE, or what makes the log unreadable.
        """
        ...

    def list(self) -> Iterator[Listing]:
        """Every stored session, by its metadata only; a bad one is one row with its fault."""
        ...
