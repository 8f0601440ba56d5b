"""`dsh-fp ls`: the sessions of a store, by their first lines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_fp import SessionHeader, encode_log, log_path, unwrap
from dsh_fp.storage.jsonl import read_header
from dsh_fp.storage.jsonl_backend import usual_header
from dsh_fp.storage.sqlite_backend import SqliteBackend
from tests.cli.logs import document, run, sound, spawn, write

BORN: Final = 1_700_000_000_000
NO_ENTRY: Final = hasattr(os, "geteuid") and os.geteuid() != 0


def keep(root: Path, session_id: str, cwd: str | None = None, **header: Any) -> Path:
    """The path of a sound session, stored below a root now."""
    path = Path(unwrap(log_path(str(root), cwd, session_id)))
    path.parent.mkdir(parents=True, exist_ok=True)
    known = SessionHeader(session_id, BORN, cwd, **header)
    path.write_bytes(encode_log(known, sound().session.events))
    return path


def test_a_row_tells_what_the_header_says(tmp_path: Path) -> None:
    """Id, birth, working directory, parent, seed, bytes, path: each below its name."""
    bare = keep(tmp_path, "bare")
    child = keep(tmp_path, "child", "/srv/漁", parent_session="bare", seed_length=7)

    result = run("ls", str(tmp_path))
    head, *rows, _, tally = result.stdout.splitlines()

    assert result.exit_code == 0
    assert head.split("  ")[0] == "id"
    time, size = ["2023-11-14", "22:13:20"], f"{child.stat().st_size}"
    assert rows[0].split() == ["bare", *time, "-", "-", "-", f"{bare.stat().st_size}", str(bare)]
    assert rows[1].split() == ["child", *time, "/srv/漁", "bare", "7", size, str(child)]
    assert rows[0].index(str(bare)) == head.index("path")
    assert rows[1].index(str(child)) == head.index("path") - 1  # 漁 takes two columns
    assert tally == "2 sessions"


def test_rows_come_in_order_of_their_paths(tmp_path: Path) -> None:
    """Whatever order the file system has them in, and more of them than are looked at ahead."""
    paths = [str(keep(tmp_path, f"s-{number}", "/srv")) for number in range(450)]

    listed = [row["path"] for row in document("ls", str(tmp_path))["sessions"]]
    shown = [line.split()[-1] for line in run("ls", str(tmp_path)).stdout.splitlines()[1:-2]]

    assert listed == shown == sorted(paths)


def test_one_folder_of_a_store_is_a_root_too(tmp_path: Path) -> None:
    """Its sessions only; what is no log is passed over."""
    path = keep(tmp_path, "here", "/srv/here")
    keep(tmp_path, "there", "/srv/there")
    for other in ("here.jsonl.lock", "here.jsonl.bak", "notes.txt"):
        write(path.parent, b"x", other)

    answered = document("ls", str(path.parent))

    assert [row["session"]["id"] for row in answered["sessions"]] == ["here"]
    assert answered["faults"] == []


def test_an_sqlite_database_is_a_root_too(tmp_path: Path) -> None:
    """Its sessions have no file of their own, so no size."""
    path = str(tmp_path / "store.db")
    session = sound().session
    for session_id in ("b", "a"):
        writer = SqliteBackend(path).create(SessionHeader(session_id, BORN, "/srv"))
        writer.write(session.events)
        writer.close()

    answered = document("ls", path)
    rows = run("ls", path).stdout.splitlines()[1:-2]

    assert [row["session"]["id"] for row in answered["sessions"]] == ["a", "b"]
    assert {(row["bytes"], row["path"]) for row in answered["sessions"]} == {(None, path)}
    assert rows[0].split() == ["a", "2023-11-14", "22:13:20", "/srv", "-", "-", "-", path]


BAD_FIRST_LINES: Final = {
    "bom": (b'\xef\xbb\xbf{"type":"session","version":0,"id":"x","createdAt":1}\n', "bom"),
    "torn": (b'{"type":"session","version":0,"id":"x"', "no-complete-line"),
    "empty": (b"", "empty-log"),
    "strange": (b"Dear diary\n", "not-a-header"),
}


@pytest.mark.parametrize(("content", "reason"), BAD_FIRST_LINES.values(), ids=BAD_FIRST_LINES)
def test_a_bad_file_is_one_row_with_its_reason(content: bytes, reason: str, tmp_path: Path) -> None:
    """The others are listed all the same; the code is 1."""
    good = keep(tmp_path, "z-good")
    bad = write(good.parent, content, "bad.jsonl")

    result = run("ls", str(tmp_path))
    answered = document("ls", str(tmp_path))

    assert result.exit_code == answered["exit_code"] == 1
    assert run("ls", str(tmp_path), "--json").exit_code == 1
    _, row, other, _, tally = result.stdout.splitlines()
    assert f"{bad}  " in row
    assert "LOG_HEADER_INVALID: no session header" in row
    assert other.startswith("z-good")
    assert tally == "1 session, 1 fault"
    assert answered["schema_version"] == 1
    (fault,) = answered["faults"]
    assert (fault["path"], fault["bytes"]) == (bad, len(content))
    assert fault["error"]["data"]["reason"] == reason
    assert [row["session"]["id"] for row in answered["sessions"]] == ["z-good"]


def test_another_version_is_a_row_with_its_fault(tmp_path: Path) -> None:
    """Also headers that say what no header may."""
    write(tmp_path, b'{"type":"session","version":1,"id":"x","createdAt":1}\n', "a.jsonl")
    write(tmp_path, b'{"type":"session","version":0,"id":"x","createdAt":1,"cwd":"x"}\n', "b.jsonl")

    faults = document("ls", str(tmp_path))["faults"]

    codes = [fault["error"]["code"] for fault in faults]
    assert codes == ["VERSION_UNSUPPORTED", "META_INVALID"]


def test_what_is_no_file_is_a_row_and_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe without a writer, a folder with a log's name, a link to nothing."""
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").mkdir()
    (tmp_path / "c.jsonl").symlink_to("nowhere")
    keep(tmp_path, "good")

    process = spawn("ls", str(tmp_path), timeout=20)

    assert process.returncode == 1
    assert process.stdout.count(b"FILE_UNREADABLE") == 3
    assert process.stdout.endswith(b"1 session, 3 faults\n")


