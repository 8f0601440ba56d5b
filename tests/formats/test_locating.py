"""Where sessions are found: folders, roots, ids, and the files that stand beside one another."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_fp import Code, bucket_name, read
from dsh_fp.formats.locating import find_log, find_sessions, locate, sessions_root
from dsh_fp.formats.names import (
    file_name,
    parse_file_name,
    project_segment,
    session_path,
)
from dsh_fp.formats.reading import ReleasedLogFile
from tests.formats.making import TIME, contained, conversation, header, plain, zstd
from tests.storage.logs import line

CWD: Final = "/srv/garden"


def keep(
    root: Path,
    session_id: str,
    version: int,
    *,
    compressed: bool = True,
    rows: Any = None,
    **more: Any,
) -> Path:
    """A sound log where its runtime would keep it; answers its path."""
    cwd = more.get("cwd", CWD)
    where = session_path(
        str(root), None if cwd is ... else cwd, session_id, version, compressed=compressed
    ).unwrap()
    path = Path(where)
    path.parent.mkdir(parents=True, exist_ok=True)
    container = "zstd" if compressed else "plain"
    rows = conversation(version) if rows is None else rows
    path.write_bytes(contained(container, version, rows, id=session_id, **more))
    return path


@pytest.mark.parametrize(
    ("cwd", "segment"),
    [
        (None, "_no-cwd"),
        ("/srv/demo", "--srv-demo--"),
        ("/srv/demo/", "--srv-demo---"),
        ("/", "--root--"),
        ("", "--root--"),
        ("---", "--root--"),
        ("C:\\Users\\x", "--C-Users-x--"),
        ("//a//b", "--a-b--"),
        ("/a b", "--a~0020b--"),
        ("/~x", "--~007Ex--"),
        ("/\u00e9", "--~00E9--"),
        ("/\U0001f331", "--~D83C~DF31--"),
        ("/\ud800", "--~D800--"),
        ("/" + "x" * 300, "--" + "x" * 251 + "--"),
        ("/" + "\u00e9" * 60, "--" + ("~00E9" * 60)[:251] + "--"),
        ("/-a", "--a--"),
    ],
)
def test_a_project_folder_is_named_for_the_working_directory(cwd: str | None, segment: str) -> None:
    """Runs of separators become one dash, leading dashes go, the rest is escaped and cut."""
    assert project_segment(cwd) == segment


@pytest.mark.parametrize("version", [0, 1, 4, 12])
@pytest.mark.parametrize("compressed", [True, False])
def test_a_file_name_says_generation_and_container(version: int, compressed: bool) -> None:
    """Writing a name and reading it are inverse."""
    assert parse_file_name(file_name(version, compressed=compressed)) == (version, compressed)


@pytest.mark.parametrize(
    "name",
    [
        "session.v0.jsonl",
        "session.v04.jsonl.zstd",
        "session.v-1.jsonl",
        "session.vX.jsonl",
        "session.jsonl.gz",
        "session.json",
        "Session.jsonl",
        "session.jsonl.zstd.1a2b.tmp",
        "session.v4.jsonl\n",
        "session.lock",
    ],
)
def test_other_names_are_no_session_files(name: str) -> None:
    """Runtimes do not see them either."""
    assert parse_file_name(name) is None


def test_a_folder_is_read_by_its_highest_generation(tmp_path: Path) -> None:
    """What migration left behind stays unread, and the path that is told is that of the file."""
    keep(tmp_path, "s", 0)
    newest = keep(tmp_path, "s", 4)
    (newest.parent / "session.lock").touch()
    (newest.parent / "session.v9.jsonl.zstd.0123456789ab.tmp").write_bytes(b"x")

    log = read(newest.parent).unwrap()

    assert log.generation == "v4"
    assert log.file == str(newest)
    assert find_log(str(newest.parent)).unwrap().older == (
        str(newest.parent / "session.jsonl.zstd"),
    )


def test_there_is_no_falling_back_to_an_older_generation(tmp_path: Path) -> None:
    """A damaged newest file refuses the folder, as does one that is newer than this library."""
    keep(tmp_path, "s", 0)
    newest = keep(tmp_path, "s", 4)
    newest.write_bytes(newest.read_bytes() + b"\0junk")

    assert read(newest.parent).failure().code is Code.LOG_CORRUPT
    (newest.parent / "session.v7.jsonl").write_bytes(line({**header(4), "version": 7}))
    assert read(newest.parent).failure().code is Code.VERSION_UNSUPPORTED


def test_one_generation_both_compressed_and_plain_is_ambiguous(tmp_path: Path) -> None:
    """The refusal names both files."""
    one = keep(tmp_path, "s", 4)
    other = keep(tmp_path, "s", 4, compressed=False)

    fault = read(one.parent).failure()

    assert fault.code is Code.LOG_AMBIGUOUS
    assert fault.data["files"] == (str(other), str(one))


def test_a_folder_without_a_log_says_what_to_call(tmp_path: Path) -> None:
    """A root is not a session."""
    keep(tmp_path, "s", 4)

    fault = read(tmp_path).failure()

    assert (fault.code, "find_sessions" in fault.message) == (Code.FILE_UNREADABLE, True)


def test_a_version_that_is_not_the_names_is_refused(tmp_path: Path) -> None:
    """Runtimes refuse the session; a file with any other name is read by its header."""
    path = keep(tmp_path, "s", 3)
    renamed = path.with_name("session.v4.jsonl.zstd")
    path.rename(renamed)

    fault = read(renamed).failure()

    assert (fault.code, fault.data) == (Code.FILE_NAME_MISMATCH, {"file_says": 4, "header_says": 3})
    free = renamed.rename(path.with_name("copy.bin"))
    assert read(free).unwrap().generation == "v3"


def test_an_id_that_is_not_the_folders_is_refused_in_place_and_noted_elsewhere(
    tmp_path: Path,
) -> None:
    """Below a project's folder it is a moved session; anywhere else a copy."""
    path = keep(tmp_path, "s", 4)
    moved = path.parent.rename(path.parent.with_name("t")) / path.name
    copied = tmp_path / "t" / path.name
    copied.parent.mkdir()
    copied.write_bytes(moved.read_bytes())

    fault = read(moved).failure()

    assert (fault.code, fault.data) == (
        Code.FILE_NAME_MISMATCH,
        {"file_says": "t", "header_says": "s"},
    )
    assert [one.code for one in read(copied).unwrap().findings] == [Code.ID_MISMATCH]


