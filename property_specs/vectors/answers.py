"""What the models answer to a question of the small protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from property_specs.models import headers
from property_specs.models.acceptance import Fault, accept, accepted, fold_bare
from property_specs.models.closers import closers_of
from property_specs.models.json_values import write
from property_specs.models.pairing import is_balanced
from property_specs.models.projection import messages_of
from property_specs.models.requests import requests_of
from property_specs.models.traces import Trace, trace_of

Wire = Any
Answer = dict[str, Any]


def answered(operation: str, arguments: dict[str, Any]) -> Answer:
    """`{answer}` or `{refused}` of a question."""
    return ANSWERS[operation](**arguments)


def _refused(code: str, **place: int) -> Answer:
    return {"refused": {"code": code, **place}}


def _accept(log: Wire, header: Wire = None) -> Answer:
    book = accept(log)
    if isinstance(book, Fault):
        return _refused(book.code, index=book.index)
    return {"answer": {"length": len(log)}}


def _surface(log: Wire) -> Answer:
    book = accepted(log)
    return {"answer": {"seqs": book.surface, "generation": book.generation}}


def _fold_surface(events: Wire) -> Answer:
    book = fold_bare(events)
    if isinstance(book, Fault):
        return _refused(book.code, index=book.index)
    return {"answer": {"nodes": book.nodes, "replacements": book.replacements}}


def _messages(log: Wire) -> Answer:
    derived = messages_of(accepted(log))
    if isinstance(derived, int):
        return _refused("PAYLOAD_INVALID", seq=derived)
    return {"answer": derived}


def _header(log: Wire) -> Answer:
    force = headers.fold(log)
    return _refused(force) if isinstance(force, str) else {"answer": force}


def _requests(log: Wire) -> Answer:
    return {"answer": requests_of(log)}


def _closers(log: Wire) -> Answer:
    return {"answer": closers_of(log)}


def _fork(log: Wire, header: Wire = None, boundary: Wire = None) -> Answer:
    session = {"id": "session"} if header is None else header
    given = boundary is not None
    seq = boundary if given else len(log) - 1
    if given and (type(seq) is not int or not 0 <= seq < len(log)):
        return _refused("INVALID_BOUNDARY")
    if log and log[seq]["type"] != "turn/end":
        return _refused("OPEN_TURN")
    child = {"version": 0, "id": "fork", "createdAt": 0}
    child |= {"cwd": session["cwd"]} if "cwd" in session else {}
    child |= {"parentSession": session["id"], "seedLength": seq + 1}
    return {"answer": {"header": child, "length": seq + 1}}


def _trace(events: Wire) -> Answer:
    trace = trace_of(events)
    if not isinstance(trace, Trace):
        return _refused(trace[1], index=trace[0])
    return {
        "answer": {
            "open_turn": trace.open_turn,
            "open_step": trace.open_step,
            "next_turn": trace.next_turn,
            "next_step": trace.next_step,
            "pending_calls": len(trace.pending),
        }
    }


def _balanced(log: Wire, before: Wire) -> Answer:
    answer = is_balanced(accepted(log), before)
    return _refused("PAIRING_CORRUPT") if answer is None else {"answer": answer}


def _text(value: Wire) -> Answer:
    return {"answer": write(value)}


def _diff(prev: Wire, next: Wire) -> Answer:
    return {"answer": headers.diff(prev, next)}


def _apply(prev: Wire, delta: Wire) -> Answer:
    try:
        return {"answer": headers.apply(prev, delta)}
    except headers.Unfoldable:
        return _refused("HEADER_INVALID")


ANSWERS: Final[dict[str, Callable[..., Answer]]] = {
    "accept": _accept,
    "surface": _surface,
    "fold_surface": _fold_surface,
    "messages": _messages,
    "header": _header,
    "requests": _requests,
    "closers": _closers,
    "fork": _fork,
    "trace": _trace,
    "balanced": _balanced,
    "text": _text,
    "diff": _diff,
    "apply": _apply,
}
