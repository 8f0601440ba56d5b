"""Events on their way to another generation: what they say, before they have their new seqs.

A step changes, inserts and merges drafts; here they get their seqs, and all they name is named
anew. What a step may do is in its own module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import attrs

from dsh_fp.core.events import RELEASED, Event, ReleasedEvent, event_of, is_seq
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object
from dsh_fp.core.references import payload_renumbered, range_renumbered
from dsh_fp.core.rejection import Rejection, conversion_refused

SHORTEST_RUN: Final = 3
"""Fewer consecutive sources are written one by one."""


@attrs.frozen
class Draft:
    """One event of the coming log.

    Units:   key is the seq it had, or a number past all of those when it is new; sources and
             op name other drafts by their keys.
    """

    key: int
    type: str
    time: int
    data: AnyJson
    sources: tuple[int, ...] | None = None
    op: AnyJson = None
    is_ignorable: bool = False
    is_op_first: bool = False  # whether `surfaceOp` is written before the sources

    def with_data(self, data: dict[str, AnyJson]) -> Draft:
        """The same with another payload."""
        return attrs.evolve(self, data=json_object(data))


def drafts_of(events: Iterable[Event]) -> list[Draft]:
    """The drafts that stand for events as they are."""
    return [_draft(event) for event in events]


def _draft(event: Event) -> Draft:
    sources, order = event.source_event_seqs, event.key_order
    return Draft(
        event.seq,
        event.type,
        event.time,
        event.peek_data(),
        tuple(sources) if event.has_sources else None,
        event.surface_op,
        is_ignorable=isinstance(event, ReleasedEvent) and event.is_ignorable,
        is_op_first=event.has_sources and order[-1] == "sourceEventSeqs",
    )


def fields_of(value: AnyJson) -> dict[str, AnyJson]:
    """The members of an object, to be changed; none of what is no object."""
    return dict(value) if isinstance(value, JsonObject) else {}


def settled(drafts: Sequence[Draft]) -> tuple[Event, ...] | Rejection:
    """The events that drafts amount to, each at its new seq and naming others by theirs.

    Errors:  CONVERSION_REFUSED for a draft that names one that is not there any more. O(n).
    """
    places = {draft.key: seq for seq, draft in enumerate(drafts)}
    made: list[Event] = []
    for seq, draft in enumerate(drafts):
        event = _settled(draft, seq, places)
        if isinstance(event, Rejection):
            return event
        made.append(event)
    return tuple(made)


def _settled(draft: Draft, seq: int, places: dict[int, int]) -> Event | Rejection:
    gone: list[int] = []

    def placed(key: int) -> int:
        if key not in places:
            gone.append(key)
            return 0
        return places[key]

    data = payload_renumbered(draft.type, draft.data, placed, released=True)
    values: dict[str, AnyJson] = {"type": draft.type, "seq": seq, "time": draft.time, "data": data}
    if draft.sources is not None:
        named = [placed(key) if is_seq(key) else key for key in draft.sources]
        values["sourceEventSeqs"] = written_sources(named)
    if draft.op is not None:
        values["surfaceOp"] = range_renumbered(draft.op, placed)
    if draft.is_op_first and "sourceEventSeqs" in values:
        values["sourceEventSeqs"] = values.pop("sourceEventSeqs")
    if draft.is_ignorable:
        values["ignorable"] = True
    if gone:
        what = f"it names event {gone[0]}, which has no place of its own in the next generation"
        return conversion_refused(draft.key, what)
    event = event_of(json_object(values), RELEASED)
    assert isinstance(event, Event)  # its parts are those of an event
    return event


def written_sources(seqs: Sequence[AnyJson]) -> JsonArray:
    """Sources as they are written: runs of three or more as pairs, if the seqs only increase."""
    if not all(map(is_seq, seqs)) or not all(one < other for one, other in pairwise(seqs)):
        return json_array(seqs)
    written: list[AnyJson] = []
    run: list[AnyJson] = []
    for seq in seqs:
        if run and seq != run[-1] + 1:
            written += _run(run)
            run = []
        run.append(seq)
    return json_array([*written, *_run(run)])


def _run(run: list[AnyJson]) -> list[AnyJson]:
    return run if len(run) < SHORTEST_RUN else [json_array((run[0], run[-1]))]
