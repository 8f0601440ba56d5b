"""The nodes in force, in order, and what one event does to them.

Each node has a *place*: the seq of the oldest append at whose spot it stands; a replacement
inherits the place of its start. Places only increase along the surface whatever was
replaced, so finding a node is a binary search.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

import attrs
from pyrsistent import PMap, pmap
from returns.result import Failure, Result, Success

from dsh_fp.core.events import UNSET, Event, as_event, is_seq
from dsh_fp.core.growing import Growing
from dsh_fp.core.lossless import AnyJson
from dsh_fp.core.rejection import (
    Rejection,
    replace_end_unknown,
    replace_reversed,
    replace_start_unknown,
    replace_uncited,
    sources_duplicate,
    sources_empty,
    sources_forbidden,
    sources_invalid,
    sources_not_earlier,
    sources_unknown,
    surface_op_forbidden,
    surface_op_invalid,
    surface_op_missing,
)
from dsh_fp.core.vocabulary import JULY_FORM, STANDARD, Form, Role, Vocabulary

_NO_NODES: Final[Growing[int]] = Growing.of()
_NOTHING_NOTED: Final[Growing[Event]] = Growing.of()


@attrs.frozen
class Node:
    """One place of the surface and its neighbours' seqs."""

    seq: int
    prev: int | None
    next: int | None


@attrs.frozen
class Replacement:
    """What one replacement took off the surface; start and end are places named by seq."""

    seq: int
    start: int
    end: int
    shadowed_seqs: tuple[int, ...]


