"""The few calls that change files, behind one small class, so that tests can make them fail."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import Final

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600


class Files:
    """What a log writer asks of the operating system; each call is one system call.

    Errors:  OSError, as the system gives it.
    """

    def open(self, path: str, flags: int) -> int:
        """A file descriptor; new files are readable by their owner only."""
        return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), FILE_MODE)

    def lock(self, descriptor: int) -> None:
        """Keep other processes that ask for this lock out; BlockingIOError when one has it.

        It belongs to the file, not to its name: no other file can stand in for it.
        """
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlock(self, descriptor: int) -> None:
        """Let others in; closing alone does not, while a forked process has the descriptor."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def write(self, descriptor: int, content: memoryview) -> int:
        """How many bytes of the content were written; perhaps not all."""
        return os.write(descriptor, content)

    def read_at(self, descriptor: int, length: int, offset: int) -> bytes:
        """Up to `length` bytes from an offset."""
        return os.pread(descriptor, length, offset)

    def size(self, descriptor: int) -> int:
        """The file's size in bytes."""
        return os.fstat(descriptor).st_size

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut the file back to a size."""
        os.ftruncate(descriptor, size)

    def fsync(self, descriptor: int) -> None:
        """Return when the file's content is on the disk."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Give the descriptor back."""
        os.close(descriptor)

    def link(self, source: str, target: str) -> None:
        """Give a file a second name; fails where the name is taken."""
        os.link(source, target)

    def unlink(self, path: str) -> None:
        """Take a name away."""
        os.unlink(path)

    def make_folder(self, path: str) -> None:
        """A new folder in one that is there, for its owner only."""
        os.mkdir(path, FOLDER_MODE)

    def remove_folder(self, path: str) -> None:
        """Take an empty folder away."""
        os.rmdir(path)


def write_all(files: Files, descriptor: int, content: bytes) -> None:
    """Write every byte, however many calls it takes."""
    rest = memoryview(content)
    while rest:
        written = files.write(descriptor, rest)
        if written <= 0:
            raise OSError("the system wrote nothing and reported no error")
        rest = rest[written:]


def sync_folder(files: Files, path: str) -> None:
    """Return when the folder's names are on the disk."""
    descriptor = files.open(path, os.O_RDONLY)
    try:
        files.fsync(descriptor)
    finally:
        files.close(descriptor)


def make_folders(files: Files, path: str) -> None:
    """Make a folder and its missing parents, durably: each is on the disk, or is not there.

    Errors:  OSError; FileExistsError for a name that is no folder's.
    """
    missing: list[str] = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        is_ours = True
        try:
            files.make_folder(folder)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise
            is_ours = False  # another process made it meanwhile
        try:
            sync_folder(files, os.path.dirname(folder) or ".")
        except BaseException:
            # Found there by the next try, it would pass for one that is on the disk.
            if is_ours:
                with contextlib.suppress(OSError):
                    files.remove_folder(folder)
            raise


def publish(files: Files, path: str, content: bytes) -> None:
    """Make a whole file appear under a name at once, or not at all.

    Its content is on the disk then; its name is when its folder is synced.

    Errors:  FileExistsError when the name is taken; another OSError with nothing published.
    """
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, f".{os.getpid()}-{os.urandom(8).hex()}.tmp")
    descriptor = files.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        try:
            write_all(files, descriptor, content)
            files.fsync(descriptor)
        finally:
            files.close(descriptor)
        # A rename would replace another's log; a link fails instead.
        files.link(temporary, path)
    finally:
        with contextlib.suppress(OSError):  # a leftover temporary file harms nobody
            files.unlink(temporary)
