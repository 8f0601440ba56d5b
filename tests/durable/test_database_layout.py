"""The schema of a database, its columns, and what they cannot hold."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dsh_fp import Code, SessionHeader, decode_event, encode_log, unwrap
from dsh_fp.storage.sqlite_backend import SqliteBackend
from tests.durable.desks import Desk, note, notes, numbers
from tests.durable.places import InDatabase, header, refused


def columns(database: InDatabase, table: str) -> list[tuple[Any, ...]]:
    """Name, type, NOT NULL and place in the primary key of each column."""
    info = database.rows(f"PRAGMA table_info({table})")
    return [(name, kind, bool(filled), key) for _, name, kind, filled, _, key in info]


def test_the_schema_is_the_one_that_was_settled(database: InDatabase) -> None:
    """Version 4, WAL, two STRICT tables, their columns and keys."""
    database.backend().create(header()).write(notes(0))

    assert database.rows("PRAGMA user_version") == [(4,)]
    assert database.rows("PRAGMA journal_mode") == [("wal",)]
    tables = database.rows("PRAGMA table_list")
    strict = {name: is_strict for _, name, kind, _, _, is_strict in tables if kind == "table"}
    assert {name for name, is_strict in strict.items() if is_strict} == {"sessions", "events"}
    assert columns(database, "sessions") == [
        ("id", "TEXT", True, 1),
        ("version", "INTEGER", True, 0),
        ("created_at", "INTEGER", True, 0),
        ("cwd", "TEXT", False, 0),
        ("parent_session", "TEXT", False, 0),
        ("seed_length", "INTEGER", False, 0),
    ]
    assert columns(database, "events") == [
        ("session_id", "TEXT", True, 1),
        ("seq", "INTEGER", True, 2),
        ("type", "TEXT", True, 0),
        ("time", "INTEGER", True, 0),
        ("data", "TEXT", True, 0),
        ("source_event_seqs", "TEXT", False, 0),
        ("surface_op", "TEXT", False, 0),
    ]
    ((_, _, table, column, target, _, on_delete, _),) = database.rows(
        "PRAGMA foreign_key_list(events)"
    )
    assert (table, column, target, on_delete) == ("sessions", "session_id", "id", "CASCADE")


def test_without_wal_the_journal_is_the_plain_one(tmp_path: Path) -> None:
    """For file systems that share no memory."""
    place = InDatabase(tmp_path)
    backend = SqliteBackend(place.path, wal=False)
    backend.create(header()).write(notes(0))

    assert place.rows("PRAGMA journal_mode") == [("delete",)]
    assert numbers(unwrap(backend.load("s")).session) == [0]


def test_foreign_keys_are_on(database: InDatabase) -> None:
    """An event needs its session, and goes with it."""
    backend = database.backend()
    backend.create(header()).write(notes(0))

    with backend.connected(writing=True) as opened:
        assert opened.execute("PRAGMA foreign_keys").fetchone() == (1,)
        assert opened.execute("PRAGMA synchronous").fetchone() == (2,)
        with pytest.raises(sqlite3.IntegrityError):
            opened.execute("INSERT INTO events VALUES ('t', 0, 'x', 0, '{}', NULL, NULL)")
        opened.execute("DELETE FROM sessions")
    assert database.rows("SELECT * FROM events") == []


def test_rows_hold_what_lines_would(database: InDatabase) -> None:
    """JSON as text, absent keys as NULL."""
    wires: list[dict[str, Any]] = [
        {"type": "user/message", "seq": 0, "time": 5, "data": {"content": []}},
        {"type": "user/message", "seq": 1, "time": 6, "data": ["é", 1.0]},
    ]
    wires[0]["surfaceOp"] = "append"
    wires[1] |= {"sourceEventSeqs": [0], "surfaceOp": {"op": "replace", "start": 0, "end": 0}}
    given = header(cwd="/w", parent_session="p", seed_length=2)
    database.backend().create(given).write([unwrap(decode_event(wire)) for wire in wires])

    assert database.rows("SELECT * FROM sessions") == [("s", 0, 7, "/w", "p", 2)]
    assert database.rows("SELECT * FROM events") == [
        ("s", 0, "user/message", 5, '{"content":[]}', None, '"append"'),
        ("s", 1, "user/message", 6, '["é",1]', "[0]", '{"op":"replace","start":0,"end":0}'),
    ]


def test_a_database_is_its_owners_alone(tmp_path: Path) -> None:
    """The database and its locks 0600, every folder that was made 0700."""
    place = InDatabase(tmp_path / "new" / "deep")
    place.backend().create(header()).write(notes(0))

    found = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    modes = {path.is_dir(): stat.S_IMODE(path.stat().st_mode) for path in found}
    assert modes == {True: 0o700, False: 0o600}


@pytest.mark.parametrize("version", [1, 3, 5, -1])
def test_another_schema_is_refused(database: InDatabase, version: int) -> None:
    """By everything that looks into the database, which stays as it is."""
    database.backend().create(header()).write(notes(0))
    database.rows(f"PRAGMA user_version = {version}")
    before = database.picture()
    backend = database.backend()

    assert backend.load("s").failure().code is Code.VERSION_UNSUPPORTED
    for call in (lambda: backend.create(header("t")), lambda: backend.resume("s")):
        with refused(Code.VERSION_UNSUPPORTED) as told:
            call()
        assert told[0].file == str(database.path)
    (row,) = backend.list()
    assert row.fault is not None
    assert row.fault.code is Code.VERSION_UNSUPPORTED
    assert database.picture() == before


def test_a_schema_that_changed_meanwhile_is_refused_too(database: InDatabase) -> None:
    """A writer that is at work notices."""
    writer = database.backend().create(header())
    writer.write(notes(0))
    database.rows("PRAGMA user_version = 5")

    with refused(Code.VERSION_UNSUPPORTED):
        writer.write(notes(1, after=1))
    database.rows("PRAGMA user_version = 4")
    writer.write(notes(1, after=1))
    assert numbers(unwrap(database.backend().load("s")).session) == [0, 1]


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"id": "\ud800"}, "half a character"),
        ({"id": "s", "cwd": "/\udfff"}, "half a character"),
        ({"id": "s", "parent_session": "x\udc00"}, "half a character"),
        ({"id": "s", "created_at": 0.5}, "64-bit"),
        ({"id": "s", "created_at": 2**63}, "64-bit"),
        ({"id": "s", "created_at": -(2**63) - 1}, "64-bit"),
        ({"id": "s", "created_at": 1e300}, "64-bit"),
    ],
)
def test_what_the_columns_cannot_hold_is_refused(
    database: InDatabase, fields: dict[str, Any], what: str
) -> None:
    """At creation, before anything is written."""
    with refused(Code.NOT_STORABLE) as told:
        database.backend().create(SessionHeader(**fields))

    assert what in told[0].message
    assert database.picture() == {}


@pytest.mark.parametrize("created_at", [2**63 - 1024, -(2**63), 5.0, -1, 0])
def test_every_64_bit_integer_is_a_time_of_creation(
    database: InDatabase, created_at: float
) -> None:
    """However it is spelled in Python."""
    database.backend().create(header(created_at=created_at)).write(notes(0))

    assert database.rows("SELECT created_at FROM sessions") == [(int(created_at),)]
    assert unwrap(database.backend().load("s")).session.header.created_at == created_at


def test_half_a_character_in_a_type_is_refused(database: InDatabase) -> None:
    """With its whole batch and before anything is written; the rest may go on."""
    with Desk(database.backend()) as desk:
        live = desk.create()
        note(live, 0)
        live.append("plugin/\ud800", {})
        for _ in range(2):
            with refused(Code.NOT_STORABLE) as told:
                desk.flush(live)
            assert "seq 1" in told[0].message
        assert database.picture() == {}
        assert len(desk.recorder.pending(live)) == 2


def test_an_empty_id_is_an_id(database: InDatabase) -> None:
    """A column holds it, though no file name does."""
    database.backend().create(header("")).write(notes(0))

    assert numbers(unwrap(database.backend().load("")).session) == [0]


@pytest.mark.parametrize("name", ["a b?c#d%20.db", "é\n.db", "\udcff.db", "x.db/../y.db"])
def test_odd_paths_are_paths(tmp_path: Path, name: str) -> None:
    """What means something in a URI does not in a path."""
    (tmp_path / "x.db").mkdir()
    backend = SqliteBackend(f"{tmp_path}/{name}")
    backend.create(header()).write(notes(0))

    assert (tmp_path / name).resolve().is_file()
    assert numbers(unwrap(backend.load("s")).session) == [0]


def test_two_leading_slashes_are_one(tmp_path: Path) -> None:
    """They name no other machine."""
    backend = SqliteBackend(f"/{tmp_path}/s.db")
    backend.create(header()).write(notes(0))

    assert (tmp_path / "s.db").is_file()


def test_a_database_written_elsewhere_is_gone_on_with(database: InDatabase) -> None:
    """Its rows stay as they are, however their JSON is spelled; ours follow."""
    database.backend().create(header()).write(notes(0))
    database.rows("""UPDATE events SET data = '{ "n" : 0.0,' || char(10) || '"m":"\\u0041" }'""")
    before = database.rows("SELECT * FROM events")

    stored, writer = database.backend().resume("s")
    assert stored.is_whole
    writer.write(notes(1, after=1))

    assert database.rows("SELECT * FROM events WHERE seq = 0") == before
    assert numbers(unwrap(database.backend().load("s")).session) == [0, 1]


def test_rows_are_read_by_the_rules_of_lines(database: InDatabase) -> None:
    """A gap is a torn tail, before a closed turn it is damage, odd text is U+FFFD."""
    backend = database.backend()
    backend.create(header()).write(notes(0, 1, 2))
    database.rows("UPDATE events SET type = CAST(x'61ff62' AS TEXT) WHERE seq = 0")
    assert unwrap(backend.load("s")).session.events[0].type == "a\ufffdb"
    database.rows("UPDATE events SET seq = 7 WHERE seq = 2")
    assert len(unwrap(backend.load("s")).session) == 2
    database.rows("UPDATE events SET type = 'turn/end' WHERE seq = 7")

    fault = backend.load("s").failure()
    assert (fault.code, fault.file) == (Code.LOG_CORRUPT, str(database.path))
    assert (fault.seq, fault.data["got_seq"]) == (2, 7)


def test_odd_rows_are_one_row_each(database: InDatabase) -> None:
    """Text that is no UTF-8 reads as everywhere; a field of another kind is a fault."""
    backend = database.backend()
    backend.create(header()).write(notes(0))
    database.rows("INSERT INTO sessions VALUES ('t', 0, 1, CAST(x'2fff' AS TEXT), NULL, NULL)")
    database.rows("INSERT INTO sessions VALUES ('u', 0, 1, 'no path', NULL, NULL)")
    database.rows("INSERT INTO sessions VALUES ('v', 0, 1, NULL, NULL, -1)")

    rows = list(backend.list())

    codes = [row.fault and row.fault.code for row in rows]
    assert codes == [None, None, Code.META_INVALID, Code.META_INVALID]
    assert rows[1].header == SessionHeader(id="t", created_at=1, cwd="/\ufffd")
    assert [row.where for row in rows] == ["s", "t", "u", "v"]


def test_a_session_without_events_is_gone_on_with(database: InDatabase) -> None:
    """Its row is there already and is no reason to refuse the first event."""
    database.backend().create(header()).write(notes(0))
    database.rows("DELETE FROM events")

    _, writer = database.backend().resume("s")
    writer.write(notes(3))
    writer.close()

    assert database.stored("s") == encode_log(header(), notes(3))


def test_an_empty_database_is_filled(database: InDatabase) -> None:
    """A file that somebody made, or a crash left before the schema."""
    database.path.parent.mkdir()
    for content in (b"", None):
        if content is not None:
            database.path.write_bytes(content)
        else:
            with closing(sqlite3.connect(database.path)) as opened:
                opened.execute("DROP TABLE events")
                opened.execute("PRAGMA user_version = 0")
        backend = database.backend()
        assert backend.load("nobody").failure().code is Code.SESSION_NOT_FOUND
        backend.create(header(f"{content!r}")).write(notes(0))

        assert database.rows("PRAGMA user_version") == [(4,)]


def test_what_reads_a_database_lets_it_be_written(database: InDatabase) -> None:
    """A listing or load that is under way keeps nobody waiting."""
    backend = database.backend()
    backend.create(header("a")).write(notes(0))
    backend.create(header("b")).write(notes(0))
    with backend.connected() as reading:
        reading.execute("BEGIN")
        reading.execute("SELECT * FROM events").fetchone()
        backend.create(header("c")).write(notes(0))
        assert len(reading.execute("SELECT * FROM events").fetchall()) == 2

    assert len(list(backend.list())) == 3
