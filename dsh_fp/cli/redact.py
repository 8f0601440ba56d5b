"""`dsh-fp redact LOG -o OUT`: a copy of a log with its secrets replaced.

What was secret is never printed, in no answer and no error: places, kinds and counts are.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn

import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, count, log_name, open_log
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, exit_of, place_of, usage_complaint
from dsh_fp.cli.files import content_of, see_apart
from dsh_fp.cli.page import Page, seqs_of
from dsh_fp.cli.safe import one_line
from dsh_fp.core.lossless import parse_value
from dsh_fp.core.redaction.literals import Literals
from dsh_fp.core.redaction.marking import Left, Replaced
from dsh_fp.core.redaction.path_patterns import parse_path
from dsh_fp.core.redaction.redacting import ChangedRequest, PathRule, Redaction, Rule, Values
from dsh_fp.core.redaction.redacting import redact as redact_session
from dsh_fp.core.rejection import Code, Rejection, storage_failed
from dsh_fp.storage.files import Files, publish, sync_folder
from dsh_fp.storage.jsonl import LogFile, encode_log

NONE: Final = "none"
_SHOWN: Final = 20
_SUGGESTED: Final = 5
_LABEL: Final = 12
_WORDS: Final = re.compile(r"[a-z]{1,20}(-[a-z]{1,20}){0,4}")


@click.command("redact")
@click.argument("log", metavar="LOG", required=False)
@click.option("-o", "--output", "target", metavar="OUT", help="Write the copy to a new file.")
@click.option("--dry-run", is_flag=True, help="Write nothing; say what would be replaced.")
@click.option(
    "names",
    "--rule",
    metavar="NAME",
    multiple=True,
    help="Look for keys of this format or family only (github-pat, aws); none: for no format.",
)
@click.option(
    "patterns",
    "--pattern",
    metavar="REGEX",
    multiple=True,
    help="What this matches is secret, or its group named secret; RE2 syntax.",
)
@click.option(
    "paths",
    "--path",
    metavar="[TYPE:]PATH",
    multiple=True,
    help="What stands there is secret, in events of this type: tool/result:$.data.meta.*",
)
@click.option(
    "values",
    "--values",
    metavar="FILE",
    multiple=True,
    help="The secrets in FILE: one a line, or a JSON array of texts; - for standard input.",
)
@click.option("list_rules", "--list-rules", is_flag=True, help="List the formats of keys; no LOG.")
@click.option("show_all", "--all", is_flag=True, help="List every place, however many.")
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str | None,
    target: str | None,
    dry_run: bool,
    names: tuple[str, ...],
    patterns: tuple[str, ...],
    paths: tuple[str, ...],
    values: tuple[str, ...],
    list_rules: bool,
    show_all: bool,
    as_json: bool,
    color: str,
) -> int:
    """Write a copy of LOG in which every secret that is found is replaced by a mark.

    Keys of several hundred known formats are looked for, unless --rule says otherwise; every
    other option adds secrets. A secret is replaced wherever it stands, streamed pieces
    and JSON text inside strings included, each time by the same mark. "Kale" and "kale" are two
    values: name both. Events, seqs, times, references and turns stay. The exit code is 1 when a
    secret is left in a place that cannot be changed, such as a session's id; nothing can prove
    that there was no other.
    """
    if list_rules:
        if log or target or dry_run or names or patterns or paths or values:
            raise click.UsageError("--list-rules goes alone, or with --json.")
        return _list(Answer("redact", as_json=as_json, color=color))
    if log is None:
        raise click.UsageError("Missing argument 'LOG'.")
    if (target is None) != dry_run:
        raise click.UsageError("redact takes either -o OUT or --dry-run.")
    if log == "-" and "-" in values:
        raise click.UsageError("only one of LOG and --values can be standard input.")
    answer = Answer("redact", as_json=as_json, color=color)
    if target is not None:
        see_apart([target], [log, *values])
        _see_free(answer, target)
    rules = [
        *_values(answer, values),
        *_path_rules(answer, paths),
        *_detectors(answer, names, patterns),
    ]
    opened = _opened(answer, log)
    made = redact_session(opened.session, rules)
    if isinstance(made, Failure):
        fault: Rejection = made.failure()
        name = one_line(log_name(log))
        answer.refuse(
            complaint_of(f"{name} is not redacted: {fault.code.value}", fault), Exit.FINDING
        )
    redaction = made.unwrap()
    if target is not None:
        _write(answer, opened, redaction, target)
    code = Exit.FINDING if redaction.left else Exit.HOLDS
    if as_json:
        told = document_of(redaction)
        answer.document(file=log_name(log), **told, output=target, exit_code=int(code))
        return code
    _print(Page(answer.out, full=show_all), log_name(log), redaction, target)
    answer.mention_torn_tail(opened)
    return code


# ---- rules from options ----------------------------------------------------------------------


def _refuse_rule(answer: Answer, option: str, fault: Rejection, now: str | None = None) -> NoReturn:
    """End with what is wrong with a rule; what it says is not repeated, it may be a secret."""
    why = f"{option}: {one_line(fault.message)}"
    answer.refuse(usage_complaint(fault.code.value, why, now or fault.advice), Exit.USAGE)


def _values(answer: Answer, files: Sequence[str]) -> list[Rule]:
    rules: list[Rule] = []
    for path in files:
        try:
            text = content_of(answer, path).decode()
        except UnicodeDecodeError:
            raise click.UsageError("--values: a file is not UTF-8 text.") from None
        found = parse_value(text) if text.lstrip().startswith("[") else None
        listed: list[Any] = list(found) if isinstance(found, tuple) else text.splitlines()
        if not all(isinstance(one, str) for one in listed):
            raise click.UsageError("--values: a JSON array holds something else than texts.")
        wanted = [one for one in listed if one.strip()]
        short = sum(len(one) < Literals.SHORTEST for one in wanted)
        if short:
            told = count(short, "value")
            raise click.UsageError(
                f"--values: {told} of fewer than {Literals.SHORTEST} characters would be "
                "found all over any log."
            )
        rules.append(Values(wanted))
    return rules


def _path_rules(answer: Answer, paths: Sequence[str]) -> list[Rule]:
    rules: list[Rule] = []
    for number, given in enumerate(paths, start=1):
        event_type, path = _typed(given)
        made = parse_path(path)
        if isinstance(made, Failure):
            _refuse_rule(answer, f"--path number {number}", made.failure())
        parsed = made.unwrap()
        if event_type != "session" and parsed.first not in ("data", None):
            raise click.UsageError(
                f"--path number {number}: only what stands under $.data of an event is replaced, "
                "or in the session header with session:$.cwd."
            )
        rules.append(PathRule(parsed, f"path-{number}", event_type))
    return rules


def _typed(given: str) -> tuple[str | None, str]:
    """The event type and the path of an option; a path may hold a colon too."""
    type_, colon, path = ("", "", given) if given.startswith("$") else given.partition(":")
    return (type_, path) if colon else (None, given)


def _detectors(answer: Answer, names: Sequence[str], patterns: Sequence[str]) -> list[Rule]:
    from dsh_fp.detecting import key_format_names, key_formats, pattern

    rules: list[Rule] = []
    try:
        for number, regex in enumerate(patterns, start=1):
            made = pattern(regex, f"pattern-{number}")
            if isinstance(made, Failure):
                now = "RE2 has no backreferences and no looking around; see its syntax."
                _refuse_rule(answer, f"--pattern number {number}", made.failure(), now)
            rules.append(made.unwrap())
        wanted = [name for name in names if name != NONE]
        if wanted or NONE not in names:
            found = key_formats(wanted)
            if isinstance(found, Failure):
                _refuse_name(answer, names, key_format_names())
            rules.append(found.unwrap())
    except ImportError as missing:
        _refuse_missing(answer, missing, " (or use --rule none, with --path and --values alone)")
    return rules


def _list(answer: Answer) -> int:
    """Print the names that --rule takes."""
    from dsh_fp.detecting import key_format_names

    try:
        known = key_format_names()
    except ImportError as missing:
        _refuse_missing(answer, missing)
    if answer.as_json:
        answer.document(rules=list(known), exit_code=int(Exit.HOLDS))
        return Exit.HOLDS
    for name in known:
        answer.out.line(one_line(name))
    return Exit.HOLDS


def _refuse_missing(answer: Answer, missing: ImportError, other: str = "") -> NoReturn:
    why, _, how = str(missing).partition(": ")
    refusal = usage_complaint("EXTRA_MISSING", why, f"Install them: {how}{other}")
    answer.refuse(refusal, Exit.USAGE)


def _refuse_name(answer: Answer, names: Sequence[str], known: Sequence[str]) -> NoReturn:
    """End with the first name of no format, quoted only where it is made of words alone.

    Someone may have given a key in its place, and few keys are without a digit or a capital.
    """
    from dsh_fp.detecting import key_formats

    number, name = next(
        (number, name)
        for number, name in enumerate(names, start=1)
        if name != NONE and isinstance(key_formats([name]), Failure)
    )
    told = f"{name!r}" if _WORDS.fullmatch(name) else f"number {number}"
    near = _near(name, known)
    refusal = usage_complaint(
        Code.RULE_INVALID.value,
        f"--rule: {told} is no known format; dsh-fp redact --list-rules lists them",
        f"Near it: {', '.join(near)}." if near else "Take one of those, or --pattern.",
    )
    answer.refuse(refusal, Exit.USAGE)


def _near(name: str, known: Sequence[str]) -> list[str]:
    family = name.partition("-")[0]
    within = [one for one in known if name in one] or [one for one in known if _is_in(family, one)]
    return (within or get_close_matches(name, known))[:_SUGGESTED]


def _is_in(family: str, name: str) -> bool:
    return name.partition("-")[0] == family


# ---- files -----------------------------------------------------------------------------------


def _opened(answer: Answer, log: str) -> LogFile:
    """The log; a refusal names code and place alone, since it might quote a secret."""
    opened = open_log(log)
    if not isinstance(opened, Rejection):
        return opened
    name = one_line(log_name(log))
    code = opened.code.value
    where = place_of(opened, with_file=False).partition(", at ")[0]
    refusal = usage_complaint(
        "LOG_REFUSED",
        f"{name} is refused: {code}" + (f" at {where}" if where else ""),
        "See dsh-fp verify, which quotes what it finds; nothing was written.",
    )
    return answer.refuse(refusal, exit_of(opened))


def _see_free(answer: Answer, target: str) -> None:
    """End the command when there can be no new file of this name."""
    if not target or "\0" in target:
        raise click.UsageError("-o needs the path of a new file.")
    if os.path.lexists(target):
        why = f"{one_line(target, 200)} is there already, and nothing is ever overwritten"
        refusal = usage_complaint("FILE_EXISTS", why, "Choose another name for the copy.")
        answer.refuse(refusal, Exit.USAGE)


def _write(answer: Answer, opened: LogFile, redaction: Redaction, target: str) -> None:
    """Put the copy under a name that is free, whole or not at all, once it reads as it should."""
    from dsh_fp.formats.reading import read

    content = encode_log(redaction.session.header, redaction.session.events)
    again = read(content, vocabulary=opened.session.vocabulary)
    if isinstance(again, Failure) or again.unwrap().session != redaction.session:
        why = "its generation cannot be written as plain lines"
        refusal = usage_complaint("NOT_WRITABLE", why, "Convert it first, then redact the result.")
        answer.refuse(refusal, Exit.UNREADABLE)
    files = Files()
    try:
        publish(files, target, content)
        sync_folder(files, os.path.dirname(target) or ".")
    except FileExistsError:
        _see_free(answer, target)
    except OSError as fault:
        failed = storage_failed(target, fault.strerror or str(fault))
        answer.refuse(complaint_of(f"{one_line(target)} is not written", failed), Exit.UNREADABLE)


# ---- the answer ------------------------------------------------------------------------------


def document_of(redaction: Redaction) -> dict[str, Any]:
    """The answer as JSON."""
    return {
        "events": len(redaction.session),
        "count": redaction.count,
        "kinds": [
            {"kind": kind, "secrets": secrets, "count": times}
            for kind, secrets, times in _kinds(redaction)
        ],
        "replaced": [_replaced_wire(one) for one in redaction.replaced],
        "left": [_left_wire(one) for one in redaction.left],
        "requests": [_request_wire(one) for one in redaction.requests],
    }


def _replaced_wire(one: Replaced) -> dict[str, Any]:
    return {
        "seq": one.seq,
        "path": one.path,
        "in_key": one.in_key,
        "kind": one.kind,
        "mark": one.mark,
        "count": one.count,
        "continued": one.continued,
    }


def _left_wire(one: Left) -> dict[str, Any]:
    return {"seq": one.seq, "path": one.path, "in_key": one.in_key, "kind": one.kind}


def _request_wire(one: ChangedRequest) -> dict[str, Any]:
    return {
        "turn": one.turn,
        "step": one.step,
        "seq": one.seq,
        "before": None if one.before is None else _digests_wire(one.before),
        "after": None if one.after is None else _digests_wire(one.after),
    }


def _digests_wire(digests: Any) -> dict[str, str]:  # noqa: ANN401  # RequestDigests
    return {key: getattr(digests, key) for key in ("header", "messages", "request")}


def _kinds(redaction: Redaction) -> list[tuple[str, int, int]]:
    """Each kind with how many secrets of it there are, and how often they stood there."""
    marks = {one.mark: one.kind for one in redaction.replaced}
    secrets = Counter(marks.values())
    times: Counter[str] = Counter()
    for one in redaction.replaced:
        times[one.kind] += one.count
    return [(kind, secrets[kind], times[kind]) for kind in secrets]


def _print(page: Page, name: str, redaction: Redaction, target: str | None) -> None:
    events = count(len(redaction.session), "event")
    told = count(redaction.count, "secret") if redaction.count else "nothing"
    verb = "would be replaced" if target is None else "replaced"
    page.line(f"{one_line(name)}, {events}: {told} {verb}", "bold")
    for kind, secrets, times in _kinds(redaction):
        often = count(times, "time")
        _labelled(page, "kind", f"{kind}: {count(secrets, 'secret')}, {often}")
    if target is not None:
        _labelled(page, "written", one_line(target))
    if redaction.requests:
        seqs = seqs_of([one.seq for one in redaction.requests])
        changed = count(len(redaction.requests), "request")
        _labelled(page, "requests", f"{changed} not as sent any more, at seq {seqs}")
    for one in redaction.left if page.full else redaction.left[:_SHOWN]:
        _labelled(page, "left", _left(one))
    if not page.full and len(redaction.left) > _SHOWN:
        _labelled(page, "left", f"and {len(redaction.left) - _SHOWN:,} more; --all lists them")
    if redaction.left:
        _labelled(page, "now", "do not give the copy away yet")
    if not redaction.replaced:
        return
    shown = redaction.replaced if page.full else redaction.replaced[:_SHOWN]
    page.line()
    head = ("seq", "count", "mark", "path")
    page.table(head, [_cells(one) for one in shown], left=(2, 3))
    if len(shown) < len(redaction.replaced):
        rest = len(redaction.replaced) - len(shown)
        page.line(f"... and {rest:,} more; --all lists them", "dim")


def _left(one: Left) -> str:
    if one.seq is None and one.path == "$.id" and not one.in_key:
        return f"the session's id holds a secret ({one.kind}); it cannot be replaced"
    where = "key " if one.in_key else ""
    return f"{_seq(one.seq)} {where}{one_line(one.path)}: {one.kind}"


def _cells(one: Replaced) -> tuple[str, ...]:
    times = f"{one.count:,}" + ("+" if one.continued else "")
    key = " (key)" if one.in_key else ""
    return _seq(one.seq), times, one.mark, one_line(one.path) + key


def _seq(seq: int | None) -> str:
    return "header" if seq is None else f"{seq}"


def _labelled(page: Page, label: str, text: str) -> None:
    page.wrapped(text, _LABEL, lead=f"  {label}")
