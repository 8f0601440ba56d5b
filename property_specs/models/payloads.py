"""The shapes of the payloads of known types, as a writer that wants strictness sees them."""

from __future__ import annotations

from typing import Any


def _number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return value is True or value is False


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _blocks(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in value
    )


def _kinded(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("kind"), str)


STEP = {"turn": _number, "step": _number}
SAID = {"content": _blocks, "source": _kinded}
REQUIRED: dict[str, dict[str, Any]] = {
    "turn/start": {"turn": _number, "trigger": _kinded},
    "turn/end": {"turn": _number, "reason": _kinded},
    "step/start": STEP,
    "step/end": STEP,
    "user/message": SAID,
    "context/message": SAID,
    "steering/message": {"turn": _number, **SAID},
    "prompt/blocked": {**SAID, "reason": _text},
    "assistant/chunk": {**STEP, "chunk": _object},
    "assistant/message": {**STEP, "content": _blocks},
    "tool/call": {**STEP, "callId": _text, "name": _text, "arguments": _text},
    "tool/result": {**STEP, "callId": _text, "content": _blocks, "isError": _flag},
    "todo/write": {"todos": _list},
    "request/header": {"header": _object, "reason": _text},
    "compact/start": {"turn": _number},
    "compact/summary": {"shadowedRange": _object, "shadowedSeqs": _list},
    "compact/end": {"turn": _number},
}
OPTIONAL: dict[str, dict[str, Any]] = {
    "assistant/message": {"usage": _object},
    "tool/result": {"error": _object},
}


def has_its_shape(event: dict[str, Any]) -> bool:
    """Whether the payload of an event has the shape of its type; unknown types have none."""
    required = REQUIRED.get(event["type"], {})
    data = event["data"]
    if required and not isinstance(data, dict):
        return False
    optional = OPTIONAL.get(event["type"], {})
    return all(key in data and fits(data[key]) for key, fits in required.items()) and all(
        key not in data or fits(data[key]) for key, fits in optional.items()
    )
