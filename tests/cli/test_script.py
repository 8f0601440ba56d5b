"""`dsh-fp script`: a log as a script of model calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dsh_fp import read, thaw, unwrap
from dsh_fp.core.script import script_of
from tests.cli.logs import GARDEN, Log, document, run, sound, text, write


def cut_short() -> Log:
    """A log of three calls: one threw, one was cut in mid-stream, one rests on odd chunks."""
    log = Log()
    log.open_step()
    log.add("step/end", {"turn": 1, "step": 1})
    failed = {"kind": "error", "step": 1, "message": "over\x1b[31mloaded"}
    log.add("turn/end", {"turn": 1, "reason": failed})
    log.open_step(turn=2)
    delta = {"type": "text-delta", "index": 0, "text": "No"}
    log.add("assistant/chunk", {"turn": 2, "step": 1, "chunk": delta})
    log.add("step/end", {"turn": 2, "step": 1})
    log.add("turn/end", {"turn": 2, "reason": {"kind": "aborted"}})
    return log


def test_every_call_has_a_row() -> None:
    """Steps and compactions in order of the log, with what was said and how it ended."""
    calls = document("script", GARDEN)["calls"]

    told = [(row["turn"], row["step"], row["seq"], row["purpose"]) for row in calls]
    script = script_of(unwrap(read(GARDEN)).session)
    assert told == [(call.turn, call.step, call.seq, call.purpose) for call in script.calls]
    assert [row["content"] for row in calls] == [
        thaw(unwrap(call.answer).content) for call in script.calls
    ]
    assert {row["outcome"] for row in calls} == {"answered"}
    assert [row["chunk_count"] for row in calls] == [11, 7, 8, 5, 7, 2, 6]
    assert {row["chunks"] for row in calls} == {None}


def test_the_chunks_are_there_when_asked_for() -> None:
    """All that a stand-in for the model needs, in one document."""
    calls = document("script", GARDEN, "--chunks")["calls"]

    script = script_of(unwrap(read(GARDEN)).session)
    assert [row["chunks"] for row in calls] == [thaw(call.chunks) for call in script.calls]
    assert [row["chunks_recorded"] for row in calls] == [True] * 5 + [False, True]


def test_calls_without_recorded_chunks_have_a_dash_for_them() -> None:
    """What is made from a message is no record."""
    rows = run("script", GARDEN).stdout.splitlines()[3:]

    assert [row.split()[4] for row in rows] == ["11", "7", "8", "5", "7", "-", "6"]


def test_chunks_go_with_json() -> None:
    """A table has no room for them."""
    result = run("script", GARDEN, "--chunks")

    assert result.exit_code == 2
    assert "--json" in result.stderr


def test_the_table_tells_how_calls_ended(tmp_path: Path) -> None:
    """In words that are safe to print, whatever was thrown."""
    result = run("script", cut_short().write(tmp_path))

    assert result.exit_code == 0
    _, _, _, first, second = result.stdout.splitlines()
    assert first.endswith("threw over\\x1b[31mloaded")
    assert second.endswith("never ended: turn aborted")


def test_a_changed_message_is_marked(tmp_path: Path) -> None:
    """It counts, but a stream of the recorded chunks would say something else."""
    log = Log()
    log.open_step()
    delta = {"type": "text-delta", "index": 0, "text": "No"}
    log.add("assistant/chunk", {"turn": 1, "step": 1, "chunk": delta})
    said = {"turn": 1, "step": 1, "content": text("Noon.")}
    log.add("assistant/message", said, surface_op="append")
    path = log.write(tmp_path)

    row = document("script", path)["calls"][0]

    assert row["agrees"] is False
    assert row["content"] == text("Noon.")
    assert "message not that of its chunks" in run("script", path).stdout


def test_a_side_file_says_how_calls_ended(tmp_path: Path) -> None:
    """It overrules the log."""
    error = {"name": "Overloaded", "message": "later", "code": 529}
    line = {"turn": 1, "step": 1, "error": error}
    path = sound().write(tmp_path)
    told = write(tmp_path, json.dumps(line).encode(), "endings.jsonl")

    row = document("script", path, "--endings", told)["calls"][0]
    printed = run("script", path, "--endings", told).stdout

    assert (row["outcome"], row["error"]) == ("threw", error)
    assert printed.splitlines()[-1].endswith("threw Overloaded: later")


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (b"\n[]", "ENDING_INVALID", 2),
        (b'{"turn":7,"step":1,"never_ends":true}', "ENDING_INVALID", 1),
        (
            b'{"turn":1,"step":1,"never_ends":true}\n{"seq":1,"never_ends":true}',
            "ENDING_INVALID",
            2,
        ),
        (b'\n{"seq":1,"never_ends":true,"after_chunks":9}', "ENDING_INVALID", 2),
        (
            b'{"seq":1,"never_ends":true,"after_chunks":9}\n{"seq":0,"never_ends":true}',
            "ENDING_INVALID",
            1,
        ),
        (b"\xff", "FILE_UNREADABLE", None),
    ],
)
def test_a_side_file_that_tells_nothing_is_refused(
    tmp_path: Path, content: bytes, code: str, line: int | None
) -> None:
    """File and line are named, and the code is 3."""
    path, told = sound().write(tmp_path), write(tmp_path, content, "endings.jsonl")

    result = run("script", path, "--endings", told)
    error = document("script", path, "--endings", told)["error"]

    assert result.exit_code == 3
    assert (error["code"], error.get("line"), error["file"]) == (code, line, told)


def test_a_missing_side_file_is_refused(tmp_path: Path) -> None:
    """As is a name that can be no path."""
    path = sound().write(tmp_path)

    for name in (str(tmp_path / "none"), "a\0b"):
        assert run("script", path, "--endings", name).exit_code == 3


def test_full_prints_each_answer(tmp_path: Path) -> None:
    """Below the table, under the name of its call."""
    path = sound().write(tmp_path)

    printed = run("script", path, "--full").stdout

    assert printed.endswith("\nturn 1, step 1 (seq 1)\n  At noon.\n")
    assert "At noon." not in run("script", path).stdout


def test_an_answer_that_cannot_be_told_is_a_finding(tmp_path: Path) -> None:
    """The row says why and where, and the code is 1."""
    log = Log()
    log.open_step()
    log.add("assistant/chunk", {"turn": 1, "step": 1, "chunk": {"type": "ping"}})
    path = log.write(tmp_path)

    result = run("script", path)
    row = document("script", path)["calls"][0]

    assert result.exit_code == 1
    assert "CHUNK_UNKNOWN" in result.stdout
    assert (row["content"], row["fault"]["code"], row["fault"]["seq"]) == (None, "CHUNK_UNKNOWN", 3)
    assert row["fault"]["line"] == 5


def test_a_log_without_calls_is_an_empty_script(tmp_path: Path) -> None:
    """That is an answer, not an error."""
    path = Log().write(tmp_path)

    assert run("script", path).stdout == 'session "harbour": 0 model calls\n'
    assert document("script", path)["calls"] == []
