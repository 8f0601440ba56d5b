"""The lines of a JSONL log: which are whole, which hold an event, where damage begins.

Lines are decoded a block at a time, payloads left as text. A block in which anything is
unusual is read again line by line; the two routes agree by the law fast_lines_equal_slow.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final

import attrs
import msgspec
from msgspec.structs import force_setattr

from dsh_fp.core.events import Event, event_of
from dsh_fp.core.lossless import MAX_DEPTH, decode_plain, freeze, parse_value
from dsh_fp.core.rejection import Code, Rejection, log_corrupt, torn_tail

BLOCK_BYTES: Final = 1 << 20
# A line can only go beyond MAX_DEPTH when it has as many opening and closing brackets.
_DEEP_LINE: Final = 2 * MAX_DEPTH

_decode_line: Final = msgspec.json.Decoder(Event).decode
_decode_block: Final = msgspec.json.Decoder(Event).decode_lines

# ---- numbers that JSON text can spell but no reader keeps --------------------------------------
# All digits become one digit, so that a few byte searches find every candidate in a block.
_DIGIT, _EXPONENT, _SIGN, _BEFORE, _OTHER = b"\x01\x02\x03\x04 "
_CLASSES: Final = bytes(
    _DIGIT
    if byte in b"0123456789"
    else _EXPONENT
    if byte in b"eE"
    else _SIGN
    if byte in b"+-"
    else _BEFORE
    if byte in b":,[ \t\r"
    else _OTHER
    for byte in range(256)
)
_LONG_RUN: Final = 200  # fewer digits cannot overflow with an exponent of two
_OVERLAP: Final = _LONG_RUN + 8
_NEGATIVE: Final = bytes((_BEFORE, _SIGN, _DIGIT))
_EXPONENTS: Final = (
    bytes((_EXPONENT, _DIGIT, _DIGIT, _DIGIT)),
    bytes((_EXPONENT, _SIGN, _DIGIT, _DIGIT, _DIGIT)),
)
_RUN: Final = bytes((_DIGIT,)) * _LONG_RUN
_ZERO: Final = re.compile(rb"-0(?:\.0*)?(?![0-9.])")
_MANTISSA: Final = re.compile(rb"(?:\A|[:,\[\s])-?[0-9][0-9.]*\Z")
_SUSPECT: Final = re.compile(
    rb"[:,\[\s]-0(?:\.0*)?(?![0-9.])|[0-9][eE][+-]?[0-9]{3}|[0-9]{%d}" % _LONG_RUN
)


@attrs.frozen
class LineFault:
    """The first line that breaks the run: which it is and what is wrong with it."""

    index: int
    byte_offset: int
    reason: str
    got_seq: Any = None


@attrs.frozen
class Lines:
    """What the event lines of a file amount to, before acceptance.

    `events` stop at `refused`, the first line that is no event though it is a whole object
    with the right seq; `count` and `good_bytes` do not.
    """

    events: list[Event]
    count: int
    good_bytes: int
    refused: Rejection | None
    fault: LineFault | None
    # For each line with bytes that are no UTF-8: its index and the offset of the first.
    bad_utf8: tuple[tuple[int, int], ...]


class Block:
    """A run of whole lines in a buffer; answers the key order of its events."""

    __slots__ = ("_buffer", "_first", "_start", "_starts", "_stop")

    def __init__(self, buffer: bytes, start: int, stop: int, first: int) -> None:
        self._buffer = buffer
        self._start = start
        self._stop = stop
        self._first = first
        self._starts: list[int] | None = None

    def key_order(self, seq: int) -> tuple[str, ...]:
        """The envelope keys of an event of this block in the order they were read."""
        if self._starts is None:
            self._starts = line_starts(self._buffer, self._start, self._stop)
        start = self._starts[seq - self._first]
        line = self._buffer[start : self._buffer.index(b"\n", start)]
        return tuple(parse_value(line, MAX_DEPTH + 1))


def line_starts(buffer: bytes, start: int, stop: int) -> list[int]:
    """The offset of each line that begins in a range of a buffer."""
    starts: list[int] = []
    while 0 < stop - start:
        starts.append(start)
        end = buffer.find(b"\n", start, stop)
        if end < 0:
            break
        start = end + 1
    return starts


def scan_lines(buffer: bytes, start: int) -> Lines:
    """The events of the lines from an offset on, up to the first faulty one."""
    events: list[Event] = []
    bad_utf8: list[tuple[int, int]] = []
    refused: Rejection | None = None
    count, position = 0, start
    view = memoryview(buffer)
    end = buffer.rfind(b"\n", start) + 1
    while position < end:
        stop = _block_end(buffer, position, end)
        fast = _fast_block(buffer, position, stop, count) if refused is None else None
        if fast is not None:
            events += fast
            count += len(fast)
            position = stop
            continue
        order: Any = Block(buffer, position, stop, count)
        while position < stop:
            line_end = buffer.index(b"\n", position)
            line = buffer[position:line_end]
            made = read_line(line, count, view[position:line_end], order)
            if isinstance(made, LineFault):
                fault = attrs.evolve(made, byte_offset=position)
                return Lines(events, count, position, refused, fault, tuple(bad_utf8))
            bad = _first_bad_byte(line)
            if bad is not None:
                bad_utf8.append((count, position + bad))
            if refused is None:
                if isinstance(made, Rejection):
                    refused = made.at(seq=count, line_number=count + 2, byte_offset=position)
                else:
                    events.append(made)
            count += 1
            position = line_end + 1
    fault = None
    if position < len(buffer):
        reason = _fragment_reason(buffer[position:])
        fault = LineFault(count, position, reason)
    return Lines(events, count, position, refused, fault, tuple(bad_utf8))


def _block_end(buffer: bytes, start: int, end: int) -> int:
    if end - start <= BLOCK_BYTES:
        return end
    stop = buffer.rfind(b"\n", start, start + BLOCK_BYTES) + 1
    return stop or buffer.index(b"\n", start + BLOCK_BYTES) + 1


def _fast_block(buffer: bytes, start: int, stop: int, first: int) -> list[Event] | None:
    """The events of a block in which nothing is unusual, else None."""
    count = buffer.count(b"\n", start, stop)
    if (
        buffer[start] != 0x7B
        or buffer[stop - 2 : stop] != b"}\n"
        # Between two values of one line there is no such boundary, and within one value
        # these three bytes cannot stand together: so each line is one object.
        or buffer.count(b"}\n{", start, stop) != count - 1
        or not _is_plain(buffer, start, stop)
    ):
        return None
    try:
        events = _decode_block(memoryview(buffer)[start:stop])
    except (msgspec.MsgspecError, RecursionError):
        return None
    if [event.seq for event in events] != list(range(first, first + count)):
        return None
    block: Any = Block(buffer, start, stop, first)
    deque(map(force_setattr, events, repeat("_order"), repeat(block)), maxlen=0)
    return events


def _is_plain(buffer: bytes, start: int, stop: int) -> bool:
    """Whether a block is UTF-8 and holds no line that only a full look can judge."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    ascii_so_far = True
    for place in range(start, stop, BLOCK_BYTES):
        window_stop = min(stop, place + BLOCK_BYTES)
        window = buffer[place:window_stop]
        if not (ascii_so_far and window.isascii()):
            ascii_so_far = False
            try:
                decode(window, window_stop == stop)
            except UnicodeDecodeError:
                return False
        if window_stop < stop:
            window = buffer[place : min(stop, window_stop + _OVERLAP)]
        if _has_suspect(window):
            return False
    return not _has_deep_line(buffer, start, stop)


