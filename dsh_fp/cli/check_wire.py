"""`dsh-fp check-wire LOG CAPTURE`: captured request bodies against what the logs say was sent."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, Final

import attrs
import click

from dsh_fp.cli.answer import STDIN, Answer, common_options, count, log_name, open_log
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, exit_of, tell, wire_of
from dsh_fp.cli.page import Page, scalar
from dsh_fp.cli.safe import one_line
from dsh_fp.core.events import Event
from dsh_fp.core.json_paths import Difference
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, to_text
from dsh_fp.core.rejection import Code, Rejection, file_unreadable
from dsh_fp.storage.jsonl import LogFile
from dsh_fp.wire.captures import Capture, Captured, Place, Skipped, read_captures
from dsh_fp.wire.chat_completions import adapter_options
from dsh_fp.wire.expected import INSTRUCTION, SYSTEM_TEXT, Expected, expected_requests
from dsh_fp.wire.matching import Matched, Verdict, match_captures
from dsh_fp.wire.messages_api import TOOL_UPDATES
from dsh_fp.wire.ways import REASONING, REASONING_RULES, UPDATES

_SUFFIXES: Final = (".jsonl", ".jsonl.zstd")
_ROWS_SHOWN: Final = 40
_TOLD_IN_FULL: Final = 20
_KEPT_OF_VALUE: Final = 400  # characters of a value in a document
_KEPT_BEFORE: Final = 100
_SHOWN_OF_VALUE: Final = 120  # and in text
_SHOWN_BEFORE: Final = 30
_LARGEST_SYSTEM: Final = 2**24
_STYLES: Final = {"equal": "good", "differs": "bad", "unreadable": "bad"}
# Of a compaction: told in its row. Options are told once for all rows.
_TEXTS: Final = frozenset({SYSTEM_TEXT, INSTRUCTION})
# Keys of bodies that a neutral request does not have.
_OF_APIS: Final = frozenset({"stream", "max_tokens", "max_completion_tokens"})
NEUTRAL: Final = "this is the neutral form (request --text); try request --as chat"
HEAD: Final = ("#", "verdict", "session", "turn", "step", "seq", "")


@attrs.frozen
class _Log:
    """One log that was asked for: what it is, or why it is refused.

    `used` is False for a copy of a session that another file holds of a later generation, or
    with more events.
    """

    file: str
    opened: LogFile | Rejection
    used: bool = True

    def to_wire(self) -> dict[str, Any]:
        """The log as JSON."""
        if isinstance(self.opened, Rejection):
            return {"file": self.file, "error": wire_of(self.opened)}
        return {
            "file": self.file,
            "session": self.opened.header.id,
            "events": len(self.opened.session),
            "used": self.used,
        }


@click.command("check-wire")
@click.argument("log", metavar="LOG")
@click.argument("capture", metavar="CAPTURE")
@click.option(
    "--thinking",
    type=click.Choice(["enabled", "disabled"]),
    help="What the adapter was set to; else it is taken from each body and named.",
)
@click.option("--reasoning-effort", metavar="EFFORT", help="The same for the adapter's effort.")
@click.option(
    "--compaction-system",
    metavar="FILE",
    help="The compaction plugin's system text, exactly as this file holds it.",
)
@click.option(
    "--compaction-instruction",
    metavar="FILE",
    help="The instruction that later compactions end with, exactly as this file holds it.",
)
@click.option(
    "--reasoning-content",
    type=click.Choice(REASONING_RULES),
    help="When chat completions send reasoning; else as most bodies of a run have it.",
)
@click.option(
    "--tool-updates",
    type=click.Choice(TOOL_UPDATES),
    help="Which tool changes the Messages API was sent. "
    "Default: what fits most captured bodies of a model.",
)
@click.option("show_all", "--all", is_flag=True, help="Tell every verdict, however many.")
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str,
    capture: str,
    thinking: str | None,
    reasoning_effort: str | None,
    compaction_system: str | None,
    compaction_instruction: str | None,
    reasoning_content: str | None,
    tool_updates: str | None,
    show_all: bool,
    as_json: bool,
    color: str,
) -> int:
    """Compare captured request bodies with what the logs say was sent, key order included.

    LOG is a log or a folder of logs, such as those of a session and its children. CAPTURE is a
    file of JSON lines, a HAR file, one body, or a folder of these; gzip is fine, and - is
    standard input. The exit code is 0 when every captured request is equal.
    """
    if log == capture == "-":
        raise click.UsageError("standard input (-) can be read only once.")
    answer = Answer("check-wire", as_json=as_json, color=color)
    given = dict(adapter_options(thinking, reasoning_effort))
    if compaction_system is not None:
        given[SYSTEM_TEXT] = _text_of(answer, compaction_system)
    if compaction_instruction is not None:
        given[INSTRUCTION] = _text_of(answer, compaction_instruction)
    asked = {REASONING: reasoning_content, UPDATES: tool_updates}
    given |= {name: value for name, value in asked.items() if value is not None}
    logs = _logs(answer, log)
    neutral: set[Place] = set()
    captures = _watched(read_captures(*_source(answer, capture)), neutral)
    ids = [one.opened.header.id for one in logs if isinstance(one.opened, LogFile)]
    matched = match_captures(_expected(logs), captures, given, session_ids=ids)
    _refuse_unreadable(answer, matched)
    matched = _noted(matched, neutral)
    holds = matched.verdicts and matched.equal == len(matched.verdicts)
    if as_json:
        tally = Counter(verdict.verdict for verdict in matched.verdicts)
        answer.document(
            logs=[one.to_wire() for one in logs],
            capture=log_name(capture),
            total=len(matched.verdicts),
            equal=matched.equal,
            differs=tally["differs"],
            unexpected=tally["unexpected"],
            unknown=tally["unknown"],
            unreadable=tally["unreadable"],
            verdicts=[_verdict_wire(verdict) for verdict in matched.verdicts],
            not_captured=[_request_wire(one) for one in matched.not_captured],
            skipped=[_skipped_wire(one) for one in matched.skipped],
        )
    else:
        _print(answer, logs, matched, show_all=show_all)
    return Exit.HOLDS if holds else Exit.FINDING


# ---- what is compared ------------------------------------------------------------------------


def _logs(answer: Answer, log: str) -> list[_Log]:
    """The logs that were asked for; ends the command when none of them can be read."""
    if not os.path.isdir(log):
        opened = answer.open(log)
        return [_Log(log_name(log), opened)]
    logs = [_Log(path, open_log(path)) for path in _log_paths(log)]
    if not any(isinstance(one.opened, LogFile) for one in logs):
        fault = file_unreadable(log, f"no *{_SUFFIXES[0]} in it is a session log")
        what = f"{one_line(log)} holds no log"
        answer.refuse(complaint_of(what, fault), exit_of(fault), logs=[x.to_wire() for x in logs])
    return _without_copies(logs)


def _log_paths(folder: str) -> Iterator[str]:
    """The files below a folder that may be logs, in order of their paths."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        yield from (os.path.join(place, name) for name in sorted(files) if name.endswith(_SUFFIXES))