@pytest.mark.skipif(not NO_ENTRY, reason="nothing is forbidden to root")
def test_a_folder_without_entry_is_one_row(tmp_path: Path) -> None:
    """The sessions of the others are listed."""
    keep(tmp_path, "good")
    closed = tmp_path / "cwd-closed"
    closed.mkdir(mode=0)

    answered = document("ls", str(tmp_path))
    closed.chmod(0o700)

    assert [fault["path"] for fault in answered["faults"]] == [str(closed)]
    assert [row["session"]["id"] for row in answered["sessions"]] == ["good"]


@pytest.mark.parametrize("kind", ["missing", "log", "empty file", "nul", ""])
def test_a_root_that_cannot_be_read_is_3(kind: str, tmp_path: Path) -> None:
    """Which is another thing than a store without sessions."""
    root = {
        "missing": str(tmp_path / "missing"),
        "log": str(keep(tmp_path, "one")),
        "empty file": write(tmp_path, b"", "x.db"),
        "nul": "a\0b",
        "": "",
    }[kind]

    result = run("ls", root)

    assert result.exit_code == 3
    assert result.stdout == ""
    assert "FILE_UNREADABLE" in result.stderr
    assert document("ls", root)["error"]["code"] == "FILE_UNREADABLE"
    assert ("neither a folder nor an SQLite database" in result.stderr) is (
        kind in ("log", "empty file")
    )


def test_a_database_of_something_else_is_3(tmp_path: Path) -> None:
    """SQLite is not yet a store."""
    import sqlite3

    path = str(tmp_path / "other.db")
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE fish (name TEXT)")
    database.close()

    assert run("ls", path).exit_code == 3
    assert "no such table" in run("ls", path).stderr


