"""`dsh-fp repair`: crash tails are mended after a backup, deeper damage is not touched."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_fp import Code, Rejected, encode_log, interrupted_turn_closers, read, unwrap
from dsh_fp.cli import repair
from dsh_fp.cli.answer import open_log
from dsh_fp.storage.files import Files
from dsh_fp.storage.jsonl import LogFile
from tests.cli.logs import GARDEN, GARDEN_TORN, document, run, sound, spawn, write
from tests.cli.test_resume_check import FRAGMENT, a_writer_at, cut_short, picture
from tests.shared import REPOSITORY

TORN: Final = cut_short().content + FRAGMENT


def mended() -> bytes:
    """The bytes of the torn log after its repair."""
    session = cut_short().session
    return encode_log(session.header, [*session.events, *interrupted_turn_closers(session.events)])


def names_in(folder: Path) -> list[str]:
    """What lies in a folder, but for locks."""
    return sorted(entry.name for entry in folder.iterdir() if entry.suffix != ".lock")


# ---- without --apply -------------------------------------------------------------------------


def test_without_apply_nothing_is_changed(tmp_path: Path) -> None:
    """What would be done is told as `resume-check` tells it; the code is 1."""
    path = write(tmp_path, TORN)
    before = picture(tmp_path)

    result = run("repair", path)
    told = document("repair", path)

    assert result.exit_code == 1
    assert picture(tmp_path) == before
    checked = document("resume-check", path)
    assert {**told, "command": "resume-check"} == {**checked, "applied": False, "backup": None}
    plan = run("resume-check", path).stdout.splitlines()[1:]
    assert result.stdout.splitlines()[1:-1] == plan
    assert "--apply" in result.stdout.splitlines()[-1]


@pytest.mark.parametrize("options", [[], ["--apply"]])
def test_a_whole_log_needs_no_repair(options: list[str], tmp_path: Path) -> None:
    """Nor a backup, nor a lock."""
    path = write(tmp_path, sound().content)
    before = picture(tmp_path)

    result = run("repair", path, *options)

    assert result.exit_code == 0
    assert "nothing to repair" in result.stdout
    assert picture(tmp_path) == before


# ---- with --apply ----------------------------------------------------------------------------


def test_apply_mends_the_file_and_keeps_a_copy(tmp_path: Path) -> None:
    """The tail is cut, the turn closed, each former event keeps its bytes; the code is 0."""
    path = write(tmp_path, TORN)

    process = spawn("repair", path, "--apply")

    assert process.returncode == 0
    assert Path(path).read_bytes() == mended()
    assert Path(path + ".bak").read_bytes() == TORN
    assert names_in(tmp_path) == ["log.txt", "log.txt.bak"]
    assert run("verify", path).exit_code == 0
    told = process.stdout.decode()
    assert f"  backup    {path}.bak\n" in told
    assert f"  cut       {len(FRAGMENT)} bytes in 1 line from byte" in told
    assert "  appended  seq 5  tool/result  of c1\n" in told
    assert f"  verified  8 events in {len(mended()):,} bytes, all good\n" in told


def test_the_report_as_a_document(tmp_path: Path) -> None:
    """What was cut, what was appended, where the copy is."""
    path = write(tmp_path, TORN)

    told = document("repair", path, "--apply")

    assert (told["applied"], told["verified"], told["exit_code"]) == (True, True, 0)
    assert told["backup"] == path + ".bak"
    assert told["cut"]["byte_offset"] == len(cut_short().content)
    assert [entry["type"] for entry in told["append"]] == ["tool/result", "step/end", "turn/end"]
    assert told["next_seq"] == 8


@pytest.mark.parametrize("content", [cut_short().content, sound().content + FRAGMENT])
def test_half_of_it_is_enough_reason(content: bytes, tmp_path: Path) -> None:
    """An open turn without a torn tail, and a torn tail behind a closed turn."""
    path = write(tmp_path, content)

    assert run("repair", path, "--apply").exit_code == 0
    assert run("verify", path).exit_code == 0
    assert Path(path + ".bak").read_bytes() == content


def test_no_copy_is_ever_overwritten(tmp_path: Path) -> None:
    """The next free name is taken, and a link to nothing is a name that is taken."""
    path = write(tmp_path, TORN)
    write(tmp_path, b"old", "log.txt.bak")
    (tmp_path / "log.txt.bak-1").symlink_to("nowhere")

    assert document("repair", path, "--apply")["backup"] == path + ".bak-2"
    assert Path(path + ".bak").read_bytes() == b"old"
    assert Path(path + ".bak-2").read_bytes() == TORN


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_the_copy_has_the_mode_of_the_file(mode: int, tmp_path: Path) -> None:
    """Who may not read the one may not read the other."""
    path = write(tmp_path, TORN)
    os.chmod(path, mode)

    run("repair", path, "--apply")

    assert [stat.S_IMODE(os.stat(name).st_mode) for name in (path, path + ".bak")] == [mode, mode]


def test_a_file_in_the_working_directory_is_named_plainly(tmp_path: Path) -> None:
    """The how-to shows exactly what is printed."""
    write(tmp_path, Path(GARDEN_TORN).read_bytes(), "garden-torn.jsonl")
    page = (REPOSITORY / "docs" / "howto" / "repair-a-crashed-log.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n\$ dsh-fp (.*)\n((?:.*\n)*?)```", page)
    assert shown is not None

    process = spawn(*shown[1].split(), cwd=tmp_path)

    assert process.stdout.decode() == shown[2]
    assert process.returncode == 0


def test_a_link_leads_to_the_file(tmp_path: Path) -> None:
    """The copy lies beside the file itself, and the link stays one."""
    (tmp_path / "deep").mkdir()
    path = write(tmp_path / "deep", TORN)
    link = tmp_path / "link"
    link.symlink_to(path)

    assert run("repair", str(link), "--apply").exit_code == 0
    assert link.is_symlink()
    assert Path(path).read_bytes() == mended()
    assert names_in(tmp_path / "deep") == ["log.txt", "log.txt.bak"]


# ---- what is refused -------------------------------------------------------------------------


LINES: Final = sound().content.splitlines(keepends=True)
DAMAGED: Final = {
    "lost line": (b"".join((*LINES[:3], *LINES[4:])), "LOG_CORRUPT"),
    "refused event": (
        sound().content + b'{"type":"user/message","seq":7,"time":1,"data":{}}\n',
        "SURFACE_OP_MISSING",
    ),
    "no header": (b"\n" + sound().content, "LOG_HEADER_INVALID"),
}


@pytest.mark.parametrize(("content", "code"), DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("options", [[], ["--apply"]])
def test_deeper_damage_is_named_and_not_touched(
    content: bytes, code: str, options: list[str], tmp_path: Path
) -> None:
    """Code, line, seq and offset of what is wrong; no copy, no lock, no change."""
    path = write(tmp_path, content)
    before = picture(tmp_path)

    result = run("repair", path, *options)
    error = document("repair", path, *options)["error"]

    assert result.exit_code == 3
    assert result.stdout == ""
    assert f"is not repaired: {code}" in result.stderr
    assert error["code"] == code
    assert f"line {error['line']}" in result.stderr
    assert f"byte {error['byte_offset']}" in result.stderr
    assert ("seq" in error) is (code != "LOG_HEADER_INVALID")
    assert picture(tmp_path) == before


def test_a_writer_at_work_is_not_disturbed(tmp_path: Path) -> None:
    """While it holds the lock nothing is done, and no copy is made."""
    path = write(tmp_path, TORN)

    with a_writer_at(path):
        result = run("repair", path, "--apply")
        dry = run("repair", path)

    assert result.exit_code == 3
    assert "WRITER_CONFLICT" in result.stderr
    assert "a writer holds it" in dry.stdout
    assert Path(path).read_bytes() == TORN
    assert names_in(tmp_path) == ["log.txt"]


@pytest.mark.parametrize("options", [[], ["--apply"], ["--json"]])
def test_standard_input_cannot_be_repaired(options: list[str]) -> None:
    """That is wrong usage."""
    assert run("repair", "-", *options, given=TORN).exit_code == 2


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A pipe is not waited for."""
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path / "pipe", tmp_path, tmp_path / "missing"):
        result = run("repair", str(path), "--apply")
        assert result.exit_code == 3
        assert "FILE_UNREADABLE" in result.stderr


