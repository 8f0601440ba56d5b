"""Bodies of the released generations' requests, by plain lists and dicts."""

from __future__ import annotations

import json
from typing import Any

from property_specs.models.wire import chat_tool, of_kind, text_in


def chat_body(request: dict[str, Any], *, every_reasoning: bool) -> dict[str, Any]:
    """The chat-completions body of a request."""
    messages = []
    if "system" in request:
        messages.append({"role": "system", "content": request["system"]})
    for message in request["messages"]:
        messages += _chat_messages(message, every_reasoning)
    body: dict[str, Any] = {"model": request["model"], "messages": messages, "stream": True}
    body["stream_options"] = {"include_usage": True}
    effort = request.get("reasoningEffort")
    if effort is not None:
        body["thinking"] = {"type": "disabled" if effort == "off" else "enabled"}
    if effort not in (None, "off"):
        body["reasoning_effort"] = effort
    if request.get("tools"):
        body["tools"] = [chat_tool(tool) for tool in request["tools"]]
    for ours, theirs in (("temperature", "temperature"), ("maxTokens", "max_tokens")):
        if ours in request:
            body[theirs] = request[ours]
    return body


def _chat_messages(message: dict[str, Any], every_reasoning: bool) -> list[dict[str, Any]]:
    role, content = message["role"], message["content"]
    said = text_in(content)
    if role == "system":
        return [{"role": "system", "content": said}] if said else []
    if role == "user":
        return [{"role": "user", "content": said}]
    if role == "tool":
        told = {"role": "tool", "tool_call_id": message["toolCallId"]}
        return [{**told, "content": said or "(no output)"}]
    if role == "developer":
        return []
    made: dict[str, Any] = {"role": "assistant", "content": said}
    calls = of_kind(content, "tool-call")
    thought = text_in(content, "reasoning")
    if thought and (calls or every_reasoning):
        made["reasoning_content"] = thought
    if calls:
        made["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls
        ]
    return [made]


# ---- the Messages API ----------------------------------------------------------------------------


def messages_body(  # noqa: PLR0912, PLR0915  # slow and obvious, in one piece
    case: dict[str, Any],
) -> dict[str, Any]:
    """The body of a case: `request`, `in_history`, `updates`, `first` tools, `changes` in force.

    `changes` are by the place of the developer message: the definitions of what it adds.
    """
    request, updates = case["request"], case["updates"]
    tools, told = _tools(request, updates, case["first"], case["changes"])
    wire: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    system = None

    def put(role: str, blocks: list[dict[str, Any]]) -> None:
        if blocks and wire and wire[-1]["role"] == role:
            wire[-1]["content"] += blocks
        elif blocks:
            wire.append({"role": role, "content": list(blocks)})

    for place, message in enumerate(request["messages"]):
        role, content = message["role"], message["content"]
        if role == "system":
            said = text_in(content)
            if case["in_history"] and (wire or waiting):
                waiting.append({"blocks": [{"type": "text", "text": said}] if said else []})
            else:
                system = said
        elif role == "developer":
            waiting.append({"blocks": _developer(content, None if told is None else told, place)})
        elif role == "assistant":
            blocks = _answer(message, request["model"])
            if blocks:
                for each in waiting:
                    put("system", each["blocks"])
                waiting = []
            put("assistant", blocks)
        elif role == "tool":
            result = {"type": "tool_result", "tool_use_id": message["toolCallId"]}
            result["content"] = _said(content)
            if "isError" in message:
                result["is_error"] = message["isError"]
            put("user", [result])
        else:
            put("user", _said(content))
    for each in waiting:
        put("system", each["blocks"])
    for message in wire:
        if message["role"] == "user":
            results = [block for block in message["content"] if block["type"] == "tool_result"]
            others = [block for block in message["content"] if block["type"] != "tool_result"]
            message["content"] = results + others
    body: dict[str, Any] = {"model": request["model"], "stream": True, "messages": wire}
    if "maxTokens" in request:
        body["max_tokens"] = request["maxTokens"]
    effort = request.get("reasoningEffort", "high")
    body["thinking"] = {"type": "disabled" if effort == "off" else "enabled"}
    if effort != "off":
        body["output_config"] = {"effort": effort}
    if system:
        body["system"] = system
    if tools:
        body["tools"] = tools
    if "temperature" in request:
        body["temperature"] = request["temperature"]
    return body


