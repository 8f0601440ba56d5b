"""`dsh-fp digest LOG...`: fingerprints of what a session holds and of every request it sent."""

from __future__ import annotations

from typing import Any, Final

import attrs
import click

from dsh_fp.cli.answer import Answer, common_options, count, log_name, open_log
from dsh_fp.cli.exits import Exit, gravest
from dsh_fp.cli.faults import complaint_of, exit_of, tell, wire_of
from dsh_fp.cli.page import Page, scalar
from dsh_fp.cli.safe import one_line
from dsh_fp.core.content import ContentDigests, content_digests
from dsh_fp.core.digests import RULES
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.storage.jsonl import LogFile

HEAD: Final = ("turn", "step", "seq", "header", "messages", "request", "")
_SHOWN: Final = 16


@attrs.frozen
class Digested:
    """One log with its digests."""

    opened: LogFile
    content: ContentDigests
    requests: tuple[PastRequest, ...]

    def to_wire(self) -> dict[str, Any]:
        """The digests as JSON."""
        return {
            "session": self.opened.header.to_wire(),
            "events": len(self.opened.session),
            "rules": RULES,
            "content": attrs.asdict(self.content),
            "requests": [_row_wire(past) for past in self.requests],
        }


def _row_wire(past: PastRequest) -> dict[str, Any]:
    made = past.digests
    return {
        "turn": past.turn,
        "step": past.step,
        "seq": past.seq,
        "digests": None if made is None else attrs.asdict(made),
        "fault": None if past.fault is None else wire_of(past.fault),
    }


@click.command("digest")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@click.option("--full", is_flag=True, help="Print whole digests.")
@common_options
def command(logs: tuple[str, ...], full: bool, as_json: bool, color: str) -> int:
    """Print fingerprints of each LOG: of its content, and of every request it sent.

    The content is the same in two recordings of the same decisions: times, the session's id
    and the spelling of call ids do not count. Two requests have one digest exactly when their
    texts are the same. `dsh-fp certify` makes a document of them that others can check.
    """
    if logs.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once.")
    answer = Answer("digest", as_json=as_json, color=color)
    exits: list[Exit] = []
    wires: list[dict[str, Any]] = []
    for place, log in enumerate(logs):
        opened = open_log(log)
        name = log_name(log)
        if isinstance(opened, Rejection):
            exits.append(exit_of(opened))
            wires.append({"file": name, "error": wire_of(opened)})
            answer.out.flush()
            tell(
                answer.err,
                complaint_of(f"{one_line(name)} is refused: {opened.code.value}", opened),
            )
            continue
        session = opened.session
        digested = Digested(opened, content_digests(session), past_requests(session))
        known = all(past.digests is not None for past in digested.requests)
        exits.append(Exit.HOLDS if known else Exit.FINDING)
        if as_json:
            wires.append({"file": name, **digested.to_wire()})
            continue
        if place:
            answer.out.line()
        _print(answer, digested, full=full)
        answer.mention_torn_tail(opened)
    code = gravest(exits)
    if as_json:
        fields: dict[str, Any] = {"logs": wires, "exit_code": int(code)}
        if code in (Exit.UNREADABLE, Exit.UNSUPPORTED):
            fields["error"] = wires[exits.index(code)]["error"]
        answer.document(**fields)
    return code


def _print(answer: Answer, digested: Digested, *, full: bool) -> None:
    page = Page(answer.out, full=full)
    session = digested.opened.session
    name = one_line(digested.opened.header.id, 80)
    requests = count(len(digested.requests), "request")
    page.line(f'session "{name}": {count(len(session), "event")}, {requests}', "bold")
    page.line(f"  content  {digested.content.content}")
    page.line(f"  events   {digested.content.events}")
    if digested.requests:
        page.line()
        rows = [_cells(past, None if full else _SHOWN) for past in digested.requests]
        page.table(HEAD, rows, left=(3, 4, 5, 6))


def _cells(past: PastRequest, shown: int | None) -> tuple[str, ...]:
    named = [scalar(value, 24) for value in (past.turn, past.step, past.seq)]
    made = past.digests
    if made is None:
        fault = past.fault
        assert fault is not None  # or there would be digests
        return (*named, "-", "-", "-", one_line(f"{fault.code.value}: {fault.message}"))
    return (*named, made.header[:shown], made.messages[:shown], made.request[:shown], "")
