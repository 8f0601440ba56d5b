"""Parts of released logs: chunks with times, events bent out of shape, nested events, frames.

Leaves out: long logs; a dozen events show every rule.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

Wire = dict[str, Any]

VERSIONS = st.integers(0, 4)
_TEXTS = st.sampled_from(["", "a", "Sow", "\u2028", "\U0001f331", "\ud800", '"\\', "turn/end"])
_TIMES = st.integers(-50, 50)


def _joined(parts: list[list[Any]]) -> list[Any]:
    return [one for part in parts for one in part]


@cache
def chunks() -> st.SearchStrategy[Wire]:
    """Stream chunks, mostly deltas that go into records."""
    index = st.sampled_from([0, 0, 1, 1.5])
    name = st.sampled_from([{}, {"name": "dig"}, {"name": "sow"}])
    call = st.builds(
        lambda index, call_id, name, piece: {
            "type": "tool-call-delta",
            "index": index,
            "id": call_id,
            **name,
            "argumentsDelta": piece,
        },
        index,
        st.sampled_from(["c-1", "c-2"]),
        name,
        _TEXTS,
    )
    text = st.builds(
        lambda kind, index, piece: {"type": kind, "index": index, "text": piece},
        st.sampled_from(["text-delta", "reasoning-delta"]),
        index,
        _TEXTS,
    )
    odd = st.sampled_from(
        [
            {"type": "block-start", "index": 0, "blockType": "text"},
            {"type": "usage", "usage": {}},
            {"type": "text-delta", "index": 0, "text": 5},
            {"type": "text-delta", "index": 0, "text": "a", "more": 1},
            {"type": "tool-call-delta", "index": 0, "argumentsDelta": "x"},
        ]
    )
    return st.one_of(text, text, text, call, call, odd)


@cache
def timed_chunks() -> st.SearchStrategy[list[tuple[int, Wire]]]:
    """Chunks with times that go back and forth, often several of one run."""
    few = st.lists(st.tuples(_TIMES, chunks()), max_size=6)
    run = st.tuples(chunks(), st.lists(_TIMES, min_size=1, max_size=5)).map(
        lambda given: [(time, given[0]) for time in given[1]]
    )
    return st.lists(st.one_of(few, run, run), max_size=4).map(_joined)


@cache
def chunk_events() -> st.SearchStrategy[list[Wire]]:
    """Chunk events of a few steps, some that cannot be packed among them."""

    def made(timed: list[tuple[int, Wire]], steps: list[int]) -> list[Wire]:
        events: list[Wire] = []
        for seq, (time, chunk) in enumerate(timed):
            data = {"turn": 1, "step": steps[seq % len(steps)], "chunk": chunk}
            events.append({"type": "assistant/chunk", "seq": seq, "time": time, "data": data})
        return events

    return st.builds(made, timed_chunks(), st.lists(st.sampled_from([1, 1, 1, 2]), min_size=1))


@cache
def bent_logs() -> st.SearchStrategy[tuple[int, list[Wire]]]:
    """A version and events of it: mostly sound moves, some bent in one way."""

    def made(version: int, moves: list[tuple[Any, ...]]) -> tuple[int, list[Wire]]:
        keys = ("startSeq", "endSeq") if version >= 3 else ("start", "end")
        events: list[Wire] = []
        nodes: list[int] = []
        if version >= 3:
            moves = [("system/message", "append", 0, 0, 0, "none"), *moves]
        for kind, how, one, two, step, bend in moves:
            seq = len(events)
            event: Wire = {"type": kind, "seq": seq, "time": -seq, "data": {"step": step}}
            if "/message" in kind or kind == "tool/result":
                event["surfaceOp"] = "append"
                if how == "replace" and nodes:
                    low, high = sorted((one % len(nodes), two % len(nodes)))
                    gone = nodes[low : high + 1]
                    event["surfaceOp"] = {"op": "replace", keys[0]: gone[0], keys[1]: gone[-1]}
                    event["sourceEventSeqs"] = gone
                    nodes[low : high + 1] = [seq]
                else:
                    nodes.append(seq)
            events.append(_bent(event, bend, one))
        return version, events

    kinds = st.sampled_from(
        [
            "user/message",
            "user/message",
            "assistant/message",
            "tool/result",
            "tool/result",
            "system/message",
            "developer/message",
            "step/start",
            "session/title",
            "plugin:rain",
        ]
    )
    how = st.sampled_from(["append", "append", "replace"])
    number, step = st.integers(0, 9), st.integers(1, 2)
    bends = st.sampled_from(["none"] * 60 + list(_BENDS))
    moves = st.lists(st.tuples(kinds, how, number, number, step, bends), max_size=12)
    return st.builds(made, VERSIONS, moves)


_BENDS = ("seq", "marked", "no op", "odd op", "cites", "cites itself", "cites twice", "empty")


def _bent(event: Wire, bend: str, number: int) -> Wire:
    seq = event["seq"]
    match bend:
        case "seq":
            return {**event, "seq": seq + 1}
        case "marked":
            return {**event, "ignorable": True}
        case "no op":
            return {key: value for key, value in event.items() if key != "surfaceOp"}
        case "odd op":
            return {**event, "surfaceOp": {"op": "replace", "start": number, "endSeq": number}}
        case "cites":
            return {**event, "sourceEventSeqs": [number]}
        case "cites itself":
            return {**event, "sourceEventSeqs": [seq]}
        case "cites twice":
            return {**event, "sourceEventSeqs": [0, 0]}
        case "empty":
            return {**event, "sourceEventSeqs": []}
        case _:
            return event


@cache
def nested_events() -> st.SearchStrategy[list[Wire]]:
    """v4 events whose turns, steps and calls mostly follow one another as they should."""

    def made(moves: list[tuple[str, int, bool]]) -> list[Wire]:
        events: list[Wire] = []
        turn = step = 0
        for kind, number, is_off in moves:
            if kind == "turn/start":
                turn, step = turn + 1, 0
            if kind == "step/start":
                step += 1
            place = {"turn": turn + is_off, "step": step}
            call = f"c-{number % 2}"
            content = [
                {"type": "tool-call", "id": f"c-{n}", "name": "dig", "arguments": "{}"}
                for n in range(number)
            ]
            known: dict[str, Wire] = {
                "turn/start": {"turn": turn + is_off},
                "turn/end": {"turn": turn + is_off},
                "assistant/message": {**place, "message": {"content": content}},
                "tool/call": {**place, "callId": call, "name": "dig", "arguments": "{}"},
                "tool/result": {**place, "message": {"source": {"callId": call}}},
            }
            data = known.get(kind, dict(place))
            if kind == "tool/result" and number == 2:
                data["error"] = {"code": "TOOL_NOT_STARTED"}
            event: Wire = {"type": kind, "seq": len(events), "time": 0, "data": data}
            if kind in ("tool/result", "user/message", "assistant/message"):
                event["surfaceOp"] = "append"
            events.append(event)
        return events

    usual = [
        *("turn/start", "step/start", "user/message", "assistant/message", "tool/call"),
        *("tool/result", "step/end", "turn/end"),
    ]
    off = st.sampled_from([False] * 12 + [True])
    number = st.integers(0, 2)
    # Whole turns in order, one move of which may be left out, and any moves at all.
    kinds = st.sampled_from([*usual, "assistant/attempt", "request/header", "session/title"])
    wild = st.lists(st.tuples(kinds, number, off), max_size=8)
    turn = st.tuples(
        st.lists(st.tuples(number, off), min_size=8, max_size=8), st.integers(0, 20)
    ).map(
        lambda given: [
            (kind, number, is_off)
            for place, (kind, (number, is_off)) in enumerate(zip(usual, given[0], strict=True))
            if place != given[1]
        ]
    )
    return st.lists(st.one_of(turn, turn, wild), max_size=3).map(lambda parts: made(_joined(parts)))


@cache
def frame_contents() -> st.SearchStrategy[list[bytes]]:
    """What a few frames hold; one of them sometimes more than one block."""
    small = st.binary(max_size=40)
    large = st.integers(1, 9).map(lambda seed: bytes((n * n * seed) % 251 for n in range(140_000)))
    return st.lists(st.one_of(small, small, small, large), min_size=1, max_size=4)


@cache
def working_directories() -> st.SearchStrategy[str]:
    """Paths with separators, escapes and odd characters."""
    part = st.sampled_from(
        ["/-", "--", *"/\\:-~._a9 ", "\u00e9", "\U0001f331", "\ud800", "\u2028", "x" * 130]
    )
    return st.lists(part, max_size=12).map("".join)
