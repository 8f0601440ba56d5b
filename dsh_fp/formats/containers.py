"""The lines of a file, out of whatever contains them: plain text or zstd frames.

Both answer the same `Text`: which lines are kept, what is wrong behind them, and where in the
file each line stands. The same damage is judged more strictly inside whole frames, for every
whole frame was one finished write.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Any, Final

import attrs

from dsh_fp.core.rejection import (
    Code,
    Rejection,
    frame_corrupt,
    line_in_frame_corrupt,
    log_corrupt,
    log_header_invalid,
    log_too_large,
    torn_tail,
)
from dsh_fp.formats.frames import (
    Frame,
    FrameFault,
    TooLarge,
    Unreadable,
    each_frame,
    pieces_of,
    whole_of,
)
from dsh_fp.storage.jsonl import FirstLine, facts_of, header_line_fields, scan_below
from dsh_fp.storage.lines import PIECE_BYTES, LineForm, Reading, Scan

_LONGEST_HEADER: Final = 1 << 24


@attrs.frozen(eq=False)
class Text:
    """What the lines of a file amount to, and where they stand in the file.

    `frames` are those of a compressed file, a cut last one included; `recovered` counts the
    lines that only a cut frame holds.

    Units:   good_bytes and size count the file's own bytes.
    """

    scan: Scan
    good_bytes: int
    size: int
    frames: tuple[Frame, ...] = ()
    recovered: int = 0
    # The offset in the text where each frame's part begins.
    starts: array[int] = attrs.field(factory=lambda: array("Q"))

    def frame_of(self, offset: int) -> int:
        """Which frame holds the byte of the text at an offset."""
        return bisect_right(self.starts, offset) - 1


def plain_text(top: FirstLine, form: LineForm) -> Text | Rejection:
    """The lines of a plain file behind its header line: LOG_CORRUPT for what was committed."""
    scan = scan_below(top, form)
    if isinstance(scan, Rejection):
        return scan
    return Text(scan, scan.good_bytes, scan.lines.size)


def zstd_header(content: memoryview) -> tuple[bytes, dict[str, Any]] | Rejection:
    """The header line of a compressed log and its fields: frame 0, and nothing else in it."""
    first = next(each_frame(content), None)
    if first is None or (isinstance(first, Frame) and not first.is_whole):
        return log_header_invalid("empty-log", "there is no whole first frame")
    if isinstance(first, FrameFault):
        return frame_corrupt(0, first.start, 0, first.what)
    line = b""
    try:
        for piece in pieces_of(content, first, _LONGEST_HEADER):
            line += piece
            if b"\n" in line[:-1]:
                return _header_frame()
    except Unreadable as fault:
        return frame_corrupt(0, first.start, 0, str(fault))
    except TooLarge:
        return _header_frame()
    if not line.endswith(b"\n"):
        return _header_frame()
    fields = header_line_fields(line[:-1], ended=True)
    return fields if isinstance(fields, Rejection) else (line[:-1], fields)


def _header_frame() -> Rejection:
    what = (
        "the first frame holds something else than the header line alone; "
        "if the file was compressed by hand, decompress it and read the plain file"
    )
    return log_header_invalid("header-frame", what)


def zstd_text(
    content: memoryview, header_line: bytes, fields: dict[str, Any], form: LineForm, limit: int
) -> Text | Rejection:
    """The lines of a compressed log behind its header frame.

    Errors:  LOG_CORRUPT for anything wrong inside whole frames; LOG_TOO_LARGE.
    """
    return _Frames(content, header_line, form, limit).text(header_line, fields)


class _Frames:
    """A reader half-way through the frames of a file."""

    def __init__(self, content: memoryview, header_line: bytes, form: LineForm, limit: int) -> None:
        self._content = content
        self._limit = limit
        self._reading = Reading(len(header_line) + 1, form)
        self._taken = len(header_line) + 1  # of the text
        self._waiting: list[bytes] = []  # of the text, not read as lines yet
        self._waiting_bytes = 0
        self._frames: list[Frame] = []
        self._starts: array[int] = array("Q")

    def text(self, header_line: bytes, fields: dict[str, Any]) -> Text | Rejection:
        """The lines of all frames, or what makes the file unreadable."""
        torn: Frame | None = None
        for number, found in enumerate(each_frame(self._content)):
            if isinstance(found, FrameFault):
                return self._damaged(number, found.start, found.what)
            self._frames.append(found)
            if not found.is_whole:
                torn = found
                break
            self._starts.append(self._taken if number else 0)
            fault = self._take(number, found) if number else None
            if fault is not None:
                return fault
        fault = self._end_of_whole()
        if fault is not None:
            return fault
        reading = self._reading
        kept = len(reading.starts)
        tail: Rejection | None = None
        if torn is not None:
            tail = self._recover(torn)
            if tail.code is not Code.TORN_TAIL:
                return tail
        lines = reading.finish(b"")
        size = len(self._content)
        return Text(
            Scan(header_line, fields, lines, tail),
            size if torn is None else torn.start,
            size,
            tuple(self._frames),
            len(lines.starts) - kept,
            self._starts,
        )

    def _take(self, number: int, frame: Frame) -> Rejection | None:
        """Take what a whole frame holds."""
        whole = whole_of(self._content, frame, self._limit - self._taken)
        if whole is not None:
            return self._wait(whole)
        try:
            for piece in pieces_of(self._content, frame, self._limit - self._taken):
                fault = self._wait(piece)
                if fault is not None:
                    return fault
        except Unreadable as unreadable:
            return self._damaged(number, frame.start, str(unreadable))
        except TooLarge:
            return log_too_large(self._limit)
        return None

    def _wait(self, piece: bytes) -> Rejection | None:
        """Keep a piece until there is enough to read lines from."""
        self._taken += len(piece)
        self._waiting.append(piece)
        self._waiting_bytes += len(piece)
        is_enough = self._waiting_bytes >= PIECE_BYTES and b"\n" in piece
        return self._read_waiting() if is_enough else None

    def _read_waiting(self) -> Rejection | None:
        """Read the whole lines that wait; what is wrong with one of them."""
        text = b"".join(self._waiting)
        end = text.rfind(b"\n") + 1
        self._waiting = [text[end:]] if end < len(text) else []
        self._waiting_bytes = len(text) - end
        if end:
            self._reading.take(text[:end])
        fault = self._reading.fault
        if fault is None:
            return None
        place = (fault.index, len(self._reading.starts) + 2)
        frame = bisect_right(self._starts, self._reading.position) - 1
        return line_in_frame_corrupt(*place, self._frames[frame].start, frame, **facts_of(fault))

    def _end_of_whole(self) -> Rejection | None:
        """What is wrong once the whole frames are through: a bad line, or half a line."""
        fault = self._read_waiting()
        if fault is not None or not self._waiting:
            return fault
        reading = self._reading
        frame = bisect_right(self._starts, reading.position) - 1
        place = (reading.next_seq, len(reading.starts) + 2)
        start = self._frames[frame].start
        return line_in_frame_corrupt(*place, start, frame, reason="torn-line-in-complete-frame")

    def _damaged(self, number: int, start: int, what: str) -> Rejection:
        fault = self._read_waiting()
        return fault or frame_corrupt(number, start, self._reading.next_seq, what)

    def _recover(self, torn: Frame) -> Rejection:
        """Read what whole blocks of a cut frame hold; answers what is to be said of the rest."""
        reading = self._reading
        self._starts.append(self._taken)
        pieces: list[bytes] = []
        try:
            for piece in pieces_of(self._content, torn, self._limit - self._taken):
                self._taken += len(piece)
                pieces.append(piece)
        except Unreadable:
            pass  # what came before the damage counts
        except TooLarge:
            return log_too_large(self._limit)
        text = b"".join(pieces)
        before = reading.next_seq
        end = text.rfind(b"\n") + 1
        if end:
            reading.take(text[:end])
        number = len(self._frames) - 1
        fault = reading.fault
        if fault is not None and reading.turn_end_follows:
            place = (fault.index, len(reading.starts) + 2)
            return log_corrupt(*place, torn.start, **facts_of(fault), frame=number)
        return torn_tail(
            reading.next_seq,
            len(reading.starts) + 2,
            torn.start,
            reason="torn-frame",
            frame=number,
            recovered_events=reading.next_seq - before,
            dropped_bytes=len(self._content) - torn.start,
            dropped_lines=reading.dropped_lines + bool(text[end:]),
        )
