"""Sessions as rows of an SQLite database; a batch is one transaction.

Rows are read by the same rules as the lines of a file: each is put back into the line it
would be, and one reader judges both.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
from filelock import BaseFileLock, FileLock, Timeout
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event, SessionHeader
from dsh_fp.core.lossless import parse_value, to_text
from dsh_fp.core.rejection import (
    Rejection,
    file_unreadable,
    not_storable,
    session_already_exists,
    session_not_found,
    storage_failed,
    version_unsupported,
    writer_conflict,
)
from dsh_fp.core.vocabulary import STANDARD, Vocabulary
from dsh_fp.rejected import Rejected, unwrap
from dsh_fp.storage.backend import Listing, Stored
from dsh_fp.storage.jsonl import encode_fields, header_of, read, stored_log
from dsh_fp.storage.paths import encode_segment

SCHEMA_VERSION: Final = 4
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS sessions (
  id TEXT PRIMARY KEY, version INTEGER NOT NULL, created_at INTEGER NOT NULL,
  cwd TEXT, parent_session TEXT, seed_length INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS events (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL, data TEXT NOT NULL,
  source_event_seqs TEXT, surface_op TEXT, PRIMARY KEY (session_id, seq)
) STRICT;
"""
_COLUMNS: Final = "seq, type, time, data, source_event_seqs, surface_op"
_HEADER_COLUMNS: Final = "version, id, created_at, cwd, parent_session, seed_length"
_LARGEST: Final = 2**63 - 1
_Row = tuple[int, str, int, str, str | None, str | None]


