"""The small files beside logs: certificates, proofs, signatures, keys, in one piece."""

from __future__ import annotations

import os
import stat
import sys
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


def see_free(answer: Answer, paths: list[str], *, force: bool) -> None:
    """End the command when a file to be written is there already, or can be none."""
    for path in paths:
        if "\0" in path or path in ("", "-"):
            raise click.UsageError("-o needs the path of a file.")
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
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, f".{os.getpid()}-{os.urandom(8).hex()}.tmp")
    try:
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
            with open(descriptor, "wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(descriptor)
            if force:
                os.replace(temporary, path)
            else:
                os.link(temporary, path)
        finally:
            with suppress(OSError):
                os.unlink(temporary)
    except OSError as fault:
        failed = storage_failed(path, fault.strerror or type(fault).__name__)
        told = complaint_of(f"{one_line(path)} is not written", failed)
        wire = {**told.wire, "advice": _NOW}
        answer.refuse(attrs.evolve(told, now=_NOW, wire=wire), Exit.UNREADABLE)
