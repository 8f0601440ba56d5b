"""Sessions as rows of an SQLite database; a batch is one transaction.

Rows are read by the same rules as the lines of a file: each is put back into the line it
would be, and one reader judges both.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from typing import Final
from urllib.parse import quote

import attrs
from filelock import BaseFileLock, FileLock, Timeout
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event, SessionHeader
from dsh_fp.core.lossless import parse_value, to_text
from dsh_fp.core.rejection import (
    Code,
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
from dsh_fp.storage.files import FILE_MODE, Files, make_folders, sync_folder
from dsh_fp.storage.jsonl import (
    encode_fields,
    header_line_fields,
    header_of,
    read,
    stored_log,
)
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
_INTEGERS: Final = range(-(2**63), 2**63)
_LONGEST_LOCK_NAME: Final = 100
_FILES: Final = Files()
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
        self.refuse_stored(header.id)
        return SqliteWriter(self, header)

    def resume(self, session_id: str) -> tuple[Stored, SqliteWriter]:
        """A stored session made whole, durably, and its writer; see Backend."""
        if self._header_row(session_id) is None:
            raise Rejected(session_not_found(session_id).at(file=self.path))
        lock = self.locked(session_id)
        try:
            self._recover()
            stored, rows = unwrap(self._read(session_id))
            writer = SqliteWriter(self, stored.session.header, (stored, rows), lock)
            writer.cut_torn_tail()
            writer.write(stored.closers)
            whole = unwrap(stored.session.extend(stored.closers))
        except BaseException:
            lock.release()
            raise
        return attrs.evolve(stored, session=whole), writer

    def load(self, session_id: str) -> Result[Stored, Rejection]:
        """A stored session as it stands; see Backend."""
        return self._read(session_id).map(lambda found: found[0])

    def refuse_stored(self, session_id: str) -> None:
        """Raise Rejected, SESSION_ALREADY_EXISTS, for an id that is stored.

        VERSION_UNSUPPORTED as well: another schema's database will never take the session.
        """
        found = self._header_row(session_id)
        if isinstance(found, tuple):
            raise Rejected(session_already_exists(session_id).at(file=self.path))
        if isinstance(found, Rejection) and found.code is Code.VERSION_UNSUPPORTED:
            raise Rejected(found)

    def _read(self, session_id: str) -> Result[tuple[Stored, list[_Row]], Rejection]:
        """A stored session, and all its rows, torn ones too."""
        header = self._header_row(session_id)
        if header is None:
            return Failure(session_not_found(session_id).at(file=self.path))
        if isinstance(header, Rejection):
            return Failure(header)
        try:
            with self.connected() as database:
                rows: list[_Row] = database.execute(
                    f"SELECT {_COLUMNS} FROM events WHERE session_id = ? ORDER BY seq",
                    (session_id,),
                ).fetchall()
        except Rejected as refused:
            return Failure(refused.rejection)
        except sqlite3.Error as fault:
            return Failure(file_unreadable(self.path, str(fault)))
        lines = [_header_line(header), *map(_line, rows)]
        content = "".join(f"{line}\n" for line in lines).encode()
        log = read(content, vocabulary=self._vocabulary)
        if isinstance(log, Failure):
            unreadable: Rejection = log.failure()
            return Failure(unreadable.at(file=self.path))
        return Success((stored_log(log.unwrap(), self.path), rows))

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
            judged = _judged(row)
            if isinstance(judged, Failure):
                yield Listing(str(row[1]), None, judged.failure().at(file=self.path))
            else:
                yield Listing(str(row[1]), judged.unwrap())

    @contextlib.contextmanager
    def connected(self, *, writing: bool = False) -> Generator[sqlite3.Connection]:
        """A connection with the schema in place; closed at the end.

        Errors:  sqlite3.Error; Rejected VERSION_UNSUPPORTED for another schema's database.
        """
        path = os.path.abspath(self.path)
        if writing:
            _make_writable(path)
        query = "mode=rw" if writing else _reading_query(path)
        target = f"file://{quote(os.fsencode(path))}?{query}"
        database = sqlite3.connect(target, uri=True, timeout=self._timeout_s, isolation_level=None)
        database.text_factory = _text
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
        path = f"{self.path}.{_lock_name(session_id)}.lock"
        lock = FileLock(path, mode=FILE_MODE, thread_local=False)
        try:
            make_folders(_FILES, os.path.dirname(os.path.abspath(path)))
            lock.acquire(blocking=False)
        except Timeout as held:
            conflict = writer_conflict(session_id, self.path, "its lock is held")
            raise Rejected(conflict) from held
        except (OSError, NotImplementedError) as fault:  # the latter: no locks there
            raise Rejected(storage_failed(path, _cause(fault))) from fault
        return lock

    def _recover(self) -> None:
        """Undo the half-made transaction of a crash, which reading alone does not."""
        try:
            with self.connected(writing=True):
                pass
        except (sqlite3.Error, OSError) as fault:
            raise Rejected(storage_failed(self.path, _cause(fault))) from fault

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
        found: tuple[Stored, list[_Row]] | None = None,
        lock: BaseFileLock | None = None,
    ) -> None:
        self._backend = backend
        self._header = header
        self._lock = lock
        self._is_listed = found is not None  # has its row in `sessions`
        self._stored = 0
        self._end: _Row | None = None  # the last event's row, as it is stored
        # The last row of what may stand behind it: torn, or of a batch whose end was not seen.
        self._doubtful: _Row | None = None
        if found is not None:
            stored, rows = found
            self._stored = len(stored.session)
            self._end = rows[self._stored - 1] if self._stored else None
            self._doubtful = rows[-1] if len(rows) > self._stored else None
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
            raise self._conflict(
                f"{self._stored} events are stored, the batch begins at seq {events[0].seq}"
            )
        rows = [_row(event) for event in events]
        for row in rows:
            if not _is_whole_text(row[1]):
                raise Rejected(
                    not_storable(self._header.id, f"half a character in the type of seq {row[0]}")
                )
        taken, is_held = self._lock or self._locked(), self._lock is not None
        try:
            with self._transaction() as database:
                self._check_end(database)
                if not self._is_listed:
                    self._insert_session(database)
                database.executemany(
                    "INSERT INTO events (session_id, seq, type, time, data, source_event_seqs,"
                    " surface_op) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(self._header.id, *row) for row in rows],
                )
                self._doubtful = rows[-1]
        except BaseException as fault:
            is_lost = isinstance(fault, Rejected) and fault.rejection.code is Code.WRITER_CONFLICT
            if is_lost or not is_held:  # whoever has gone on with the session needs the lock
                taken.release()
                self._lock = None
            raise
        self._lock = taken
        self._is_listed = True
        self._stored += len(rows)
        self._end = rows[-1]
        self._doubtful = None

    def cut_torn_tail(self) -> None:
        """Delete the rows that a crash left behind the last whole event."""
        if self._doubtful is not None:
            with self._transaction() as database:
                self._check_end(database)
            self._doubtful = None

    def close(self) -> None:
        """Let another writer have the session."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _locked(self) -> BaseFileLock:
        try:
            return self._backend.locked(self._header.id)
        except Rejected:
            if not self._is_listed:
                self._backend.refuse_stored(self._header.id)  # says more than that it is locked
            raise

    @contextlib.contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        if self._is_listed and not os.path.exists(self._backend.path):
            raise self._conflict("its database is gone")
        try:
            with self._backend.connected(writing=True) as database:
                database.execute("BEGIN IMMEDIATE")
                try:
                    yield database
                except BaseException:
                    if database.in_transaction:  # a full disk has ended it already
                        database.execute("ROLLBACK")
                    raise
                database.execute("COMMIT")
        except (sqlite3.Error, OSError) as fault:
            raise Rejected(storage_failed(self._backend.path, _cause(fault))) from fault

    def _check_end(self, database: sqlite3.Connection) -> None:
        """Make sure that what is stored ends with what this writer stored last.

        What is doubtful behind it is deleted; anything else is another writer's.
        """
        found = self._last_row(database)
        if found is not None and found == self._doubtful:
            self._cut(database)
            found = self._last_row(database)
        query = "SELECT 1 FROM sessions WHERE id = ?"
        is_listed = database.execute(query, (self._header.id,)).fetchone() is not None
        if is_listed and not self._is_listed:
            raise Rejected(session_already_exists(self._header.id).at(file=self._backend.path))
        if found != self._end or (not is_listed and self._is_listed):
            raise self._conflict("its last event is not the one that was written here")

    def _last_row(self, database: sqlite3.Connection) -> _Row | None:
        row: _Row | None = database.execute(
            f"SELECT {_COLUMNS} FROM events WHERE session_id = ? ORDER BY seq DESC LIMIT 1",
            (self._header.id,),
        ).fetchone()
        return row

    def _cut(self, database: sqlite3.Connection) -> None:
        """Delete what stands behind this writer's last event."""
        database.execute(
            "DELETE FROM events WHERE session_id = ? AND (seq >= ? OR seq < 0)",
            (self._header.id, self._stored),
        )
        if not self._is_listed:
            database.execute("DELETE FROM sessions WHERE id = ?", (self._header.id,))

    def _conflict(self, what: str) -> Rejected:
        return Rejected(writer_conflict(self._header.id, self._backend.path, what))

    def _insert_session(self, database: sqlite3.Connection) -> None:
        header = self._header
        database.execute(
            "INSERT INTO sessions (id, version, created_at, cwd, parent_session, seed_length)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                header.id,
                header.version,
                int(header.created_at),
                header.cwd,
                header.parent_session,
                header.seed_length,
            ),
        )


