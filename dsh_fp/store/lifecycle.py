"""The lifecycle of live sessions as a pure machine: a state, a command, what follows.

`step(state, command)` decides; the shell in `sessions` does what the effects say and reports
back with `Unwound`. Nothing here holds a session or calls anyone: a live object is known by
its id and a token that stands for its identity.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

import attrs
from pyrsistent import PMap, pmap
from returns.result import Failure, Result, Success

from dsh_fp.core.rejection import (
    Rejection,
    already_announced,
    append_reentrant,
    session_already_attached,
    session_already_exists,
    session_not_found,
    session_not_live,
)

Notice = Literal["created", "event", "disposed", "flush"]


@attrs.frozen
class Entry:
    """One live session's place in a store."""

    id: str
    token: Hashable
    serial: int  # in order of entering; tells an entry from a later one of the same id
    scope: Hashable = None
    announced: bool = False  # `created` was begun
    telling: int = 0  # how many notices of it are being told right now
    appending: bool = False
    leaving: bool = False  # a detach waits until the telling unwinds


@attrs.frozen
class Lifecycle:
    """All that a store knows: its entries by id, and how many ids it has made up."""

    entries: PMap[str, Entry] = pmap()
    ids_made: int = 0
    entered: int = 0

    def entry_of(self, session_id: str, token: Hashable) -> Entry | None:
        """The entry of exactly this object, or None."""
        entry = self.entries.get(session_id)
        return entry if entry is not None and entry.token == token else None

    def in_order(self) -> tuple[Entry, ...]:
        """The entries in order of entering."""
        return tuple(sorted(self.entries.values(), key=lambda entry: entry.serial))


NEW_STORE: Final = Lifecycle()


# ---- commands --------------------------------------------------------------------------------


@attrs.frozen
class Prepare:
    """A session is to be built; without an id one is made up by `make_id(n)`."""

    id: str | None
    make_id: Callable[[int], str]


@attrs.frozen
class Enter:
    """A built session is to go live."""

    id: str
    token: Hashable
    scope: Hashable = None
    attached_elsewhere: bool = False


@attrs.frozen
class Announce:
    """A live session is to be told as created."""

    id: str
    token: Hashable


@attrs.frozen
class Append:
    """An event is about to be judged for a live session."""

    id: str
    token: Hashable


@attrs.frozen
class Flush:
    """A live session's listeners are to make it durable."""

    id: str
    token: Hashable


@attrs.frozen
class Fork:
    """A child of a live session is wanted; without a token any object of that id will do."""

    source_id: str
    source_token: Hashable
    child_id: str | None


@attrs.frozen
class Detach:
    """An entry is to go; one that went already is left alone."""

    id: str
    serial: int


@attrs.frozen
class Unwound:
    """The telling of a `created` or an `event` is over, however it ended."""

    id: str
    serial: int
    notice: Notice


Command = Prepare | Enter | Announce | Append | Flush | Fork | Detach | Unwound


# ---- effects ---------------------------------------------------------------------------------


@attrs.frozen
class Build:
    """Build the session under this id."""

    id: str


@attrs.frozen
class Hold:
    """The entry that was made; what detaches it later names it."""

    entry: Entry


@attrs.frozen
class Tell:
    """Ask the gates of a notice, then tell its listeners."""

    notice: Notice
    entry: Entry


Effect = Build | Hold | Tell
Step = Result[tuple[Lifecycle, tuple[Effect, ...]], Rejection]


def step(state: Lifecycle, command: Command) -> Step:
    """The state after a command and what has to be done, or why it is refused.

    Errors:  SESSION_ALREADY_EXISTS, SESSION_ALREADY_ATTACHED, SESSION_NOT_LIVE,
             ALREADY_ANNOUNCED, APPEND_REENTRANT, SESSION_NOT_FOUND.
    """
    return MOVES[type(command)](state, command)


