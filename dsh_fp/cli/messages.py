"""`dsh-fp messages LOG`: what the model sees, and which event brought it there."""

from __future__ import annotations

import click

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
from dsh_fp.cli.page import Page, scalar, seqs_of
from dsh_fp.cli.provenance import Brought, brought_by, first_fault
from dsh_fp.cli.safe import columns, one_line
from dsh_fp.core.rejection import Rejection


@click.command("messages")
@log_argument
@at_option
@full_option
@common_options
def command(log: str, at: int | None, full: bool, as_json: bool, color: str) -> int:
    """Print what the model sees, and which event brought each message there.

    Each message is headed by its number, its role, and the seq and type of its event, with
    the events that one was made from or took the place of.
    """
    answer = Answer("messages", as_json=as_json, color=color)
    opened = answer.open(log)
    session = answer.session_at(opened, at)
    brought = brought_by(session)
    fault = first_fault(brought)
    place = None if fault is None else located(opened, fault)
    made = [one for one in brought if one.message is not None]
    if as_json and fault is None:
        answer.document(
            session=session.header.to_wire(),
            at=last_seq(session),
            messages=[one.message for one in made],
            events=[one.to_wire() for one in made],
        )
    elif not as_json:
        page = Page(answer.out, full=full)
        name, upto = one_line(session.header.id, 80), last_seq(session)
        through = "no events" if upto is None else f"through seq {upto}"
        missing = sum(isinstance(one.message, Rejection) for one in made)
        told = count(len(made) - missing, "message") + (f", {missing:,} missing" if missing else "")
        page.line(f'session "{name}" {through}: {told}', "bold")
        print_messages(page, brought)
        answer.mention_torn_tail(opened)
    if fault is not None:
        answer.refuse(
            complaint_of(f"the messages cannot be derived: {fault.code.value}", place or fault),
            Exit.FINDING,
            session=session.header.to_wire(),
            at=last_seq(session),
        )
    return Exit.HOLDS


def print_messages(page: Page, brought: list[Brought], *, first: int = 1) -> None:
    """The messages of a surface, numbered from `first`, each with the event that brought it."""
    number = first
    for one in brought:
        event = one.event
        origin = f"seq {event.seq} {one_line(event.type, 60)}"
        message = one.message
        page.line()
        if message is None:
            page.line(f"   -  {origin}: empty, makes no message", "dim")
        elif isinstance(message, Rejection):
            mark = page.out.paint(message.code.value, "bad")
            page.line(f"   !  {origin}: {mark} {one_line(message.message)}")
            page.value(event.data, 6)
        else:
            role = scalar(message["role"])
            lead = f"{number:>4}  {page.out.paint(role, 'speaker')}  "
            page.wrapped(_origin(one, origin), 6 + columns(role) + 2, "dim", lead=lead)
            page.content(message["content"], 6)
            number += 1


def _origin(one: Brought, origin: str) -> str:
    parts = [f"{origin} from {one.sender}" if one.sender else origin]
    sources = one.event.source_event_seqs
    if one.replaces is not None:
        parts.append(f"replaces seq {seqs_of(one.replaces)}")
        sources = tuple(seq for seq in sources or () if seq not in one.replaces)
    if sources:
        parts.append(f"made from seq {seqs_of(sources)}")
    return "; ".join(parts)
