"""Stream chunks to blocks: collect each index's chunks, then look at each pile by itself."""

from __future__ import annotations

from typing import Any

from property_specs.models.json_values import joined

KINDS = {"text-delta": "text", "reasoning-delta": "reasoning", "tool-call-delta": "tool-call"}
KNOWN = ("block-start", *KINDS, "block-end", "usage", "finish")


class Incomplete(Exception):
    """An open block of a type that deltas cannot complete."""


def first_unknown(chunks: list[dict[str, Any]]) -> int | None:
    """The index of the first chunk of a type that is none of the format's."""
    return next((i for i, chunk in enumerate(chunks) if chunk["type"] not in KNOWN), None)


def piles_of(chunks: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The chunks of each block index, in order of first sight."""
    piles: dict[Any, list[dict[str, Any]]] = {}
    for chunk in chunks:
        if "index" in chunk:
            piles.setdefault(chunk["index"], []).append(chunk)
    return list(piles.values())


def block_of(pile: list[dict[str, Any]]) -> dict[str, Any]:
    """The block of one pile; raises Incomplete."""
    ends: list[dict[str, Any]] = [c["block"] for c in pile if c["type"] == "block-end"]
    if ends:
        return ends[0]
    kind = pile[0]["blockType"] if pile[0]["type"] == "block-start" else KINDS[pile[0]["type"]]
    deltas = [chunk for chunk in pile if chunk["type"] == "tool-call-delta"]
    if kind == "tool-call":
        names = [delta["name"] for delta in deltas if delta.get("name")]
        return {
            "type": "tool-call",
            "id": deltas[-1]["id"] if deltas else f"call-{pile[0]['index']}",
            "name": names[-1] if names else "",
            "arguments": joined("".join(delta["argumentsDelta"] for delta in deltas)),
        }
    if kind not in KINDS.values():
        raise Incomplete
    texts = [c["text"] for c in pile if c["type"] in ("text-delta", "reasoning-delta")]
    return {"type": kind, "text": joined("".join(texts))}


def blocks_of(chunks: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The blocks of a stream, or None when one cannot be completed."""
    try:
        return [block_of(pile) for pile in piles_of(chunks)]
    except Incomplete:
        return None


def emitted_at(chunks: list[dict[str, Any]], place: int) -> dict[str, Any] | None:
    """The block that the chunk at a place finishes, if it is the first to close its index."""
    chunk = chunks[place]
    if chunk["type"] != "block-end":
        return None
    before = [c for c in chunks[:place] if c["type"] == "block-end"]
    closed = any(c["index"] == chunk["index"] for c in before)
    block: dict[str, Any] = chunk["block"]
    return None if closed else block


def last_of(chunks: list[dict[str, Any]], kind: str, key: str, default: Any) -> Any:
    """The field of the last chunk of a kind."""
    return next((c[key] for c in reversed(chunks) if c["type"] == kind), default)
