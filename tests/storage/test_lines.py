"""The lines of a log: which are whole, which hold an event, where damage begins."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import MAX_DEPTH, Code, Event, Rejection
from dsh_fp.core.packed import PackedRun
from dsh_fp.storage.lines import (
    PIECE_BYTES,
    LineFault,
    in_pieces,
    read_line,
    read_line_in_full,
    scan_lines,
)
from tests.core.making import event, nested, note, turn_end, user
from tests.storage.logs import line

LINES: dict[str, bytes] = {
    "plain": line(note(3))[:-1],
    "surface": line(user(3, "ä🌱", sourceEventSeqs=[0]))[:-1],
    "odd order": b'{"data":1,"seq":3,"type":"x","time":4}',
    "spaces": b' { "type":"x" , "seq":3,"time":4,\t"data":[ ] } \r',
    "floats": b'{"type":"x","seq":3.0,"time":4e0,"data":1.0}',
    "null marker": b'{"type":"x","seq":3,"time":4,"data":1,"surfaceOp":null}',
    "duplicate keys": b'{"type":"y","seq":9,"time":4,"data":1,"seq":3,"type":"x"}',
    "escaped keys": rb'{"t\u0079pe":"x","seq":3,"time":4,"d\u0061ta":1}',
    "lone half": rb'{"type":"x","seq":3,"time":4,"data":"\ud800"}',
    "bad bytes": b'{"type":"x","seq":3,"time":4,"data":"\xff"}',
    "looks lossy": b'{"type":"x","seq":3,"time":4,"data":["-0",":-0","1e999"]}',
    "lossy": b'{"type":"x","seq":3,"time":4,"data":[-0]}',
    "overflow": b'{"type":"x","seq":3,"time":4,"data":1e999}',
    "many digits": b'{"type":"x","seq":3,"time":4,"data":' + b"1" * 5000 + b"}",
    "long fraction": b'{"type":"x","seq":3,"time":4,"data":0.' + b"1" * 5000 + b"}",
    "deep": line(event("x", 3, nested(900)))[:-1],
    "at the limit": b'{"type":"x","seq":3,"time":4,"data":%s}'
    % (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH),
    "beyond it": b'{"type":"x","seq":3,"time":4,"data":[%s]}'
    % (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH),
    "extra key": b'{"type":"x","seq":3,"time":4,"data":1,"origin":null}',
    "bad time": b'{"type":"x","seq":3,"time":-4,"data":1}',
    "missing data": b'{"type":"x","seq":3,"time":4}',
    "wrong seq": line(note(4))[:-1],
    "repeated seq": line(note(2))[:-1],
    "true seq": b'{"type":"x","seq":true,"time":4,"data":1}',
    "no object": b"[]",
    "blank": b"",
    "nul": b"\x00\x00",
    "broken": b'{"type":"x"',
}


def told(made: Event | PackedRun | Rejection | LineFault) -> object:
    """What was found, as something two routes can be compared by."""
    return made.to_text() if isinstance(made, Event) else made


@pytest.mark.parametrize("name", LINES)
def test_the_fast_way_and_the_full_parser_agree(name: str) -> None:
    """Whatever a line is, a quick look never finds it to be something else."""
    assert told(read_line(LINES[name], 3)) == told(read_line_in_full(LINES[name], 3))


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_the_same_alone_and_among_many(name: str) -> None:
    """Being read in a piece with sound neighbours changes nothing."""
    bad = LINES[name] + b"\n"
    before = b"".join(line(note(seq)) for seq in range(3))
    alone = read_line_in_full(LINES[name], 3)

    lines = scan_lines([before + bad + line(note(4))], 0)

    if isinstance(alone, Event):
        assert told(lines.events[3]) == alone.to_text()
        assert (lines.count, lines.refused, lines.fault) == (5, None, None)
    elif isinstance(alone, Rejection):
        assert lines.refused == alone.at(seq=3, index=3, line_number=5, byte_offset=len(before))
        assert (len(lines.events), lines.count) == (3, 5)
    else:
        assert isinstance(alone, LineFault)
        assert lines.fault is not None
        assert (lines.fault.index, lines.fault.reason) == (3, alone.reason)
        assert (lines.count, lines.fault.dropped_lines) == (3, 2)


@pytest.mark.parametrize("size", [1, 2, 7, 100, 10_000])
def test_pieces_may_end_anywhere(size: int) -> None:
    """The same bytes in pieces of any size are the same lines."""
    content = b"".join([line(note(0)), line(user(1, "ä🌱")), line(note(2)), b"oops\n", b"tail"])

    whole = scan_lines([content], 50)
    cut = scan_lines([content[at : at + size] for at in range(0, len(content), size)], 50)

    assert list(map(told, cut.events)) == list(map(told, whole.events))
    assert list(cut.starts) == list(whole.starts)
    assert (cut.good_bytes, cut.size, cut.fault) == (whole.good_bytes, whole.size, whole.fault)
    assert cut.size == 50 + len(content)


def test_every_kept_line_has_its_offset() -> None:
    """Offsets count from the start of the file, in bytes."""
    lines = [line(user(0, "ä🌱")), line(note(1)), line(note(2))]

    scanned = scan_lines([b"".join(lines)], 100)

    assert list(scanned.starts) == [100, 100 + len(lines[0]), 100 + len(lines[0]) + len(lines[1])]
    assert scanned.good_bytes == scanned.size == 100 + sum(map(len, lines))


def test_no_lines_are_no_events() -> None:
    """Nothing behind the header is a log without events."""
    scanned = scan_lines([], 77)

    assert (scanned.events, scanned.count, scanned.good_bytes, scanned.fault) == ([], 0, 77, None)


def test_lines_behind_a_refused_one_are_kept_but_not_decoded() -> None:
    """The run of lines goes on, events do not: the refusal is the answer."""
    content = line(note(0)) + line({"seq": 1}) + line(note(2)) + line(note(3))

    scanned = scan_lines([content], 0)

    assert (len(scanned.events), scanned.count) == (1, 4)
    assert scanned.refused is not None
    assert (scanned.refused.code, scanned.refused.seq) == (Code.BAD_ENVELOPE, 1)


@pytest.mark.parametrize(
    ("behind", "follows"),
    [
        (b"", False),
        (line(note(9)), False),
        (line(turn_end(9)), True),
        (line(note(9)) * 50 + line(turn_end(9)), True),
        (line(turn_end(9))[:-1], False),
    ],
)
def test_the_lines_behind_a_fault_are_searched_for_a_closed_turn(
    behind: bytes, follows: bool
) -> None:
    """A terminated `turn/end` anywhere behind says that the damage was committed."""
    scanned = scan_lines([line(note(0)) + b"oops\n" + behind], 0)

    assert scanned.fault is not None
    assert scanned.fault.turn_end_follows is follows
    assert scanned.fault.dropped_bytes == len(b"oops\n" + behind)


def test_an_event_keeps_its_own_line() -> None:
    """Payloads stay text until looked at; the line is there as it was read."""
    odd = b'{"type":"x", "seq":0,"time":1,"data":[1.0]}'

    scanned = scan_lines([odd + b"\n"], 0)

    (event,) = scanned.events
    assert isinstance(event, Event)
    assert event.line == odd
    assert event.data == [1]


def test_bytes_are_cut_into_pieces_that_make_them_again() -> None:
    """Pieces of one size, the last as long as it must be."""
    content = bytes(range(256)) * (PIECE_BYTES // 256) + b"rest"

    pieces: list[Any] = list(in_pieces(content))

    assert [len(piece) for piece in pieces] == [PIECE_BYTES, 4]
    assert b"".join(pieces) == content
    assert list(in_pieces(b"")) == []
