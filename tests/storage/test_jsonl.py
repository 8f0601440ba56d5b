"""Reading a log: whatever the source, whatever the damage, and the bytes it came from."""

from __future__ import annotations

import io
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

from dsh_fp import (
    MAX_DEPTH,
    STANDARD,
    Code,
    LogFile,
    MessageRule,
    Role,
    Session,
    SessionHeader,
    TypeRule,
    encode_log,
    past_requests,
    read,
    scan_log,
)
from tests.core.making import (
    assistant,
    event,
    header,
    note,
    replacing,
    step_end,
    step_start,
    turn_end,
    turn_start,
    user,
)
from tests.storage.logs import HEADER, codes, header_with, line, log, opened, refusal

SOUND = log(
    turn_start(0),
    header(1),
    user(2, "Rain?"),
    step_start(3),
    assistant(4),
    step_end(5),
    turn_end(6),
)


# ---- sources --------------------------------------------------------------------------------


def test_a_log_is_read_with_everything_that_follows_from_it() -> None:
    """Header, session, size, and no findings for a sound log."""
    made = opened(SOUND)

    assert made.header == SessionHeader(id="s-1", created_at=1700)
    assert made.session.header is made.header
    assert (len(made.session), made.session.surface.seqs) == (7, (2, 4))
    assert len(past_requests(made.session)) == 1
    assert made.good_bytes == made.size == len(SOUND)
    assert made.findings == ()
    assert made.unknown_types == {}
    assert made.file is None


def test_a_header_alone_is_a_log_without_events() -> None:
    """The shortest log is its header line."""
    made = opened(HEADER)

    assert (len(made.session), made.good_bytes, made.findings) == (0, len(HEADER), ())


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, io.BytesIO])
def test_bytes_of_any_kind_are_content(kind: Callable[[bytes], Any]) -> None:
    """Bytes are the log itself, never a path."""
    made = read(kind(SOUND)).unwrap()

    assert made.session == opened(SOUND).session
    assert made.file is None


@pytest.mark.parametrize("kind", [str, pathlib.Path, os.fspath])
def test_a_path_may_be_text_or_a_path_object(
    tmp_path: pathlib.Path, kind: Callable[[Any], Any]
) -> None:
    """The file's name stands in the answer, as given."""
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(SOUND)

    made = read(kind(path)).unwrap()

    assert made.session == opened(SOUND).session
    assert made.file == str(path)


def test_an_open_file_is_read_and_named(tmp_path: pathlib.Path) -> None:
    """A binary file is read from where it stands, named by its name and left open."""
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(SOUND)

    with path.open("rb") as stream:
        made = read(stream).unwrap()
        is_open = not stream.closed

    assert made.file == str(path)
    assert made.session == opened(SOUND).session
    assert is_open


