"""Requests of the released generations, with changes of tools and what a log tells of them.

Leaves out: payloads that are not of their shape, and doubled tools (examples tell of those).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.json_values import texts

MODELS = ("tern-1", "tern-2")
TOOLS: tuple[dict[str, Any], ...] = tuple(
    {"name": name, "parameters": {"type": "object"}} for name in "abc"
)
NAMES = st.sampled_from([tool["name"] for tool in TOOLS])
ARGUMENTS = ("{}", '{"b":1,"a":[2]}', "[1]", "{", "", '"x"')


def _blocks() -> st.SearchStrategy[dict[str, Any]]:
    image = {"type": "image", "attachment": {"attachmentId": "sha256:ab"}}
    return st.one_of(
        (texts() | st.just("")).map(lambda said: {"type": "text", "text": said}),
        texts().map(lambda said: {"type": "reasoning", "text": said}),
        st.builds(
            lambda call, told: {"type": "tool-call", "id": call, "name": "a", "arguments": told},
            st.sampled_from(["c1", "c2"]),
            st.sampled_from(ARGUMENTS),
        ),
        st.just(image),
    )


@st.composite
def _answers(draw: st.DrawFn) -> dict[str, Any]:
    content = draw(st.lists(_blocks(), max_size=3))
    source: dict[str, Any] = {"kind": "model", "model": draw(st.sampled_from(MODELS))}
    if draw(st.booleans()):
        response = {
            "kind": "deepseek-messages",
            "version": 1,
            "model": draw(st.sampled_from(MODELS)),
        }
        kinds = [{"type": block["type"]} for block in content][draw(st.integers(0, 1)) :]
        signed = [{**kind, "signature": "s"} if draw(st.booleans()) else kind for kind in kinds]
        source["replayState"] = {"response": response, "blocks": signed}
    return {"role": "assistant", "content": content, "source": source}


@cache
def _messages() -> st.SearchStrategy[dict[str, Any]]:
    said = st.lists(_blocks(), max_size=3)
    change = st.builds(
        lambda kind, name: {"type": kind, "toolName": name},
        st.sampled_from(["tool-addition", "tool-addition", "tool-removal"]),
        NAMES,
    )
    text = texts().map(lambda told: {"type": "text", "text": told})
    result = st.fixed_dictionaries(
        {"role": st.just("tool"), "toolCallId": st.sampled_from(["c1", "c2"]), "content": said},
        optional={"isError": st.booleans()},
    )
    return st.one_of(
        said.map(lambda content: {"role": "user", "content": content}),
        st.lists(text, max_size=2).map(lambda content: {"role": "system", "content": content}),
        st.lists(change | text, max_size=3).map(
            lambda content: {"role": "developer", "content": content}
        ),
        result,
        _answers(),
    )


@st.composite
def released_requests(draw: st.DrawFn) -> dict[str, Any]:
    """Requests of a few messages of every role."""
    more = st.fixed_dictionaries(
        {"model": st.sampled_from(MODELS)},
        optional={
            "maxTokens": st.just(90),
            "reasoningEffort": st.sampled_from(["off", "low", "high"]),
            "temperature": st.just(0.5),
        },
    )
    tools = draw(st.lists(st.sampled_from(TOOLS), unique_by=lambda tool: tool["name"]))
    parts = {**draw(more), **({"tools": tools} if tools else {})}
    return {**parts, "messages": draw(st.lists(_messages(), max_size=7))}


@st.composite
def messages_cases(draw: st.DrawFn) -> dict[str, Any]:
    """A request with the setting of its route; mostly its tools are what the changes make."""
    request = draw(released_requests())
    first = draw(st.lists(st.sampled_from(TOOLS), unique_by=lambda tool: tool["name"]))
    changes: dict[int, dict[str, Any]] = {}
    held = {tool["name"]: tool for tool in first}
    for place, message in enumerate(request["messages"]):
        if message["role"] != "developer" or not draw(st.sampled_from([True, True, True, False])):
            continue
        changes[place] = {tool["name"]: tool for tool in TOOLS}
        for block in message["content"]:
            if block["type"] == "tool-addition":
                held[block["toolName"]] = changes[place][block["toolName"]]
            elif block["type"] == "tool-removal":
                held.pop(block["toolName"], None)
    if draw(st.sampled_from([True, True, True, False])):
        request["tools"] = draw(st.permutations(list(held.values())))
    return {
        "request": request,
        "in_history": draw(st.booleans()),
        "updates": draw(st.sampled_from(["none", "additions", "both"])),
        "first": first,
        "changes": changes,
    }
