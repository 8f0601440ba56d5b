"""`dsh-fp header LOG`: the request header in force, and which event put it there."""

from __future__ import annotations

from typing import Any, Final

import click
from returns.result import Failure

from dsh_fp.cli.answer import (
    Answer,
    at_option,
    common_options,
    count,
    full_option,
    last_seq,
    located,
    log_argument,
)
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of
from dsh_fp.cli.page import Page, scalar, time_of
from dsh_fp.cli.provenance import HeaderOrigin, header_origin
from dsh_fp.cli.safe import columns, one_line, padded
from dsh_fp.core.events import Event
from dsh_fp.core.lossless import JsonObject

_NARROW: Final = 11
_WIDE: Final = 20


@click.command("header")
@log_argument
@at_option
@full_option
@common_options
def command(log: str, at: int | None, full: bool, as_json: bool, color: str) -> int:
    """Print the request header in force, and since when it is.

    That is the model and its options, the system text, the tools, and the messages that
    every request begins with.
    """
    answer = Answer("header", as_json=as_json, color=color)
    opened = answer.open(log)
    session = answer.session_at(opened, at)
    origin = header_origin(session)
    found = session.request_header()
    known: dict[str, Any] = {
        "session": session.header.to_wire(),
        "at": last_seq(session),
        "set_by": None if origin is None else _named(origin.set_by),
        "snapshot": None if origin is None or origin.snapshot is None else _named(origin.snapshot),
    }
    if isinstance(found, Failure):
        fault = located(opened, found.failure())
        what = f"the request header is not known: {fault.code.value}"
        answer.refuse(complaint_of(what, fault), Exit.FINDING, **known)
    header = found.unwrap()
    if as_json:
        answer.document(**known, header=header)
        return Exit.HOLDS
    page = Page(answer.out, full=full)
    upto = last_seq(session)
    through = "without events" if upto is None else f"through seq {upto}"
    title = f'request header of session "{one_line(session.header.id, 80)}" {through}'
    page.line(title, "bold")
    if header is None or origin is None:
        page.line("none was logged yet")
    else:
        _print_origin(page, origin)
        page.line()
        print_header(page, header)
    answer.mention_torn_tail(opened)
    return Exit.HOLDS


def print_header(page: Page, header: JsonObject) -> None:
    """Config, system, tools and message prefix of a header, as far as it has them."""
    config = header.get("config")
    options = config if isinstance(config, dict) else {}
    width = min(max([_NARROW, *map(columns, options)]), _WIDE)
    for key, value in options.items():
        lead = padded(one_line(key, 40), width) + "  "
        page.wrapped(scalar(value, 400), width + 2, lead=lead)
    if "system" in header:
        system = header["system"]
        page.line()
        page.line(f"system ({count(lines_in(system), 'line')})", "bold")
        page.text(system, 2)
    print_tools(page, header)
    if "messagePrefix" in header:
        prefix = header["messagePrefix"]
        page.line()
        page.line(f"every request begins with {count(len(prefix), 'message')}", "bold")
        for number, message in enumerate(prefix, start=1):
            print_prefix_message(page, number, message)


def print_tools(page: Page, header: JsonObject) -> None:
    """The tools of a header or a request, by name and description."""
    tools = header.get("tools")
    if not isinstance(tools, tuple):
        return
    page.line()
    page.line(count(len(tools), "tool"), "bold")
    for tool in tools:
        fields = tool if isinstance(tool, dict) else {}
        page.line("  " + page.out.paint(scalar(fields.get("name")), "mark"))
        description = fields.get("description")
        if description is not None:
            page.text(description if isinstance(description, str) else scalar(description), 4)
        if page.full:
            more = {k: v for k, v in fields.items() if k not in ("name", "description")}
            page.value(more, 4)


def print_prefix_message(page: Page, number: int, message: object) -> None:
    """A message that the header puts before those of the log."""
    page.line()
    if isinstance(message, dict):
        role = page.out.paint(scalar(message.get("role")), "speaker")
        page.line(f"{number:>4}  {role}  {page.out.paint('from the request header', 'dim')}")
        page.content(message.get("content"), 6)
    else:
        page.line(f"{number:>4}  {page.out.paint('from the request header', 'dim')}")
        page.value(message, 6)


def lines_in(system: object) -> int:
    """How many lines a system text has."""
    return system.count("\n") + 1 if isinstance(system, str) and system else 0


def _named(event: Event) -> dict[str, Any]:
    return {"seq": event.seq, "type": event.type, "time": event.time}


def _print_origin(page: Page, origin: HeaderOrigin) -> None:
    event = origin.set_by
    page.line(f"in force since seq {event.seq} ({event.type}, {time_of(event.time)})")
    base = origin.snapshot
    if base is not None and base is not event:
        page.line(f"a change to the one of seq {base.seq} ({base.type}, {time_of(base.time)})")