def _without_copies(logs: list[_Log]) -> list[_Log]:
    """The logs, those marked whose session another file holds better.

    What was migrated goes on in the later generation, which may have fewer events.
    """
    best: dict[str, tuple[tuple[int, int], int]] = {}
    for place, one in enumerate(logs):
        if isinstance(one.opened, LogFile):
            rank = (one.opened.header.version, len(one.opened.session))
            known = best.get(one.opened.header.id)
            if known is None or rank > known[0]:
                best[one.opened.header.id] = (rank, place)
    used = {place for _, place in best.values()}
    return [
        attrs.evolve(one, used=place in used) if isinstance(one.opened, LogFile) else one
        for place, one in enumerate(logs)
    ]


def _expected(logs: list[_Log]) -> list[tuple[Expected, ...]]:
    """What the logs say was sent, the oldest session first."""
    opened = [one.opened for one in logs if isinstance(one.opened, LogFile) and one.used]
    opened.sort(key=lambda one: one.header.created_at)
    ids = {one.header.id for one in opened}
    return [
        # What a child inherited was sent by its parent, if that is here.
        expected_requests(one.session, place=place, inherited=one.header.parent_session not in ids)
        for place, one in enumerate(opened)
    ]


def _source(answer: Answer, capture: str) -> tuple[str | IO[bytes]]:
    if capture != "-":
        return (capture,)
    if sys.stdin is None:
        fault = file_unreadable(STDIN, "standard input is closed")
        answer.refuse(complaint_of("the capture cannot be read", fault), exit_of(fault))
    return (sys.stdin.buffer,)


