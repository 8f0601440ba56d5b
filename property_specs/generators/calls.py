"""Logs of model calls: streams of any chunks, messages that fit them or do not, or neither.

Some calls are not closed, and after some comes a message or a chunk that is too late.

Leaves out: chunks of types that cannot be assembled.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.chunks import streams
from property_specs.generators.payloads import contents, usages

Log = list[dict[str, Any]]
HEADER = {"header": {"config": {"model": "m"}}, "reason": "initial"}


@cache
def _calls() -> st.SearchStrategy[dict[str, Any]]:
    """What comes of one call: chunks, a message, or nothing; and whether its step is closed."""
    return st.fixed_dictionaries(
        {"chunks": streams(), "closed": st.booleans(), "says": contents()},
        optional={"message": contents(), "usage": usages(), "late": contents()},
    )


def _log_of(calls: list[dict[str, Any]]) -> Log:
    log: Log = []

    def add(kind: str, data: Any, **marker: Any) -> None:
        log.append({"type": kind, "seq": len(log), "time": 0, "data": data, **marker})

    add("turn/start", {"turn": 1, "trigger": {"kind": "continuation"}})
    add("request/header", HEADER)
    for number, call in enumerate(calls, start=1):
        where = {"turn": 1, "step": number}
        add("user/message", {"content": call["says"], "source": {}}, surfaceOp="append")
        add("step/start", where)
        for chunk in call["chunks"]:
            add("assistant/chunk", where | {"chunk": chunk})
        if "message" in call:
            usage = {"usage": call["usage"]} if "usage" in call else {}
            said = where | {"content": call["message"]} | usage
            add("assistant/message", said, surfaceOp="append")
        if call["closed"]:
            add("step/end", where)
        if "late" in call:
            add("assistant/message", where | {"content": call["late"]}, surfaceOp="append")
            add("assistant/chunk", where | {"chunk": {"type": "usage", "usage": None}})
    read: Log = json.loads(json.dumps(log))  # halves of one character that met are joined
    return read


@cache
def logs_of_calls(min_calls: int = 0) -> st.SearchStrategy[Log]:
    """Logs of one turn with a few calls; each has its request."""
    return st.lists(_calls(), min_size=min_calls, max_size=4).map(_log_of)
