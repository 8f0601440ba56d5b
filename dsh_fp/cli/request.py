"""`dsh-fp request LOG --turn T --step S`: one request as it was sent."""

from __future__ import annotations

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
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session
from dsh_fp.storage.jsonl import LogFile

_NOT_CONFIG = ("system", "tools", "messages")
_LISTED = 12


@click.command("request")
@log_argument
@click.option("--turn", type=int, metavar="T", help="The turn's number.")
@click.option("--step", type=int, metavar="S", help="The step's number within the turn.")
@click.option("--seq", type=int, metavar="SEQ", help="The seq of the step/start, instead.")
@click.option("--text", is_flag=True, help="Print exactly the request's JSON text and a newline.")
@full_option
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str,
    turn: int | None,
    step: int | None,
    seq: int | None,
    text: bool,
    full: bool,
    as_json: bool,
    color: str,
) -> int:
    """Print one request as it was sent to the model, rebuilt from the log alone.

    Name the step by --turn and --step as `dsh-fp requests` lists them, or by --seq.
    """
    by_number = turn is not None and step is not None and seq is None
    by_seq = seq is not None and turn is None and step is None
    if not (by_number or by_seq):
        raise click.UsageError("name the step: --turn T --step S, or --seq SEQ alone.")
    if text and as_json:
        raise click.UsageError("--text and --json exclude each other.")
    answer = Answer("request", as_json=as_json, color=color)
    opened = answer.open(log)
    past = _find(answer, opened, turn, step, seq)
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
    before = opened.session.prefix(past.seq)
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


def _find(
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