def test_an_odd_id_is_found_below_a_root(tmp_path: Path) -> None:
    """Ids are encoded before they become paths."""
    path = keep(tmp_path, "../x y", 4)

    assert locate("../x y", str(tmp_path)).unwrap().path == str(path)
    assert locate("x y", str(tmp_path)).failure().code is Code.SESSION_NOT_FOUND
    assert locate("", str(tmp_path)).failure().code is Code.SEGMENT_EMPTY


def test_an_id_in_two_projects_is_ambiguous(tmp_path: Path) -> None:
    """Both are named."""
    keep(tmp_path, "s", 4)
    keep(tmp_path, "s", 4, cwd="/srv/other")

    assert locate("s", str(tmp_path)).failure().code is Code.LOG_AMBIGUOUS


def test_a_root_lists_its_sessions_of_all_generations(tmp_path: Path) -> None:
    """In order of paths, July's among them, by header alone."""
    keep(tmp_path, "old", 0)
    keep(tmp_path, "old", 3)
    new = keep(tmp_path, "new", 4, cwd=...)
    new.write_bytes(new.read_bytes() + b"damage")  # listing looks at headers only
    bad = keep(tmp_path, "bad", 4, cwd=...)
    bad.write_bytes(b"")
    july = tmp_path / bucket_name(CWD) / "july.jsonl"
    july.parent.mkdir()
    july.write_bytes(line({"type": "session", "version": 0, "id": "july", "createdAt": 1}))
    (tmp_path / "notes.txt").write_text("no session")
    (tmp_path / "--empty--" / "none").mkdir(parents=True)

    found = [one.unwrap() for one in find_sessions(tmp_path)]

    told = {
        Path(one.log.path).name + " " + one.header.map(lambda made: made.id).value_or("?")
        for one in found
    }
    assert told == {
        "session.v3.jsonl.zstd old",
        "session.v4.jsonl.zstd new",
        "session.v4.jsonl.zstd ?",
        "july.jsonl july",
    }
    assert [one.log.path for one in found] == sorted(one.log.path for one in found)


def test_a_home_is_taken_for_its_sessions(tmp_path: Path) -> None:
    """The runtime's home holds them in a folder of that name."""
    keep(tmp_path / "sessions", "s", 4)

    assert len(list(find_sessions(tmp_path))) == 1
    assert sessions_root({"DSH_HOME": str(tmp_path)}) == os.path.join(str(tmp_path), "sessions")
    assert sessions_root({}) is None


def test_a_missing_root_is_one_refusal(tmp_path: Path) -> None:
    """It cannot be listed."""
    (only,) = find_sessions(tmp_path / "nowhere")

    assert only.failure().code is Code.FILE_UNREADABLE


def test_an_older_log_that_went_on_is_a_finding(tmp_path: Path) -> None:
    """An old harness appended to its file after it was migrated: a branch nobody else sees."""
    old_rows = conversation(0)
    keep(tmp_path, "s", 0, rows=old_rows)
    newer = conversation(4)
    newer[-1]["time"] = old_rows[-1]["time"]  # migration keeps times
    path = keep(tmp_path, "s", 4, rows=newer)

    before = read(path).unwrap().findings
    late = {"type": "turn/start", "seq": len(old_rows), "time": TIME * 2, "data": {"turn": 3}}
    keep(tmp_path, "s", 0, rows=[*old_rows, late])
    (after,) = read(path).unwrap().findings

    assert before == ()
    assert (after.code, after.severity) == (Code.OLDER_LOG_GREW, "finding")
    assert after.data == {"older": "session.jsonl.zstd", "time": TIME * 2}


def test_a_left_over_file_says_which_one_is_the_log(tmp_path: Path) -> None:
    """It can be read, and what it says may be long out of date."""
    old = keep(tmp_path, "s", 0)
    keep(tmp_path, "s", 3)
    keep(tmp_path, "s", 4)

    log = read(old).unwrap()

    assert isinstance(log, ReleasedLogFile)
    assert [(one.code, one.data) for one in log.findings] == [
        (Code.NEWER_LOG_BESIDE, {"newer": "session.v4.jsonl.zstd"})
    ]
    assert len(log.others) == 2


def test_refusals_and_findings_of_files_can_be_sent(tmp_path: Path) -> None:
    """Each is one printable line and strict JSON."""
    one = keep(tmp_path, "s", 4)
    keep(tmp_path, "s", 4, compressed=False)
    (tmp_path / "big").write_bytes(zstd(4, conversation(4)))
    (tmp_path / "rule").write_bytes(
        plain(
            4,
            [*conversation(4)[:1], {"type": "turn/end", "seq": 1, "time": 1, "data": {"turn": 1}}],
        )
    )

    faults = [
        read(one.parent).failure(),
        read(tmp_path / "big", max_bytes=100).failure(),
        read(tmp_path / "rule").failure(),
    ]

    for fault in faults:
        assert str(fault).isprintable()
        assert json.loads(json.dumps(fault.to_wire(), allow_nan=False))["code"] == fault.code