class SqliteBackend:
    """Sessions in one SQLite database. Law: backends_agree.

    Units:   timeout_s is how long a locked database is waited for, in seconds.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        wal: bool = True,
        timeout_s: float = 5.0,
        vocabulary: Vocabulary = STANDARD,
    ) -> None:
        self.path: Final = os.fspath(path)
        self._wal = wal
        self._timeout_s = timeout_s
        self._vocabulary = vocabulary

    def create(self, header: SessionHeader) -> SqliteWriter:
        """A writer for a session that is not stored yet; see Backend."""
        if os.path.exists(self.path) and isinstance(self._header_row(header.id), tuple):
            raise Rejected(session_already_exists(header.id).at(file=self.path))
        return SqliteWriter(self, header)

    def resume(self, session_id: str) -> tuple[Stored, SqliteWriter]:
        """A stored session made whole, durably, and its writer; see Backend."""
        lock = self.locked(session_id)
        try:
            stored = unwrap(self.load(session_id))
            writer = SqliteWriter(self, stored.session.header, stored=stored, lock=lock)
            writer.cut_torn_tail()
            writer.write(stored.closers)
        except BaseException:
            lock.release()
            raise
        whole = unwrap(stored.session.extend(stored.closers))
        return attrs.evolve(stored, session=whole), writer

    def load(self, session_id: str) -> Result[Stored, Rejection]:
        """A stored session as it stands; see Backend."""
        header = self._header_row(session_id)
        if header is None:
            return Failure(session_not_found(session_id).at(file=self.path))
        if isinstance(header, Rejection):
            return Failure(header)
        try:
            with self.connected() as database:
                rows = database.execute(
                    f"SELECT {_COLUMNS} FROM events WHERE session_id = ? ORDER BY seq",
                    (session_id,),
                ).fetchall()
        except sqlite3.Error as fault:
            return Failure(file_unreadable(self.path, str(fault)))
        lines = [_header_line(header), *map(_line, rows)]
        content = "".join(f"{line}\n" for line in lines).encode()
        log = read(content, vocabulary=self._vocabulary)
        if isinstance(log, Failure):
            unreadable: Rejection = log.failure()
            return Failure(unreadable.at(file=self.path))
        return Success(stored_log(log.unwrap(), self.path))

    def list(self) -> Iterator[Listing]:
        """Every stored session, by its row in `sessions`; see Backend."""
        if not os.path.exists(self.path):
            return
        try:
            with self.connected() as database:
                rows = database.execute(
                    f"SELECT {_HEADER_COLUMNS} FROM sessions ORDER BY id"
                ).fetchall()
        except (sqlite3.Error, Rejected) as fault:
            refusal = (
                fault.rejection
                if isinstance(fault, Rejected)
                else file_unreadable(self.path, str(fault))
            )
            yield Listing(self.path, None, refusal)
            return
        for row in rows:
            judged = header_of(_header_fields(row))
            if isinstance(judged, Failure):
                yield Listing(str(row[1]), None, judged.failure().at(file=self.path))
            else:
                yield Listing(str(row[1]), judged.unwrap())

    @contextlib.contextmanager
    def connected(self, *, writing: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection with the schema in place; closed at the end.

        Errors:  sqlite3.Error; Rejected VERSION_UNSUPPORTED for another schema's database.
        """
        if writing:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), 0o700, exist_ok=True)
        target = f"file:{_quoted(self.path)}?mode={'rwc' if writing else 'ro'}"
        database = sqlite3.connect(target, uri=True, timeout=self._timeout_s, isolation_level=None)
        try:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version not in (0, SCHEMA_VERSION):
                raise Rejected(version_unsupported(version).at(file=self.path))
            database.execute("PRAGMA foreign_keys = ON")
            if writing:
                database.execute("PRAGMA synchronous = FULL")
                if self._wal:
                    database.execute("PRAGMA journal_mode = WAL")
                if version == 0:
                    database.executescript(_SCHEMA)
                    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            yield database
        finally:
            database.close()

    def locked(self, session_id: str) -> BaseFileLock:
        """The lock that the one writer of a session holds."""
        path = f"{self.path}.{unwrap(encode_segment(session_id))}.lock"
        lock = FileLock(path, thread_local=False)
        try:
            os.makedirs(os.path.dirname(os.path.abspath(path)), 0o700, exist_ok=True)
            lock.acquire(blocking=False)
        except Timeout as held:
            conflict = writer_conflict(session_id, self.path, "its lock is held")
            raise Rejected(conflict) from held
        except OSError as fault:
            raise Rejected(storage_failed(path, fault.strerror or str(fault))) from fault
        return lock

    def _header_row(self, session_id: str) -> tuple[object, ...] | Rejection | None:
        try:
            with self.connected() as database:
                row: tuple[object, ...] | None = database.execute(
                    f"SELECT {_HEADER_COLUMNS} FROM sessions WHERE id = ?",
                    (session_id,),
                ).fetchone()
        except Rejected as refused:
            return refused.rejection
        except UnicodeEncodeError:
            return None  # half a surrogate pair: no column holds such an id
        except sqlite3.Error as fault:
            if not os.path.exists(self.path) or "no such table" in str(fault):
                return None
            return file_unreadable(self.path, str(fault))
        return row


