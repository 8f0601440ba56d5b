"""`dsh-fp repair LOG`: what a crash left in a log, shown; with --apply, mended.

The one command that changes a log. It does what resuming does, by the same code, after a
backup; damage that no crash of a writer leaves is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from itertools import count as numbers
from stat import S_IMODE
from typing import Final, NoReturn

import attrs
import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, count, log_argument, open_log
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, exit_of
from dsh_fp.cli.resume_check import (
    Plan,
    file_of,
    lock_of,
    plan_of,
    print_head,
    print_labelled,
    print_plan,
)
from dsh_fp.cli.safe import one_line
from dsh_fp.core.rejection import Code, Rejection, file_unreadable, storage_failed
from dsh_fp.rejected import Rejected
from dsh_fp.storage.files import Files, sync_folder, write_all
from dsh_fp.storage.jsonl import LogFile, event_line, read
from dsh_fp.storage.jsonl_backend import JsonlBackend

_PIECE_BYTES: Final = 1 << 20
_FILES: Final = Files()
# The library's advice is for who has events in memory; here there are none.
_NOW: Final = {
    Code.WRITER_CONFLICT: "Nothing was written: let the session's writer end, then repair again.",
    Code.STORAGE_FAILED: "No whole event is lost: mend the cause, then repair again.",
    Code.LOG_CORRUPT: "No crash of a writer leaves this, so nothing was touched. Events before "
    "the named line are intact; keep a copy.",
}


@click.command("repair")
@log_argument
@click.option("--apply", is_flag=True, help="Change the file, after a backup beside it.")
@common_options
def command(log: str, apply: bool, as_json: bool, color: str) -> int:
    """Cut what a crash left in LOG and close its turn; without --apply, only show it.

    --apply copies the file beside it first (LOG.bak, or LOG.bak-1 and so on), then does what
    resuming does, durably and under the writer's lock, and reads the result again. Damage
    deeper than the tail that a crash leaves is refused, and nothing is touched.
    """
    if log == "-":
        raise click.UsageError("repair needs the path of a file, not standard input.")
    answer = Answer("repair", as_json=as_json, color=color)
    plan = _planned(answer, log)
    if apply and plan.changes:
        return _apply(answer, log)
    code = Exit.FINDING if plan.changes else Exit.HOLDS
    lock = lock_of(log)
    if as_json:
        told = {"applied": False, "lock": lock, "exit_code": int(code)}
        _document(answer, log, plan, None, told)
        return code
    todo = "to be repaired; nothing was changed yet" if plan.changes else "nothing to repair"
    print_head(answer.out, plan, todo)
    print_plan(answer.out, plan, lock, ("cut", "append"))
    if plan.changes:
        print_labelled(answer.out, "now", ["--apply does this, after a backup beside the file"])
    return code


def _planned(answer: Answer, log: str) -> Plan:
    """What is to be done; ends the command for what only looks like a log, or is damaged."""
    if "\0" not in log and os.path.exists(log) and not os.path.isfile(log):
        _refuse(answer, log, file_unreadable(log, "it is no file"))
    opened = open_log(log)
    if isinstance(opened, Rejection):
        _refuse(answer, log, opened)
    return plan_of(opened)


def _apply(answer: Answer, log: str) -> int:
    repair = Repair(file_of(log))
    try:
        done = repair.run()
    except Rejected as refused:
        _refuse(answer, log, refused.rejection, repair.backup)
    if answer.as_json:
        told = {"applied": done.changes, "verified": True, "exit_code": int(Exit.HOLDS)}
        _document(answer, log, done, repair.backup, told)
        return Exit.HOLDS
    print_head(answer.out, done, "repaired" if done.changes else "nothing to repair")
    if repair.backup is not None:
        print_labelled(answer.out, "backup", [one_line(repair.backup)])
    print_plan(answer.out, done, None, ("cut", "appended"))
    result = f"{count(done.next_seq, 'event')} in {count(repair.size, 'byte')}, all good"
    print_labelled(answer.out, "verified", [result])
    return Exit.HOLDS


def _document(
    answer: Answer, log: str, plan: Plan, backup: str | None, told: Mapping[str, object]
) -> None:
    answer.document(file=log, **plan.to_wire(), backup=backup, **told)


def _refuse(answer: Answer, log: str, fault: Rejection, backup: str | None = None) -> NoReturn:
    """End with what keeps the file from being repaired, and say where a copy is."""
    complaint = complaint_of(f"{one_line(log)} is not repaired: {fault.code.value}", fault)
    now = _NOW.get(fault.code, fault.advice)
    if backup is not None:
        now += f" A copy of the file as it was is {backup}."
    wire = {**complaint.wire, "advice": now}
    refusal = attrs.evolve(complaint, now=now, wire=wire)
    answer.refuse(refusal, exit_of(fault), file=log, applied=False, backup=backup)


class Repair:
    """One repair of one file.

    `backup` is the path of the file's copy as soon as there is one, `size` the file's size in
    bytes as it was read after the repair.
    """

    def __init__(self, path: str, files: Files = _FILES) -> None:
        self.path: Final = path
        self.backup: str | None = None
        self.size = 0
        self._files = files
        self._plan: Plan | None = None

    def run(self) -> Plan:
        """Mend the file; what was done.

        Errors:  Rejected: WRITER_CONFLICT, STORAGE_FAILED, or what makes the log unreadable.
        """
        backend = JsonlBackend(os.path.dirname(self.path), files=self._files)
        _, writer = backend.resume_file(self.path, before=self._keep_copy)
        try:
            plan = self._plan
            assert plan is not None, "it was made before anything was changed"
            self._verify(plan)
        finally:
            writer.close()
        return plan

    def _keep_copy(self, log: LogFile) -> None:
        """Under the lock, while the file is as it was found: plan, and copy."""
        self._plan = plan = plan_of(log)
        if not plan.changes:  # another repair was faster
            return
        try:
            if not os.access(self.path, os.W_OK):
                raise PermissionError(0, "it may not be written")
            self.backup = copy_beside(self._files, self.path)
        except OSError as fault:
            cause = fault.strerror or str(fault) or type(fault).__name__
            raise Rejected(storage_failed(self.path, cause)) from fault

    def _verify(self, plan: Plan) -> None:
        """Read the file again: whole, every former event in its former bytes, the closers last."""
        again = read(self.path)
        if isinstance(again, Failure):
            raise Rejected(again.failure())
        log = again.unwrap()
        good = plan.log.good_bytes
        lines = [event_line(event) for event in plan.closers]
        added = [event_line(event) for event in log.session.events[len(plan.log.session) :]]
        size = good + sum(map(len, lines)) + len(lines)
        holds = added == lines and log.good_bytes == log.size == size
        try:
            if holds and self.backup is not None:
                kept = zip(_pieces(self.path, good), _pieces(self.backup, good), strict=True)
                holds = all(now == before for now, before in kept)
        except OSError as fault:
            cause = fault.strerror or str(fault)
            raise Rejected(file_unreadable(self.path, cause)) from fault
        self.size = log.size
        if not holds:
            raise Rejected(storage_failed(self.path, "read again, it is not what was written"))


def copy_beside(files: Files, path: str) -> str:
    """The path of a copy of a file beside it, on the disk, of the same mode, of a new name.

    Errors:  OSError, with no copy left behind.
    """
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, f".{os.getpid()}-{os.urandom(8).hex()}.tmp")
    descriptor = files.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        try:
            for piece in _pieces(path):
                write_all(files, descriptor, piece)
            os.fchmod(descriptor, S_IMODE(os.stat(path).st_mode))
            files.fsync(descriptor)
        finally:
            files.close(descriptor)
        copy = _named(files, temporary, path)
    finally:
        with suppress(OSError):  # a leftover temporary file harms nobody
            files.unlink(temporary)
    sync_folder(files, folder)
    return copy


def _named(files: Files, temporary: str, path: str) -> str:
    """Give a copy the first name that is free; a link never takes one that is not."""
    for name in chain((f"{path}.bak",), (f"{path}.bak-{number}" for number in numbers(1))):
        try:
            files.link(temporary, name)
        except FileExistsError:
            continue
        return name
    raise AssertionError("numbers do not end")


def _pieces(path: str, size: int | None = None) -> Iterator[bytes]:
    """The bytes of a file, or the first so many."""
    rest = os.path.getsize(path) if size is None else size
    with open(path, "rb") as opened:
        while rest > 0 and (piece := opened.read(min(_PIECE_BYTES, rest))):
            rest -= len(piece)
            yield piece
