"""Live sessions and their store: the shell that runs what the lifecycle decides.

It commits, then notifies: listeners are collected, the one reference is swapped, each is
called; a listener's failure is reported and stays its own. Appending to a session from
inside its own notice is refused.

Threads: one lock for each store, held while a command runs and its listeners are told, so
there is one append at a time; a session that no store knows has a lock of its own. Reading
`live.session` never locks. Do not wait in a listener for another thread that appends.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import attrs

from dsh_fp.core.events import Event, SessionHeader
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.session import Session
from dsh_fp.core.vocabulary import STANDARD, Vocabulary
from dsh_fp.rejected import Rejected, unwrap
from dsh_fp.store.lifecycle import (
    NEW_STORE,
    Announce,
    Build,
    Command,
    Detach,
    Effect,
    Enter,
    Entry,
    Flush,
    Fork,
    Hold,
    Lifecycle,
    Notice,
    Prepare,
    Release,
    Tell,
    Unwound,
    advance,
    begin_append,
)
from dsh_fp.store.notices import (
    DONE,
    Contained,
    Listener,
    Listeners,
    close,
    log_contained,
    start,
)

_META_KEYS: Final = ("createdAt", "cwd", "parentSession", "seedLength")


def system_clock() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


def numbered_id(number: int) -> str:
    """The made-up id with this number: `session-1`, `session-2`, ..."""
    return f"session-{number}"


# A type, data, time (None: the clock's), surface op and sources, as they were given.
_Draft = tuple[str, object, int | None, object, object]
T = TypeVar("T")


def _sound(made: T | Rejection) -> T:
    """What was made; raises Rejected for a Rejection."""
    if isinstance(made, Rejection):
        raise Rejected(made)
    return made


class LiveSession:
    """The one reference to a session that grows; `.session` is its present value.

    Made by a store, or by calling the class for one that no store knows yet.
    """

    def __init__(self, session: Session, *, clock: Callable[[], int] = system_clock) -> None:
        self._session = session
        self._clock = clock
        self._id: Final = session.header.id
        self._store: SessionStore | None = None
        self._lock = threading.RLock()  # for as long as no store's lock keeps others away

    @property
    def session(self) -> Session:
        """The value right now; whoever took it keeps it."""
        return self._session

    @property
    def id(self) -> str:
        """The session's id."""
        return self._id

    @property
    def header(self) -> SessionHeader:
        """The session's header."""
        return self._session.header

    @property
    def store(self) -> SessionStore | None:
        """The store this object is live in, if any."""
        return self._store

    def __len__(self) -> int:
        return len(self._session)

    def __bool__(self) -> bool:
        return True

    def append(
        self,
        type: str,
        data: object,
        *,
        time: int | None = None,
        surface_op: object = None,
        source_event_seqs: object = None,
    ) -> Event:
        """Append one event and tell the store's listeners; the event that was appended.

        Units:   time is epoch milliseconds; the clock's when not given.
        Errors:  Rejected: NOT_JSON, APPEND_REENTRANT, then the acceptance codes. What a gate
                 raises comes out as it is. In each case nothing has changed.
        """
        draft = (type, data, time, surface_op, source_event_seqs)
        while True:  # another thread may move it to another store in between
            store = self._store
            event = self._append(draft) if store is None else store._append(self, draft)  # pyright: ignore[reportPrivateUsage]
            if event is not None:
                return event

    def _append(self, draft: _Draft) -> Event | None:
        """The event, appended in silence; None when a store has this object after all."""
        with self._lock:
            if self._store is not None:
                return None
            event = self._drafted(draft)
            self._session = _sound(self._session.accepted(event))
            return event

    def _drafted(self, draft: _Draft) -> Event:
        """The event of a draft, timed under the lock so that later seqs have later times."""
        kind, data, time_ms, surface_op, sources = draft
        at = self._clock() if time_ms is None else time_ms
        return _sound(self._session.drafted(kind, data, at, surface_op, sources))

    def __repr__(self) -> str:
        return f"LiveSession({self._session!r})"


