"""Zstandard files as the runtimes write them: a walk over frames, and what each one holds.

A compressed log is a plain concatenation of independent frames. Where each begins and ends is
told by structure alone, so a damaged file is cut where its runtime would cut it, and nothing is
decompressed before it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final

import attrs

MAGIC: Final = b"\x28\xb5\x2f\xfd"
BLOCK_LIMIT: Final = 128 * 1024
"""No block holds more, so a frame of n blocks holds at most n times as much."""

_SKIPPABLE: Final = range(0x184D2A50, 0x184D2A60)
_RLE: Final = 1
_RESERVED: Final = 3


@attrs.frozen
class Frame:
    """One frame of a file, whole or cut by the end of the file.

    `blocks_end` is where the last block that is whole ends.

    Units:   start, end and blocks_end are byte offsets in the file.
    """

    start: int
    end: int
    blocks_end: int
    blocks: int
    checksum: bool
    is_whole: bool


@attrs.frozen
class FrameFault:
    """Where the walk met bytes that are no frame, and what they are instead."""

    start: int
    what: str


def walk(content: bytes | memoryview) -> tuple[tuple[Frame, ...], FrameFault | None]:
    """The frames of a file in order, and what ended the walk before the end of the file.

    The last frame may be cut (`is_whole` is False). O(number of blocks).

    Law:     frames_are_found_wherever_a_file_is_cut.
    Source:  RFC 8878, section 3.1.1.
    """
    frames: list[Frame] = []
    for found in each_frame(memoryview(content)):
        if isinstance(found, FrameFault):
            return tuple(frames), found
        frames.append(found)
    return tuple(frames), None


def each_frame(view: memoryview) -> Iterator[Frame | FrameFault]:
    """The frames of a file one by one; a fault is the last thing told."""
    start = 0
    while start < len(view):
        found = _frame_at(view, start)
        yield found
        if isinstance(found, FrameFault):
            return
        start = found.end


def _frame_at(view: memoryview, start: int) -> Frame | FrameFault:
    magic = bytes(view[start : start + 4])
    if magic != MAGIC and not MAGIC.startswith(magic):
        number = int.from_bytes(magic, "little")
        is_skippable = len(magic) == len(MAGIC) and number in _SKIPPABLE
        what = "a skippable frame, which logs never have" if is_skippable else _NO_FRAME
        return FrameFault(start, what)
    size = len(view)
    place = start + 5
    blocks, blocks_end, checksum = 0, start, False
    if place <= size:
        descriptor = view[start + 4]
        if descriptor & 0b0001_1000:
            return FrameFault(start, "a frame of an unknown kind")
        checksum = bool(descriptor & 0b100)
        place += _HEADER_BYTES[descriptor]
        is_last = 0
        while not is_last and place + 3 <= size:
            header = view[place] | view[place + 1] << 8 | view[place + 2] << 16
            is_last, kind, length = header & 1, header >> 1 & 3, header >> 3
            if kind == _RESERVED or length > BLOCK_LIMIT:
                return FrameFault(start, "a frame with a block of an unknown kind")
            place += 3 + (1 if kind == _RLE else length)
            if place > size:
                is_last = 0
                break
            blocks, blocks_end = blocks + 1, place
        end = place + (4 if checksum else 0)
        if is_last and end <= size:
            return Frame(start, end, blocks_end, blocks, checksum, True)
    return Frame(start, size, blocks_end, blocks, checksum, False)


def _header_bytes(descriptor: int) -> int:
    """How many bytes of a frame's header come behind its descriptor."""
    is_single = bool(descriptor & 0b0010_0000)
    window = 0 if is_single else 1
    dictionary = (0, 1, 2, 4)[descriptor & 0b11]
    flag = descriptor >> 6
    content_size = (1 if is_single else 0, 2, 4, 8)[flag]
    return window + dictionary + content_size


_HEADER_BYTES: Final = tuple(map(_header_bytes, range(256)))
_NO_FRAME: Final = "no frame begins there"


class Unreadable(Exception):
    """A frame that cannot be decompressed; says why."""


class TooLarge(Exception):
    """A frame that holds more than was allowed."""


def content_of(view: memoryview, frame: Frame, limit: int) -> bytes:
    """What a frame holds: of a cut one what its whole blocks hold.

    Errors:  Unreadable for damaged bytes or a checksum that does not fit; TooLarge beyond
             `limit` bytes.
    """
    return b"".join(pieces_of(view, frame, limit))


def whole_of(view: memoryview, frame: Frame, limit: int) -> bytes | None:
    """What a whole small frame holds, in one go; None where `pieces_of` has to be asked."""
    if frame.blocks > _BLOCKS_IN_ONE_GO or limit < _PIECE:
        return None
    decompressor = _zstd().ZstdDecompressor()
    try:
        content: bytes = decompressor.decompress(view[frame.start : frame.end])
    except _zstd().ZstdError:
        return None
    return content if decompressor.eof else None


_BLOCKS_IN_ONE_GO: Final = 8  # at most a mebibyte


def pieces_of(view: memoryview, frame: Frame, limit: int) -> Iterator[bytes]:
    """`content_of` in pieces of at most one mebibyte.

    The window that a frame asks for is allocated at once: the library allows 128 MiB.
    """
    zstd = _zstd()
    decompressor = zstd.ZstdDecompressor()
    stop = frame.end if frame.is_whole else frame.blocks_end
    rest = view[frame.start : stop]
    taken = 0
    try:
        while True:
            piece = decompressor.decompress(rest, min(_PIECE, limit - taken + 1))
            taken += len(piece)
            if taken > limit:
                raise TooLarge
            if piece:
                yield piece
            if decompressor.eof:
                return
            if not piece and decompressor.needs_input:
                break
            rest = _NOTHING
    except zstd.ZstdError as fault:
        raise Unreadable(str(fault)) from fault
    if frame.is_whole:
        raise Unreadable("it ends too early")


_PIECE: Final = 1 << 20
_NOTHING: Final = memoryview(b"")


@cache
def _zstd() -> Any:  # noqa: ANN401  # one of two modules, neither always there
    """The module that decompresses, imported when a compressed file is met."""
    try:
        return import_module("compression.zstd")  # from Python 3.14 on
    except ImportError:
        return import_module("backports.zstd")


def compressed(content: bytes, *, checksum: bool = True) -> bytes:
    """One frame that holds these bytes, by default with a checksum as the runtimes write it."""
    zstd = _zstd()
    flag = zstd.CompressionParameter.checksum_flag
    framed: bytes = zstd.compress(content, options={flag: int(checksum)})
    return framed
