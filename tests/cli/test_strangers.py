"""Text of strangers: none of it reaches a terminal as anything but text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_fp.cli.safe import clipped, columns, json_safe, lines_of, one_line, wrapped
from tests.cli.logs import GARDEN, Log, run, write

EVIL: Final = (
    "\x1b[2J\x07\x00\x08\r\x7f\x85\x9b31m\u00ad\u061c\u200b\u200e\u202a\u202e\u2028\u2029"
    "\u2066\u2069\ufeff\udfff\ud800\U000e0041\U000e0101\u3164\ufe00"
)
COMMANDS: Final = (
    ["verify"],
    ["show"],
    ["show", "--full"],
    ["messages"],
    ["header"],
    ["requests"],
    ["request", "--seq", "2"],
)


def evil_log() -> Log:
    """A log with such text wherever text can be."""
    source = {"kind": "plugin", "plugin": EVIL, EVIL: EVIL}
    block = {"type": EVIL, EVIL: EVIL}
    call = {"type": "tool-call", "id": EVIL, "name": EVIL, "arguments": EVIL}
    reasoning = {"type": "reasoning", "text": EVIL}
    content = [{"type": "text", "text": EVIL}, block, call, reasoning, EVIL]
    tool = {"name": EVIL, "description": EVIL, "parameters": {EVIL: EVIL}}
    header = {
        "config": {"model": EVIL, EVIL: EVIL},
        "system": EVIL,
        "tools": [tool],
        "messagePrefix": [{"role": EVIL, "content": content}, EVIL],
    }
    log = Log(EVIL, cwd=f"/{EVIL}", parent_session=EVIL)
    log.add("turn/start", {"turn": EVIL, "trigger": {"kind": EVIL, "source": source}})
    log.add("request/header", {"header": header, "reason": EVIL})
    log.add("step/start", {"turn": EVIL, "step": EVIL})
    log.add(EVIL, {EVIL: EVIL})
    log.add("user/message", {"content": content, "source": source}, surface_op="append")
    log.add("steering/message", {"content": content, "source": {"kind": EVIL}}, surface_op="append")
    result = {"callId": EVIL, "content": content, "isError": True, "error": {"name": EVIL}}
    log.add("tool/result", result, surface_op="append")
    log.add("tool/call", {"callId": EVIL, "name": EVIL, "arguments": EVIL})
    log.add("todo/write", {"todos": [{"content": EVIL, "status": "pending"}, {"status": EVIL}]})
    log.add("prompt/blocked", {"content": content, "source": source, "reason": EVIL})
    log.add("compact/summary", {"summary": content, "model": EVIL})
    log.add("request/header-delta", {"tools": {"added": [tool], "removed": [], "changed": []}})
    log.add("turn/end", {"turn": EVIL, "reason": {"kind": EVIL, "message": EVIL}})
    return log


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_lets_a_control_character_through(tmp_path: Path, command: list[str]) -> None:
    """Ids, types, sources, names and texts alike, to a person and in JSON."""
    path = evil_log().write(tmp_path)

    for options in ([], ["--json"]):
        result = run(*command, path, *options)
        assert result.exit_code in (0, 1), result.stderr
        written = result.stdout_bytes.decode() + result.stderr
        assert [one for one in written if not one.isprintable() and one != "\n"] == []
        assert not set(written) & set("\u3164\ufe00\U000e0101")


def test_a_refused_log_of_an_evil_name_is_told_safely(tmp_path: Path) -> None:
    """A file name is a stranger's text too, whatever its bytes."""
    path = write(tmp_path, b"\x1b[31m\n", "evil\x1b[2J\udcff\u202e.txt")

    for options in ((), ("--json",)):
        result = run("show", path, *options)
        assert result.exit_code == 3
        written = result.stdout + result.stderr
        assert [one for one in written if not one.isprintable() and one != "\n"] == []


def test_a_wrong_argument_is_told_safely() -> None:
    """What was typed is shown as text."""
    result = run("show", GARDEN, "extra\x1b[2J")

    assert result.exit_code == 2
    assert "\x1b" not in result.stderr


def test_json_keeps_every_character(tmp_path: Path) -> None:
    """What is escaped for the eye is whole for a program."""
    log = Log()
    log.say(EVIL)

    answered = json.loads(run("messages", log.write(tmp_path), "--json").stdout_bytes)

    assert answered["messages"][0]["content"][0]["text"] == EVIL


@given(st.text())
def test_json_safe_changes_no_value(text: str) -> None:
    """A JSON text reads as the same value, and nothing in it is unseen."""
    written = json.dumps(text, ensure_ascii=False)

    safe = json_safe(written)

    assert json.loads(safe) == json.loads(json.dumps(text))
    assert safe.isprintable()


@given(st.text())
def test_one_line_is_printable(text: str) -> None:
    """Whatever comes in, one line of visible text comes out."""
    assert one_line(text).isprintable()


@given(st.text(), st.integers(2, 30))
def test_wrapping_keeps_within_its_width_and_loses_no_word(text: str, width: int) -> None:
    """Only spaces may go, and no part is wider than asked for."""
    line = one_line(text)

    parts = list(wrapped(line, width))

    assert "".join(parts).replace(" ", "") == line.replace(" ", "")
    assert all(columns(part) <= width for part in parts)
    assert columns(clipped(line, width + 3)) <= width + 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [("abc", 3), ("e\u0301", 1), ("漁", 2), ("⛵", 2), ("\uff21", 2), ("\uff71", 1)],
)
def test_a_character_takes_the_columns_a_terminal_gives_it(text: str, expected: int) -> None:
    """An accent takes none, a wide character two."""
    assert columns(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n", ["a", "b", ""]),
        ("a\r\nb", ["a\\r", "b"]),
        ("a\u2028b", ["a\\u2028b"]),
        ("\tx", ["    x"]),
        ("café 漁 ⛵", ["café 漁 ⛵"]),
        ("a\u00a0b\u3000c", ["a b  c"]),
        ("\U000e0041", ["\\U000e0041"]),
    ],
)
def test_only_a_line_feed_ends_a_line(text: str, expected: list[str]) -> None:
    """Carriage returns and separators are content, and shown."""
    assert list(lines_of(text)) == expected
