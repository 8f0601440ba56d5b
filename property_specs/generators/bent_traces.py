"""Bare events of a sound log with a few things bent: turns, steps, seqs, ids, order.

`null` as a turn or step number names "none open", as in the reference.
"""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.logs import Log, streamed_logs, turned_logs

NUMBERS: tuple[Any, ...] = (0, 1, 2, 3, "1", True, 1.5, None)
EDITS = ("number", "drop", "twice", "seq", "call", "repair", "field", "stray", "stray")


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
            case "stray":
                places = [at for at, e in enumerate(events) if e["type"] == "step/start"]
                place = draw(st.sampled_from(places[1:] or [place]))
                called = [e["data"].get("callId") for e in events[:place] if _is_call(e)]
                events = _with_stray(events, place, draw(st.sampled_from(["c1", *called])))
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


def _is_call(event: dict[str, Any]) -> bool:
    return event["type"] == "tool/call" and isinstance(event["data"], dict)


def _with_stray(events: Log, place: int, call: Any) -> Log:
    """The events with a result put in that may answer no call of its step."""
    before = events[: place + 1]
    where = [event["data"] for event in before if event["type"] == "step/start"]
    data = {"turn": 1, "step": 1, **(where[-1] if where else {})}
    data |= {"callId": call, "content": [], "isError": False}
    seq = events[place]["seq"] + 1
    stray = {"type": "tool/result", "seq": seq, "time": 0, "data": data}
    return [*before, stray, *({**event, "seq": event["seq"] + 1} for event in events[place + 1 :])]


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
