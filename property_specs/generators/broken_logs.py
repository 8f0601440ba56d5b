"""Logs whose first fault has a known code: a valid log, then one event made for that code.

Leaves out: NOT_JSON deeper than a payload, TOO_DEEP (see `deep_values`), and SOURCES_UNKNOWN,
which no log without gaps can have.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from property_specs.generators.logs import Log, loose_logs
from property_specs.generators.lossy_values import planted
from property_specs.models.acceptance import Book, accepted

CODES = (
    "NOT_JSON",
    "BAD_ENVELOPE",
    "SEQ_GAP",
    "SURFACE_OP_FORBIDDEN",
    "SOURCES_FORBIDDEN",
    "SURFACE_OP_MISSING",
    "SURFACE_OP_INVALID",
    "SOURCES_INVALID",
    "REPLACE_START_UNKNOWN",
    "REPLACE_END_UNKNOWN",
    "REPLACE_REVERSED",
    "SOURCES_EMPTY",
    "SOURCES_DUPLICATE",
    "SOURCES_NOT_EARLIER",
    "REPLACE_UNCITED",
)
BAD_OPS: tuple[Any, ...] = (
    None,
    "replace",
    {"op": "replace", "start": 0, "end": True},
    {"op": "replace"},
    1,
)
BAD_SOURCES: tuple[Any, ...] = (None, {}, "0", [True], [0.5], [-1], [2**53])


@st.composite
def broken_logs(draw: st.DrawFn, code: str) -> list[Any]:
    """A log whose last event is refused with this code, and no earlier one is."""
    log = _with_nodes(draw(loose_logs(max_moves=6)))
    return [*log, draw(broken_events(code, accepted(log)))]


def _with_nodes(log: Log) -> Log:
    """The log with two appends and a log-only event more, so that there is something to name."""
    said = {"content": [], "source": {"kind": "user"}}
    for _ in range(2):
        event = {"type": "user/message", "seq": len(log), "time": 0, "data": said}
        log = [*log, event | {"surfaceOp": "append"}]
    return [*log, {"type": "plugin/note", "seq": len(log), "time": 0, "data": None}]


@st.composite
def broken_events(draw: st.DrawFn, code: str, book: Book) -> Any:
    """An event that a log refuses with this code.

    The log has an event; for the codes of replacements, two nodes.
    """
    here = len(book.events)
    note = {"type": "plugin/note", "seq": here, "time": 0, "data": None}
    said = {"type": "user/message", "seq": here, "time": 0, "data": {}, "surfaceOp": "append"}
    anything = st.sampled_from([None, "append", [], [0], 1])
    match code:
        case "NOT_JSON":
            return note | {"data": draw(planted())[0]}
        case "BAD_ENVELOPE":
            return draw(st.sampled_from(_misshapen(note)))
        case "SEQ_GAP":
            off = draw(st.sampled_from([1, 2, -1, -here]))
            return draw(st.sampled_from([note, said])) | {"seq": here + off}
        case "SURFACE_OP_FORBIDDEN":
            return note | {"surfaceOp": draw(anything)}
        case "SOURCES_FORBIDDEN":
            return note | {"sourceEventSeqs": draw(anything)}
        case "SURFACE_OP_MISSING":
            return {key: said[key] for key in ("type", "seq", "time", "data")}
        case "SURFACE_OP_INVALID":
            return said | {"surfaceOp": draw(st.sampled_from(BAD_OPS))}
        case "SOURCES_INVALID":
            return said | {"sourceEventSeqs": draw(st.sampled_from(BAD_SOURCES))}
        case "SOURCES_EMPTY":
            return said | {"sourceEventSeqs": []}
        case "SOURCES_DUPLICATE":
            seq = draw(st.integers(0, here - 1))
            return said | {"sourceEventSeqs": [seq, seq]}
        case "SOURCES_NOT_EARLIER":
            return said | {"sourceEventSeqs": [0, here + draw(st.integers(0, 2))]}
        case _:
            return said | draw(_replacement(code, book))


def _misshapen(note: dict[str, Any]) -> list[Any]:
    return [
        *({key: note[key] for key in note if key != gone} for gone in note),
        note | {"more": 1},
        note | {"type": 1},
        note | {"seq": True},
        note | {"seq": -1},
        note | {"time": 0.5},
        note | {"time": 2**53},
        [note],
        None,
        "note",
    ]


@st.composite
def _replacement(draw: st.DrawFn, code: str, book: Book) -> dict[str, Any]:
    surface, here = book.surface, len(book.events)
    off_surface = [seq for seq in range(here + 2) if seq not in surface]
    place = draw(st.integers(0, len(surface) - 2))
    start, end = surface[place], surface[place + 1]
    match code:
        case "REPLACE_START_UNKNOWN":
            start = draw(st.sampled_from(off_surface))
        case "REPLACE_END_UNKNOWN":
            end = draw(st.sampled_from(off_surface))
        case "REPLACE_REVERSED":
            start, end = end, start
        case _:
            assert code == "REPLACE_UNCITED"
            run = surface[place : draw(st.integers(place + 2, len(surface)))]
            end = run[-1]
            left = draw(st.lists(st.sampled_from(run), min_size=1, max_size=2, unique=True))
            others = [seq for seq in range(here) if seq not in left]
            op = {"op": "replace", "start": start, "end": end}
            return {"surfaceOp": op, "sourceEventSeqs": others}
    op = {"op": "replace", "start": start, "end": end}
    return {"surfaceOp": op, "sourceEventSeqs": list(range(here))}
