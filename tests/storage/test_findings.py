"""What is worth knowing about a log that could be read, each with its place in the file."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from dsh_fp import Code, Rejection, encode_log, past_requests, read
from dsh_fp.storage.findings import numbers_that_change
from tests.core.making import (
    asking,
    assistant,
    call,
    delta,
    event,
    header,
    note,
    replacing,
    result,
    step_end,
    step_start,
    turn_end,
    turn_start,
    user,
)
from tests.storage.logs import HEADER, codes, header_with, line, log, opened


def found(content: bytes) -> Rejection:
    """The only finding of a log."""
    (finding,) = opened(content).findings
    return finding


def placed(finding: Rejection) -> tuple[str, str, int | None, int | None, int | None]:
    """Code, severity, seq, line and byte offset of a finding."""
    return (
        finding.code.value,
        finding.severity,
        finding.seq,
        finding.line_number,
        finding.byte_offset,
    )


def numbers(*literals: str) -> bytes:
    """A sound turn whose middle event, seq 1, holds these literals."""
    data = f'{{"type":"x","seq":1,"time":1001,"data":[{",".join(literals)}]}}\n'
    return log(turn_start(0), data.encode(), turn_end(2))


FIRST = len(HEADER)
SECOND = FIRST + len(line(turn_start(0)))


def test_a_turn_left_open_is_a_finding() -> None:
    """The last event is its place: behind it something is missing."""
    finding = found(log(turn_start(0, turn=1), note(1)))

    assert placed(finding) == ("TURN_NOT_CLOSED", "finding", 1, 3, SECOND)
    assert "1" in finding.message


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([turn_start(0), turn_start(1, turn=2), turn_end(2, turn=2)], "TURN_ALREADY_OPEN"),
        ([turn_start(0), turn_end(1, turn=2)], "TURN_MISMATCH"),
        (
            [turn_start(0), step_start(1, turn=2), step_end(2, turn=2), turn_end(3, 2)],
            "STEP_TURN_MISMATCH",
        ),
        ([turn_start(0), step_start(1, step=2), step_end(2, step=2), turn_end(3)], "STEP_NUMBER"),
        ([turn_start(0), assistant(1), step_end(2), turn_end(3)], "NOT_IN_OPEN_STEP"),
        ([turn_start(0), turn_end(1), note(2)], "OUTSIDE_TURN"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_breach_of_the_nesting_is_a_finding(events: list[Any], code: str) -> None:
    """With the seq, line and offset of the event that breaks the rule."""
    content = log(*events)
    seq = 2 if code == "OUTSIDE_TURN" else 1

    finding = opened(content).findings[0]

    offset = len(log(*events[:seq]))
    assert placed(finding) == (code, "finding", seq, seq + 2, offset)
    assert finding.data == {"type": events[seq]["type"]}


def test_all_breaches_are_listed() -> None:
    """Not the first only, and in file order."""
    content = log(
        note(0), turn_start(1, turn=3), step_start(2, 3), result(3, "a", 3), turn_end(4, 3)
    )

    assert codes(opened(content).findings) == [
        "OUTSIDE_TURN",
        "TURN_NUMBER",
        "RESULT_WITHOUT_CALL",
        "STEP_OPEN_AT_TURN_END",
    ]


def test_a_payload_that_makes_no_message_is_a_finding() -> None:
    """Also when the event was replaced later: it was seen in its time."""
    bad = event("user/message", 1, {"content": 5}, surfaceOp="append")

    finding = found(log(turn_start(0), bad, replacing(2, 1, 1, cites=[1]), turn_end(3)))

    assert placed(finding) == ("PAYLOAD_INVALID", "finding", 1, 3, SECOND)
    assert finding.path == "$.data.content"


def test_a_header_event_that_cannot_be_folded_is_a_finding() -> None:
    """Each such event once; deltas under its fault add nothing."""
    content = log(
        turn_start(0),
        delta(1, config={}),
        delta(2, config={}),
        header(3),
        delta(4, tools=5),
        header(5, system=5),
        turn_end(6),
    )

    made = opened(content).findings

    assert [(finding.code.value, finding.seq, finding.line_number) for finding in made] == [
        ("HEADER_DELTA_WITHOUT_SNAPSHOT", 1, 3),
        ("HEADER_INVALID", 4, 6),
        ("HEADER_INVALID", 5, 7),
    ]
    assert {finding.severity for finding in made} == {"finding"}
    assert all(finding.byte_offset == len(log()) or finding.byte_offset for finding in made)


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        (call(2, ""), "$.data.callId"),
        (result(2, "", error={"name": "E", "code": "interrupted"}, isError=True), "$.data.callId"),
        (assistant(2, asking("a"), asking("")), "$.data.content[1].id"),
    ],
    ids=["tool/call", "tool/result", "assistant/message"],
)
def test_an_empty_call_id_is_a_finding(bad: dict[str, Any], path: str) -> None:
    """Later formats refuse it: named by path in each of the three places."""
    content = log(turn_start(0), step_start(1), bad, step_end(3), turn_end(4))

    finding = found(content)

    assert placed(finding)[:4] == ("EMPTY_CALL_ID", "finding", 2, 4)
    assert finding.path == path


def test_a_clock_set_back_is_a_note() -> None:
    """With both times as facts; a clock that stands still is nothing."""
    content = log(turn_start(0), {**note(1), "time": 1000}, {**note(2), "time": 400}, turn_end(3))

    finding = found(content)

    assert placed(finding)[:4] == ("TIME_GOES_BACK", "note", 2, 4)
    assert finding.data == {"before_ms": 1000, "after_ms": 400}


def test_header_keys_of_no_meaning_are_a_note() -> None:
    """They are read past and will not be written again."""
    finding = found(log(header=header_with(title="x", seed=None)))

    assert placed(finding) == ("HEADER_KEYS_DROPPED", "note", None, 1, 0)
    assert finding.data == {"keys": ("title", "seed")}


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("s-1.jsonl", None),
        ("s-2.jsonl", "s-2"),
        ("~00E4.jsonl", "ä"),
        ("~00e4.jsonl", None),
        ("my log.jsonl", None),
        ("s-2.txt", None),
        ("s-2", None),
    ],
)
def test_a_file_named_for_another_session_is_a_note(
    tmp_path: pathlib.Path, name: str, named: str | None
) -> None:
    """Only a name that encodes an id says whose log it is."""
    path = tmp_path / name
    path.write_bytes(HEADER)

    made = read(path).unwrap().findings

    assert [(finding.code.value, finding.severity) for finding in made] == (
        [] if named is None else [("ID_MISMATCH", "note")]
    )
    assert [finding.data for finding in made] == (
        [] if named is None else [{"file_says": named, "header_says": "s-1"}]
    )


def test_bytes_that_are_no_utf8_are_a_finding() -> None:
    """With the offset of the first bad byte of the line, counted in the file's own bytes."""
    bad = line(user(1, "aX and X")).replace(b"X", b"\xff")

    finding = found(log(turn_start(0), bad, turn_end(2)))

    assert placed(finding) == ("INVALID_UTF8", "finding", 1, 3, SECOND + bad.index(b"\xff"))


