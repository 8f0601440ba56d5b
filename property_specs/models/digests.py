"""Digests by their definition alone: every text written out, every list hashed from its start."""

from __future__ import annotations

import hashlib
from typing import Any

from property_specs.models.json_values import write

ENVELOPE = ("type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp")


def digest(kind: str, content: bytes) -> bytes:
    """SHA-256 of a zero byte, the rules, the kind, a line feed and the content."""
    return hashlib.sha256(b"\x00" + f"dsh_fp/1 {kind}\n".encode() + content).digest()


def event_digest(event: dict[str, Any]) -> str:
    """The digest of a plain event."""
    ordered = {key: event[key] for key in ENVELOPE if key in event}
    return digest("event", write(ordered).encode()).hex()


def request_digests(request: dict[str, Any]) -> dict[str, str]:
    """The digests of a plain request, nothing shared with any other."""
    chain = digest("messages", b"")
    for message in request["messages"]:
        chain = digest("messages", chain + digest("message", write(message).encode()))
    parts = {key: value for key, value in request.items() if key != "messages"}
    header = digest("header", write(parts).encode())
    whole = digest("request", header + chain)
    return {"header": header.hex(), "messages": chain.hex(), "request": whole.hex()}