def _prepare(state: Lifecycle, command: Prepare) -> Step:
    if command.id is not None:
        if command.id in state.entries:
            return Failure(session_already_exists(command.id))
        return Success((state, (Build(command.id),)))
    made = state.ids_made + 1
    while (session_id := command.make_id(made)) in state.entries:
        made += 1
    # Used up even when building fails: an id that was seen is never given again.
    return Success((attrs.evolve(state, ids_made=made), (Build(session_id),)))


def _enter(state: Lifecycle, command: Enter) -> Step:
    if command.id in state.entries:
        return Failure(session_already_exists(command.id))
    if command.attached_elsewhere:
        return Failure(session_already_attached(command.id))
    entry = Entry(command.id, command.token, state.entered, command.scope)
    entered = attrs.evolve(
        state, entries=state.entries.set(entry.id, entry), entered=state.entered + 1
    )
    return Success((entered, (Hold(entry),)))


def _announce(state: Lifecycle, command: Announce) -> Step:
    entry = state.entry_of(command.id, command.token)
    if entry is None:
        return Failure(session_not_live(command.id))
    if entry.announced:
        return Failure(already_announced(command.id))
    told = attrs.evolve(entry, announced=True, telling=entry.telling + 1)
    return Success((_with(state, told), (Tell("created", told),)))


def _append(state: Lifecycle, command: Append) -> Step:
    entry = state.entry_of(command.id, command.token)
    if entry is None:
        return Success((state, ()))  # a detached session takes events silently
    if entry.appending:
        return Failure(append_reentrant(command.id))
    told = attrs.evolve(entry, appending=True, telling=entry.telling + 1)
    return Success((_with(state, told), (Tell("event", told),)))


def _flush(state: Lifecycle, command: Flush) -> Step:
    entry = state.entry_of(command.id, command.token)
    if entry is None:
        return Failure(session_not_live(command.id))
    return Success((state, (Tell("flush", entry),)))


def _fork(state: Lifecycle, command: Fork) -> Step:
    if command.child_id is not None and command.child_id in state.entries:
        return Failure(session_already_exists(command.child_id))
    source = state.entries.get(command.source_id)
    if source is None:
        return Failure(session_not_found(command.source_id))
    if command.source_token is not None and source.token != command.source_token:
        return Failure(session_not_live(command.source_id))
    return Success((state, (Hold(source),)))


def _detach(state: Lifecycle, command: Detach) -> Step:
    entry = state.entries.get(command.id)
    if entry is None or entry.serial != command.serial:
        return Success((state, ()))
    if entry.telling:
        return Success((_with(state, attrs.evolve(entry, leaving=True)), ()))
    return Success(_removed(state, entry))


def _unwound(state: Lifecycle, command: Unwound) -> Step:
    entry = state.entries[command.id]
    assert entry.serial == command.serial  # what is being told cannot leave
    told = attrs.evolve(
        entry,
        telling=entry.telling - 1,
        appending=entry.appending and command.notice != "event",
    )
    if told.leaving and not told.telling:
        return Success(_removed(state, told))
    return Success((_with(state, told), ()))


def _with(state: Lifecycle, entry: Entry) -> Lifecycle:
    return attrs.evolve(state, entries=state.entries.set(entry.id, entry))


def _removed(state: Lifecycle, entry: Entry) -> tuple[Lifecycle, tuple[Effect, ...]]:
    gone = attrs.evolve(state, entries=state.entries.remove(entry.id))
    # A session that was never told as created leaves without a word.
    return gone, (Tell("disposed", entry),) if entry.announced else ()


MOVES: Final[Mapping[type, Callable[[Lifecycle, Any], Step]]] = MappingProxyType(
    {
        Prepare: _prepare,
        Enter: _enter,
        Announce: _announce,
        Append: _append,
        Flush: _flush,
        Fork: _fork,
        Detach: _detach,
        Unwound: _unwound,
    }
)