# ---- what goes wrong -------------------------------------------------------------------------


class WatchedFiles(Files):
    """Files that note what is asked for, in order."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def fsync(self, descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        self.calls.append("sync folder" if is_folder else "sync file")
        super().fsync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        self.calls.append("cut")
        super().truncate(descriptor, size)

    def link(self, source: str, target: str) -> None:
        self.calls.append("name")
        super().link(source, target)


def test_the_copy_is_on_the_disk_before_the_file_is_touched(tmp_path: Path) -> None:
    """Its content before its name, and its name before the cut."""
    files = WatchedFiles()

    repair.Repair(write(tmp_path, TORN), files).run()

    assert files.calls[:5] == ["sync file", "name", "sync folder", "cut", "sync file"]


def test_a_file_that_may_not_be_written_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No copy of a file that cannot be repaired anyway."""
    path = write(tmp_path, TORN)
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)

    result = run("repair", path, "--apply")

    assert result.exit_code == 3
    assert "it may not be written" in result.stderr
    assert names_in(tmp_path) == ["log.txt"]


class FailingFiles(Files):
    """Files of which one call fails when it comes for the nth time."""

    def __init__(self, call: str, nth: int) -> None:
        self.call, self.nth, self.failed = call, nth, False

    def _count(self, call: str) -> None:
        if call == self.call:
            self.nth -= 1
            if self.nth == 0:
                self.failed = True
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write(self, descriptor: int, content: memoryview) -> int:
        self._count("write")
        return super().write(descriptor, content)

    def fsync(self, descriptor: int) -> None:
        self._count("fsync")
        super().fsync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        self._count("truncate")
        super().truncate(descriptor, size)

    def link(self, source: str, target: str) -> None:
        self._count("link")
        super().link(source, target)


