"""Operating systems that fail: every call a log writer makes can be made to, through one class."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from dsh_fp.storage.files import Files

CALLS: Final = tuple(
    name for name, member in vars(Files).items() if callable(member) and name[0] != "_"
)
"""The names of all calls."""

Verdict = Callable[[int, str], BaseException | None]


def failure(number: int) -> OSError:
    """The error of this number as the system words it."""
    return OSError(number, os.strerror(number))


def at_call(number: int, fault: BaseException) -> Verdict:
    """Only the call with this number fails."""
    return lambda call, name: fault if call == number else None


FULL: Final = os.strerror(errno.ENOSPC)


class Faulty(Files):
    """Answers each call with what `judge` says of its number and name, else as the system.

    It does not wait for the disk, which no example needs and which takes most of the time.
    `done_first`: the call is carried out before it fails, as when its answer is lost.
    """

    def __init__(self, judge: Verdict = lambda number, name: None) -> None:
        self.judge = judge
        self.done_first = False
        self.calls: list[str] = []

    def heal(self) -> None:
        """Fail no more."""
        self.judge = lambda number, name: None

    def carry_out(self, name: str, *arguments: Any) -> Any:
        """One call of the system, or its failure."""
        number = len(self.calls)
        self.calls.append(name)
        fault = self.judge(number, name)
        call = _no_sync if name == "fsync" else getattr(super(), name)
        if fault is None:
            return call(*arguments)
        if self.done_first or name == "close":  # a descriptor is gone however its close ends
            call(*arguments)
        raise fault


def _no_sync(descriptor: int) -> None:
    pass


def _through(name: str) -> Callable[..., Any]:
    def call(self: Faulty, *arguments: Any) -> Any:
        return self.carry_out(name, *arguments)

    return call


for _name in CALLS:
    setattr(Faulty, _name, _through(_name))


class Narrow(Files):
    """Writes one byte at a time, and fails when the given number of bytes went through."""

    def __init__(self, bytes_left: int | None = None) -> None:
        self.bytes_left = bytes_left
        self.is_cutting = True

    def write(self, descriptor: int, content: memoryview) -> int:
        if self.bytes_left is not None:
            if self.bytes_left == 0:
                raise failure(errno.ENOSPC)
            self.bytes_left -= 1
        return super().write(descriptor, content[:1])

    def truncate(self, descriptor: int, size: int) -> None:
        if not self.is_cutting:
            raise failure(errno.EIO)
        super().truncate(descriptor, size)


class PowerCutError(BaseException):
    """The machine went off: nothing runs after it."""


class Disk(Faulty):
    """Remembers what has reached the disk, and goes off before a call with a given number."""

    def __init__(self, folder: Path, last_call: int | None = None) -> None:
        super().__init__(self._off)
        self.last_call = last_call
        self._paths: dict[int, str] = {}  # of open descriptors
        self._names: dict[int, dict[str, int]] = {folder.stat().st_ino: {}}  # by folder
        self._contents: dict[int, bytes] = {}  # by file
        self._folder = folder

    def _off(self, number: int, name: str) -> BaseException | None:
        is_off = self.last_call is not None and number >= self.last_call
        return PowerCutError() if is_off else None

    def carry_out(self, name: str, *arguments: Any) -> Any:
        answer = super().carry_out(name, *arguments)
        if name == "open":
            self._paths[answer] = arguments[0]
        elif name == "fsync":
            self._keep(arguments[0])
        return answer

    def _keep(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        path = self._paths[descriptor]
        if stat.S_ISDIR(status.st_mode):
            with os.scandir(path) as entries:
                self._names[status.st_ino] = {entry.name: entry.inode() for entry in entries}
        else:
            self._contents[status.st_ino] = Path(path).read_bytes()

    def after_power_is_back(self, into: Path, extra: Callable[[bytes, bytes], bytes]) -> None:
        """Put what the disk holds into a folder.

        `extra(kept, written)` says what a file holds that was written to since it was synced.
        """
        now = {path.stat().st_ino: path for path in self._folder.rglob("*") if path.exists()}
        waiting = [(self._folder.stat().st_ino, into)]
        while waiting:
            inode, target = waiting.pop()
            target.mkdir(exist_ok=True)
            for name, child in self._names.get(inode, {}).items():
                path = now.get(child)
                if path is not None and path.is_dir():
                    waiting.append((child, target / name))
                else:
                    kept = self._contents.get(child, b"")
                    written = kept if path is None else path.read_bytes()
                    (target / name).write_bytes(extra(kept, written))
