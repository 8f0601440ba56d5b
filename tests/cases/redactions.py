"""Operations on redacted copies. What they hold to be right nobody bore out but us."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from returns.result import Failure

import dsh_fp
from dsh_fp.core.certificates import certify
from dsh_fp.core.redaction.redacting import Redaction, Values, redact
from dsh_fp.core.verifying import compare_certificate
from dsh_fp.wire.exports import export_anthropic, export_openai
from tests.cases.verdicts import Ask, Findings, Known, by_key, holds, not_looked_at, same
from tests.conformance.asking import frozen, must
from tests.conformance.loading import json_of_text

SECRETS: Final = "secrets.json"


def _secrets(ask: Ask) -> list[str]:
    found: list[str] = json_of_text((ask.path.parent / SECRETS).read_text(encoding="utf-8"))
    return found


def _redacted(ask: Ask) -> Redaction:
    session = must(ask.inputs.log(ask.path)).session
    made: Redaction = must(redact(session, [Values(_secrets(ask))]))
    return made


def redacting(ask: Ask) -> Findings:
    """What a redacted copy still holds, and what it has in common with the log."""
    before = ask.path.read_bytes()
    session = must(ask.inputs.log(ask.path)).session
    made = _redacted(ask)
    copy = dsh_fp.encode_log(made.session.header, made.session.events)
    expect = dict(ask.expect)
    expect.pop("given", None)
    wanted = expect.pop("in", None)
    if wanted is not None:
        after = expect.pop("occurrences_after")
        yield from _occurrences(_secrets(ask), made, copy, wanted, after)
    known: Known = {
        "joined_chunk_text_occurrences_after": lambda: _times(
            _secrets(ask), "".join(_pieces(made.session))
        ),
        "events": lambda: len(made.session),
        "seqs_types_citations_unchanged": lambda: (
            list(map(_envelope, made.session.events)) == list(map(_envelope, session.events))
        ),
        "loads": lambda: "reject" if isinstance(dsh_fp.read(copy), Failure) else "accept",
        "same_secret_same_mark": lambda: (
            len({one.mark for one in made.replaced}) == len(_secrets(ask))
        ),
        "chunk_count_unchanged": lambda: _chunks(made.session) == _chunks(session),
        "source_file_sha256_after": lambda: hashlib.sha256(ask.path.read_bytes()).hexdigest(),
        "verify_request": lambda: _vouches(session, made.session),
    }
    yield from by_key(expect, known)
    yield holds("the log itself stays as it was", ask.path.read_bytes() == before)


def _envelope(event: dsh_fp.Event) -> tuple[Any, ...]:
    return event.seq, event.type, event.time, event.source_event_seqs, event.surface_op


def _pieces(session: dsh_fp.Session) -> Iterator[str]:
    for event in session.events:
        if event.type == "assistant/chunk" and event.data["chunk"]["type"] == "text-delta":
            yield event.data["chunk"]["text"]


def _chunks(session: dsh_fp.Session) -> int:
    return sum(event.type == "assistant/chunk" for event in session.events)


def _times(secrets: list[str], text: str) -> int:
    return sum(text.count(secret) for secret in secrets)


def _occurrences(
    secrets: list[str], made: Redaction, copy: bytes, wanted: list[str], after: int
) -> Findings:
    """How often secrets stand in each form in which a session goes out."""
    messages = must(made.session.messages())
    request = frozen({"model": "m", "messages": dsh_fp.thaw(messages)})
    with TemporaryDirectory() as folder:
        shown = _shown(Path(folder) / "copy.jsonl", copy)
    forms = {
        "raw export": copy.decode(),
        "messages": dsh_fp.to_text(messages),
        "openai": dsh_fp.to_text(export_openai(request).body),
        "anthropic": dsh_fp.to_text(export_anthropic(request, max_tokens=1).body),
        "transcript": shown,
    }
    for name in (*wanted, "transcript"):
        if name in forms:
            yield same(f"occurrences in {name}", after, _times(secrets, forms[name]))
        else:
            yield not_looked_at(name, "there is no such export")


def _shown(path: Path, copy: bytes) -> str:
    from click.testing import CliRunner

    from dsh_fp.cli import main

    path.write_bytes(copy)
    return CliRunner().invoke(main, ["show", str(path), "--full"]).output


def _vouches(session: dsh_fp.Session, copy: dsh_fp.Session) -> str:
    """Whether the copy still holds against the certificate of the log."""
    compared = compare_certificate(copy, certify(session))
    return "vouches" if compared.holds else "refuses to vouch for redacted requests"


def arguments(ask: Ask) -> Findings:
    """What became of the arguments of calls, which are JSON text inside a string."""

    def valid() -> str:
        for event in _redacted(ask).session.events:
            if event.type == "tool/call":
                json.loads(event.data["arguments"])
        return "still valid JSON text"

    yield from by_key(ask.expect, {"after_redaction": valid})


REDACTIONS: Final = {"redact": redacting, "tool-call-arguments": arguments}