@pytest.mark.parametrize("call", ["write", "fsync", "truncate", "link"])
def test_whatever_fails_no_event_is_lost_and_it_can_be_tried_again(
    call: str, tmp_path: Path
) -> None:
    """Before the copy is on the disk the file is not touched; afterwards it is cut at most."""
    for nth in range(1, 20):
        folder = tmp_path / str(nth)
        folder.mkdir()
        path = write(folder, TORN)
        files = FailingFiles(call, nth)
        attempt = repair.Repair(path, files)
        codes = []
        try:
            attempt.run()
        except Rejected as refused:
            codes.append(refused.rejection.code)
        if not files.failed:
            break

        assert codes == [Code.STORAGE_FAILED]
        assert not attempt.size
        left = Path(path).read_bytes()
        if attempt.backup is None:
            assert left == TORN
        else:
            assert Path(attempt.backup).read_bytes() == TORN
            assert left.startswith(cut_short().content)
        assert not [name for name in names_in(folder) if name.endswith(".tmp")]
        assert document("repair", path, "--apply")["verified"] is True
        assert Path(path).read_bytes() == mended()
    else:
        raise AssertionError("the calls do not end")
    assert nth > 1


def test_a_failure_is_told_with_the_place_of_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads it knows where the file is as it was."""
    path = write(tmp_path, TORN)
    plain = repair.Repair
    monkeypatch.setattr(repair, "Repair", lambda path: plain(path, FailingFiles("truncate", 1)))

    result = run("repair", path, "--apply")

    assert result.exit_code == 3
    assert "STORAGE_FAILED" in result.stderr
    assert f"{path}.bak" in result.stderr.replace("\n         ", "")


def test_a_result_that_is_not_as_planned_is_not_called_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk may lie: the file is compared with its copy."""
    path = write(tmp_path, TORN)
    keep_copy = repair.copy_beside

    def lying(files: Files, path: str) -> str:
        copy = keep_copy(files, path)
        Path(copy).write_bytes(Path(copy).read_bytes().replace(b"Let me see", b"Let me sea"))
        return copy

    monkeypatch.setattr(repair, "copy_beside", lying)

    result = run("repair", path, "--apply")

    assert result.exit_code == 3
    assert "not what was written" in result.stderr


def test_who_was_faster_is_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mended between the look and the lock: nothing is done twice, and no copy is made."""
    path = write(tmp_path, TORN)
    look = open_log

    def slow(log: str) -> Any:
        opened = look(log)
        assert isinstance(opened, LogFile)
        write(tmp_path, mended())
        return opened

    monkeypatch.setattr(repair, "open_log", slow)

    result = run("repair", path, "--apply")

    assert result.exit_code == 0
    assert "nothing to repair" in result.stdout
    assert Path(path).read_bytes() == mended()
    assert names_in(tmp_path) == ["log.txt"]


def test_the_garden_is_whole() -> None:
    """And the torn one in the examples was not repaired by a test."""
    assert run("repair", GARDEN).exit_code == 0
    assert unwrap(read(GARDEN_TORN)).good_bytes == 9675
