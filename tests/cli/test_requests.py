"""`dsh-fp requests` and `dsh-fp request`: what was sent to the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsh_fp import past_requests, read, thaw, unwrap
from tests.cli.logs import GARDEN, Log, document, run, sound, text


def test_every_step_has_a_row_with_its_sizes() -> None:
    """The bytes are those of the request's JSON text."""
    session = unwrap(read(GARDEN)).session

    rows = document("requests", GARDEN)["requests"]

    expected = [
        (
            past.turn,
            past.step,
            past.seq,
            len(past.messages or ()),
            len((past.to_json() or "").encode()),
        )
        for past in past_requests(session)
    ]
    got = [(row["turn"], row["step"], row["seq"], row["messages"], row["bytes"]) for row in rows]
    assert got == expected
    assert {row["model"] for row in rows} == {"mira-small"}


def test_the_bytes_of_odd_texts_are_counted_right(tmp_path: Path) -> None:
    """Halves of characters, wide characters, prefix messages, no messages at all."""
    log = Log()
    log.open_step()
    log.close()
    prefix = [{"role": "user", "content": text("\ud83c")}]
    log.open_step(turn=2, header={"config": {"model": "漁"}, "messagePrefix": prefix})
    log.close(turn=2)
    log.say("\udf0a ⛵")
    log.open_step(turn=3, header={"config": {"model": 5}})
    path = log.write(tmp_path)

    sizes = [row["bytes"] for row in document("requests", path)["requests"]]

    texts = [past.to_json() or "" for past in past_requests(log.session)]
    assert sizes == [len(made.encode()) for made in texts]


def test_the_table_is_aligned() -> None:
    """Every row's cells end where those of the head end."""
    head, *rows = run("requests", GARDEN).stdout.splitlines()[2:]

    assert len(rows) == 6
    for name in ("turn", "step", "seq", "messages", "bytes"):
        end = head.index(name) + len(name)
        assert all(row[end - 1].isdigit() and row[end : end + 1] in ("", " ") for row in rows)


def test_a_step_without_a_header_is_listed_with_its_fault(tmp_path: Path) -> None:
    """Its request is not known: the row says why, and the code is 1."""
    log = Log()
    log.open_step(header=None)
    path = log.write(tmp_path)

    result = run("requests", path)
    row = document("requests", path)["requests"][0]

    assert result.exit_code == 1
    assert "NO_REQUEST_HEADER" in result.stdout
    assert row["fault"]["code"] == "NO_REQUEST_HEADER"
    assert row["fault"]["line"] == 3
    assert row["bytes"] is None


def test_a_log_without_steps_has_no_requests(tmp_path: Path) -> None:
    """That is an answer, not an error."""
    result = run("requests", Log().write(tmp_path))

    assert result.exit_code == 0
    assert result.stdout == 'session "harbour": 0 requests\n'


def test_text_prints_exactly_the_json_text() -> None:
    """The bytes can be hashed, or piped to what sends them again."""
    past = past_requests(unwrap(read(GARDEN)).session)[2]

    result = run("request", GARDEN, "--turn", "3", "--step", "1", "--text")

    assert result.stdout_bytes == (past.to_json() or "").encode() + b"\n"


def test_the_document_holds_exactly_the_request() -> None:
    """And beside each message the event that brought it there."""
    session = unwrap(read(GARDEN)).session
    past = past_requests(session)[-1]

    answered = document("request", GARDEN, "--turn", "4", "--step", "1")

    assert answered["request"] == thaw(unwrap(past.request))
    assert list(answered["request"]) == list(unwrap(past.request))
    assert answered["bytes"] == len((past.to_json() or "").encode())
    assert [event["seq"] for event in answered["events"]] == list(session.prefix(80).surface)


def test_messages_of_the_header_have_no_event(tmp_path: Path) -> None:
    """They come first, and say that the header brought them."""
    log = Log()
    log.say("Which way?")
    prefix = [{"role": "user", "content": text("House rules")}]
    log.open_step(header={"config": {"model": "tern-1"}, "messagePrefix": prefix})
    path = log.write(tmp_path)

    answered = document("request", path, "--turn", "1", "--step", "1")
    shown = run("request", path, "--turn", "1", "--step", "1").stdout

    assert [event and event["seq"] for event in answered["events"]] == [None, 0]
    assert "   1  user  from the request header\n" in shown
    assert "   2  user  seq 0 user/message from user\n" in shown


def test_a_request_that_is_not_known_is_a_finding(tmp_path: Path) -> None:
    """The reason is told, nothing is invented, and the code is 1."""
    log = Log()
    log.open_step(header=None)
    path = log.write(tmp_path)

    for options in ((), ("--text",)):
        result = run("request", path, "--turn", "1", "--step", "1", *options)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert "NO_REQUEST_HEADER" in result.stderr
    answered = document("request", path, "--turn", "1", "--step", "1")
    assert answered["request"] is None
    assert answered["error"]["code"] == "NO_REQUEST_HEADER"


def test_a_step_that_is_not_there_is_a_usage_error() -> None:
    """What there is is said."""
    result = run("request", GARDEN, "--turn", "2", "--step", "1")
    answered = document("request", GARDEN, "--turn", "2", "--step", "1")

    assert result.exit_code == 2
    assert "turn 1 to step 2, turn 3 to step 3, turn 4 to step 1" in result.stderr.replace(
        "\n         ", " "
    )
    assert answered["error"]["code"] == "NO_SUCH_STEP"


def test_steps_of_one_name_are_told_apart_by_seq(tmp_path: Path) -> None:
    """A writer that broke the numbering may have named two alike."""
    log = sound()
    second = log.open_step()
    path = log.write(tmp_path)

    ambiguous = run("request", path, "--turn", "1", "--step", "1")

    assert ambiguous.exit_code == 2
    assert f"seq 1, {second}" in ambiguous.stderr
    assert document("request", path, "--seq", str(second))["seq"] == second


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--turn", "1"],
        ["--turn", "1", "--step", "1", "--seq", "2"],
        ["--turn", "one", "--step", "1"],
        ["--turn", "1", "--step", "1", "--text", "--json"],
    ],
)
def test_a_step_must_be_named_in_one_way(options: list[str]) -> None:
    """Anything else is a usage error."""
    result = run("request", GARDEN, *options)

    assert result.exit_code == 2
    assert "--help" in result.stderr


def test_true_is_not_turn_one(tmp_path: Path) -> None:
    """A turn that is the JSON value true is found by its seq only."""
    log = Log()
    log.add("step/start", {"turn": True, "step": 1})
    path = log.write(tmp_path)

    assert run("request", path, "--turn", "1", "--step", "1").exit_code == 2
    assert run("request", path, "--seq", "0").exit_code == 1
