"""Where JSONL files are, what is in them to the byte, and who may read them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsh_fp import Code, decode_event, unwrap
from dsh_fp.storage.jsonl_backend import JsonlBackend, log_files
from tests.durable.desks import Desk, note, notes
from tests.durable.places import InFiles, files_in, header, refused

HEADER = b'{"type":"session","version":0,"id":"s","createdAt":7}\n'
FIRST = b'{"type":"plugin/note","seq":0,"time":0,"data":{"n":0}}\n'
SECOND = b'{"type":"plugin/note","seq":1,"time":1,"data":{"n":1}}\n'


@pytest.fixture(params=[0o022, 0o000, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """What the process takes from the modes of new files."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_a_log_is_its_header_line_and_a_line_for_each_event(files: InFiles) -> None:
    """Byte for byte, batch for batch."""
    writer = files.backend().create(header())
    writer.write(notes(0))
    assert files_in(files.root) == {"_no-cwd/s.jsonl": HEADER + FIRST}
    writer.write(notes(1, after=1))

    assert files_in(files.root) == {"_no-cwd/s.jsonl": HEADER + FIRST + SECOND}


def test_a_header_has_its_keys_in_order(files: InFiles) -> None:
    """Those that are not given are left out."""
    given = header("é", cwd="/home/µ", parent_session="p\n", seed_length=0, created_at=1.5)
    files.backend().create(given).write(notes(0))
    digest = hashlib.sha256("/home/µ".encode()).hexdigest()

    assert files_in(files.root) == {
        f"cwd-{digest[:12]}/~00E9.jsonl": (
            '{"type":"session","version":0,"id":"é","createdAt":1.5,"cwd":"/home/µ",'
            '"parentSession":"p\\n","seedLength":0}\n'
        ).encode()
        + FIRST
    }


def test_an_event_has_its_keys_in_the_order_it_came_with(files: InFiles) -> None:
    """Written by `append` it is the usual one; a stranger's order is kept."""
    strange = {"seq": 1, "data": {"b": 1, "a": 2.0}, "time": 3, "type": "plugin/x"}
    with Desk(files.backend()) as desk:
        live = desk.create(meta={"createdAt": 7})
        live.append("user/message", {"content": []}, time=2, surface_op="append")
        desk.flush(live)
    _, writer = files.backend().resume("s")
    writer.write([unwrap(decode_event(strange))])

    assert files.stored("s") == HEADER + (
        b'{"type":"user/message","seq":0,"time":2,"data":{"content":[]},"surfaceOp":"append"}\n'
        b'{"seq":1,"data":{"b":1,"a":2},"time":3,"type":"plugin/x"}\n'
    )


@pytest.mark.parametrize(
    ("session_id", "name"),
    [
        ("Az09._-", "Az09._-.jsonl"),
        (".", "~002E.jsonl"),
        ("..", "~002E~002E.jsonl"),
        ("...", "....jsonl"),
        ("a/b", "a~002Fb.jsonl"),
        ("~", "~007E.jsonl"),
        ("😀", "~D83D~DE00.jsonl"),
        ("\ud800", "~D800.jsonl"),
    ],
)
def test_an_id_is_a_file_name(files: InFiles, session_id: str, name: str) -> None:
    """UTF-16 units outside the plain ones are written as `~XXXX`."""
    files.backend().create(header(session_id)).write(notes(0))

    assert list(files_in(files.root)) == [f"_no-cwd/{name}"]
    assert unwrap(files.backend().load(session_id)).session.header.id == session_id


def test_an_empty_id_is_refused_at_creation(files: InFiles) -> None:
    """It has no file name; asking for it is refused the same way."""
    backend = files.backend()
    with refused(Code.SEGMENT_EMPTY):
        backend.create(header(""))
    with refused(Code.SEGMENT_EMPTY):
        backend.resume("")

    assert backend.load("").failure().code is Code.SEGMENT_EMPTY
    assert not files.root.exists()


def test_a_root_is_tidied_as_text(tmp_path: Path) -> None:
    """Doubled slashes and steps up and down in it are taken out."""
    backend = JsonlBackend(f"{tmp_path}//a/../b/./")
    writer = backend.create(header())
    writer.write(notes(0))

    assert writer.path == str(tmp_path / "b" / "_no-cwd" / "s.jsonl")
    assert unwrap(backend.load("s")).session.header == header()
    backend.create(header("t")).write(notes(0))
    assert [row.fault for row in backend.list()] == [None, None]


