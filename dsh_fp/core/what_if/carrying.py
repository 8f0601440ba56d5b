"""The log that edits make of a log: every event at its new seq, every seq it names carried along.

An event keeps what it is. What it names is named by the new seq; what it cites and is gone
leaves the citation. A replacement takes away what now stands where the nodes stood that it
took away before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

import attrs

from dsh_fp.core.events import (
    MAX_SEQ,
    UNSET,
    Envelope,
    Event,
    ReleasedEvent,
    event_of,
    new_event,
    seqs_of_runs,
)
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object
from dsh_fp.core.nesting import inherited_length as marked_length
from dsh_fp.core.references import (
    listed_renumbered,
    names_shadowed,
    payload_renumbered,
    renumbered,
)
from dsh_fp.core.rejection import Rejection, nothing_left_to_replace
from dsh_fp.core.session import Session
from dsh_fp.core.surface import place_node, replacement_range
from dsh_fp.core.vocabulary import Role
from dsh_fp.core.what_if.edits import Insert, Plan, Replace


@attrs.frozen
class Numbering:
    """Where each event of a log stands in the edited one, and back."""

    _plan: Plan
    _dropped: tuple[int, ...]
    _places: tuple[int, ...]  # of insertions, increasing
    _counts: tuple[int, ...]  # how many events are inserted at the first k places
    _added: tuple[int, ...]  # the new seqs of inserted events

    @classmethod
    def of(cls, plan: Plan) -> Numbering:
        """The numbering that edits make."""
        dropped = tuple(sorted(plan.dropped))
        places = tuple(sorted(plan.inserted))
        counts = tuple(accumulate((len(plan.inserted[at]) for at in places), initial=0))
        added: list[int] = []
        for place, before in zip(places, counts, strict=False):
            start = place - bisect_left(dropped, place) + before
            added += range(start, start + len(plan.inserted[place]))
        return cls(plan, dropped, places, counts, tuple(added))

    def new_seq(self, old: int) -> int | None:
        """The new seq of an event, None when it is dropped.

        A seq beyond the log stays as far beyond the edited one: what names nothing names
        nothing afterwards.
        """
        plan = self._plan
        if old >= plan.length_before:
            return min(old - plan.length_before + plan.length_after, MAX_SEQ)
        return None if old in plan.dropped else self._shifted(old, bisect_right(self._places, old))

    def old_seq(self, new: int) -> int | None:
        """The seq that an event of the edited log had, None when it was inserted."""
        place = bisect_left(self._added, new)
        if place < len(self._added) and self._added[place] == new:
            return None
        kept = new - place  # its index among the events that stayed
        low, high = kept, kept + len(self._dropped)
        while low < high:  # the smallest old seq with `kept` others before it that stayed
            middle = (low + high) // 2
            if middle + 1 - bisect_right(self._dropped, middle) <= kept:
                low = middle + 1
            else:
                high = middle
        return low

    def length_at(self, old: int) -> int:
        """How long the edited log is before what is inserted at a place, or stands there."""
        if old > self._plan.length_before:
            return old - self._plan.length_before + self._plan.length_after
        return self._shifted(old, bisect_left(self._places, old))

    def _shifted(self, old: int, insertions: int) -> int:
        return old - bisect_left(self._dropped, old) + self._counts[insertions]


def carried(session: Session, plan: Plan) -> Session | Rejection:
    """The session of the edited log, or the first refusal, its seqs those of the edited log.

    What stands before the first edit is shared. An inserted event names the log as it was.

    Errors:  NOTHING_LEFT_TO_REPLACE, or what acceptance and the guard answer.
    Source:  docs/reference/what-if.md, "How events are carried".
    """
    return _Carrying(session, plan).run()


class _Carrying:
    """One pass over the events behind the first edit."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self._was = session
        self._form = session.vocabulary.form
        self._plan = plan
        self._numbering = Numbering.of(plan)
        self._grown = session.prefix(plan.first)
        self._waiting: list[Event] = []  # to be accepted in one run
        self._seq = plan.first
        # The surface of the log as it was, one event at a time, and what its dropped
        # replacements took away.
        self._surface = session.state_at(plan.first).surface
        self._takes: dict[int, tuple[int, ...]] = {}
        # What inserted replacements took away, by new seqs, and who took each.
        self._taken: dict[int, tuple[int, ...]] = {}
        self._taker: dict[int, int] = {}

    def run(self) -> Session | Rejection:
        was, plan = self._was, self._plan
        events: Sequence[Event] = was.events[plan.first :]
        for place in range(plan.first, plan.length_before + 1):
            for insert in plan.inserted.get(place, ()):
                fault = self._put(self._inserted(insert), place, insert)
                if fault is not None:
                    return fault
            if place == plan.length_before:
                break
            event = events[place - plan.first]
            if place not in plan.dropped:
                fault = self._put(self._kept(event), place, None)
                if fault is not None:
                    return fault
            self._pass(event)
        fault = self._settle()
        if fault is not None:
            return fault
        header = was.header
        seed = header.seed_length
        if seed is not None:
            header = attrs.evolve(header, seed_length=self._numbering.length_at(seed))
        if header.extra.get("isSeeded") is True:
            # The header has to say whether the event that marks the cut is still there.
            is_marked = marked_length(self._grown.events.parts()) is not None
            header = attrs.evolve(
                header, extra=json_object({**header.extra, "isSeeded": is_marked})
            )
        return self._grown if header == was.header else self._grown.with_header(header)

    def _kept(self, event: Event) -> Event:
        """An event of the log at its new seq, perhaps with a payload of the plan's."""
        edit = self._plan.replaced.get(event.seq)
        if edit is not None:
            event = _with_values(event, edit, self._form.envelope)
        if self._seq == event.seq and not self._moves:
            return event
        made = renumbered(event, self._seq, self._numbering.new_seq)
        if not names_shadowed(made):
            return made
        return _remade(made, self._form.envelope, data=self._summary(event.data))

    def _inserted(self, insert: Insert) -> Event:
        """An inserted event, what it names named by new seqs but for its range."""
        sources = UNSET
        if insert.source_event_seqs is not None:
            named = insert.source_event_seqs
            if self._form.envelope.event is ReleasedEvent:
                named = seqs_of_runs(named, self._plan.length_before)
            sources = listed_renumbered(named, self._numbering.new_seq)
            if sources == () and named != ():
                sources = UNSET
        op = UNSET if insert.surface_op is None else insert.surface_op
        time = self._time_here() if insert.time is None else insert.time
        kind = self._form.envelope.event
        made = new_event(
            insert.type, self._seq, time, insert.data, sources=sources, op=op, kind=kind
        )
        if names_shadowed(made):
            return _remade(made, self._form.envelope, data=self._summary(insert.data))
        data = payload_renumbered(
            insert.type,
            insert.data,
            self._numbering.new_seq,
            gone=UNSET,
            released=isinstance(made, ReleasedEvent),
        )
        return made if data is insert.data else _remade(made, self._form.envelope, data=data)

    @property
    def _moves(self) -> bool:
        """Whether any event gets another seq."""
        return bool(self._plan.dropped or self._plan.inserted)

    def _time_here(self) -> int:
        if self._waiting:
            return self._waiting[-1].time
        if len(self._grown):
            return self._grown.events[len(self._grown) - 1].time
        return self._was.events[0].time if len(self._was) else 0

    def _put(self, event: Event, place: int, insert: Insert | None) -> Rejection | None:
        """Take one event in; a replacement is fitted to the surface that it meets."""
        op = self._was.events[place].surface_op if insert is None else insert.surface_op
        span = replacement_range(op, self._form)
        surfaced = self._was.vocabulary.role(event.type) is Role.SURFACE
        if span is not None and surfaced and self._moves:
            fault = self._settle()
            if fault is not None:
                return fault
            fitted = self._fitted(event, span, insert)
            if isinstance(fitted, Rejection):
                return fitted
            event = fitted
        self._waiting.append(event)
        self._seq += 1
        return None

    def _settle(self) -> Rejection | None:
        """Accept the events that wait."""
        if not self._waiting:
            return None
        grown, fault = self._grown.accept_run(self._waiting)
        if fault is None:
            self._grown, self._waiting = grown, []
        return None if fault is None else attrs.evolve(fault, index=None)

    def _fitted(
        self, event: Event, span: tuple[int, int], insert: Insert | None
    ) -> Event | Rejection:
        """A replacement that takes away what now stands where its nodes stood.

        Nodes that it did not take away in the log as it was are cited at the end.
        """
        takes = self._range_before(span)
        if takes is None:
            # An insertion whose range is none of the log as it was may yet be one of this.
            start, end = (self._numbering.new_seq(seq) for seq in span)
            known: frozenset[int] | None = None
        else:
            standing = [new for old in takes for new in self._stand_ins(old)]
            wanted = frozenset(standing)
            start, end = (
                (self._top(standing[0], wanted), self._top(standing[-1], wanted))
                if standing
                else (None, None)
            )
            known = frozenset(takes)
        if start is None or end is None:
            return nothing_left_to_replace(event.seq, *span)
        surface = self._grown.surface
        first, last = surface.index(start), surface.index(end)
        gone: tuple[int, ...] = ()
        if first is not None and last is not None and first <= last:
            gone = surface.shadowed(first, last)
        sources: AnyJson = event.source_event_seqs if event.has_sources else UNSET
        if sources is UNSET or isinstance(sources, JsonArray):
            cited: tuple[AnyJson, ...] = () if sources is UNSET else sources
            seen = set(cited)
            added = [
                new
                for new in gone
                if new not in seen and self._is_news(self._numbering.old_seq(new), known)
            ]
            if added:
                sources = json_array((*cited, *added))
        if insert is not None:
            self._taken[event.seq] = gone
            self._taker.update(dict.fromkeys(gone, event.seq))
        form = self._form
        op = json_object({**event.surface_op, form.start: start, form.end: end})
        if sources is UNSET:
            return _remade(event, form.envelope, surfaceOp=op)
        if insert is None or event.has_sources:
            return _remade(event, form.envelope, surfaceOp=op, sourceEventSeqs=sources)
        kind = form.envelope.event
        return new_event(
            event.type, event.seq, event.time, event.data, sources=sources, op=op, kind=kind
        )

    @staticmethod
    def _is_news(old: int | None, known: frozenset[int] | None) -> bool:
        """Whether a node that is taken away could not be cited in the log as it was."""
        return old is None or (known is not None and old not in known)

    def _range_before(self, span: tuple[int, int]) -> tuple[int, ...] | None:
        """The nodes of a range in the log as it was up to here; None where it is no range."""
        surface = self._surface
        first, last = surface.index(span[0]), surface.index(span[1])
        if first is None or last is None or first > last:
            return None
        return surface.shadowed(first, last)

    def _pass(self, event: Event) -> None:
        """Go on behind an event of the log as it was."""
        if not self._moves or not event.has_surface_op:
            return
        if event.appends:
            self._surface = self._surface.appended(event.seq)
            return
        if event.seq in self._plan.dropped:
            span = replacement_range(event.surface_op, self._form)
            assert span is not None  # the event was accepted
            self._takes[event.seq] = self._range_before(span) or ()
        self._surface = place_node(self._surface, event, self._form)

    def _stand_ins(self, old: int) -> list[int]:
        """What there is of a node, by new seqs: itself, or what it had taken away if it is gone."""
        found: list[int] = []
        waiting = [old]
        while waiting:
            seq = waiting.pop()
            new = self._numbering.new_seq(seq)
            if new is not None:
                found.append(new)
            else:
                waiting += reversed(self._takes.get(seq, ()))
        return found

    def _top(self, new: int, wanted: frozenset[int]) -> int:
        """The node that stands for another: itself, or an inserted one that took it away.

        One that also took a node which is not wanted stands for none: the answer is then not
        on the surface.
        """
        top = new
        while top in self._taker:
            top = self._taker[top]
        inside = [top]
        while inside:
            node = inside.pop()
            if node in self._taken:
                inside += self._taken[node]
            elif node not in wanted and self._numbering.old_seq(node) is not None:
                return new
        return top

    def _summary(self, data: AnyJson) -> AnyJson:
        """The payload of a compaction's summary, its nodes as the replacement has them."""
        if not isinstance(data, JsonObject):
            return data
        parts: dict[str, AnyJson] = dict(data)
        shadowed: list[int] = []
        if isinstance(data.get("shadowedSeqs"), JsonArray):
            named = [self._named(seq) for seq in data["shadowedSeqs"]]
            parts["shadowedSeqs"] = json_array(seq for each in named for seq in each)
            shadowed = [seq for seq in parts["shadowedSeqs"] if type(seq) is int]
        span = data.get("shadowedRange")
        if isinstance(span, JsonObject):
            ends = dict(span)
            for key, at in (("start", 0), ("end", -1)):
                if key in span:
                    left = self._named(span[key]) or shadowed
                    if not left:
                        del parts["shadowedRange"]  # it would name another event
                        return json_object(parts)
                    ends[key] = left[at]
            parts["shadowedRange"] = json_object(ends)
        return json_object(parts)

    def _named(self, value: AnyJson) -> list[AnyJson]:
        """What stands in a list for one of its members; what is no seq stays."""
        if type(value) is not int or not 0 <= value <= MAX_SEQ:
            return [value]
        if value >= self._plan.length_before:
            return [self._numbering.new_seq(value)]
        return list(self._stand_ins(value))


def _with_values(event: Event, edit: Replace, envelope: Envelope) -> Event:
    """An event with the payload of an edit, and its type and time where it has them."""
    kind = event.type if edit.type is None else edit.type
    time = event.time if edit.time is None else edit.time
    return _remade(event, envelope, type=kind, time=time, data=edit.data)


def _remade(event: Event, envelope: Envelope, **values: AnyJson) -> Event:
    """An event with other values; keys that are new stand last."""
    made = event_of(json_object({**event.stored_value, **values}), envelope)
    assert isinstance(made, Event)  # its parts are those of an event
    return made
