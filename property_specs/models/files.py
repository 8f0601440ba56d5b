"""A log file line by line, each decoded by the slow reader: what is kept, where damage begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from property_specs.models.acceptance import Book
from property_specs.models.json_texts import NoJson, read
from property_specs.models.json_values import Lossy, settle

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Kept:
    """The preserved prefix of a file: its events as read, and the bytes it takes."""

    header: dict[str, Any]
    events: list[Any]
    good_bytes: int
    torn: bool


def decoded(line: bytes) -> Any:
    """The value of a line, or NoJson; bad bytes read as U+FFFD."""
    return read(line.decode("utf-8", "replace"))


def scan(content: bytes) -> Kept | str:
    """The preserved prefix by lines and seqs alone, or the code of why there is none."""
    header_line, ended, rest = content.partition(b"\n")
    header = _header(header_line) if ended else None
    if header is None:
        return "LOG_HEADER_INVALID"
    lines = rest.split(b"\n")
    fragment = lines.pop()
    values = [_object_or_none(line) for line in lines]
    kept = 0
    while kept < len(values) and _has_seq(values[kept], kept):
        kept += 1
    if any(value is not None and value.get("type") == "turn/end" for value in values[kept:]):
        return "LOG_CORRUPT"
    good = len(header_line) + 1 + sum(len(line) + 1 for line in lines[:kept])
    torn = kept < len(values) or fragment != b""
    return Kept(header, values[:kept], good, torn)


def _header(line: bytes) -> dict[str, Any] | None:
    header = _object_or_none(line)
    sound = (
        not line.startswith(BOM)
        and header is not None
        and header.get("type") == "session"
        and type(header.get("version")) is float
        and isinstance(header.get("id"), str)
        and type(header.get("createdAt")) is float
    )
    return header if sound else None


def _object_or_none(line: bytes) -> dict[str, Any] | None:
    try:
        value = decoded(line)
    except NoJson:
        return None
    return value if isinstance(value, dict) else None


def _has_seq(value: dict[str, Any] | None, seq: int) -> bool:
    return value is not None and type(value.get("seq")) is float and value["seq"] == seq


def read_file(content: bytes) -> tuple[Book, Kept] | str:
    """What reading a whole file comes to: the accepted book, or the code of the refusal."""
    header_line, ended, _ = content.partition(b"\n")
    header = _header(header_line) if ended else None
    if header is None:
        return "LOG_HEADER_INVALID"
    if header["version"] != 0:
        return "VERSION_UNSUPPORTED"
    kept = scan(content)
    if isinstance(kept, str):
        return kept
    book = Book()
    for event in kept.events:
        code = book.fault(event)
        if code is not None:
            return code
        book.take(settle(event))
    return header_fault(kept.header) or (book, kept)


KNOWN_FIELDS = ("version", "id", "createdAt", "cwd", "parentSession", "seedLength")


def header_fault(header: dict[str, Any]) -> str | None:
    """What is wrong with the known fields of a session header; the others do not count."""
    try:
        found = settle({key: header[key] for key in KNOWN_FIELDS if key in header})
    except Lossy:
        return "NOT_JSON"
    number = type(found.get("createdAt")) in (int, float)
    seed = found.get("seedLength", 0)
    sound = (
        (type(found.get("version", 0)) is int and found.get("version", 0) == 0)
        and isinstance(found.get("id", ""), str)
        and (number or found.get("createdAt") is None)
        and isinstance(found.get("cwd", "/"), str)
        and found.get("cwd", "/").startswith("/")
        and isinstance(found.get("parentSession", ""), str)
        and (type(seed) is int and 0 <= seed <= 2**53 - 1)
    )
    return None if sound else "META_INVALID"
