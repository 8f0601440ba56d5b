"""JSON text that comes line by line: whether a value is still open, done or broken by now.

A body may be spread over lines, and a line may be one that was cut. Which of the two it is shows
in what follows, long before all of it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

Standing = Literal["open", "closed", "broken"]
"""Of a value: brackets are open and all is well so far; it ended; this can be no JSON."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_TOKEN: Final = re.compile(
    _STRING + r"|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null|[\[\]{},:]"
)
_PARTS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},]', re.DOTALL)
_STRINGS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


class Spread:
    """One JSON value, fed piece by piece; no token goes over the end of a piece.

    Holds a byte for each open bracket and nothing else.

    Units:   position is how far it is understood, in characters of all the pieces.
    """

    def __init__(self) -> None:
        self.position = 0
        self._open = bytearray()
        # What may come next: v value, w value or ], k key or }, n key, c colon, e comma or end
        self._expect = "v"

    def feed(self, piece: str | bytes) -> Standing:
        """How the value stands behind a piece more. O(n) in its tokens, nothing is built."""
        try:
            text = piece.decode() if isinstance(piece, bytes) else piece
        except UnicodeDecodeError:
            return "broken"
        standing, position = self._fed(text)
        self.position += position
        return standing

    def _fed(self, text: str) -> tuple[Standing, int]:
        open_, expect, position = self._open, self._expect, 0
        while True:
            position = _SPACE.match(text, position).end()  # type: ignore[union-attr]  # may be empty
            if position == len(text):
                break
            found = _TOKEN.match(text, position)
            if found is None:
                return "broken", position
            first = text[position]
            position = found.end()
            if expect in "vw" and first in "[{":
                open_.append(ord(first))
                expect = "w" if first == "[" else "k"
            elif expect in "vw" and first not in "]},:":
                expect = "e"
            elif expect in "kn" and first == '"':
                expect = "c"
            elif expect == "c" and first == ":":
                expect = "v"
            elif expect == "e" and open_ and first == ",":
                expect = "v" if open_[-1] == ord("[") else "n"
            elif open_ and (
                (first == "]" and open_[-1] == ord("[") and expect in "we")
                or (first == "}" and open_[-1] == ord("{") and expect in "ke")
            ):
                open_.pop()
                expect = "e"
            else:
                return "broken", found.start()
        self._expect = expect
        return "open" if open_ or expect != "e" else "closed", position


def members(text: str) -> Iterator[str]:
    """The texts of the members of an array that is JSON."""
    depth, start = 0, text.index("[") + 1
    for part in _PARTS.finditer(text):
        first = text[part.start()]
        if first in "[{":
            depth += 1
        elif first in "]}":
            depth -= 1
        if (first == "," and depth == 1) or (first == "]" and depth == 0):
            member = text[start : part.start()].strip(" \t\r\n")
            if member:
                yield member
            start = part.end()


def most_values(text: str, enough: int) -> int:
    """How many values a JSON text may have at most; only right where that is more than enough.

    Cheap: strings are looked at only where there are many commas and brackets in all.
    """
    most = _marks(text)
    return most if most <= enough else _marks(_STRINGS.sub("", text))


def _marks(text: str) -> int:
    return 1 + text.count(",") + text.count("[") + text.count("{")
