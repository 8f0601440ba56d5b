"""The lines of a JSONL log: which are whole, which hold an event, where damage begins.

Lines are decoded a piece of the file at a time, payloads left as text: an event keeps its
own line, and nothing else of the file is kept. A piece in which anything is unusual is read
again line by line with the full parser; the law fast_lines_equal_slow holds both together.
"""

from __future__ import annotations

import codecs
import re
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import accumulate, repeat
from typing import Any, Final

import attrs
import msgspec
from msgspec.structs import force_setattr

from dsh_fp.core.events import Event, event_of, known_header_fields
from dsh_fp.core.lossless import MAX_DEPTH, SAFE_DEPTH, decode_plain, freeze, is_deep
from dsh_fp.core.rejection import Code, Rejection

PIECE_BYTES: Final = 1 << 20
# A shorter line cannot be too deep for a recursive decoder.
_DEEP_LINE: Final = 2 * SAFE_DEPTH

_utf8_decoder: Final = codecs.getincrementaldecoder("utf-8")
_decode_line: Final = msgspec.json.Decoder(Event).decode

# ---- numbers that JSON text can spell but no reader keeps --------------------------------------
# Digits and signs become one byte, so that a few byte searches find every candidate in a piece.
_DIGIT: Final = b"\x01"
_EXPONENT: Final = b"\x02"
_CLASSES: Final = bytes(
    1 if byte in b"0123456789+-" else 2 if byte in b"eE" else 32 for byte in range(256)
)
# An exponent of three digits, or of a sign and two: looked at more closely. A pattern, for
# `re` finds a literal sooner than `bytes.find` does.
_THREE_DIGITS: Final = re.compile(_DIGIT + _EXPONENT + 3 * _DIGIT)
_LONG_RUN: Final = 200  # fewer digits cannot overflow with an exponent of two
_RUN: Final = _LONG_RUN * _DIGIT
_EXPONENT_TAIL: Final = re.compile(rb"[eE][+-]?[0-9]{3}")
_MINUS_ZERO: Final = re.compile(rb"-0")
_ZERO: Final = re.compile(rb"-0(?:\.0*)?(?![0-9.])")
_BEFORE_NUMBER: Final = b":,[ \t\r"
_NUMBER_STARTS_BEHIND: Final = frozenset({b"", *(bytes((byte,)) for byte in _BEFORE_NUMBER)})
_SUSPECT: Final = re.compile(
    rb"[:,\[\s]-0(?:\.0*)?(?![0-9.])|[0-9][eE][+-]?[0-9]{3}|[0-9]{%d}" % _LONG_RUN
)


@attrs.frozen
class LineFault:
    """The first line that breaks the run, and what the file holds from there on."""

    index: int
    reason: str
    got_seq: Any = None
    byte_offset: int = 0
    dropped_bytes: int = 0
    dropped_lines: int = 0
    turn_end_follows: bool = False


@attrs.frozen
class Lines:
    """What the event lines of a file amount to, before acceptance.

    `events` stop at `refused`, the first line that is no event though it is a whole object
    with the right seq; `count`, `starts` and `good_bytes` do not.
    """

    events: list[Event]
    starts: array[int]  # the offset of each kept line
    good_bytes: int
    size: int
    refused: Rejection | None
    fault: LineFault | None
    # For each kept line with bytes that are no UTF-8: its index and the offset of the first.
    bad_utf8: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """How many lines are kept."""
        return len(self.starts)


@attrs.frozen
class Scan:
    """A log file by its lines and seqs alone; versions and events are not judged yet."""

    header_line: bytes
    fields: dict[str, Any]
    lines: Lines
    tail: Rejection | None

    @property
    def header(self) -> dict[str, object]:
        """The header's known fields, each as found."""
        return known_header_fields(self.fields)

    @property
    def good_bytes(self) -> int:
        """The offset up to which the file is sound."""
        return self.lines.good_bytes

    @property
    def count(self) -> int:
        """How many events the file keeps."""
        return self.lines.count