class SessionStore:
    """Sessions that are live, by id; who is told what happens to them.

    `clock` answers epoch milliseconds, `make_id` the id with a number, `report` takes the
    failures that reach nobody else (by default they are logged).
    """

    def __init__(
        self,
        *,
        clock: Callable[[], int] = system_clock,
        make_id: Callable[[int], str] = numbered_id,
        report: Callable[[Contained], None] = log_contained,
        vocabulary: Vocabulary = STANDARD,
    ) -> None:
        self._clock = clock
        self._make_id = make_id
        self._vocabulary = vocabulary
        self._lock = threading.RLock()
        self._state: Lifecycle = NEW_STORE
        self._listeners = Listeners(report)
        self._objects: dict[int, LiveSession] = {}  # by entry serial

    # ---- who is told ---------------------------------------------------------------------

    def on(
        self, notice: Notice, listener: Listener, *, scope: Hashable = None, gate: bool = False
    ) -> Callable[[], None]:
        """Have a listener told of a notice; the answer takes it back.

        `created`, `disposed` and `flush` give it the LiveSession, `event` the event too.
        With a scope it hears that scope's sessions only. A gate is asked before any listener
        is told, and what it raises stops the notice.
        """
        return self._listeners.add(notice, listener, scope, gate=gate)

    # ---- the lifecycle -------------------------------------------------------------------

    def create(
        self,
        id: str | None = None,
        *,
        seed: Iterable[object] = (),
        meta: Mapping[str, object] | None = None,
        scope: Hashable = None,
    ) -> LiveSession:
        """A session that is live and announced. Detach it by `detach`, or use `owner`.

        `meta` holds wire fields of the session header; `createdAt` is the clock's by default.

        Errors:  Rejected, as by `prepare` and `enter`; what a created listener or gate raises
                 undoes the entry and comes out.
        """
        live, _ = self._create(id, seed, meta, scope)
        return live

    def prepare(
        self,
        id: str | None = None,
        *,
        seed: Iterable[object] = (),
        meta: Mapping[str, object] | None = None,
    ) -> LiveSession:
        """A session that is checked and built, but not live; its made-up id is used up.

        Errors:  Rejected: SESSION_ALREADY_EXISTS, the seed's fault, NOT_JSON, META_INVALID.
        """
        with self._lock:
            return LiveSession(self._build(id, seed, meta), clock=self._clock)

    def adopt(self, session: Session) -> LiveSession:
        """A live object for a session that was built elsewhere, not entered yet."""
        return LiveSession(session, clock=self._clock)

    def enter(self, live: LiveSession, *, scope: Hashable = None) -> Callable[[], None]:
        """Make a session live without telling anyone; the answer detaches it again.

        The detach is idempotent and never touches a later session of the same id; asked for
        while the session is being told, it waits for that to unwind.

        Errors:  Rejected: SESSION_ALREADY_EXISTS, SESSION_ALREADY_ATTACHED.
        """
        return self._detacher(self._enter(live, scope))

    def announce(self, live: LiveSession) -> None:
        """Tell `created`, once. A listener that raises stops it; the session stays live.

        Errors:  Rejected: SESSION_NOT_LIVE, ALREADY_ANNOUNCED; what a listener or gate raises.
        """
        with self._lock:
            tell = self._told(Announce(live.id, live))
            scope = tell.entry.scope
            try:
                self._listeners.ask_gates("created", scope, live)
                for listener in self._listeners.of("created", scope):
                    self._listeners.await_later("created", live.id, listener(live))
            finally:
                self._unwind(tell)

    def detach(self, live: LiveSession) -> None:
        """Take a session out of the store; one that is not live here is left alone."""
        with self._lock:
            entry = self._state.entry_of(live.id, live)
            if entry is not None:
                self._detach(entry)

    def fork(
        self,
        source: LiveSession | str,
        boundary: int | None = None,
        *,
        child_id: str | None = None,
        scope: Hashable = None,
    ) -> LiveSession:
        """A live child of a live session, sharing the events through `boundary`.

        Errors:  Rejected: SESSION_ALREADY_EXISTS, SESSION_NOT_FOUND, SESSION_NOT_LIVE,
                 INVALID_BOUNDARY, OPEN_TURN, then as by `create`.
        """
        with self._lock:
            token = None if isinstance(source, str) else source
            source_id = source if isinstance(source, str) else source.id
            held = self._held(Fork(source_id, token, child_id))
            parent = self._objects[held.serial].session
            child = unwrap(parent.fork(boundary, created_at=self._clock()))
            named = child.with_header(attrs.evolve(child.header, id=self._named(child_id)))
            live = LiveSession(named, clock=self._clock)
            self._go_live(live, scope)
            return live

    async def flush(self, live: LiveSession) -> None:
        """Start every flush listener, wait for all, then raise the first failure if any.

        The first in order of registration. Runs under asyncio, and so under anyio on it.

        Errors:  Rejected: SESSION_NOT_LIVE. What a gate or listener raised.
        """
        outcomes = self._start_flush(live)
        waiting = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
        ended = iter(await asyncio.gather(*waiting, return_exceptions=True))
        for outcome in outcomes:
            failure = outcome if isinstance(outcome, BaseException) else next(ended)
            if isinstance(failure, BaseException):
                raise failure

    def flush_sync(self, live: LiveSession) -> None:
        """`flush` without an event loop: for stores whose flush listeners are all plain.

        Errors:  as `flush`; TypeError for a listener that answered an awaitable.
        """
        first: BaseException | None = None
        for outcome in self._start_flush(live):
            failure = outcome
            if not isinstance(outcome, BaseException):
                if outcome is DONE:
                    continue
                close(outcome)
                failure = TypeError("a flush listener answered an awaitable: use `await flush`")
            if first is None and isinstance(failure, BaseException):
                first = failure
        if first is not None:
            raise first

    def get(self, id: str) -> LiveSession | None:
        """The live session of this id, if any."""
        entry = self._state.roster.entries.get(id)
        return None if entry is None else self._objects.get(entry.serial)

    def list(self) -> tuple[LiveSession, ...]:
        """The live sessions in order of entering."""
        with self._lock:
            return tuple(self._objects[entry.serial] for entry in self._state.in_order())

    def owner(self) -> Owner:
        """A context manager that detaches what was created through it."""
        return Owner(self)

    # ---- what stands behind it -----------------------------------------------------------

    def _create(
        self,
        id: str | None,
        seed: Iterable[object],
        meta: Mapping[str, object] | None,
        scope: Hashable,
    ) -> tuple[LiveSession, Callable[[], None]]:
        with self._lock:
            live = LiveSession(self._build(id, seed, meta), clock=self._clock)
            return live, self._detacher(self._go_live(live, scope))

    def _go_live(self, live: LiveSession, scope: Hashable) -> Entry:
        entry = self._enter(live, scope)
        try:
            self.announce(live)
        except BaseException:
            self._detach(entry)
            raise
        return entry

    def _build(
        self, id: str | None, seed: Iterable[object], meta: Mapping[str, object] | None
    ) -> Session:
        session_id = self._named(id)
        given = {key: meta[key] for key in _META_KEYS if key in meta} if meta else {}
        if given.get("createdAt") is None:
            given["createdAt"] = self._clock()
        header = {"id": session_id, **given}
        return unwrap(Session.replay(seed, header, vocabulary=self._vocabulary))

    def _enter(self, live: LiveSession, scope: Hashable) -> Entry:
        with self._lock, live._lock:  # pyright: ignore[reportPrivateUsage]  # one pair of classes
            elsewhere = live.store is not None and live.store is not self
            entry = self._held(Enter(live.id, live, scope, elsewhere))
            self._objects[entry.serial] = live
            live._store = self  # pyright: ignore[reportPrivateUsage]
            return entry

    def _detacher(self, entry: Entry) -> Callable[[], None]:
        return lambda: self._detach(entry)

    def _detach(self, entry: Entry) -> None:
        with self._lock:
            self._let_go(self._step(Detach(entry.id, entry.serial)))

    def _unwind(self, tell: Tell) -> None:
        entry = tell.entry
        effects = self._step(Unwound(entry.id, entry.serial, tell.notice))
        if effects:
            self._let_go(effects)

    def _let_go(self, effects: tuple[Effect, ...]) -> None:
        """Run what follows when an entry has gone: release its object, then tell of it."""
        live: LiveSession | None = None
        for effect in effects:
            if isinstance(effect, Release):
                live = self._objects.pop(effect.entry.serial)
                live._store = None  # pyright: ignore[reportPrivateUsage]  # one pair of classes
            elif isinstance(effect, Tell) and live is not None:
                self._tell_disposed(effect.entry.scope, live)

    def _tell_disposed(self, scope: Hashable, live: LiveSession) -> None:
        listeners = self._listeners
        try:
            listeners.ask_gates("disposed", scope, live)
        except Exception as error:  # noqa: BLE001  # strangers' code: contained and reported
            listeners.contain(Contained("disposed", "gate", live.id, error))
            return
        listeners.tell("disposed", live.id, listeners.of("disposed", scope), live)

    def _append(self, live: LiveSession, draft: _Draft) -> Event | None:
        """The event, appended and told; None when this store has the object no more."""
        with self._lock:
            if live.store is not self:
                return None
            event = live._drafted(draft)  # pyright: ignore[reportPrivateUsage]  # one pair of classes
            before = self._state
            during, entry = _sound(begin_append(before, live.id, live))
            assert entry is not None  # it is live here
            self._state = during
            listeners, scope = self._listeners, entry.scope
            try:
                appended = _sound(live.session.accepted(event))
                listeners.ask_gates("event", scope, live, event)
                told = listeners.of("event", scope)
                live._session = appended  # pyright: ignore[reportPrivateUsage]  # the commit
                listeners.tell("event", live.id, told, live, event)
            finally:
                if self._state is during:
                    self._state = before  # nothing else happened meanwhile
                else:
                    self._unwind(Tell("event", entry))
            return event

    def _start_flush(self, live: LiveSession) -> tuple[BaseException | Awaitable[Any], ...]:
        """Each flush listener's failure, or the awaitable to wait for."""
        with self._lock:
            scope = self._told(Flush(live.id, live)).entry.scope
            self._listeners.ask_gates("flush", scope, live)
            listeners = self._listeners.of("flush", scope)
        return tuple(start(listener, live) for listener in listeners)

    def _step(self, command: Command) -> tuple[Effect, ...]:
        """Take a step; what has to be done.

        Errors:  Rejected, as `lifecycle.step`.
        """
        after = advance(self._state, command)
        if isinstance(after, Rejection):
            raise Rejected(after)
        self._state, effects = after
        return effects

    def _told(self, command: Command) -> Tell:
        (effect,) = self._step(command)
        assert isinstance(effect, Tell)
        return effect

    def _held(self, command: Command) -> Entry:
        (effect,) = self._step(command)
        assert isinstance(effect, Hold)
        return effect.entry

    def _named(self, id: str | None) -> str:
        (effect,) = self._step(Prepare(id, self._make_id))
        assert isinstance(effect, Build)
        return effect.id


class Owner:
    """Owns the sessions created through it: leaving the context detaches them, last first."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._detaches: list[Callable[[], None]] = []

    def create(
        self,
        id: str | None = None,
        *,
        seed: Iterable[object] = (),
        meta: Mapping[str, object] | None = None,
        scope: Hashable = None,
    ) -> LiveSession:
        """As `SessionStore.create`; the session goes when its owner does."""
        live, detach = self._store._create(id, seed, meta, scope)  # pyright: ignore[reportPrivateUsage]  # its own
        self._detaches.append(detach)
        return live

    def close(self) -> None:
        """Detach every session that was created through this owner."""
        while self._detaches:
            self._detaches.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
