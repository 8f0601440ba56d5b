"""The events that close an interrupted turn, from a walk over a plain list."""

from __future__ import annotations

from typing import Any

TEXT = "Tool call interrupted by a crash; no result was recorded."


def closers_of(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What to append to a log cut short; nothing when its last turn is closed."""
    starts = [place for place, event in enumerate(log) if event["type"] == "turn/start"]
    ends = [place for place, event in enumerate(log) if event["type"] == "turn/end"]
    if not starts or (ends and ends[-1] > starts[-1]):
        return []
    turn = log[starts[-1]]["data"]["turn"]
    step: Any = None
    pending: list[dict[str, Any]] = []
    for event in log[starts[-1] :]:
        step, pending = _walk(event, step, pending)
    made: list[dict[str, Any]] = [_result(turn, asked) for asked in pending]
    if step is not None:
        made.append({"type": "step/end", "data": {"turn": turn, "step": step}})
    reason = {"kind": "interrupted"}
    made.append({"type": "turn/end", "data": {"turn": turn, "reason": reason}})
    return [_placed(event, log[-1], place) for place, event in enumerate(made)]


def _walk(
    event: dict[str, Any], step: Any, pending: list[dict[str, Any]]
) -> tuple[Any, list[dict[str, Any]]]:
    kind, data = event["type"], event["data"]
    if kind == "step/start":
        return data["step"], pending
    if kind == "step/end":
        return None, []
    if kind == "assistant/message":
        for block in data["content"]:
            if block["type"] == "tool-call":
                pending = _asked(pending, {"id": block["id"], "step": data["step"]})
    if kind == "tool/call":
        called = {"call": event["seq"]}
        pending = [asked | called if asked["id"] == data["callId"] else asked for asked in pending]
    if kind == "tool/result":
        pending = [asked for asked in pending if asked["id"] != data["callId"]]
    return step, pending


def _asked(pending: list[dict[str, Any]], new: dict[str, Any]) -> list[dict[str, Any]]:
    if any(asked["id"] == new["id"] for asked in pending):
        return [new if asked["id"] == new["id"] else asked for asked in pending]
    return [*pending, new]


def _result(turn: Any, asked: dict[str, Any]) -> dict[str, Any]:
    data = {
        "turn": turn,
        "step": asked["step"],
        "callId": asked["id"],
        "content": [{"type": "text", "text": TEXT}],
        "isError": True,
        "error": {"name": "InterruptedError", "code": "interrupted"},
    }
    event = {"type": "tool/result", "data": data, "surfaceOp": "append"}
    return event | {"sourceEventSeqs": [asked["call"]]} if "call" in asked else event


def _placed(event: dict[str, Any], last: dict[str, Any], place: int) -> dict[str, Any]:
    # The order of an envelope that repair makes: surfaceOp before sourceEventSeqs.
    keys = ("surfaceOp", "sourceEventSeqs")
    made = {"type": event["type"], "seq": last["seq"] + 1 + place, "time": last["time"]}
    return made | {"data": event["data"]} | {key: event[key] for key in keys if key in event}
