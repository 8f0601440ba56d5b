"""The model calls of a log, each cut out of it by looking for its end."""

from __future__ import annotations

from typing import Any

ENDS = ("step/start", "step/end", "turn/start", "turn/end")


def steps_of(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each step/start its seq, the chunks up to the step's end, and the message, if any."""
    return [step_at(log, event["seq"]) for event in log if event["type"] == "step/start"]


def step_at(log: list[dict[str, Any]], start: int) -> dict[str, Any]:
    """What came out of the step that starts at a seq."""
    stops = [event["seq"] for event in log[start + 1 :] if event["type"] in ENDS]
    inside = log[start + 1 : stops[0] if stops else len(log)]
    messages = [
        event["data"]
        for event in inside
        if event["type"] == "assistant/message" and event["surfaceOp"] == "append"
    ]
    chunks = [
        event["data"].get("chunk") if isinstance(event["data"], dict) else None
        for event in inside
        if event["type"] == "assistant/chunk"
    ]
    said = messages[0] if messages else None
    content = said.get("content") if isinstance(said, dict) else None
    return {
        "seq": start,
        "chunks": chunks,
        "message": content if isinstance(content, list) else None,
        "has_message": bool(messages),
    }
