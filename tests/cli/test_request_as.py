"""`dsh-fp request --as`: a request as a body to send again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dsh_fp import past_requests, read, thaw, to_text, unwrap
from dsh_fp.wire.chat_completions import encode_chat_body
from dsh_fp.wire.exports import export_anthropic, export_openai
from tests.cli.logs import GARDEN, document, run
from tests.cli.test_strangers import evil_log
from tests.wire.released import V4, Released

STEP = ("--turn", "3", "--step", "2")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "chat"])
def test_the_body_is_printed_exactly_and_what_it_lacks_beside_it(provider: str) -> None:
    """One line of JSON text on standard output, notes on standard error."""
    request = unwrap(past_requests(unwrap(read(GARDEN)).session)[3].request)
    body = {
        "openai": export_openai(request).body,
        "anthropic": export_anthropic(request).body,
        "chat": encode_chat_body(request).body,
    }[provider]

    result = run("request", GARDEN, *STEP, "--as", provider)
    told = document("request", GARDEN, *STEP, "--as", provider)

    assert result.exit_code == 0
    assert result.stdout == to_text(body) + "\n"
    assert json.dumps(told["body"]) == json.dumps(thaw(body))
    assert (told["provider"], told["turn"], told["step"]) == (provider, 3, 2)
    notes = [line for line in result.stderr.splitlines() if line.startswith("dsh-fp: note: ")]
    assert [line.removeprefix("dsh-fp: note: ") for line in notes] == told["left_out"]
    assert notes


def test_the_limit_goes_with_anthropic_alone() -> None:
    """It is what that API demands."""
    limit = ("--max-tokens", "5")

    assert (
        document("request", GARDEN, *STEP, "--as", "anthropic", *limit)["body"]["max_tokens"] == 5
    )
    assert run("request", GARDEN, *STEP, "--as", "openai", *limit).exit_code == 2
    assert run("request", GARDEN, *STEP, *limit).exit_code == 2
    assert run("request", GARDEN, *STEP, "--as", "chat", "--text").exit_code == 2
    assert run("request", GARDEN, *STEP, "--as", "telnet").exit_code == 2


def test_notes_about_strangers_texts_are_safe(tmp_path: Path) -> None:
    """Whatever stands in a log, standard error shows it escaped."""
    path = evil_log().write(tmp_path)

    for provider in ("openai", "anthropic", "chat"):
        result = run("request", path, "--seq", "2", "--as", provider)
        assert result.exit_code == 0
        assert all(line.isprintable() for line in result.stderr.splitlines())


def test_a_log_is_given_as_its_own_adapter_sent_it(tmp_path: Path) -> None:
    """On a route that its generation took."""
    log = Released(V4).begin()
    log.say("Tides?")
    path = tmp_path / "session.v4.jsonl"
    head = {"type": "session", **log.session.header.to_wire()}
    lines = [json.dumps(head), *(event.to_text() for event in log.session.events)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    named = (str(path), "--turn", "1", "--step", "1", "--as")

    messages = run("request", *named, "messages")
    chat = run("request", *named, "chat")
    july = run("request", GARDEN, *STEP, "--as", "messages")

    assert json.loads(messages.stdout)["output_config"] == {"effort": "high"}
    assert json.loads(chat.stdout)["reasoning_effort"] == "high"
    assert (messages.stderr, chat.stderr, july.exit_code) == ("", "", 2)
