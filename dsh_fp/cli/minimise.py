"""`dsh-fp minimise LOG -- COMMAND...`: the least log for which a program still fails.

The program judges a candidate as it judges a prefix for `bisect`: by its exit code, given the
path of a temporary file.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn

import click

from dsh_fp.cli.answer import Answer, common_options, count, log_argument
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import Complaint, usage_complaint
from dsh_fp.cli.files import see_apart, write_file
from dsh_fp.cli.judging import Judge, line_of
from dsh_fp.cli.safe import one_line
from dsh_fp.core.bisecting import Verdict
from dsh_fp.core.session import Session
from dsh_fp.storage.jsonl import LogFile, encode_header
from dsh_fp.testing.minimising import MAX_CALLS, Asked, Minimiser, NotHolding, removed_types

_SHOWN: Final = 8


@click.command("minimise")
@log_argument
@click.argument("program", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("-o", "--output", metavar="FILE", help="Write the least log here, to a new file.")
@click.option("--scrub", is_flag=True, help="Replace strangers' texts by placeholders too.")
@click.option(
    "--max-calls",
    type=click.IntRange(min=1),
    default=MAX_CALLS,
    show_default=True,
    help="Run COMMAND no more often than this.",
)
@common_options
def command(
    *,
    log: str,
    program: tuple[str, ...],
    output: str | None,
    scrub: bool,
    max_calls: int,
    as_json: bool,
    color: str,
) -> int:
    """Make a log as small as it can be while a command still fails.

    COMMAND is run as for bisect, with the path of a file that holds a candidate: in the place of
    each {} in its arguments, or behind them. It exits with 0 for a log that is good, 125 for one
    that it cannot judge, any other code up to 127 for one that shows the failure; 128 and above
    ends the search. Each candidate is an accepted log whose turns, steps and references are sound.

    No shell is involved unless COMMAND is one. With sh -c write {} in the script, or
    "$DSH_FP_LOG"; "$1" needs one more word behind it. What must a log have to hold a word?

        dsh-fp minimise LOG -o SMALL -- sh -c '! grep -q roquette {}'

    The log goes to standard output, or to the FILE of -o, which must not be there yet. Exit
    codes: 0 it was found, or the least one within --max-calls, 1 the whole log does not fail,
    2 COMMAND gave up or could not be started, FILE is there, or usage, 3 unreadable.
    """
    answer = Answer("minimise", as_json=as_json, color=color)
    if output is not None:
        see_apart([output], [log, *program])
    opened = answer.open(log)
    answer.mention_torn_tail(opened)
    run = _Run(answer, opened, program, output)
    run.see_free()
    return run.tell(run.search(max_calls, scrub=scrub), log)


class _Run:
    """One search and how it ends."""

    def __init__(
        self, answer: Answer, opened: LogFile, program: Sequence[str], output: str | None
    ) -> None:
        self._answer = answer
        self._opened = opened
        self._output = output
        self._judge = Judge(answer, program, opened.header.id, self._refuse)
        self._minded = 0  # how many candidates were not to be judged

    def see_free(self) -> None:
        """End the command when the file to be written is there, before anything is run."""
        path = self._output
        if path is None:
            return
        if "\0" in path or path in ("", "-"):
            raise click.UsageError("-o needs the path of a file.")
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise click.UsageError(f"-o: there is no folder {folder}")
        if os.path.lexists(path):
            why = one_line(f"{path} is there already", 200)
            self._refuse(usage_complaint("FILE_EXISTS", why, "Choose another name."), Exit.USAGE)

    def search(self, max_calls: int, *, scrub: bool) -> Minimiser:
        """The search at its end."""
        session = self._opened.session
        search = Minimiser(session, self._fails, max_calls=max_calls, heard=self._mention)
        try:
            search.run(scrub=scrub)
        except NotHolding:
            said = "not to be judged" if self._minded else "good"
            why = f"the whole log is {said}, so there is no failure to keep"
            now = "COMMAND must fail for the whole log (exit 1 to 127, but not 125)."
            self._refuse(usage_complaint("NOTHING_FAILS", why, now), Exit.FINDING)
        return search

    def tell(self, search: Minimiser, log: str) -> int:
        """Write the log and say what was left out; the exit code."""
        before, after = self._opened.session, search.best
        lines = [line + b"\n" for line in _lines_of(after)]
        removed = removed_types(before, after)
        if self._output is not None:
            write_file(self._answer, self._output, b"".join(lines), force=False)
        if self._answer.as_json:
            wire = None if self._output is not None else b"".join(lines).decode()
            self._answer.document(
                **self._known,
                calls=search.calls,
                is_minimal=search.is_complete,
                left={"events": len(after), "bytes": sum(map(len, lines))},
                removed=removed,
                output=self._output,
                log=wire,
                exit_code=int(Exit.HOLDS),
            )
            return Exit.HOLDS
        if self._output is None:
            self._answer.out.exact(line.decode() for line in lines)
            self._answer.out.flush()
        told = self._answer.out if self._output is not None else self._answer.err
        name = one_line(self._opened.header.id, 80)
        sizes = f"{count(len(before), 'event')} to {len(after):,}"
        told.line(f'session "{name}": from {sizes} in {count(search.calls, "run")}', "bold")
        if removed:
            parts = [f"{number:,} {one_line(kind, 60)}" for kind, number in removed.items()]
            more = len(parts) - _SHOWN
            parts = [*parts[:_SHOWN], f"and events of {more} more types"] if more > 0 else parts
            told.line(f"  removed   {', '.join(parts)}")
        if not search.is_complete:
            told.line("  limit     COMMAND was run as often as --max-calls allows; more could go")
        if self._output is not None:
            path = one_line(shlex.quote(self._output))
            told.line(f"  look      dsh-fp show {path}")
        return Exit.HOLDS

    @property
    def _known(self) -> dict[str, Any]:
        return {
            "session": self._opened.header.to_wire(),
            "events": len(self._opened.session),
        }

    def _refuse(self, complaint: Complaint, code: Exit) -> NoReturn:
        self._answer.refuse(complaint, code, **self._known)

    def _fails(self, session: Session) -> bool:
        told = {"DSH_FP_LENGTH": str(len(session))}
        what = f"a log of {count(len(session), 'event')}"
        verdict, _ = self._judge.judge(_lines_of(session), what=what, told=told)
        self._minded += verdict is Verdict.SKIP
        return verdict is Verdict.BAD

    def _mention(self, asked: Asked) -> None:
        """Tell a person how far the search is; what stays as it is only on a terminal."""
        err = self._answer.err
        if asked.holds:
            err.line(f"run {asked.number}: {count(asked.events, 'event')} still fail")
        elif err.is_terminal:
            err.line(f"run {asked.number}: not without these {asked.trying}", "dim")


def _lines_of(session: Session) -> Iterator[bytes]:
    yield encode_header(session.header).encode()
    yield from map(line_of, session.events)