def _has_suspect(window: bytes) -> bool:
    classes = window.translate(_CLASSES)
    if _RUN in classes:
        return True
    place = classes.find(_NEGATIVE)
    while place >= 0:
        if window[place + 2] == 0x30 and _ZERO.match(window, place + 1):
            return True
        place = classes.find(_NEGATIVE, place + 2)
    for pattern in _EXPONENTS:
        place = classes.find(pattern)
        while place >= 0:
            # Most are hex digits in a string; a number has nothing but digits before it.
            if _MANTISSA.search(window, max(0, place - 2 * _LONG_RUN), place):
                return True
            place = classes.find(pattern, place + 2)
    return False


def _has_deep_line(buffer: bytes, start: int, stop: int) -> bool:
    """Whether a line is long and bracketed enough to go beyond MAX_DEPTH."""
    while stop - start >= _DEEP_LINE:
        end = buffer.rfind(b"\n", start, start + _DEEP_LINE)
        if end < 0:
            end = buffer.index(b"\n", start)
            if buffer.count(b"[", start, end) + buffer.count(b"{", start, end) > MAX_DEPTH:
                return True
        start = end + 1
    return False


def read_line(
    line: bytes, index: int, view: memoryview, order: Any = None
) -> Event | Rejection | LineFault:
    """What one line is: the event at this index, an object that is no event, or a fault.

    `view` is the same line in the buffer that outlives it, `order` where its keys can be
    looked up; without the latter the line is decoded in full.
    """
    if order is not None and len(line) < _DEEP_LINE and not _SUSPECT.search(line):
        try:
            line.decode()
            event = _decode_line(view)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            pass
        else:
            if event.seq == index:
                force_setattr(event, "_order", order)
                return event
    # Bad bytes read as U+FFFD, as in JavaScript.
    plain, fault = decode_plain(line.decode(errors="replace"), MAX_DEPTH + 1)
    if fault is not None and fault.code is Code.JSON_SYNTAX:
        return LineFault(index, 0, _unparsable_reason(line))
    if not isinstance(plain, dict):
        return LineFault(index, 0, "not-an-object")
    seq = plain.get("seq")
    if type(seq) not in (int, float) or seq != index:
        is_again = type(seq) in (int, float) and seq < index
        return LineFault(index, 0, "seq-duplicate" if is_again else "seq-gap", seq)
    return fault or event_of(freeze(plain, from_text=True, limit=MAX_DEPTH + 1))