@attrs.frozen(eq=False)
class Surface:
    """The seqs of the nodes in force, in order. Immutable; versions share their nodes."""

    _order: Growing[int] = _NO_NODES
    # The places of nodes that stand by replacement; any other node's place is its own seq.
    _places: PMap[int, int] = pmap()
    # How many nodes stood right after the last replacement: the rest are plain appends.
    settled: int = 0
    generation: int = 0
    # The nodes that a generation's own rules look at again, in order of seq; may hold more
    # than those in force.
    notes: Growing[Event] = _NOTHING_NOTED

    @property
    def seqs(self) -> tuple[int, ...]:
        """The nodes' seqs from head to tail."""
        return tuple(self._order)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes from head to tail, each with its neighbours."""
        return linked(self.seqs)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __getitem__(self, index: int) -> int:
        return self._order[index]

    def __contains__(self, seq: object) -> bool:
        return type(seq) is int and self.index(seq) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Surface):
            return NotImplemented
        return self.generation == other.generation and self._order == other._order

    def __hash__(self) -> int:
        return hash((self.generation, self.seqs))

    def index(self, seq: int) -> int | None:
        """Where the node with this seq stands, or None. O(log n)."""
        order, places = self._order, self._places
        if not places:
            at = order.bisect(seq)
            return at if at < len(order) and order[at] == seq else None
        place = places.get(seq, seq)
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            node = order[middle]
            if places.get(node, node) < place:
                low = middle + 1
            else:
                high = middle
        return low if low < len(order) and order[low] == seq else None

    def appended(self, seq: int) -> Surface:
        """The surface with one node more at its tail. O(log n)."""
        return Surface(
            self._order.append(seq), self._places, self.settled, self.generation, self.notes
        )

    def noted(self, event: Event) -> Surface:
        """The surface with its newest node noted."""
        notes = self.notes.append(event)
        return Surface(self._order, self._places, self.settled, self.generation, notes)

    def note_of(self, seq: int) -> Event | None:
        """The node with this seq, if it was noted. O(log n)."""
        at = self.notes.bisect(seq, _seq_of)
        found = self.notes[at] if at < len(self.notes) else None
        return found if found is not None and found.seq == seq else None

    def appended_all(self, seqs: list[int], notes: Sequence[Event] = ()) -> Surface:
        """The surface with a run of nodes more at its tail, those among them noted."""
        if not seqs:
            return self
        noted = self.notes.extend(notes)
        order = self._order.extend(seqs)
        return Surface(order, self._places, self.settled, self.generation, noted)

    def replaced(self, first: int, last: int, seq: int) -> Surface:
        """The surface with the nodes from index first through last replaced by one."""
        start = self._order[first]
        place = self._places.get(start, start)
        places = self._places.evolver()
        for gone in self.shadowed(first, last):
            if gone in self._places:
                places.remove(gone)
        places[seq] = place
        order = self._order.splice(first, last + 1, seq)
        return Surface(order, places.persistent(), len(order), self.generation + 1, self.notes)

    def before(self, length: int) -> Surface:
        """This surface as it was when the log had `length` events.

        Right for any length since its last replacement: what came later are plain appends.
        """
        order = self._order
        low = order.bisect(length, start=self.settled)
        if low == len(order):
            return self
        return Surface(order.prefix(low), self._places, self.settled, self.generation, self.notes)

    def shadowed(self, first: int, last: int) -> tuple[int, ...]:
        """The nodes from index first through last, in surface order."""
        return tuple(self._order[index] for index in range(first, last + 1))


def _seq_of(event: Event) -> int:
    return event.seq


EMPTY_SURFACE: Final = Surface()


class Placed(Protocol):
    """What the checks of a replacement ask of a surface."""

    def index(self, seq: int) -> int | None:
        """Where the node with this seq stands, or None."""
        ...

    def shadowed(self, first: int, last: int) -> tuple[int, ...]:
        """The nodes from index first through last, in surface order."""
        ...


def replacement_range(op: AnyJson, form: Form = JULY_FORM) -> tuple[int, int] | None:
    """The start and end of a well-formed replacement, else None."""
    if not isinstance(op, dict) or op.get("op") != "replace":
        return None
    if op.keys() != {"op", form.start, form.end}:
        return None
    start, end = op[form.start], op[form.end]
    return (start, end) if is_seq(start) and is_seq(end) else None


def check_bare(event: Event) -> Rejection | None:
    """That a log-only event claims no place: SURFACE_OP_FORBIDDEN, SOURCES_FORBIDDEN."""
    if event.stored_op is not UNSET:
        return surface_op_forbidden(event.seq, event.type)
    if event.stored_sources is not UNSET:
        return sources_forbidden(event.seq, event.type)
    return None


def check_marker(event: Event, form: Form = JULY_FORM) -> Rejection | None:
    """How a surface event says it joins: SURFACE_OP_MISSING, _INVALID, SOURCES_INVALID."""
    if not event.has_surface_op:
        return surface_op_missing(event.seq, event.type)
    op = event.surface_op
    if op != "append" and replacement_range(op, form) is None:
        return surface_op_invalid(event.seq)
    if event.has_sources and event.source_runs is None:
        sources = event.source_event_seqs
        if not isinstance(sources, tuple) or not all(map(is_seq, sources)):
            return sources_invalid(event.seq)
    return None


def check_range(surface: Placed, event: Event, form: Form = JULY_FORM) -> Rejection | None:
    """Whether a replacement's range is in force: REPLACE_START_, _END_UNKNOWN, _REVERSED."""
    named = replacement_range(event.surface_op, form)
    if named is None:
        return None
    start, end = named
    first, last = surface.index(start), surface.index(end)
    if first is None:
        return replace_start_unknown(event.seq, start)
    if last is None:
        return replace_end_unknown(event.seq, end)
    if first > last:
        return replace_reversed(event.seq, start, end, start_index=first, end_index=last)
    return None


def check_sources(
    surface: Placed, event: Event, known: set[int] | None = None, form: Form = JULY_FORM
) -> Rejection | None:
    """Whether provenance is sound: SOURCES_EMPTY to REPLACE_UNCITED, in that order.

    `known` holds the seqs of the log where it may have gaps; without it every earlier seq
    is an event.
    """
    seq, runs = event.seq, event.source_runs
    if runs is not None:
        return _check_runs(surface, event, runs, known, form)
    sources = event.source_event_seqs if event.has_sources else None
    if sources is not None:
        if not sources and event.type not in form.may_cite_nothing:
            return sources_empty(seq)
        if len(set(sources)) != len(sources):
            seen: set[int] = set()
            for source in sources:
                if source in seen:
                    return sources_duplicate(seq, source)
                seen.add(source)
        if known is not None or max(sources, default=-1) >= seq:
            for source in sources:
                if source >= seq:
                    return sources_not_earlier(seq, source)
                if known is not None and source not in known:
                    return sources_unknown(seq, source)
    span = span_of(surface, event, form)
    if span is not None:
        cited: set[int] = set(sources or ())
        missing = tuple(node for node in surface.shadowed(*span) if node not in cited)
        if missing:
            return replace_uncited(seq, missing)
    return None


