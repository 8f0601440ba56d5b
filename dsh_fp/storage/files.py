"""The few calls that change files, behind one small class, so that tests can make them fail."""

from __future__ import annotations

import contextlib
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

    def make_folders(self, path: str) -> None:
        """A folder and its parents, for their owner only."""
        os.makedirs(path, FOLDER_MODE, exist_ok=True)


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


def publish(files: Files, path: str, content: bytes) -> None:
    """Make a whole file appear under a name at once, durably, or not at all.

    Errors:  FileExistsError when the name is taken; another OSError with nothing published.
    """
    folder = os.path.dirname(path) or "."
    files.make_folders(folder)
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
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
    sync_folder(files, folder)
