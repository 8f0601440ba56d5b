"""What the commands share: their options, how a log is opened, how an answer is given."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeVar

import attrs
import click
from returns.result import Failure

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import Complaint, complaint_of, exit_of, tell, usage_complaint
from dsh_fp.cli.output import Messages, Output
from dsh_fp.cli.safe import json_safe, one_line
from dsh_fp.core.lossless import text_of
from dsh_fp.core.rejection import Rejection, file_unreadable
from dsh_fp.core.session import Session
from dsh_fp.formats.reading import read
from dsh_fp.storage.jsonl import LogFile

SCHEMA_VERSION: Final = 1
STDIN: Final = "<stdin>"

F = TypeVar("F", bound=Callable[..., Any])


def common_options(command: F) -> F:
    """`--json` and `--color`, which every command takes."""
    command = click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="When to colour; auto: on a terminal, unless NO_COLOR is set.",
    )(command)
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document instead of text."
    )(command)


def log_argument(command: F) -> F:
    """The one log a command is about."""
    return click.argument("log", metavar="LOG")(command)


def at_option(command: F) -> F:
    """`--at SEQ`: the session as it was through that event."""
    return click.option(
        "--at", type=int, metavar="SEQ", help="The session through the event with this seq."
    )(command)


def full_option(command: F) -> F:
    """`--full`: nothing is folded."""
    return click.option("--full", is_flag=True, help="Fold nothing, however long it is.")(command)


def print_document(out: Output, command: str | None, fields: Mapping[str, Any]) -> None:
    """Write the one JSON document of an answer."""
    whole = {"schema_version": SCHEMA_VERSION, "command": command, **fields}
    out.exact((json_safe(text_of(whole)), "\n"))


class Answer:
    """One command's answer: data to standard output, what is to be told to standard error."""

    def __init__(self, command: str, *, as_json: bool, color: str) -> None:
        self.command = command
        self.as_json = as_json
        self.out = Output("stdout", color)
        self.err = Messages(color)

    def document(self, **fields: object) -> None:
        """The answer as JSON."""
        print_document(self.out, self.command, fields)

    def refuse(self, complaint: Complaint, code: Exit, **fields: object) -> NoReturn:
        """End with a complaint, which is the document's `error` for a program."""
        self.out.flush()
        tell(self.err, complaint)
        if self.as_json:
            self.document(**fields, error=complaint.wire)
        raise click.exceptions.Exit(code)

    def open(self, log: str) -> LogFile:
        """The log of this name; ends the command when it is refused."""
        opened = open_log(log)
        if isinstance(opened, Rejection):
            what = f"{one_line(log_name(log))} is refused: {opened.code.value}"
            self.refuse(complaint_of(what, opened), exit_of(opened))
        return opened

    def session_at(self, opened: LogFile, at: int | None) -> Session:
        """The session through an event; ends the command when there is no such event."""
        session = opened.session
        if at is None:
            return session
        if not 0 <= at < len(session):
            why = f"there is no event with seq {at}"
            last = len(session) - 1
            now = f"This log has seqs 0 to {last}." if len(session) else "This log has no events."
            asked = usage_complaint("NO_SUCH_SEQ", one_line(why, 200), now, events=len(session))
            self.refuse(asked, Exit.USAGE, session=session.header.to_wire())
        return session.prefix(at + 1)

    def mention_torn_tail(self, opened: LogFile) -> None:
        """Tell a person that the file holds more than the answer is about."""
        if opened.good_bytes < opened.size and not self.as_json:
            rest = opened.size - opened.good_bytes
            self.out.flush()
            self.err.line(
                f"dsh-fp: note: the last {count(rest, 'byte')} of the file are a torn tail "
                "and left out; see dsh-fp verify",
                "dim",
            )


def log_name(log: str) -> str:
    """What a log is called in answers."""
    return STDIN if log == "-" else log


def open_log(log: str) -> LogFile | Rejection:
    """The log at a path or on standard input, or why it is refused."""
    if log == "-":
        if sys.stdin is None:
            return file_unreadable(STDIN, "standard input is closed")
        made = read(sys.stdin.buffer).map(lambda opened: attrs.evolve(opened, file=STDIN))
    elif "\0" in log:
        return file_unreadable(log, "no path holds a NUL character")
    else:
        made = read(log)
    return made.failure().at(file=log_name(log)) if isinstance(made, Failure) else made.unwrap()


def located(opened: LogFile, fault: Rejection) -> Rejection:
    """A fault of one event with the place of that event in the file."""
    if fault.seq is None:
        return fault.at(file=opened.file)
    return opened.placed(fault).at(file=opened.file)


def last_seq(session: Session) -> int | None:
    """The seq of the last event; None when there is none."""
    return len(session) - 1 if len(session) else None


def count(number: int, thing: str) -> str:
    """A number and its thing, in the plural where it is not one."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def pieces_of_array(texts: Iterator[str]) -> Iterator[str]:
    """The JSON text of an array, given that of each of its members."""
    separator = "["
    for text in texts:
        yield separator + text
        separator = ","
    yield "[]" if separator == "[" else "]"