def _check_storable(session_id: str, header: SessionHeader) -> None:
    created_at = header.created_at
    if created_at != int(created_at) or int(created_at) not in _INTEGERS:
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


def _judged(row: Sequence[object]) -> Result[SessionHeader, Rejection]:
    """The session header of a row, by the rules of a file's first line."""
    fields = header_line_fields(_header_line(row).encode(), ended=True)
    if isinstance(fields, Rejection):
        return Failure(fields)
    if fields["version"] != 0:
        return Failure(version_unsupported(fields["version"]))
    return header_of(fields)


def _text(stored: bytes) -> str:
    """Text as it is read everywhere: bytes that are no UTF-8 are U+FFFD."""
    return stored.decode(errors="replace")


def _cause(fault: Exception) -> str:
    return getattr(fault, "strerror", None) or str(fault) or type(fault).__name__


def _lock_name(session_id: str) -> str:
    """What tells a session's lock from others; any id fits into a file name."""
    segment = encode_segment(session_id).value_or("")
    if len(segment) <= _LONGEST_LOCK_NAME:
        return segment
    return hashlib.sha256(segment.encode()).hexdigest()


def _make_writable(path: str) -> None:
    """Make an empty database that is its owner's alone where there is none.

    Errors:  OSError; PermissionError for one that may be read only.
    """
    if os.path.exists(path):
        # SQLite would open it, and leave files beside it that nobody can write to later.
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return
    folder = os.path.dirname(path)
    make_folders(_FILES, folder)
    with contextlib.suppress(FileExistsError):
        _FILES.close(_FILES.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    sync_folder(_FILES, folder)


def _reading_query(path: str) -> str:
    """How to open a database for reading.

    Without permission to write, SQLite cannot put its index beside a database in WAL mode. It
    is not needed where nobody has left anything to undo or to add.
    """
    may_write = os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)
    has_more = any(os.path.exists(path + suffix) for suffix in ("-wal", "-journal"))
    return "mode=ro" if may_write or has_more else "mode=ro&immutable=1"


__all__ = ["SCHEMA_VERSION", "SqliteBackend", "SqliteWriter"]
