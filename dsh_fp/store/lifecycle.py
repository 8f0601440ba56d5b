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


@attrs.frozen
class Roster:
    """Who is live, by id, and how many ids and entries there have been."""

    entries: PMap[str, Entry] = pmap()
    ids_made: int = 0
    entered: int = 0


@attrs.frozen
class Lifecycle:
    """All that a store knows.

    `telling` holds what is being told right now, by the entry's serial, innermost last;
    `leaving` the entries whose detach waits until that unwinds.
    """

    roster: Roster = Roster()
    telling: tuple[tuple[int, Notice], ...] = ()
    leaving: frozenset[int] = frozenset()

    @property
    def entries(self) -> PMap[str, Entry]:
        """The entries by id."""
        return self.roster.entries

    def entry_of(self, session_id: str, token: Hashable) -> Entry | None:
        """The entry of exactly this object, or None."""
        entry = self.roster.entries.get(session_id)
        return entry if entry is not None and entry.token == token else None

    def in_order(self) -> tuple[Entry, ...]:
        """The entries in order of entering."""
        return tuple(sorted(self.roster.entries.values(), key=lambda entry: entry.serial))


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
class Release:
    """The entry is gone; its object is live no more."""

    entry: Entry


@attrs.frozen
class Tell:
    """Ask the gates of a notice, then tell its listeners."""

    notice: Notice
    entry: Entry


Effect = Build | Hold | Release | Tell
Next = tuple[Lifecycle, tuple[Effect, ...]]


def step(state: Lifecycle, command: Command) -> Result[Next, Rejection]:
    """The state after a command and what has to be done in order, or why it is refused.

    Errors:  SESSION_ALREADY_EXISTS, SESSION_ALREADY_ATTACHED, SESSION_NOT_LIVE,
             ALREADY_ANNOUNCED, APPEND_REENTRANT, SESSION_NOT_FOUND.
    """
    after = advance(state, command)
    return Failure(after) if isinstance(after, Rejection) else Success(after)


def advance(state: Lifecycle, command: Command) -> Next | Rejection:
    """`step` without the wrapping."""
    return MOVES[type(command)](state, command)


def _prepare(state: Lifecycle, command: Prepare) -> Next | Rejection:
    roster = state.roster
    if command.id is not None:
        if command.id in roster.entries:
            return session_already_exists(command.id)
        return state, (Build(command.id),)
    made = roster.ids_made + 1
    while (session_id := command.make_id(made)) in roster.entries:
        made += 1
    # Used up even when building fails: an id that was seen is never given again.
    return _with(state, attrs.evolve(roster, ids_made=made)), (Build(session_id),)


def _enter(state: Lifecycle, command: Enter) -> Next | Rejection:
    roster = state.roster
    if command.id in roster.entries:
        return session_already_exists(command.id)
    if command.attached_elsewhere:
        return session_already_attached(command.id)
    entry = Entry(command.id, command.token, roster.entered, command.scope)
    entries = roster.entries.set(entry.id, entry)
    return _with(state, Roster(entries, roster.ids_made, roster.entered + 1)), (Hold(entry),)


def _announce(state: Lifecycle, command: Announce) -> Next | Rejection:
    entry = state.entry_of(command.id, command.token)
    if entry is None:
        return session_not_live(command.id)
    if entry.announced:
        return already_announced(command.id)
    told = attrs.evolve(entry, announced=True)
    entries = state.roster.entries.set(entry.id, told)
    announced = _with(state, attrs.evolve(state.roster, entries=entries))
    return _begin(announced, told, "created"), (Tell("created", told),)


def _append(state: Lifecycle, command: Append) -> Next | Rejection:
    begun = begin_append(state, command.id, command.token)
    if isinstance(begun, Rejection):
        return begun
    after, entry = begun
    return after, () if entry is None else (Tell("event", entry),)


def begin_append(
    state: Lifecycle, session_id: str, token: Hashable
) -> tuple[Lifecycle, Entry | None] | Rejection:
    """`Append` for those who append often: the state after it, and whose `event` is told."""
    entry = state.entry_of(session_id, token)
    if entry is None:
        return state, None  # a detached session takes events silently
    if state.telling and (entry.serial, "event") in state.telling:
        return append_reentrant(session_id)
    return _begin(state, entry, "event"), entry


def _flush(state: Lifecycle, command: Flush) -> Next | Rejection:
    entry = state.entry_of(command.id, command.token)
    if entry is None:
        return session_not_live(command.id)
    return state, (Tell("flush", entry),)


def _fork(state: Lifecycle, command: Fork) -> Next | Rejection:
    entries = state.roster.entries
    if command.child_id is not None and command.child_id in entries:
        return session_already_exists(command.child_id)
    source = entries.get(command.source_id)
    if source is None:
        return session_not_found(command.source_id)
    if command.source_token is not None and source.token != command.source_token:
        return session_not_live(command.source_id)
    return state, (Hold(source),)


def _detach(state: Lifecycle, command: Detach) -> Next | Rejection:
    entry = state.roster.entries.get(command.id)
    if entry is None or entry.serial != command.serial:
        return state, ()
    if _is_told(state.telling, entry.serial):
        leaving = state.leaving | {entry.serial}
        return Lifecycle(state.roster, state.telling, leaving), ()
    return _removed(state, entry)


def _unwound(state: Lifecycle, command: Unwound) -> Next | Rejection:
    telling = list(state.telling)
    telling.remove((command.serial, command.notice))
    unwound = Lifecycle(state.roster, tuple(telling), state.leaving)
    if command.serial in state.leaving and not _is_told(unwound.telling, command.serial):
        return _removed(unwound, state.roster.entries[command.id])
    return unwound, ()


def _with(state: Lifecycle, roster: Roster) -> Lifecycle:
    return Lifecycle(roster, state.telling, state.leaving)


def _begin(state: Lifecycle, entry: Entry, notice: Notice) -> Lifecycle:
    return Lifecycle(state.roster, (*state.telling, (entry.serial, notice)), state.leaving)


def _is_told(telling: tuple[tuple[int, Notice], ...], serial: int) -> bool:
    return any(told == serial for told, _ in telling)


def _removed(state: Lifecycle, entry: Entry) -> Next:
    roster = attrs.evolve(state.roster, entries=state.roster.entries.remove(entry.id))
    gone = Lifecycle(roster, state.telling, state.leaving - {entry.serial})
    # A session that was never told as created leaves without a word.
    told: tuple[Effect, ...] = (Tell("disposed", entry),) if entry.announced else ()
    return gone, (Release(entry), *told)


MOVES: Final[Mapping[type, Callable[[Lifecycle, Any], Next | Rejection]]] = MappingProxyType(
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