def _check_runs(
    surface: Placed,
    event: Event,
    runs: tuple[tuple[int, int], ...],
    known: set[int] | None,
    form: Form,
) -> Rejection | None:
    """`check_sources` for sound runs, which are distinct and earlier: never written out."""
    if known is not None:
        for first, last in runs:
            unknown = next((seq for seq in range(first, last + 1) if seq not in known), None)
            if unknown is not None:
                return sources_unknown(event.seq, unknown)
    span = span_of(surface, event, form)
    gone = () if span is None else surface.shadowed(*span)
    missing = tuple(node for node in gone if not _lies_in(runs, node))
    return replace_uncited(event.seq, missing) if missing else None


def _lies_in(runs: tuple[tuple[int, int], ...], seq: int) -> bool:
    at = bisect_right(runs, seq, key=lambda run: run[0])
    return at > 0 and seq <= runs[at - 1][1]


def place_node(surface: Surface, event: Event, form: Form = JULY_FORM) -> Surface:
    """The surface after a surface event that passed every check."""
    span = span_of(surface, event, form)
    seq = event.seq
    placed = surface.appended(seq) if span is None else surface.replaced(*span, seq)
    return placed.noted(event) if event.type in form.noted else placed


def span_of(surface: Placed, event: Event, form: Form = JULY_FORM) -> tuple[int, int] | None:
    """Where a replacement that passed check_range starts and ends; None for an append."""
    named = replacement_range(event.surface_op, form)
    if named is None:
        return None
    first, last = surface.index(named[0]), surface.index(named[1])
    assert first is not None
    assert last is not None
    return first, last


@attrs.frozen
class _Listed:
    """The plain definition of a surface: its seqs, cut and filled. Any seqs in any order."""

    seqs: tuple[int, ...]

    def index(self, seq: int) -> int | None:
        return self.seqs.index(seq) if seq in self.seqs else None

    def shadowed(self, first: int, last: int) -> tuple[int, ...]:
        return self.seqs[first : last + 1]

    def appended(self, seq: int) -> _Listed:
        return _Listed((*self.seqs, seq))

    def replaced(self, first: int, last: int, seq: int) -> _Listed:
        return _Listed((*self.seqs[:first], seq, *self.seqs[last + 1 :]))


@attrs.frozen
class SurfaceFold:
    """What a bare fold over a log answers."""

    seqs: tuple[int, ...]
    replacements: tuple[Replacement, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes in force from head to tail."""
        return linked(self.seqs)


def linked(seqs: tuple[int, ...]) -> tuple[Node, ...]:
    """Nodes in this order, each with its neighbours."""
    before: tuple[int | None, ...] = (None, *seqs[:-1])
    after: tuple[int | None, ...] = (*seqs[1:], None)
    return tuple(map(Node, seqs, before, after))


def fold_surface(
    events: Iterable[object], vocabulary: Vocabulary = STANDARD
) -> Result[SurfaceFold, Rejection]:
    """The surface of a list of events and every replacement in it.

    The seqs need not be contiguous here. Events or wire objects are taken.

    Errors:  the surface codes, with the index of the event in the list.
    Law:     surface_matches_list_surgery.
    """
    surface: Surface | _Listed = EMPTY_SURFACE
    replacements: list[Replacement] = []
    known: set[int] = set()
    last = -1
    for index, given in enumerate(events):
        event = as_event(given, vocabulary.form.envelope)
        if isinstance(event, Rejection):
            return Failure(event.at(index=index))
        if event.seq <= last and isinstance(surface, Surface):
            surface = _Listed(surface.seqs)  # places need increasing seqs; lists do not
        last = event.seq
        if vocabulary.role(event.type) is Role.SURFACE:
            fault = (
                check_marker(event, vocabulary.form)
                or check_range(surface, event, vocabulary.form)
                or check_sources(surface, event, known, vocabulary.form)
            )
        else:
            fault = check_bare(event)
        if fault is not None:
            return Failure(fault.at(index=index))
        if event.has_surface_op:
            span = span_of(surface, event, vocabulary.form)
            if span is None:
                surface = surface.appended(event.seq)
            else:
                gone = surface.shadowed(*span)
                replacements.append(Replacement(event.seq, gone[0], gone[-1], gone))
                surface = surface.replaced(*span, event.seq)
        known.add(event.seq)
    return Success(SurfaceFold(surface.seqs, tuple(replacements)))
