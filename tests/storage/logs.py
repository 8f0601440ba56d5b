"""Log files as bytes, for examples: a header line, then one event a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from dsh_fp import LogFile, Rejection, read

HEADER: Final = b'{"type":"session","version":0,"id":"s-1","createdAt":1700}\n'


def line(wire: Any) -> bytes:
    """One line as the format's writers write it, its LF included."""
    text = json.dumps(wire, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def log(*events: Any, header: bytes = HEADER) -> bytes:
    """A log file of wire objects; what is given as bytes goes in as it is."""
    return header + b"".join(event if isinstance(event, bytes) else line(event) for event in events)


def header_with(**fields: Any) -> bytes:
    """A header line with these fields changed; a field given as Ellipsis is left out."""
    wire = {"type": "session", "version": 0, "id": "s-1", "createdAt": 1700, **fields}
    return line({key: value for key, value in wire.items() if value is not ...})


def opened(content: bytes) -> LogFile:
    """The log of bytes that can be read."""
    return read(content).unwrap()


def refusal(content: bytes) -> Rejection:
    """Why bytes cannot be read as a log; raises when they can."""
    return read(content).failure()


def codes(found: Iterable[Rejection]) -> list[str]:
    """The codes of findings, in their order."""
    return [finding.code.value for finding in found]
