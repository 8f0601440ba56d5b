"""Bodies of requests by plain recursion, and the shapes that other providers document."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

NAME = re.compile(r"[A-Za-z0-9_-]+")


def of_kind(content: Any, kind: str) -> list[dict[str, Any]]:
    """The blocks of one kind."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list):
        return []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def text_in(content: Any, kind: str = "text") -> str:
    """What joining the texts of such blocks gives; those in tests are texts or absent."""
    return "".join(block.get("text") or "" for block in of_kind(content, kind))


def chat_messages(message: Any) -> list[dict[str, Any]]:
    """What one message is in a chat-completions body."""
    if not isinstance(message, dict):
        return []
    content = message.get("content")
    if message.get("role") == "system":
        return [{"role": "system", "content": text_in(content)}]
    if message.get("role") == "assistant":
        return [_chat_assistant(content)]
    results = []
    for block in of_kind(content, "tool-result"):
        made = {"role": "tool"}
        if "toolCallId" in block:
            made["tool_call_id"] = block["toolCallId"]
        results.append({**made, "content": text_in(block.get("content")) or "(no output)"})
    if results and not text_in(content):
        return results
    return [{"role": "user", "content": text_in(content)}, *results]


def _chat_assistant(content: Any) -> dict[str, Any]:
    calls = []
    for block in of_kind(content, "tool-call"):
        function = {key: block[key] for key in ("name", "arguments") if key in block}
        start = {"id": block["id"]} if "id" in block else {}
        calls.append({**start, "type": "function", "function": function})
    if not calls:
        return {"role": "assistant", "content": text_in(content) or None}
    made: dict[str, Any] = {"role": "assistant", "content": text_in(content)}
    if text_in(content, "reasoning"):
        made["reasoning_content"] = text_in(content, "reasoning")
    made["tool_calls"] = calls
    return made


def chat_body(request: dict[str, Any], options: dict[str, str]) -> dict[str, Any]:
    """The chat-completions body of a request."""
    body: dict[str, Any] = {}
    if "model" in request:
        body["model"] = request["model"]
    head = [{"role": "system", "content": request["system"]}] if "system" in request else []
    tail = [made for message in request["messages"] for made in chat_messages(message)]
    body["messages"] = head + tail
    body["stream"] = True
    body["stream_options"] = {"include_usage": True}
    if "thinking" in options:
        body["thinking"] = {"type": options["thinking"]}
    if "reasoning_effort" in options:
        body["reasoning_effort"] = options["reasoning_effort"]
    if request.get("tools"):
        body["tools"] = [chat_tool(tool) for tool in request["tools"]]
    for ours, theirs in (
        ("temperature", "temperature"),
        ("maxTokens", "max_tokens"),
        ("stop", "stop"),
    ):
        if ours in request:
            body[theirs] = request[ours]
    return body


def chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool in a chat-completions body."""
    fields = {key: tool[key] for key in ("name", "description", "parameters") if key in tool}
    return {"type": "function", "function": fields}


def transcript(content: Any) -> str:
    """A content list in a compaction's transcript."""
    lines = []
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        kind = block.get("type", "undefined")
        if kind == "text":
            lines.append(block.get("text") or "")
        elif kind == "reasoning":
            lines.append(f"[reasoning: {block['text']}]" if block.get("text") else "")
        elif kind == "tool-call":
            name, arguments = (block.get(key, "undefined") for key in ("name", "arguments"))
            lines.append(f"[tool-call: {name}({arguments})]")
        elif kind == "tool-result":
            inner = transcript(block.get("content"))
            lines.append(f"[tool-result: {inner}]" if inner else "[tool-result]")
        else:
            lines.append(f"[{kind}]")
    return "\n".join(line for line in lines if line)


# ---- documented shapes ------------------------------------------------------------------------


def openai_faults(body: dict[str, Any]) -> list[str]:
    """What in a body breaks the documented shape of OpenAI's chat completions."""
    known = {"model", "messages", "tools", "temperature", "max_completion_tokens", "stop"}
    faults = [f"unknown key {key}" for key in body if key not in known]
    for message in body["messages"]:
        faults += _openai_message(message)
    for tool in body.get("tools", ["absent"]):
        if tool != "absent":
            fields = tool["function"]
            if tool["type"] != "function" or set(fields) - {"name", "description", "parameters"}:
                faults.append("tool")
            if not isinstance(fields["name"], str):
                faults.append("tool name")
    if body.get("tools") == []:
        faults.append("no tools are absent, not empty")
    if not 1 <= len(body.get("stop", "x")) <= 4:
        faults.append("stop")
    return faults


def _openai_message(message: dict[str, Any]) -> list[str]:
    role, content = message["role"], message["content"]
    keys = {
        "system": {"role", "content"},
        "user": {"role", "content"},
        "tool": {"role", "content", "tool_call_id"},
        "assistant": {"role", "content", "tool_calls"},
    }[role]
    faults = [f"unknown key {key} of {role}" for key in message if key not in keys]
    if not (isinstance(content, str) or (content is None and message.get("tool_calls"))):
        faults.append(f"content of {role}")
    if role == "tool" and not isinstance(message["tool_call_id"], str):
        faults.append("tool_call_id")
    for call in message.get("tool_calls", ()):
        function = call["function"]
        if set(call) != {"id", "type", "function"} or set(function) != {"name", "arguments"}:
            faults.append("call")
        if not all(isinstance(text, str) for text in (call["id"], *function.values())):
            faults.append("call")
    return faults


def anthropic_faults(body: dict[str, Any]) -> list[str]:
    """What in a body breaks the documented shape of Anthropic's messages."""
    known = {"model", "max_tokens", "system", "messages", "tools", "temperature"}
    faults = [f"unknown key {key}" for key in body if key not in known | {"stop_sequences"}]
    if not (type(body["max_tokens"]) is int and body["max_tokens"] >= 1):
        faults.append("max_tokens")
    roles = [message["role"] for message in body["messages"]]
    if any(one == other for one, other in pairwise(roles)):
        faults.append("roles do not alternate")
    for message in body["messages"]:
        kinds = [part["type"] for part in message["content"]]
        if not kinds:
            faults.append("an empty message")
        if kinds != sorted(kinds, key=lambda kind: kind != "tool_result"):
            faults.append("results are not first")
        for part in message["content"]:
            faults += _anthropic_part(message["role"], part)
    for tool in body.get("tools", ()):
        if set(tool) - {"name", "description", "input_schema"}:
            faults.append("tool")
        if tool["input_schema"].get("type") != "object":
            faults.append("input_schema")
    if not 0 <= body.get("temperature", 0) <= 1:
        faults.append("temperature")
    return faults


def _anthropic_part(role: str, part: dict[str, Any]) -> list[str]:
    kind = part["type"]
    if kind == "text":
        return [] if set(part) == {"type", "text"} and part["text"].strip() else ["text"]
    if kind == "tool_use" and role == "assistant":
        keys = set(part) == {"type", "id", "name", "input"}
        return [] if keys and isinstance(part["input"], dict) else ["tool_use"]
    if kind == "tool_result" and role == "user":
        inner = part.get("content", [{"type": "text", "text": "x"}])
        sound = all(_anthropic_part("user", one) == [] and one["type"] == "text" for one in inner)
        return [] if sound and isinstance(part["tool_use_id"], str) else ["tool_result"]
    return [f"{kind} in a message of {role}"]


def dumped(value: Any) -> str:
    """A value's text, key order included, to compare by."""
    return json.dumps(value)
