"""`dsh-fp conform`: another implementation of the session model, judged by our laws."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dsh_fp.cli.answer import Answer, common_options, count
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import usage_complaint
from dsh_fp.cli.files import see_apart
from dsh_fp.cli.output import Unwritable
from dsh_fp.cli.safe import lines_of, one_line, wrapped

if TYPE_CHECKING:
    from property_specs.conforming.doors import Door
    from property_specs.conforming.judging import Effort, Verdict
    from property_specs.laws import Law
    from property_specs.vectors import Vector

_LINES_OF_A_WHY: Final = 12
_SHOWN_OF_A_REASON: Final = 5
_PROGRESS_SECONDS: Final = 2.0
_MISSING: Final = "pip install 'dsh-fp[testing]' installs it."


@click.command("conform", context_settings={"ignore_unknown_options": False})
@click.argument("server", metavar="[-- COMMAND ARGS...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--python", "target", metavar="MODULE:ATTR", help="Judge this Python object.")
@click.option(
    "--only", multiple=True, metavar="NAME", help="This law, topic or vector; repeatable."
)
@click.option("--list", "is_list", is_flag=True, help="List the laws and vectors, asking nothing.")
@click.option("--seed", type=int, metavar="N", help="Draw other cases than the usual ones.")
@click.option(
    "--examples", type=click.IntRange(1, 1_000_000), metavar="N", help="Cases for each law."
)
@click.option(
    "--profile",
    type=click.Choice(["laws", "nightly"]),
    default="laws",
    show_default=True,
    help="nightly: 30 times the cases, from a new seed, without a time limit.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a process may take for one answer.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(1),
    metavar="SECONDS",
    help="When to stop asking.  [default: 900]",
)
@click.option("--out", metavar="DIR", help="Where counterexamples go, a new folder by default.")
@click.option("--junit", metavar="FILE", help="Write JUnit XML too.")
@common_options
def command(
    *,
    server: tuple[str, ...],
    target: str | None,
    only: tuple[str, ...],
    is_list: bool,
    seed: int | None,
    examples: int | None,
    profile: str,
    timeout: float,
    time_limit: float | None,
    out: str | None,
    junit: str | None,
    as_json: bool,
    color: str,
) -> int:
    """Judge another implementation of the session model by the laws and by fixed vectors.

    It is a Python object, or a command that answers one JSON request a line. The same cases
    are asked each time, unless --seed is given. Each broken law leaves its smallest
    counterexample as a log file. What is not offered is not asked, and told as such.

    This runs the code it is given.
    """
    answer = Answer("conform", as_json=as_json, color=color)
    try:
        from property_specs.conforming.choosing import chosen
        from property_specs.conforming.judging import EXAMPLES, NIGHTLY_EXAMPLES, Effort
    except ModuleNotFoundError as missing:
        why = f"this needs the package {missing.name}"
        answer.refuse(usage_complaint("PACKAGE_MISSING", why, _MISSING), Exit.USAGE)
    try:
        wanted = chosen(only)
    except KeyError as unknown:
        why = one_line(f"there is no law, topic or vector {unknown.args[0]!r}", 200)
        answer.refuse(usage_complaint("NO_SUCH_LAW", why, "--list names them all."), Exit.USAGE)
    if is_list:
        return _list(answer, wanted)
    if bool(server) == (target is not None):
        why = "name either --python MODULE:ATTR or a command behind --"
        now = "dsh-fp conform --help says how it is used."
        answer.refuse(usage_complaint("USAGE", why, now), Exit.USAGE)
    is_nightly = profile == "nightly"
    usual = NIGHTLY_EXAMPLES if is_nightly else EXAMPLES
    limit = time_limit or (float("inf") if is_nightly else 900.0)
    if is_nightly and seed is None:
        seed = time.time_ns() % 2**32
    effort = Effort(examples or usual, seed, time.monotonic() + limit)
    if junit is not None and server:
        see_apart([junit], [shutil.which(server[0]), *server])
    folder = _folder(answer, out)
    door = _opened(answer, target, server, timeout)
    try:
        if junit is not None and target is not None:
            see_apart([junit], [_file_of(target)])
        told = _judged(answer, door, wanted, effort, folder)
    finally:
        door.close()
    _write_junit(answer, junit, door.name, [verdict for verdict, _ in told])
    return _report(answer, door, effort, folder, told)


Told = list[tuple["Verdict", dict[str, str]]]
Chosen = tuple[tuple["Law", ...], tuple["Vector", ...]]


def _file_of(target: str) -> str | None:
    """The file of a module that was loaded by `module:attribute`."""
    return getattr(sys.modules.get(target.partition(":")[0]), "__file__", None)


def _opened(answer: Answer, target: str | None, server: Sequence[str], timeout: float) -> Door:
    from property_specs.conforming.choosing import object_door
    from property_specs.conforming.doors import Unusable
    from property_specs.conforming.process import ProcessDoor

    try:
        return ProcessDoor(server, timeout) if target is None else object_door(target)
    except Unusable as fault:
        first, *more = str(fault).split("\n")
        answer.out.flush()
        now = "docs/reference/conform-protocol.md says what is asked of it."
        complaint = usage_complaint("CANNOT_BE_JUDGED", one_line(first, 500), now)
        for line in more:
            answer.err.line(one_line(line, 300))
        answer.refuse(complaint, Exit.UNREADABLE)


def _judged(answer: Answer, door: Door, chosen: Chosen, effort: Effort, folder: Path) -> Told:
    """The verdicts, each told when it comes, with the files of its counterexample."""
    from itertools import chain

    from property_specs.conforming.fixed import judge_vectors
    from property_specs.conforming.judging import BROKEN, judge
    from property_specs.conforming.reports import saved

    laws, vectors = chosen
    told: Told = []
    whole, last = len(laws) + len(vectors), time.monotonic()
    for verdict in chain(judge_vectors(door, vectors, effort), judge(door, laws, effort)):
        files: dict[str, str] = {}
        if verdict.verdict == BROKEN:
            try:
                files = saved(verdict, folder)
            except OSError as fault:
                raise Unwritable(f"{folder}: {fault.strerror}") from fault
            if not answer.as_json:
                _tell_broken(answer, verdict, files)
        told.append((verdict, files))
        if time.monotonic() - last > _PROGRESS_SECONDS:
            last = time.monotonic()
            answer.out.flush()
            answer.err.line(f"dsh-fp: {len(told)} of {whole}, {verdict.name}", "dim")
    return told


def _list(answer: Answer, chosen: Chosen) -> int:
    laws, vectors = chosen
    rows = [(each.name, each.sentence) for each in laws]
    rows += [(each.name, each.rule) for each in vectors]
    if answer.as_json:
        named = [{"name": name, "sentence": sentence} for name, sentence in rows]
        answer.document(laws=named, exit_code=int(Exit.HOLDS))
        return Exit.HOLDS
    for name, sentence in rows:
        answer.out.line(f"{name}  {sentence}")
    return Exit.HOLDS


def _folder(answer: Answer, out: str | None) -> Path:
    """The folder for counterexamples, which is made when there is one; ends on a full folder."""
    if out is None:
        return next(
            path
            for number in range(1, 1_000_000)
            if not (path := Path(f"conform-{number}")).exists()
        )
    folder = Path(out)
    try:
        full = folder.exists() and (not folder.is_dir() or next(folder.iterdir(), None) is not None)
    except (OSError, ValueError):
        full = True
    if full:
        why = f"{one_line(out, 200)} is no empty folder"
        now = "Name one that is empty or not there yet."
        answer.refuse(usage_complaint("OUT_NOT_EMPTY", why, now), Exit.USAGE)
    return folder


def _tell_broken(answer: Answer, verdict: Verdict, files: dict[str, str]) -> None:
    """One broken law: its sentence, what did not hold, where its counterexample is."""
    out = answer.out
    out.line(f"{out.paint('BROKEN', 'bad')}  {one_line(verdict.name)}")
    for line in wrapped(one_line(verdict.sentence), out.width - 4):
        out.line(f"    {line}")
    for place, line in enumerate(lines_of(verdict.why)):
        if place == _LINES_OF_A_WHY:
            out.line("    ...", "dim")
            break
        for part in list(wrapped(line, out.width - 4))[:_LINES_OF_A_WHY]:
            out.line(f"    {part}", "warn")
    found = verdict.counterexample
    if found is not None:
        where = files.get("log", files.get("record", ""))
        out.line(f"    smallest counterexample: {count(found.events, 'event')}, {one_line(where)}")
    out.flush()


def _write_junit(answer: Answer, junit: str | None, name: str, verdicts: Sequence[Verdict]) -> None:
    if junit is None:
        return
    from property_specs.conforming import reports

    try:
        Path(junit).write_bytes(reports.junit(name, verdicts))
    except (OSError, ValueError) as fault:
        answer.out.flush()
        raise Unwritable(f"{one_line(junit, 200)}: {fault}") from fault


def _report(answer: Answer, door: Door, effort: Effort, folder: Path, told: Told) -> int:
    from property_specs.conforming import reports

    verdicts = [verdict for verdict, _ in told]
    counts = reports.summary(verdicts)
    code = Exit.FINDING if counts["broken"] else Exit.HOLDS
    used = str(folder) if any(files for _, files in told) else None
    if answer.as_json:
        answer.document(
            implementation=reports.implementation(door),
            examples=effort.examples,
            seed=effort.seed,
            laws=[reports.wire_of(verdict, files) for verdict, files in told],
            summary=counts,
            out=used,
            exit_code=int(code),
        )
        return code
    _tell_unasked(answer, verdicts)
    out = answer.out
    lacks = reports.implementation(door)["lacks_of_the_small_protocol"]
    if lacks:
        out.line(f"of the small protocol it does not offer: {', '.join(lacks)}", "warn")
    if effort.seed is not None:
        out.line(
            f"seed {effort.seed}: --seed {effort.seed} --examples {effort.examples} asks the same"
        )
    told_counts = (
        f"of {len(told):,} laws and vectors {counts['held']:,} held, "
        f"{counts['broken']:,} broken, {counts['not_asked']:,} not asked"
    )
    out.line(f"{one_line(door.name, 60)}: {told_counts}", "bad" if counts["broken"] else "good")
    if used is not None:
        out.line(f"counterexamples: {one_line(used)}")
    return code


def _tell_unasked(answer: Answer, verdicts: Sequence[Verdict]) -> None:
    """What was not asked, by reason; and what was asked in part."""
    from property_specs.conforming.judging import NOT_ASKED

    reasons: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.verdict == NOT_ASKED:
            reasons.setdefault(verdict.why, []).append(verdict.name)
        elif verdict.partly:
            why = f"only in part: {', '.join(verdict.partly)} left out"
            reasons.setdefault(why, []).append(verdict.name)
    for why, names in reasons.items():
        answer.out.line(
            f"not asked, {one_line(why)}:" if "part" not in why else f"{one_line(why)}:"
        )
        for line in wrapped(", ".join(map(one_line, _folded(names))), answer.out.width - 4):
            answer.out.line(f"    {line}", "dim")


def _folded(names: Sequence[str]) -> list[str]:
    """Names, those of vectors by their folder and number."""
    laws = [name for name in names if not name.startswith("vectors/")]
    folders: dict[str, int] = {}
    for name in names:
        if name not in laws:
            folder = name.rpartition("/")[0]
            folders[folder] = folders.get(folder, 0) + 1
    shown = laws if len(laws) <= _SHOWN_OF_A_REASON else laws[: _SHOWN_OF_A_REASON - 1]
    rest = [f"and {len(laws) - len(shown)} more"] if len(shown) < len(laws) else []
    return [*shown, *rest, *(f"{folder} ({number})" for folder, number in folders.items())]