def _watched(captures: Iterable[Captured], neutral: set[Place]) -> Iterator[Captured]:
    """The captures one by one; the places of bodies in the neutral form are put down."""
    for captured in captures:
        body = captured.body if isinstance(captured, Capture) else None
        if body is not None and _is_neutral(body):
            neutral.add(captured.place)
        yield captured


def _is_neutral(body: JsonObject) -> bool:
    """Whether a body is what `request --text` prints: no API's, all contents lists of blocks."""
    messages = body.get("messages")
    return (
        not body.keys() & _OF_APIS
        and isinstance(messages, JsonArray)
        and len(messages) > 0
        and all(
            isinstance(message, JsonObject) and isinstance(message.get("content"), JsonArray)
            for message in messages
        )
    )


def _noted(matched: Matched, neutral: set[Place]) -> Matched:
    """The same verdicts, those that are not equal with a note where the body is neutral."""
    if not neutral:
        return matched
    verdicts = tuple(
        attrs.evolve(one, note=f"{one.note}; {NEUTRAL}" if one.note else NEUTRAL)
        if one.place in neutral and one.verdict != "equal"
        else one
        for one in matched.verdicts
    )
    return attrs.evolve(matched, verdicts=verdicts)


def _refuse_unreadable(answer: Answer, matched: Matched) -> None:
    """End the command when the capture as a whole cannot be read."""
    verdicts = matched.verdicts
    fault = verdicts[0].fault if len(verdicts) == 1 else None
    if fault is not None and fault.code is Code.FILE_UNREADABLE:
        answer.refuse(complaint_of("the capture cannot be read", fault), exit_of(fault))


def _text_of(answer: Answer, path: str) -> str:
    try:
        with open(path, "rb") as opened:
            content = opened.read(_LARGEST_SYSTEM + 1)
        if len(content) <= _LARGEST_SYSTEM:
            return content.decode()
        why = f"it has more than {_LARGEST_SYSTEM} bytes"
    except UnicodeDecodeError:
        why = "it is no UTF-8"
    except (OSError, ValueError) as fault:
        why = (fault.strerror if isinstance(fault, OSError) else None) or type(fault).__name__
    refused = file_unreadable(path, why)
    return answer.refuse(complaint_of("the text cannot be read", refused), exit_of(refused))


# ---- for a program ---------------------------------------------------------------------------


def _verdict_wire(verdict: Verdict) -> dict[str, Any]:
    expected, difference = verdict.expected, verdict.difference
    wire: dict[str, Any] = {"index": verdict.index, "place": verdict.place.to_wire()}
    wire |= _request_names(expected)
    wire |= {"verdict": verdict.verdict, "path": verdict.path, "kind": verdict.kind}
    wire |= {"expected": None, "got": None, "offset": None, "cut": False}
    if difference is not None:
        wire["offset"] = difference.offset
        sides = difference.expected, difference.got
        if difference.kind == "key order":
            sides = tuple(list(side) for side in sides)  # type: ignore[assignment]  # their keys
        kept = [bounded(side, difference.offset) for side in sides]
        wire["expected"], wire["got"] = (value for value, _ in kept)
        wire["cut"] = any(cut for _, cut in kept)
    event = verdict.event
    wire["event"] = None if event is None else {"seq": event.seq, "type": event.type}
    wire["taken_from_body"] = list(verdict.taken_from_body)
    wire["repeat"] = verdict.repeat
    wire["out_of_order"] = verdict.out_of_order
    wire["note"] = verdict.note
    wire["fault"] = None if verdict.fault is None else wire_of(verdict.fault)
    return wire


