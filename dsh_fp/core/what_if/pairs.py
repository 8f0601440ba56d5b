"""What edits do to calls and their results: calls that have no result any more, and the reverse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import attrs

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.session import Session
from dsh_fp.core.what_if.carrying import Numbering

Lack = Literal["result", "call"]
"""What is not there: of a call its result, of a result its call."""

Place = Literal["log", "surface"]
"""Where it is not: in the whole log, or only among the events in force at its end."""

_Half = tuple[Lack, str, int]  # what it would lack, its call id, its seq
_Alone = set[_Half]


@attrs.frozen
class LostPair:
    """A call without a result, or a result without a call, that edits left behind.

    `lacks` says which of the two is not there. It is so in the whole log, or only among the
    events in force at its end (`place`). `partner` is the event that was the other half before
    the edits, None where there was none.

    Units:   `seq` is that of the edited log, `old_seq` and `partner` those of the log as it was;
             `old_seq` is None for an inserted event.
    """

    lacks: Lack
    call_id: str
    place: Place
    seq: int
    old_seq: int | None
    partner: int | None


def lost_pairs(before: Session, after: Session, numbering: Numbering) -> tuple[LostPair, ...]:
    """The halves of pairs that stand alone in the edited log and did not before.

    Those of the whole log come first, then those that are so in force only.

    Cost:    O(events) of both logs; of messages and results the payloads are looked at.
    Source:  docs/reference/what-if.md, "The answer".
    """
    told: list[LostPair] = []
    seen: _Alone = set()
    partners, was_alone = _halves(before.events)
    views: tuple[tuple[Place, _Alone, Iterable[Event]], ...] = (
        ("log", was_alone, after.events),
        ("surface", _halves(before.nodes())[1], after.nodes()),
    )
    for place, had, events in views:
        for lacks, call_id, seq in sorted(_halves(events)[1], key=lambda alone: alone[2]):
            old_seq = numbering.old_seq(seq)
            stood_alone = old_seq is not None and (lacks, call_id, old_seq) in had
            if stood_alone or (lacks, call_id, seq) in seen:
                continue
            seen.add((lacks, call_id, seq))
            partner = None if old_seq is None else partners.get((lacks, call_id, old_seq))
            told.append(LostPair(lacks, call_id, place, seq, old_seq, partner))
    return tuple(told)


def _halves(events: Iterable[Event]) -> tuple[dict[_Half, int], _Alone]:
    """The other half of each half that has one, and the halves that have none.

    An id may be asked for again: its results then are those of the latest call. A second result
    of one call is not without a call.
    """
    partners: dict[_Half, int] = {}
    alone: _Alone = set()
    asked: dict[str, int] = {}  # by id: the seq of the latest message that asks
    for event in events:
        if event.type == "assistant/message":
            for call_id in _asked_ids(event):
                asked[call_id] = event.seq
                alone.add(("result", call_id, event.seq))
        elif event.type == "tool/result":
            answered = _answered_id(event)
            if answered is None:
                continue
            call = asked.get(answered)
            if call is None:
                alone.add(("call", answered, event.seq))
                continue
            alone.discard(("result", answered, call))
            partners.setdefault(("result", answered, call), event.seq)
            partners["call", answered, event.seq] = call
    return partners, alone


def _asked_ids(event: Event) -> Iterator[str]:
    """The ids of the calls in an assistant message, in order."""
    data = event.peek_data()
    content = _member(_member(data, "message") or data, "content")
    for block in content if isinstance(content, tuple) else ():
        call_id = _member(block, "id")
        if _member(block, "type") == "tool-call" and isinstance(call_id, str):
            yield call_id


def _answered_id(event: Event) -> str | None:
    data = event.peek_data()
    call_id = _member(data, "callId")
    if call_id is None:  # of the released generations
        call_id = _member(_member(_member(data, "message"), "source"), "callId")
    return call_id if isinstance(call_id, str) else None


def _member(value: AnyJson, key: str) -> AnyJson:
    return value.get(key) if isinstance(value, JsonObject) else None