class _Reading:
    """A reader half-way through a file. Whole lines go in piece by piece."""

    def __init__(self, start: int) -> None:
        self.events: list[Event] = []
        self.starts: array[int] = array("Q")
        self.position = start
        self.refused: Rejection | None = None
        self.fault: LineFault | None = None
        self.bad_utf8: list[tuple[int, int]] = []
        # Behind the first fault: how much there is, and whether a turn was closed there.
        self.dropped_bytes = 0
        self.dropped_lines = 0
        self.turn_end_follows = False

    def take(self, piece: bytes) -> None:
        """Read a piece of the file that ends at the end of a line."""
        lines = piece.split(b"\n")
        lines.pop()
        if self.fault is None and self.refused is None:
            events = _fast_events(piece, lines, len(self.starts))
            if events is not None:
                self.events += events
                self._keep(lines)
                return
        for place, line in enumerate(lines):
            if self.fault is None:
                self._take_line(line)
            if self.fault is not None:
                self._drop(lines[place:])
                return

    def finish(self, fragment: bytes) -> Lines:
        """The result, given what stands behind the last line end."""
        good_bytes = self.position
        if fragment:
            if self.fault is None:
                self.fault = LineFault(len(self.starts), _fragment_reason(fragment))
            self.dropped_bytes += len(fragment)
            self.dropped_lines += 1
        fault = self.fault and attrs.evolve(
            self.fault,
            byte_offset=good_bytes,
            dropped_bytes=self.dropped_bytes,
            dropped_lines=self.dropped_lines,
            turn_end_follows=self.turn_end_follows,
        )
        return Lines(
            self.events,
            self.starts,
            good_bytes,
            good_bytes + self.dropped_bytes,
            self.refused,
            fault,
            tuple(self.bad_utf8),
        )

    def _keep(self, lines: list[bytes]) -> None:
        ends = accumulate((len(line) + 1 for line in lines), initial=self.position)
        self.starts.extend(ends)
        self.position = self.starts.pop()

    def _take_line(self, line: bytes) -> None:
        index = len(self.starts)
        made = read_line(line, index)
        if isinstance(made, LineFault):
            self.fault = made
            return
        bad = first_bad_byte(line)
        if bad is not None:
            self.bad_utf8.append((index, self.position + bad))
        if self.refused is None:
            if isinstance(made, Rejection):
                self.refused = made.at(
                    seq=index, index=index, line_number=index + 2, byte_offset=self.position
                )
            else:
                self.events.append(made)
        self._keep([line])

    def _drop(self, lines: list[bytes]) -> None:
        self.dropped_bytes += sum(map(len, lines)) + len(lines)
        self.dropped_lines += len(lines)
        self.turn_end_follows = self.turn_end_follows or any(map(_is_turn_end, lines))


def scan_lines(pieces: Iterable[bytes], start: int) -> Lines:
    """The events of a file's lines, up to the first faulty one.

    `pieces` are the file's bytes behind its header line, which ends at `start`.
    """
    reading = _Reading(start)
    waiting: list[bytes] = []  # of a line whose end has not come yet
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if not end:
            waiting.append(piece)
            continue
        waiting.append(piece[:end])
        whole = b"".join(waiting) if len(waiting) > 1 else waiting[0]
        waiting = [piece[end:]] if end < len(piece) else []
        reading.take(whole)
    return reading.finish(b"".join(waiting))


def in_pieces(content: bytes) -> Iterator[bytes]:
    """Bytes cut into pieces of a size that the processor's caches like."""
    for place in range(0, len(content), PIECE_BYTES):
        yield content[place : place + PIECE_BYTES]


def _fast_events(piece: bytes, lines: list[bytes], first: int) -> list[Event] | None:
    """The events of lines among which nothing is unusual, else None."""
    if not _is_utf8(piece):
        return None
    if max(map(len, lines)) > _DEEP_LINE and any(map(is_deep, lines)):
        return None
    try:
        events = [_decode_line(line) for line in lines]
    except (msgspec.MsgspecError, RecursionError):
        return None
    if [event.seq for event in events] != list(range(first, first + len(events))):
        return None
    for place in _suspects(piece, lines):
        if not isinstance(read_line_in_full(lines[place], first + place), Event):
            return None
    deque(map(force_setattr, events, repeat("origin"), lines), maxlen=0)
    return events


