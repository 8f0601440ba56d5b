"""Edits of valid logs: events dropped, replaced and inserted, in any mixture.

What an insertion names is drawn among what the log has at its place, so most are sound; some
are not. Leaves out: seqs that are not in the log, an event that is edited twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from property_specs.generators import headers, payloads
from property_specs.generators.logs import Move, build_turned, turn_moves, valid_logs
from property_specs.models.what_if import Thing, surface_before, things_of

Wire = dict[str, Any]


@dataclass(frozen=True)
class Edited:
    """A log and edits of it."""

    log: list[Wire]
    edits: list[Wire]


@st.composite
def edited_logs(draw: st.DrawFn, most: int = 4) -> Edited:
    """A valid log and a few edits of it."""
    log = draw(valid_logs())
    return Edited(log, draw(edits_of(log, most)))


@st.composite
def stepped_edits(draw: st.DrawFn) -> Edited:
    """Edits of a sound log whose steps have their requests: a header comes first."""
    header = draw(_moves_of("header", st.fixed_dictionaries({"header": headers.headers()})))
    step = _moves_of("step", st.just(None))
    moves = draw(st.lists(turn_moves() | step, min_size=4, max_size=14))
    log = build_turned([header, Move("say", {"content": []}), *moves, Move("step")])
    return Edited(log, draw(edits_of(log, 3)))


@st.composite
def emptied_logs(draw: st.DrawFn) -> Edited:
    """Edits that drop all that a replacement takes away, and others before and between them."""
    log = draw(valid_logs().filter(lambda log: any(map(_replaces, log))))
    seqs = max(map(_below, things_of(log)), key=len)
    drops = [{"edit": "drop", "seq": seq} for seq in sorted(seqs)]
    harmless = {"edit": "insert", "before": 0, "type": "plugin/x", "data": None}
    more = draw(st.just([harmless]) | edits_of(log, 3))
    edits = [edit for edit in more if edit.get("seq") not in seqs]
    return Edited(log, draw(st.permutations([*edits, *drops])))


def _below(thing: Thing) -> set[int]:
    """The seqs of all that a replacement took away, and of what that had taken."""
    waiting, seqs = list(thing.took), set()
    while waiting:
        taken = waiting.pop()
        seqs.add(taken.wire["seq"])
        waiting += taken.took
    return seqs


def _replaces(event: Wire) -> bool:
    return isinstance(event.get("surfaceOp"), dict)


def _moves_of(kind: str, data: st.SearchStrategy[Any]) -> st.SearchStrategy[Move]:
    return st.builds(Move, st.just(kind), data)


@st.composite
def edits_of(draw: st.DrawFn, log: list[Wire], most: int = 4) -> list[Wire]:
    """A few edits of a log: nodes and replacements are touched more often than the rest."""
    nodes = [event["seq"] for event in log if "surfaceOp" in event]
    replacements = [seq for seq in nodes if log[seq]["surfaceOp"] != "append"]
    seqs = [*range(len(log)), *nodes, *nodes, *replacements, *replacements, *replacements]
    edits: list[Wire] = []
    touched: set[int] = set()
    for _ in range(draw(st.integers(0, most))):
        kind = draw(st.sampled_from(["drop", "drop", "replace", "insert", "insert"]))
        if kind == "insert":
            edits.append(draw(insertions(log)))
            continue
        if not seqs:
            continue
        seq = draw(st.sampled_from(seqs))
        if seq in touched:
            continue
        touched.add(seq)
        edits.append({"edit": "drop", "seq": seq} if kind == "drop" else draw(others(log[seq])))
    return edits


@st.composite
def others(draw: st.DrawFn, event: Wire) -> Wire:
    """Another payload for an event, sometimes another time, seldom another type."""
    edit: Wire = {"edit": "replace", "seq": event["seq"]}
    if event["type"].startswith("request/"):
        kind, edit["data"] = draw(headers.header_event_fields())
        edit["type"] = kind
    else:
        edit["data"] = draw(payloads.surface_payloads() | payloads.odd_payloads())
    if draw(st.integers(0, 5)) == 0:
        edit["type"] = draw(st.sampled_from([*payloads.SURFACE_TYPES, "step/start", "plugin/x"]))
    if draw(st.booleans()):
        edit["time"] = draw(st.integers(0, 9))
    return edit


@st.composite
def insertions(draw: st.DrawFn, log: list[Wire]) -> Wire:
    """One event to insert, most often a node that takes others away."""
    before = draw(st.integers(0, len(log)))
    edit: Wire = {"edit": "insert", "before": before}
    if draw(st.booleans()):
        edit["time"] = draw(st.integers(0, 9))
    kinds = ["log", "header", "step", "append", "replace", "replace", "wild", "summary"]
    kind = draw(st.sampled_from(kinds))
    if kind == "log":
        return edit | {"type": "plugin/x", "data": draw(payloads.values())}
    if kind == "step":
        return edit | {"type": "step/start", "data": {"turn": 1, "step": 1}}
    if kind == "header":
        name, data = draw(headers.header_event_fields())
        return edit | {"type": name, "data": data}
    edit["type"] = draw(st.sampled_from(payloads.SURFACE_TYPES))
    edit["data"] = draw(payloads.surface_payloads())
    surface = surface_before(log, before)
    if kind == "append" or not surface:
        cited = (
            draw(st.lists(st.integers(0, before - 1), max_size=3, unique=True)) if before else []
        )
        return edit | {"surfaceOp": "append"} | ({"sourceEventSeqs": cited} if cited else {})
    if kind == "wild":
        start, end = (draw(st.integers(0, len(log) - 1)) for _ in range(2))
        op = {"op": "replace", "start": start, "end": end}
        return edit | {"surfaceOp": op, "sourceEventSeqs": sorted({start, end})}
    first = draw(st.integers(0, len(surface) - 1))
    gone = surface[first : first + 1 + draw(st.integers(0, 3))]
    op = {"op": "replace", "start": gone[0], "end": gone[-1]}
    if kind == "summary":
        span = {"start": gone[0], "end": gone[-1]}
        data = {"summary": "", "shadowedRange": span, "shadowedSeqs": gone}
        return edit | {"type": "compact/summary", "data": data}
    cited = gone if draw(st.integers(0, 7)) else gone[1:]
    return edit | {"surfaceOp": op} | ({"sourceEventSeqs": cited} if cited else {})