def _said(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = []
    for block in content:
        if block["type"] == "text" and block["text"]:
            kept.append({"type": "text", "text": block["text"]})
        if block["type"] == "image":
            kept.append(block)
    return kept


def _answer(message: dict[str, Any], model: str) -> list[dict[str, Any]]:
    content, source = message["content"], message["source"]
    state = source.get("replayState")
    signed = (
        state is not None
        and state["response"]["model"] == source["model"] == model
        and [block["type"] for block in state["blocks"]] == [block["type"] for block in content]
    )
    made: list[dict[str, Any]] = []
    for place, block in enumerate(content):
        if block["type"] == "text" and block["text"]:
            made.append({"type": "text", "text": block["text"]})
        if block["type"] == "reasoning":
            made.append({"type": "thinking", "thinking": block["text"]})
            if signed and "signature" in state["blocks"][place]:
                made[-1]["signature"] = state["blocks"][place]["signature"]
        if block["type"] == "tool-call":
            made.append({"type": "tool_use", "id": block["id"], "name": block["name"]})
            made[-1]["input"] = _input(block["arguments"])
    return made


def _input(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _developer(
    content: list[dict[str, Any]], told: set[tuple[int, int]] | None, place: int
) -> list[dict[str, Any]]:
    if told is None:
        return []
    made: list[dict[str, Any]] = []
    for at, block in enumerate(content):
        if block["type"] == "text" and block["text"]:
            made.append({"type": "text", "text": block["text"]})
        if (place, at) in told:
            tool = {"type": "tool_reference", "name": block["toolName"]}
            made.append({"type": block["type"].replace("-", "_"), "tool": tool})
    return made


def _tools(
    request: dict[str, Any],
    updates: str,
    first: list[dict[str, Any]],
    changes: dict[int, dict[str, Any]],
) -> tuple[list[dict[str, Any]], set[tuple[int, int]] | None]:
    """The tools of a body, and the changes it tells; None when no developer message is sent."""
    now = request.get("tools", [])
    if updates == "none":
        return [_tool(tool) for tool in now], set()
    steps = [
        (place, at, block)
        for place in sorted(changes)
        for at, block in enumerate(request["messages"][place]["content"])
        if block["type"] in ("tool-addition", "tool-removal")
    ]
    held = {tool["name"]: tool for tool in first}
    added: list[str] = []
    told: set[tuple[int, int]] = set()
    names_now = [tool["name"] for tool in now]
    last = dict(held)
    for place, at, block in steps:
        name = block["toolName"]
        if block["type"] == "tool-removal":
            held.pop(name, None)
            if updates == "both":
                told.add((place, at))
            continue
        if name not in changes[place]:
            return [_tool(tool) for tool in now], None
        held[name] = last[name] = changes[place][name]
        is_new = name not in added and all(tool["name"] != name for tool in first)
        if is_new:
            added.append(name)
        if updates == "both" or (is_new and name in names_now):
            told.add((place, at))
    if sorted(map(json.dumps, held.values())) != sorted(map(json.dumps, now)):
        return [_tool(tool) for tool in now], None
    made = []
    for name in [tool["name"] for tool in first] + added:
        if updates == "additions" and name not in held:
            continue
        made.append(_tool(held[name] if name in held else last[name]))
        if name in added:
            made[-1]["defer_loading"] = True
    return made, told


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    names = (("name", "name"), ("description", "description"), ("parameters", "input_schema"))
    return {theirs: tool[ours] for ours, theirs in names if ours in tool}