@pytest.mark.parametrize(
    "bad",
    [b"\x80", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x8c"],
    ids=["stray", "cut", "overlong", "encoded half", "beyond Unicode", "cut of four"],
)
def test_every_way_of_being_no_utf8_is_found(bad: bytes) -> None:
    """Halves encoded as bytes, overlong and cut sequences are no UTF-8."""
    content = log(turn_start(0), line(user(1, "aXb")).replace(b"X", bad), turn_end(2))

    made = opened(content)

    assert codes(made.findings) == ["INVALID_UTF8"]
    assert "\ufffd" in made.session.events[1].data["content"][0]["text"]


def test_bad_bytes_in_the_header_line_are_a_finding() -> None:
    """The header's text was lost like any other: line 1, no seq, the byte's own offset."""
    first = header_with(cwd="/aX").replace(b"X", b"\xff")

    made = opened(log(header=first))

    assert made.header.cwd == "/a\ufffd"
    assert [placed(finding) for finding in made.findings] == [
        ("INVALID_UTF8", "finding", None, 1, first.index(b"\xff"))
    ]


@pytest.mark.parametrize(
    ("literal", "kept"),
    [
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740993", "-9007199254740992"),
        ("1e-400", "0"),
        ("0.1000000000000000055511151231257827", "0.1"),
        ("123456789012345678901234567890", "1.2345678901234568e+29"),
        ("2.2250738585072011e-308", "2.225073858507201e-308"),
        ("0.30000000000000004441", "0.30000000000000004"),
    ],
)
def test_a_literal_that_would_be_written_otherwise_is_a_finding(literal: str, kept: str) -> None:
    """PRECISION names the literal and what readers keep instead, with the event's place."""
    finding = found(numbers("1", literal))

    assert placed(finding) == ("PRECISION", "finding", 1, 3, SECOND)
    assert finding.data == {"literal": literal, "written": kept}


@pytest.mark.parametrize(
    "literal",
    [
        "0.1",
        "1.0",
        "1E2",
        "100",
        "9007199254740992",
        "0.30000000000000004",
        "1e21",
        "1000000000000000000000",
        "5e-324",
        "1.7976931348623157e308",
        "0.000000000000000000000",
        "0e-999",
        "1.5000000000000000000000000",
        "0.00000000000000000000000000000000000000000000015",
        "10000000000000000000000e-22",
        '"9007199254740993"',
        '"a\\"9007199254740993"',
        "1e00000000000000000000000000000000002",
    ],
)
def test_another_spelling_of_the_same_number_is_no_finding(literal: str) -> None:
    """Zeros, exponents and strings lose nothing."""
    assert opened(numbers(literal)).findings == ()


def test_each_literal_is_its_own_finding() -> None:
    """Two in one line are two."""
    made = opened(numbers("9007199254740993", "1e-400")).findings

    assert codes(made) == ["PRECISION", "PRECISION"]


@pytest.mark.parametrize(
    "beside",
    [r'"\ud800"', r'{"\udc00":1}', "[" * 3000 + "]" * 3000],
    ids=["lone half", "lone half in a key", "depth"],
)
def test_a_long_literal_is_found_in_an_unusual_line_too(beside: str) -> None:
    """Lines that only the full parser reads are looked at like the others."""
    assert codes(opened(numbers("9007199254740993", beside)).findings) == ["PRECISION"]


def test_a_long_literal_in_the_envelope_is_found() -> None:
    """A time is a number like another."""
    content = log(
        b'{"type":"turn/start","seq":0,"time":1.00000000000000000001,"data":{"turn":1}}\n',
        turn_end(1),
    )

    assert codes(opened(content).findings) == ["PRECISION"]


def test_a_long_literal_in_the_header_line_is_found() -> None:
    """The creation time would be written back as another number: line 1, byte 0."""
    content = HEADER.replace(b"1700", b"9007199254740993")

    made = opened(content).findings

    assert [(finding.code.value, finding.seq, finding.line_number) for finding in made] == [
        ("PRECISION", None, 1)
    ]


def test_bad_utf8_beside_a_long_literal_hides_nothing() -> None:
    """Both findings of one line are listed."""
    content = numbers("9007199254740993", '"X"').replace(b"X", b"\xff")

    assert sorted(codes(opened(content).findings)) == ["INVALID_UTF8", "PRECISION"]


def test_findings_do_not_depend_on_what_was_asked_before() -> None:
    """Looking at payloads, writing the events, or pickling them takes nothing away."""
    content = numbers("9007199254740993") + b"torn"
    untouched, used = opened(content), opened(content)

    used.session.messages().unwrap()
    past_requests(used.session)
    encode_log(used.header, used.session)
    [(made.to_wire(), made.data, made.key_order, hash(made)) for made in used.session]

    assert used.findings == untouched.findings
    assert codes(used.findings) == ["PRECISION", "TORN_TAIL"]


def test_findings_stand_in_file_order() -> None:
    """The header line's first, then by place, the torn tail last."""
    content = log(
        note(0),
        line({**user(1, "X"), "time": 5}).replace(b"X", b"\xff"),
        turn_start(2),
        b'{"type":"x","seq":3,"time":1003,"data":1e-400}\n',
        event("user/message", 4, {}, surfaceOp="append"),
        b"{torn",
        header=header_with(title="x"),
    )

    made = opened(content).findings

    assert codes(made) == [
        "HEADER_KEYS_DROPPED",
        "OUTSIDE_TURN",
        "TIME_GOES_BACK",
        "OUTSIDE_TURN",
        "INVALID_UTF8",
        "PRECISION",
        "PAYLOAD_INVALID",
        "TURN_NOT_CLOSED",
        "TORN_TAIL",
    ]
    lines = [finding.line_number or 0 for finding in made]
    assert lines == sorted(lines)


def test_findings_name_the_file(tmp_path: pathlib.Path) -> None:
    """Each says which file it is about."""
    path = tmp_path / "s-2.jsonl"
    path.write_bytes(log(note(0), b"torn", header=header_with(x=1)))

    made = read(path).unwrap().findings

    assert len(made) == 4
    assert {finding.file for finding in made} == {str(path)}


def test_the_tail_is_no_part_of_the_findings_before_it() -> None:
    """What was dropped is not judged: bad bytes, numbers and breaches in it are not listed."""
    content = log(turn_start(0), turn_end(1), b"oops\n", b"\xff\n", note(9))

    assert codes(opened(content).findings) == ["TORN_TAIL"]


@pytest.mark.parametrize(
    "tail",
    [
        b'{"type":"x","seq":1e999,"time":1,"data":1}\n',
        b'{"type":"x","seq":-1e999,"time":1,"data":1}\n',
        b'{"type":"x","seq":' + b"9" * 5000 + b',"time":1,"data":1}\n',
        line({**note(7), "seq": "a\nb"}),
    ],
    ids=["overflow", "negative overflow", "5,000 digits", "text"],
)
def test_every_finding_can_be_sent_as_json(tail: bytes) -> None:
    """The wire form is strict JSON whatever the damage holds."""
    made = opened(log(turn_start(0), turn_end(1), tail)).findings

    sent = [json.loads(json.dumps(finding.to_wire(), allow_nan=False)) for finding in made]

    assert [wire["code"] for wire in sent] == ["TORN_TAIL"]
    assert sent[0]["line"] == 4


def test_a_turn_named_by_a_stranger_is_made_safe() -> None:
    """The sentence about an open turn stays one short line."""
    strange = "\x9b31m\u2028\u202e" + "x" * 10_000

    made = opened(log(turn_start(0, turn=strange))).findings

    assert made[-1].code is Code.TURN_NOT_CLOSED
    assert all(finding.message.isprintable() for finding in made)
    assert all(len(finding.message) < 500 for finding in made)


def test_numbers_that_change_are_found_in_any_text() -> None:
    """Strings, keys and escapes are told apart from numbers."""
    text = r'{"1e-400":"\"9007199254740993","a":[9007199254740993,-0.10,{"b":1e-400}],"c":"\\"}'

    assert list(numbers_that_change(text)) == ["9007199254740993", "1e-400"]
