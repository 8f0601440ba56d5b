"""The small files beside logs: certificates, proofs, signatures, keys, in one piece."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, NoReturn

import attrs
import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, log_name
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, usage_complaint
from dsh_fp.cli.safe import one_line
from dsh_fp.core.documents import read_document
from dsh_fp.core.lossless import AnyJson
from dsh_fp.core.rejection import Rejection, file_unreadable, storage_failed

_MODE: Final = 0o666
_NOW: Final = "Nothing was written: mend the cause, then try again."


def content_of(answer: Answer, path: str) -> bytes:
    """The bytes of a file, `-` being standard input; ends the command when it cannot be read."""
    try:
        if path == "-":
            return _standard_input()
        with open(path, "rb") as opened:
            return opened.read()
    except (OSError, ValueError) as fault:  # a name with a NUL is a ValueError
        cause = (fault.strerror if isinstance(fault, OSError) else None) or str(fault)
        unreadable = file_unreadable(log_name(path), cause)
        what = f"{one_line(log_name(path))} cannot be read"
        answer.refuse(complaint_of(what, unreadable), Exit.UNREADABLE)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return sys.stdin.buffer.read()


def document_of(answer: Answer, path: str, content: bytes, kind: str) -> AnyJson:
    """The value of a document's text; ends the command when it is no JSON."""
    made = read_document(content)
    if isinstance(made, Failure):
        refuse_document(answer, path, made.failure(), kind)
    return made.unwrap()


def refuse_document(
    answer: Answer, path: str, fault: Rejection, kind: str, code: Exit | None = None
) -> NoReturn:
    """End with what is wrong with a document."""
    name = log_name(path)
    placed = fault.at(file=name)
    what = f"{one_line(name)} is no sound {kind}: {fault.code.value}"
    if code is None:
        is_newer = fault.data.get("reason") == "unsupported"
        code = Exit.UNSUPPORTED if is_newer else Exit.UNREADABLE
    answer.refuse(complaint_of(what, placed), code)


def see_apart(outputs: Iterable[str], inputs: Iterable[str | None]) -> None:
    """End the command when a file to be written is one that it reads, under whatever name.

    Links and other spellings of a path name the same file. `-` among the inputs is standard
    input, a folder the log in it, None no input at all.
    """
    read = [(name, found) for name in inputs if name is not None for found in _found(name)]
    for output in outputs:
        written = _status(output)
        for name, found in read:
            if written is not None and os.path.samestat(written, found):
                shown = one_line(output, 200)
                alias = "" if name == output else f" (as {one_line(log_name(name), 200)})"
                raise click.UsageError(
                    f"{shown} is read by this command{alias}, so it is not written over: "
                    "choose another name for the output."
                )


def _found(name: str) -> Iterator[os.stat_result]:
    """The file that an input names, if there is one."""
    if name == "-":
        with suppress(OSError, ValueError, AttributeError):  # it may be closed, or no file
            yield os.fstat(sys.stdin.fileno())
        return
    if os.path.isdir(name):
        from dsh_fp.formats.locating import find_log

        held = find_log(name)
        name = name if isinstance(held, Failure) else held.unwrap().path
    found = _status(name)
    if found is not None:
        yield found


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):  # a name with a NUL is a ValueError
        return None


def see_free(
    answer: Answer, paths: Sequence[str], *, reads: Iterable[str | None], force: bool
) -> None:
    """End the command when a file to be written is there already, or read, or can be none."""
    for path in paths:
        if "\0" in path or path in ("", "-"):
            raise click.UsageError("-o needs the path of a file.")
    see_apart(paths, reads)
    for path in paths:
        with suppress(OSError):
            found = os.lstat(path)
            if force and stat.S_ISREG(found.st_mode):
                continue
            why = f"{path} is there already" if not force else f"{path} is no plain file"
            now = "Choose another name." if force else "Choose another name, or say --force."
            answer.refuse(usage_complaint("FILE_EXISTS", one_line(why), now), Exit.USAGE)


