"""What became of every byte and line of a damaged file, and the bytes of the file that is left.

Both are made from the same rows: those that are kept, in order of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Literal

import attrs

from dsh_fp.formats.frames import compressed
from dsh_fp.formats.rows import Row, Rows
from dsh_fp.storage.jsonl import BOM


@attrs.frozen
class Span:
    """Bytes of the damaged file, and what became of them.

    `fate` is `in-part` only for a frame of which some lines were kept; `why` is empty for what
    was kept.

    Units:   start and stop are byte offsets in the file, half-open.
    """

    start: int
    stop: int
    fate: Literal["kept", "in-part", "dropped"]
    why: str = ""
    frame: int | None = None


@attrs.frozen
class Dropped:
    """Lines in a row that were left out, for one reason; `seqs` are inclusive."""

    first_line: int
    last_line: int
    events: int
    seqs: tuple[int, int] | None
    why: str


def plain_content(rows: Rows, chosen: Sequence[Row]) -> bytes:
    """The kept lines as a plain file."""
    return b"".join((rows.header_line, b"\n", *(row.text + b"\n" for row in chosen)))


def _why(row: Row, last_kept: int) -> str:
    if row.fault is not None:
        return row.fault
    return "behind the damage" if row.line_number > last_kept else "not of the kept branch"


def dropped_lines(rows: Rows, left: set[int], chosen: Sequence[Row]) -> Iterator[Dropped]:
    """The lines left out, those in a row and for one reason as one."""
    last_kept = chosen[-1].line_number if chosen else 0
    run: Dropped | None = None
    for row in rows.rows:
        if row.line_number in left:
            continue
        why = _why(row, last_kept)
        seqs = None if row.seq is None or not row.count else (row.seq, row.next_seq - 1)
        one = Dropped(row.line_number, row.line_number, row.count, seqs, why)
        if run is None or not _follows(run, one):
            if run is not None:
                yield run
            run = one
            continue
        both = run.seqs if seqs is None or run.seqs is None else (run.seqs[0], seqs[1])
        run = attrs.evolve(run, last_line=row.line_number, events=run.events + row.count, seqs=both)
    if run is not None:
        yield run


def _follows(run: Dropped, one: Dropped) -> bool:
    """Whether a line goes on with a run of dropped lines: the next one, its seq as well."""
    if run.last_line + 1 != one.first_line or run.why != one.why:
        return False
    if run.seqs is None or one.seqs is None:
        return run.seqs is one.seqs
    return one.seqs[0] == run.seqs[1] + 1


def plain_spans(rows: Rows, chosen: Sequence[Row]) -> Iterator[Span]:
    """What became of every byte of a plain file."""
    kept = {row.line_number: row for row in chosen}
    last_kept = chosen[-1].line_number if chosen else 0
    pieces: list[tuple[int, str]] = []  # lengths, and why they were dropped
    if rows.has_bom:
        pieces.append((len(BOM), "bom"))
    pieces.append((len(rows.header_line) + 1, ""))
    for row in rows.rows:
        size = len(row.text) + (1 if row.is_ended else 0)
        held = kept.get(row.line_number)
        if held is None:
            pieces.append((size, _why(row, last_kept)))
        elif held.text == row.text:
            pieces.append((size, ""))
        else:
            before = row.text.find(held.text)
            behind = len(row.text) - before - len(held.text)
            pieces += [(before, "nul-run"), (len(held.text), ""), (behind, "nul-run"), (1, "")]
    start = stop = 0
    reason = ""
    for size, why in pieces:
        if not size:
            continue
        if why != reason and stop > start:
            yield Span(start, stop, "dropped" if reason else "kept", reason)
            start = stop
        reason = why
        stop += size
    if stop > start:
        yield Span(start, stop, "dropped" if reason else "kept", reason)


# ---- compressed files ----------------------------------------------------------------------------


def _kept_of_stretches(rows: Rows, chosen: Sequence[Row]) -> list[bytes]:
    """What is kept of each stretch's text, the header line aside."""
    left = {row.line_number for row in chosen}
    texts = [stretch.text for stretch in rows.stretches]
    ends = list(accumulate(map(len, texts)))
    kept: list[list[bytes]] = [[] for _ in texts]
    place, stretch = rows.header_bytes, 0
    for row in rows.rows:
        stop = place + len(row.text) + (1 if row.is_ended else 0)
        while place < stop:
            while ends[stretch] <= place:
                stretch += 1
            start = ends[stretch] - len(texts[stretch])
            upto = min(stop, ends[stretch])
            if row.line_number in left:
                kept[stretch].append(texts[stretch][place - start : upto - start])
            place = upto
    return [b"".join(pieces) for pieces in kept]


def framed_content(rows: Rows, chosen: Sequence[Row]) -> bytes:
    """The kept lines in frames; a frame of which all is kept stays as it is."""
    header = rows.stretches[0]
    is_whole = rows.header_is_alone and not rows.has_bom
    first = rows.content[header.start : header.stop]
    frames = [first if is_whole else compressed(rows.header_line + b"\n")]
    for stretch, text in zip(rows.stretches, _kept_of_stretches(rows, chosen), strict=True):
        if not text:
            continue
        is_same = text == stretch.text and stretch.fault is None
        frames.append(rows.content[stretch.start : stretch.stop] if is_same else compressed(text))
    return b"".join(frames)


def framed_spans(rows: Rows, chosen: Sequence[Row]) -> Iterator[Span]:
    """What became of every frame, and of the bytes between."""
    kept = _kept_of_stretches(rows, chosen)
    for place, (stretch, text) in enumerate(zip(rows.stretches, kept, strict=True)):
        size = len(text) + (rows.header_bytes if place == 0 else 0)
        where = (stretch.start, stretch.stop)
        if size == len(stretch.text) and stretch.fault is None:
            yield Span(*where, "kept", "", stretch.frame)
        elif size:
            why = stretch.fault or "some of its lines are not kept"
            yield Span(*where, "in-part", why, stretch.frame)
        else:
            yield Span(
                *where, "dropped", stretch.fault or "none of its lines are kept", stretch.frame
            )
