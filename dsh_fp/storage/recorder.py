"""Keeps a store's sessions in a backend: written once here, whatever the backend.

What is not stored yet is never held twice: it is the session's own events from the writer's
count on. So nothing can be lost or doubled between a buffer and the log.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Final

import attrs

from dsh_fp.core.events import Event
from dsh_fp.core.session import Session
from dsh_fp.storage.backend import Backend, Stored, Writer
from dsh_fp.store.sessions import LiveSession, SessionStore


@attrs.frozen
class AtFlush:
    """Events are on disk when `flush` (or the session's disposal) has returned.

    What was appended since the last flush is lost in a crash. The fastest, and the default.
    """

    def is_due(self, waiting: int, waited_s: float) -> bool:
        """Whether the waiting events are to be written now."""
        return False


@attrs.frozen
class EachEvent:
    """Each event is on disk when its `append` has returned, but for a failure that is reported.

    One fsync an event: the slowest. A failed write is tried again with the next event or flush.
    """

    def is_due(self, waiting: int, waited_s: float) -> bool:
        """Whether the waiting events are to be written now."""
        return True


@attrs.frozen
class Batches:
    """Events are written when `count` of them wait, or the first has waited `seconds`.

    A crash loses at most the batch that waits. The time is looked at when an event comes:
    flush a session that may fall silent.
    """

    count: int = 100
    seconds: float = 1.0

    def is_due(self, waiting: int, waited_s: float) -> bool:
        """Whether the waiting events are to be written now."""
        return waiting >= self.count or waited_s >= self.seconds


Durability = AtFlush | EachEvent | Batches
AT_FLUSH: Final = AtFlush()


class _Track:
    """One session on its way to disk."""

    def __init__(self, live: LiveSession, writer: Writer) -> None:
        self.live = live
        self.writer = writer
        self.lock = threading.Lock()
        self.born = len(live.session)  # what it came with is stored with its first append
        self.waiting_since_s: float | None = None
        self.has_ended = False

    def pending(self) -> tuple[Event, ...]:
        """The events that are not stored yet, in order."""
        session: Session = self.live.session
        if not self.writer.stored and len(session) == self.born:
            return ()
        return session.events[self.writer.stored :]

    def drain(self) -> None:
        """Store what is pending, in order."""
        with self.lock:
            if self.has_ended:
                return
            # Events that come meanwhile begin a time of waiting of their own.
            since_s, self.waiting_since_s = self.waiting_since_s, None
            pending = self.pending()
            if pending:
                try:
                    self.writer.write(pending)
                except BaseException:
                    self.waiting_since_s = since_s
                    raise

    def end(self) -> None:
        """Give the writer back; nothing is stored through it any more."""
        with self.lock:
            self.has_ended = True
            self.writer.close()


class Recorder:
    """Attaches a backend to a store; from then on its sessions are stored.

    An id that is stored already is refused at creation; a failure to write is raised by
    `flush`, and reported by the store where nobody waits for it. The events stay in memory
    and the next flush tries again.

    Law:  no_flushed_event_is_lost, no_seq_twice.
    """

    def __init__(
        self,
        store: SessionStore,
        backend: Backend,
        *,
        durability: Durability = AT_FLUSH,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.backend: Final = backend
        self._store = store
        self._durability = durability
        self._monotonic_s = monotonic_s
        self._tracks: dict[LiveSession, _Track] = {}
        self._lock = threading.Lock()  # so that no session gets two writers
        self._offs = (
            store.on("created", self._begin, gate=True),
            store.on("event", self._heard),
            store.on("flush", self._flush),
            store.on("disposed", self._end),
        )

    def resume(self, session_id: str, *, scope: Hashable = None) -> tuple[LiveSession, Stored]:
        """A stored session made whole and live again, and what making it whole took.

        Errors:  Rejected, as by Backend.resume and SessionStore.enter.
        """
        stored, writer = self.backend.resume(session_id)
        live = self._store.adopt(stored.session)
        self._tracks[live] = _Track(live, writer)
        try:
            detach = self._store.enter(live, scope=scope)
            try:
                self._store.announce(live)
            except BaseException:
                detach()
                raise
        except BaseException:
            self._tracks.pop(live, None)
            writer.close()
            raise
        return live, stored

    def pending(self, live: LiveSession) -> tuple[Event, ...]:
        """The events of a session that are not stored yet."""
        track = self._tracks.get(live)
        return () if track is None else track.pending()

    def unsaved(self) -> tuple[LiveSession, ...]:
        """The sessions that left the store with events that could not be written."""
        return tuple(
            live for live, track in self._tracks.items() if live.store is None and track.pending()
        )

    def save(self, live: LiveSession) -> None:
        """Store what is pending of a session, live or not; for another try after a failure.

        Errors:  Rejected: WRITER_CONFLICT, STORAGE_FAILED, NOT_STORABLE.
        """
        track = self._tracks.get(live)
        if track is not None:
            track.drain()
            if live.store is None:
                self._forget(track)

    def close(self) -> None:
        """Stop listening and give the writers back. Nothing is written: flush before."""
        for off in self._offs:
            off()
        for track in tuple(self._tracks.values()):
            self._forget(track)

    def _track(self, live: LiveSession) -> _Track:
        with self._lock:
            track = self._tracks.get(live)
            if track is None:
                track = self._tracks[live] = _Track(live, self.backend.create(live.header))
            return track

    def _begin(self, live: LiveSession) -> None:
        self._track(live)

    def _heard(self, live: LiveSession, event: Event) -> None:
        track = self._tracks.get(live)
        if track is None:  # entered without being announced
            track = self._track(live)
            track.born = event.seq
        now_s = self._monotonic_s()
        if track.waiting_since_s is None:
            track.waiting_since_s = now_s
        waiting = event.seq + 1 - track.writer.stored
        if self._durability.is_due(waiting, now_s - track.waiting_since_s):
            track.drain()

    def _flush(self, live: LiveSession) -> None:
        # A session may have left since the flush began; what it could not store is tracked.
        if live in self._tracks or live.store is self._store:
            self._track(live).drain()

    def _end(self, live: LiveSession) -> None:
        track = self._tracks.get(live)
        if track is None:
            return
        track.drain()  # a failure is reported by the store, and the track is kept
        self._forget(track)

    def _forget(self, track: _Track) -> None:
        self._tracks.pop(track.live, None)
        track.end()


__all__ = [
    "AT_FLUSH",
    "AtFlush",
    "Batches",
    "Durability",
    "EachEvent",
    "Recorder",
]
