"""`dsh-fp salvage`: nothing without a policy, nothing in place without --apply and a backup."""

from __future__ import annotations

import fcntl
import itertools
import os
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_fp.cli import salvage
from dsh_fp.cli.repair import copy_beside
from tests.cli.logs import document, run, sound, write
from tests.formats.making import conversation, header, lines, zstd
from tests.formats.test_diagnosis import JULY, SPLIT, turn, two_writers

SECOND: Final = lines(JULY, *turn(1, 0, "both"), *turn(2, SPLIT, "yours"))


def names_in(folder: Path) -> list[str]:
    """What lies in a folder, but for locks."""
    return sorted(entry.name for entry in folder.iterdir() if entry.suffix != ".lock")


@pytest.mark.parametrize("options", [[], ["--policy", "keep-second"]])
def test_nothing_is_changed_unless_it_is_asked_for(options: list[str], tmp_path: Path) -> None:
    """Without --apply and -o it is only shown what would be kept; the code is 1."""
    path = write(tmp_path, two_writers())
    result = run("salvage", path, *options)

    assert result.exit_code == 1
    assert Path(path).read_bytes() == two_writers()
    assert names_in(tmp_path) == ["log.txt"]
    assert "keep" in result.stdout


@pytest.mark.parametrize(
    "options",
    [["--apply"], ["-o", "out.jsonl"], ["--policy", "keep-first", "--apply", "-o", "x"]],
)
def test_a_call_that_says_too_little_or_too_much_is_refused(
    options: list[str], tmp_path: Path
) -> None:
    """Writing needs a policy, and one place."""
    path = write(tmp_path, two_writers())

    assert run("salvage", path, *options).exit_code == 2
    assert Path(path).read_bytes() == two_writers()


def test_apply_keeps_a_copy_of_every_byte(tmp_path: Path) -> None:
    """The sound log stands in place, the damaged one beside it, of the same mode."""
    path = write(tmp_path, two_writers())
    Path(path).chmod(0o640)
    told = document("salvage", path, "--policy", "keep-second", "--apply")

    assert told["exit_code"] == 0
    assert Path(path).read_bytes() == SECOND
    assert Path(told["backup"]).read_bytes() == two_writers()
    assert Path(path).stat().st_mode & 0o777 == 0o640
    assert names_in(tmp_path) == ["log.txt", "log.txt.bak"]
    assert run("verify", path).exit_code in (0, 1)
    assert run("salvage", path, "--policy", "keep-second").exit_code == 0


def test_both_branches_can_be_written_to_files(tmp_path: Path) -> None:
    """-o leaves LOG alone and never writes over a file."""
    path = write(tmp_path, two_writers())
    out = str(tmp_path / "second.jsonl")

    assert run("salvage", path, "--policy", "keep-second", "-o", out).exit_code == 0
    assert Path(out).read_bytes() == SECOND
    assert run("salvage", path, "--policy", "keep-first", "-o", out).exit_code == 2
    assert run("salvage", path, "--policy", "keep-first", "-o", path).exit_code == 2
    assert Path(out).read_bytes() == SECOND
    assert Path(path).read_bytes() == two_writers()


def test_the_report_accounts_for_every_byte(tmp_path: Path) -> None:
    """Spans without a hole, the dropped lines with their seqs, the closers by seq."""
    content = lines(JULY, *turn(1, 0, "both"), *turn(2, 3, "mine")[:2], b"\0\n", *turn(3, 6, "c"))
    report = document("salvage", write(tmp_path, content), "--policy", "good-prefix")["report"]

    places = [(one["start"], one["stop"]) for one in report["spans"]]
    assert places[0][0] == 0
    assert places[-1][1] == len(content)
    assert all(one[1] == two[0] for one, two in itertools.pairwise(places))
    assert report["synthetic"] == [{"seq": 5, "type": "turn/end"}]
    assert [one["seqs"] for one in report["dropped"]] == [None, [6, 8]]


def test_a_session_folder_is_salvaged_in_its_newest_file(tmp_path: Path) -> None:
    """The lock taken is the runtimes' own."""
    events = conversation(4)
    path = tmp_path / "session.v4.jsonl.zstd"
    path.write_bytes(zstd(4, events[:4], [*events[3:4], *events[4:]]))
    result = run("salvage", str(tmp_path), "--policy", "drop-repeats", "--apply")

    assert result.exit_code == 0
    assert (tmp_path / "session.lock").exists()
    assert run("verify", str(path)).exit_code == 0


def test_a_writer_at_work_keeps_its_file(tmp_path: Path) -> None:
    """While the lock is held nothing is written, no copy either."""
    path = write(tmp_path, two_writers())
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        told = document("salvage", path, "--policy", "keep-first", "--apply")
    finally:
        os.close(descriptor)

    assert told["error"]["code"] == "WRITER_CONFLICT"
    assert names_in(tmp_path) == ["log.txt"]


def test_a_file_that_changed_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was looked at is no longer there: nothing is put in its place."""
    path = write(tmp_path, two_writers())

    def late(files: Any, name: str) -> str:
        Path(name).write_bytes(sound().content)
        return copy_beside(files, name)

    monkeypatch.setattr(salvage, "copy_beside", late)
    told = document("salvage", path, "--policy", "keep-first", "--apply")

    assert told["error"]["code"] == "WRITER_CONFLICT"
    assert Path(path).read_bytes() == sound().content
    assert names_in(tmp_path) == ["log.txt"]


@pytest.mark.parametrize(
    ("content", "policy", "code", "exit_code"),
    [
        (two_writers(), "mend", "POLICY_UNKNOWN", 2),
        (two_writers(), "drop-blank", "POLICY_UNFIT", 2),
        (b"no log\n", "good-prefix", "LOG_HEADER_INVALID", 3),
        (lines(header(9)), "good-prefix", "VERSION_UNSUPPORTED", 4),
    ],
)
def test_each_refusal_has_its_code(
    tmp_path: Path, content: bytes, policy: str, code: str, exit_code: int
) -> None:
    """A policy that does not fit is bad usage; a log without a header is hopeless."""
    path = write(tmp_path, content)
    result = run("salvage", path, "--policy", policy)

    assert result.exit_code == exit_code
    assert document("salvage", path, "--policy", policy)["error"]["code"] == code


def test_a_sound_log_has_nothing_to_salvage(tmp_path: Path) -> None:
    """Code 0, and nothing is written even with --apply."""
    path = write(tmp_path, sound().content)

    assert run("salvage", path).exit_code == 0
    assert run("salvage", path, "--policy", "good-prefix", "--apply").exit_code == 0
    assert names_in(tmp_path) == ["log.txt"]


def test_a_missing_file_and_standard_input_are_refused(tmp_path: Path) -> None:
    """No traceback."""
    assert run("salvage", str(tmp_path / "none")).exit_code == 3
    assert run("salvage", "-").exit_code == 2
