"""`dsh-fp request LOG --turn T --step S`: one request as it was sent."""

from __future__ import annotations

from typing import Any

import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, count, full_option, located, log_argument
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, usage_complaint
from dsh_fp.cli.header import lines_in, print_prefix_message, print_tools
from dsh_fp.cli.messages import print_messages
from dsh_fp.cli.page import Page, scalar
from dsh_fp.cli.provenance import brought_by
from dsh_fp.cli.safe import json_safe, one_line, padded
from dsh_fp.core.lossless import JsonObject, to_text
from dsh_fp.core.origins import request_origins
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session
from dsh_fp.storage.jsonl import LogFile
from dsh_fp.wire.encodings import Makers, step_encodings
from dsh_fp.wire.exports import Export, export_anthropic, export_openai

_NOT_CONFIG = ("system", "tools", "messages")
_LISTED = 12
_NOTES_SHOWN = 20
OPTIONS_NOT_LOGGED = "$: thinking and reasoning_effort are options of the adapter, in no log"


@click.command("request")
@log_argument
@click.option("--turn", type=int, metavar="T", help="The turn's number.")
@click.option("--step", type=int, metavar="S", help="The step's number within the turn.")
@click.option("--seq", type=int, metavar="SEQ", help="The seq of the step/start, instead.")
@click.option("--text", is_flag=True, help="Print exactly the request's JSON text and a newline.")
@click.option(
    "--as",
    "provider",
    type=click.Choice(["openai", "anthropic", "chat", "messages"]),
    help="openai, anthropic: a body to send again. chat, messages: the body the original program "
    "sent. What has no place there goes to standard error.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --as anthropic: the limit which that API demands.",
)
@full_option
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str,
    turn: int | None,
    step: int | None,
    seq: int | None,
    text: bool,
    provider: str | None,
    max_tokens: int | None,
    full: bool,
    as_json: bool,
    color: str,
) -> int:
    """Print one request as it was sent to the model, rebuilt from the log alone.

    Name the step by --turn and --step as `dsh-fp requests` lists them, or by --seq. With --as
    it is given as a body to send again.
    """
    by_number = turn is not None and step is not None and seq is None
    by_seq = seq is not None and turn is None and step is None
    if not (by_number or by_seq):
        raise click.UsageError("name the step: --turn T --step S, or --seq SEQ alone.")
    if text and as_json:
        raise click.UsageError("--text and --json exclude each other.")
    if provider is not None and text:
        raise click.UsageError("--as and --text exclude each other: --as prints a body exactly.")
    if max_tokens is not None and provider != "anthropic":
        raise click.UsageError("--max-tokens goes with --as anthropic.")
    answer = Answer("request", as_json=as_json, color=color)
    opened = answer.open(log)
    past = find_step(answer, opened, turn, step, seq)
    made = past.request
    known = {
        "session": opened.header.to_wire(),
        "turn": past.turn,
        "step": past.step,
        "seq": past.seq,
    }
    if isinstance(made, Failure):
        fault = located(opened, made.failure())
        name = f"turn {scalar(past.turn)}, step {scalar(past.step)} (seq {past.seq})"
        what = f"the request of {name} is not known: {fault.code.value}"
        answer.refuse(complaint_of(what, fault), Exit.FINDING, **known, request=None)
    request = made.unwrap()
    if provider is not None:
        export = (
            _as_sent(opened.session, past, provider)
            if provider in ("chat", "messages")
            else exported(request, provider, max_tokens)
        )
        _give(answer, known, provider, export, full=full)
        answer.mention_torn_tail(opened)
        return Exit.HOLDS
    before = opened.session.prefix(past.cut)
    if text:
        exact = to_text(request)
        # A terminal gets the same value with nothing in it that it could obey.
        answer.out.exact((json_safe(exact) if answer.out.is_terminal else exact, "\n"))
    elif as_json:
        brought = [one.to_wire() for one in brought_by(before) if one.message is not None]
        prefix = [None] * (len(request["messages"]) - len(brought))
        size = len(to_text(request).encode())
        answer.document(**known, bytes=size, request=request, events=[*prefix, *brought])
    else:
        _print(Page(answer.out, full=full), past, request, before)
        answer.mention_torn_tail(opened)
    return Exit.HOLDS


