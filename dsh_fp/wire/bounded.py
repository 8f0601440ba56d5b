"""Bytes of strangers: unpacked where they are compressed, and never more than is allowed."""

from __future__ import annotations

import gzip
import zlib
from typing import Any, Final, Protocol

import attrs

MAX_BODY: Final = 2**28
"""How many bytes one line, or a file that is one JSON document, may have."""

MAX_UNPACKED: Final = 2**32
"""How many bytes may come out of one compressed file."""

DAMAGED: Final = (EOFError, zlib.error, gzip.BadGzipFile)
"""What reading compressed bytes raises that are damaged or cut short."""

_BOM: Final = b"\xef\xbb\xbf"
_GZIP: Final = b"\x1f\x8b"
_PIECE: Final = 2**16
_LEAST_OF_A_LINE: Final = 2**8


class Readable(Protocol):
    """What is asked of a binary stream."""

    def read(self, size: int, /) -> bytes:
        """Some of the next bytes, at most so many; none only at the end."""
        ...

    def readline(self, size: int, /) -> bytes:
        """The bytes up to a line end, at most so many."""
        ...


MAX_CAPTURES: Final = 2**18
"""How many captured requests are read, the unreadable ones counted."""

MAX_VALUES: Final = 2**20
"""How many values one body may have: members of objects and arrays at any depth, and itself."""

IN_ONE_PIECE: Final = "bytes in one piece"
VALUES: Final = "values in one body"
VALUES_OF_MANY: Final = "values in one list or HAR document"


@attrs.frozen
class Limits:
    """How much is read: bytes of one line or document, bytes out of one compressed file, captures.

    Units:   a line counts as a few hundred bytes at least, as it costs as much; values are those
             of one body; a list or a HAR document may have 16 times as many.
    """

    body: int = MAX_BODY
    unpacked: int = MAX_UNPACKED
    captures: int = MAX_CAPTURES
    values: int = MAX_VALUES


LIMITS: Final = Limits()


class TooLarge(Exception):
    """More than is allowed; says how much is, and of what."""

    def __init__(self, limit: int, things: str) -> None:
        super().__init__(limit, things)
        self.limit = limit
        self.things = things


class PackedAgain(Exception):
    """What came out of compressed bytes is compressed itself."""


class BoundedBytes:
    """A stream of bytes, unpacked if need be, read in lines or whole within its limits.

    Errors:  TooLarge, PackedAgain, those of DAMAGED.
    """

    def __init__(self, stream: Readable, limits: Limits) -> None:
        head = _read_up_to(stream, len(_BOM))
        self.limits = limits
        self._left: int | None = None
        self._stream: Readable = _After(head, stream)
        if head.startswith(_GZIP):
            self._left = limits.unpacked
            packed: Any = self._stream  # it is only read from
            unpacked = gzip.GzipFile(fileobj=packed, mode="rb")
            head = _read_up_to(unpacked, len(_BOM))
            if head.startswith(_GZIP):
                raise PackedAgain
            self._stream = _After(head, unpacked)
        if head == _BOM:
            self._stream.read(len(_BOM))

    def line(self) -> bytes | None:
        """The next line with its end; empty at the end, None for one that is too long."""
        limit = self.limits.body
        line = self._stream.readline(limit + 1)
        self._took(max(len(line), _LEAST_OF_A_LINE))
        if len(line) <= limit:
            return line
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(_PIECE)
            self._took(len(line))
        return None

    def rest(self) -> bytes:
        """All that is left."""
        limit = self.limits.body
        pieces: list[bytes] = []
        size = 0
        while piece := self._stream.read(_PIECE):
            self._took(len(piece))
            size += len(piece)
            if size > limit:
                raise TooLarge(limit, IN_ONE_PIECE)
            pieces.append(piece)
        return b"".join(pieces)

    def _took(self, size: int) -> None:
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                raise TooLarge(self.limits.unpacked, "bytes unpacked")


def inflated(content: bytes, limit: int) -> bytes:
    """What comes out of bytes that HTTP calls `deflate`: with a head, as it is defined, or bare.

    Errors:  TooLarge, those of DAMAGED.
    """
    for window in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        unpacker = zlib.decompressobj(window)
        try:
            unpacked = unpacker.decompress(content, limit + 1)
        except zlib.error:
            continue
        if len(unpacked) > limit:
            raise TooLarge(limit, IN_ONE_PIECE)
        if unpacker.eof and not unpacker.unused_data:
            return unpacked
    raise EOFError


class _After:
    """A stream with some bytes put back before it."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self._head = head
        self._behind = stream

    def read(self, size: int, /) -> bytes:
        if not self._head:
            return self._behind.read(size)
        taken, self._head = self._head[:size], self._head[size:]
        return taken

    def readline(self, size: int, /) -> bytes:
        cut = self._head.find(b"\n") + 1 or len(self._head)
        taken, self._head = self._head[: min(cut, size)], self._head[min(cut, size) :]
        if self._head or taken.endswith(b"\n"):
            return taken
        return taken + self._behind.readline(size - len(taken))


def _read_up_to(stream: Readable, size: int) -> bytes:
    """So many bytes, fewer only at the end: a pipe gives what it has."""
    pieces = b""
    while len(pieces) < size:
        piece = stream.read(size - len(pieces))
        if not piece:
            break
        pieces += piece
    return pieces
