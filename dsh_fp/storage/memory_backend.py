"""Sessions kept in memory: the plain definition of a backend, for tests and short-lived stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event, SessionHeader
from dsh_fp.core.rejection import (
    Rejection,
    session_already_exists,
    session_not_found,
    writer_conflict,
)
from dsh_fp.core.repair import interrupted_turn_closers
from dsh_fp.core.session import Session
from dsh_fp.core.vocabulary import STANDARD, Vocabulary
from dsh_fp.rejected import Rejected, unwrap
from dsh_fp.storage.backend import Listing, Stored


@attrs.frozen
class _Slot:
    """One stored session and its present writer."""

    session: Session
    writer: MemoryWriter


class MemoryBackend:
    """Sessions in a dict. Law: backends_agree."""

    def __init__(self, *, vocabulary: Vocabulary = STANDARD) -> None:
        self._vocabulary = vocabulary
        self.slots: dict[str, _Slot] = {}

    def create(self, header: SessionHeader) -> MemoryWriter:
        """A writer for a session that is not stored yet; see Backend."""
        if header.id in self.slots:
            raise Rejected(session_already_exists(header.id))
        empty = Session(header, vocabulary=self._vocabulary)
        return MemoryWriter(self, empty, is_new=True)

    def resume(self, session_id: str) -> tuple[Stored, MemoryWriter]:
        """A stored session made whole and its writer; see Backend."""
        stored = unwrap(self.load(session_id))
        if not self.slots[session_id].writer.closed:
            raise Rejected(writer_conflict(session_id, session_id, "its writer is not closed"))
        writer = MemoryWriter(self, stored.session)
        self.slots[session_id] = _Slot(stored.session, writer)
        writer.write(stored.closers)
        return attrs.evolve(stored, session=self.slots[session_id].session), writer

    def load(self, session_id: str) -> Result[Stored, Rejection]:
        """A stored session as it stands; see Backend."""
        slot = self.slots.get(session_id)
        if slot is None:
            return Failure(session_not_found(session_id))
        closers = interrupted_turn_closers(slot.session.events)
        return Success(Stored(slot.session, session_id, 0, closers))

    def list(self) -> Iterator[Listing]:
        """Every stored session; see Backend."""
        for session_id, slot in sorted(self.slots.items()):
            yield Listing(session_id, slot.session.header)


class MemoryWriter:
    """The one writer of one session in memory."""

    def __init__(self, backend: MemoryBackend, session: Session, *, is_new: bool = False) -> None:
        self._backend = backend
        self._session = session
        self._is_new = is_new  # nothing was stored through it yet
        self.closed = False

    @property
    def stored(self) -> int:
        """How many events are stored."""
        return len(self._session)

    def write(self, events: Sequence[Event]) -> None:
        """Append a batch; see Writer."""
        if not events:
            return
        if events[0].seq != self.stored:
            raise self._conflict(
                f"{self.stored} events are stored, the batch begins at seq {events[0].seq}"
            )
        session_id = self._session.header.id
        slot = self._backend.slots.get(session_id)
        if slot is not None and slot.writer is not self:
            if self._is_new:
                raise Rejected(session_already_exists(session_id))
            if not slot.writer.closed:
                raise self._conflict("its writer is not closed")
            if slot.session != self._session:
                raise self._conflict("another writer went on with it")
        grown = unwrap(self._session.extend(events))
        self._backend.slots[session_id] = _Slot(grown, self)
        self._session, self._is_new, self.closed = grown, False, False

    def close(self) -> None:
        """Let another writer have the session."""
        self.closed = True

    def _conflict(self, what: str) -> Rejected:
        session_id = self._session.header.id
        return Rejected(writer_conflict(session_id, session_id, what))
