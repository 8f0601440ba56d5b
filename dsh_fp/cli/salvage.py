"""`dsh-fp salvage LOG --policy NAME`: a sound log out of a damaged one, fully accounted for.

Without a policy nothing is chosen, without --apply or -o nothing is written. In place only
after a backup, under the lock that writers take, and never over a file that changed meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from stat import S_IMODE
from typing import Any, Final, NoReturn

import attrs
import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, count, log_argument
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, exit_of, usage_complaint, wire_of
from dsh_fp.cli.files import content_of, see_free, write_file
from dsh_fp.cli.output import Output
from dsh_fp.cli.repair import copy_beside
from dsh_fp.cli.resume_check import file_of, print_labelled
from dsh_fp.cli.safe import one_line
from dsh_fp.core.rejection import Rejection, storage_failed, writer_conflict
from dsh_fp.formats.checkup import locked_path
from dsh_fp.formats.damage import Diagnosis, diagnose
from dsh_fp.formats.locating import find_log
from dsh_fp.formats.salvaging import (
    Refusal,
    Salvaged,
    Unfit,
    fitting_policies,
    salvage_diagnosed,
)
from dsh_fp.rejected import Rejected
from dsh_fp.storage.files import Files, sync_folder, write_all
from dsh_fp.storage.jsonl_backend import LOCK_SUFFIX

_SHOWN: Final = 20
_FILES: Final = Files()


@click.command("salvage")
@log_argument
@click.option("--policy", metavar="NAME", help="What to keep; without it, what fits is shown.")
@click.option("--apply", is_flag=True, help="Change the file, after a backup beside it.")
@click.option("-o", "output", metavar="OUT", help="Write the sound log to this new file.")
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str, policy: str | None, apply: bool, output: str | None, as_json: bool, color: str
) -> int:
    """Make a sound log of a damaged LOG by a named policy; else only show what could be done.

    A policy keeps a whole branch or a prefix, or takes out bytes that are no events. Branches
    are never mixed, and nothing is added but the closers of an open turn (July). What comes out
    is read again first, and every byte and event of LOG is accounted for.
    """
    if log == "-":
        raise click.UsageError("salvage needs the path of a file, not standard input.")
    if apply and output is not None:
        raise click.UsageError("--apply and -o exclude each other.")
    if policy is None and (apply or output is not None):
        raise click.UsageError("nothing is written without --policy NAME.")
    answer = Answer("salvage", as_json=as_json, color=color)
    path = _path(answer, log)
    if output is not None:
        see_free(answer, [output], reads=[path], force=False)
    content = content_of(answer, path)
    found = diagnose(content, file=path)
    if policy is None:
        return _show_choices(answer, log, found)
    made = salvage_diagnosed(found, policy)
    if isinstance(made, Failure):
        return _refused(answer, log, policy, made.failure())
    salvaged = made.unwrap()
    backup = None
    if output is not None:
        write_file(answer, output, salvaged.content, force=False)
    elif apply:
        backup = _put_in_place(answer, log, file_of(path), content, salvaged)
    is_done = apply or output is not None
    code = Exit.HOLDS if is_done else Exit.FINDING
    if as_json:
        answer.document(
            file=log,
            policy=policy,
            applied=apply,
            output=output,
            backup=backup,
            report=report_of(salvaged),
            exit_code=int(code),
        )
        return code
    _print_report(answer.out, salvaged, backup, output)
    if not is_done:
        print_labelled(answer.out, "now", ["--apply does this, after a backup; -o OUT copies"])
    return code


def _path(answer: Answer, log: str) -> str:
    """The file that is meant: LOG itself, or the log in a session's folder."""
    if "\0" in log or not os.path.isdir(log):
        return log
    found = find_log(log)
    if isinstance(found, Failure):
        fault = found.failure()
        answer.refuse(complaint_of(f"{one_line(log)} is no log", fault), exit_of(fault))
    return found.unwrap().path


