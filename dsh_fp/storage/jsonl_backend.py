"""Sessions as JSONL files below a root, one file each; written so that crashes leave a prefix.

Nothing is on disk before the first batch; that one appears whole or not at all. Later ones
are appended and synced. Before each batch the writer compares the end of the file with what
it wrote last, so a lock that was stolen or never held still costs nobody an event.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Annotated, Final, Literal

import attrs
import msgspec
from filelock import BaseFileLock, FileLock, Timeout
from returns.result import Failure, Result

from dsh_fp.core.events import Event, SessionHeader
from dsh_fp.core.rejection import (
    Code,
    Rejection,
    file_unreadable,
    session_already_exists,
    session_not_found,
    storage_failed,
    writer_conflict,
)
from dsh_fp.core.vocabulary import STANDARD, Vocabulary
from dsh_fp.rejected import Rejected, unwrap
from dsh_fp.storage.backend import Listing, Stored
from dsh_fp.storage.files import FILE_MODE, Files, make_folders, publish, sync_folder, write_all
from dsh_fp.storage.jsonl import LogFile, encode_header, event_line, read, read_header, stored_log
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
        # Tidied as the paths of logs are, so that what was written is found.
        bucket = os.path.dirname(unwrap(log_path(os.fspath(root), None, "any")))
        self.root: Final = os.path.dirname(bucket) or "."
        self.files: Final = files
        self._vocabulary = vocabulary

    def create(self, header: SessionHeader) -> JsonlWriter:
        """A writer for a session that is not stored yet; see Backend."""
        path = unwrap(log_path(self.root, header.cwd, header.id))
        self.refuse_stored(header.id)
        return JsonlWriter(self, path, header)

    def resume(self, session_id: str) -> tuple[Stored, JsonlWriter]:
        """A stored session made whole, durably, and its writer; see Backend."""
        path = self.find(session_id)
        if path is None:
            raise Rejected(session_not_found(session_id))
        return self._resume_at(path, session_id)

    def resume_file(
        self, path: str | os.PathLike[str], *, before: Callable[[LogFile], None] | None = None
    ) -> tuple[Stored, JsonlWriter]:
        """`resume` for the log at a path, wherever it lies and whatever its name.

        `before` is called under the writer's lock with the log as it stands, while nothing is
        changed yet; what it raises leaves the file as it is.

        Errors:  Rejected: WRITER_CONFLICT, STORAGE_FAILED, or what makes the log unreadable.
        """
        header = unwrap(read_header(path))
        return self._resume_at(os.fspath(path), header.id, before)

    def _resume_at(
        self, path: str, session_id: str, before: Callable[[LogFile], None] | None = None
    ) -> tuple[Stored, JsonlWriter]:
        lock = _locked(path, session_id)
        try:
            log, end, behind = self._read_whole(path, session_id)
            if before is not None:
                before(log)
            stored = stored_log(log, path)
            tail = _Tail(len(log.session), log.good_bytes, end, behind)
            writer = JsonlWriter(self, path, log.header, tail=tail, lock=lock)
            writer.settle()
            writer.write(stored.closers)
            whole = unwrap(stored.session.extend(stored.closers))
        except BaseException:
            lock.release()
            raise
        return attrs.evolve(stored, session=whole), writer

    def load(self, session_id: str) -> Result[Stored, Rejection]:
        """A stored session as it stands; see Backend."""
        try:
            path = self.find(session_id)
        except Rejected as refused:
            return Failure(refused.rejection)
        if path is None:
            return Failure(session_not_found(session_id))
        return read(path, vocabulary=self._vocabulary).map(lambda log: stored_log(log, path))

    def list(self) -> Iterator[Listing]:
        """Every stored session, by its header line only; see Backend."""
        try:
            buckets = _folders(self.root)
        except OSError as fault:
            yield Listing(self.root, None, file_unreadable(self.root, _cause(fault)))
            return
        for bucket in buckets:
            yield from list_folder(bucket)

    def find(self, session_id: str) -> str | None:
        """The path of a stored session's file, whatever its working directory, or None.

        Errors:  Rejected: SEGMENT_EMPTY; FILE_UNREADABLE for a root that cannot be listed.
        """
        name = unwrap(encode_segment(session_id)) + SUFFIX
        try:
            buckets = _folders(self.root)
        except OSError as fault:
            raise Rejected(file_unreadable(self.root, _cause(fault))) from fault
        for bucket in buckets:
            path = os.path.join(bucket, name)
            if os.path.exists(path):
                return path
        return None

    def refuse_stored(self, session_id: str) -> None:
        """Raise Rejected, SESSION_ALREADY_EXISTS, for an id that is stored."""
        path = self.find(session_id)
        if path is not None:
            raise Rejected(session_already_exists(session_id).at(file=path))

    def _read_whole(self, path: str, session_id: str) -> tuple[LogFile, bytes, bytes]:
        """A log, the bytes of its last whole line, and what a crash left behind them.

        All of one moment: nobody writes meanwhile.
        """
        try:
            with open(path, "rb") as opened, _exclusive(self.files, opened.fileno()):
                log = unwrap(read(opened, vocabulary=self._vocabulary))
                last = log.session.events[-1:]
                # The text of an event and its line may differ in length; this much tells.
                length = len(event_line(last[0])) + 1 if last else log.good_bytes
                opened.seek(max(0, log.good_bytes - length))
                end = opened.read(min(length, log.good_bytes))
                return log, end, opened.read(log.size - log.good_bytes)
        except BlockingIOError as held:
            raise Rejected(writer_conflict(session_id, path, _BEING_WRITTEN)) from held
        except FileNotFoundError as gone:
            raise Rejected(session_not_found(session_id)) from gone
        except OSError as fault:
            raise Rejected(file_unreadable(path, _cause(fault))) from fault


@attrs.frozen
class _Tail:
    """How far a file is its writer's, and how to recognise that it still is.

    Units:   stored counts events, size bytes.
    """

    stored: int = 0
    size: int = 0  # 0 before the first batch
    end: bytes = b""  # the last bytes of these
    doubtful: bytes = b""  # of a failed batch, or torn: perhaps still behind them


_NO_FILE: Final = _Tail()


class JsonlWriter:
    """The one writer of one file. Holds the file's lock from its first batch on."""

    def __init__(
        self,
        backend: JsonlBackend,
        path: str,
        header: SessionHeader,
        *,
        tail: _Tail = _NO_FILE,
        lock: BaseFileLock | None = None,
    ) -> None:
        self.path: Final = path
        self._backend = backend
        self._files = backend.files
        self._header = header
        self._lock = lock
        # Swapped whole, so that an interrupt at any place leaves it true.
        self._tail = tail
        self._is_named_for_good = False
        self._birth = b""  # the content of a first batch that may have appeared

    @property
    def stored(self) -> int:
        """How many events are stored."""
        return self._tail.stored

    def write(self, events: Sequence[Event]) -> None:
        """Append a batch durably; see Writer."""
        if not events:
            return
        tail = self._tail
        if events[0].seq != tail.stored:
            raise self._conflict(
                f"{tail.stored} events are stored, the batch begins at seq {events[0].seq}"
            )
        lines = [event_line(event) + b"\n" for event in events]
        try:
            with self._telling_failures():
                if tail.size:
                    self._append(b"".join(lines))
                else:
                    self._publish(b"".join(lines))
        except Rejected as refused:
            if refused.rejection.code is Code.WRITER_CONFLICT:
                self.close()  # whoever has gone on with the session needs the lock
            raise
        size = self._tail.size + sum(map(len, lines))
        self._tail = _Tail(tail.stored + len(events), size, lines[-1])

    def settle(self) -> None:
        """Cut what a crash left behind the last whole event; all before that is on disk then."""
        with self._telling_failures():
            with self._opened() as descriptor:
                self._clean(descriptor)
                self._files.fsync(descriptor)  # who wrote it may have died before
            self._name_for_good()
        self._tail = attrs.evolve(self._tail, doubtful=b"")

    def close(self) -> None:
        """Let another writer have the session."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _publish(self, lines: bytes) -> None:
        """Make the file appear with its header and these lines."""
        header = encode_header(self._header).encode() + b"\n"
        make_folders(self._files, os.path.dirname(self.path))
        self._take_id()
        if self._is_born():  # an earlier try got that far, and perhaps no further
            self._tail = _Tail(0, len(header), header, self._birth[len(header) :])
            self._append(lines)
            return
        self._birth = header + lines
        try:
            publish(self._files, self.path, self._birth)
        except FileExistsError as taken:
            if not self._is_born():  # over a network, the answer to a good link may be lost
                self.close()
                exists = session_already_exists(self._header.id).at(file=self.path)
                raise Rejected(exists) from taken
        # What fails from here on is tried again on what the file holds.
        self._tail = _Tail(0, len(header), header, lines)
        self._name_for_good()

    def _take_id(self) -> None:
        """Lock the name of a file that is not there yet; nobody else has the id then."""
        if self._lock is None:
            try:
                self._lock = _locked(self.path, self._header.id)
            except Rejected:
                self._backend.refuse_stored(self._header.id)  # says more than that it is locked
                raise
        if not self._is_born():
            try:  # in another folder, or since `create`
                self._backend.refuse_stored(self._header.id)
            except Rejected:
                self.close()
                raise

    def _is_born(self) -> bool:
        """Whether a first batch that seemed to fail is there after all."""
        if not self._birth:
            return False
        try:
            descriptor = self._files.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            return self._files.read_at(descriptor, len(self._birth) + 1, 0) == self._birth
        finally:
            self._files.close(descriptor)

    def _append(self, lines: bytes) -> None:
        """Write lines behind the tail."""
        if self._lock is None:  # it was closed
            self._lock = _locked(self.path, self._header.id)
        with self._opened() as descriptor:
            self._clean(descriptor)
            self._tail = tail = attrs.evolve(self._tail, doubtful=lines)
            try:
                write_all(self._files, descriptor, lines)
                self._files.fsync(descriptor)
            except OSError:
                # Whether or not the cut succeeds, the next batch begins by making sure.
                with contextlib.suppress(OSError):
                    self._files.truncate(descriptor, tail.size)
                raise
        self._name_for_good()

    def _name_for_good(self) -> None:
        """See to it that the names of the file and of its folder are on the disk."""
        if not self._is_named_for_good:
            folder = os.path.dirname(os.path.abspath(self.path))
            sync_folder(self._files, folder)
            sync_folder(self._files, os.path.dirname(folder))
            self._is_named_for_good = True

    @contextlib.contextmanager
    def _telling_failures(self) -> Generator[None]:
        try:
            yield
        except OSError as fault:
            raise Rejected(storage_failed(self.path, _cause(fault))) from fault

    @contextlib.contextmanager
    def _opened(self) -> Generator[int]:
        try:
            descriptor = self._files.open(self.path, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError as gone:
            raise self._conflict("its file is gone") from gone
        try:
            with _exclusive(self._files, descriptor):
                yield descriptor
        except BlockingIOError as held:
            raise self._conflict(_BEING_WRITTEN) from held
        finally:
            self._files.close(descriptor)

    def _clean(self, descriptor: int) -> None:
        """Make sure that the file ends with what this writer stored last.

        What a failed batch of its own left is cut; anything else is another writer's.
        """
        files, tail = self._files, self._tail
        size = files.size(descriptor)
        behind = files.read_at(descriptor, len(tail.doubtful) + 1, tail.size)
        if size < tail.size or not tail.doubtful.startswith(behind):
            raise self._conflict(f"the file has {size} bytes, {tail.size} were written here")
        end = files.read_at(descriptor, len(tail.end), tail.size - len(tail.end))
        if end != tail.end:
            raise self._conflict("its last event was changed")
        if behind:
            files.truncate(descriptor, tail.size)
            files.fsync(descriptor)

    def _conflict(self, what: str) -> Rejected:
        return Rejected(writer_conflict(self._header.id, self.path, what))


_BEING_WRITTEN: Final = "it is being written right now"


@contextlib.contextmanager
def _exclusive(files: Files, descriptor: int) -> Generator[None]:
    """Nobody else of this library writes the file meanwhile, stolen lock files or not.

    Where a file system has no such locks, the comparison with the tail has to do.

    Errors:  BlockingIOError when somebody does.
    """
    is_locked = True
    try:
        files.lock(descriptor)
    except BlockingIOError:
        raise
    except OSError:
        is_locked = False
    try:
        yield
    finally:
        if is_locked:
            with contextlib.suppress(OSError):  # closing lets others in as well
                files.unlock(descriptor)


def _locked(path: str, session_id: str) -> BaseFileLock:
    lock = FileLock(path + LOCK_SUFFIX, mode=FILE_MODE, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout as held:
        conflict = writer_conflict(session_id, path, "its lock is held")
        raise Rejected(conflict) from held
    except (OSError, NotImplementedError) as fault:  # the latter: no locks on this file system
        raise Rejected(storage_failed(path + LOCK_SUFFIX, _cause(fault))) from fault
    return lock


def is_locked(path: str, *, files: Files = _SYSTEM) -> bool | None:
    """Whether a writer holds the lock of the log at a path; None when that cannot be told.

    The lock is tried and given back; nothing on the disk is changed or made.
    """
    try:
        descriptor = files.open(path + LOCK_SUFFIX, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        files.lock(descriptor)
    except BlockingIOError:
        return True
    except OSError:  # no locks on this file system
        return None
    else:
        files.unlock(descriptor)
        return False
    finally:
        files.close(descriptor)


def list_folder(folder: str) -> Iterator[Listing]:
    """The logs right in a folder, by their header lines only; a bad one is a row with its fault."""
    try:
        paths = _logs_in(folder)
    except OSError as fault:
        yield Listing(folder, None, file_unreadable(folder, _cause(fault)))
        return
    for path in paths:
        yield _listing(path)


def _listing(path: str) -> Listing:
    try:
        # Without waiting, for a pipe might never answer; one read holds a usual first line.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return Listing(path, None, file_unreadable(path, "it is no file"))
            line, ended, _ = os.read(descriptor, _FIRST_LINE_BYTES).partition(b"\n")
        finally:
            os.close(descriptor)
    except OSError as fault:
        return Listing(path, None, file_unreadable(path, _cause(fault)))
    usual = usual_header(line) if ended else None
    if usual is not None:
        return Listing(path, usual, None, status.st_size)
    made = read_header(path)
    if isinstance(made, Failure):
        return Listing(path, None, made.failure(), status.st_size)
    return Listing(path, made.unwrap(), None, status.st_size)


class _HeaderLine(
    msgspec.Struct, tag_field="type", tag="session", forbid_unknown_fields=True, gc=False
):
    version: Literal[0]
    id: str
    createdAt: Annotated[int, msgspec.Meta(gt=0, lt=2**53)]  # noqa: N815  # its wire name
    cwd: Annotated[str, msgspec.Meta(pattern="^/")] | msgspec.UnsetType = msgspec.UNSET
    parentSession: str | msgspec.UnsetType = msgspec.UNSET  # noqa: N815
    seedLength: Annotated[int, msgspec.Meta(gt=0, lt=2**53)] | msgspec.UnsetType = (  # noqa: N815
        msgspec.UNSET
    )


_USUAL_START: Final = b'{"type":"session","version":0,'
_FIRST_LINE_BYTES: Final = 4096
_decode_header: Final = msgspec.json.Decoder(_HeaderLine).decode


def usual_header(line: bytes) -> SessionHeader | None:
    """The session header of a first line in which nothing is unusual, else None.

    What it answers is what `read_header` answers, sooner; a test holds both together.
    """
    # A version named twice, perhaps in escapes, could be a -0 that the decoder takes for 0.
    if not line.startswith(_USUAL_START) or line.count(b'"version"') > 1 or b"\\" in line:
        return None
    try:
        line.decode()
        found = _decode_header(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return SessionHeader(
        found.id,
        found.createdAt,
        None if found.cwd is msgspec.UNSET else found.cwd,
        None if found.parentSession is msgspec.UNSET else found.parentSession,
        None if found.seedLength is msgspec.UNSET else found.seedLength,
    )


def log_files(root: str) -> Iterator[str]:
    """The paths of all log files below a root, in order of their names.

    Errors:  OSError for a folder that cannot be listed.
    """
    for bucket in _folders(root):
        yield from _logs_in(bucket)


def _logs_in(bucket: str) -> list[str]:
    with os.scandir(bucket) as entries:
        names = sorted(entry.name for entry in entries if entry.name.endswith(SUFFIX))
    return [os.path.join(bucket, name) for name in names]


def _folders(root: str) -> list[str]:
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except FileNotFoundError:
        return []
    return [os.path.join(root, name) for name in names]


def _cause(fault: Exception) -> str:
    strerror = getattr(fault, "strerror", None)
    return strerror or str(fault) or type(fault).__name__


__all__ = ["JsonlBackend", "JsonlWriter", "is_locked", "list_folder", "log_files"]
