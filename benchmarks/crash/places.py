"""The kinds of storage on trial, each able to kill its own process at a chosen point."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Protocol, TypeVar

from dsh_fp.storage.backend import Backend
from dsh_fp.storage.files import Files
from dsh_fp.storage.jsonl_backend import JsonlBackend
from dsh_fp.storage.sqlite_backend import SqliteBackend

T = TypeVar("T")
MOST_CALLS: Final = 150
MOST_STEPS: Final = (200, 2_000, 20_000)
PATIENCE_S: Final = 60.0
"""How long a database is waited for that another writer has locked."""


def die() -> None:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


class DyingFiles(Files):
    """Kills its process before, after or inside the call whose turn it is."""

    def __init__(self, rng: random.Random) -> None:
        self._left = rng.randrange(MOST_CALLS)
        self._is_done_first = rng.random() < 0.5
        self._share = rng.random()  # of a write that goes through

    def write(self, descriptor: int, content: memoryview) -> int:
        """Perhaps a part only, and the last thing that is done."""
        if self._left == 0 and not self._is_done_first:
            super().write(descriptor, content[: int(len(content) * self._share)])
        return self.carry_out(lambda: Files.write(self, descriptor, content))

    def carry_out(self, call: Callable[[], T]) -> T:
        """One call of the system, perhaps the last."""
        self._left -= 1
        if self._left == -1 and not self._is_done_first:
            die()
        answer = call()
        if self._left == -1:
            die()
        return answer


def _dying(name: str) -> Callable[..., object]:
    plain: Callable[..., object] = getattr(Files, name)

    def call(self: DyingFiles, *arguments: object) -> object:
        return self.carry_out(lambda: plain(self, *arguments))

    return call


for _name, _member in vars(Files).items():
    if callable(_member) and _name[0] != "_" and _name != "write":
        setattr(DyingFiles, _name, _dying(_name))


class DyingDatabase(SqliteBackend):
    """Kills its process at a step of SQLite's own machine."""

    def __init__(self, path: Path, rng: random.Random) -> None:
        super().__init__(path, timeout_s=PATIENCE_S)
        self._left = rng.randrange(rng.choice(MOST_STEPS))

    @contextmanager
    def connected(self, *, writing: bool = False) -> Generator[sqlite3.Connection]:
        """A connection whose machine counts its steps."""
        with super().connected(writing=writing) as database:
            database.set_progress_handler(self._step, 1)
            yield database

    def _step(self) -> int:
        self._left -= 1
        if self._left < 0:
            die()
        return 0


class Place(Protocol):
    """A folder in which sessions of one kind are kept."""

    def backend(self) -> Backend:
        """A backend that lives."""
        ...

    def dying(self, rng: random.Random) -> Backend:
        """A backend that kills its process sooner or later."""
        ...

    def seqs(self, session_id: str) -> Iterator[int]:
        """Every seq that is stored, as it stands, doubled ones too."""
        ...

    def locks(self) -> Iterator[Path]:
        """The lock files."""
        ...


class InFiles:
    """Sessions as JSONL files."""

    def __init__(self, folder: Path) -> None:
        self._root = folder / "logs"

    def backend(self) -> Backend:
        """See Place."""
        return JsonlBackend(self._root)

    def dying(self, rng: random.Random) -> Backend:
        """See Place."""
        return JsonlBackend(self._root, files=DyingFiles(rng))

    def seqs(self, session_id: str) -> Iterator[int]:
        """See Place."""
        path = JsonlBackend(self._root).find(session_id)
        if path is None:
            return
        for line in Path(path).read_bytes().split(b"\n")[1:-1]:
            # Our own writers put the seq behind the type.
            yield int(line.split(b'"seq":', 1)[1].split(b",", 1)[0])

    def locks(self) -> Iterator[Path]:
        """See Place."""
        return self._root.glob("*/*.lock")


class InDatabase:
    """Sessions as rows of a database."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "sessions.db"

    def backend(self) -> Backend:
        """See Place."""
        return SqliteBackend(self._path, timeout_s=PATIENCE_S)

    def dying(self, rng: random.Random) -> Backend:
        """See Place."""
        return DyingDatabase(self._path, rng)

    def seqs(self, session_id: str) -> Iterator[int]:
        """See Place."""
        if not self._path.exists():
            return
        with closing(sqlite3.connect(self._path, timeout=PATIENCE_S)) as database:
            try:
                query = "SELECT seq FROM events WHERE session_id = ? ORDER BY seq"
                rows = database.execute(query, (session_id,)).fetchall()
            except sqlite3.OperationalError:  # killed before the tables were made
                return
        yield from (seq for (seq,) in rows)

    def locks(self) -> Iterator[Path]:
        """See Place."""
        return self._path.parent.glob("*.lock")


KINDS: Final[dict[str, Callable[[Path], Place]]] = {"jsonl": InFiles, "sqlite": InDatabase}


def doubled(seqs: Iterator[int]) -> int:
    """How many seqs are there once too often."""
    return sum(count - 1 for count in Counter(seqs).values())
