"""Log files: what is kept of one, where damage begins, and that the fast reader tells the truth."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Result

import dsh_fp
from dsh_fp.storage.lines import LineFault, Lines, read_line_in_full, scan_lines
from property_specs.core import Core, Log, Refused, code_of
from property_specs.generators.broken_logs import CODES, broken_logs
from property_specs.generators.log_files import (
    HEADER,
    damaged_files,
    encoded,
    event_lines,
    pieces_of,
    poked,
    pokes,
    session_headers,
    whole_files,
)
from property_specs.generators.logs import closed_logs, valid_logs
from property_specs.generators.wild_events import wild_logs
from property_specs.models import files as model
from property_specs.models.acceptance import Book, envelope_fault
from property_specs.models.json_values import exact, settle
from property_specs.profiles import often


@given(content=damaged_files())
@often(4)
def test_scan_matches_the_slow_scanner(core: Core, content: bytes) -> None:
    """By lines and seqs alone, a file keeps what the slow scanner keeps, or is refused alike.

    Generator: damaged_files.
    Oracle:    every line decoded by the recursive reader.
    Catches:   a turn/end behind the damage overlooked, offsets that drift, CR ending a line.
    Broken:    a torn tail is cut off even when a turn was closed in it.
    """
    expected = model.scan(content)

    answer = core.scan(content)

    if isinstance(expected, str):
        assert code_of(answer) == expected
    else:
        kept = {"count": len(expected.events), "good_bytes": expected.good_bytes}
        assert answer == kept


@given(content=damaged_files())
@often(4)
def test_read_matches_the_slow_reader(core: Core, content: bytes) -> None:
    """Reading a file gives the slow reader's events, header and good bytes, or its refusal.

    Generator: damaged_files.
    Oracle:    the slow scanner, then the naive acceptance, then the header's fields.
    Catches:   refusals in another order, -0 and 1e999 let through, bad UTF-8 refused.
    Broken:    a line that is no event ends the log instead of refusing it.
    """
    expected = model.read_file(content)

    answer = core.read(content)

    if isinstance(expected, str):
        assert code_of(answer) == expected
    else:
        book, kept = expected
        assert not isinstance(answer, Refused), answer
        assert exact(answer["events"]) == exact(book.events)
        assert (answer["good_bytes"], answer["size"]) == (kept.good_bytes, len(content))


@given(lines=event_lines(), fragment=st.sampled_from([b"", b"", b"{", b"\x00", b"{}"]))
@often(4)
def test_fast_lines_equal_slow(lines: list[bytes], fragment: bytes) -> None:
    """The reader of whole pieces gives what the plain reader gives line by line.

    Generator: event_lines, odd in every known way; this library's own objects.
    Oracle:    read_line_in_full on each line.
    Catches:   a lossy number, bad byte or odd key that the fast route lets pass.
    Broken:    the fast route overlooks -0.
    """
    content = b"".join(line + b"\n" for line in lines) + fragment
    fast = scan_lines([content], 0)

    events: list[Any] = []
    refused: Any = None
    fault: LineFault | None = None
    starts, place = [], 0
    for index, line in enumerate(lines):
        made = read_line_in_full(line, index)
        if isinstance(made, LineFault):
            fault = made
            break
        if refused is None and isinstance(made, dsh_fp.Rejection):
            refused = made
        elif refused is None:
            assert isinstance(made, dsh_fp.Event)
            events.append(made)
        starts.append(place)
        place += len(line) + 1

    assert _texts(fast) == [event.to_text() for event in events]
    assert fast.events == events
    assert list(fast.starts) == starts
    assert fast.good_bytes == place
    assert (fast.refused and fast.refused.code) == (refused and refused.code)
    if fault is not None:
        assert fast.fault is not None
        assert (fast.fault.index, fast.fault.reason) == (fault.index, fault.reason)
    else:
        assert (fast.fault is not None) == bool(fragment)


@given(lines=event_lines(), fragment=st.sampled_from([b"", b"{", b"\xe2\x80"]), data=st.data())
@often(3)
def test_pieces_do_not_matter(lines: list[bytes], fragment: bytes, data: st.DataObject) -> None:
    """However a file's bytes are cut into pieces, the same lines come out.

    Generator: event_lines, cut anywhere; this library's own objects.
    Oracle:    the bytes in one piece.
    Catches:   a line, a character or an offset lost between two pieces.
    Broken:    of a line in several pieces the first is forgotten.
    """
    content = b"".join(line + b"\n" for line in lines) + fragment

    whole = _shown(scan_lines([content], 7))
    in_pieces = _shown(scan_lines(data.draw(pieces_of(content)), 7))

    assert in_pieces == whole


def _texts(lines: Lines) -> list[str]:
    return [event.to_text() for event in lines.events if isinstance(event, dsh_fp.Event)]


def _shown(lines: Lines) -> tuple[Any, ...]:
    return (
        _texts(lines),
        list(lines.starts),
        (lines.good_bytes, lines.size),
        lines.refused,
        lines.fault,
        lines.bad_utf8,
    )


@given(content=whole_files(), data=st.data())
@often(2)
def test_good_prefix_survives_any_cut(core: Core, content: bytes, data: st.DataObject) -> None:
    """However a sound file is cut short, reading it keeps every whole event and never raises.

    Generator: whole_files, cut at any byte, often right behind a line.
    Oracle:    the slow scanner.
    Catches:   a good event dropped with the torn tail, a cut inside a character.
    Broken:    a line that ends with its piece counts as unfinished.
    """
    line_ends = [place + 1 for place, byte in enumerate(content) if byte == 0x0A]
    cut = data.draw(st.integers(0, len(content)) | st.sampled_from([0, *line_ends]))

    answer = core.read(content[:cut])

    kept = model.scan(content[:cut])
    if isinstance(kept, str):
        assert kept == "LOG_HEADER_INVALID"
        assert code_of(answer) == kept
    else:
        assert not isinstance(answer, Refused), answer
        assert len(answer["events"]) == content[:cut].count(b"\n") - 1
        assert answer["good_bytes"] == kept.good_bytes
        codes = [finding["code"] for finding in answer["findings"]]
        assert ("TORN_TAIL" in codes) is kept.torn


@given(content=whole_files() | damaged_files(), data=st.data())
@often(2)
def test_reading_any_bytes_answers(core: Core, content: bytes, data: st.DataObject) -> None:
    """Whatever bytes stand over others in a file, reading answers and never raises.

    Generator: whole_files and damaged_files with up to four bytes put over.
    Oracle:    the slow reader, for the code.
    Catches:   exceptions of decoders on their way out.
    Broken:    bytes that are no UTF-8 raise.
    """
    for _ in range(data.draw(st.integers(0, 4))):
        content = poked(content, data.draw(st.integers(0, 2000)), data.draw(pokes()))

    answer = core.read(content)

    expected = model.read_file(content)
    assert code_of(answer) == (expected if isinstance(expected, str) else None)


@given(content=damaged_files())
@often(0.5)
def test_path_bytes_and_stream_read_alike(content: bytes) -> None:
    """A path, its bytes and a binary stream of them are read alike, refusals included.

    Generator: damaged_files; this library's own objects.
    Oracle:    the other two.
    Catches:   a source that goes its own way.
    Broken:    bytes are read without their last one.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_bytes(content)
        sources: Sequence[Any] = (path, str(path), content, bytearray(content), io.BytesIO(content))
        answers = [_told(dsh_fp.read(source)) for source in sources]
        assert path.read_bytes() == content

    assert all(answer == answers[0] for answer in answers)


