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
