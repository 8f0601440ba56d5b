"""Every text of a log, streams joined, by the plainest walk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def texts_in(value: Any) -> Iterator[str]:
    """The texts and the keys of a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from texts_in(each)


def skeleton(log: list[dict[str, Any]]) -> list[Any]:
    """What redaction may not touch: envelopes, and the shape of payloads without any text."""
    return [[{**event, "data": None}, shape(event["data"])] for event in log]


def shape(value: Any) -> Any:
    """A value without its texts, keys included."""
    if isinstance(value, list):
        return [shape(each) for each in value]
    if isinstance(value, dict):
        return [shape(each) for each in value.values()]
    return "text" if isinstance(value, str) else value