class SqliteWriter:
    """The one writer of one session in a database."""

    def __init__(
        self,
        backend: SqliteBackend,
        header: SessionHeader,
        *,
        stored: Stored | None = None,
        lock: BaseFileLock | None = None,
    ) -> None:
        self._backend = backend
        self._header = header
        self._lock = lock
        self._torn = stored is not None and stored.torn_bytes > 0
        self._stored = 0 if stored is None else len(stored.session)
        last = stored.session.events[-1:] if stored is not None else ()
        self._end: _Row | None = _row(last[0]) if last else None
        _check_storable(header.id, header)

    @property
    def stored(self) -> int:
        """How many events are stored."""
        return self._stored

    def write(self, events: Sequence[Event]) -> None:
        """Append a batch in one transaction; see Writer."""
        if not events:
            return
        if events[0].seq != self._stored:
            what = f"{self._stored} events are stored, the batch begins at seq {events[0].seq}"
            raise Rejected(writer_conflict(self._header.id, self._backend.path, what))
        rows = [_row(event) for event in events]
        for row in rows:
            if not _is_whole_text(row[1]):
                raise Rejected(
                    not_storable(self._header.id, f"half a character in the type of seq {row[0]}")
                )
        taken = self._lock or self._backend.locked(self._header.id)
        try:
            with self._transaction() as database:
                self._check_end(database)
                if not self._stored:
                    self._insert_session(database)
                database.executemany(
                    "INSERT INTO events (session_id, seq, type, time, data, source_event_seqs,"
                    " surface_op) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(self._header.id, *row) for row in rows],
                )
        except BaseException:
            if self._lock is None:
                taken.release()
            raise
        self._lock = taken
        self._stored += len(rows)
        self._end = rows[-1]

    def cut_torn_tail(self) -> None:
        """Delete the rows that a crash left behind the last whole event."""
        if self._torn:
            with self._transaction() as database:
                database.execute(
                    "DELETE FROM events WHERE session_id = ? AND seq >= ?",
                    (self._header.id, self._stored),
                )
            self._torn = False

    def close(self) -> None:
        """Let another writer have the session."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._backend.connected(writing=True) as database:
                database.execute("BEGIN IMMEDIATE")
                try:
                    yield database
                except BaseException:
                    database.execute("ROLLBACK")
                    raise
                database.execute("COMMIT")
        except sqlite3.IntegrityError as taken:
            raise Rejected(
                session_already_exists(self._header.id).at(file=self._backend.path)
            ) from taken
        except (sqlite3.Error, OSError) as fault:
            raise Rejected(storage_failed(self._backend.path, str(fault))) from fault

    def _check_end(self, database: sqlite3.Connection) -> None:
        """That the stored session ends with what this writer stored last."""
        found = database.execute(
            f"SELECT {_COLUMNS} FROM events WHERE session_id = ? ORDER BY seq DESC LIMIT 1",
            (self._header.id,),
        ).fetchone()
        if found != self._end:
            what = "its last event is not the one that was written here"
            raise Rejected(writer_conflict(self._header.id, self._backend.path, what))

    def _insert_session(self, database: sqlite3.Connection) -> None:
        header = self._header
        database.execute(
            "INSERT INTO sessions (id, version, created_at, cwd, parent_session, seed_length)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                header.id,
                header.version,
                header.created_at,
                header.cwd,
                header.parent_session,
                header.seed_length,
            ),
        )


def _check_storable(session_id: str, header: SessionHeader) -> None:
    if type(header.created_at) is not int or abs(header.created_at) > _LARGEST:
        raise Rejected(not_storable(session_id, "createdAt is no 64-bit integer"))
    for text in (header.id, header.cwd, header.parent_session):
        if text is not None and not _is_whole_text(text):
            raise Rejected(not_storable(session_id, "half a character in its id or paths"))


def _is_whole_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _row(event: Event) -> _Row:
    return (
        event.seq,
        event.type,
        event.time,
        to_text(event.data),
        to_text(event.source_event_seqs) if event.has_sources else None,
        to_text(event.surface_op) if event.has_surface_op else None,
    )


def _line(row: _Row) -> str:
    """The line of a file that this row would be."""
    seq, event_type, time, data, sources, op = row
    parts = [
        f'"type":{to_text(event_type)}',
        f'"seq":{seq}',
        f'"time":{time}',
        f'"data":{_flat(data)}',
    ]
    if sources is not None:
        parts.append(f'"sourceEventSeqs":{_flat(sources)}')
    if op is not None:
        parts.append(f'"surfaceOp":{_flat(op)}')
    return "{" + ",".join(parts) + "}"


def _flat(text: str) -> str:
    """The same JSON on one line; what is no JSON stays none."""
    if "\n" not in text:
        return text
    value = parse_value(text)
    return "" if isinstance(value, Rejection) else to_text(value)


def _header_fields(row: Sequence[object]) -> dict[str, object]:
    names = ("version", "id", "createdAt", "cwd", "parentSession", "seedLength")
    return {name: value for name, value in zip(names, row, strict=True) if value is not None}


def _header_line(row: Sequence[object]) -> str:
    return encode_fields(_header_fields(row))


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


__all__ = ["SCHEMA_VERSION", "SqliteBackend", "SqliteWriter"]
