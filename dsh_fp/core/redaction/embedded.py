"""JSON text that stands inside a string, as the arguments of a call do: its texts and numbers.

What is found in one of them can be told in places of the whole, and changed there, so that the
whole stays JSON text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from dsh_fp.core.lossless import decode_plain
from dsh_fp.core.rejection import Code

_TOKEN: Final = re.compile(
    r'"(?P<text>[^"\\]*+(?:\\.[^"\\]*+)*+)"(?P<key>[ \t\r\n]*+:)?'
    r"|(?P<number>-?[0-9][0-9.eE+-]*+)"
)
_ESCAPE: Final = re.compile(
    r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u(?P<code>[0-9a-fA-F]{4})|\\(?P<short>.)"
)
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_OPENINGS: Final = ("{", "[", '"')
_WHITE: Final = " \t\r\n"
_BEGINNINGS: Final = frozenset((*_OPENINGS, *_WHITE))


@attrs.frozen
class Token:
    """A text or a number of a JSON text: where it stands there, and what it says.

    Of a text, `start` and `stop` leave out its quotes.

    Units:   characters, half-open.
    """

    start: int
    stop: int
    is_text: bool
    is_key: bool
    value: str
    _places: Sequence[int]  # where each character of the value begins in the whole, and the end

    def outward(self, start: int, stop: int) -> tuple[int, int]:
        """The span of the whole that a span of the value stands in."""
        return self._places[start], self._places[stop]

    def inward(self, start: int, stop: int) -> tuple[int, int]:
        """The span of the value that a span of the whole touches; an escape is taken whole."""
        first = bisect_right(self._places, max(start, self.start)) - 1
        return first, bisect_left(self._places, min(stop, self.stop))


def tokens_of(text: str) -> tuple[Token, ...] | None:
    """The texts (keys too) and numbers of a JSON text in order; None when it is none.

    An object, an array or a quoted text counts. A text that is a bare number or word reads as
    prose rather than as JSON.
    """
    if text[:1] not in _BEGINNINGS or not text.lstrip(_WHITE).startswith(_OPENINGS):
        return None
    _, fault = decode_plain(text)
    if fault is not None and fault.code is Code.JSON_SYNTAX:
        return None
    return tuple(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        group = "number" if match["text"] is None else "text"
        start, stop = match.span(group)
        if "\\" in match[group]:
            value, places = _decoded(text, start, stop)
        else:
            value, places = match[group], range(start, stop + 1)
        yield Token(start, stop, group == "text", match["key"] is not None, value, places)


def _decoded(text: str, start: int, stop: int) -> tuple[str, Sequence[int]]:
    """A text without its escapes, and where each character of it stands."""
    parts: list[str] = []
    places: list[int] = []
    at = start
    for escape in _ESCAPE.finditer(text, start, stop):
        parts.append(text[at : escape.start()])
        places.extend(range(at, escape.start()))
        parts.append(_unescaped(escape))
        places.append(escape.start())
        at = escape.end()
    parts.append(text[at:stop])
    places.extend(range(at, stop + 1))
    return "".join(parts), places


def _unescaped(escape: re.Match[str]) -> str:
    if escape["high"] is not None:
        high, low = int(escape["high"], 16) - 0xD800, int(escape["low"], 16) - 0xDC00
        return chr(0x10000 + (high << 10) + low)
    if escape["code"] is not None:
        return chr(int(escape["code"], 16))
    return _SHORT.get(escape["short"], escape["short"])
