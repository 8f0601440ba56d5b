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
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, repeat
from typing import Any, Final

import attrs
import msgspec
from msgspec.structs import force_setattr

from dsh_fp.core.events import JULY, Envelope, Event, ReleasedEvent, event_of, known_header_fields
from dsh_fp.core.lossless import MAX_DEPTH, SAFE_DEPTH, decode_plain, freeze, is_deep
from dsh_fp.core.packed import ROW_STARTS, PackedRun, Rows, is_row, read_row, run_of
from dsh_fp.core.rejection import Code, Rejection

PIECE_BYTES: Final = 1 << 20
# A shorter line cannot be too deep for a recursive decoder.
_DEEP_LINE: Final = 2 * SAFE_DEPTH

_utf8_decoder: Final = codecs.getincrementaldecoder("utf-8")

Part = Event | PackedRun
"""What one line holds."""


@attrs.frozen
class LineForm:
    """How the events of a generation stand in lines.

    With `packed` a line may stand for a run of chunks. With `judges_rows` a whole object that
    is no event of the generation is a damaged line; else acceptance refuses it.
    """

    envelope: Envelope = JULY
    packed: bool = False
    judges_rows: bool = False
    decode: Callable[[bytes], Event] = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "decode", msgspec.json.Decoder(self.envelope.event).decode)

    def part(self, line: bytes) -> Part | None:
        """What a line plainly holds; None: look more closely."""
        if self.packed and line.startswith(ROW_STARTS):
            return read_row(line)
        return self.decode(line)


JULY_LINES: Final = LineForm()

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
    what: Rejection | None = None  # of an object that is no event: what it lacks


@attrs.frozen
class Lines:
    """What the event lines of a file amount to, before acceptance.

    `events` stop at `refused`, the first line that is no event though it is a whole object
    with the right seq; `count`, `starts` and `good_bytes` do not. Runs stay packed in them.
    """

    events: list[Part]
    starts: array[int]  # the offset of each kept line
    good_bytes: int
    size: int
    refused: Rejection | None
    fault: LineFault | None
    # For each kept line with bytes that are no UTF-8: its index and the offset of the first.
    bad_utf8: tuple[tuple[int, int], ...]
    # The seq of the first event of each kept line, once a line is a row.
    firsts: array[int] | None = None
    next_seq: int = 0

    @property
    def count(self) -> int:
        """How many events the kept lines hold."""
        return self.next_seq

    def accepted_events(self) -> Sequence[Event]:
        """The events up to the first refused one, runs packed where the file packs them."""
        if self.firsts is not None:
            return Rows(self.events)
        return self.events  # type: ignore[return-value]  # no line stood for a run

    def place_of(self, seq: int) -> int:
        """Which of the kept lines holds the event with this seq."""
        return seq if self.firsts is None else bisect_right(self.firsts, seq) - 1

    def start_of(self, seq: int) -> int:
        """The offset of the line that holds the event with this seq."""
        return self.starts[self.place_of(seq)]


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


class Reading:
    """A reader half-way through a file. Whole lines go in piece by piece."""

    def __init__(self, start: int, form: LineForm = JULY_LINES) -> None:
        self._form = form
        self.events: list[Part] = []
        self.starts: array[int] = array("Q")
        self.firsts: array[int] | None = None
        self.next_seq = 0
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
            parts = _fast_parts(piece, lines, self.next_seq, self._form)
            if parts is not None:
                self.events += parts
                self._keep(lines, parts)
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
                self.fault = LineFault(self.next_seq, _fragment_reason(fragment))
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
            self.firsts,
            self.next_seq,
        )

    def _keep(self, lines: list[bytes], parts: list[Part] | None) -> None:
        """Note where lines begin, and which seqs they hold where one holds several."""
        before = len(self.starts)
        ends = accumulate((len(line) + 1 for line in lines), initial=self.position)
        self.starts.extend(ends)
        self.position = self.starts.pop()
        if not self._form.packed or parts is None:
            self.next_seq += len(lines)
            return
        firsts = array("Q", (part.seq for part in parts))
        last = parts[-1]
        next_seq = last.seq + (last.count if isinstance(last, PackedRun) else 1)
        if self.firsts is None and any(type(part) is PackedRun for part in parts):
            self.firsts = array("Q", range(before))
        if self.firsts is not None:
            self.firsts.extend(firsts)
        self.next_seq = next_seq

    def _take_line(self, line: bytes) -> None:
        index, place = self.next_seq, len(self.starts)
        made = read_line(line, index, self._form)
        if isinstance(made, Rejection) and self._form.judges_rows:
            made = LineFault(index, "bad-envelope", what=made)
        if isinstance(made, LineFault):
            self.fault = made
            return
        bad = first_bad_byte(line)
        if bad is not None:
            self.bad_utf8.append((index, self.position + bad))
        if self.refused is None:
            if isinstance(made, Rejection):
                self.refused = made.at(
                    seq=index, index=index, line_number=place + 2, byte_offset=self.position
                )
            else:
                self.events.append(made)
        if isinstance(made, Rejection):
            self._keep([line], None)
            if self.firsts is not None:
                self.firsts.append(index)
        else:
            self._keep([line], [made])

    def _drop(self, lines: list[bytes]) -> None:
        self.dropped_bytes += sum(map(len, lines)) + len(lines)
        self.dropped_lines += len(lines)
        self.turn_end_follows = self.turn_end_follows or any(map(_is_turn_end, lines))


