"""The persistent log: prefixes and forks share it, none copies.

A log is a few spans of events, each seen up to a length. A prefix is the same spans with a
smaller length; a fork is the parent's prefix followed by a span of its own.

Closed spans are tuples: the garbage collector stops looking at a tuple that holds nothing it
cares about, while it walks a persistent vector from end to end each time. Only the short
last span, where appends go, is a vector. What a file packs stays packed: such a span is a
closed one that makes its events when they are looked at.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, overload

import attrs
from pyrsistent import PVector, pvector

from dsh_fp.core.events import Event
from dsh_fp.core.packed import PackedRun, Rows

# Appends go to a vector of at most so many events; then it is closed.
_TAIL: Final = 256
# A closed span joins the one before it when it has grown to this part of it: few spans in
# all, and each event is copied a few times at most.
_JOIN_AT: Final = 8


@attrs.frozen(eq=False)
class Span:
    """The first `length` of some events, standing at `start` in the log."""

    start: int
    length: int
    events: PVector[Event] | tuple[Event, ...] | Rows

    @property
    def is_closed(self) -> bool:
        """Whether nothing is ever appended to the events behind it."""
        return isinstance(self.events, tuple | Rows)


@attrs.frozen(eq=False, repr=False)
class EventLog(Sequence[Event]):
    """An immutable sequence of events whose index is their seq."""

    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, events: Iterable[Event]) -> EventLog:
        """A log of these events, built in one go."""
        closed = events if isinstance(events, Rows) else tuple(events)
        return cls((Span(0, len(closed), closed),)) if closed else cls()

    def __len__(self) -> int:
        if not self.spans:
            return 0
        last = self.spans[-1]
        return last.start + last.length

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Event, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        length = len(self)
        if isinstance(index, slice):
            return tuple(self._at(place) for place in range(*index.indices(length)))
        if index < 0:
            index += length
        if not 0 <= index < length:
            raise IndexError(f"seq {index} in a log of {length} events")
        return self._at(index)

    def _at(self, seq: int) -> Event:
        for span in reversed(self.spans):
            if seq >= span.start:
                return span.events[seq - span.start]
        raise AssertionError("the first span starts at 0")

    def __iter__(self) -> Iterator[Event]:
        for span in self.spans:
            yield from islice(span.events, span.length)

    def parts(self) -> Iterator[Event | PackedRun]:
        """The events in order, runs left packed where they are."""
        for span in self.spans:
            events = span.events
            if isinstance(events, Rows) and span.length == len(events):
                yield from events.parts
            else:
                yield from islice(events, span.length)

    def append(self, event: Event) -> EventLog:
        """The log with one event more. O(log n), the occasional joining of spans spread out."""
        spans = self.spans
        if spans:
            last = spans[-1]
            tail = last.events
            if not isinstance(tail, tuple | Rows) and len(tail) == last.length < _TAIL:
                grown = Span(last.start, last.length + 1, tail.append(event))
                return EventLog((*spans[:-1], grown))
        opened = Span(len(self), 1, pvector((event,)))
        return EventLog((*_closed(self.spans), opened))

    def extend(self, events: Sequence[Event]) -> EventLog:
        """The log with more events; a run is cheaper than one by one."""
        if isinstance(events, Rows):
            return EventLog((*_closed(self.spans), Span(len(self), len(events), events)))
        if not self.spans:
            return EventLog.of(events)
        if len(events) < _TAIL:
            grown = self
            for event in events:
                grown = grown.append(event)
            return grown
        own = Span(len(self), len(events), tuple(events))
        return EventLog(_joined((*_closed(self.spans), own)))

    def prefix(self, length: int) -> EventLog:
        """The first `length` events; shares everything."""
        if length >= len(self):
            return self
        if length <= 0:
            return EventLog()
        index = _span_index(self.spans, length - 1)
        last = self.spans[index]
        cut = Span(last.start, length - last.start, last.events)
        return EventLog((*self.spans[:index], cut))

    def __reduce__(self) -> tuple[Callable[[Iterable[Event]], EventLog], tuple[list[Event]]]:
        return EventLog.of, (list(self),)  # a prefix takes nothing of what came later along

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EventLog):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), self[-1] if self.spans else None))

    def __repr__(self) -> str:
        return f"EventLog({len(self)} events)"


def _closed(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """The same events, the last span ready to stand before another."""
    if not spans:
        return spans
    last = spans[-1]
    if isinstance(last.events, Rows) or (last.is_closed and last.length > _TAIL):
        return spans  # perhaps cut, but shared: copying it would cost its length
    own = tuple(islice(last.events, last.length))
    return _joined((*spans[:-1], Span(last.start, len(own), own)))


def _joined(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """The same events, with the last spans joined where they have grown large enough."""
    while len(spans) > 1:
        before, last = spans[-2:]
        if before.length > _JOIN_AT * last.length or isinstance(before.events, Rows):
            break
        events = (*islice(before.events, before.length), *last.events)
        spans = (*spans[:-2], Span(before.start, len(events), events))
    return spans


def _span_index(spans: tuple[Span, ...], seq: int) -> int:
    return bisect_right(spans, seq, key=lambda span: span.start) - 1


EMPTY_LOG: Final = EventLog()
