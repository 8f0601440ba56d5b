"""The instruction at the end of a compaction's call, which no log holds."""

from __future__ import annotations

from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object

_SAID = json_object({"type": "text", "text": ""})


def instruction_of(body: JsonObject) -> str | None:
    """The text of a body's last message of a user, or of its last block; None for none."""
    last = _last(body)
    if isinstance(last, JsonObject) and last.get("role") == "user":
        content = last.get("content")
        if isinstance(content, JsonArray) and content:
            block = content[-1]
            is_text = isinstance(block, JsonObject) and block.get("type") == "text"
            content = block.get("text") if is_text else None
        if isinstance(content, str):
            return content
    return None


def without_instruction(body: JsonObject) -> JsonObject | None:
    """The body with an empty text in place of its instruction; None where it has none."""
    if instruction_of(body) is None:
        return None
    messages = body["messages"]
    last = messages[-1]
    content: AnyJson = ""
    if isinstance(last["content"], JsonArray):
        content = json_array((*last["content"][:-1], _SAID))
    asked = json_object({**last, "content": content})
    return json_object({**body, "messages": json_array((*messages[:-1], asked))})


def _last(body: JsonObject) -> AnyJson:
    messages = body.get("messages")
    return messages[-1] if isinstance(messages, JsonArray) and messages else None