def scan_lines(pieces: Iterable[bytes], start: int, form: LineForm = JULY_LINES) -> Lines:
    """The events of a file's lines, up to the first faulty one.

    `pieces` are the file's bytes behind its header line, which ends at `start`.
    """
    reading = Reading(start, form)
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


def _fast_parts(piece: bytes, lines: list[bytes], first: int, form: LineForm) -> list[Part] | None:
    """What lines hold among which nothing is unusual, else None."""
    if not piece.isascii():
        odd = [line for line in lines if not line.isascii()]
        if not all(map(_is_utf8, odd)):
            return None
    if any(map(is_deep, [line for line in lines if len(line) > _DEEP_LINE])):
        return None
    made: list[Any]
    try:
        if form.packed:
            made = list(map(form.part, lines))
        else:
            decode = form.decode
            made = [decode(line) for line in lines]
    except (msgspec.MsgspecError, RecursionError):
        return None
    if not _follow_each_other(made, first, form):
        return None
    if form.envelope is not JULY and any(map(_is_oddly_marked, made)):
        return None
    for place in _suspects(piece, lines):
        if not isinstance(read_line_in_full(lines[place], made[place].seq, form), Part):
            return None
    events: Iterable[Any] = made
    if form.packed:
        events = [part for part in made if type(part) is not PackedRun]
        paired = zip(made, lines, strict=True)
        lines = [line for part, line in paired if type(part) is not PackedRun]
    deque(map(force_setattr, events, repeat("origin"), lines), maxlen=0)
    return made


def _follow_each_other(made: list[Any], first: int, form: LineForm) -> bool:
    """Whether the seqs of parts, some of which may be unknown, run on from `first`."""
    if not form.packed:
        return [event.seq for event in made] == list(range(first, first + len(made)))
    for part in made:
        if part is None or part.seq != first:
            return False
        first += part.count if type(part) is PackedRun else 1
    return True


def _is_oddly_marked(part: Part) -> bool:
    return isinstance(part, ReleasedEvent) and part.has_odd_mark


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


def _is_utf8(line: bytes) -> bool:
    # A long line is decoded in parts: as one text it could take four times its size.
    decode = bytes.decode if len(line) <= PIECE_BYTES else _decoded_in_parts
    try:
        decode(line)
    except UnicodeDecodeError:
        return False
    return True


def _decoded_in_parts(line: bytes) -> None:
    decode = _utf8_decoder().decode
    for start in range(0, len(line), PIECE_BYTES):
        stop = start + PIECE_BYTES
        decode(line[start:stop], stop >= len(line))


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


def read_line(line: bytes, index: int, form: LineForm = JULY_LINES) -> Part | Rejection | LineFault:
    """What one line is: the part at this seq, an object that is no event, or a fault."""
    if not is_deep(line) and not _SUSPECT.search(line):
        try:
            line.decode()
            part = form.part(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            pass  # the full parser below says what is wrong, or that nothing is
        else:
            if part is not None and part.seq == index and not _is_oddly_marked(part):
                if isinstance(part, Event):
                    force_setattr(part, "origin", line)
                return part
    return read_line_in_full(line, index, form)


def read_line_in_full(
    line: bytes, index: int, form: LineForm = JULY_LINES
) -> Part | Rejection | LineFault:
    """`read_line` by the full parser alone: its plain definition."""
    text = line.decode(errors="replace")  # bad bytes read as U+FFFD, as in JavaScript
    plain, fault = decode_plain(text, MAX_DEPTH + 1)
    if fault is not None and fault.code is Code.JSON_SYNTAX:
        return LineFault(index, _unparsable_reason(line))
    if not isinstance(plain, dict):
        return LineFault(index, "not-an-object")
    if form.packed and is_row(plain):
        return _run_in_full(plain, index)
    seq = plain.get("seq")
    if type(seq) not in (int, float) or seq != index:
        return _out_of_order(seq, index)
    event = fault or event_of(freeze(plain, from_text=True, limit=MAX_DEPTH + 1), form.envelope)
    if isinstance(event, Event):
        force_setattr(event, "origin", text.encode())  # its line, number spellings and all
    return event


def _run_in_full(plain: dict[str, Any], index: int) -> PackedRun | Rejection | LineFault:
    """The run of a row; it stands for several events, so a malformed one is never skipped."""
    frozen = freeze(plain, from_text=True, limit=MAX_DEPTH + 1)
    run = None if isinstance(frozen, Rejection) else run_of(frozen)
    if run is None:
        return LineFault(index, "malformed-row")
    return run if run.seq == index else _out_of_order(run.seq, index)


def _out_of_order(seq: object, index: int) -> LineFault:
    is_again = isinstance(seq, int | float) and type(seq) is not bool and seq < index
    return LineFault(index, "seq-duplicate" if is_again else "seq-gap", seq)


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
