"""Where examples keep sessions: each kind of storage behind one small class."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from dsh_fp import Code, Rejected, Rejection, SessionHeader, encode_log, log_path, unwrap
from dsh_fp.storage.backend import Backend
from dsh_fp.storage.jsonl_backend import JsonlBackend
from dsh_fp.storage.memory_backend import MemoryBackend
from dsh_fp.storage.sqlite_backend import SqliteBackend


@contextmanager
def refused(code: Code) -> Iterator[list[Rejection]]:
    """Expects the block to be refused with this code; the list holds the refusal then."""
    caught: list[Rejection] = []
    try:
        yield caught
    except Rejected as error:
        caught.append(error.rejection)
        assert error.rejection.code is code, error  # noqa: PT017  # the code is the point
    else:
        raise AssertionError(f"nothing was refused, {code} was expected")


class Place(Protocol):
    """One kind of storage in a folder of its own."""

    def backend(self) -> Backend:
        """A backend of this place, as another process would make it."""
        ...

    def picture(self) -> dict[str, Any]:
        """All that is stored, to the last byte."""
        ...

    def stored(self, session_id: str) -> bytes:
        """A stored session as the bytes of a log file."""
        ...

    def tear(self, session_id: str) -> int:
        """Leave a torn event behind the last one; how many bytes that took, as read."""
        ...


def as_log(backend: Backend, session_id: str) -> bytes:
    """A stored session as the bytes of a log file."""
    session = unwrap(backend.load(session_id)).session
    return encode_log(session.header, session.events)


class InMemory:
    """Sessions in a dict: what another process would see is the same object."""

    def __init__(self, folder: Path) -> None:
        self._backend = MemoryBackend()

    def backend(self) -> Backend:
        return self._backend

    def picture(self) -> dict[str, Any]:
        return {name: as_log(self._backend, name) for name in self._backend.slots}

    def stored(self, session_id: str) -> bytes:
        return as_log(self._backend, session_id)

    def tear(self, session_id: str) -> int:
        return 0  # memory keeps whole events only


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but locks, by its path there."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


class InFiles:
    """Sessions as JSONL files."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "logs"

    def backend(self) -> JsonlBackend:
        return JsonlBackend(self.root)

    def picture(self) -> dict[str, Any]:
        return files_in(self.root)

    def path(self, session_id: str, cwd: str | None = None) -> Path:
        """Where a session's file is."""
        return Path(unwrap(log_path(str(self.root), cwd, session_id)))

    def stored(self, session_id: str) -> bytes:
        return self.path(session_id).read_bytes()

    def tear(self, session_id: str) -> int:
        torn = b'{"type":"plugin/note","seq":'
        with self.path(session_id).open("ab") as file:
            return file.write(torn)


class InDatabase:
    """Sessions as rows of a database."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "logs" / "sessions.db"

    def backend(self) -> SqliteBackend:
        return SqliteBackend(self.path)

    def picture(self) -> dict[str, Any]:
        found = files_in(self.path.parent)
        # Whoever reads a database in WAL mode leaves its index and an empty log beside it.
        return {
            name: content
            for name, content in found.items()
            if not name.endswith("-shm") and (content or not name.endswith("-wal"))
        }

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What a query answers."""
        with closing(sqlite3.connect(self.path)) as database, database:
            return database.execute(query, values).fetchall()

    def stored(self, session_id: str) -> bytes:
        return as_log(self.backend(), session_id)

    def tear(self, session_id: str) -> int:
        (last,) = self.rows("SELECT max(seq) FROM events WHERE session_id = ?", session_id)[0]
        row = (session_id, last + 2, "plugin/note", 1, "{}")
        self.rows("INSERT INTO events VALUES (?, ?, ?, ?, ?, NULL, NULL)", *row)
        return len('{"type":"plugin/note","seq":2,"time":1,"data":{}}\n')


PLACES: Final = {"memory": InMemory, "jsonl": InFiles, "sqlite": InDatabase}


def header(session_id: str = "s", **fields: Any) -> SessionHeader:
    """A session header of our own making."""
    return SessionHeader(id=session_id, **{"created_at": 7, **fields})
