"""Every code that the core and the reading of files can answer is met in an example."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any, Final

import attrs
import pytest

from dsh_fp import Code, Rejection, read
from tests.core.code_examples import EXAMPLES
from tests.core.making import (
    asking,
    assistant,
    event,
    note,
    step_end,
    step_start,
    turn_end,
    turn_start,
)
from tests.storage.logs import HEADER, header_with, line, log

# What only live stores and writers answer; their own tests meet these.
OF_STORES_AND_WRITERS: Final = frozenset(
    {
        Code.SESSION_ALREADY_EXISTS,
        Code.SESSION_ALREADY_ATTACHED,
        Code.SESSION_NOT_FOUND,
        Code.SESSION_NOT_LIVE,
        Code.ALREADY_ANNOUNCED,
        Code.APPEND_REENTRANT,
        Code.WRITER_CONFLICT,
        Code.STORAGE_FAILED,
        Code.NOT_STORABLE,
    }
)

# What only the released generations' files can answer; tests/formats meets these.
OF_RELEASED_FILES: Final = frozenset(
    {
        Code.CALL_NOT_ASKED,
        Code.CALL_UNANSWERED,
        Code.FILE_NAME_MISMATCH,
        Code.LOG_AMBIGUOUS,
        Code.LOG_RULE_BROKEN,
        Code.LOG_TOO_LARGE,
        Code.NEWER_LOG_BESIDE,
        Code.OLDER_LOG_GREW,
    }
)

TURN: Final = line(turn_start(0))
AFTER_TURN: Final = len(HEADER) + len(TURN)
BAD_BYTE: Final = line({**note(1), "data": "X"}).replace(b"X", b"\xff")
PLACE: Final = ("seq", "line_number", "byte_offset")


@attrs.frozen
class InFile:
    """How a code is met in a file: content, then seq, line, byte offset and facts."""

    code: Code
    content: bytes
    seq: int | None
    line_number: int | None
    byte_offset: int | None
    facts: dict[str, Any] = attrs.field(factory=dict)


IN_FILES: Final[tuple[InFile, ...]] = (
    InFile(Code.LOG_HEADER_INVALID, b"", None, 1, 0, {"reason": "empty-log"}),
    InFile(Code.VERSION_UNSUPPORTED, header_with(version=9), None, 1, 0, {"version": 9}),
    InFile(Code.META_INVALID, header_with(cwd="x"), None, 1, 0, {"field": "cwd"}),
    InFile(
        Code.LOG_CORRUPT,
        log(TURN, b"\n", turn_end(2)),
        1,
        3,
        AFTER_TURN,
        {"reason": "blank-line"},
    ),
    InFile(
        Code.LOG_CORRUPT,
        log(TURN, turn_end(4)),
        1,
        3,
        AFTER_TURN,
        {"reason": "seq-gap", "expected_seq": 1, "got_seq": 4},
    ),
    InFile(
        Code.SURFACE_OP_MISSING,
        log(TURN, event("user/message", 1)),
        1,
        3,
        AFTER_TURN,
        {"type": "user/message"},
    ),
    InFile(
        Code.TORN_TAIL,
        log(TURN, turn_end(1), b"{"),
        2,
        4,
        len(log(TURN, turn_end(1))),
        {"reason": "torn-line", "dropped_bytes": 1, "dropped_lines": 1},
    ),
    InFile(Code.TURN_NOT_CLOSED, log(TURN), 0, 2, len(HEADER)),
    InFile(
        Code.INVALID_UTF8,
        log(TURN, BAD_BYTE, turn_end(2)),
        1,
        3,
        AFTER_TURN + BAD_BYTE.index(b"\xff"),
    ),
    InFile(
        Code.PRECISION,
        log(TURN, b'{"type":"x","seq":1,"time":1001,"data":1e-400}\n', turn_end(2)),
        1,
        3,
        AFTER_TURN,
        {"literal": "1e-400", "written": "0"},
    ),
    InFile(
        Code.EMPTY_CALL_ID,
        log(TURN, step_start(1), assistant(2, asking("")), step_end(3), turn_end(4)),
        2,
        4,
        len(log(TURN, step_start(1))),
    ),
    InFile(
        Code.TIME_GOES_BACK,
        log(TURN, {**turn_end(1), "time": 999}),
        1,
        3,
        AFTER_TURN,
        {"before_ms": 1000, "after_ms": 999},
    ),
    InFile(Code.HEADER_KEYS_DROPPED, header_with(x=1), None, 1, 0, {"keys": ("x",)}),
    InFile(Code.OUTSIDE_TURN, log(note(0)), 0, 2, len(HEADER), {"type": "plugin/note"}),
    InFile(
        Code.ID_MISMATCH,
        header_with(id="other"),
        None,
        1,
        0,
        {"file_says": "s-1", "header_says": "other"},
    ),
)


@pytest.fixture
def met(tmp_path: pathlib.Path) -> Callable[[bytes], Rejection]:
    """The one refusal or finding of a file of that content, called s-1.jsonl."""

    def meet(content: bytes) -> Rejection:
        path = tmp_path / "s-1.jsonl"
        path.write_bytes(content)
        answer = read(path)
        if isinstance(answer.swap().value_or(None), Rejection):
            return answer.failure()
        (finding,) = answer.unwrap().findings
        return finding

    return meet


@pytest.mark.parametrize("example", IN_FILES, ids=lambda example: example.code.value)
def test_each_code_of_files_says_where(
    example: InFile, met: Callable[[bytes], Rejection], tmp_path: pathlib.Path
) -> None:
    """File, seq, 1-based line, byte offset and facts, as far as there are any."""
    fault = met(example.content)

    assert fault.code is example.code
    assert fault.file == str(tmp_path / "s-1.jsonl")
    assert [getattr(fault, name) for name in PLACE] == [getattr(example, name) for name in PLACE]
    assert fault.data == example.facts


@pytest.mark.parametrize("example", IN_FILES, ids=lambda example: example.code.value)
def test_each_code_of_files_can_be_printed_and_sent(
    example: InFile, met: Callable[[bytes], Rejection]
) -> None:
    """One printable line that names file, line and advice; strict JSON with the same."""
    fault = met(example.content)

    wire = json.loads(json.dumps(fault.to_wire(), allow_nan=False))

    assert str(fault).isprintable()
    assert f"line {example.line_number}" in str(fault)
    assert "s-1.jsonl" in str(fault)
    assert (wire["code"], wire["line"]) == (example.code.value, example.line_number)
    assert wire["byte_offset"] == example.byte_offset


def test_a_file_that_cannot_be_opened_has_its_code(tmp_path: pathlib.Path) -> None:
    """FILE_UNREADABLE names the file and has no line."""
    fault = read(tmp_path / "missing").failure()

    assert fault.code is Code.FILE_UNREADABLE
    assert (fault.file, fault.line_number) == (str(tmp_path / "missing"), None)


def test_every_code_is_met_in_an_example() -> None:
    """No code of the core or of reading files is without an example that answers it."""
    in_examples = {example.code for example in EXAMPLES}
    in_files = {example.code for example in IN_FILES} | {Code.FILE_UNREADABLE}

    assert in_examples | in_files == set(Code) - OF_STORES_AND_WRITERS - OF_RELEASED_FILES