def write_file(answer: Answer, path: str, content: bytes, *, force: bool) -> None:
    """Write a file whole or not at all; ends the command when it cannot be.

    Without `force` a name that is taken meanwhile stays with its file.
    """
    write_files(answer, ((path, content),), force=force)


def write_files(answer: Answer, files: Sequence[tuple[str, bytes]], *, force: bool) -> None:
    """Write files, each whole, all or none of them; ends the command when they cannot be.

    They get their names one by one, in this order, once the content of all is on the disk.
    When a name cannot be given, those before are taken back, and what stood there under
    `force` stands there again. Only a crash in between leaves some and not others.
    """
    drafts = [_Draft(path, content) for path, content in files]
    at = drafts[0]
    try:
        try:
            for at in drafts:
                at.write(force=force)
            for at in drafts:
                # The last is never taken back: when it has its name, all have.
                at.publish(force=force, keep=at is not drafts[-1])
        except BaseException as fault:
            stuck = _taken_back(drafts)
            if not isinstance(fault, OSError):
                raise
            _refuse_unwritten(answer, at.path, fault, stuck)
    finally:
        for draft in drafts:
            draft.clean()


class _Draft:
    """A file on its way to its name."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self._content = content
        self._temporary = _name_beside(path)
        self._kept = _name_beside(path)  # what stood there before
        self._is_kept = False
        self._identity: os.stat_result | None = None

    def write(self, *, force: bool) -> None:
        """Put the content on the disk under another name, and see that its own can be had."""
        with suppress(FileNotFoundError):  # another fault says that there can be no such name
            os.lstat(self.path)
            if not force:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        descriptor = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
        with open(descriptor, "wb") as opened:
            opened.write(self._content)
            opened.flush()
            os.fsync(descriptor)
            self._identity = os.fstat(descriptor)

    def publish(self, *, force: bool, keep: bool) -> None:
        """Give the file its name; what has it now is kept aside where it may be needed again."""
        if not force:
            os.link(self._temporary, self.path)
            return
        if keep and os.path.lexists(self.path):
            try:
                os.link(self.path, self._kept)
            except OSError:  # not every file system, nor every owner, allows a second name
                shutil.copy2(self.path, self._kept)
            self._is_kept = True
        os.replace(self._temporary, self.path)

    @property
    def stands(self) -> bool:
        """Whether the file has its name."""
        found, written = _status(self.path), self._identity
        return found is not None and written is not None and os.path.samestat(found, written)

    def take_back(self) -> None:
        """Give the name to what had it before, or to nothing."""
        if self._is_kept:
            os.replace(self._kept, self.path)
        else:
            os.unlink(self.path)

    def clean(self) -> None:
        """Leave no other name behind."""
        for path in (self._temporary, self._kept):
            with suppress(OSError):
                os.unlink(path)


def _name_beside(path: str) -> str:
    """A name that nothing has, in the same folder."""
    folder = os.path.dirname(path) or "."
    return os.path.join(folder, f".{os.getpid()}-{os.urandom(8).hex()}.tmp")


def _taken_back(drafts: Sequence[_Draft]) -> list[str]:
    """Take back the files that have their names, unless all have; those that cannot be."""
    stuck: list[str] = []
    if drafts[-1].stands:
        return stuck
    for draft in drafts:
        if draft.stands:
            try:
                draft.take_back()
            except OSError:
                stuck.append(draft.path)
    return stuck


def _refuse_unwritten(answer: Answer, path: str, fault: OSError, stuck: Sequence[str]) -> NoReturn:
    failed = storage_failed(path, fault.strerror or type(fault).__name__)
    told = complaint_of(f"{one_line(path)} is not written", failed)
    now = _NOW
    if stuck:
        names = ", ".join(one_line(name) for name in stuck)
        now = f"But {names} was written and cannot be taken back: remove it, then try again."
    wire = {**told.wire, "advice": now}
    answer.refuse(attrs.evolve(told, now=now, wire=wire), Exit.UNREADABLE)
