"""What each digest is taken of: one function a kind of content, and the tag before it.

A digest is SHA-256 over a byte 0, the tag of its kind, and the content. So no text of one kind
can pass for another, and a digest is at once the leaf hash of RFC 6962 that Merkle trees
are built on. What is digested is always the text of a value, never the spelling it was read in.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from dsh_fp.core.events import HEADER_KEYS, Event, SessionHeader
from dsh_fp.core.lossless import Json, JsonObject, text_of

RULES: Final = "dsh_fp/1"
"""The version of these rules: it stands in every digest, so another version shares none."""

LATER_HEADER_KEYS: Final = ("isSeeded", "origin", "delegationDepth", "agentPreset")
"""The fields of a session header that July's lacks, in the order that digests take."""


def digest(kind: str, content: bytes) -> bytes:
    """The 32 bytes of a digest: SHA-256 of `00`, the rules, the kind, a line feed, the content.

    Source:  docs/reference/digests.md.
    """
    return sha256(tag(kind) + content).digest()


def tag(kind: str) -> bytes:
    """What stands before the content of a kind when it is digested."""
    return f"\0{RULES} {kind}\n".encode()


_MESSAGE: Final = tag("message")
_MESSAGES: Final = tag("messages")


def event_digest(event: Event) -> bytes:
    """The digest of an event: of its text with the envelope's keys in their fixed order."""
    return digest("event", event.fixed_text().encode())


def session_digest(header: SessionHeader) -> bytes:
    """The digest of a session header: of the text of its wire form, its keys in one order."""
    wire = header.to_wire()
    ordered = {key: wire[key] for key in (*HEADER_KEYS, *LATER_HEADER_KEYS) if key in wire}
    return digest("session", text_of(ordered).encode())


def message_digest(message: Json) -> bytes:
    """The digest of one message: of its text."""
    return sha256(_MESSAGE + text_of(message).encode()).digest()


EMPTY_CHAIN: Final = digest("messages", b"")
"""The digest of no messages."""


def chained(chain: bytes, message: bytes) -> bytes:
    """The digest of a list of messages with one more, given both digests.

    A list's digest is that of the list without its last message, chained with that message's,
    so a list that has grown is digested at the price of what is new.
    """
    return sha256(_MESSAGES + chain + message).digest()


def header_digest(parts: JsonObject) -> bytes:
    """The digest of a request without its messages.

    Shapes:  model, options, system and tools, as `PastRequest.request` orders them.
    """
    return digest("header", text_of(parts).encode())


def request_digest(header: bytes, messages: bytes) -> bytes:
    """The digest of a whole request, of the digests of its two halves."""
    return digest("request", header + messages)
