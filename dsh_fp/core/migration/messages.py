"""Where messages stand in the payloads of the released generations, and how to change them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object

Change = Callable[[JsonObject], JsonObject]
ChangeSource = Callable[[JsonObject, AnyJson], JsonObject]
"""What stands for a message's source, given the source and the message's role."""

_RECORDS: Final = frozenset({"assistant/message", "system/message", "tool/result"})


def with_messages(type: str, data: AnyJson, change: Change) -> AnyJson:
    """A payload with each message in it changed: its own, or those put into a queue."""
    if not isinstance(data, JsonObject):
        return data
    if type == "user/message":
        return change(data)
    if type in _RECORDS and isinstance(data.get("message"), JsonObject):
        return json_object({**data, "message": change(data["message"])})
    if type == "agent/inbox/spliced" and isinstance(data.get("inserted"), JsonArray):
        queued = [change(m) if isinstance(m, JsonObject) else m for m in data["inserted"]]
        return json_object({**data, "inserted": json_array(queued)})
    return data


def with_sources(type: str, data: AnyJson, change: ChangeSource) -> AnyJson:
    """A payload with the source of each message in it changed."""

    def changed(message: JsonObject) -> JsonObject:
        source = message.get("source")
        if not isinstance(source, JsonObject):
            return message
        return json_object({**message, "source": change(source, message.get("role"))})

    return with_messages(type, data, changed)
