"""The commands on logs of the released generations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dsh_fp import encode_log, past_requests, unwrap
from dsh_fp.core.content import content_digests
from dsh_fp.core.generations import V0, V3, V4
from dsh_fp.core.vocabulary import Vocabulary
from tests.cli.logs import document, run, write
from tests.wire.released import TIDE, Released, reasoning, text

EACH = pytest.mark.parametrize("vocabulary", [V0, V3, V4])
ASKED = {"name": "tide", "arguments": '{"day": 1}'}


def harbour(vocabulary: Vocabulary) -> Released:
    """Two turns with a call and a compaction, that a reader of any generation takes."""
    log = Released(vocabulary, id="harbour").begin(system="Be brief.\nBe kind.")
    log.say("Tides?")
    log.answer(reasoning("Look."), {"type": "tool-call", "id": "c1", **ASKED})
    called = log.add("tool/call", {"turn": 1, "step": 1, "callId": "c1", **ASKED})
    source = {"kind": "tool", "callId": "c1"}
    if vocabulary is V4:
        message = log.record("tool", text("No."), source, toolCallId="c1", isError=True)
    else:
        block = {"type": "tool-result", "toolCallId": "c1", "content": text("No."), "isError": True}
        message = log.record("user", [block], source)
    error = {"name": "TideError", "code": "LOW"}
    data = {"turn": 1, "step": 1, "message": message, "error": error}
    log.add("tool/result", data, op="append", sources=[called])
    log.more().answer(*text("Noon."))
    log.end()
    log.compact()
    log.begin().say("And now?")
    log.answer(*text("Low."))
    return log.end()


def written(log: Released, folder: Path, name: str = "log.txt") -> str:
    """The path of the log's file."""
    return write(folder, encode_log(log.session.header, log.session.events), name)


def printed(*args: str, code: int = 0) -> str:
    """What a command prints."""
    result = run(*args)
    assert result.exit_code == code, result.stdout + result.stderr
    return result.stdout


