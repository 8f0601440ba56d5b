"""`dsh-fp doctor`: every kind of place, both branches, words a person can act on."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tests.cli.logs import document, run, sound, write
from tests.cli.test_resume_check import FRAGMENT, cut_short
from tests.formats.making import conversation, header, lines, plain
from tests.formats.test_diagnosis import two_writers


def session_folder(root: Path, *versions: int, id: str = "s-1") -> Path:
    """A session's folder with files of these generations."""
    folder = root / "--srv-garden--" / id
    folder.mkdir(parents=True)
    for version in versions:
        middle = f".v{version}" if version else ""
        path = folder / f"session{middle}.jsonl"
        path.write_bytes(plain(version, conversation(version)))
    return folder


def test_both_branches_are_shown_with_what_to_do(tmp_path: Path) -> None:
    """A person reads where the writers parted, what each wrote, and the command to give."""
    path = write(tmp_path, two_writers())
    result = run("doctor", path)

    assert result.exit_code == 3
    for words in (
        "seq-duplicate",
        "lines 5 and 8",
        "branch first",
        "branch second",
        "keep-first, keep-second",
        "resuming: refused",
    ):
        assert words in result.stdout


def test_a_sound_log_is_sound(tmp_path: Path) -> None:
    """Nothing wrong, code 0."""
    result = run("doctor", write(tmp_path, sound().content))

    assert result.exit_code == 0
    assert result.stdout.startswith("SOUND")


def test_a_torn_log_is_damaged_and_can_be_read(tmp_path: Path) -> None:
    """The code is 1, and where the tail begins is told."""
    told = document("doctor", write(tmp_path, cut_short().content + FRAGMENT))

    (log,) = told["logs"]
    (torn,) = [one for one in log["damages"] if one["severity"] == "tail"]
    assert (told["exit_code"], log["verdict"], torn["kind"]) == (1, "damaged", "torn-line")
    assert torn["byte_offset"] == len(cut_short().content)


def test_a_root_is_looked_through(tmp_path: Path) -> None:
    """Each session has its checkup; the gravest gives the code; none stops the others."""
    session_folder(tmp_path, 3, 4)
    july = tmp_path / "cwd-1"
    july.mkdir()
    write(july, two_writers(), "two.jsonl")
    write(july, b"no log\n", "bad.jsonl")
    told = document("doctor", str(tmp_path))

    assert [log["verdict"] for log in told["logs"]] == ["sound", "refused", "refused"]
    assert told["summary"] == {"logs": 3, "sound": 1, "damaged": 0, "refused": 2}
    assert document("doctor", str(july))["summary"]["logs"] == 2


def test_what_lies_beside_a_log_is_told(tmp_path: Path) -> None:
    """Older generations and left-over files are notes; an older one that grew is more."""
    folder = session_folder(tmp_path, 3, 4)
    (folder / "session.v4.jsonl.0123456789ab.tmp").write_bytes(b"")
    (log,) = document("doctor", str(folder))["logs"]
    assert {one["kind"] for one in log["damages"]} == {"older-generation", "left-over-file"}

    with open(folder / "session.v3.jsonl", "ab") as older:
        seq = len(conversation(3))
        older.write(lines({"type": "turn/start", "seq": seq, "time": 9**15, "data": {"turn": 3}}))
    (log,) = document("doctor", str(folder))["logs"]
    assert "older-log-grew" in {one["kind"] for one in log["damages"]}


def test_a_folder_of_another_id_is_told(tmp_path: Path) -> None:
    """A header whose id is not that of its folder is refused by runtimes, and here."""
    folder = session_folder(tmp_path, 4, id="other")
    (log,) = document("doctor", str(folder))["logs"]

    assert {one["kind"] for one in log["damages"]} == {"file-name-mismatch"}


@pytest.mark.parametrize("is_july", [True, False])
def test_a_held_lock_is_told(tmp_path: Path, is_july: bool) -> None:
    """What looks torn may be half written: a person is told that a writer is at work."""
    path = tmp_path / "log.jsonl" if is_july else session_folder(tmp_path, 4) / "session.v4.jsonl"
    if is_july:
        path.write_bytes(sound().content)
    lock = f"{path}.lock" if is_july else str(path.parent / "session.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

        assert document("doctor", str(path))["logs"][0]["lock"] == "held"
        assert "a writer holds its lock" in run("doctor", str(path)).stdout
    finally:
        os.close(descriptor)
    assert document("doctor", str(path))["logs"][0]["lock"] == "free"


@pytest.mark.parametrize("place", ["missing.txt", "no\0name", "."])
def test_a_place_without_logs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """No path, no name, an empty folder: code 3 and no traceback."""
    monkeypatch.chdir(tmp_path)

    assert run("doctor", place).exit_code == 3


def test_standard_input_is_bad_usage() -> None:
    """Folders and locks are what it is about."""
    assert run("doctor", "-").exit_code == 2


def test_names_of_strangers_are_shown_safely(tmp_path: Path) -> None:
    """A turn's number and a file's name may be anything; no escape reaches a terminal."""
    rows = [
        {"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": "\u001b[2J"}},
        {"type": "turn/start", "seq": 0, "time": 2, "data": {"turn": "\u001b[2J"}},
        {"type": "turn/end", "seq": 1, "time": 2, "data": {"turn": "\u001b[2J"}},
    ]
    july = {"type": "session", "version": 0, "id": "\u001b[2J", "createdAt": 1}
    result = run("doctor", write(tmp_path, lines(july, *rows), "x\u001b[2J.jsonl"))

    assert "\u001b" not in result.output


def test_another_version_has_its_own_code(tmp_path: Path) -> None:
    """A log of a later version is not damaged but not known."""
    assert run("doctor", write(tmp_path, lines(header(9)))).exit_code == 4
