"""Strangers' text made safe for a terminal, and measured in its columns.

A log may hold anything: escape sequences, text that runs backwards, characters that cannot
be seen. What is shown of it passes through here; what a program reads is JSON and keeps it all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import category, east_asian_width

_DOUBTFUL: Final = re.compile(r"[^\x20-\x7e]")
# JSON text has its C0 escaped; the line ends between documents are ours.
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7e]")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Letters and marks that show nothing, so that text could hide in them: Hangul fillers, a
# joiner, and variation selectors but the two that choose between text and picture.
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
)
TAB_COLUMNS: Final = 4


def one_line(text: str, limit: int | None = None) -> str:
    """Text for one line: line ends escaped too, cut at `limit` characters."""
    if limit is not None and len(text) > limit:
        text = text[:limit] + "..."
    return text if _is_seen(text) else _DOUBTFUL.sub(_shown, text)


def lines_of(text: str) -> Iterator[str]:
    r"""The lines of a text, each safe; only `\n` ends one, as in a log."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield one_line(text[start:end].expandtabs(TAB_COLUMNS))
        start = end + 1


def json_safe(text: str) -> str:
    r"""A JSON text of the same value in which all that cannot be seen is written `\uXXXX`."""
    return text if _is_seen(text) else _BEYOND_ASCII.sub(_json_escaped, text)


def columns(text: str) -> int:
    """How many columns a terminal gives to text that is safe already."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def wrapped(line: str, limit: int) -> Iterator[str]:
    """A safe line cut to `limit` columns at spaces, or inside a word that is longer."""
    limit = max(limit, 2)
    start = 0
    while True:
        end, fits = _reach(line, start, limit)
        if fits:
            yield line[start:]
            return
        space = line.rfind(" ", start, end + 1)
        if space > start and line[start:space].strip():
            yield line[start:space].rstrip()
            start = space + 1
        else:
            yield line[start:end]
            start = end


def clipped(line: str, limit: int) -> str:
    """A safe line cut to `limit` columns, the cut marked."""
    if columns(line) <= limit:
        return line
    end, _ = _reach(line, 0, max(limit - 3, 0))
    return line[:end] + "..."


def padded(text: str, width: int) -> str:
    """A safe text filled with spaces to `width` columns."""
    return text + " " * (width - columns(text))


def _is_seen(text: str) -> bool:
    """Whether nothing in a text needs escaping: true of most, and quickly told."""
    return text.isprintable() and (text.isascii() or not _UNSEEN.search(text))


def _reach(line: str, start: int, limit: int) -> tuple[int, bool]:
    """The place up to which a line fits into `limit` columns, and whether that is its end."""
    part = line[start : start + limit + 1]
    if part.isascii():
        return (start + limit, False) if len(part) > limit else (len(line), True)
    taken = 0
    for place in range(start, len(line)):
        taken += _columns_of(line[place])
        if taken > limit:
            return place, False
    return len(line), True


def _columns_of(character: str) -> int:
    if character < "\u0300":
        return 1
    if east_asian_width(character) in "WF":
        return 2
    return 0 if category(character) in ("Mn", "Me") else 1


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    if _is_seen(character):
        return character
    if category(character) == "Zs":  # a space of another width is a space
        return " " * _columns_of(character)
    if character <= "\xff":
        return _SHORT.get(character, f"\\x{ord(character):02x}")
    return f"\\u{ord(character):04x}" if character <= "\uffff" else f"\\U{ord(character):08x}"


def _json_escaped(match: re.Match[str]) -> str:
    character = match[0]
    if _is_seen(character):
        return character
    if character <= "\uffff":
        return f"\\u{ord(character):04x}"
    high, low = divmod(ord(character) - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
