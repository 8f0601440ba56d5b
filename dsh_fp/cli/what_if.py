"""`dsh-fp what-if LOG`: the same log with some events dropped, replaced or inserted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, Final

import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, count, log_argument
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, usage_complaint, wire_of
from dsh_fp.cli.files import see_apart
from dsh_fp.cli.page import Page, scalar, seqs_of
from dsh_fp.cli.safe import one_line
from dsh_fp.core.events import ENVELOPE, is_seq
from dsh_fp.core.lossless import AnyJson, JsonObject, json_equal, parse
from dsh_fp.core.rejection import Rejection, file_unreadable, storage_failed
from dsh_fp.core.session import Session
from dsh_fp.core.what_if import (
    Drop,
    Edit,
    Insert,
    LostPair,
    Replace,
    RequestChange,
    WhatIf,
    what_if,
)
from dsh_fp.storage.files import Files, publish, sync_folder
from dsh_fp.storage.jsonl import LogFile, encode_log

HEAD: Final = (
    "turn",
    "step",
    "seq",
    "now",
    "header",
    "added",
    "removed",
    "changed",
    "messages",
    "bytes",
    "",
)
_SHOWN: Final = 20
_MOST_SHOWN_EDITS: Final = 8
_LONGEST_RANGE: Final = 1_000_000
_SEQS: Final = re.compile(r"(\d{1,16})(?:-(\d{1,16}))?")
_ENVELOPE: Final = frozenset(ENVELOPE)
_WHOLE: Final = ("type", "seq", "time", "data")


@click.command("what-if")
@log_argument
@click.option(
    "drops", "--drop", metavar="SEQ", multiple=True, help="Leave an event out; or FIRST-LAST."
)
@click.option(
    "replaces",
    "--replace",
    metavar="SEQ=FILE",
    multiple=True,
    help="Give an event the payload in FILE; or the data, type and time of the event in FILE.",
)
@click.option(
    "inserts",
    "--insert",
    metavar="SEQ=FILE",
    multiple=True,
    help="Put the event in FILE before the one with this seq; the log's length puts it last.",
)
@click.option("target", "-o", "--output", metavar="OUT", help="Write the edited log to a new file.")
@click.option("show_all", "--all", is_flag=True, help="List every change, however many.")
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str,
    drops: tuple[str, ...],
    replaces: tuple[str, ...],
    inserts: tuple[str, ...],
    target: str | None,
    show_all: bool,
    as_json: bool,
    color: str,
) -> int:
    """Say which requests would change if some events were dropped, replaced or inserted.

    Each option may be given several times. All seqs are those of LOG as it is. Later events are
    renumbered, and what they cite and replace is carried along. The exit code is 0 when every
    request stays as it was, 1 when one changes or the edited log is refused.
    """
    answer = Answer("what-if", as_json=as_json, color=color)
    if target is not None:
        given_files = (given.partition("=")[2] for given in (*replaces, *inserts))
        see_apart([target], [log, *given_files])
    opened = answer.open(log)
    session = opened.session
    edits: list[Edit] = [Drop(seq) for given in drops for seq in _dropped(given)]
    edits += [_replace(answer, session, given) for given in replaces]
    edits += [_insert(answer, given) for given in inserts]
    if target is not None and (not target or "\0" in target or os.path.lexists(target)):
        _refuse_target(answer, opened, target)
    asked = what_if(session, edits)
    if isinstance(asked, Failure):
        fault: Rejection = asked.failure()
        named = "an edit" if fault.index is None else edit_text(edits[fault.index])
        what = f"{named} cannot be made: {fault.code.value}"
        known = {"session": opened.header.to_wire(), "events": len(session)}
        answer.refuse(complaint_of(what, fault), Exit.USAGE, **known)
    told = asked.unwrap()
    written = None
    if target is not None and told.session is not None:
        _write(answer, opened, told.session, target)
        written = target
    code = Exit.HOLDS if told.session is not None and not told.requests else Exit.FINDING
    if as_json:
        answer.document(**document_of(opened, told), output=written, exit_code=int(code))
        return code
    _print(Page(answer.out, full=show_all), opened, told, written)
    answer.mention_torn_tail(opened)
    return code


# ---- edits from options ----------------------------------------------------------------------


def _dropped(given: str) -> range:
    """The seqs that a `--drop` names."""
    named = _SEQS.fullmatch(given)
    if named is None:
        raise click.UsageError(f"--drop takes a seq or FIRST-LAST, not {one_line(given, 40)}.")
    first = int(named[1])
    last = first if named[2] is None else int(named[2])
    if last < first or last - first > _LONGEST_RANGE:
        raise click.UsageError(f"--drop {one_line(given, 40)} is no range of seqs.")
    return range(first, last + 1)


def _placed(option: str, given: str) -> tuple[int, str]:
    """The seq and the path that an option names."""
    seq, equals, path = given.partition("=")
    named = _SEQS.fullmatch(seq)
    if not equals or not path or named is None or named[2] is not None:
        raise click.UsageError(f"{option} takes SEQ=FILE, not {one_line(given, 40)}.")
    return int(seq), path


def _value_in(answer: Answer, path: str) -> AnyJson:
    """The JSON value in a file; ends the command when there is none."""
    try:
        with open(path, "rb") as opened:
            text = opened.read()
    except (OSError, ValueError) as fault:
        cause = getattr(fault, "strerror", None) or str(fault)
        refusal = file_unreadable(path, cause)
    else:
        value = parse(text)
        if not isinstance(value, Failure):
            return value.unwrap()
        refusal = value.failure().at(file=path)
    what = f"{one_line(path)} is refused: {refusal.code.value}"
    return answer.refuse(complaint_of(what, refusal), Exit.UNREADABLE)


def _replace(answer: Answer, session: Session, given: str) -> Replace:
    """A payload, or a whole event (its four required keys tell) that joins as the one it is for."""
    seq, path = _placed("--replace", given)
    value = _value_in(answer, path)
    if not _is_event(value, session):
        return Replace(seq, value)
    if seq < len(session):
        old = session.events[seq].to_wire()
        joins = ("surfaceOp", "sourceEventSeqs", "ignorable")
        if not all(json_equal(value.get(key), old.get(key)) for key in joins):
            raise click.UsageError(
                f"the event for --replace {seq} joins the surface in another way; "
                "drop the old one and insert the new one instead."
            )
    return Replace(seq, value["data"], value["type"], value["time"])


def _insert(answer: Answer, given: str) -> Insert:
    """An event with at least a type and data; a seq in it says nothing."""
    seq, path = _placed("--insert", given)
    value = _value_in(answer, path)
    sound = isinstance(value, JsonObject) and {"type", "data"} <= value.keys() <= _ENVELOPE
    if not sound:
        raise click.UsageError(
            f"--insert {seq}: the file holds no event "
            "{type, data, time?, surfaceOp?, sourceEventSeqs?}."
        )
    op, sources = value.get("surfaceOp"), value.get("sourceEventSeqs")
    return Insert(seq, value["type"], value["data"], value.get("time"), op, sources)


def _is_event(value: AnyJson, session: Session) -> bool:
    return (
        isinstance(value, JsonObject)
        and all(key in value for key in _WHOLE)
        and value.keys() <= set(session.vocabulary.form.envelope.keys)
        and isinstance(value["type"], str)
        and is_seq(value["seq"])
    )


# ---- the edited log --------------------------------------------------------------------------


def _write(answer: Answer, opened: LogFile, session: Session, target: str) -> None:
    """Put the edited log under a name that is free, whole or not at all."""
    files = Files()
    try:
        publish(files, target, encode_log(session.header, session.events))
        sync_folder(files, os.path.dirname(target) or ".")
    except FileExistsError:
        _refuse_target(answer, opened, target)
    except OSError as fault:
        refusal = storage_failed(target, fault.strerror or str(fault))
        what = f"{one_line(target)} is not written: {refusal.code.value}"
        known = {"session": opened.header.to_wire(), "events": len(opened.session)}
        answer.refuse(complaint_of(what, refusal), Exit.UNREADABLE, **known)


def _refuse_target(answer: Answer, opened: LogFile, target: str) -> None:
    why = f"{one_line(target, 200)} is no name for a new file"
    if os.path.lexists(target.replace("\0", "")):
        why = f"{one_line(target, 200)} is there already, and nothing is ever overwritten"
    refusal = usage_complaint("FILE_EXISTS", why, "Choose another name for the edited log.")
    known = {"session": opened.header.to_wire(), "events": len(opened.session)}
    answer.refuse(refusal, Exit.USAGE, **known)


# ---- the answer ------------------------------------------------------------------------------


def edit_text(edit: Edit) -> str:
    """An edit as its option."""
    if isinstance(edit, Drop):
        return f"--drop {edit.seq}"
    if isinstance(edit, Replace):
        return f"--replace {edit.seq}"
    return f"--insert {edit.before}"


def edit_wire(edit: Edit) -> dict[str, Any]:
    """An edit as JSON, without its payload."""
    if isinstance(edit, Drop):
        return {"edit": "drop", "seq": edit.seq}
    if isinstance(edit, Replace):
        return {"edit": "replace", "seq": edit.seq}
    return {"edit": "insert", "before": edit.before, "type": edit.type}


def change_wire(change: RequestChange) -> dict[str, Any]:
    """What becomes of one request, as JSON."""
    faults = change.fault_before, change.fault_after
    return {
        "kind": change.kind,
        "turn": change.turn,
        "step": change.step,
        "old_seq": change.old_seq,
        "new_seq": change.new_seq,
        "header_changed": change.header_changed,
        "messages": {
            "before": change.messages_before,
            "after": change.messages_after,
            "added": change.added,
            "removed": change.removed,
            "changed": change.changed,
        },
        "bytes": {"before": change.bytes_before, "after": change.bytes_after},
        "fault_before": None if faults[0] is None else wire_of(faults[0]),
        "fault_after": None if faults[1] is None else wire_of(faults[1]),
    }


def pair_wire(lost: LostPair) -> dict[str, Any]:
    """A call without a result, or a result without a call, as JSON."""
    return {
        "lacks": lost.lacks,
        "call_id": lost.call_id,
        "place": lost.place,
        "seq": lost.seq,
        "old_seq": lost.old_seq,
        "partner": lost.partner,
    }


def document_of(opened: LogFile, told: WhatIf) -> dict[str, Any]:
    """The answer as JSON."""
    session = told.session
    return {
        "session": opened.header.to_wire(),
        "events": len(opened.session),
        "edits": [edit_wire(edit) for edit in told.edits],
        "admissible": session is not None,
        "refusal": None if told.refusal is None else wire_of(told.refusal),
        "blamed": list(told.blamed),
        "events_after": None if session is None else len(session),
        "requests": [change_wire(change) for change in told.requests],
        "breaches": [wire_of(breach) for breach in told.breaches],
        "pairing": [pair_wire(lost) for lost in told.pairing],
    }


def _print(page: Page, opened: LogFile, told: WhatIf, written: str | None) -> None:
    name = one_line(opened.header.id, 80)
    length, edits = count(len(opened.session), "event"), count(len(told.edits), "edit")
    if told.session is None:
        page.line(f'session "{name}", {length}, {edits}: the edited log is refused', "bad")
        fault = told.refusal
        assert fault is not None
        where = "" if fault.seq is None else f" at seq {fault.seq} of the edited log"
        _labelled(page, "refused", f"{fault.code.value}{where}: {one_line(fault.message)}")
        _labelled(page, "because", _edits_told([told.edits[at] for at in told.blamed]))
        _labelled(page, "now", fault.advice)
        return
    page.line(f'session "{name}", {length}, {edits}: {len(told.session):,} events', "bold")
    kinds = [change.kind for change in told.requests]
    tally = [f"{kinds.count(kind):,} {word}" for kind, word in _WORDS if kind in kinds]
    _labelled(page, "requests", ", ".join(tally) or "all as they were")
    _print_breaches(page, told)
    _print_pairing(page, told)
    if written is not None:
        _labelled(page, "written", one_line(written))
    if told.requests:
        shown = told.requests if page.full else told.requests[:_SHOWN]
        page.line()
        page.table(HEAD, [_cells(change) for change in shown], left=(4, 10))
        if len(shown) < len(told.requests):
            page.line(f"... and {len(told.requests) - len(shown):,} more; --all lists them", "dim")


_WORDS: Final = (("changed", "changed"), ("appears", "new"), ("vanishes", "gone"))


def _print_breaches(page: Page, told: WhatIf) -> None:
    breaches = told.breaches if page.full else told.breaches[:_MOST_SHOWN_EDITS]
    for breach in breaches:
        where = f"seq {breach.seq} of the edited log"
        _labelled(page, "breach", f"{breach.code.value} at {where}: {one_line(breach.message)}")
    if len(breaches) < len(told.breaches):
        more = len(told.breaches) - len(breaches)
        _labelled(page, "", f"and {more:,} more; --all lists them")


def _print_pairing(page: Page, told: WhatIf) -> None:
    pairing = told.pairing if page.full else told.pairing[:_MOST_SHOWN_EDITS]
    for lost in pairing:
        _labelled(page, "pairing", _pair_text(told, lost))
    if len(pairing) < len(told.pairing):
        more = len(told.pairing) - len(pairing)
        _labelled(page, "", f"and {more:,} more; --all lists them")


def _pair_text(told: WhatIf, lost: LostPair) -> str:
    """What stands alone, and what was done to the other half, or to itself."""
    replaced = {edit.seq for edit in told.edits if isinstance(edit, Replace)}
    where = " in force" if lost.place == "surface" else ""
    name, partner = one_line(lost.call_id, 80), lost.partner
    if lost.lacks == "call":
        name = f"the result of {name}"
    if partner is None:
        done = "inserted" if lost.old_seq is None else "replaced"
        known = lost.old_seq is None or lost.old_seq in replaced
        at = lost.seq if lost.old_seq is None else lost.old_seq
        by = f" (event {at}{' of the edited log' * (lost.old_seq is None)} {done})"
        return f"{name} has no {lost.lacks}{where}{by if known else ''}"
    done = ""
    if told.new_seq(partner) is None:
        done = f" (event {partner} dropped)"
    elif partner in replaced:
        done = f" (event {partner} replaced)"
    return f"{name} has no {lost.lacks}{where} any more{done}"


def _labelled(page: Page, label: str, text: str) -> None:
    page.wrapped(text, 12, lead=f"  {label}")


def _edits_told(edits: list[Edit]) -> str:
    """Edits in a few words, runs of drops as ranges."""
    drops = sorted(edit.seq for edit in edits if isinstance(edit, Drop))
    told = [f"dropping {seqs_of(drops)}"] if drops else []
    others = [edit for edit in edits if not isinstance(edit, Drop)]
    told += [edit_text(edit) for edit in others[:_MOST_SHOWN_EDITS]]
    rest = len(others) - _MOST_SHOWN_EDITS
    return ", ".join(told) + (f" and {rest:,} more" if rest > 0 else "")


def _cells(change: RequestChange) -> tuple[str, ...]:
    header = {True: "changed", False: "same", None: "-"}[change.header_changed]
    counts = (change.added, change.removed, change.changed)
    pairs = (
        (change.messages_before, change.messages_after),
        (change.bytes_before, change.bytes_after),
    )
    return (
        scalar(change.turn, 24),
        scalar(change.step, 24),
        _number(change.old_seq),
        _number(change.new_seq),
        header,
        *map(_number, counts),
        *(f"{_number(before)} > {_number(after)}" for before, after in pairs),
        " ".join(_notes(change)),
    )


def _notes(change: RequestChange) -> Iterator[str]:
    if change.kind != "changed":
        yield dict(_WORDS)[change.kind]
    for when, fault in (("before", change.fault_before), ("now", change.fault_after)):
        if fault is not None:
            yield f"not known {when}: {fault.code.value}"


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