def test_files_are_their_owners_alone(tmp_path: Path, umask: int) -> None:
    """Files 0600, every folder that was made 0700, locks included, whatever the umask."""
    place = InFiles(tmp_path / "new" / "deep")
    writer = place.backend().create(header(cwd="/w"))
    writer.write(notes(0))
    writer.write(notes(1, after=1))

    modes = {
        path.is_dir(): stat.S_IMODE(path.stat().st_mode)
        for path in [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    }
    assert modes == {True: 0o700, False: 0o600}


def test_the_first_batch_appears_whole(files: InFiles) -> None:
    """No other name is left beside the log but its lock."""
    writer = files.backend().create(header())
    writer.write(notes(0, 1))
    writer.close()

    names = sorted(path.name for path in files.root.rglob("*") if path.is_file())
    assert names == ["s.jsonl", "s.jsonl.lock"]
    assert files.path("s").stat().st_nlink == 1


def test_a_file_in_the_place_is_never_replaced(files: InFiles) -> None:
    """Whatever it is, a broken one or a link to nowhere: the id is taken."""
    path = files.path("s")
    path.parent.mkdir(parents=True)
    writer = files.backend().create(header())
    path.write_bytes(b"something else")
    with refused(Code.SESSION_ALREADY_EXISTS) as told:
        writer.write(notes(0))
    assert told[0].file == str(path)
    assert path.read_bytes() == b"something else"
    path.unlink()
    path.symlink_to("nowhere")
    with refused(Code.SESSION_ALREADY_EXISTS):
        writer.write(notes(0))
    path.unlink()

    writer.write(notes(0))

    assert path.read_bytes() == HEADER + FIRST


def test_a_log_written_elsewhere_is_gone_on_with(files: InFiles) -> None:
    """Its lines stay as they are, however they are spelled; ours follow."""
    strange = (
        b'{"type": "session", "version": 0.0, "id": "s", "createdAt": 7, "more": 1}\n'
        b'{ "seq" : 0, "type":"plugin\\/note", "time":0.0e0, "data":{"n":0,"n":0} }\r\n'
    )
    files.path("s").parent.mkdir(parents=True)
    files.path("s").write_bytes(strange)

    stored, writer = files.backend().resume("s")
    assert stored.is_whole
    writer.write(notes(1, after=1))

    assert files.stored("s") == strange + SECOND


def test_a_last_line_longer_or_shorter_than_its_text_is_recognised(files: InFiles) -> None:
    """The writer compares what stands in the file, not what it would have written."""
    files.path("s").parent.mkdir(parents=True)
    for data in (b'"\xff"', b'"\xc3\xa9"', b"  1.000e0 ", b'"\\u0041"'):
        line = b'{"type":"plugin/note","seq":0,"time":0,"data":%b}\n' % data
        files.path("s").write_bytes(HEADER + line)

        _, writer = files.backend().resume("s")
        writer.write(notes(1, after=1))
        writer.close()

        assert files.stored("s") == HEADER + line + SECOND


def test_a_root_that_is_no_folder_is_told(tmp_path: Path) -> None:
    """Loading, creating and resuming name it; listing has a row for it."""
    root = tmp_path / "logs"
    root.write_bytes(b"")
    backend = JsonlBackend(root)

    fault = backend.load("s").failure()
    assert (fault.code, fault.file) == (Code.FILE_UNREADABLE, str(root))
    with refused(Code.FILE_UNREADABLE):
        backend.create(header())
    with refused(Code.FILE_UNREADABLE):
        backend.resume("s")
    (row,) = backend.list()
    assert (row.where, row.header, row.fault) == (str(root), None, fault)


def test_what_is_no_log_is_one_row_or_none(files: InFiles) -> None:
    """A folder with a log's name is a fault; files of other names are no business of ours."""
    files.backend().create(header()).write(notes(0))
    (files.root / "_no-cwd" / "t.jsonl").mkdir()
    (files.root / "_no-cwd" / "notes.txt").write_text("x")
    (files.root / "stray.jsonl").write_text("x")

    rows = list(files.backend().list())

    assert [Path(row.where).name for row in rows] == ["s.jsonl", "t.jsonl"]
    assert [row.fault and row.fault.code for row in rows] == [None, Code.FILE_UNREADABLE]
    assert list(log_files(str(files.root))) == [row.where for row in rows]


def test_a_root_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    """It is no fault: nothing was stored yet."""
    backend = JsonlBackend(tmp_path / "none")

    assert list(backend.list()) == []
    assert backend.load("s").failure().code is Code.SESSION_NOT_FOUND
    assert not (tmp_path / "none").exists()


def test_a_relative_root_is_as_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the folder one stands in."""
    monkeypatch.chdir(tmp_path)
    for root in ("logs", "."):
        with Desk(JsonlBackend(root)) as desk:
            note(live := desk.create(f"in-{len(root)}"), 0)
            desk.flush(live)

    assert sorted(files_in(tmp_path)) == ["_no-cwd/in-1.jsonl", "logs/_no-cwd/in-4.jsonl"]
