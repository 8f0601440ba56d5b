"""`dsh-fp messages` and `dsh-fp header`: what the model sees, and whence it came."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsh_fp import read, thaw, unwrap
from tests.cli.logs import GARDEN, GARDEN_TORN, Log, document, run, sound, text


def test_a_message_names_the_event_that_brought_it_there() -> None:
    """Number, role, seq and type, and for a replacement what it replaced."""
    lines = run("messages", GARDEN).stdout.splitlines()

    numbers = [int(line[:4]) for line in lines if line[:4].strip().isdigit()]
    assert numbers == list(range(1, 13))
    assert lines[0] == 'session "garden" through seq 89: 12 messages'
    assert lines[2].split(";")[0] == "   1  user  seq 77 user/message from plugin compact"
    assert "replaces seq 1, 15, 17, 27" in lines[2]


def test_what_a_message_was_made_from_is_told() -> None:
    """The chunks of an assistant's message, for one."""
    assert "assistant  seq 45 assistant/message; made from seq 37 to 44" in (
        run("messages", GARDEN).stdout
    )


@pytest.mark.parametrize("at", [0, 1, 31, 76, 77, 89])
def test_the_messages_at_a_seq_are_those_of_the_session_through_it(at: int) -> None:
    """They equal what the library derives, each beside its event."""
    session = unwrap(unwrap(read(GARDEN)).session.at(at))

    answered = document("messages", GARDEN, "--at", str(at))

    assert answered["at"] == at
    assert answered["messages"] == thaw(unwrap(session.messages()))
    assert [event["seq"] for event in answered["events"]] == list(session.surface)


def test_an_event_without_a_message_keeps_the_events_aligned(tmp_path: Path) -> None:
    """An empty answer is a node but no message: it is told to a person only."""
    log = Log()
    log.add("assistant/message", {"turn": 1, "step": 1, "content": []}, surface_op="append")
    log.say("Hello?")
    path = log.write(tmp_path)

    answered = document("messages", path)

    assert [event["seq"] for event in answered["events"]] == [1]
    assert len(answered["messages"]) == 1
    assert "seq 0 assistant/message: empty, makes no message" in run("messages", path).stdout


def test_a_payload_that_makes_no_message_is_a_finding(tmp_path: Path) -> None:
    """The others are shown, the fault names its line, and the code is 1."""
    log = Log()
    log.say("before")
    log.add("user/message", {"words": "?"}, surface_op="append")
    log.say("after")
    path = log.write(tmp_path)

    result = run("messages", path)
    answered = document("messages", path)

    assert result.exit_code == 1
    assert "1 missing" in result.stdout.splitlines()[0]
    assert "after" in result.stdout
    assert "line 3, seq 1" in result.stderr
    assert answered["error"]["code"] == "PAYLOAD_INVALID"
    assert answered["error"]["line"] == 3
    assert "messages" not in answered


@pytest.mark.parametrize("command", ["messages", "header"])
@pytest.mark.parametrize("at", ["90", "-1", "9" * 400])
def test_a_seq_that_is_not_there_is_a_usage_error(command: str, at: str) -> None:
    """What there is is said, to a program too."""
    result = run(command, GARDEN, "--at", at)
    answered = document(command, GARDEN, "--at", at)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "This log has seqs 0 to 89." in result.stderr
    assert answered["error"]["code"] == "NO_SUCH_SEQ"


def test_a_torn_tail_is_mentioned_and_changes_no_code() -> None:
    """The answer is about the good part of the file."""
    result = run("messages", GARDEN_TORN)

    assert result.exit_code == 0
    assert "torn tail" in result.stderr
    assert "torn tail" not in result.stdout


def test_the_header_names_the_events_that_put_it_in_force() -> None:
    """The last change and the snapshot it rests on."""
    answered = document("header", GARDEN)
    shown = run("header", GARDEN).stdout

    assert answered["set_by"]["seq"] == 36
    assert answered["set_by"]["type"] == "request/header-delta"
    assert answered["snapshot"]["seq"] == 3
    assert answered["header"] == thaw(unwrap(unwrap(read(GARDEN)).session.request_header()))
    assert "in force since seq 36 (request/header-delta, 2025-07-14 08:00:12 UTC)" in shown
    assert "a change to the one of seq 3 (request/header, " in shown
    assert "system (5 lines)" in shown
    assert "seed_box" in shown


def test_the_header_at_a_seq_is_the_one_in_force_then() -> None:
    """Before the change there was one system line less, and one tool."""
    answered = document("header", GARDEN, "--at", "35")

    assert answered["set_by"]["seq"] == 3
    assert len(answered["header"]["tools"]) == 3


def test_no_header_yet_is_an_answer() -> None:
    """Nothing is wrong with a log that has logged none so far."""
    result = run("header", GARDEN, "--at", "0")
    answered = document("header", GARDEN, "--at", "0")

    assert result.exit_code == 0
    assert "none was logged yet" in result.stdout
    assert answered["header"] is None
    assert answered["set_by"] is None


def test_a_header_that_cannot_be_folded_is_a_finding(tmp_path: Path) -> None:
    """The fault stands in its place until the next snapshot, and names its event."""
    log = sound()
    seq = log.add("request/header-delta", {"tools": 5})
    path = log.write(tmp_path)

    result = run("header", path)
    answered = document("header", path)

    assert result.exit_code == 1
    assert f"seq {seq}" in result.stderr
    assert answered["error"]["code"] == "HEADER_INVALID"
    assert answered["error"]["seq"] == answered["set_by"]["seq"] == seq
    assert "header" not in answered


def test_a_prefix_of_the_header_is_shown(tmp_path: Path) -> None:
    """Messages that every request begins with."""
    log = Log()
    prefix = [{"role": "user", "content": text("House rules")}]
    log.open_step(header={"config": {"model": "tern-1"}, "messagePrefix": prefix})

    shown = run("header", log.write(tmp_path)).stdout

    assert "every request begins with 1 message" in shown
    assert "House rules" in shown
