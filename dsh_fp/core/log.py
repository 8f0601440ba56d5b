"""The persistent log: prefixes and forks share it, none copies.

A log is a few spans, each a vector of events seen up to a length. A prefix is the same
vectors with a smaller length; a fork is the parent's prefix followed by a vector of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, overload

import attrs
from pyrsistent import PVector, pvector

from dsh_fp.core.events import Event

# A shorter inherited span is copied instead of kept: a long line of short forks stays flat.
_WORTH_SHARING: Final = 64


@attrs.frozen(eq=False)
class Span:
    """The first `length` events of a vector, standing at `start` in the log."""

    start: int
    length: int
    vector: PVector[Event]


@attrs.frozen(eq=False, repr=False)
class EventLog(Sequence[Event]):
    """An immutable sequence of events whose index is their seq."""

    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, events: Iterable[Event]) -> EventLog:
        """A log of these events, built in one go."""
        vector = pvector(events)
        return cls((Span(0, len(vector), vector),)) if len(vector) else cls()

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
        spans = self.spans
        span = spans[0] if len(spans) == 1 else spans[_span_index(spans, seq)]
        return span.vector[seq - span.start]

    def __iter__(self) -> Iterator[Event]:
        for span in self.spans:
            yield from islice(span.vector, span.length)

    def iter_from(self, seq: int) -> Iterator[Event]:
        """The events from a seq on, without walking over those before it."""
        for span in self.spans:
            skipped = max(seq - span.start, 0)
            if skipped < span.length:
                if not skipped:
                    yield from islice(span.vector, span.length)
                else:
                    yield from (span.vector[place] for place in range(skipped, span.length))

    def append(self, event: Event) -> EventLog:
        """The log with one event more. O(log n)."""
        if not self.spans:
            return EventLog.of((event,))
        *before, last = self.spans
        if last.length == len(last.vector):
            grown = Span(last.start, last.length + 1, last.vector.append(event))
        elif last.length <= _WORTH_SHARING:
            own = pvector([*islice(last.vector, last.length), event])
            grown = Span(last.start, len(own), own)
        else:
            before = [*before, last]
            grown = Span(last.start + last.length, 1, pvector((event,)))
        return EventLog((*before, grown))

    def extend(self, events: Sequence[Event]) -> EventLog:
        """The log with more events; a run is cheaper than one by one."""
        if not events:
            return self
        if not self.spans:
            return EventLog.of(events)
        grown = self.append(events[0])
        *before, last = grown.spans
        vector = last.vector.extend(events[1:])
        return EventLog((*before, Span(last.start, len(vector), vector)))

    def prefix(self, length: int) -> EventLog:
        """The first `length` events; shares everything."""
        if length >= len(self):
            return self
        if length <= 0:
            return EventLog()
        index = _span_index(self.spans, length - 1)
        last = self.spans[index]
        cut = Span(last.start, length - last.start, last.vector)
        return EventLog((*self.spans[:index], cut))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EventLog):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), self[-1] if self.spans else None))

    def __repr__(self) -> str:
        return f"EventLog({len(self)} events)"


def _span_index(spans: tuple[Span, ...], seq: int) -> int:
    return bisect_right(spans, seq, key=lambda span: span.start) - 1


EMPTY_LOG: Final = EventLog()
