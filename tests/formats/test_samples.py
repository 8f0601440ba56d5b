"""Genuine logs of every generation, and damaged ones with what their runtimes said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from returns.result import Failure

from dsh_fp import past_requests, read, unwrap
from dsh_fp.core.assembly import assemble
from dsh_fp.core.lossless import json_equal
from dsh_fp.core.streams import stream_of
from dsh_fp.formats.frames import content_of, walk
from tests.shared import shared_folder, shared_or_skip

SAMPLES: Final = "formats/samples"
ROWS: Final = ("text-chunks", "reasoning-chunks", "tool-call-chunks")


def logs_of(folder: Path) -> Iterator[Path]:
    """Every log file below a sample's folder, those of earlier stages too."""
    yield from (path for path in sorted(folder.rglob("*.jsonl*")) if "sessions" in path.parts)


NAMES: Final = [
    path.name
    for path in sorted((shared_folder() / SAMPLES).glob("*"))
    if path.is_dir() and not path.name.startswith("damaged-")
]
DAMAGED: Final = [
    path.parent.name for path in sorted((shared_folder() / SAMPLES).glob("damaged-*/cases.json"))
]


def counted(path: Path) -> int:
    """How many events a sound file holds, counted without the library."""
    content = path.read_bytes()
    if path.suffix == ".zstd":
        view = memoryview(content)
        content = b"".join(content_of(view, frame, 1 << 30) for frame in walk(content)[0])
    rows = [json.loads(one) for one in content.split(b"\n")[1:-1]]
    packed = [row["data"] for row in rows if row["type"] in ROWS and "seq0" in row]
    more = sum(len(data.get("texts", data.get("args"))) - 1 for data in packed)
    return len(rows) + more


@pytest.mark.parametrize("name", NAMES or ["(none)"])
def test_every_log_of_a_sample_is_read_whole(name: str) -> None:
    """All events, all requests known but before the first header, and no rule broken."""
    paths = list(logs_of(shared_or_skip(SAMPLES) / name))

    assert paths
    for path in paths:
        log = unwrap(read(path))
        allowed = {"TURN_NOT_CLOSED", "NEWER_LOG_BESIDE"}
        assert len(log.session) == counted(path), path
        assert {one.code.value for one in log.findings if one.severity != "note"} <= allowed, path
        unwrap(log.session.messages())
        faults = {one.fault.code.value for one in past_requests(log.session) if one.fault}
        assert faults <= {"NO_REQUEST_HEADER"}, path


@pytest.mark.parametrize("name", NAMES or ["(none)"])
def test_messages_are_what_their_streams_amount_to(name: str) -> None:
    """From v2 on a message holds its stream; its blocks are those of the message."""
    for path in logs_of(shared_or_skip(SAMPLES) / name):
        log = unwrap(read(path))
        if log.session.vocabulary.form.version < 2:
            continue
        for event in log.session.events:
            data = event.peek_data()
            if event.type != "assistant/message" or not data.get("stream"):
                continue
            chunks = [timed.chunk for timed in unwrap(stream_of(event))]
            made = unwrap(assemble(chunks)).message_content()
            if not data.get("interrupted"):
                assert json_equal(made, data["message"]["content"]), (path, event.seq)


def damaged_cases(folder: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """The cases of a folder of damaged logs with their files."""
    wire = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    for case in wire["cases"].values():
        (path,) = (folder / "sessions").glob(f"*/{case['id']}/{case['file']}")
        yield {**case, "format": wire["format"]}, path


@pytest.mark.parametrize("name", DAMAGED or ["(none)"])
def test_a_damaged_log_is_read_or_refused_as_by_its_runtime(name: str) -> None:
    """The same events are kept; v0 runtimes count the closers they would add as well."""
    folder = shared_or_skip(SAMPLES) / name

    for case, path in damaged_cases(folder):
        answer = read(path)
        expected = case["read"]
        if "error" in expected:
            assert isinstance(answer, Failure), path
            continue
        log = unwrap(answer)
        closers = case["after_resume"]["added_before_end_seed"] if case["format"] == 0 else []
        assert len(log.session) + len(closers) == expected["events"], path
        if not closers:
            assert log.session.events[-1].type == expected["last"], path


def test_the_outcomes_that_were_listed_are_those_of_the_cases() -> None:
    """No outcome about reading is without a file that is tried above, for the runtimes there."""
    folder = shared_or_skip(SAMPLES)
    listed = json.loads((folder / "damage-outcomes.json").read_text(encoding="utf-8"))

    for name in DAMAGED:
        wire = json.loads((folder / name / "cases.json").read_text(encoding="utf-8"))
        outcomes = listed[wire["runtime"]]
        shared = wire["cases"].keys() & outcomes.keys()
        assert all(wire["cases"][case]["read"] == outcomes[case]["read"] for case in shared)


@pytest.mark.parametrize("stage", ["stages", "sessions"])
def test_a_log_of_two_writers_is_refused_once_both_have_written(stage: str) -> None:
    """The first seq that stands twice is named."""
    folder = shared_or_skip(SAMPLES) / "damaged-two-writers-v0-0.1.2rc1" / stage
    (path,) = folder.rglob("*.zstd")

    answer = read(path)

    assert isinstance(answer, Failure) is (stage == "sessions")
    if isinstance(answer, Failure):
        assert answer.failure().data["reason"] == "seq-duplicate"
