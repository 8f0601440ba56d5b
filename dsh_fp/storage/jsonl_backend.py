"""Sessions as JSONL files below a root, one file each; written so that crashes leave a prefix.

Nothing is on disk before the first batch; that one appears whole or not at all. Later ones
are appended and synced. Before each batch the writer compares the end of the file with what
it wrote last, so a lock that was stolen or never held still costs nobody an event.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
from filelock import BaseFileLock, FileLock, Timeout
from returns.result import Failure, Result

from dsh_fp.core.events import Event, SessionHeader
from dsh_fp.core.rejection import (
    Rejection,
    session_already_exists,
    session_not_found,
    storage_failed,
    writer_conflict,
)
from dsh_fp.core.vocabulary import STANDARD, Vocabulary
from dsh_fp.rejected import Rejected, unwrap
from dsh_fp.storage.backend import Listing, Stored
from dsh_fp.storage.files import Files, publish, write_all
from dsh_fp.storage.jsonl import encode_header, event_line, read, read_header, stored_log
from dsh_fp.storage.paths import SUFFIX, encode_segment, log_path

LOCK_SUFFIX: Final = ".lock"
_SYSTEM: Final = Files()


class JsonlBackend:
    """Sessions as JSONL files below a root folder.

    Law:  backends_agree.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        files: Files = _SYSTEM,
        vocabulary: Vocabulary = STANDARD,
    ) -> None:
        self.root: Final = os.fspath(root)
        self._files = files
        self._vocabulary = vocabulary

    def create(self, header: SessionHeader) -> JsonlWriter:
        """A writer for a session that is not stored yet; see Backend."""
        path = unwrap(log_path(self.root, header.cwd, header.id))
        if self.find(header.id) is not None:
            raise Rejected(session_already_exists(header.id).at(file=path))
        return JsonlWriter(path, header, self._files)

    def resume(self, session_id: str) -> tuple[Stored, JsonlWriter]:
        """A stored session made whole, durably, and its writer; see Backend."""
        path = self._path_of(session_id)
        lock = _locked(path, session_id)
        try:
            stored = unwrap(self._read(path))
            writer = JsonlWriter.going_on(path, stored, lock, self._files)
            writer.cut_torn_tail()
            if stored.closers:
                writer.write(stored.closers)
        except BaseException:
            lock.release()
            raise
        whole = unwrap(stored.session.extend(stored.closers))
        return attrs.evolve(stored, session=whole), writer

    def load(self, session_id: str) -> Result[Stored, Rejection]:
        """A stored session as it stands; see Backend."""
        path = self.find(session_id)
        return Failure(session_not_found(session_id)) if path is None else self._read(path)

    def list(self) -> Iterator[Listing]:
        """Every stored session, by its header line only; see Backend."""
        for path in log_files(self.root):
            header = read_header(path)
            if isinstance(header, Failure):
                yield Listing(path, None, header.failure())
            else:
                yield Listing(path, header.unwrap())

    def find(self, session_id: str) -> str | None:
        """The path of a stored session's file, whatever its working directory, or None."""
        name = unwrap(encode_segment(session_id)) + SUFFIX
        for bucket in _folders(self.root):
            path = os.path.join(bucket, name)
            if os.path.exists(path):
                return path
        return None

    def _path_of(self, session_id: str) -> str:
        path = self.find(session_id)
        if path is None:
            raise Rejected(session_not_found(session_id))
        return path

    def _read(self, path: str) -> Result[Stored, Rejection]:
        return read(path, vocabulary=self._vocabulary).map(lambda log: stored_log(log, path))