def _suspects(piece: bytes, lines: list[bytes]) -> list[int]:
    """The places of lines whose numbers only the full parser can judge."""
    found: set[int] = set()
    offsets = [
        start + offset
        for start in range(0, len(piece), PIECE_BYTES)
        for offset in _suspect_numbers(piece[start : start + PIECE_BYTES + 2 * _LONG_RUN])
    ]
    if offsets:
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        found.update(bisect_right(starts, offset) - 1 for offset in offsets)
    return sorted(found)


def _is_utf8(piece: bytes) -> bool:
    if piece.isascii():
        return True
    # A long line is decoded in parts: as one text it could take four times its size.
    decode = _utf8_decoder().decode
    try:
        for start in range(0, len(piece), PIECE_BYTES):
            stop = start + PIECE_BYTES
            decode(piece[start:stop], stop >= len(piece))
    except UnicodeDecodeError:
        return False
    return True


def _suspect_numbers(piece: bytes) -> Iterator[int]:
    """Where numbers stand that may be -0 or overflow; strings may look like them."""
    classes = piece.translate(_CLASSES)
    place = classes.find(_RUN)
    while place >= 0:
        yield place
        place = classes.find(_RUN, place + _LONG_RUN)
    for match in _THREE_DIGITS.finditer(classes):
        place = match.start() + 1
        if _EXPONENT_TAIL.match(piece, place) and _is_mantissa_before(piece, place):
            yield place
    for match in _MINUS_ZERO.finditer(piece):
        place = match.start()
        if piece[place - 1] in _BEFORE_NUMBER and _ZERO.match(piece, place):
            yield place


def _is_mantissa_before(piece: bytes, place: int) -> bool:
    """Whether a number's digits end here; most candidates are hex digits in a string."""
    head = piece[max(0, place - 2 * _LONG_RUN) : place].rstrip(b"0123456789.")
    return head.removesuffix(b"-")[-1:] in _NUMBER_STARTS_BEHIND


def read_line(line: bytes, index: int) -> Event | Rejection | LineFault:
    """What one line is: the event at this index, an object that is no event, or a fault."""
    if not is_deep(line) and not _SUSPECT.search(line):
        try:
            line.decode()
            event = _decode_line(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            pass  # the full parser below says what is wrong, or that nothing is
        else:
            if event.seq == index:
                force_setattr(event, "origin", line)
                return event
    return read_line_in_full(line, index)


def read_line_in_full(line: bytes, index: int) -> Event | Rejection | LineFault:
    """`read_line` by the full parser alone: its plain definition."""
    text = line.decode(errors="replace")  # bad bytes read as U+FFFD, as in JavaScript
    plain, fault = decode_plain(text, MAX_DEPTH + 1)
    if fault is not None and fault.code is Code.JSON_SYNTAX:
        return LineFault(index, _unparsable_reason(line))
    if not isinstance(plain, dict):
        return LineFault(index, "not-an-object")
    seq = plain.get("seq")
    if type(seq) not in (int, float) or seq != index:
        is_again = isinstance(seq, int | float) and type(seq) is not bool and seq < index
        return LineFault(index, "seq-duplicate" if is_again else "seq-gap", seq)
    event = fault or event_of(freeze(plain, from_text=True, limit=MAX_DEPTH + 1))
    if isinstance(event, Event):
        force_setattr(event, "origin", text.encode())  # its line, number spellings and all
    return event


def _unparsable_reason(line: bytes) -> str:
    if b"\0" in line:
        return "nul-run"
    return "unparsable-line" if line.strip(b" \t\r") else "blank-line"


def _fragment_reason(fragment: bytes) -> str:
    """What the bytes behind the last line end are."""
    if b"\0" in fragment:
        return "nul-run"
    plain, _ = decode_plain(fragment.decode(errors="replace"), MAX_DEPTH + 1)
    return "no-final-newline" if isinstance(plain, dict) else "torn-line"


def first_bad_byte(line: bytes) -> int | None:
    """Where a line stops being UTF-8, or None."""
    try:
        line.decode()
    except UnicodeDecodeError as fault:
        return fault.start
    return None


def _is_turn_end(line: bytes) -> bool:
    # Only such lines can spell the type, plainly or with escapes; most need no decoding.
    if b"turn/end" not in line and b"\\" not in line:
        return False
    plain, _ = decode_plain(line.decode(errors="replace"), MAX_DEPTH + 1)
    return isinstance(plain, dict) and plain.get("type") == "turn/end"