def _request_names(expected: Expected | None) -> dict[str, Any]:
    """How a request is named; all None where there is none."""
    return {
        "session": None if expected is None else expected.session_id,
        "turn": None if expected is None else expected.turn,
        "step": None if expected is None else expected.step,
        "seq": None if expected is None else expected.seq,
        "purpose": None if expected is None else expected.purpose,
    }


def _request_wire(expected: Expected) -> dict[str, Any]:
    fault = expected.fault
    return {**_request_names(expected), "fault": None if fault is None else wire_of(fault)}


def _skipped_wire(skipped: Skipped) -> dict[str, Any]:
    return {"place": skipped.place.to_wire(), "why": skipped.why}


def bounded(value: AnyJson, offset: int | None) -> tuple[AnyJson, bool]:
    """A value as it is when it is short, else a piece of its text; and whether it was cut.

    Of two texts that part at an offset, the piece around it is kept.
    """
    if isinstance(value, str):
        if len(value) <= _KEPT_OF_VALUE:
            return value, False
        start = max((offset or 0) - _KEPT_BEFORE, 0)
        return value[start : start + _KEPT_OF_VALUE], True
    text = to_text(value)
    return (value, False) if len(text) <= _KEPT_OF_VALUE else (text[:_KEPT_OF_VALUE], True)


# ---- for a person ----------------------------------------------------------------------------


def _print(answer: Answer, logs: list[_Log], matched: Matched, *, show_all: bool) -> None:
    page = Page(answer.out, full=show_all)
    verdicts, total = matched.verdicts, len(matched.verdicts)
    others = Counter(one.verdict for one in verdicts if one.verdict != "equal")
    told = "".join(f", {number:,} {word}" for word, number in others.items())
    page.line(f"{count(total, 'captured request')}: {matched.equal:,} equal{told}", "bold")
    rows = verdicts
    if total > _ROWS_SHOWN and not show_all:
        rows = tuple(one for one in verdicts if one.verdict != "equal")
    shown = rows if show_all else rows[:_ROWS_SHOWN]
    if shown:
        page.line()
        page.table(HEAD, [_cells(one) for one in shown], left=(1, 2, 6))
        taken = dict.fromkeys(
            name for one in shown for name in one.taken_from_body if name not in _TEXTS
        )
        if taken:
            page.line()
            page.wrapped(f"{', '.join(taken)} as in the body", 0, "dim")
    if len(shown) < total:
        page.line(f"... and {total - len(shown):,} more; --all lists them", "dim")
    differing = [one for one in verdicts if one.verdict in ("differs", "unreadable")]
    for one in differing if show_all else differing[:_TOLD_IN_FULL]:
        page.line()
        _tell_verdict(page, one)
    _tell_missed(page, matched.not_captured, show_all=show_all)
    if matched.skipped:
        page.line()
        page.line(f"passed over: {_reasons(matched.skipped)}", "dim")
    page.out.flush()
    for log in logs:
        if isinstance(log.opened, Rejection):
            what = f"{one_line(log.file)} is left out: {log.opened.code.value}"
            tell(answer.err, complaint_of(what, log.opened))
        elif not log.used:
            answer.err.line(
                f"dsh-fp: note: {one_line(log.file)} is an older or shorter copy, left out", "dim"
            )
    if not verdicts:
        answer.err.line("dsh-fp: note: the capture holds no request, so nothing was compared")


def _cells(verdict: Verdict) -> tuple[str, ...]:
    expected = verdict.expected
    word = "equal, again" if verdict.repeat and verdict.verdict == "equal" else verdict.verdict
    if expected is None:
        return (f"{verdict.index + 1:,}", word, "-", "-", "-", "-", _remark(verdict))
    step = scalar(expected.step, 12) if expected.purpose is None else "-"
    return (
        f"{verdict.index + 1:,}",
        word,
        one_line(expected.session_id, 40),
        scalar(expected.turn, 12),
        step,
        f"{expected.seq:,}",
        _remark(verdict),
    )


