"""`dsh-fp requests LOG`: every request that was sent to the model, one row a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, count, located, log_argument
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import wire_of
from dsh_fp.cli.header import lines_in
from dsh_fp.cli.page import Page, scalar
from dsh_fp.cli.safe import one_line
from dsh_fp.core.lossless import JsonArray, JsonObject, json_array, json_object, to_text
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session


@attrs.frozen
class Row:
    """One request in numbers; without them when it is not known."""

    past: PastRequest
    model: Any = None
    messages: int | None = None
    system_lines: int | None = None
    tools: int | None = None
    size: int | None = None
    fault: Rejection | None = None

    def to_wire(self) -> dict[str, Any]:
        """The row as JSON."""
        past = self.past
        return {
            "turn": past.turn,
            "step": past.step,
            "seq": past.seq,
            "model": self.model,
            "messages": self.messages,
            "system_lines": self.system_lines,
            "tools": self.tools,
            "bytes": self.size,
            "fault": None if self.fault is None else wire_of(self.fault),
        }

    def cells(self) -> tuple[str, ...]:
        """The row as text, one cell a column of HEAD."""
        past, fault = self.past, self.fault
        named = [scalar(value, 24) for value in (past.turn, past.step, past.seq)]
        if fault is not None:
            return (
                *named,
                "-",
                "-",
                "-",
                "-",
                "-",
                one_line(f"{fault.code.value}: {fault.message}"),
            )
        numbers = (self.messages, self.system_lines, self.tools, self.size)
        return (*named, scalar(self.model, 40), *(f"{number:,}" for number in numbers), "")


HEAD = ("turn", "step", "seq", "model", "messages", "system lines", "tools", "bytes", "")


@click.command("requests")
@log_argument
@common_options
def command(log: str, as_json: bool, color: str) -> int:
    """List every request that was sent to the model, one row a step.

    Each is rebuilt from the log alone. A step whose request is not known is listed with the
    reason, and the exit code is 1 then.
    """
    answer = Answer("requests", as_json=as_json, color=color)
    opened = answer.open(log)
    rows = list(rows_of(opened.session))
    rows = [
        row if row.fault is None else attrs.evolve(row, fault=located(opened, row.fault))
        for row in rows
    ]
    known = sum(row.fault is None for row in rows)
    if as_json:
        wires = [row.to_wire() for row in rows]
        answer.document(session=opened.header.to_wire(), requests=wires)
    else:
        page = Page(answer.out, full=False)
        name = one_line(opened.header.id, 80)
        unknown = f", {len(rows) - known:,} of them not known" if known < len(rows) else ""
        page.line(f'session "{name}": {count(len(rows), "request")}{unknown}', "bold")
        if rows:
            page.line()
            page.table(HEAD, [row.cells() for row in rows], left=(3, 8))
        answer.mention_torn_tail(opened)
    return Exit.HOLDS if known == len(rows) else Exit.FINDING


def rows_of(session: Session) -> Iterator[Row]:
    """A row for every step of a session. The text of a message is measured once."""
    sizes: dict[int, int] = {}
    is_released = session.vocabulary.form.fold_header is not None
    kept: list[Any] = []  # what was measured stays alive, so that no id is given twice
    for past in past_requests(session):
        made = past.request
        if isinstance(made, Failure):
            yield Row(past, fault=made.failure())
            continue
        request = made.unwrap()
        messages: JsonArray = request["messages"]
        for message in messages:
            if id(message) not in sizes:
                kept.append(message)
                sizes[id(message)] = len(to_text(message).encode())
        bare = json_object({**request, "messages": json_array(())})
        commas = max(len(messages) - 1, 0)
        inner = sum(sizes[id(message)] for message in messages) + commas
        yield Row(
            past,
            request.get("model"),
            len(messages),
            lines_in(request.get("system")) + (_system_lines(messages) if is_released else 0),
            _tools_in(request),
            len(to_text(bare).encode()) + inner,
        )


def _system_lines(messages: JsonArray) -> int:
    """The lines of system text among the messages, where later generations have it."""
    blocks = [
        block
        for message in messages
        if message["role"] == "system"
        for block in message["content"]
        if isinstance(block, JsonObject)
    ]
    return sum(lines_in(block.get("text")) for block in blocks)


def _tools_in(request: JsonObject) -> int:
    tools = request.get("tools")
    return len(tools) if isinstance(tools, tuple) else 0
