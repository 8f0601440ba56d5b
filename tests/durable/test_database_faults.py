"""What fails while rows are written: locks, full disks, lost answers, files of another kind."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from dsh_fp import Code, Rejected, encode_log, unwrap
from dsh_fp.storage.sqlite_backend import SqliteBackend
from tests.durable.desks import Desk, note, notes, numbers
from tests.durable.places import InDatabase, header, refused

BATCHES = ((0, 1), (2,), (3, 4, 5))
STEPS = 20_000
"""More than the machine of SQLite makes for these batches."""


class Stubborn(SqliteBackend):
    """A database that fails as it is told to."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, timeout_s=0.01)
        self.most_pages: int | None = None
        self.steps_left: int | None = None
        self.lost_answers: list[str] = []
        self.error: BaseException = sqlite3.OperationalError("disk I/O error")

    @contextmanager
    def connected(self, *, writing: bool = False) -> Generator[sqlite3.Connection]:
        with super().connected(writing=writing) as database:
            if self.most_pages is not None:
                database.execute(f"PRAGMA max_page_count = {self.most_pages}")
            if self.steps_left is not None:
                database.set_progress_handler(self._stops, 1)
            yield cast(sqlite3.Connection, Lossy(database, self)) if writing else database

    def _stops(self) -> bool:
        if self.steps_left is not None:
            self.steps_left -= 1
        return self.steps_left is not None and self.steps_left < 0


class Lossy:
    """A connection whose answers are lost when the backend says so: done, but not told."""

    def __init__(self, database: sqlite3.Connection, backend: Stubborn) -> None:
        self._database = database
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        answer = self._database.execute(statement, *values)
        if self._backend.lost_answers and statement == self._backend.lost_answers[0]:
            self._backend.lost_answers.pop()
            raise self._backend.error
        return answer


def test_a_locked_database_is_told_and_waited_for(database: InDatabase) -> None:
    """By every kind of batch; unlocked, the same flush goes through."""
    with Desk(Stubborn(database.path)) as desk:
        live = desk.create(meta={"createdAt": 7})
        database.backend().create(header("other")).write(notes(0))
        for number in range(2):
            note(live, number)
            with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                for _ in range(2):
                    with refused(Code.STORAGE_FAILED) as told:
                        desk.flush(live)
                    assert told[0].file == str(database.path)
                    assert told[0].data["cause"] == "database is locked"
                assert len(desk.recorder.pending(live)) == 1
            desk.flush(live)

        assert database.stored("s") == encode_log(header(), notes(0, 1))


def test_a_full_disk_is_told(database: InDatabase) -> None:
    """With the cause SQLite gives, though it has rolled back already; nothing of a batch stays."""
    backend = Stubborn(database.path)
    with Desk(backend) as desk:
        live = desk.create(meta={"createdAt": 7})
        note(live, 0)
        desk.flush(live)
        before = database.rows("SELECT * FROM events")
        backend.most_pages = 1
        live.append("plugin/large", {"text": "x" * 50_000}, time=1)
        for _ in range(2):
            with refused(Code.STORAGE_FAILED) as told:
                desk.flush(live)
            assert "full" in str(told[0].data["cause"])
        assert database.rows("SELECT * FROM events") == before
        backend.most_pages = None
        desk.flush(live)

        assert list(unwrap(backend.load("s")).session) == list(live.session)


@pytest.mark.parametrize("wal", [True, False], ids=["wal", "journal"])
def test_the_machine_may_stop_at_any_step(tmp_path: Path, wal: bool) -> None:
    """The schema included: the flush says so, and trying again stores each event once."""
    stops, step = 0, 0
    while step < STEPS:
        place = InDatabase(tmp_path / str(step))
        backend = Stubborn(place.path)
        backend._wal = wal
        with Desk(backend) as desk:
            live = desk.create(meta={"createdAt": 7})
            for batch in BATCHES:
                note(live, *batch)
                if backend.steps_left is None and batch == BATCHES[0]:
                    backend.steps_left = step
                try:
                    desk.flush(live)
                except Rejected as error:
                    told = error.rejection
                    stops += 1
                    backend.steps_left = None
                    assert (told.code, told.file) == (Code.STORAGE_FAILED, str(place.path))
                    assert told.data["cause"] == "interrupted"
                    desk.flush(live)
            is_over = backend.steps_left is not None
            backend.steps_left = None
            assert place.stored("s") == encode_log(header(), notes(*range(6)))
        if is_over:
            break
        step += 1 + step // 8

    assert is_over
    assert stops > 20


@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk I/O error"), KeyboardInterrupt()])
@pytest.mark.parametrize("batch", [0, 1])
def test_a_commit_whose_answer_is_lost_is_not_written_twice(
    database: InDatabase, batch: int, error: BaseException
) -> None:
    """The rows that are there are recognised as the writer's own."""
    backend = Stubborn(database.path)
    backend.error = error
    with Desk(backend) as desk:
        live = desk.create(meta={"createdAt": 7})
        for number in range(3):
            note(live, number)
            if number == batch:
                backend.lost_answers = ["COMMIT"]
                with pytest.raises((Rejected, KeyboardInterrupt)):
                    desk.flush(live)
                assert numbers(unwrap(backend.load("s")).session) == list(range(number + 1))
                assert len(desk.recorder.pending(live)) == 1
                note(live, 10)
            desk.flush(live)

        assert database.stored("s") == encode_log(header(), live.session.events)


