"""Hypothesis strategies for logs, events and sessions, made by the generators of the laws.

Logs and payloads are plain wire values: lists and dicts, as a file holds them and as another
implementation takes them. Each is built to be what it is called, nothing is filtered, and all
are a few dozen events at most, so that what fails shrinks to a log a person can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from dsh_fp.core.events import Event, SessionHeader, as_event
from dsh_fp.core.events import session_header as made_header
from dsh_fp.core.rejection import Code
from dsh_fp.core.session import Session
from dsh_fp.rejected import unwrap
from dsh_fp.testing.hypothesis_hook import register
from property_specs.generators import headers, ids, logs, unsound_ends
from property_specs.generators import payloads as stock
from property_specs.generators.broken_logs import CODES as _REFUSED
from property_specs.generators.broken_logs import broken_logs as _broken
from property_specs.generators.compactions import compactions as _compacted
from property_specs.generators.crashed_logs import crashed_logs as _crashed
from property_specs.generators.typed_payloads import payloads_by_type, typed_payloads
from property_specs.models.acceptance import Book, accepted

Log = list[dict[str, Any]]
"""A log as a file holds it: one dict an event."""

BROKEN_CODES: Final[tuple[Code, ...]] = tuple(map(Code, (*_REFUSED, *unsound_ends.CODES)))
"""The codes that `broken_logs` can be asked for."""


def events(after: Sequence[dict[str, Any]] = ()) -> st.SearchStrategy[dict[str, Any]]:
    """Events that may be appended to a log, by default to an empty one; each a wire dict.

    Appends, replacements where there is a node to replace, log-only events, header events.
    Turns and steps are not kept; payloads have the shape of their type.

    Errors:  AssertionError for a log that acceptance refuses.
    """
    book = accepted(list(after))
    return typed_moves().map(lambda move: logs.loose_event(book, move))


@cache
def typed_moves() -> st.SearchStrategy[logs.Move]:
    """Moves whose payload has the shape of its type, for `loose_event`."""

    def made(given: tuple[str, Any], number: int) -> logs.Move:
        name = given[0]
        on_surface = name in stock.SURFACE_TYPES
        kind = "log" if not on_surface else "replace" if number % 2 else "append"
        return logs.Move(kind, given, number // 2 % 10, number // 20 % 10, number // 200)

    surfaced = st.sampled_from(stock.SURFACE_TYPES).flatmap(
        lambda name: st.tuples(st.just(name), payloads_by_type()[name])
    )
    noted = st.tuples(st.just("plugin/note"), stock.values())
    return st.builds(made, surfaced | typed_payloads() | noted, st.integers(0, 1199))


def payloads(type: str | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Payloads that have the shape of their type: of the type named, or of any known one.

    Errors:  ValueError for a type that the standard vocabulary does not list.
    """
    known = payloads_by_type()
    if type is None:
        return st.one_of(*known.values())
    if type not in known:
        raise ValueError(f"{type!r} is no known event type; known are {', '.join(known)}")
    return known[type]


def valid_logs(*, strict: bool = False, max_moves: int = 14) -> st.SearchStrategy[Log]:
    """Logs that acceptance takes, from the empty one up; a move writes one to three events.

    With `strict`, logs of a sound writer, which `Session.create(guard=strict())` takes too:
    turns and steps nest, payloads have their shape, headers can be folded. Without it there
    are also logs of payloads that make no message and headers that cannot be folded.
    """
    return logs.turned_logs(max_moves) if strict else logs.valid_logs(max_moves)


def broken_logs(code: Code | str) -> st.SearchStrategy[list[Any]]:
    """Logs whose last event is refused with this code, and no earlier one is.

    For the codes of acceptance every session refuses it, for the others a strict one.

    Shapes:  of NOT_JSON and BAD_ENVELOPE the last event may be anything.
    Errors:  ValueError for a code that is not in BROKEN_CODES.
    """
    if code not in BROKEN_CODES:
        raise ValueError(f"no log is made for {str(code)!r}; see dsh_fp.testing.BROKEN_CODES")
    name = Code(code).value
    return _broken(name) if name in _REFUSED else unsound_ends.unsound_ends(name)


def crashed_logs() -> st.SearchStrategy[Log]:
    """Logs of a sound writer, cut anywhere: what a crash may leave, an open turn most often."""
    return _crashed()


def compactions() -> st.SearchStrategy[Log]:
    """Logs of a sound writer in which a compaction replaced a run of messages.

    Further compactions may follow, failed ones among them; a strict session takes them all.
    """
    return _compacted()


def header_sequences() -> st.SearchStrategy[list[dict[str, Any]]]:
    """The request headers that a writer has in force one after another, in wire form.

    Neighbours are often alike; parts may be empty, tools reordered, keys unknown.
    """
    return headers.header_sequences()


def sessions(*, strict: bool = False, max_moves: int = 14) -> st.SearchStrategy[Session]:
    """Sessions over the logs of `valid_logs`, each with a session header of its own."""
    return st.builds(
        lambda header, log: unwrap(Session.replay(log, header)),
        session_headers(),
        valid_logs(strict=strict, max_moves=max_moves),
    )


@cache
def session_headers() -> st.SearchStrategy[SessionHeader]:
    """Session headers: ids plain and odd, with and without a folder and a parent."""
    folders = st.sampled_from(["/home/ada", "/", "/srv/a b/é"])
    optional: dict[str, st.SearchStrategy[Any]] = {
        "cwd": folders,
        "parentSession": st.sampled_from(["parent", ""]),
        "seedLength": st.integers(0, 3),
    }
    usual = st.sampled_from(["session-1", "a"])
    fields = {"id": usual | ids.session_ids(), "createdAt": st.integers(0, 2_000)}
    return st.fixed_dictionaries(fields, optional=optional).map(
        lambda made: unwrap(made_header(made))
    )


@cache
def event_values() -> st.SearchStrategy[Event]:
    """Events as values: the last ones of logs, so that any seq and any replacement occurs."""

    def last(log: Log, move: logs.Move) -> Event:
        made = as_event(logs.loose_event(_book_of(log), move))
        assert isinstance(made, Event), made
        return made

    return st.builds(last, logs.valid_logs(max_moves=6), typed_moves())


def _book_of(log: Log) -> Book:
    return accepted(log)


register()  # for a process in which hypothesis loads no plugins