def _told(answer: Result[dsh_fp.LogFile, dsh_fp.Rejection]) -> Any:
    """What a reading comes to, the file's name and what follows from it aside."""
    if isinstance(answer, Failure):
        return attrs.evolve(answer.failure(), file=None)
    log = answer.unwrap()
    findings = [attrs.evolve(f, file=None) for f in log.findings if f.code != "ID_MISMATCH"]
    return log.header, list(log.session), log.good_bytes, log.size, findings


@given(log=valid_logs(), fields=session_headers())
@often(2)
def test_log_decode_inverts_encode(core: Core, log: Log, fields: dict[str, Any]) -> None:
    """What is written is read back, and written again gives the same bytes.

    Generator: valid_logs under session_headers.
    Oracle:    the log; the recursive writer.
    Catches:   key order, spelling or a header field lost on the way.
    Broken:    the header line puts id before version.
    """
    content = core.encode_log(fields, log)

    assert content == encoded(log, fields)
    answer = core.read(content)
    assert not isinstance(answer, Refused), answer
    assert exact(answer["events"]) == exact(log)
    assert answer["header"] == fields
    assert core.encode_log(answer["header"], answer["events"]) == content


@given(content=damaged_files())
@often(3)
def test_findings_point_at_their_lines(core: Core, content: bytes) -> None:
    """Every finding that names a line names its number, seq and offset in the file's own bytes.

    Generator: damaged_files.
    Oracle:    the file's bytes, split at LF.
    Catches:   offsets off by a line or counted in characters.
    Broken:    line numbers count from zero.
    """
    answer = core.read(content)

    if not isinstance(answer, Refused):
        lines = content.split(b"\n")
        for finding in answer["findings"]:
            if "line" in finding:
                before = b"".join(line + b"\n" for line in lines[: finding["line"] - 1])
                offset = finding["byte_offset"]
                assert len(before) <= offset <= len(before) + len(lines[finding["line"] - 1])
                if "seq" in finding:
                    assert finding["line"] == finding["seq"] + 2


