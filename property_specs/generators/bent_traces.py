"""Bare events of a sound log with a few things bent: turns, steps, seqs, ids, order.

`null` as a turn or step number names "none open", as in the reference.
"""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.logs import (
    Log,
    Move,
    Writer,
    streamed_logs,
    turn_moves,
    turned_logs,
)

NUMBERS: tuple[Any, ...] = (0, 1, 2, 3, "1", True, 1.5, None)
EDITS = ("number", "drop", "twice", "seq", "call", "repair", "field")


@st.composite
def bent_traces(draw: st.DrawFn) -> Log:
    """Events whose turns and steps may be out of joint; acceptance need not take them."""
    events: Log = copy.deepcopy(draw(turned_logs() | streamed_logs(max_moves=8)))
    for _ in range(draw(st.integers(1, 3))):
        if not events:
            break
        place = draw(st.integers(0, len(events) - 1))
        event = events[place]
        data = event["data"] if isinstance(event["data"], dict) else {}
        match draw(st.sampled_from(EDITS)):
            case "number":
                key = draw(st.sampled_from(["turn", "step"]))
                event["data"] = {**data, key: draw(st.sampled_from(NUMBERS))}
            case "drop":
                del events[place]
            case "twice":
                events.insert(place, copy.deepcopy(event))
            case "seq":
                event["seq"] = draw(st.integers(-2, len(events) + 2))
            case "call":
                event["data"] = {**data, "callId": draw(st.sampled_from(["c1", "c9", 1, None]))}
            case "repair":
                error = {"name": "InterruptedError", "code": "interrupted"}
                flag = draw(st.sampled_from([True, False, 1]))
                event["data"] = {**data, "isError": flag, "error": error}
            case _:
                event["data"] = {key: data[key] for key in data if key != "step"}
    return events


@st.composite
def late_results(draw: st.DrawFn) -> Log:
    """Events of a sound log, then a result for a call of a step that is over by then."""
    writer, few = Writer(), st.lists(turn_moves(), max_size=3)
    for move in [
        *draw(few),
        Move("call"),
        Move(draw(st.sampled_from(["step", "end step", "end turn"]))),
        *draw(few),
        Move("chunk"),
    ]:
        writer.write(move)
    data = {"turn": writer.turn, "step": writer.step, "callId": "c1", "content": []}
    writer.add("tool/result", data, {"surfaceOp": "append"})
    return writer.book.events


@st.composite
def unsound_logs(draw: st.DrawFn) -> Log:
    """Accepted logs in which one field of one payload is odd or gone; turns and steps may stand."""
    log: Log = copy.deepcopy(draw(turned_logs()))
    holders = [event for event in log if isinstance(event["data"], dict) and event["data"]]
    if holders:
        data = draw(st.sampled_from(holders))["data"]
        key = draw(st.sampled_from(sorted(data)))
        if draw(st.booleans()):
            del data[key]
        else:
            data[key] = draw(st.sampled_from(ODD_FIELDS))
    return log


ODD_FIELDS: tuple[Any, ...] = (None, True, 1, "text", [], {}, [None], {"kind": 1}, [{"type": 1}])


@st.composite
def echoed_traces(draw: st.DrawFn) -> Log:
    """Events of a log of mostly chunks, a few of them said again right away or a little later."""
    events = draw(streamed_logs(max_moves=8))
    echoes = draw(st.lists(st.integers(0, max(len(events) - 1, 0)), max_size=2))
    for place in echoes:
        later = draw(st.integers(1, 2))
        events = [*events[: place + later], *events[place : place + 1], *events[place + later :]]
    return events