def _remark(verdict: Verdict) -> str:
    """What more there is to say in the row of a verdict."""
    expected = verdict.expected
    parts = []
    if expected is not None and expected.purpose is not None:
        parts.append(expected.purpose)
    if verdict.path is not None:
        parts.append(one_line(verdict.path, 120))
    if verdict.fault is not None:
        parts.append(verdict.fault.code.value)
    texts = [name for name in verdict.taken_from_body if name in _TEXTS]
    if texts:
        parts.append(f"{', '.join(texts)} as in the body")
    if verdict.out_of_order:
        parts.append("out of order")
    if verdict.note is not None and verdict.verdict != "differs":
        parts.append(one_line(verdict.note, 400))
    return "; ".join(parts)


def _tell_verdict(page: Page, verdict: Verdict) -> None:
    """One capture that is not equal, in full."""
    place, difference = _place(verdict.place), verdict.difference
    label = page.out.paint(f"{verdict.index + 1:,} {verdict.verdict}", _STYLES.get(verdict.verdict))
    page.line(f"{label}  {place}")
    if verdict.fault is not None:
        why = f"{verdict.fault.code.value}: {verdict.fault.message}"
        page.wrapped(one_line(why, 400), 13, lead="  why")
    if difference is not None:
        _tell_difference(page, difference, verdict.event)
    elif verdict.path is not None:
        page.wrapped(f"{verdict.path} ({verdict.kind})", 13, lead="  at")
    if verdict.note is not None:
        page.wrapped(one_line(verdict.note, 400), 13, lead="  note")


def _tell_difference(page: Page, difference: Difference, event: Event | None) -> None:
    """Where two bodies part, both sides, and the event behind the expected one."""
    where = one_line(difference.path, 400)
    offset = difference.offset
    named = f"{where}, character {offset:,}" if offset is not None else where
    told = {"value": "", "missing": " (missing)", "extra": " (extra)", "key order": " (key order)"}
    page.wrapped(named + told[difference.kind], 13, lead="  at")
    for name, side, absent in (
        ("expected", difference.expected, difference.kind == "extra"),
        ("got", difference.got, difference.kind == "missing"),
    ):
        text = "nothing" if absent else _excerpt(side, offset, keys=difference.kind == "key order")
        page.wrapped(text, 13, lead=f"  {name}")
    behind = f"seq {event.seq:,} {one_line(event.type, 60)}" if event is not None else "no event"
    page.wrapped(behind, 13, lead="  event")


def _excerpt(value: AnyJson, offset: int | None, *, keys: bool) -> str:
    """A value on a line; of a long text the piece around an offset, as JSON."""
    if keys:
        return one_line(", ".join(value), _KEPT_OF_VALUE)
    if offset is None or not isinstance(value, str):
        text = to_text(value)
        return one_line(text, _SHOWN_OF_VALUE)
    start = max(offset - _SHOWN_BEFORE, 0)
    piece = value[start : start + _SHOWN_OF_VALUE]
    before = "..." if start else ""
    after = "..." if start + len(piece) < len(value) else ""
    return f"{before}{one_line(to_text(piece))}{after}"


def _place(place: Place) -> str:
    parts = [one_line(place.file, 200)]
    if place.line is not None:
        parts.append(f"line {place.line:,}")
    if place.entry is not None:
        parts.append(f"entry {place.entry:,}")
    return ", ".join(parts)


def _tell_missed(page: Page, missed: Sequence[Expected], *, show_all: bool) -> None:
    if not missed:
        return
    page.line()
    page.line(f"{count(len(missed), 'request')} of the logs not in the capture", "bold")
    shown = missed if show_all else missed[:_TOLD_IN_FULL]
    for one in shown:
        what = one.purpose or f"step {scalar(one.step, 12)}"
        why = "" if one.fault is None else f", not known: {one.fault.code.value}"
        name = one_line(one.session_id, 40)
        page.line(f"  turn {scalar(one.turn, 12)}, {what} (seq {one.seq:,}) of {name}{why}")
    if len(shown) < len(missed):
        page.line(f"  ... and {len(missed) - len(shown):,} more; --all lists them", "dim")


def _reasons(skipped: Sequence[Skipped]) -> str:
    reasons = Counter(one.why for one in skipped)
    return ", ".join(f"{number:,} ({why})" for why, number in reasons.items())