def exported(request: JsonObject, provider: str, max_tokens: int | None) -> Export:
    """The body of a request for an API, and what has no place in it."""
    if provider == "openai":
        return export_openai(request)
    return export_anthropic(request, max_tokens=max_tokens)


def _as_sent(session: Session, past: PastRequest, route: str) -> Export:
    """The body as an adapter of the log's generation made it."""
    encodings = step_encodings(Makers(session), past, request_origins(session, past))
    made = next((one for one in encodings if one.way.route == route), None)
    if made is None:
        form = session.vocabulary.form
        raise click.UsageError(f"logs of {form.generation} were sent as {form.routes[0]} alone.")
    return Export(made.body({}), (OPTIONS_NOT_LOGGED,) if made.free else ())


def _give(
    answer: Answer, known: dict[str, Any], provider: str, export: Export, *, full: bool
) -> None:
    """Print a body to standard output, and to standard error what it lacks."""
    left_out = export.left_out
    if answer.as_json:
        answer.document(**known, provider=provider, body=export.body, left_out=list(left_out))
        return
    exact = to_text(export.body)
    answer.out.exact((json_safe(exact) if answer.out.is_terminal else exact, "\n"))
    shown = left_out if full else left_out[:_NOTES_SHOWN]
    for note in shown:
        answer.err.line(f"dsh-fp: note: {one_line(note, 400)}")
    if len(shown) < len(left_out):
        more = count(len(left_out) - len(shown), "note")
        answer.err.line(f"dsh-fp: {more} more; --full shows them")


def find_step(
    answer: Answer, opened: LogFile, turn: int | None, step: int | None, seq: int | None
) -> PastRequest:
    """The one step asked for; ends the command when it is not one, and says what there is."""
    steps = past_requests(opened.session)
    asked = one_line(f"seq {seq}" if turn is None else f"turn {turn}, step {step}", 200)
    if turn is None:
        found = [past for past in steps if past.seq == seq]
    else:
        found = [past for past in steps if _is(past.turn, turn) and _is(past.step, step)]
    if len(found) == 1:
        return found[0]
    known = {"session": opened.header.to_wire()}
    if found:
        seqs = ", ".join(str(past.seq) for past in found[:_LISTED])
        now = f"They start at seq {seqs}; choose one with --seq."
        why = f"{len(found)} steps of this log are called {asked}"
        answer.refuse(usage_complaint("SEVERAL_STEPS", why, now), Exit.USAGE, **known)
    why = f"no step of this log is {asked}"
    now = _what_there_is(steps)
    return answer.refuse(usage_complaint("NO_SUCH_STEP", why, now), Exit.USAGE, **known)


def _is(value: object, number: int | None) -> bool:
    return type(value) is int and value == number


def _what_there_is(steps: tuple[PastRequest, ...]) -> str:
    if not steps:
        return "It has no steps at all, so no request was sent."
    last: dict[str, PastRequest] = {}
    for past in steps:
        last[scalar(past.turn, 24)] = past
    named = [f"turn {turn} to step {scalar(past.step, 24)}" for turn, past in last.items()]
    more = f" and {len(named) - _LISTED:,} turns more" if len(named) > _LISTED else ""
    return f"It has {', '.join(named[:_LISTED])}{more}; dsh-fp requests lists them."


def _print(page: Page, past: PastRequest, request: JsonObject, before: Session) -> None:
    name = f"turn {scalar(past.turn)}, step {scalar(past.step)} (seq {past.seq})"
    page.line(f'request of {name} in session "{one_line(before.header.id, 80)}"', "bold")
    page.line()
    for key, value in request.items():
        if key not in _NOT_CONFIG:
            page.wrapped(scalar(value, 400), 13, lead=padded(one_line(key, 40), 11) + "  ")
    if "system" in request:
        page.line()
        page.line(f"system ({count(lines_in(request['system']), 'line')})", "bold")
        page.text(request["system"], 2)
    print_tools(page, request)
    brought = brought_by(before)
    sent = sum(one.message is not None for one in brought)
    prefix = request["messages"][: len(request["messages"]) - sent]
    page.line()
    page.line(count(len(request["messages"]), "message"), "bold")
    for number, message in enumerate(prefix, start=1):
        print_prefix_message(page, number, message)
    print_messages(page, brought, first=len(prefix) + 1)
