"""Payloads of each known event type in the shape its type has, all fields in their usual order.

Leaves out: fields that no one knows, and payloads that lack what they need (see `payloads`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators import headers
from property_specs.generators.chunks import chunks
from property_specs.generators.payloads import CALL_IDS, contents, todo_lists, usages

Payload = dict[str, Any]

TOOLS = ("read", "run")
ARGUMENTS = ("{}", '{"path":"a.txt"}', "")
SOURCES: tuple[Any, ...] = ({"kind": "user"}, {"kind": "plugin", "plugin": "memo"})
TRIGGERS: tuple[Any, ...] = (
    {"kind": "message", "source": {"kind": "user"}},
    {"kind": "continuation"},
    {"kind": "injection", "source": {"kind": "plugin", "plugin": "memo"}},
)
ENDINGS: tuple[Any, ...] = (
    {"kind": "completed"},
    {"kind": "aborted"},
    {"kind": "error", "step": 1, "message": "no answer", "code": "timeout"},
    {"kind": "max-tokens"},
    {"kind": "interrupted"},
)
ERRORS: tuple[Any, ...] = ({"name": "Error", "code": "failed"},)


@cache
def payloads_by_type() -> dict[str, st.SearchStrategy[Payload]]:
    """For each known type the payloads that it has."""
    turn = {"turn": st.integers(1, 3)}
    step = {**turn, "step": st.integers(1, 3)}
    said = {"content": contents(), "source": st.sampled_from(SOURCES)}
    call = {**step, "callId": st.sampled_from(CALL_IDS)}
    seqs = st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)
    return {
        "turn/start": _made(turn, trigger=st.sampled_from(TRIGGERS)),
        "turn/end": _made(turn, reason=st.sampled_from(ENDINGS)),
        "step/start": _made(step),
        "step/end": _made(step),
        "user/message": _made(said),
        "context/message": _made(said),
        "steering/message": _made({**turn, **said}),
        "prompt/blocked": _made(said, reason=st.just("not now")),
        "assistant/chunk": _made(step, chunk=chunks()),
        "assistant/message": _made({**step, "content": contents()}, {"usage": usages()}),
        "tool/call": _made(call, name=st.sampled_from(TOOLS), arguments=st.sampled_from(ARGUMENTS)),
        "tool/result": _made(
            {**call, "content": contents(), "isError": st.booleans()},
            {"error": st.sampled_from(ERRORS), "meta": st.just({"exit": 0})},
        ),
        "todo/write": _made({"todos": todo_lists()}),
        "request/header": _made(
            {"header": headers.canonical_headers()},
            reason=st.sampled_from(["initial", "resume", "fallback"]),
        ),
        "request/header-delta": headers.odd_deltas().map(_foldable),
        "compact/start": _made(turn),
        "compact/summary": seqs.map(summary_of),
        "compact/end": _made(turn, {"error": st.just("no answer")}),
    }


@cache
def typed_payloads() -> st.SearchStrategy[tuple[str, Payload]]:
    """A known type, and a payload of it."""
    return st.one_of(*(st.tuples(st.just(name), made) for name, made in payloads_by_type().items()))


def summary_of(seqs: list[int]) -> Payload:
    """The payload of a compaction's summary over these nodes."""
    return {
        "summary": [{"type": "text", "text": "in short"}],
        "shadowedRange": {"start": seqs[0], "end": seqs[-1]},
        "shadowedSeqs": seqs,
        "shadowedTokenCount": 10 * len(seqs),
        "model": "small",
    }


def _foldable(delta: Payload) -> Payload:
    """The delta without a `null` that stands for a part that is absent."""
    return {key: part for key, part in delta.items() if part is not None and key != "x-unknown"}


def _made(
    fields: dict[str, st.SearchStrategy[Any]],
    optional: dict[str, st.SearchStrategy[Any]] | None = None,
    **more: st.SearchStrategy[Any],
) -> st.SearchStrategy[Payload]:
    return st.fixed_dictionaries({**fields, **more}, optional=optional or {})