def _unparsable_reason(line: bytes) -> str:
    if b"\0" in line:
        return "nul-run"
    return "unparsable-line" if line.strip(b" \t\r") else "blank-line"


def _fragment_reason(fragment: bytes) -> str:
    """What the bytes behind the last line end are."""
    if b"\0" in fragment:
        return "nul-run"
    plain, fault = decode_plain(fragment.decode(errors="replace"), MAX_DEPTH + 1)
    is_whole = isinstance(plain, dict) and (fault is None or fault.code is not Code.JSON_SYNTAX)
    return "no-final-newline" if is_whole else "torn-line"


def _first_bad_byte(line: bytes) -> int | None:
    try:
        line.decode()
    except UnicodeDecodeError as fault:
        return fault.start
    return None


def judge_fault(buffer: bytes, lines: Lines) -> Rejection | None:
    """What the first faulty line means for the file: LOG_CORRUPT, TORN_TAIL or nothing.

    It is damage when a turn/end stands at or behind it, whatever that line's seq.
    """
    fault = lines.fault
    if fault is None:
        return None
    place = (fault.index, fault.index + 2, fault.byte_offset)
    facts: dict[str, Any] = {"reason": fault.reason}
    if fault.reason.startswith("seq-"):
        got = fault.got_seq if type(fault.got_seq) in (int, float) else None
        facts |= {"expected_seq": fault.index, "got_seq": got}
    if any(map(_is_turn_end, _whole_lines(buffer, fault.byte_offset))):
        return log_corrupt(*place, **facts)
    tail = buffer[fault.byte_offset :]
    dropped = tail.count(b"\n") + (not tail.endswith(b"\n"))
    return torn_tail(*place, **facts, dropped_bytes=len(tail), dropped_lines=dropped)


def _whole_lines(buffer: bytes, start: int) -> Iterator[bytes]:
    while (end := buffer.find(b"\n", start)) >= 0:
        yield buffer[start:end]
        start = end + 1


def _is_turn_end(line: bytes) -> bool:
    # Only such lines can spell the type, plainly or with escapes; most need no decoding.
    if b"turn/end" not in line and b"\\" not in line:
        return False
    plain, fault = decode_plain(line.decode(errors="replace"), MAX_DEPTH + 1)
    if fault is not None and fault.code is Code.JSON_SYNTAX:
        return False
    return isinstance(plain, dict) and plain.get("type") == "turn/end"
