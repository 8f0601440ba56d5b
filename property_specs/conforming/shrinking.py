"""Making a failing log smaller by leaving events out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

Log = list[dict[str, Any]]
_MOST: Final = 400


def smaller(log: Log, may_be: Callable[[Log], bool], fails: Callable[[Log], bool]) -> Log:
    """A log with as few of these events as still fail; each that is tried is one that may be."""
    best, tries, size = log, 0, max(len(log) // 2, 1)
    while size:
        place = 0
        while place < len(best):
            shorter = without(best, place, place + size)
            if shorter is not None and may_be(shorter):
                tries += 1
                if tries > _MOST:
                    return best
                if fails(shorter):
                    best = shorter
                    continue
            place += size
        size //= 2
    return best


def without(log: Log, start: int, stop: int) -> Log | None:
    """The log without a run of events, what is left renumbered; None when too much hangs on it."""
    left = [*log[:start], *log[stop:]]
    if not all(isinstance(event, dict) for event in log):
        return None
    places = {event.get("seq"): place for place, event in enumerate(left)}
    made = []
    for place, event in enumerate(left):
        moved = {**event, "seq": place}
        if isinstance(event.get("sourceEventSeqs"), list):
            sources = list(_renumbered(event["sourceEventSeqs"], places))
            moved["sourceEventSeqs"] = sources
            if not sources:
                del moved["sourceEventSeqs"]
        op = event.get("surfaceOp")
        if isinstance(op, dict):
            if op.get("start") not in places or op.get("end") not in places:
                return None
            moved["surfaceOp"] = {**op, "start": places[op["start"]], "end": places[op["end"]]}
        made.append(moved)
    return made


def _renumbered(sources: list[Any], places: dict[Any, int]) -> Iterator[int]:
    for source in sources:
        if type(source) is int and source in places:
            yield places[source]