@given(log=closed_logs(), place=st.integers(0, 400))
def test_damage_before_a_closed_turn_is_corrupt(core: Core, log: Log, place: int) -> None:
    """A file damaged before its last turn/end is refused whole: LOG_CORRUPT.

    Generator: closed_logs in which one line before the last is made unreadable.
    Oracle:    none needed.
    Catches:   committed turns dropped as if they were a torn tail.
    Broken:    only the damaged line itself is looked at for a turn/end.
    """
    lines = encoded(log).split(b"\n")
    broken = 1 + place % (len(lines) - 3) if len(lines) > 3 else None
    if broken is not None:
        lines[broken] = b"{" + lines[broken]

    answer = core.read(b"\n".join(lines))

    assert code_of(answer) == (None if broken is None else "LOG_CORRUPT")


@given(log=wild_logs() | st.sampled_from(CODES).flatmap(broken_logs))
@often(4)
def test_lines_are_accepted_like_values(core: Core, log: list[Any]) -> None:
    """A file of any events is refused where and why the events themselves are, with its line.

    Generator: wild_logs and broken_logs, up to the first event that JSON text cannot hold, or
               whose seq makes it a torn tail.
    Oracle:    acceptance of the plain values.
    Catches:   a short cut for undecoded events that sees less than acceptance does.
    Broken:    an undecoded event may cite itself.
    """
    kept = []
    for seq, event in enumerate(log):
        if not isinstance(event, dict) or envelope_fault(event) == "NOT_JSON":
            break
        if type(event.get("seq")) is bool or event.get("seq") != seq:
            break
        kept.append(settle(event))

    answer, expected = core.read(encoded(kept)), core.accept(kept)

    assert code_of(answer) == code_of(expected)
    if isinstance(answer, Refused) and isinstance(expected, Refused):
        assert answer.seq == expected.index
        assert answer.path == expected.path


@given(log=valid_logs())
def test_reading_needs_no_luck(core: Core, log: Log) -> None:
    """A sound file of any accepted log is read whole and is good to its last byte.

    Generator: valid_logs, payloads of every kind.
    Oracle:    the list model.
    Catches:   odd payloads taken for damage.
    Broken:    the good bytes end before the last LF.
    """
    content = encoded(log, HEADER)
    book = Book()
    for event in log:
        book.take(event)

    answer = core.read(content)

    assert not isinstance(answer, Refused), answer
    assert answer["good_bytes"] == answer["size"] == len(content)
    assert "TORN_TAIL" not in [finding["code"] for finding in answer["findings"]]
    assert exact(answer["events"]) == exact(book.events)