def test_a_lost_answer_is_no_licence(database: InDatabase) -> None:
    """What another writer put in the place of a batch is not taken for it."""
    backend = Stubborn(database.path)
    writer = backend.create(header())
    writer.write(notes(0))
    backend.lost_answers = ["COMMIT"]
    with refused(Code.STORAGE_FAILED):
        writer.write(notes(1, after=1))
    database.rows("UPDATE events SET data = '{\"n\":7}' WHERE seq = 1")

    for _ in range(2):
        with refused(Code.WRITER_CONFLICT):
            writer.write(notes(1, after=1))
    assert numbers(unwrap(backend.load("s")).session) == [0, 7]


def test_a_file_that_is_no_database_is_told_and_left_alone(database: InDatabase) -> None:
    """By everything that looks into it; put right, the flush goes through."""
    content = b"no database at all, but long enough for one " * 99
    database.path.parent.mkdir()
    database.path.write_bytes(content)
    backend = database.backend()

    assert backend.load("s").failure().code is Code.FILE_UNREADABLE
    (row,) = backend.list()
    assert row.fault is not None
    assert (row.fault.code, row.fault.file) == (Code.FILE_UNREADABLE, str(database.path))
    with pytest.raises(Rejected):
        backend.resume("s")
    with Desk(backend) as desk:
        note(live := desk.create(), 0)
        with refused(Code.STORAGE_FAILED) as told:
            desk.flush(live)
        assert told[0].data["cause"] == "file is not a database"
        assert database.path.read_bytes() == content
        database.path.unlink()
        desk.flush(live)

        assert numbers(unwrap(backend.load("s")).session) == [0]


def test_a_database_that_is_a_folder_is_told(database: InDatabase) -> None:
    """Nothing is asked of it but its name."""
    database.path.mkdir(parents=True)
    backend = database.backend()

    assert backend.load("s").failure().code is Code.FILE_UNREADABLE
    with refused(Code.STORAGE_FAILED):
        backend.create(header()).write(notes(0))


def test_a_place_without_a_folder_is_told(tmp_path: Path) -> None:
    """A file where the database's folder should be."""
    (tmp_path / "logs").write_bytes(b"")
    with Desk(InDatabase(tmp_path).backend()) as desk:
        note(live := desk.create(), 0)
        with refused(Code.STORAGE_FAILED):
            desk.flush(live)
        (tmp_path / "logs").unlink()
        desk.flush(live)

        assert numbers(unwrap(desk.recorder.backend.load("s")).session) == [0]


def test_a_database_that_may_not_be_written_is_told(database: InDatabase) -> None:
    """Permission lost between two batches, got back before the third."""
    with Desk(database.backend()) as desk:
        note(live := desk.create(), 0)
        desk.flush(live)
        database.path.chmod(0o400)
        if os.access(database.path, os.W_OK):
            pytest.skip("this user may write everywhere, whatever the modes say")
        note(live, 1)
        with refused(Code.STORAGE_FAILED) as told:
            desk.flush(live)
        assert told[0].data["cause"] == os.strerror(errno.EACCES)
        assert numbers(unwrap(database.backend().load("s")).session) == [0]
        database.path.chmod(0o600)
        desk.flush(live)

        assert numbers(unwrap(database.backend().load("s")).session) == [0, 1]


def test_a_folder_that_may_not_be_written_can_be_read(database: InDatabase) -> None:
    """As from a disk that is mounted read-only."""
    database.backend().create(header()).write(notes(0))
    database.path.parent.chmod(0o500)
    try:
        if os.access(database.path.parent, os.W_OK):
            pytest.skip("this user may write everywhere, whatever the modes say")
        assert numbers(unwrap(database.backend().load("s")).session) == [0]
        assert [row.header for row in database.backend().list()] == [header()]
    finally:
        database.path.parent.chmod(0o700)


@pytest.mark.parametrize("wal", [True, False], ids=["wal", "journal"])
def test_a_transaction_cut_by_a_crash_is_undone(tmp_path: Path, wal: bool) -> None:
    """Files as a crash in the middle of a batch leaves them: resuming finds the batch before."""
    place, crashed = InDatabase(tmp_path / "a"), InDatabase(tmp_path / "b")
    SqliteBackend(place.path, wal=wal).create(header()).write(notes(0))
    with closing(sqlite3.connect(place.path, isolation_level=None)) as database:
        database.execute("PRAGMA cache_size = 1")
        database.execute("PRAGMA cache_spill = 1")
        database.execute("BEGIN")
        for seq in range(1, 60):
            row = ("s", seq, "plugin/x", 1, f'"{"x" * 3000}"')
            database.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, NULL, NULL)", row)
        database.execute("UPDATE events SET data = '9' WHERE seq = 0")
        crashed.path.parent.mkdir(parents=True)
        for path in place.path.parent.iterdir():
            if path.suffix != ".lock":
                (crashed.path.parent / path.name).write_bytes(path.read_bytes())
        database.execute("ROLLBACK")
    backend = SqliteBackend(crashed.path, wal=wal)

    stored, writer = backend.resume("s")
    assert numbers(stored.session) == [0]
    writer.write(notes(1, after=1))
    writer.close()

    assert crashed.stored("s") == encode_log(header(), notes(0, 1))