def report_of(made: Salvaged) -> dict[str, Any]:
    """The account of a salvage, as JSON."""
    return {
        "size": made.size,
        "new_size": len(made.content),
        "kept_events": made.kept_events,
        "dropped_events": made.dropped_events,
        "dropped_lines": made.dropped_lines,
        "dropped_bytes": made.dropped_bytes,
        "synthetic": [{"seq": one.seq, "type": one.type} for one in made.synthetic],
        "left_open": made.is_left_open,
        "spans": [attrs.asdict(one) for one in made.spans],
        "dropped": [
            {**attrs.asdict(one), "seqs": None if one.seqs is None else list(one.seqs)}
            for one in made.dropped
        ],
    }


def _refused(answer: Answer, log: str, policy: str | None, why: Refusal) -> int:
    """Tell why nothing is salvaged; a sound log is no failure."""
    if why.code is not Unfit.NOTHING_TO_SALVAGE:
        _refuse(answer, log, why)
    if answer.as_json:
        answer.document(file=log, policy=policy, applied=False, exit_code=int(Exit.HOLDS))
    else:
        answer.out.line(f"{one_line(log)}: nothing to salvage: {why.says}", "bold")
    return Exit.HOLDS


def _refuse(answer: Answer, log: str, why: Refusal) -> NoReturn:
    code = Exit.USAGE
    complaint = usage_complaint(why.code.value, why.says, why.advice)
    if why.fault is not None:
        code = exit_of(why.fault)
        told = complaint_of("", why.fault)
        complaint = attrs.evolve(told, wire={**told.wire, "advice": why.advice})
    what = f"{one_line(log)} is not salvaged: {why.code.value}: {one_line(why.says)}"
    answer.refuse(attrs.evolve(complaint, what=what, now=why.advice), code)


def _show_choices(answer: Answer, log: str, found: Diagnosis) -> int:
    """What each policy that fits would keep; nothing is chosen."""
    why = salvage_diagnosed(found, None).failure()
    if why.code is not Unfit.POLICY_NEEDED:
        return _refused(answer, log, None, why)
    fitting = fitting_policies(found)
    if answer.as_json:
        choices = [
            {
                "policy": name,
                "kept_events": one.kept_events,
                "dropped_events": one.dropped_events,
                "dropped_bytes": one.dropped_bytes,
                "synthetic": len(one.synthetic),
            }
            for name, one in fitting.items()
        ]
        refusal = None if found.refusal is None else wire_of(found.refusal)
        answer.document(
            file=log, choices=choices, refusal=refusal, applied=False, exit_code=int(Exit.FINDING)
        )
        return Exit.FINDING
    out = answer.out
    out.line(f"{one_line(log)}: damaged; nothing was changed", "bold")
    for name, one in fitting.items():
        added = f", {count(len(one.synthetic), 'closer')} added" if one.synthetic else ""
        told = f"keeps {count(one.kept_events, 'event')}, drops {one.dropped_events:,}{added}"
        out.line(f"  {name:<14}{told}")
    if not fitting:
        out.line("  no policy gives a sound log; dsh-fp doctor says what is wrong")
    else:
        out.line("  name one with --policy; nothing is chosen for you")
    return Exit.FINDING


def _print_report(out: Output, made: Salvaged, backup: str | None, output: str | None) -> None:
    name = one_line(made.log.header.id, 80)
    done = "salvaged" if backup is not None or output is not None else "to be salvaged"
    out.line(f'session "{name}", policy {one_line(made.policy)}: {done}', "bold")
    if backup is not None:
        print_labelled(out, "backup", [one_line(backup)])
    if output is not None:
        print_labelled(out, "written", [one_line(output)])
    print_labelled(out, "kept", [count(made.kept_events, "event")])
    dropped = [
        f"{_lines_of(one.first_line, one.last_line)}: {count(one.events, 'event')}"
        f"{_seqs_of(one.seqs)} ({one_line(one.why)})"
        for one in made.dropped[:_SHOWN]
    ]
    if len(made.dropped) > _SHOWN:
        dropped.append(f"... and {len(made.dropped) - _SHOWN:,} more; --json lists all")
    print_labelled(out, "dropped", dropped or ["no line"])
    added = [f"seq {one.seq}  {one.type}" for one in made.synthetic]
    print_labelled(out, "added", added or ["nothing"])
    bytes_told = [
        f"{one.start:,} to {one.stop - 1:,}: {one.fate}{_why_of(one.why)}"
        for one in made.spans[:_SHOWN]
    ]
    if len(made.spans) > _SHOWN:
        bytes_told.append(f"... and {len(made.spans) - _SHOWN:,} more; --json lists all")
    print_labelled(out, "bytes", bytes_told)
    if made.is_left_open:
        print_labelled(out, "open", ["the last turn is: the runtime closes it when it resumes"])
    result = f"{count(len(made.log.session), 'event')} in {count(len(made.content), 'byte')}"
    print_labelled(out, "verified", [f"{result}, all good"])


