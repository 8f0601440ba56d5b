"""Every line of a damaged file, in order: what each holds, or what is wrong with it.

Reading a log stops where its runtime would stop. This goes on to the end, so that all damage
can be named and every byte accounted for. Nothing here says which lines count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs

from dsh_fp.core.events import MAX_SEQ, Event
from dsh_fp.core.packed import PackedRun
from dsh_fp.core.rejection import Rejection, log_header_invalid, log_too_large
from dsh_fp.core.vocabulary import Vocabulary
from dsh_fp.formats.frames import (
    MAGIC,
    FrameFault,
    TooLarge,
    Unreadable,
    content_of,
    each_frame,
)
from dsh_fp.formats.reading import generation_of, line_form
from dsh_fp.storage.jsonl import BOM, header_line_fields
from dsh_fp.storage.lines import LineFault, LineForm, Part, first_bad_byte, read_line

_MOST_RESTARTS: Final = 64  # a file of nothing but false frames must not be walked for ever
_FUSED: Final = b'}{"type":'


@attrs.frozen
class Stretch:
    """A run of bytes of the file: a frame, what is no frame, or a whole plain file.

    `text` is what it holds as far as that can be known; `fault` says what is wrong with it.

    Units:   start and stop are byte offsets in the file, half-open.
    """

    start: int
    stop: int
    frame: int | None
    text: bytes = attrs.field(repr=False)
    fault: str | None = None  # a word of damage.KINDS
    says: str | None = None


@attrs.frozen(eq=False)
class Row:
    """One line behind the header line: what it holds, or what is wrong with it.

    `text` has no line end; `is_ended` tells whether the file has one there.

    Units:   byte_offset is that of the line in a plain file, of its frame in a compressed one.
    """

    line_number: int
    text: bytes = attrs.field(repr=False)
    is_ended: bool
    stretch: int
    frame: int | None
    byte_offset: int
    seq: int | None = None
    part: Part | None = attrs.field(default=None, repr=False)
    fault: str | None = None
    what: Rejection | None = None
    bad_byte: int | None = None

    @property
    def is_event(self) -> bool:
        """Whether the line holds an event, or a run of them, whatever its seq."""
        return self.part is not None and self.is_ended

    @property
    def count(self) -> int:
        """How many events the line holds."""
        part = self.part
        if part is None or not self.is_ended:
            return 0
        return part.count if isinstance(part, PackedRun) else 1

    @property
    def next_seq(self) -> int:
        """The seq that is due behind the line."""
        return (self.seq or 0) + self.count

    @property
    def type(self) -> str:
        """The type of the event; a run is of chunks."""
        return self.part.type if isinstance(self.part, Event) else "assistant/chunk"


@attrs.frozen(eq=False)
class Rows:
    """A damaged file in full: its stretches, its header line and its rows."""

    content: bytes = attrs.field(repr=False)
    stretches: tuple[Stretch, ...] = attrs.field(repr=False)
    header_line: bytes
    fields: dict[str, Any] = attrs.field(repr=False)
    vocabulary: Vocabulary = attrs.field(repr=False)
    rows: tuple[Row, ...] = attrs.field(repr=False)
    is_compressed: bool
    has_bom: bool
    header_is_alone: bool  # of a compressed file: nothing else is in its first frame

    @property
    def is_july(self) -> bool:
        """Whether the file is in July's form."""
        return self.vocabulary.form.session_header is None

    @property
    def header_bytes(self) -> int:
        """How many bytes a plain file begins with before its first row."""
        return len(self.header_line) + 1 + (len(BOM) if self.has_bom else 0)


def rows_of(content: bytes, max_bytes: int) -> Rows | Rejection:
    """A damaged file in full, or why not even its header line can be understood.

    Cost:    O(size), the decompressed size bounded by max_bytes.
    Errors:  LOG_HEADER_INVALID, VERSION_UNSUPPORTED, LOG_TOO_LARGE.
    """
    is_compressed = content.startswith(MAGIC)
    try:
        stretches = (
            tuple(_frames(content, max_bytes))
            if is_compressed
            else (Stretch(0, len(content), None, content),)
        )
    except TooLarge:
        return log_too_large(max_bytes)
    text = stretches[0].text
    if is_compressed and stretches[0].fault is not None:
        says = f"its first frame, which holds the header line, is damaged: {stretches[0].says}"
        return log_header_invalid("header-frame", says)
    has_bom = text.startswith(BOM)
    skipped = len(BOM) if has_bom else 0
    end = text.find(b"\n", skipped)
    header_line = text[skipped : end if end >= 0 else len(text)]
    fields = header_line_fields(header_line, ended=end >= 0)
    if isinstance(fields, Rejection):
        return fields
    vocabulary = generation_of(fields, None, None, is_compressed=is_compressed)
    if isinstance(vocabulary, Rejection):
        return vocabulary
    form = line_form(vocabulary)
    rows = tuple(_rows(stretches, end + 1, form))
    alone = not is_compressed or end + 1 == len(text)
    return Rows(
        content, stretches, header_line, fields, vocabulary, rows, is_compressed, has_bom, alone
    )