@EACH
def test_a_transcript_shows_messages_wherever_they_are(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    """The content of records, whose call a result answers, its error, and summaries."""
    transcript = printed("show", written(harbour(vocabulary), tmp_path))

    assert "no message can be made" not in transcript
    assert "user/message from user\n" in transcript
    assert "assistant/message\n" in transcript
    assert "tool/result of c1 ERROR TideError LOW\n" in transcript
    assert "-> call tide (c1)\n" in transcript
    assert "compaction/summary of 4 nodes by tern-1\n" in transcript
    assert transcript.count("They asked for tides.") == 2
    assert ("Be kind." in transcript) == (vocabulary is not V0)


@EACH
def test_messages_and_header_are_shown_with_their_events(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    """Each message names who it is from where its type does not say it."""
    path = written(harbour(vocabulary), tmp_path)

    messages = printed("messages", path)
    header = printed("header", path)

    assert "user/message from user" in messages
    assert "assistant/message\n" in messages
    assert "provider         harbour\n" in header
    assert "reasoningEffort  high\n" in header
    assert ("system (2 lines)" in header) == (vocabulary is V0)


@EACH
def test_requests_count_system_lines_wherever_they_stand(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    """In the header, or in a message at the head."""
    path = written(harbour(vocabulary), tmp_path)

    rows = document("requests", path)["requests"]

    assert [row["system_lines"] for row in rows] == [2, 2, 2]
    for row, past in zip(rows, past_requests(harbour(vocabulary).session), strict=True):
        exact = printed("request", path, "--seq", str(row["seq"]), "--text")
        assert exact == (past.to_json() or "") + "\n"
        assert row["bytes"] == len(exact.encode()) - 1


@EACH
def test_digests_and_certificates_are_those_of_the_session(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    """And a log is what its certificate says."""
    log = harbour(vocabulary)
    path, certificate = written(log, tmp_path), str(tmp_path / "c.json")

    digests = content_digests(log.session)
    assert document("digest", path)["logs"][0]["content"] == {
        "content": digests.content,
        "events": digests.events,
    }
    assert run("certify", path, "-o", certificate).exit_code == 0
    assert run("verify", path, "--certificate", certificate).exit_code == 0


@EACH
def test_caches_scripts_and_differences_are_told(vocabulary: Vocabulary, tmp_path: Path) -> None:
    """Another recording of the same differs in names alone."""
    log = harbour(vocabulary)
    path = written(log, tmp_path)
    renamed = re.sub(r'"([mck])(\d*)"', r'"other \1\2"', Path(path).read_text())
    again = write(tmp_path, renamed.encode(), "again.txt")

    assert [row["kept_all"] for row in document("cache", path)["requests"][1:]] == [True, False]
    calls = document("script", path)["calls"]
    assert [call["purpose"] for call in calls] == ["step", "step", "compaction", "step"]
    told = document("diff", path, again)
    assert (told["content_equal"], told["equal"]) == (True, False)
    assert told["first_request"]["only_call_ids"] is True
    assert document("diff", path, again, "--ignore-call-ids")["equal"] is True


@EACH
def test_what_if_writes_a_log_of_the_generation(vocabulary: Vocabulary, tmp_path: Path) -> None:
    """It can be read again; an event file may have the envelope of the generation."""
    log = harbour(vocabulary)
    path, target = written(log, tmp_path), str(tmp_path / "edited.txt")
    said = [event for event in log.session.events if event.type == "user/message"]
    whole: dict[str, Any] = json.loads(said[-1].to_text())
    whole["data"]["content"] = text("And then?")
    event = write(tmp_path, json.dumps(whole).encode(), "event.txt")

    args = ("what-if", path, "--replace", f"{said[-1].seq}={event}", "-o", target)
    assert "1 changed" in printed(*args, code=1)

    assert "And then?" in printed("messages", target)
    assert run("verify", target).exit_code == 0
    found = printed("bisect", target, "--by", "turn", "--", "sh", "-c", '! grep -q then "$1"', "x")
    assert "the first bad prefix" in found


def test_an_event_with_a_mark_is_a_whole_event(tmp_path: Path) -> None:
    """`ignorable` belongs to the envelope of the released generations."""
    log = Released(V4).begin()
    grown = log.session.extend(
        [{"type": "plugin:x", "seq": len(log.session), "time": 1, "data": {}, "ignorable": True}]
    )
    log.session = unwrap(grown)
    marked = log.session.events[-1]
    path = written(log, tmp_path)
    event = write(tmp_path, marked.to_text().replace("{}", '{"a":1}').encode(), "event.txt")
    target = str(tmp_path / "edited.txt")

    printed("what-if", path, "--replace", f"{marked.seq}={event}", "-o", target)

    last = json.loads(Path(target).read_text().splitlines()[-1])
    assert (last["data"], last["ignorable"]) == ({"a": 1}, True)


def test_a_failed_attempt_is_one_line(tmp_path: Path) -> None:
    """Not its whole stream."""
    log = Released(V4).begin()
    stream = [{"type": "text-chunks", "time0": 1, "index": 0, "dt": [], "texts": ["No"]}]
    log.add("assistant/attempt", {"turn": 1, "step": 1, "stream": stream})

    transcript = printed("show", written(log, tmp_path))

    assert "assistant/attempt in step 1 of turn 1, not kept: 1 piece\n" in transcript


def test_a_seeded_session_says_so_in_a_listing(tmp_path: Path) -> None:
    """Its header does not say how many events it inherited."""
    log = Released(V4, isSeeded=True, parentSession="p").begin()
    log.header({"tools": [TIDE]})
    log.end().add("session/end-seed", {"inherited": True})
    path = written(log, tmp_path, "quay.jsonl")

    assert f'"p", {len(log.session) - 1} events inherited' in printed("show", path)
