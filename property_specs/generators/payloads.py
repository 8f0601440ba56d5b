"""Payloads of the known event types, sound ones and some that lack what they need.

Parts are taken from small stocks: a log has many payloads, and what is in them matters less
than where they stand. Leaves out: JSON values of every kind (see `json_values`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.json_values import texts
from property_specs.models.json_values import settle

CALL_IDS = ("c1", "c2", "c3")
SURFACE_TYPES = (
    "user/message",
    "assistant/message",
    "context/message",
    "tool/result",
    "steering/message",
)
LOG_TYPES = (
    "plugin/thing",
    "todo/write",
    "assistant/chunk",
    "prompt/blocked",
    "tool/call",
    "compact/start",
    "",
    "constructor",
)
TEXT = {"type": "text", "text": "hi"}
CALLS = tuple(
    {"type": "tool-call", "id": call, "name": "run", "arguments": "{}"} for call in CALL_IDS
)
BLOCKS: tuple[Any, ...] = (
    TEXT,
    {"type": "text", "text": ""},
    {"text": "é\u2028😀\n", "type": "text"},
    *CALLS,
    {"type": "x-chart", "points": [[0, 0.5], [1, None]]},
    settle({"type": "x-keys", "b": 1, "1": True, "a": {}}),
)
SOURCES: tuple[Any, ...] = (
    {"kind": "user"},
    {"kind": "plugin", "plugin": "memo"},
    {"kind": 'a "b" <c>'},
    {"kind": None},
    {"kind": 1},
    {"kind": {"b": [], "a": True}},
    {},
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    "text",
    [],
    {},
    [1, [True, {"a": None}]],
    {"turn": 1, "step": 1},
    {"turn": 1, "step": 1, "callId": "c1", "name": "run", "arguments": "{}"},
    {"content": [TEXT], "source": {"kind": "user"}},
    {"todos": [{"content": "rest", "status": "pending"}]},
    {"todos": None},
    {"usage": {"inputTokens": 1, "outputTokens": 1}},
)
ODD_PAYLOADS: tuple[Any, ...] = (
    *VALUES,
    {"content": "text", "source": {}},
    {"content": [], "source": None},
    {"content": []},
    {"source": {}, "callId": "c1"},
    {"content": {"0": "a"}, "source": {}, "callId": None},
    {"content": [], "source": [], "callId": None},
    {"content": [None, 1, "text"], "source": {"kind": None}, "callId": 7},
)


@cache
def text_blocks() -> st.SearchStrategy[dict[str, Any]]:
    """Text blocks of any text."""
    return texts().map(lambda text: {"type": "text", "text": text})


@cache
def call_blocks() -> st.SearchStrategy[dict[str, Any]]:
    """Blocks that ask for a tool."""
    return st.sampled_from(CALLS)


@cache
def contents() -> st.SearchStrategy[list[Any]]:
    """Content lists of a few blocks, unknown ones among them; may be empty."""
    return st.lists(st.sampled_from(BLOCKS), max_size=3)


@cache
def usages() -> st.SearchStrategy[dict[str, int]]:
    """Token counts of one call, the optional ones there or not."""
    return st.fixed_dictionaries(
        {"inputTokens": st.integers(0, 99), "outputTokens": st.integers(0, 99)},
        optional={
            "cacheReadTokens": st.integers(0, 9),
            "cacheWriteTokens": st.integers(0, 9),
            "reasoningTokens": st.integers(0, 9),
        },
    )


@cache
def todo_lists() -> st.SearchStrategy[list[Any]]:
    """Lists of things to do."""
    statuses = ("pending", "in_progress", "completed")
    items = [{"content": f"item {status}", "status": status} for status in statuses]
    return st.lists(st.sampled_from(items), max_size=2)


@cache
def surface_payloads() -> st.SearchStrategy[dict[str, Any]]:
    """Payloads from which every surface type makes its message."""

    def made(content: list[Any], source: Any, more: int) -> dict[str, Any]:
        data = {"turn": 1, "step": 1, "content": content, "source": source}
        data["callId"] = CALL_IDS[more % 3]
        if more % 2:
            data["isError"] = more % 4 == 1
        if more % 5 == 1:
            data["usage"] = {"inputTokens": more, "outputTokens": 1, "cacheReadTokens": 2}
        return data

    return st.builds(made, contents(), st.sampled_from(SOURCES), st.integers(0, 29))


@cache
def odd_payloads() -> st.SearchStrategy[Any]:
    """Payloads that no message can be made of, and some that only seem so."""
    return st.sampled_from(ODD_PAYLOADS)


@cache
def values() -> st.SearchStrategy[Any]:
    """Payloads of events that are not on the surface."""
    return st.sampled_from(VALUES)
