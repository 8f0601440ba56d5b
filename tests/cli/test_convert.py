"""`dsh-fp convert`: what it writes, what it says, and what it leaves alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from dsh_fp import read
from dsh_fp.cli import convert
from dsh_fp.core.migration.equivalence import RequestDifference
from dsh_fp.core.migration.migrating import Migration, migrated
from dsh_fp.formats.frames import content_of, walk
from tests.cli.logs import run, sound, write
from tests.formats.making import Writer, conversation, plain
from tests.shared import shared_or_skip


def v0(folder: Path) -> str:
    return write(folder, plain(0, conversation(0)), "old.jsonl")


@pytest.mark.parametrize("target", ["v1", "v2", "v3", "v4"])
def test_the_new_file_is_a_log_of_the_generation_asked_for(tmp_path: Path, target: str) -> None:
    log, out = v0(tmp_path), tmp_path / "new.jsonl"
    before = Path(log).read_bytes()

    answer = run("convert", log, "--to", target, "-o", str(out))

    assert answer.exit_code == 0
    assert "2 of 2 the same" in answer.stdout
    assert read(out).unwrap().session.vocabulary.form.generation == target
    assert Path(log).read_bytes() == before


def test_a_name_for_a_compressed_file_gets_one_with_the_header_alone_in_front(
    tmp_path: Path,
) -> None:
    out = tmp_path / "new.jsonl.zstd"

    run("convert", v0(tmp_path), "--to", "v4", "-o", str(out))

    view = memoryview(out.read_bytes())
    frames = walk(view)[0]
    first = content_of(view, frames[0], 1 << 20)
    assert len(frames) == 2
    assert first.count(b"\n") == 1
    assert json.loads(first)["version"] == 4


def test_the_log_itself_is_never_written_over(tmp_path: Path) -> None:
    log = v0(tmp_path)
    link = tmp_path / "link.jsonl"
    link.symlink_to(log)

    answer = run("convert", log, "--to", "v4", "-o", str(link))

    assert answer.exit_code == 2
    assert "not written over" in answer.stderr


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    out = tmp_path / "new.jsonl"
    out.write_bytes(b"mine")

    answer = run("convert", v0(tmp_path), "--to", "v4", "-o", str(out))

    assert answer.exit_code == 2
    assert out.read_bytes() == b"mine"


def test_what_cannot_be_carried_is_refused_with_its_place(tmp_path: Path) -> None:
    made = Writer(2)
    made.say("early")
    log = write(tmp_path, plain(2, made.events), "old.jsonl")
    out = tmp_path / "new.jsonl"

    answer = run("convert", "--json", log, "--to", "v3", "-o", str(out))

    error = json.loads(answer.stdout)["error"]
    assert answer.exit_code == 1
    assert (error["code"], error["seq"], error["line"]) == ("CONVERSION_REFUSED", 0, 2)
    assert not out.exists()


def test_a_log_of_july_is_refused(tmp_path: Path) -> None:
    log = write(tmp_path, sound().content, "july.jsonl")

    answer = run("convert", log, "--to", "v4", "-o", str(tmp_path / "new.jsonl"))

    assert answer.exit_code == 1
    assert "July" in answer.stderr


def test_the_earliest_names_of_v0_are_read(tmp_path: Path) -> None:
    made = Writer(0)
    made.add("compact/start", {"turn": None})
    log = write(tmp_path, plain(0, made.events), "old.jsonl")
    out = tmp_path / "new.jsonl"

    answer = run("convert", log, "--to", "v1", "-o", str(out))

    assert answer.exit_code == 0
    assert read(out).unwrap().session.events[0].type == "compaction/start"


def test_a_log_comes_from_standard_input(tmp_path: Path) -> None:
    out = tmp_path / "new.jsonl"

    answer = run("convert", "-", "--to", "v4", "-o", str(out), given=plain(3, conversation(3)))

    assert answer.exit_code == 0
    assert out.exists()


def test_a_request_that_differs_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differs = tuple(RequestDifference(2, 1, step, "tools") for step in range(30))

    def wrong(*given: object) -> object:
        return migrated(*given).map(lambda made: Migration(made.session, differs))  # type: ignore[arg-type]

    monkeypatch.setattr(convert, "migrated", wrong)

    answer = run("convert", v0(tmp_path), "--to", "v4", "-o", str(tmp_path / "new.jsonl"))

    assert answer.exit_code == 1
    assert "turn 1, step 0, seq 2: tools" in answer.stdout
    assert "10 more" in answer.stdout


def test_what_does_not_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "new.jsonl"
    monkeypatch.setattr(convert, "encode_session", lambda *_, **__: b"{}\n")

    answer = run("convert", v0(tmp_path), "--to", "v4", "-o", str(out))

    assert answer.exit_code == 3
    assert not out.exists()


@pytest.mark.parametrize("sample", ["v0-0.1.1rc1-compact", "v2-tools", "v3-compact"])
def test_captured_bodies_are_those_of_the_converted_log_too(tmp_path: Path, sample: str) -> None:
    """What was captured while a log was written matches its copy in v4 just as well."""
    folder = shared_or_skip("formats") / "samples" / sample
    (capture,) = folder.glob("requests.jsonl*")
    bodies = tmp_path / "bodies.jsonl"
    opening = gzip.open if capture.suffix == ".gz" else open
    with opening(capture, "rb") as opened:
        bodies.write_bytes(opened.read())
    logs = sorted(folder.glob("sessions/*/*"))
    copies = [str(tmp_path / f"{place}.jsonl") for place, _ in enumerate(logs)]
    for log, copy in zip(logs, copies, strict=True):
        assert run("convert", str(log), "--to", "v4", "-o", copy).exit_code == 0

    def matched(log: str) -> list[int]:
        told = json.loads(run("check-wire", "--json", log, str(bodies)).stdout)
        return [told[verdict] for verdict in ("total", "equal", "differs", "unknown")]

    before = [matched(str(log)) for log in logs]
    assert all(equal > 0 for _, equal, _, _ in before)
    assert [matched(copy) for copy in copies] == before