class JsonlWriter:
    """The one writer of one file. Holds the file's lock from its first batch on."""

    def __init__(self, path: str, header: SessionHeader, files: Files = _SYSTEM) -> None:
        self.path: Final = path
        self._header = header
        self._files = files
        self._lock: BaseFileLock | None = None
        self._stored = 0
        self._size = 0  # of the file as far as it is ours; 0 before the first batch
        self._end = b""  # the last bytes of that
        self._doubtful = b""  # of a failed batch that may still stand behind them

    @classmethod
    def going_on(
        cls, path: str, stored: Stored, lock: BaseFileLock, files: Files = _SYSTEM
    ) -> JsonlWriter:
        """The writer that goes on with a file, whose lock it takes over."""
        writer = cls(path, stored.session.header, files)
        writer._lock = lock
        writer._stored = len(stored.session)
        with open(path, "rb") as opened:
            content_size = os.fstat(opened.fileno()).st_size
            writer._size = content_size - stored.torn_bytes
            last = stored.session.events[-1:]
            length = len(event_line(last[0])) + 1 if last else writer._size
            opened.seek(max(0, writer._size - length))
            writer._end = opened.read(min(length, writer._size))
            writer._doubtful = opened.read()
        return writer

    @property
    def stored(self) -> int:
        """How many events are stored."""
        return self._stored

    def write(self, events: Sequence[Event]) -> None:
        """Append a batch durably; see Writer."""
        if not events:
            return
        if events[0].seq != self._stored:
            raise Rejected(
                writer_conflict(
                    self._header.id,
                    self.path,
                    f"{self._stored} events are stored, the batch begins at seq {events[0].seq}",
                )
            )
        content = b"".join(event_line(event) + b"\n" for event in events)
        if self._size:
            self._append(content)
        else:
            content = encode_header(self._header).encode() + b"\n" + content
            self._publish(content)
        self._stored += len(events)
        self._size += len(content)
        self._end = event_line(events[-1]) + b"\n"

    def cut_torn_tail(self) -> None:
        """Cut what a crash left behind the last whole event, durably."""
        if self._doubtful:
            with self._opened() as descriptor:
                self._clean(descriptor)

    def close(self) -> None:
        """Let another writer have the session."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _publish(self, content: bytes) -> None:
        folder = os.path.dirname(self.path)
        try:
            self._files.make_folders(folder)
            lock = self._lock or _locked(self.path, self._header.id)
            try:
                publish(self._files, self.path, content)
            except BaseException:
                lock.release()
                raise
        except FileExistsError as taken:
            raise Rejected(session_already_exists(self._header.id).at(file=self.path)) from taken
        except OSError as fault:
            raise Rejected(storage_failed(self.path, _cause(fault))) from fault
        self._lock = lock

    def _append(self, content: bytes) -> None:
        with self._opened() as descriptor:
            self._clean(descriptor)
            try:
                self._doubtful = content
                write_all(self._files, descriptor, content)
                self._files.fsync(descriptor)
            except OSError:
                # Whether or not the cut succeeds, the next batch begins by making sure.
                with contextlib.suppress(OSError):
                    self._files.truncate(descriptor, self._size)
                raise
            self._doubtful = b""

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            descriptor = self._files.open(self.path, os.O_RDWR | os.O_APPEND)
            try:
                yield descriptor
            finally:
                self._files.close(descriptor)
        except FileNotFoundError as gone:
            raise Rejected(
                writer_conflict(self._header.id, self.path, "its file is gone")
            ) from gone
        except OSError as fault:
            raise Rejected(storage_failed(self.path, _cause(fault))) from fault

    def _clean(self, descriptor: int) -> None:
        """Make sure that the file ends with what this writer stored last.

        What a failed batch of its own left is cut; anything else is another writer's.
        """
        files = self._files
        size = files.size(descriptor)
        behind = files.read_at(descriptor, size - self._size, self._size)
        if size < self._size or not self._doubtful.startswith(behind):
            raise Rejected(
                writer_conflict(
                    self._header.id,
                    self.path,
                    f"the file has {size} bytes, {self._size} were written here",
                )
            )
        end = files.read_at(descriptor, len(self._end), self._size - len(self._end))
        if end != self._end:
            raise Rejected(
                writer_conflict(self._header.id, self.path, "its last event was changed")
            )
        if behind:
            files.truncate(descriptor, self._size)
            files.fsync(descriptor)
        self._doubtful = b""


def _locked(path: str, session_id: str) -> BaseFileLock:
    lock = FileLock(path + LOCK_SUFFIX, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout as held:
        conflict = writer_conflict(session_id, path, "its lock is held")
        raise Rejected(conflict) from held
    except OSError as fault:
        raise Rejected(storage_failed(path + LOCK_SUFFIX, _cause(fault))) from fault
    return lock


def log_files(root: str) -> Iterator[str]:
    """The paths of all log files below a root, in order of their names."""
    for bucket in _folders(root):
        with os.scandir(bucket) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith(SUFFIX))
        for name in names:
            yield os.path.join(bucket, name)


def _folders(root: str) -> Iterator[str]:
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except FileNotFoundError:
        return
    for name in names:
        yield os.path.join(root, name)


def _cause(fault: OSError) -> str:
    return fault.strerror or type(fault).__name__


__all__ = ["JsonlBackend", "JsonlWriter", "log_files"]
