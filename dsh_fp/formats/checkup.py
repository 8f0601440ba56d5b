"""Diagnoses of whole places: a log, a session's folder, a root of sessions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final, Literal

import attrs
from returns.result import Failure

from dsh_fp.core.rejection import Rejection, file_unreadable
from dsh_fp.formats.damage import Damage, Diagnosis, diagnose
from dsh_fp.formats.locating import FoundLog, find_log, find_sessions
from dsh_fp.formats.names import parse_file_name
from dsh_fp.storage.jsonl_backend import is_locked
from dsh_fp.storage.paths import SUFFIX

Lock = Literal["free", "held", "unknown"]
_LEFT_OVER: Final = ".tmp"


@attrs.frozen(eq=False)
class Checkup:
    """One log with everything that is wrong with it, in its lines and beside it.

    `trouble` is why a place holds no log that could be looked at; then there is no diagnosis.
    `beside` are damages of the folder, not of the file.
    """

    file: str
    diagnosis: Diagnosis | None
    lock: Lock
    beside: tuple[Damage, ...] = ()
    trouble: Rejection | None = None

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What is wrong with the file, then what is wrong beside it."""
        own = () if self.diagnosis is None else self.diagnosis.damages
        return (*own, *self.beside)

    @property
    def refusal(self) -> Rejection | None:
        """Why the log cannot be read, if it cannot."""
        return self.trouble if self.diagnosis is None else self.diagnosis.refusal


def check_up(path: str) -> Iterator[Checkup]:
    """A checkup of each log at a place, in order of their paths. Never writes.

    A place is a file, a session's folder, a folder with July's logs in it, or a root.
    """
    if "\0" in path:
        yield Checkup(path, None, "unknown", (), file_unreadable(path, "it holds a NUL character"))
        return
    if not os.path.isdir(path):
        yield checkup_of(FoundLog(path, parse_file_name(os.path.basename(path))))
        return
    names = _names_in(path)
    if any(parse_file_name(name) is not None for name in names):
        found = find_log(path)
        if isinstance(found, Failure):
            yield Checkup(path, None, "unknown", (), found.failure())
        else:
            yield checkup_of(found.unwrap())
        return
    for name in names:
        if name.endswith(SUFFIX):
            yield checkup_of(FoundLog(os.path.join(path, name)))
    for session in find_sessions(path):
        if isinstance(session, Failure):
            fault: Rejection = session.failure()
            yield Checkup(fault.file or path, None, "unknown", (), fault)
        else:
            yield checkup_of(session.unwrap().log)


def checkup_of(found: FoundLog) -> Checkup:
    """The checkup of one log and of the files beside it."""
    return Checkup(found.path, diagnose(found.path), lock_on(found.path), tuple(_beside(found)))


def lock_on(path: str) -> Lock:
    """Whether a writer holds the lock of a log, of whatever generation."""
    held = is_locked(locked_path(path))
    return "unknown" if held is None else "held" if held else "free"


def locked_path(path: str) -> str:
    """The path whose lock writers of this log take, the ending of locks left out."""
    if parse_file_name(os.path.basename(path)) is None:
        return path
    return os.path.join(os.path.dirname(path), "session")


def _beside(found: FoundLog) -> Iterator[Damage]:
    for older in found.older:
        says = (
            f"{os.path.basename(older)} is an older generation of this session: "
            "no runtime falls back to it"
        )
        yield Damage("older-generation", "note", says, file=older)
    if found.name is None:
        return
    folder = os.path.dirname(found.path)
    for name in _names_in(folder or "."):
        if name.endswith(_LEFT_OVER):
            says = f"{name} is what a writer left that died while it made a file"
            yield Damage("left-over-file", "note", says, file=os.path.join(folder, name))


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