def _frames(content: bytes, limit: int) -> Iterator[Stretch]:
    """The frames of a file, and what lies between them."""
    view = memoryview(content)
    place = number = restarts = taken = 0
    while place < len(content):
        walked = place
        for found in each_frame(view[place:]):
            if isinstance(found, FrameFault):
                walked = place + found.start
                again = -1
                if restarts < _MOST_RESTARTS:
                    again = content.find(MAGIC, walked + 1)
                restarts += 1
                stop = len(content) if again < 0 else again
                what = "bad-frame" if content.startswith(MAGIC, walked) else "no-frame"
                yield Stretch(walked, stop, number, b"", what, found.what)
                number, walked = number + 1, stop
                break
            start, stop = place + found.start, place + found.end
            fault = says = None
            try:
                text = content_of(view[place:], found, limit - taken)
            except Unreadable as unreadable:
                text, fault, says = b"", "bad-frame", str(unreadable)
            if not found.is_whole:
                fault, says = "torn-frame", "the file ends within it"
            taken += len(text)
            yield Stretch(start, stop, number, text, fault, says)
            number, walked = number + 1, stop
        place = walked


def _rows(stretches: tuple[Stretch, ...], skipped: int, form: LineForm) -> Iterator[Row]:
    """The lines behind the header line, over all stretches."""
    expected, line_number = 0, 2
    waiting = b""  # of a line that goes on in the next frame
    began: tuple[int, int] | None = None  # the stretch in which it began, and where
    for place, stretch in enumerate(stretches):
        if waiting and stretch.fault in ("bad-frame", "no-frame"):
            assert began is not None
            yield _row(waiting, False, line_number, stretches, began, expected, form)
            waiting, line_number = b"", line_number + 1
            continue
        offset = skipped if place == 0 else 0
        lines = stretch.text[offset:].split(b"\n")
        last = lines.pop()
        for line in lines:
            at = began if waiting and began is not None else (place, offset)
            row = _row(waiting + line, True, line_number, stretches, at, expected, form)
            expected = row.next_seq if row.is_event else expected
            offset += len(line) + 1
            waiting, line_number = b"", line_number + 1
            yield row
        if last and not waiting:
            began = place, offset
        waiting += last
    if waiting:
        assert began is not None
        yield _row(waiting, False, line_number, stretches, began, expected, form)


def _row(  # noqa: PLR0917  # one caller, in a loop
    line: bytes,
    is_ended: bool,
    line_number: int,
    stretches: tuple[Stretch, ...],
    at: tuple[int, int],
    expected: int,
    form: LineForm,
) -> Row:
    place, offset = at
    stretch = stretches[place]
    where = stretch.start + (offset if stretch.frame is None else 0)
    row = Row(line_number, line, is_ended, place, stretch.frame, where)
    made = read_line(line, expected, form)
    if isinstance(made, LineFault):
        seq = _seq_of(made.got_seq)
        if made.reason.startswith("seq-") and seq is not None:
            expected = seq
            made = read_line(line, seq, form)
    if isinstance(made, LineFault):
        fault = made.reason
        if fault == "unparsable-line" and _FUSED in line:
            fault = "fused-lines"
        row = attrs.evolve(row, fault=fault, what=made.what)
    elif isinstance(made, Rejection):
        row = attrs.evolve(row, seq=expected, fault="bad-envelope", what=made)
    else:
        row = attrs.evolve(row, seq=made.seq, part=made, bad_byte=first_bad_byte(line))
    if not is_ended:
        fault = "no-final-newline" if row.part is not None else "torn-line"
        row = attrs.evolve(row, fault="nul-run" if b"\0" in line else fault)
    return row


def _seq_of(seq: object) -> int | None:
    """The seq that a line gives itself, if it can be one."""
    if type(seq) is not int and type(seq) is not float:
        return None
    return int(seq) if 0 <= seq <= MAX_SEQ and seq == int(seq) else None
