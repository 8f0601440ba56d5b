"""The difference between two sessions: of what they hold, and of what they sent."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

import attrs

from dsh_fp.core.changes import EventName, RequestDifference
from dsh_fp.core.content import content_texts
from dsh_fp.core.differences import diff_requests
from dsh_fp.core.events import UNSET, Event, ReleasedEvent, new_event, remade_event
from dsh_fp.core.json_paths import Difference, first_difference
from dsh_fp.core.lossless import MAX_DEPTH, AnyJson, parse_value, text_of
from dsh_fp.core.origins import SessionOrigins
from dsh_fp.core.references import calls_renamed
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session

_PIECE: Final = "assistant/chunk"


@attrs.frozen
class EventDifference:
    """The first event in whose content two sessions part; None where one of them has ended.

    `first` is where the two events part, with their seqs as places and their call ids as
    numbers, which is how content is compared.

    Units:   place counts the events that are no stream chunks, from 0.
    """

    place: int
    old: EventName | None
    new: EventName | None
    first: Difference | None


@attrs.frozen
class RequestPair:
    """Two requests at the same place of two sessions; None where one of them has no more.

    `equal` is None when one of the two is not known, or is not there.
    """

    old: PastRequest | None
    new: PastRequest | None
    equal: bool | None


@attrs.frozen
class SessionDifference:
    """How two sessions differ, the older one first.

    `first_event` is None when their content is equal: times, session ids and the spelling of
    call ids (of later generations, of all made-up names) do not count there. `first_request`
    is about the first pair that is not equal.

    Source:  docs/reference/differences.md, "Two sessions".
    """

    first_event: EventDifference | None
    pairs: tuple[RequestPair, ...]
    first_pair: RequestPair | None
    first_request: RequestDifference | None

    @property
    def content_equal(self) -> bool:
        """Whether both hold the same, whenever and under whatever names it was recorded."""
        return self.first_event is None

    @property
    def equal_pairs(self) -> int:
        """How many pairs of requests are equal in text."""
        return sum(pair.equal is True for pair in self.pairs)

    @property
    def different_pairs(self) -> int:
        """How many pairs of requests are not."""
        return sum(pair.equal is False for pair in self.pairs)

    @property
    def unknown_pairs(self) -> int:
        """How many pairs have a request that is not known."""
        return sum(
            pair.equal is None and pair.old is not None and pair.new is not None
            for pair in self.pairs
        )

    @property
    def only_old(self) -> int:
        """How many requests the older session has more."""
        return sum(pair.new is None for pair in self.pairs)

    @property
    def only_new(self) -> int:
        """How many requests the newer session has more."""
        return sum(pair.old is None for pair in self.pairs)

    @property
    def equal(self) -> bool:
        """Whether content and all requests are equal; a request that is not known is not."""
        return self.content_equal and self.equal_pairs == len(self.pairs)


def diff_sessions(
    old: Session, new: Session, *, ignore_call_ids: bool = False
) -> SessionDifference:
    """The difference between two sessions: of their events, and of their requests in order.

    Requests hold call ids and, in later generations, ids of messages and more, so two
    recordings of the same decisions send other texts; with `ignore_call_ids` they are compared
    as if both had numbered these names.

    Law:     sessions_differ_where_their_requests_do.
    Source:  docs/reference/differences.md, "Two sessions".
    """
    if ignore_call_ids:
        old, new = calls_numbered(old), calls_numbered(new)
    pairs: list[RequestPair] = []
    first_pair: RequestPair | None = None
    for one, other in zip_longest(past_requests(old), past_requests(new)):
        pair = RequestPair(one, other, _equal(one, other))
        if pair.equal is False and first_pair is None:
            first_pair = pair
        pairs.append(pair)
    difference: RequestDifference | None = None
    if first_pair is not None and first_pair.old is not None and first_pair.new is not None:
        ours = SessionOrigins(old).of(first_pair.old)
        theirs = SessionOrigins(new).of(first_pair.new)
        difference = diff_requests(ours, theirs).unwrap()  # both are known: they have digests
    return SessionDifference(_first_event(old, new), tuple(pairs), first_pair, difference)


def _equal(old: PastRequest | None, new: PastRequest | None) -> bool | None:
    one = None if old is None else old.digests
    other = None if new is None else new.digests
    return None if one is None or other is None else one == other


def _first_event(old: Session, new: Session) -> EventDifference | None:
    ours, theirs = content_texts(old), content_texts(new)
    for place, (one, other) in enumerate(zip_longest(ours, theirs)):
        if one is None or other is None:
            return EventDifference(place, _named(old, one), _named(new, other), None)
        if one[1] != other[1]:
            parted = first_difference(_value(one[1]), _value(other[1]))
            return EventDifference(place, _named(old, one), _named(new, other), parted)
    return None


def _value(text: str) -> AnyJson:
    return parse_value(text, MAX_DEPTH + 2)  # we wrote it, around a payload


def _named(session: Session, counted: tuple[int, str] | None) -> EventName | None:
    return None if counted is None else EventName.of(session, counted[0])


def calls_numbered(session: Session) -> Session:
    """The same session with every call id put as `call <n>`, in order of first appearance.

    In the released generations it is every name that content does not count, as `name <n>`.
    Seqs stay. Stream chunks are left as they are: no request is made of them.
    """
    numbers: dict[str, int] = {}
    released = session.vocabulary.form.envelope.event is ReleasedEvent
    kind = "name" if released else "call"

    def number(name: AnyJson) -> str:
        return f"{kind} {numbers.setdefault(text_of(name), len(numbers))}"

    def renamed(event: Event) -> Event:
        if event.type == _PIECE:
            return event
        data = calls_renamed(event.type, event.data, number, released=released)
        sources = event.source_event_seqs if event.has_sources else UNSET
        op = event.surface_op if event.has_surface_op else UNSET
        if released:
            return remade_event(event, event.seq, data, sources=sources, op=op)
        return new_event(event.type, event.seq, event.time, data, sources=sources, op=op)

    events = [renamed(event) for event in session.events]
    empty = Session(session.header, vocabulary=session.vocabulary)
    return empty.extend(events).unwrap()  # acceptance looks into no payload
