"""Events with anything in any field: they make sure that refusals happen, of every kind.

Most fields are sound most of the time, or only the first check would ever be reached.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.logs import Log, valid_logs
from property_specs.generators.payloads import LOG_TYPES, SURFACE_TYPES, odd_payloads

ODD_SOURCES: tuple[Any, ...] = (None, {}, "0", [True], [0.5], [-1], [2**53], [[0]])
ODD_SEQS: tuple[Any, ...] = (True, -1, 1.5, "1", None, 2**53, 2.0, [1])


@cache
def operations(length: int) -> st.SearchStrategy[Any]:
    """Surface operations: appends, replacements of any two seqs, and what is neither."""
    seqs = st.integers(0, max(length, 1)) | st.integers(0, max(length, 1))
    replacement = st.builds(lambda a, b: {"op": "replace", "start": a, "end": b}, seqs, seqs)
    odd: st.SearchStrategy[Any] = st.sampled_from(
        [
            None,
            "replace",
            True,
            [],
            {"op": "replace", "start": 0},
            {"op": "replace", "start": 0, "end": True},
            {"op": "replace", "start": -1, "end": 0},
            {"op": "replace", "start": 0, "end": 0.5},
            {"op": "append", "start": 0, "end": 0},
            {"op": "replace", "start": 0, "end": 0, "why": "more"},
        ]
    )
    append = st.just("append")
    return st.one_of(append, append, replacement, replacement, replacement, odd)


@cache
def provenance(length: int) -> st.SearchStrategy[Any]:
    """Sources: runs of seqs, lists with repeats, and what is no list of seqs."""
    runs = st.tuples(st.integers(0, length + 1), st.integers(0, length + 1)).map(
        lambda ends: list(range(min(ends), max(ends)))
    )
    odd: st.SearchStrategy[Any] = st.sampled_from(ODD_SOURCES)
    lists = st.lists(st.integers(0, length + 1), max_size=4)
    return st.one_of(st.just(list(range(length))), runs, runs, lists, odd)


@st.composite
def any_events(draw: st.DrawFn, length: int) -> Any:
    """One event for a log of this many events; anything may be wrong with it."""
    event: dict[str, Any] = {
        "type": draw(st.sampled_from([*SURFACE_TYPES, *SURFACE_TYPES, *LOG_TYPES])),
        "seq": length,
        "time": draw(st.integers(0, 5)),
        "data": draw(odd_payloads()),
    }
    if draw(st.integers(0, 2)):
        event["surfaceOp"] = draw(operations(length))
    if draw(st.booleans()):
        event["sourceEventSeqs"] = draw(provenance(length))
    match draw(st.integers(0, 15)):
        case 1:
            event["seq"] = draw(st.integers(0, length + 2) | st.sampled_from(ODD_SEQS))
        case 2:
            event["time"] = draw(st.sampled_from(ODD_SEQS))
        case 3:
            del event[draw(st.sampled_from(sorted(event)))]
        case 4:
            event[draw(st.sampled_from(["x", "source_event_seqs", ""]))] = 1
        case 5:
            event["data"] = draw(st.sampled_from([float("nan"), -0.0, {1: 2}, [b"x"], 2**53 + 1]))
        case 6:
            event["type"] = draw(st.sampled_from([None, 1, True, ["user/message"]]))
        case 7:
            return draw(st.sampled_from([None, [], "event", 1, [event], b"event"]))
        case _:
            pass
    return event


@st.composite
def wild_logs(draw: st.DrawFn) -> list[Any]:
    """A valid log with a few wild events behind it."""
    log: list[Any] = list(draw(valid_logs(max_moves=8)))
    for _ in range(draw(st.integers(1, 3))):
        log.append(draw(any_events(len(log))))
    return log


@st.composite
def gapped_logs(draw: st.DrawFn) -> Log:
    """Events of a valid log with some missing, for folds that do not ask for contiguous seqs.

    Leaves out: seqs that go backwards or repeat.
    """
    log = draw(valid_logs(max_moves=10))
    dropped = draw(st.sets(st.integers(0, max(len(log) - 1, 0)), max_size=2))
    return [event for event in log if event["seq"] not in dropped]
