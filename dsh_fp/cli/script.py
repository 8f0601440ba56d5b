"""`dsh-fp script LOG`: the log as a script of model calls, one row a call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

import attrs
import click
from returns.result import Failure

from dsh_fp.cli.answer import (
    SCHEMA_VERSION,
    Answer,
    common_options,
    count,
    located,
    log_argument,
    pieces_of_array,
)
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, wire_of
from dsh_fp.cli.page import Page, scalar
from dsh_fp.cli.safe import json_safe, one_line
from dsh_fp.core.call_spans import Purpose
from dsh_fp.core.endings import Ending, parse_endings
from dsh_fp.core.lossless import AnyJson, JsonObject, to_text
from dsh_fp.core.rejection import Rejection, ending_invalid, file_unreadable
from dsh_fp.core.script import Answer as Said
from dsh_fp.core.script import ModelCall, Outcome, script_of
from dsh_fp.storage.jsonl import LogFile

HEAD: Final = (
    "turn",
    "step",
    "seq",
    "purpose",
    "chunks",
    "blocks",
    "input",
    "output",
    "finish",
    "outcome",
)
_LEFT: Final = (3, 8, 9)


@click.command("script")
@log_argument
@click.option(
    "--endings",
    metavar="FILE",
    help="A file saying how calls ended where the log does not.",
)
@click.option("--chunks", is_flag=True, help="Put each call's chunks into the JSON document.")
@click.option("--full", is_flag=True, help="Print each answer below the table, nothing folded.")
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str, endings: str | None, chunks: bool, full: bool, as_json: bool, color: str
) -> int:
    """List the model calls of a log: what was said, and how each call ended.

    That is what a replay gives in place of a model. With --json --chunks the document holds
    all that a stand-in for the model in another language needs. Where an answer cannot be
    told from the log, its row says so and the exit code is 1.
    """
    if chunks and not as_json:
        raise click.UsageError("--chunks goes with --json.")
    answer = Answer("script", as_json=as_json, color=color)
    opened = answer.open(log)
    told = () if endings is None else _endings(answer, opened, endings)
    script = script_of(opened.session, told)
    faults = [
        *script.faults,
        *(ending_invalid(f"no recorded call is {e.name}", e.line_number) for e in script.unused),
    ]
    if faults:
        first = min(faults, key=lambda fault: fault.line_number or 0)
        _refuse(answer, opened, first.at(file=endings))
    rows = [row_of(opened, call) for call in script.calls]
    if as_json:
        answer.out.exact(map(json_safe, _document(opened, rows, chunks=chunks)))
    else:
        _print(Page(answer.out, full=full), opened, rows)
        answer.mention_torn_tail(opened)
    return Exit.HOLDS if all(row.fault is None for row in rows) else Exit.FINDING


def _endings(answer: Answer, opened: LogFile, name: str) -> tuple[Ending, ...]:
    """The endings of a side file; ends the command when it cannot be read."""
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or "no UTF-8 text, or no path"
        _refuse(answer, opened, file_unreadable(name, why))
    parsed = parse_endings(text.split("\n"))
    if isinstance(parsed, Failure):
        _refuse(answer, opened, parsed.failure().at(file=name))
    return parsed.unwrap()


def _refuse(answer: Answer, opened: LogFile, fault: Rejection) -> NoReturn:
    what = f"the endings are refused: {fault.code.value}"
    answer.refuse(complaint_of(what, fault), Exit.UNREADABLE, session=opened.header.to_wire())


@attrs.frozen
class Row:
    """One call, with its answer or why that cannot be told."""

    call: ModelCall
    said: Said | None
    fault: Rejection | None
    chunks: int

    def to_wire(self, *, chunks: bool) -> dict[str, Any]:
        """The row as JSON."""
        call, said = self.call, self.said
        return {
            "turn": call.turn,
            "step": call.step,
            "seq": call.seq,
            "purpose": call.purpose.value,
            "inherited": call.inherited,
            "outcome": call.outcome.value,
            "error": call.error,
            "cut_by": call.cut_by,
            "message_seq": call.message_seq,
            "chunk_count": self.chunks,
            "chunks_recorded": call.chunks_recorded,
            "chunks": call.chunks if chunks else None,
            "agrees": call.agrees,
            "content": None if said is None else said.content,
            "usage": None if said is None else said.usage,
            "finish": None if said is None else said.finish,
            "fault": None if self.fault is None else wire_of(self.fault),
        }

    def cells(self) -> tuple[str, ...]:
        """The row as text, one cell a column of HEAD."""
        call, said = self.call, self.said
        usage = None if said is None else said.usage
        return (
            scalar(call.turn, 24),
            "-" if call.purpose is Purpose.COMPACTION else scalar(call.step, 24),
            str(call.seq),
            call.purpose.value,
            f"{self.chunks:,}" if call.chunks_recorded else "-",
            "-" if said is None else f"{len(said.content):,}",
            _tokens(usage, "inputTokens"),
            _tokens(usage, "outputTokens"),
            _finish(None if said is None else said.finish),
            self.ending(),
        )

    def ending(self) -> str:
        """How the call ended, in words."""
        call = self.call
        if self.fault is not None:
            return one_line(f"{self.fault.code.value}: {self.fault.message}")
        if call.outcome is Outcome.THREW and call.error is not None:
            name, message = call.error.get("name"), call.error.get("message")
            named = f"{scalar(name, 40)}: " if name is not None else ""
            return f"threw {named}{scalar(message, 80)}"
        if call.outcome is Outcome.NEVER_ENDED:
            reason = call.cut_by
            kind = reason.get("kind") if isinstance(reason, JsonObject) else None
            return "never ended" if kind is None else f"never ended: turn {scalar(kind, 24)}"
        changed = ", message not that of its chunks" if call.agrees is False else ""
        return f"answered{changed}"


def row_of(opened: LogFile, call: ModelCall) -> Row:
    """The row of one call."""
    made, size = call.answer, len(call.chunks)
    if isinstance(made, Failure):
        fault = made.failure()
        return Row(call, None, located(opened, fault.at(seq=_seq_of(call, fault))), size)
    return Row(call, made.unwrap(), None, size)


def _seq_of(call: ModelCall, fault: Rejection) -> int:
    """The event at fault: the chunk that is named by its index, else where the call began."""
    if fault.seq is not None:
        return fault.seq
    if fault.index is not None and fault.index < len(call.chunk_seqs):
        return call.chunk_seqs[fault.index]
    return call.seq


def _tokens(usage: AnyJson, key: str) -> str:
    number = usage.get(key) if isinstance(usage, JsonObject) else None
    return "-" if number is None else scalar(number, 16)


def _finish(reason: AnyJson) -> str:
    kind = reason.get("kind") if isinstance(reason, JsonObject) else reason
    return "-" if kind is None else scalar(kind, 24)


def _document(opened: LogFile, rows: list[Row], *, chunks: bool) -> Iterator[str]:
    """The document in pieces: all the chunks of a log are never one string."""
    head = {
        "schema_version": SCHEMA_VERSION,
        "command": "script",
        "session": opened.header.to_wire(),
    }
    yield to_text(head)[:-1] + ',"calls":'
    yield from pieces_of_array(to_text(row.to_wire(chunks=chunks)) for row in rows)
    yield "}\n"


def _print(page: Page, opened: LogFile, rows: list[Row]) -> None:
    name = one_line(opened.header.id, 80)
    page.line(f'session "{name}": {count(len(rows), "model call")}', "bold")
    if not rows:
        return
    page.line()
    page.table(HEAD, [row.cells() for row in rows], left=_LEFT)
    if not page.full:
        return
    for row in rows:
        page.line()
        page.line(one_line(row.call.name), "bold")
        if row.said is not None:
            page.content(row.said.content, 2)
