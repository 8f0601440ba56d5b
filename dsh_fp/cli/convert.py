"""`dsh-fp convert LOG --to GENERATION -o OUT`: a log in a later generation, and proof that it fits.

The proof is made anew each time: what every step of the log sent to the model is told from both
logs and compared.
"""

from __future__ import annotations

import sys
from typing import Final, NoReturn

import attrs
import click
from returns.result import Failure, Result

from dsh_fp.cli.answer import STDIN, Answer, common_options, count, located, log_argument, log_name
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, exit_of, usage_complaint
from dsh_fp.cli.files import see_free, write_file
from dsh_fp.cli.page import Page
from dsh_fp.cli.safe import one_line
from dsh_fp.core.generations import V1, V2, V3, V4
from dsh_fp.core.lossless import AnyJson
from dsh_fp.core.migration.equivalence import RequestDifference
from dsh_fp.core.migration.migrating import Migration, migrated
from dsh_fp.core.migration.v0_to_v1 import V0_WITH_OLDER_NAMES
from dsh_fp.core.rejection import Rejection, file_unreadable
from dsh_fp.core.requests import past_requests
from dsh_fp.formats.names import ZSTD
from dsh_fp.formats.reading import read
from dsh_fp.formats.whole import encode_session
from dsh_fp.storage.jsonl import LogFile

_TARGETS: Final = {one.form.generation: one for one in (V1, V2, V3, V4)}
_SHOWN: Final = 20


@click.command("convert")
@log_argument
@click.option(
    "--to", "target", type=click.Choice(list(_TARGETS)), required=True, help="The generation."
)
@click.option(
    "-o", "--output", metavar="OUT", required=True, help="The new file; compressed for .zstd."
)
@common_options
def command(log: str, target: str, output: str, as_json: bool, color: str) -> int:
    """Write LOG in a later generation to OUT, as the runtimes migrate their logs.

    LOG is never changed, and OUT must be a new name. Every request that LOG sent is compared
    with what OUT says that was sent; the exit code is 1 when one differs, or when the log
    cannot be carried over, and then it says which event is why. Logs of July's cannot be.
    """
    answer = Answer("convert", as_json=as_json, color=color)
    see_free(answer, [output], reads=[log], force=False)
    opened = _opened(answer, log)
    to = _TARGETS[target]
    made = migrated(opened.session, to)
    if isinstance(made, Failure):
        fault = located(opened, made.failure())
        what = f"{one_line(log_name(log))} is not converted: {fault.code.value}"
        answer.refuse(complaint_of(what, fault), Exit.FINDING)
    migration: Migration = made.unwrap()
    content = encode_session(migration.session, compress=output.endswith(ZSTD))
    again = read(content)
    if isinstance(again, Failure) or again.unwrap().session != migration.session:
        _refuse_unreadable(answer, log)
    write_file(answer, output, content, force=False)
    return _told(answer, log, output, opened, migration)


def _opened(answer: Answer, log: str) -> LogFile:
    """The log of this name; its earliest spellings are read too, as the conversion mends them."""
    name = log_name(log)
    made: Result[LogFile, Rejection]
    if log == "-" and sys.stdin is None:
        made = Failure(file_unreadable(STDIN, "standard input is closed"))
    elif log == "-":
        read_log = read(sys.stdin.buffer, vocabulary=V0_WITH_OLDER_NAMES)
        made = read_log.map(lambda opened: attrs.evolve(opened, file=STDIN))
    elif "\0" in log:
        made = Failure(file_unreadable(log, "no path holds a NUL character"))
    else:
        made = read(log, vocabulary=V0_WITH_OLDER_NAMES)
    if isinstance(made, Failure):
        fault = made.failure().at(file=name)
        what = f"{one_line(name)} is refused: {fault.code.value}"
        answer.refuse(complaint_of(what, fault), exit_of(fault))
    return made.unwrap()


def _refuse_unreadable(answer: Answer, log: str) -> NoReturn:
    """End where what was made does not read as it should: nothing of it is written."""
    why = f"{one_line(log_name(log))}, converted, does not read as it should"
    now = "Nothing was written; this log may be worth a report."
    answer.refuse(usage_complaint("NOT_WRITABLE", why, now), Exit.UNREADABLE)


def _told(answer: Answer, log: str, output: str, opened: LogFile, migration: Migration) -> int:
    differ = migration.differences
    code = Exit.FINDING if differ else Exit.HOLDS
    before, after = opened.session, migration.session
    requests = len(past_requests(before))
    came, went = (one.vocabulary.form.generation for one in (before, after))
    if answer.as_json:
        answer.document(
            **{"file": log_name(log), "from": came, "to": went},
            events=len(before),
            events_after=len(after),
            requests=requests,
            differences=[wire_of(one) for one in differ],
            output=output,
            exit_code=int(code),
        )
        return code
    page = Page(answer.out, full=False)
    events = f"{count(len(before), 'event')} of {came} as {len(after):,} of {went}"
    page.line(f"{one_line(log_name(log))}: {events}", "bold")
    page.line(f"  written   {one_line(output)}")
    same = f"{requests:,} of {requests:,} the same" if not differ else f"{len(differ):,} differ"
    page.line(f"  requests  {same}")
    for one in differ[:_SHOWN]:
        place = f"turn {_shown(one.turn)}, step {_shown(one.step)}"
        at = "" if one.seq is None else f", seq {one.seq}"
        page.line(f"  differs   {place}{at}: {one.what}")
    if len(differ) > _SHOWN:
        page.line(f"  ... and {len(differ) - _SHOWN:,} more; --json lists them", "dim")
    answer.mention_torn_tail(opened)
    return code


def wire_of(one: RequestDifference) -> dict[str, AnyJson]:
    """A difference as JSON."""
    return {"seq": one.seq, "turn": one.turn, "step": one.step, "what": one.what}


def _shown(value: AnyJson) -> str:
    return one_line(str(value), 40)
