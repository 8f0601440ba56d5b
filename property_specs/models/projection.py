"""Event to message, and the messages of a surface: a table read aloud."""

from __future__ import annotations

from typing import Any

from property_specs.models.acceptance import Book
from property_specs.models.json_values import write


class NoMessage(Exception):
    """The payload of a surface event lacks what its message needs; holds its seq."""


def message_of(event: dict[str, Any]) -> dict[str, Any] | None:
    """The message of one event, None for none; raises NoMessage for a payload of no use."""
    data = event["data"]
    if not isinstance(data, dict) or not isinstance(data.get("content"), list):
        raise NoMessage(event["seq"])
    content = data["content"]
    if event["type"] == "user/message":
        return {"role": "user", "content": content}
    if event["type"] == "assistant/message":
        return {"role": "assistant", "content": content} if content else None
    if event["type"] == "tool/result":
        if "callId" not in data:
            raise NoMessage(event["seq"])
        block = {"type": "tool-result", "toolCallId": data["callId"], "content": content}
        if "isError" in data:
            block["isError"] = data["isError"]
        return {"role": "user", "content": [block]}
    source = data.get("source")
    if not isinstance(source, dict):
        raise NoMessage(event["seq"])
    tag = event["type"].split("/")[0]
    kind = write(source["kind"]) if "kind" in source else "undefined"
    opening = {"type": "text", "text": f"<{tag} source={kind}>"}
    closing = {"type": "text", "text": f"</{tag}>"}
    return {"role": "user", "content": [opening, *content, closing]}


def messages_of(book: Book) -> list[dict[str, Any]] | int:
    """The messages of a book's surface, or the seq of the first node that makes none."""
    messages = []
    for seq in book.surface:
        try:
            message = message_of(book.events[seq])
        except NoMessage:
            return seq
        if message is not None:
            messages.append(message)
    return messages
