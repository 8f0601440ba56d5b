"""Edits of a log as values, and whether a list of them makes sense for a log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from dsh_fp.core.events import MAX_SEQ, is_seq
from dsh_fp.core.lossless import AnyJson, JsonArray, freeze
from dsh_fp.core.rejection import Rejection, bad_envelope, edit_invalid
from dsh_fp.core.session import Session
from dsh_fp.core.surface import replacement_range
from dsh_fp.core.vocabulary import JULY_FORM, Form


@attrs.frozen
class Drop:
    """The event with this seq is left out."""

    seq: int


@attrs.frozen
class Replace:
    """The event with this seq has another payload, and another type or time if one is given.

    It keeps its place, its surfaceOp and its sources.
    """

    seq: int
    data: AnyJson
    type: str | None = None
    time: int | None = None


@attrs.frozen
class Insert:
    """One event more, before the one with the seq `before`; the log's length puts it at the end.

    The seqs it names are those of the log as it was. Without a time it has that of the event
    before it (at the beginning, of the one behind it).
    """

    before: int
    type: str
    data: AnyJson
    time: int | None = None
    surface_op: AnyJson = None
    source_event_seqs: AnyJson = None


Edit = Drop | Replace | Insert


@attrs.frozen
class Plan:
    """Edits by the place of the log where they are made, their values frozen."""

    first: int
    length_before: int
    length_after: int
    dropped: frozenset[int]
    replaced: Mapping[int, Replace]
    inserted: Mapping[int, tuple[Insert, ...]]


def edits_checked(session: Session, edits: Iterable[Edit]) -> tuple[Edit, ...] | Rejection:
    """The edits with their values frozen, or the first that cannot be made of this log.

    Errors:  EDIT_INVALID for a seq that is not in the log or an event that is edited twice;
             NOT_JSON, TOO_DEEP, BAD_ENVELOPE for a value. Each with the index of the edit.
    """
    length, form = len(session), session.vocabulary.form
    checked: list[Edit] = []
    touched: set[int] = set()
    for index, edit in enumerate(edits):
        made: Edit | Rejection
        if isinstance(edit, Insert):
            made = _insert_checked(edit, length, form)
        elif isinstance(edit, Drop | Replace):
            made = _touch_checked(edit, length, touched, form)
        else:
            raise TypeError("an edit is a Drop, a Replace or an Insert")
        if isinstance(made, Rejection):
            return made.at(index=index)
        checked.append(made)
    return tuple(checked)


def plan_of(length: int, edits: Iterable[Edit]) -> Plan:
    """Checked edits, ordered by place. Several insertions at one place keep their order."""
    dropped: set[int] = set()
    replaced: dict[int, Replace] = {}
    inserted: dict[int, list[Insert]] = {}
    first = length
    for edit in edits:
        if isinstance(edit, Insert):
            inserted.setdefault(edit.before, []).append(edit)
            first = min(first, edit.before)
            continue
        first = min(first, edit.seq)
        if isinstance(edit, Drop):
            dropped.add(edit.seq)
        else:
            replaced[edit.seq] = edit
    after = length - len(dropped) + sum(map(len, inserted.values()))
    added = {place: tuple(each) for place, each in inserted.items()}
    return Plan(
        first,
        length,
        after,
        frozenset(dropped),
        MappingProxyType(replaced),
        MappingProxyType(added),
    )


def _touch_checked(
    edit: Drop | Replace, length: int, touched: set[int], form: Form
) -> Drop | Replace | Rejection:
    seq = edit.seq
    if not is_seq(seq) or seq >= length:
        return edit_invalid(f"there is no event {_named(seq)} in this log of {length} events")
    if seq in touched:
        return edit_invalid(f"event {seq} is edited twice")
    touched.add(seq)
    if isinstance(edit, Drop):
        return edit
    values = _values_checked(edit, form)
    return values if isinstance(values, Rejection) else attrs.evolve(edit, **values)


def _insert_checked(edit: Insert, length: int, form: Form) -> Insert | Rejection:
    if not is_seq(edit.before) or edit.before > length:
        return edit_invalid(
            f"{_named(edit.before)} is no place in this log: it has places 0 to {length}"
        )
    values = _values_checked(edit, form)
    if isinstance(values, Rejection):
        return values
    for key in ("surface_op", "source_event_seqs"):
        value = freeze(getattr(edit, key))
        if isinstance(value, Rejection):
            return value
        values[key] = value
    for seq in named_by(values["surface_op"], values["source_event_seqs"], form):
        if seq >= length:
            return edit_invalid(f"it names event {seq}, this log has {length} events")
    return attrs.evolve(edit, **values)


def named_by(op: AnyJson, sources: AnyJson, form: Form = JULY_FORM) -> list[int]:
    """The seqs that an operation and sources name, as far as they have their shape."""
    span = replacement_range(op, form)
    cited = sources if isinstance(sources, JsonArray) else ()
    return [*(span or ()), *(seq for seq in cited if is_seq(seq))]


def _values_checked(edit: Replace | Insert, form: Form) -> dict[str, AnyJson] | Rejection:
    data = freeze(edit.data)
    if isinstance(data, Rejection):
        return data
    kind = freeze(edit.type)
    if isinstance(kind, Rejection):
        return kind
    if not isinstance(kind, str) and not (kind is None and isinstance(edit, Replace)):
        return bad_envelope("type is no string", "type")
    earliest = form.envelope.earliest
    if edit.time is not None and (
        type(edit.time) is not int or not earliest <= edit.time <= MAX_SEQ
    ):
        least = "0" if earliest == 0 else "-2**53 + 1"
        return bad_envelope(f"time is no integer from {least} to 2**53 - 1", "time")
    return {"data": data, "type": kind}


def _named(seq: object) -> str:
    return str(seq) if is_seq(seq) else "of such a seq"
