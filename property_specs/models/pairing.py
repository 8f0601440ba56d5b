"""Where a surface may be cut, by counting calls and results before the cut."""

from __future__ import annotations

from typing import Any

from property_specs.models.acceptance import Book


def is_balanced(book: Book, before: int | None) -> bool | None:
    """Whether no call waits before a cut; None when a result stands there without its call."""
    nodes = book.surface
    if before is not None and before in nodes:
        nodes = nodes[: nodes.index(before)]
    counts = [_count(book.events[seq]) for seq in nodes]
    if any(sum(counts[: length + 1]) < 0 for length in range(len(counts))):
        return None
    return sum(counts) == 0


def _count(event: dict[str, Any]) -> int:
    if event["type"] == "tool/result":
        return -1
    data = event["data"]
    if event["type"] != "assistant/message" or not isinstance(data, dict):
        return 0
    content = data.get("content")
    blocks = content if isinstance(content, list) else []
    return len([b for b in blocks if isinstance(b, dict) and b.get("type") == "tool-call"])
