"""Operations that compare what was recorded: fingerprints, drift, claims, replay."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import dsh_fp
from tests.cases.verdicts import Ask, Findings, Known, by_key, holds, not_looked_at, same
from tests.conformance.asking import code_of, must, text_sha256

_REPOSITORY: Final = Path(__file__).resolve().parents[2]
_TOLD: Final = """
import sys, dsh_fp
session = dsh_fp.read(sys.argv[1]).unwrap().session
model = dsh_fp.ReplayModel(session)
texts = [dsh_fp.to_text(session.messages().unwrap())]
texts += [past.to_json() or "" for past in dsh_fp.past_requests(session)]
for call in dsh_fp.script_of(session).calls:
    texts += map(dsh_fp.to_text, call.chunks)
sys.stdout.buffer.write("\\n".join(texts).encode())
"""


def content_digest(ask: Ask) -> Findings:
    """Whether logs hold the same content, whenever and by whatever name it was recorded."""
    sessions = [must(ask.inputs.log(path)).session for path in ask.inputs.paths(ask.check)]
    told = [dsh_fp.content_digests(session) for session in sessions]
    known: Known = {
        "equal": lambda: len({one.content for one in told}) == 1,
        "event_digest_equal": lambda: len({one.events for one in told}) == 1,
    }
    yield from by_key(ask.expect, known)


def digest_of_raw_events(ask: Ask) -> Findings:
    """Whether logs hold the same events, times and ids included."""
    sessions = [must(ask.inputs.log(path)).session for path in ask.inputs.paths(ask.check)]
    told = {tuple(map(dsh_fp.event_digest, session.events)) for session in sessions}
    yield from by_key(ask.expect, {"equal": lambda: len(told) == 1})


def drift(ask: Ask) -> Findings:
    """What changed in the header between requests, and which event did it."""
    session = must(ask.inputs.log(ask.path)).session
    origins = dsh_fp.SessionOrigins(session)
    by_step: dict[Any, Any] = {(p.turn, p.step): p for p in dsh_fp.past_requests(session)}

    def diff(old: list[int], new: list[int]) -> Any:
        sides = (origins.of(by_step[tuple(step)]) for step in (old, new))
        return must(dsh_fp.diff_requests(*sides))

    for old, new in ask.expect.get("between", ()):
        yield same(
            f"first of {old} to {new}", ask.expect["first_difference"], str(diff(old, new).first)
        )
    for old, new in ask.expect.get("none_between", ()):
        told = diff(old, new)
        is_same = not told.parts and told.system is None and told.tools is None
        yield holds(f"{old} to {new}: the same header", is_same)
    for change in ask.expect.get("changes", ()):
        told = diff(change["from"], change["to"])
        yield same("part", change["part"], str(told.first))
        yield same(
            "first changed line", change["first_changed_line"], told.system.first_changed_line
        )
        yield same("reason", change["reason"], told.system.behind.cause.reason)
        kept = told.common_messages == told.old_messages
        yield same("messages kept", ask.expect["messages_prefix_kept"], kept)
    for key in ask.expect:
        if key not in (
            "between",
            "none_between",
            "first_difference",
            "changes",
            "messages_prefix_kept",
        ):
            yield not_looked_at(key)


def verify_request(ask: Ask) -> Findings:
    """Whether a request's messages are those of a claimed digest, else where they part.

    A digest alone says no more than "differs"; but the claimed messages are often those of
    another moment of the same log, and then they can be found.
    """
    session = must(ask.inputs.log(ask.path)).session
    named, claimed = ask.expect["request"], ask.expect["claimed_messages_json_sha256"]
    pasts = {(past.turn, past.step): past for past in dsh_fp.past_requests(session)}
    past = pasts[tuple(named)]
    result = "verified" if text_sha256(past.messages) == claimed else "differs"
    yield same("result", ask.expect["result"], result)
    if "first_differing_message" in ask.expect:
        lists = _lists_around(session, past)
        meant = next((one for one in lists if text_sha256(one) == claimed), None)
        if meant is None:
            yield not_looked_at(
                "first_differing_message", "no moment of the log has these messages"
            )
            return
        difference = dsh_fp.first_difference(past.messages, meant)
        first = None if difference is None else difference.steps[0]
        yield same("first differing message", ask.expect["first_differing_message"], first)


def _lists_around(session: Any, past: Any) -> Iterator[Any]:
    """What would have been sent at any other moment of the log, under the same header."""
    prefix = past.header.get("messagePrefix", ())
    for length in range(len(session) + 1):
        derived = must(session.prefix(length).messages())
        yield dsh_fp.snapshot([*prefix, *derived]).unwrap()


def replay(ask: Ask) -> Findings:
    """A session in place of a model: the answers in order, and the same bytes anywhere."""
    if "with" in ask.expect:
        yield same("runs", ask.expect["runs"], len(set(_OTHERWISE)))
        told = [_told_in_a_process(ask.path, *otherwise) for otherwise in _OTHERWISE]
        is_same = len(set(told)) == 1 and told[0] != b""
        yield same("bytes", ask.expect["messages_and_requests_byte_equal"], is_same)
        return
    model = dsh_fp.ReplayModel(must(ask.inputs.log(ask.path)).session)
    texts: list[str] = []
    missed = None
    while missed is None:
        try:
            answer = model.complete()
        except dsh_fp.Rejected as rejected:
            missed = code_of(rejected.rejection)
        else:
            texts.append("".join(b["text"] for b in answer.content if b["type"] == "text"))
    yield same("answers", ask.expect["recorded_answers_in_order"], texts)
    yield holds("asked for one more, it says that there is none", missed == "REPLAY_EXHAUSTED")


# Two processes that share nothing a replay could depend on.
_OTHERWISE: Final = (
    (("PYTHONHASHSEED", "1"), ("TZ", "UTC"), ("LC_ALL", "C")),
    (("PYTHONHASHSEED", "7"), ("TZ", "Asia/Kolkata"), ("LC_ALL", "C.UTF-8")),
)


def _told_in_a_process(log: Path, *environment: tuple[str, str]) -> bytes:
    """Messages, requests and replayed chunks, as a process of its own writes them."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-c", _TOLD, str(log.resolve())],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(_REPOSITORY), **dict(environment)},
            stdout=subprocess.PIPE,
            check=True,
        )
    return ran.stdout


RECORDED: Final = {
    "content-digest": content_digest,
    "digest-of-file-or-raw-events": digest_of_raw_events,
    "drift": drift,
    "verify-request": verify_request,
    "replay": replay,
}
"""What no reference answers: these are run whatever a check's basis is."""