def _why_of(why: str) -> str:
    return f" ({one_line(why)})" if why else ""


def _lines_of(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _seqs_of(seqs: tuple[int, int] | None) -> str:
    if seqs is None:
        return ""
    return f", seq {seqs[0]}" if seqs[0] == seqs[1] else f", seqs {seqs[0]} to {seqs[1]}"


# ---- in place ------------------------------------------------------------------------------------


def _put_in_place(answer: Answer, log: str, path: str, before: bytes, made: Salvaged) -> str:
    """Put the sound log in the place of the damaged one; the path of the backup."""
    backup: str | None = None
    try:
        with _locked(path, made.log.header.id):
            backup = copy_beside(_FILES, path)
            if not _holds(backup, before):
                os.unlink(backup)
                backup = None
                _raise_changed(path, made.log.header.id)
            _replace(path, made.content)
    except OSError as fault:
        cause = fault.strerror or type(fault).__name__
        _refuse_write(answer, log, backup, storage_failed(path, cause))
    except Rejected as refused:
        _refuse_write(answer, log, backup, refused.rejection)
    return backup


def _raise_changed(path: str, session_id: str) -> NoReturn:
    raise Rejected(writer_conflict(session_id, path, "it changed while it was looked at"))


def _holds(path: str, content: bytes) -> bool:
    with open(path, "rb") as opened:
        return opened.read() == content


def _refuse_write(answer: Answer, log: str, backup: str | None, fault: Rejection) -> NoReturn:
    complaint = complaint_of(f"{one_line(log)} is not salvaged: {fault.code.value}", fault)
    wire: Mapping[str, Any] = complaint.wire
    if backup is not None:
        now = f"{complaint.now} A copy of the file as it was is {one_line(backup)}."
        wire = {**wire, "advice": now}
        complaint = attrs.evolve(complaint, now=now, wire=wire)
    answer.refuse(complaint, exit_of(fault), file=log, applied=False, backup=backup)


@contextmanager
def _locked(path: str, session_id: str) -> Generator[None]:
    """The lock that the writers of this log take, for as long as the block runs."""
    descriptor = _FILES.open(locked_path(path) + LOCK_SUFFIX, os.O_RDWR | os.O_CREAT)
    try:
        try:
            _FILES.lock(descriptor)
        except BlockingIOError as fault:
            conflict = writer_conflict(session_id, path, "its lock is held")
            raise Rejected(conflict) from fault
        yield
    finally:
        _FILES.close(descriptor)


def _replace(path: str, content: bytes) -> None:
    """Put content in the place of a file, whole or not at all."""
    if not os.access(path, os.W_OK):
        raise PermissionError(0, "it may not be written")
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, f".{os.getpid()}-{os.urandom(8).hex()}.tmp")
    descriptor = _FILES.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        try:
            write_all(_FILES, descriptor, content)
            os.fchmod(descriptor, S_IMODE(os.stat(path).st_mode))
            _FILES.fsync(descriptor)
        finally:
            _FILES.close(descriptor)
        if not _holds(temporary, content):
            raise Rejected(storage_failed(path, "read again, it is not what was written"))
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            _FILES.unlink(temporary)
    sync_folder(_FILES, folder)