def test_a_stream_that_trickles_is_the_same_log() -> None:
    """A stream may give as few bytes at a time as it likes."""

    class Trickle(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(1)

    content = log(turn_start(0), user(1, "ä🌱"), note(2), turn_end(3), b'{"torn')

    made = read(Trickle(content)).unwrap()

    assert made.session == opened(content).session
    assert made.good_bytes == opened(content).good_bytes
    assert made.findings == opened(content).findings


def test_a_missing_file_is_unreadable(tmp_path: pathlib.Path) -> None:
    """FILE_UNREADABLE names the file and says what the system said."""
    path = str(tmp_path / "missing.jsonl")

    fault = read(path).failure()

    assert (fault.code, fault.file) == (Code.FILE_UNREADABLE, path)
    assert "No such file" in fault.message


def test_a_directory_is_unreadable(tmp_path: pathlib.Path) -> None:
    """A folder is no log."""
    fault = read(tmp_path).failure()

    assert (fault.code, fault.file) == (Code.FILE_UNREADABLE, str(tmp_path))


@pytest.mark.parametrize("name", ["a\x00b.jsonl", "\ud800.jsonl"], ids=["NUL", "lone half"])
def test_a_name_that_no_file_can_have_is_unreadable(name: str) -> None:
    """A path the system cannot even be asked for is FILE_UNREADABLE, no ValueError."""
    fault = read(name).failure()

    assert (fault.code, fault.file) == (Code.FILE_UNREADABLE, name)


def test_a_file_in_text_mode_is_a_type_error(tmp_path: pathlib.Path) -> None:
    """A wrong Python type in a call is raised at once."""
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(SOUND)

    with path.open(encoding="utf-8") as stream, pytest.raises(TypeError, match="binary"):
        read(stream)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("given", [None, 5, 1.5, ["s-1.jsonl"], {"a": 1}, object()])
def test_what_is_no_source_is_a_type_error(given: Any) -> None:
    """Nothing else is taken, no file descriptor either."""
    with pytest.raises(TypeError):
        read(given)


def test_reading_never_writes(tmp_path: pathlib.Path) -> None:
    """Damage, torn tails and open turns stay as they are on disk, the folder too."""
    contents = {
        "torn.jsonl": SOUND + b'{"type":"x"',
        "open.jsonl": log(turn_start(0), step_start(1)),
        "corrupt.jsonl": log(note(0), b"\n", turn_end(1)),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        os.utime(tmp_path / name, (1000, 1000))

    for name in contents:
        read(tmp_path / name).map(lambda made: (made.findings, made.session.messages()))

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == contents
    assert {path.stat().st_mtime for path in tmp_path.iterdir()} == {1000}


def test_a_read_only_file_can_be_read() -> None:
    """Reading asks for no right to write."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "s-1.jsonl")
        path.write_bytes(SOUND)
        path.chmod(0o400)

        made = read(path)

    assert len(made.unwrap().session) == 7


# ---- the header line ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty-log"),
        (b"\n", "not-a-header"),
        (HEADER.rstrip(b"\n"), "no-complete-line"),
        (b"{", "no-complete-line"),
        (b"\xef\xbb\xbf" + HEADER, "bom"),
        (b"\x28\xb5\x2f\xfd\x00\x01", "empty-log"),
        (b"not json\n", "not-a-header"),
        (b"null\n", "not-a-header"),
        (b"[]\n", "not-a-header"),
        (b'"session"\n', "not-a-header"),
        (b"\x00" * 100 + b"\n", "not-a-header"),
        (line(note(0)), "not-a-header"),
        (header_with(type="Session"), "not-a-header"),
        (header_with(type=...), "not-a-header"),
        (header_with(version=...), "not-a-header"),
        (header_with(version="0"), "not-a-header"),
        (header_with(version=None), "not-a-header"),
        (header_with(version=False), "not-a-header"),
        (header_with(version=True), "not-a-header"),
        (header_with(id=...), "not-a-header"),
        (header_with(id=5), "not-a-header"),
        (header_with(id=None), "not-a-header"),
        (header_with(createdAt=...), "not-a-header"),
        (header_with(createdAt="now"), "not-a-header"),
        (header_with(createdAt=None), "not-a-header"),
        (header_with(createdAt=True), "not-a-header"),
        (HEADER.replace(b":0", b":NaN"), "not-a-header"),
        (b"[" * 300_000 + b"\n", "not-a-header"),
    ],
    ids=lambda given: repr(given[:60]) if isinstance(given, bytes) else given,
)
def test_a_first_line_that_is_no_header_is_refused(content: bytes, reason: str) -> None:
    """LOG_HEADER_INVALID says why, with line 1 and byte 0."""
    fault = refusal(content)

    assert fault.code is Code.LOG_HEADER_INVALID
    assert fault.data == {"reason": reason}
    assert (fault.line_number, fault.byte_offset) == (1, 0)


@pytest.mark.parametrize("behind", [line(note(0)), HEADER, b"oops\n" + line(turn_end(1))])
def test_what_follows_a_bad_first_line_does_not_matter(behind: bytes) -> None:
    """Sound events, a second header or damage behind it are never looked at."""
    fault = refusal(b"{}\n" + behind)

    assert (fault.code, fault.line_number) == (Code.LOG_HEADER_INVALID, 1)


@pytest.mark.parametrize("version", [5, -1, 0.5, 12, 1e300])
def test_another_version_is_refused_before_the_lines_are_judged(version: float) -> None:
    """VERSION_UNSUPPORTED names the version; damage and odd fields behind it are not ours."""
    content = log(b"not json\n", turn_end(0), header=header_with(version=version, cwd=5))

    fault = refusal(content)

    assert (fault.code, fault.data) == (Code.VERSION_UNSUPPORTED, {"version": version})
    assert (fault.line_number, fault.byte_offset) == (1, 0)


@pytest.mark.parametrize("spelled", [b"1e999", b"-1e999", b"9" * 5000])
def test_a_version_beyond_all_doubles_is_unsupported_too(spelled: bytes) -> None:
    """An overflow is a version like another, and the refusal can still be sent as JSON."""
    fault = refusal(HEADER.replace(b":0,", b":" + spelled + b","))

    assert fault.code is Code.VERSION_UNSUPPORTED
    assert "Infinity" not in repr(fault.to_wire())
    assert "inf" not in repr(fault.to_wire()["data"])


def test_version_zero_has_more_than_one_spelling() -> None:
    """0.0 and 0e5 are the number 0."""
    assert opened(HEADER.replace(b":0,", b":0.0,")).header.version == 0
    assert opened(HEADER.replace(b":0,", b":0e5,")).header.version == 0


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"cwd": "garden"}, "$.cwd"),
        ({"cwd": None}, "$.cwd"),
        ({"cwd": 5}, "$.cwd"),
        ({"parentSession": None}, "$.parentSession"),
        ({"parentSession": 5}, "$.parentSession"),
        ({"seedLength": None}, "$.seedLength"),
        ({"seedLength": True}, "$.seedLength"),
        ({"seedLength": -1}, "$.seedLength"),
        ({"seedLength": 0.5}, "$.seedLength"),
    ],
    ids=str,
)
def test_a_header_field_of_another_kind_is_refused(fields: dict[str, Any], path: str) -> None:
    """META_INVALID names the field, line 1 and byte 0."""
    fault = refusal(log(note(0), header=header_with(**fields)))

    assert (fault.code, fault.path) == (Code.META_INVALID, path)
    assert (fault.line_number, fault.byte_offset) == (1, 0)


@pytest.mark.parametrize("spelled", [b"-0", b"1e999", b"-1e-400", b"9" * 5000])
def test_a_lossy_creation_time_is_not_json(spelled: bytes) -> None:
    """Negative zero and overflow are refused in the header as anywhere."""
    fault = refusal(HEADER.replace(b"1700", spelled))

    assert (fault.code, fault.path) == (Code.NOT_JSON, "$.createdAt")
    assert (fault.line_number, fault.byte_offset) == (1, 0)


def test_the_events_faults_come_before_the_headers() -> None:
    """As when a session is created from a seed."""
    content = log(event("user/message", 0), header=header_with(cwd=5))

    assert refusal(content).code is Code.SURFACE_OP_MISSING


def test_all_header_fields_are_read_and_written() -> None:
    """A header line with everything in it, rewritten in the order of the format."""
    fields: dict[str, Any] = {
        "seedLength": 1,
        "parentSession": "p",
        "cwd": "/ä",
        "createdAt": 17.5,
        "id": "s\u2028",
        "version": 0,
        "type": "session",
    }
    content = log(note(0), header=line(fields))

    made = opened(content)

    assert made.header == SessionHeader(
        id="s\u2028", created_at=17.5, cwd="/ä", parent_session="p", seed_length=1
    )
    assert encode_log(made.header, []) == line(dict(reversed(fields.items())))


def test_a_creation_time_too_long_for_a_double_is_the_nearest_one() -> None:
    """A number in text is the double nearest to it, in the header too."""
    made = opened(HEADER.replace(b"1700", b"9007199254740993"))

    assert made.header.created_at == 9007199254740992


# ---- lines ----------------------------------------------------------------------------------


def test_only_lf_ends_a_line() -> None:
    """CR before LF is white space; U+2028, U+0085 and a lone CR inside text are content."""
    odd = user(0, "a\u2028b\u2029c\x85d\x0be")
    content = HEADER.replace(b"\n", b"\r\n") + line(odd).replace(b"\n", b" \t\r\n") + line(note(1))

    made = opened(content)

    assert len(made.session) == 2
    assert made.session.events[0].data == odd["data"]
    assert made.good_bytes == len(content)


def test_white_space_inside_a_line_is_allowed() -> None:
    """A line is any JSON text of an object, written with or without spaces."""
    content = log(b'  { "seq" : 0 , "type":"x",\t"time":5,\r"data" : [ 1 , 2 ] }  \n', note(1))

    made = opened(content)

    assert made.session.events[0].to_text() == '{"seq":0,"type":"x","time":5,"data":[1,2]}'
    assert len(made.session) == 2


BAD_LINES: dict[str, list[bytes]] = {
    "unparsable-line": [
        b"oops\n",
        b'{"type":"x","seq":1,"time":1,"data":1\n',
        b'{"type":"x","seq":1,"time":1,"data":NaN}\n',
        b'{"type":"x","seq":1,"time":1,"data":1}{}\n',
        b'\xef\xbb\xbf{"type":"x","seq":1,"time":1,"data":1}\n',
        b'{"type":"x","seq":1,"time":1,"data":"tab\there"}\n',
        b'{"type":"x","seq":01,"time":1,"data":1}\n',
        b"\xff\xfe\n",
        b"{" + b"[" * 30_000 + b"\n",
    ],
    "blank-line": [b"\n", b"\r\n", b" \t\n"],
    "nul-run": [b"\x00" * 64 + b"\n", line(note(1))[:-1] + b"\x00\n"],
    "not-an-object": [b"null\n", b"[]\n", b"5\n", b'"text"\n', b"true\n"],
    "seq-duplicate": [line(note(0)), line({**note(1), "seq": 0.5}), line({**note(1), "seq": -3})],
    "seq-gap": [
        line(note(2)),
        line({**note(1), "seq": "1"}),
        line({**note(1), "seq": True}),
        line({**note(1), "seq": None}),
        line({"type": "x"}),
        line({**note(1), "seq": [1]}),
        b'{"type":"x","seq":1e999,"time":1,"data":1}\n',
        b'{"type":"x","seq":' + b"9" * 5000 + b',"time":1,"data":1}\n',
    ],
}
EVERY_BAD_LINE = [(reason, bad) for reason, lines in BAD_LINES.items() for bad in lines]
BAD_IDS = [f"{reason}-{bad[:40]!r}" for reason, bad in EVERY_BAD_LINE]


@pytest.mark.parametrize(("reason", "bad"), EVERY_BAD_LINE, ids=BAD_IDS)
def test_a_bad_line_with_no_turn_end_behind_it_is_a_torn_tail(reason: str, bad: bytes) -> None:
    """From the first bad line on everything is dropped; the finding says where and why."""
    good = log(note(0))
    content = good + bad + line(note(1)) + line(note(2))

    made = opened(content)
    tail = made.findings[-1]

    assert len(made.session) == 1
    assert (made.good_bytes, made.size) == (len(good), len(content))
    assert (tail.code, tail.severity) == (Code.TORN_TAIL, "finding")
    assert (tail.seq, tail.line_number, tail.byte_offset) == (1, 3, len(good))
    assert tail.data["reason"] == reason
    assert tail.data["dropped_lines"] == 3
    assert tail.data["dropped_bytes"] == len(content) - len(good)


@pytest.mark.parametrize(("reason", "bad"), EVERY_BAD_LINE, ids=BAD_IDS)
def test_a_bad_line_with_a_turn_end_behind_it_is_corrupt(reason: str, bad: bytes) -> None:
    """A turn that was closed behind the damage had been committed: LOG_CORRUPT, and where."""
    good = log(note(0))
    content = good + bad + line(note(7)) + line(turn_end(40)) + line(note(3))

    fault = refusal(content)

    assert fault.code is Code.LOG_CORRUPT
    assert (fault.seq, fault.line_number, fault.byte_offset) == (1, 3, len(good))
    assert fault.data["reason"] == reason


@pytest.mark.parametrize(
    "ending",
    [
        line({**turn_end(1), "seq": "far"}),
        b'{"type":"turn/end"}\n',
        b'{"\\u0074ype":"turn\\/end","seq":5}\n',
        b'{"type":"x","type":"turn/end"}\n',
        line(turn_end(1)).replace(b"completed", b"\xff"),
    ],
    ids=["seq no number", "bare", "escaped", "duplicate key", "bad UTF-8"],
)
def test_any_line_that_closes_a_turn_counts(ending: bytes) -> None:
    """A parsable object of type `turn/end` counts whatever else it holds, wherever it stands."""
    assert refusal(log(note(0), b"\n", ending)).code is Code.LOG_CORRUPT


@pytest.mark.parametrize(
    "no_ending",
    [
        line(turn_end(1))[:-1],
        line(turn_end(1))[:-2] + b"\n",
        line({**note(1), "data": "turn/end"}),
        line({**note(1), "data": {"type": "turn/end"}}),
        line([turn_end(1)]),
        line({**note(1), "type": "turn/ended"}),
    ],
    ids=["no LF", "unparsable", "as data", "nested", "in a list", "another type"],
)
def test_what_does_not_close_a_turn_does_not_count(no_ending: bytes) -> None:
    """Only a terminated, parsable line whose own type it is."""
    made = opened(log(note(0), b"\n", no_ending))

    assert codes(made.findings)[-1] == "TORN_TAIL"


def test_the_bad_line_may_itself_be_the_turn_end() -> None:
    """At the fault counts as behind it: a closed turn with a wrong seq is corrupt."""
    fault = refusal(log(turn_start(0), turn_end(5)))

    assert (fault.code, fault.seq, fault.line_number) == (Code.LOG_CORRUPT, 1, 3)
    assert fault.data == {"reason": "seq-gap", "expected_seq": 1, "got_seq": 5}


def test_a_turn_end_before_the_damage_saves_nothing_and_harms_nothing() -> None:
    """Turns closed before the first bad line are kept."""
    made = opened(log(turn_start(0), turn_end(1), turn_start(2, turn=2), b"oops\n"))

    assert len(made.session) == 3


@pytest.mark.parametrize(
    ("fragment", "reason"),
    [
        (line(note(1))[:-1], "no-final-newline"),
        (b'{"any":"object"}', "no-final-newline"),
        (b"{}\r", "no-final-newline"),
        (b'{"type":"x","se', "torn-line"),
        (b"5", "torn-line"),
        (b"   ", "torn-line"),
        ('{"type":"ä'.encode()[:-1], "torn-line"),
        (b"\x00" * 4096, "nul-run"),
        (b'{"type":"x"\x00\x00', "nul-run"),
        (b"[" * 300_000, "torn-line"),
    ],
    ids=lambda given: repr(given[:30]) if isinstance(given, bytes) else given,
)
def test_what_stands_behind_the_last_line_end_is_dropped(fragment: bytes, reason: str) -> None:
    """Only terminated lines count, a whole event without its LF included."""
    good = log(turn_start(0))

    made = opened(good + fragment)
    tail = made.findings[-1]

    assert len(made.session) == 1
    assert (made.good_bytes, made.size) == (len(good), len(good) + len(fragment))
    assert (tail.code, tail.seq, tail.line_number) == (Code.TORN_TAIL, 1, 3)
    assert tail.data == {"reason": reason, "dropped_bytes": len(fragment), "dropped_lines": 1}


def test_a_seq_may_be_spelled_as_a_float() -> None:
    """1.0 and 1e0 are the seq 1."""
    content = log(note(0), b'{"type":"x","seq":1.0,"time":2e3,"data":1}\n')

    made = opened(content)

    assert made.session.events[1].to_text() == '{"type":"x","seq":1,"time":2000,"data":1}'


def test_a_seq_of_negative_zero_is_not_json() -> None:
    """-0 counts as 0 for the reader of lines, and is refused by acceptance."""
    fault = refusal(log(b'{"type":"x","seq":-0,"time":1,"data":1}\n'))

    assert (fault.code, fault.path) == (Code.NOT_JSON, "$.seq")


# ---- acceptance, with the place in the file -------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (event("user/message", 1), Code.SURFACE_OP_MISSING),
        (event("x", 1, surfaceOp=None), Code.SURFACE_OP_FORBIDDEN),
        (event("x", 1, sourceEventSeqs=[0]), Code.SOURCES_FORBIDDEN),
        (user(1, surfaceOp="x"), Code.SURFACE_OP_INVALID),
        (user(1, sourceEventSeqs=[True]), Code.SOURCES_INVALID),
        (replacing(1, 0, 0, cites=[0]), Code.REPLACE_START_UNKNOWN),
        (user(1, sourceEventSeqs=[]), Code.SOURCES_EMPTY),
        (user(1, sourceEventSeqs=[0, 0]), Code.SOURCES_DUPLICATE),
        (user(1, sourceEventSeqs=[1]), Code.SOURCES_NOT_EARLIER),
        ({**note(1), "extra": 1}, Code.BAD_ENVELOPE),
        ({**note(1), "origin": None}, Code.BAD_ENVELOPE),
        ({**note(1), "memo": None}, Code.BAD_ENVELOPE),
        ({**note(1), "stored_data": 1}, Code.BAD_ENVELOPE),
        ({**note(1), "time": -1}, Code.BAD_ENVELOPE),
        ({**note(1), "time": 0.5}, Code.BAD_ENVELOPE),
        ({**note(1), "time": True}, Code.BAD_ENVELOPE),
        ({**note(1), "time": 2**53}, Code.BAD_ENVELOPE),
        ({**note(1), "type": 5}, Code.BAD_ENVELOPE),
        ({"type": "x", "seq": 1, "time": 1}, Code.BAD_ENVELOPE),
        ({"seq": 1}, Code.BAD_ENVELOPE),
        (b'{"type":"x","seq":1,"time":-0,"data":1}\n', Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1e999,"data":1}\n', Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1,"data":{"a":[-0]}}\n', Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1,"data":{"a":[-0.0]}}\n', Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1,"data":{"a": -0e1 }}\n', Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1,"data":-1e-400}\n', Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1,"data":[1,1E+999]}\n', Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1,"data":' + b"9" * 5000 + b"}\n", Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1,"data":' + b"9" * 400 + b"e-10}\n", Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1,"data":' + b"9" * 300 + b"e50}\n", Code.NOT_JSON),
        (b'{"type":"x","seq":1,"time":1,"data":1,"z":-0}\n', Code.NOT_JSON),
        (
            b'{"type":"x","seq":1,"time":1,"data":' + b"[" * 20_000 + b"]" * 20_000 + b"}\n",
            Code.TOO_DEEP,
        ),
        (
            b'{"data":' + b"[" * 20_000 + b"]" * 20_000 + b',"type":"x","seq":1,"time":1}\n',
            Code.TOO_DEEP,
        ),
        (
            b'{"type":"x","seq":1,"time":1,"data":'
            + b"[" * 20_000
            + b"-0"
            + b"]" * 20_000
            + b"}\n",
            Code.NOT_JSON,
        ),
    ],
    ids=lambda given: given.value if isinstance(given, Code) else repr(given)[:50],
)
def test_a_refused_event_names_its_place_in_the_file(bad: Any, code: Code) -> None:
    """A whole line in the right place that acceptance refuses: code, seq, line, byte offset."""
    before = log(note(0))
    content = before + (bad if isinstance(bad, bytes) else line(bad)) + line(note(2))

    fault = refusal(content)

    assert fault.code is code
    assert (fault.seq, fault.line_number, fault.byte_offset) == (1, 3, len(before))


def test_a_fault_names_the_file(tmp_path: pathlib.Path) -> None:
    """Whatever is refused, the file's name is part of it."""
    contents = [b"", header_with(version=9), log(b"\n", turn_end(0)), log(event("user/message", 0))]
    path = tmp_path / "s-1.jsonl"
    faults = []

    for content in contents:
        path.write_bytes(content)
        faults.append(read(path).failure())

    assert [fault.code for fault in faults] == [
        Code.LOG_HEADER_INVALID,
        Code.VERSION_UNSUPPORTED,
        Code.LOG_CORRUPT,
        Code.SURFACE_OP_MISSING,
    ]
    assert [fault.file for fault in faults] == [str(path)] * 4


def test_a_refused_event_hides_behind_no_torn_tail() -> None:
    """A torn tail behind a refused event changes nothing about the refusal."""
    assert refusal(log(event("user/message", 0), b"{oops")).code is Code.SURFACE_OP_MISSING


def test_damage_is_judged_before_acceptance() -> None:
    """Lines come first: a committed fault behind a refused event is LOG_CORRUPT."""
    content = log(event("user/message", 0), b"\n", turn_end(2))

    assert refusal(content).code is Code.LOG_CORRUPT


def test_the_first_refused_event_is_the_answer() -> None:
    """Of two the earlier one, whichever way each is found."""
    lossy = b'{"type":"x","seq":%d,"time":1,"data":-0}\n'
    rule_first = log(event("user/message", 0), lossy % 1)
    lossy_first = log(lossy % 0, event("user/message", 1))

    assert refusal(rule_first).code is Code.SURFACE_OP_MISSING
    assert refusal(lossy_first).code is Code.NOT_JSON


def test_a_vocabulary_can_be_given() -> None:
    """A plugin's surface type joins the surface while the log is read."""
    vocabulary = STANDARD.extend({"hint/message": TypeRule(Role.SURFACE, MessageRule("user"))})
    content = log(event("hint/message", 0, {"content": []}, surfaceOp="append"))

    made = read(content, vocabulary=vocabulary).unwrap()

    assert made.session.messages().unwrap() == [{"role": "user", "content": []}]
    assert made.unknown_types == {}
    assert refusal(content).code is Code.SURFACE_OP_FORBIDDEN


def test_unknown_types_are_counted_by_name() -> None:
    """Each type that is not listed, with how often it occurs, in order of name."""
    content = log(event("z/z", 0), note(1), user(2), note(3))

    made = opened(content)

    assert list(made.unknown_types.items()) == [("plugin/note", 2), ("z/z", 1)]


# ---- values ---------------------------------------------------------------------------------


def test_numbers_read_as_the_nearest_double() -> None:
    """Long literals are no refusal; integral ones become ints."""
    data = b"[9007199254740993,1e-400,0.1,1E2,5.0,123456789012345678901234567890,0e999]"
    content = log(b'{"type":"x","seq":0,"time":1,"data":' + data + b"}\n")

    made = opened(content).session.events[0]

    assert made.to_text() == (
        '{"type":"x","seq":0,"time":1,'
        '"data":[9007199254740992,0,0.1,100,5,1.2345678901234568e+29,0]}'
    )


@pytest.mark.parametrize(
    "text",
    [
        '"-0"',
        '"a:-0,"',
        '"[-0]"',
        '"1e999"',
        '"abc1e999"',
        '{"-0":1,"1e999":2}',
        '"' + "9" * 5000 + '"',
        '"' + "0123456789abcdef" * 40 + '"',
        "[1e-300,1e300,1e+100]",
        "1e0000000001",
        "[0.000,-0.5,-1,10]",
    ],
    ids=lambda text: text[:20],
)
def test_what_only_looks_like_a_lossy_number_is_content(text: str) -> None:
    """Digits in strings and keys, and large but finite numbers, are no fault."""
    content = log(f'{{"type":"x","seq":0,"time":1,"data":{text}}}\n'.encode(), note(1))

    assert len(opened(content).session) == 2


@pytest.mark.parametrize("levels", [2000, MAX_DEPTH])
def test_deep_payloads_are_read_and_written(levels: int) -> None:
    """Up to the limit nothing recurses: not reading, not messages, not rewriting."""
    deep = b"[" * levels + b"]" * levels
    content = log(b'{"type":"x","seq":0,"time":1,"data":' + deep + b"}\n", note(1))

    made = opened(content)

    assert encode_log(made.header, made.session.events) == content


def test_lone_halves_are_read_wherever_they_stand() -> None:
    """Escaped halves in a type, a key and a payload are kept and written back."""
    lines = [
        rb'{"type":"x\ud800","seq":0,"time":1,"data":1}' + b"\n",
        rb'{"type":"x","seq":1,"time":1,"data":{"\udc00":"a\ud83c"}}' + b"\n",
        rb'{"type":"x","seq":2,"time":1,"data":"plain"}' + b"\n",
    ]

    made = opened(log(*lines))

    assert [event.type for event in made.session] == ["x\ud800", "x", "x"]
    assert made.session.events[1].data == {"\udc00": "a\ud83c"}
    assert encode_log(made.header, made.session) == log(*lines)


def test_escaped_pairs_are_one_character() -> None:
    r"""A pair spelled as two escapes is the character it means, and is written as that."""
    content = log(rb'{"type":"\ud83c\udf31","seq":0,"time":1,"data":"\ud83c\udf31"}' + b"\n")

    made = opened(content).session.events[0]

    assert (made.type, made.data) == ("🌱", "🌱")
    assert made.to_text() == '{"type":"🌱","seq":0,"time":1,"data":"🌱"}'


def test_bytes_that_are_no_utf8_read_as_replacement_characters() -> None:
    """As in JavaScript: the line is kept, the text is lost."""
    content = log(line(user(0, "aXb")).replace(b"X", b"\xff"), note(1))

    made = opened(content)

    assert made.session.events[0].data["content"][0]["text"] == "a\ufffdb"
    assert len(made.session) == 2


def test_offsets_count_the_files_own_bytes() -> None:
    """Bad bytes count as one each, not as the three of what they read as."""
    good = log(line(user(0, "XXXX")).replace(b"X", b"\xff"))

    torn = opened(good + b"\xff\xff\xff{torn")
    fault = refusal(good + b"\xff\n" + line(turn_end(9)))

    assert torn.good_bytes == len(good)
    assert torn.findings[-1].byte_offset == len(good)
    assert torn.findings[-1].data["dropped_bytes"] == 8
    assert fault.byte_offset == len(good)


# ---- writing it again -----------------------------------------------------------------------


def test_a_log_written_again_has_the_same_bytes() -> None:
    """Reading what a writer of the format wrote and writing it again changes no byte."""
    content = log(
        turn_start(0),
        header(1, system="ä\n🌱\u2028", tools=[{"name": "b", "z": 1, "a": {"y": 2, "x": 3}}]),
        user(2, 'quote " backslash \\ tab \t nul \x00 del \x7f'),
        step_start(3),
        event("x", 4, {"numbers": [0.1, 1e-7, 5e-324, 1e21, 100]}),
        assistant(5),
        step_end(6),
        turn_end(7),
        replacing(8, 2, 5, cites=[2, 5]),
    ).replace(b"1e-07", b"1e-7")

    made = opened(content)

    assert encode_log(made.header, made.session.events) == content


def test_writing_again_after_looking_changes_nothing() -> None:
    """Whatever was asked of a log first, it is written as it was."""
    content = log(turn_start(0), header(1), user(2), step_start(3), assistant(4), turn_end(5))
    made = opened(content)

    made.session.messages().unwrap()
    [request.to_json() for request in past_requests(made.session)]
    made.findings  # noqa: B018  # computed when asked for
    [event.data for event in made.session]

    assert encode_log(made.header, made.session) == content


def test_the_envelopes_order_is_kept() -> None:
    """Each event keeps the order of its own line; payload keys take JavaScript's order."""
    odd = (
        b'{"surfaceOp":"append","data":{"content":[],"b":1,"1":2},'
        b'"time":1,"seq":0,"type":"user/message"}\n'
    )

    made = opened(log(odd, note(1)))

    assert encode_log(made.header, made.session) == log(
        odd.replace(b'{"content":[],"b":1,"1":2}', b'{"1":2,"content":[],"b":1}'), note(1)
    )


def test_a_fork_of_a_log_is_written_with_its_parents_lines() -> None:
    """Inherited events keep their text, new ones get the order that append makes."""
    odd = b'{"seq":0,"type":"turn/start","time":1,"data":{"turn":1}}\n'
    made = opened(log(odd, turn_end(1)))

    child = made.session.fork(id="c", created_at=5).unwrap()
    child = child.append("plugin/note", {"n": 2}, time=1002).unwrap()

    assert encode_log(child.header, child) == log(
        odd,
        turn_end(1),
        note(2),
        header=b'{"type":"session","version":0,"id":"c","createdAt":5,"parentSession":"s-1","seedLength":2}\n',
    )


def test_what_was_never_a_file_can_be_read_back() -> None:
    """A session made in Python survives being written and read."""
    session = Session.create("s-9", created_at=3, cwd="/ä").unwrap()
    session = session.append("x\ud800", {"a": [1.5, None, "🌱"]}, time=4).unwrap()

    made = opened(encode_log(session.header, session))

    assert made.session == session
    assert codes(made.findings) == ["OUTSIDE_TURN"]


# ---- size -----------------------------------------------------------------------------------


def large_log(odd: bytes, place: int) -> tuple[bytes, list[bytes]]:
    """More than 1 MiB of lines with an odd one at the piece boundary; and the lines."""
    lines: list[bytes] = []
    size = len(HEADER)
    while size + len(odd) <= place:
        filler = line(event("assistant/chunk", len(lines), {"text": "x" * 200}))
        if size + len(filler) + len(odd) > place:
            # the last filler is stretched so that the odd line's middle is at the boundary
            room = place - size - len(filler) - len(odd) // 2
            filler = line(event("assistant/chunk", len(lines), {"text": "x" * (200 + room)}))
            lines.append(filler)
            break
        lines.append(filler)
        size += len(filler)
    lines.append(odd.replace(b"SEQ", str(len(lines)).encode()))
    for _ in range(600):
        lines.append(line(event("assistant/chunk", len(lines), {"text": "y" * 200})))
    return HEADER + b"".join(lines), lines


@pytest.mark.parametrize(
    "odd",
    [
        '{"type":"x","seq":SEQ,"time":1,"data":"🌱🌱🌱🌱🌱🌱🌱🌱🌱🌱🌱🌱"}\n'.encode(),
        rb'{"type":"x","seq":SEQ,"time":1,"data":"\ud800"}' + b"\n",
        b'{"data":1,"type":"x","seq":SEQ,"time":1}\n',
        b'{"type":"x","seq":SEQ,"time":1,"data":[1,"-0","1e999"]}\n',
    ],
    ids=["characters of four bytes", "lone half", "other order", "looks lossy"],
)
@pytest.mark.parametrize("shift", [-40, -1, 0, 1, 40])
def test_a_line_across_a_piece_boundary_is_read_like_any_other(odd: bytes, shift: int) -> None:
    """Files are read in pieces of 1 MiB; where a piece ends makes no difference."""
    content, lines = large_log(odd, (1 << 20) + shift)

    from_bytes = opened(content)
    from_stream = read(io.BytesIO(content)).unwrap()

    assert len(content) > 1 << 20
    assert len(from_bytes.session) == len(lines)
    assert from_stream.session == from_bytes.session
    assert encode_log(from_bytes.header, from_bytes.session) == content


@pytest.mark.parametrize(
    ("odd", "code"),
    [
        (b'{"type":"x","seq":SEQ,"time":1,"data":[1,-0,"' + b"z" * 60 + b'"]}\n', "NOT_JSON"),
        (b'{"type":"x","seq":SEQ,"time":1,"data":[1,1e999,"' + b"z" * 60 + b'"]}\n', "NOT_JSON"),
        (
            b'{"type":"user/message","seq":SEQ,"time":1,"data":"' + b"z" * 60 + b'"}\n',
            "SURFACE_OP_MISSING",
        ),
    ],
    ids=["minus zero", "overflow", "no surfaceOp"],
)
@pytest.mark.parametrize("shift", [-50, 0, 50])
def test_a_fault_across_a_piece_boundary_is_found(odd: bytes, code: str, shift: int) -> None:
    """The seq, line and offset are those of the file, whatever pieces it was read in."""
    content, lines = large_log(odd, (1 << 20) + shift)
    seq = next(place for place, text in enumerate(lines) if b'"time":1,' in text)

    fault = refusal(content)

    assert fault.code.value == code
    assert (fault.seq, fault.line_number) == (seq, seq + 2)
    assert fault.byte_offset == len(HEADER) + sum(map(len, lines[:seq]))


def test_a_torn_tail_far_into_a_file_is_found() -> None:
    """Damage behind the first piece has its offset, and what follows is counted."""
    content, lines = large_log(b"oops SEQ\n", (1 << 20) + 3)
    seq = next(place for place, text in enumerate(lines) if text.startswith(b"oops"))
    good = len(HEADER) + sum(map(len, lines[:seq]))

    made = opened(content)
    tail = made.findings[-1]

    assert (made.good_bytes, made.size, len(made.session)) == (good, len(content), seq)
    assert (tail.seq, tail.line_number, tail.byte_offset) == (seq, seq + 2, good)
    assert tail.data["dropped_lines"] == 601
    assert tail.data["dropped_bytes"] == len(content) - good


def test_a_turn_end_far_behind_the_damage_is_found() -> None:
    """The whole file is looked through for a closed turn."""
    content, lines = large_log(b"oops SEQ\n", 300_000)

    fault = refusal(content + b"x" * (3 << 20) + b"\n" + line(turn_end(5)))

    assert fault.code is Code.LOG_CORRUPT
    assert fault.data["reason"] == "unparsable-line"
    assert fault.seq == next(place for place, text in enumerate(lines) if text[:4] == b"oops")


@pytest.mark.parametrize("source", [bytes, io.BytesIO])
def test_a_single_line_of_several_mebibytes_is_one_line(source: Callable[[bytes], Any]) -> None:
    """A line may be longer than many pieces, with characters across every boundary."""
    words = "ä🌱 long words " * 250_000
    content = log(turn_start(0), user(1, words), turn_end(2))

    made: LogFile = read(source(content)).unwrap()

    assert len(content) > 4 << 20
    assert made.session.events[1].data["content"][0]["text"] == words
    assert encode_log(made.header, made.session) == content
    assert made.findings == ()


def test_bad_bytes_at_the_end_of_a_long_line_are_found() -> None:
    """One byte that is no UTF-8, megabytes into a line: read as U+FFFD, found by offset."""
    before, words = log(turn_start(0)), b"x" * (3 << 20)
    bad = line(user(1, "WORDS")).replace(b"WORDS", words + b"\xff")

    made = opened(before + bad + line(turn_end(2)))

    assert made.session.events[1].data["content"][0]["text"][-2:] == "x\ufffd"
    assert codes(made.findings) == ["INVALID_UTF8"]
    assert made.findings[0].byte_offset == len(before) + bad.index(b"\xff")


def test_a_header_line_longer_than_a_piece_is_read() -> None:
    """The first line may be as long as any."""
    content = log(note(0), header=header_with(cwd="/" + "x" * (3 << 20)))

    made = read(io.BytesIO(content)).unwrap()

    assert made.header.cwd == "/" + "x" * (3 << 20)
    assert len(made.session) == 1


# ---- scan_log -------------------------------------------------------------------------------


def test_a_scan_judges_lines_and_seqs_only() -> None:
    """Versions, header fields and events are not looked at."""
    content = log(event("user/message", 0), {"seq": 1}, header=header_with(version=7, cwd=None))

    scan = scan_log(content).unwrap()

    assert scan.count == 2
    assert scan.header == {"version": 7, "id": "s-1", "createdAt": 1700, "cwd": None}
    assert scan.good_bytes == len(content)


def test_a_scan_finds_damage() -> None:
    """Header, corruption and torn tails are its business."""
    good = log(note(0))

    torn = scan_log(good + b"{").unwrap()

    assert scan_log(b"").failure().code is Code.LOG_HEADER_INVALID
    assert scan_log(good + b"\n" + line(turn_end(1))).failure().code is Code.LOG_CORRUPT
    assert (torn.count, torn.good_bytes) == (1, len(good))
    assert torn.tail is not None
    assert torn.tail.code is Code.TORN_TAIL


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"\x1f\x8b\x08\x00", "compressed"), (b"SQLite format 3\0\x10\x00", "database")],
)
def test_another_kind_of_file_is_called_what_it_is(content: bytes, reason: str) -> None:
    """A gzip file or a database is no damaged log."""
    fault = read(content).failure()

    assert fault.code is Code.LOG_HEADER_INVALID
    assert fault.data["reason"] == reason