def test_a_store_without_sessions_is_an_answer(tmp_path: Path) -> None:
    """Nothing is wrong with it."""
    result = run("ls", str(tmp_path))

    assert (result.exit_code, result.stdout) == (0, "0 sessions\n")
    assert document("ls", str(tmp_path))["sessions"] == []


def test_strangers_names_are_made_safe(tmp_path: Path) -> None:
    """An id or a file name may hold what a terminal would obey."""
    fields = '"id":"\\u001b[2J","createdAt":1,"cwd":"/\u202e"'
    line = f'{{"type":"session","version":0,{fields}}}\n'
    write(tmp_path, line.encode(), "\x1b]0;x.jsonl")

    shown = run("ls", str(tmp_path)).stdout

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[2J" in shown
    assert document("ls", str(tmp_path))["sessions"][0]["session"]["id"] == "\x1b[2J"


ODD: Final = {
    "version": ("0", "-0", "0.0", "1", '"0"', "true", "null"),
    "id": ('"a"', '""', '"\\ud83c\\udf0a"', '"\\ud83c"', "1", "null"),
    "createdAt": (
        *("1", "0", "-0", "-1", "1.0", "1.5", "1e3", "1e999", "9007199254740993"),
        *("true", "null", '"1"', "9" * 400),
    ),
    "cwd": ('"/srv"', '"srv"', '""', '"/\\n/"', '"x\\n/"', '"/\\udf0a"', "null", "1"),
    "parentSession": ('"p"', '""', "null", "1"),
    "seedLength": (
        "1",
        "0",
        "-0",
        "-1",
        "1.0",
        "1.5",
        "9007199254740991",
        "9007199254740992",
        '"1"',
    ),
    "other": ("1", "NaN", "[" * 5000 + "]" * 5000),
    "type": ('"session"', '"other"'),
}


def lines_of_headers() -> list[bytes]:
    """First lines in which one field is odd, or stands there twice, or in another order."""
    start = '{"type":"session","version":0,"id":"s","createdAt":5'
    made = [start + "}", start + "} ", start + "}}", start + ",}", " " + start + "}", start]
    for key, values in ODD.items():
        for value in values:
            made += [f'{start},"{key}":{value}}}', f'{start},"{key}": {value} }}']
            escaped = f"\\u{ord(key[0]):04x}{key[1:]}"
            made.append(f'{start},"{escaped}":{value}}}')
            if key == "version":
                made.append(f'{{"type":"session","version":{value},"id":"s","createdAt":5}}')
            if key == "createdAt":
                made.append(f'{{"type":"session","version":0,"id":"s","createdAt":{value}}}')
    made += [
        '{"version":0,"id":"s","createdAt":5,"type":"session"}',
        f'{start},"cwd":"/{"x" * 9000}"}}',
    ]
    return [line.encode() for line in made] + [start.encode() + b',"cwd":"/\xff"}']


def test_the_quick_reader_of_first_lines_agrees_with_the_plain_one(tmp_path: Path) -> None:
    """Where it answers at all, its answer is that of `read_header`; usual lines it does answer."""
    answered = 0
    for line in lines_of_headers():
        quick = usual_header(line)
        if quick is None:
            continue
        answered += 1
        plain = unwrap(read_header(write(tmp_path, line + b"\n")))
        assert quick == plain, line
        assert encode_log(quick, ()) == encode_log(plain, ()), line

    assert answered > 5
    usual = SessionHeader("s", BORN, "/srv", "p", 3)
    assert usual_header(encode_log(usual, ()).rstrip()) == usual


def test_a_first_line_longer_than_one_read_is_read(tmp_path: Path) -> None:
    """A working directory may have a long name."""
    keep(tmp_path, "deep", "/" + "x" * 9000)

    (row,) = document("ls", str(tmp_path))["sessions"]

    assert len(row["session"]["cwd"]) == 9001


def test_only_first_lines_are_read(tmp_path: Path) -> None:
    """What stands behind them is the business of `verify`: a torn tail is listed as it is."""
    path = keep(tmp_path, "torn")
    path.write_bytes(path.read_bytes() + b'{"type":"tool/')

    assert run("ls", str(tmp_path)).exit_code == 0
