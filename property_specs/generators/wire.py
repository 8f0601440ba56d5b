"""Requests with all kinds of blocks, sound and odd, and changes to plant in bodies.

Leaves out: texts that are no strings (examples tell what JavaScript makes of those).
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.json_values import texts

ODD_BLOCKS: tuple[Any, ...] = (
    None,
    7,
    "text",
    [],
    {},
    {"type": "x-chart", "points": [1]},
    {"type": "text"},
    {"type": "text", "text": None},
    {"type": "tool-call"},
    {"type": "tool-result"},
)


@cache
def blocks(results: bool = True) -> st.SearchStrategy[Any]:
    """Blocks of content; results hold blocks in turn."""
    plain = st.one_of(
        texts().map(lambda text: {"type": "text", "text": text}),
        texts().map(lambda text: {"type": "reasoning", "text": text}),
        st.sampled_from(["{}", '{"a":1}', "[1]", "{", '{"a":-0}']).map(
            lambda told: {"type": "tool-call", "id": "c1", "name": "run", "arguments": told}
        ),
        st.sampled_from(ODD_BLOCKS),
    )
    if not results:
        return plain
    inner = st.lists(blocks(results=False), max_size=3)
    return plain | st.builds(_result, st.sampled_from(["c1", "c 2"]), inner, st.booleans())


def _result(call: str, content: list[Any], is_error: bool) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": call, "content": content, "isError": is_error}


@cache
def contents() -> st.SearchStrategy[Any]:
    """Lists of blocks, or what should be one."""
    return st.lists(blocks(), max_size=4) | st.sampled_from(["text", None, {}])


@cache
def wire_requests() -> st.SearchStrategy[dict[str, Any]]:
    """Requests of a few messages; every part may be missing."""
    roles = st.sampled_from(["user", "user", "assistant", "assistant", "system", "pilot"])
    message = st.builds(lambda role, content: {"role": role, "content": content}, roles, contents())
    tools = st.lists(
        st.sampled_from(
            [
                {"name": "run", "description": "Runs.", "parameters": {"type": "object", "b": {}}},
                {"name": "go", "parameters": {"type": "string"}, "strict": True},
                {"parameters": 5, "name": "stop", "description": 7},
            ]
        ),
        max_size=3,
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "model": st.just("tern-1"),
            "temperature": st.sampled_from([0, 0.5, 1.5]),
            "maxTokens": st.sampled_from([0, 1, 900]),
            "stop": st.lists(st.sampled_from(["END", " ", "x"]), max_size=6),
            "system": texts(),
            "tools": tools,
        },
    ).flatmap(
        lambda parts: st.lists(message | st.sampled_from([None, "text"]), max_size=5).map(
            lambda messages: {**parts, "messages": messages}
        )
    )


def leaves(value: Any, steps: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of all scalars in a value, in the order of its text."""
    if isinstance(value, dict):
        return [path for key, item in value.items() for path in leaves(item, (*steps, key))]
    if isinstance(value, list):
        return [path for at, item in enumerate(value) for path in leaves(item, (*steps, at))]
    return [steps]


def with_change(value: Any, steps: tuple[str | int, ...]) -> Any:
    """A copy in which the scalar at a path is another one of its kind, or nearly."""
    made = copy.deepcopy(value)
    inner = made
    for step in steps[:-1]:
        inner = inner[step]
    old = inner[steps[-1]]
    inner[steps[-1]] = old + "!" if isinstance(old, str) else "other"
    return made
