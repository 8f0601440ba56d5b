"""`dsh-fp diff LOG T.S T.S` and `dsh-fp diff LOG_A LOG_B`: what changed, and which event did it."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs
import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, count, full_option, located
from dsh_fp.cli.differing import (
    difference_text,
    event_text,
    print_requests,
    wire_of_difference,
    wire_of_event,
    wire_of_requests,
)
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of
from dsh_fp.cli.page import Page, scalar
from dsh_fp.cli.request import find_step
from dsh_fp.cli.safe import one_line
from dsh_fp.core.changes import RequestDifference
from dsh_fp.core.differences import diff_requests
from dsh_fp.core.origins import SessionOrigins
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session_differences import (
    EventDifference,
    RequestPair,
    SessionDifference,
    calls_numbered,
    diff_sessions,
)
from dsh_fp.storage.jsonl import LogFile

_STEP: Final = re.compile(r"([0-9]{1,15})\.([0-9]{1,15})|@([0-9]{1,15})", re.ASCII)
_STEP_HELP: Final = "T.S, a turn and a step as `dsh-fp requests` lists them, or @SEQ"
_PAIRS_SHOWN: Final = 12


@click.command("diff")
@click.argument("log", metavar="LOG")
@click.argument("others", metavar="(STEP STEP | LOG)", nargs=-1, required=True)
@click.option("--request", "step", metavar="STEP", help="Of two logs, compare this request only.")
@click.option(
    "--ignore-call-ids", is_flag=True, help="Of two logs, take call ids by their order alone."
)
@full_option
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str,
    others: tuple[str, ...],
    step: str | None,
    ignore_call_ids: bool,
    full: bool,
    as_json: bool,
    color: str,
) -> int:
    """Compare two requests of one log, or two logs.

    STEP is T.S, a turn and a step as `dsh-fp requests` lists them, or @SEQ, the seq of a
    step/start. Each change names the event behind it. Exit code 0: equal, 1: different.
    """
    answer = Answer("diff", as_json=as_json, color=color)
    if len(others) == 2:  # noqa: PLR2004  # the two steps
        if step is not None or ignore_call_ids:
            raise click.UsageError("--request and --ignore-call-ids are for two logs.")
        if not _STEP.fullmatch(others[0]) and _STEP.fullmatch(others[1]):
            how = f"say diff A B --request {others[1]}"
            raise click.UsageError(f"two logs and a step: {how}.")
        steps = [_parsed(each) for each in others]
        opened = answer.open(log)
        pasts = [find_step(answer, opened, *each) for each in steps]
        found = _Found(answer, (opened, opened), pasts)
        return found.answer_requests(full=full)
    if len(others) != 1:
        raise click.UsageError("name two steps of one log, or one other log.")
    wanted = None if step is None else _parsed(step)
    if log == "-" and others[0] == "-":
        raise click.UsageError("only one of the two logs can be standard input.")
    both = (answer.open(log), answer.open(others[0]))
    if ignore_call_ids:
        both = (_calls_numbered(both[0]), _calls_numbered(both[1]))
    if wanted is not None:
        pasts = [find_step(answer, opened, *wanted) for opened in both]
        return _Found(answer, both, pasts).answer_requests(full=full)
    return _answer_sessions(answer, both, full=full, named=not ignore_call_ids)


def _calls_numbered(opened: LogFile) -> LogFile:
    return attrs.evolve(opened, session=calls_numbered(opened.session))


def _parsed(step: str) -> tuple[int | None, int | None, int | None]:
    """Turn, step and seq of a step as it is named on the command line."""
    match = _STEP.fullmatch(step)
    if match is None:
        raise click.UsageError(f"{one_line(step, 80)} names no step; write {_STEP_HELP}.")
    turn, number, seq = (None if part is None else int(part) for part in match.groups())
    return turn, number, seq


class _Found:
    """Two requests that were asked for by name."""

    def __init__(
        self, answer: Answer, logs: tuple[LogFile, LogFile], pasts: list[PastRequest]
    ) -> None:
        self.answer = answer
        self.logs = logs
        self.pasts = pasts

    def answer_requests(self, *, full: bool) -> int:
        """The difference between the two, printed; the exit code."""
        answer, (old_log, new_log), (old, new) = self.answer, self.logs, self.pasts
        known: dict[str, Any] = {
            "old": side_of(old_log, old),
            "new": side_of(new_log, new),
        }
        for opened, past in zip(self.logs, self.pasts, strict=True):
            made = past.request
            if isinstance(made, Failure):
                fault = located(opened, made.failure())
                what = f"the request of {step_text(past)} is not known: {fault.code.value}"
                answer.refuse(complaint_of(what, fault), Exit.FINDING, **known, request=None)
        ours = SessionOrigins(old_log.session)
        theirs = ours if old_log is new_log else SessionOrigins(new_log.session)
        found = diff_requests(ours.of(old), theirs.of(new)).unwrap()
        if answer.as_json:
            answer.document(**known, request=wire_of_requests(found))
        else:
            page = Page(answer.out, full=full)
            _print_pair(page, self.logs, old, new, found)
            for opened in dict.fromkeys(self.logs):
                answer.mention_torn_tail(opened)
        return Exit.HOLDS if found.equal else Exit.FINDING


def side_of(opened: LogFile, past: PastRequest) -> dict[str, Any]:
    """One of two requests, for a program."""
    return {
        "session": opened.header.to_wire(),
        "turn": past.turn,
        "step": past.step,
        "seq": past.seq,
    }


def step_text(past: PastRequest) -> str:
    """A request in words."""
    return f"turn {scalar(past.turn, 24)}, step {scalar(past.step, 24)} (seq {past.seq})"


def _print_pair(
    page: Page,
    logs: tuple[LogFile, LogFile],
    old: PastRequest,
    new: PastRequest,
    found: RequestDifference,
    *,
    more: bool = False,
) -> None:
    for sign, opened, past in (("---", logs[0], old), ("+++", logs[1], new)):
        name = one_line(opened.header.id, 80)
        page.line(f'{sign} {step_text(past)} of session "{name}"', "bold")
    print_requests(page, found, old.request.unwrap(), new.request.unwrap(), more=more)


def _answer_sessions(
    answer: Answer, logs: tuple[LogFile, LogFile], *, full: bool, named: bool
) -> int:
    """The difference between two logs; `named` tells that call ids are what they were."""
    found = diff_sessions(logs[0].session, logs[1].session)
    if answer.as_json:
        answer.document(
            old=logs[0].header.to_wire(),
            new=logs[1].header.to_wire(),
            equal=found.equal,
            content_equal=found.content_equal,
            first_event=None if found.first_event is None else _wire_of(found.first_event),
            requests={
                "equal": found.equal_pairs,
                "different": found.different_pairs,
                "unknown": found.unknown_pairs,
                "only_old": found.only_old,
                "only_new": found.only_new,
                "pairs": [_wire_of_pair(pair) for pair in found.pairs],
            },
            first_pair=None if found.first_pair is None else _wire_of_pair(found.first_pair),
            first_request=(
                None if found.first_request is None else wire_of_requests(found.first_request)
            ),
        )
    else:
        _print_sessions(Page(answer.out, full=full), logs, found, named=named)
        for opened in logs:
            answer.mention_torn_tail(opened)
    return Exit.HOLDS if found.equal else Exit.FINDING


def _wire_of(found: EventDifference) -> dict[str, Any]:
    return {
        "place": found.place,
        "old": wire_of_event(found.old),
        "new": wire_of_event(found.new),
        "first": wire_of_difference(found.first),
    }


def _wire_of_pair(pair: RequestPair) -> dict[str, Any]:
    sides = {
        name: None if past is None else {"turn": past.turn, "step": past.step, "seq": past.seq}
        for name, past in (("old", pair.old), ("new", pair.new))
    }
    return {**sides, "equal": pair.equal}


def _same_but_for_call_ids(
    logs: tuple[LogFile, LogFile], found: SessionDifference
) -> set[tuple[int, int]]:
    """The pairs of requests, by the seqs of their steps, that differ in call ids alone."""
    ours, theirs = (past_requests(calls_numbered(opened.session)) for opened in logs)
    same = {
        (old.seq, new.seq)
        for old, new in zip(ours, theirs, strict=False)
        if old.digests is not None and old.digests == new.digests
    }
    first, difference = found.first_pair, found.first_request
    if first is not None and difference is not None and difference.only_call_ids:
        assert first.old is not None  # or it would not be compared
        assert first.new is not None
        # Within one request the ids may pair up, though earlier ones of the log do not.
        same.add((first.old.seq, first.new.seq))
    return same


def _print_sessions(
    page: Page, logs: tuple[LogFile, LogFile], found: SessionDifference, *, named: bool
) -> None:
    for sign, opened in zip(("---", "+++"), logs, strict=True):
        name = one_line(opened.header.id, 80)
        events = count(len(opened.session), "event")
        page.line(f'{sign} session "{name}", {events}, {one_line(opened.file or "-", 200)}', "bold")
    if found.first_event is None:
        page.line("content: the same", "good")
    else:
        page.wrapped(f"content: {_event_text(found.first_event)}", 0)
    page.wrapped(f"requests: {_counts_text(found)}", 0)
    different = [pair for pair in found.pairs if pair.equal is False]
    shown = different if page.full else different[:_PAIRS_SHOWN]
    same = _same_but_for_call_ids(logs, found) if named and shown else set()
    for pair in shown:
        assert pair.old is not None  # or it would not be compared
        assert pair.new is not None
        both = dict.fromkeys((step_text(pair.old), step_text(pair.new)))
        only = ", only call ids" if (pair.old.seq, pair.new.seq) in same else ""
        page.line(f"  differs: {' and '.join(both)}{only}", "dim")
    if len(shown) < len(different):
        page.line(f"  ... and {len(different) - len(shown):,} more; --full shows them", "dim")
    first, difference = found.first_pair, found.first_request
    if first is None or difference is None or first.old is None or first.new is None:
        return
    page.line()
    _print_pair(page, logs, first.old, first.new, difference, more=named)


def _event_text(found: EventDifference) -> str:
    old, new = event_text(found.old), event_text(found.new)
    if found.old is None:
        return f"the old one ends, the new one goes on with {new}"
    if found.new is None:
        return f"the new one ends, the old one goes on with {old}"
    first = found.first
    by_type = first is None or first.steps == ("type",)  # which the names tell
    where = "" if first is None or by_type else f", at {difference_text(first)}"
    if found.old == found.new:
        return f"first at {old} of both{where}"
    if found.old.seq != found.new.seq:
        return f"first at {old} in the old log, {new} in the new one{where}"
    seq = found.old.seq
    ours, theirs = (each.removeprefix(f"event {seq}").strip() for each in (old, new))
    return f"first at event {seq}, which is {ours} in the old log, {theirs} in the new one{where}"


def _counts_text(found: SessionDifference) -> str:
    counts = [
        (found.equal_pairs, "equal"),
        (found.different_pairs, "different"),
        (found.unknown_pairs, "not known"),
        (found.only_old, "in the old one only"),
        (found.only_new, "in the new one only"),
    ]
    return ", ".join(f"{number:,} {what}" for number, what in counts if number) or "none"
