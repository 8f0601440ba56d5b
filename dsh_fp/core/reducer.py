"""State, the ordered checks, and the two folds over them.

`reduce` is the definition: one event at a time, a Result each. `fold_run` is the same for
long runs without a Result per event; the law bulk_fold_equals_reduce holds them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Protocol

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import UNSET, Event, ReleasedEvent, as_event
from dsh_fp.core.header import HeaderInForce, Unfolded, fold_header_event, header_seen
from dsh_fp.core.packed import CHUNK, PackedRun, Rows
from dsh_fp.core.rejection import Rejection, seq_gap, type_unknown
from dsh_fp.core.surface import (
    EMPTY_SURFACE,
    Surface,
    check_bare,
    check_marker,
    check_range,
    check_sources,
    place_node,
)
from dsh_fp.core.vocabulary import JULY_FORM, STANDARD, Form, Role, Vocabulary


@attrs.frozen(eq=False)
class State:
    """What a log amounts to so far: the next seq, the surface, the request header in force."""

    next_seq: int = 0
    surface: Surface = EMPTY_SURFACE
    _header: HeaderInForce | Unfolded = attrs.field(default=None, repr=False)

    @property
    def header(self) -> HeaderInForce:
        """The request header in force, the fault in its place, or None."""
        return header_seen(self._header)

    @property
    def held_header(self) -> HeaderInForce | Unfolded:
        """The same, folded or not yet."""
        return self._header

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        one, two = (self.next_seq, self.surface), (other.next_seq, other.surface)
        return one == two and self.header == other.header

    def __hash__(self) -> int:
        return hash((self.next_seq, self.surface, self.header))


EMPTY_STATE: Final = State()

AnyHeader = HeaderInForce | Unfolded

Check = Callable[..., Rejection | None]
"""Takes the state, the event, its role and the form of its generation."""
Move = Callable[..., State]
"""Takes the state, the event and the form of its generation."""


def is_next_in_log(
    state: State, event: Event, role: Role, form: Form = JULY_FORM
) -> Rejection | None:
    """SEQ_GAP."""
    if event.seq == state.next_seq:
        return None
    return seq_gap(expected=state.next_seq, got=event.seq)


def log_only_is_bare(
    state: State, event: Event, role: Role, form: Form = JULY_FORM
) -> Rejection | None:
    """SURFACE_OP_FORBIDDEN, SOURCES_FORBIDDEN."""
    return None if role is Role.SURFACE else check_bare(event)


def surface_op_is_valid(
    state: State, event: Event, role: Role, form: Form = JULY_FORM
) -> Rejection | None:
    """SURFACE_OP_MISSING, SURFACE_OP_INVALID, SOURCES_INVALID."""
    return check_marker(event, form) if role is Role.SURFACE else None


def range_is_in_force(
    state: State, event: Event, role: Role, form: Form = JULY_FORM
) -> Rejection | None:
    """REPLACE_START_UNKNOWN, REPLACE_END_UNKNOWN, REPLACE_REVERSED."""
    return check_range(state.surface, event, form) if role is Role.SURFACE else None


def sources_are_sound(
    state: State, event: Event, role: Role, form: Form = JULY_FORM
) -> Rejection | None:
    """SOURCES_EMPTY, SOURCES_DUPLICATE, SOURCES_NOT_EARLIER, REPLACE_UNCITED."""
    if role is not Role.SURFACE:
        return None
    return check_sources(state.surface, event, form=form)


# The order is the contract: the first fault is the answer.
CHECKS: Final[tuple[Check, ...]] = (
    is_next_in_log,
    log_only_is_bare,
    surface_op_is_valid,
    range_is_in_force,
    sources_are_sound,
)


def _keep(state: State, event: Event, form: Form = JULY_FORM) -> State:
    return State(state.next_seq + 1, state.surface, state.held_header)


def _place(state: State, event: Event, form: Form = JULY_FORM) -> State:
    return State(state.next_seq + 1, place_node(state.surface, event, form), state.held_header)


def _fold_header(state: State, event: Event, form: Form = JULY_FORM) -> State:
    header = fold_header_event(state.header, event, form)
    return State(state.next_seq + 1, state.surface, header)


MOVES: Final[Mapping[Role, Move]] = MappingProxyType(
    {Role.LOG_ONLY: _keep, Role.SURFACE: _place, Role.REQUEST_HEADER: _fold_header}
)


def reduce(
    state: State, event: Event, vocabulary: Vocabulary = STANDARD
) -> Result[State, Rejection]:
    """The state after one event, or the first reason to refuse it.

    A wire object is taken too: its shape is checked first (NOT_JSON, BAD_ENVELOPE).

    Errors:  the acceptance codes, in the order of CHECKS.
    Law:     refusal_changes_nothing, first_fault_wins.
    Source:  docs/reference/acceptance.md.
    """
    shaped = as_event(event, vocabulary.form.envelope)
    if isinstance(shaped, Rejection):
        return Failure(shaped.at(seq=state.next_seq))
    after = advance(state, shaped, vocabulary)
    return Failure(after) if isinstance(after, Rejection) else Success(after)


def advance(state: State, event: Event, vocabulary: Vocabulary) -> State | Rejection:
    """`reduce` without the wrapping."""
    role, form = vocabulary.role(event.type), vocabulary.form
    for check in CHECKS:
        fault = check(state, event, role, form)
        if fault is not None:
            return fault
    fault = check_own_rules(state.surface, event, vocabulary)
    return MOVES[role](state, event, form) if fault is None else fault


def check_own_rules(surface: Surface, event: Event, vocabulary: Vocabulary) -> Rejection | None:
    """What a generation asks beyond the common rules: TYPE_UNKNOWN, NODE_RULE_BROKEN."""
    form = vocabulary.form
    if form.refuses_unknown and not vocabulary.knows(event.type):
        ignorable = isinstance(event, ReleasedEvent) and event.is_ignorable
        return None if ignorable else type_unknown(event.seq, event.type)
    if vocabulary.role(event.type) is Role.SURFACE:
        for check in form.checks:
            fault = check(surface, event, vocabulary)
            if fault is not None:
                return fault
    return None


def fold(
    events: Iterable[object], state: State | None = None, vocabulary: Vocabulary = STANDARD
) -> Result[State, Rejection]:
    """The state after many events, or the first refusal with its index in the list.

    Errors:  those of `reduce`; the state so far is not answered, for nothing is half-applied.
    Law:     bulk_fold_equals_reduce, fold_splits_anywhere.
    """
    start = EMPTY_STATE if state is None else state
    shaped: list[Event] = []
    malformed: Rejection | None = None
    for index, given in enumerate(events):
        event = as_event(given, vocabulary.form.envelope)
        if isinstance(event, Rejection):
            malformed = event.at(seq=start.next_seq + index, index=index)
            break
        shaped.append(event)
    end, fault = fold_run(start, shaped, vocabulary)
    if fault is not None:
        return Failure(fault.at(index=end.next_seq - start.next_seq))
    return Failure(malformed) if malformed is not None else Success(end)


class Changes(Protocol):
    """Whoever keeps a history is told where a run changes more than by appending."""

    def replaced(self, seq: int, before: Surface) -> None:
        """A replacement, and the surface just before it."""
        ...

    def headed(self, seq: int, after: HeaderInForce | Unfolded) -> None:
        """A header event, and what is in force after it."""
        ...


def _check_node(surface: Surface, event: Event, vocabulary: Vocabulary) -> Rejection | None:
    """All checks of a surface event but its seq."""
    form = vocabulary.form
    return (
        check_marker(event, form)
        or check_range(surface, event, form)
        or check_sources(surface, event, form=form)
        or check_own_rules(surface, event, vocabulary)
    )


def fold_run(
    state: State,
    events: Iterable[Event],
    vocabulary: Vocabulary = STANDARD,
    changes: Changes | None = None,
) -> tuple[State, Rejection | None]:
    """The state after a run of events up to the first refused one, and that refusal.

    Packed runs of chunks are stepped over, each in O(1).
    """
    if not isinstance(events, Rows) or not _lets_chunks_pass(vocabulary):
        return _fold_events(state, events, vocabulary, changes)
    waiting: list[Event] = []
    fault: Rejection | None = None
    for part in events.parts:
        if not isinstance(part, PackedRun):
            waiting.append(part)
            continue
        if waiting:
            state, fault = _fold_events(state, waiting, vocabulary, changes)
            waiting = []
        if fault is None and part.seq != state.next_seq:
            fault = seq_gap(expected=state.next_seq, got=part.seq)
        if fault is not None:
            return state, fault
        state = State(part.seq + part.count, state.surface, state.held_header)
    return _fold_events(state, waiting, vocabulary, changes)


def _lets_chunks_pass(vocabulary: Vocabulary) -> bool:
    """Whether bare chunks are always accepted and change nothing."""
    is_known = vocabulary.knows(CHUNK) or not vocabulary.form.refuses_unknown
    return is_known and vocabulary.role(CHUNK) is Role.LOG_ONLY


def _fold_events(  # noqa: PLR0912  # the one hot loop: a call per event would cost more than folding it
    state: State, events: Iterable[Event], vocabulary: Vocabulary, changes: Changes | None
) -> tuple[State, Rejection | None]:
    roles = dict(vocabulary.special_roles())
    seq, surface = state.next_seq, state.surface
    header: AnyHeader = state.held_header
    tail: list[int] = []  # nodes appended since the surface was last made
    notes: list[Event] = []  # those of them that are to be noted
    fault: Rejection | None = None
    form = vocabulary.form
    asks_more, noted, admits = bool(form.checks), form.noted, form.admits_append
    known = vocabulary.names if form.refuses_unknown else None
    for event in events:
        if event.seq != seq:
            fault = seq_gap(expected=seq, got=event.seq)
            break
        role = roles.get(event.type)
        if role is None:
            is_bare = event.stored_op is UNSET and event.stored_sources is UNSET
            if not is_bare or (known is not None and event.type not in known):
                fault = check_bare(event) or check_own_rules(surface, event, vocabulary)
        elif role is Role.SURFACE:
            if (
                event.appends
                and event.cites_plainly()
                and (not asks_more or (admits is not None and admits(event, bool(tail or surface))))
            ):
                tail.append(seq)
                if event.type in noted:
                    notes.append(event)
            else:
                surface, tail, notes = surface.appended_all(tail, notes), [], []
                fault = _check_node(surface, event, vocabulary)
                if fault is None:
                    if changes is not None and not event.appends:
                        changes.replaced(seq, surface)
                    surface = place_node(surface, event, form)
        else:
            fault = check_bare(event)
            if fault is None:
                if form.fold_header is None:
                    header = fold_header_event(header_seen(header), event, form)
                else:
                    header = Unfolded(event, form)
                if changes is not None:
                    changes.headed(seq, header)
        if fault is not None:
            break
        seq += 1
    surface = surface.appended_all(tail, notes)
    return State(seq, surface, header), fault
