"""`dsh-fp doctor LOG|DIR|ROOT`: everything that is wrong, where, and what can be done."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs
import click

from dsh_fp.cli.answer import Answer, common_options, count
from dsh_fp.cli.exits import Exit, gravest
from dsh_fp.cli.faults import complaint_of, exit_of, wire_of
from dsh_fp.cli.output import Output
from dsh_fp.cli.safe import one_line, wrapped
from dsh_fp.core.rejection import Rejection, file_unreadable
from dsh_fp.formats.checkup import Checkup, check_up
from dsh_fp.formats.damage import BranchHeld, Damage
from dsh_fp.formats.salvaging import fitting_policies

SHOWN_PER_KIND: Final = 10
SHOWN_TURNS: Final = 12
_STYLES: Final = {"fatal": "bad", "tail": "warn", "finding": "warn", "note": "dim"}


@click.command("doctor")
@click.argument("place", metavar="LOG|DIR|ROOT")
@click.option("show_all", "--all", is_flag=True, help="List every damage, however many.")
@common_options
def command(place: str, show_all: bool, as_json: bool, color: str) -> int:
    """Name everything that is wrong with a log, with a session's folder, or with all in a root.

    Each damage is told with its place, with what it breaks for the runtime that wrote the log,
    and with what can be done. Where two writers wrote one log, both branches are shown. Nothing
    is changed.
    """
    if place == "-":
        raise click.UsageError("doctor needs the path of a file or a folder.")
    answer = Answer("doctor", as_json=as_json, color=color)
    exits: list[Exit] = []
    wires: list[dict[str, Any]] = []
    refusals: list[Rejection] = []
    for found in check_up(place):
        exits.append(_exit(found))
        if found.refusal is not None:
            refusals.append(found.refusal)
        if as_json:
            wires.append(wire_of_checkup(found))
        else:
            _print(answer.out, found, show_all=show_all)
            answer.out.flush()
    if not exits:
        fault = file_unreadable(place, "no session log is in it")
        answer.refuse(complaint_of(f"{one_line(place)} holds no log", fault), Exit.UNREADABLE)
    code = gravest(exits)
    tally = {
        "logs": len(exits),
        "sound": exits.count(Exit.HOLDS),
        "damaged": exits.count(Exit.FINDING),
        "refused": len(exits) - exits.count(Exit.HOLDS) - exits.count(Exit.FINDING),
    }
    if as_json:
        fields: dict[str, Any] = {"logs": wires, "summary": tally, "exit_code": int(code)}
        if code in (Exit.UNREADABLE, Exit.UNSUPPORTED):
            fault = next(one for one in refusals if exit_of(one) is code)
            fields["error"] = wire_of(fault)
        answer.document(**fields)
    elif len(exits) > 1:
        answer.out.line()
        answer.out.line(
            f"{count(tally['logs'], 'log')}: {tally['sound']:,} sound, "
            f"{tally['damaged']:,} damaged, {tally['refused']:,} refused",
            "bold",
        )
    return code


def _exit(found: Checkup) -> Exit:
    if found.refusal is not None:
        return exit_of(found.refusal)
    breaks = any(one.severity != "note" for one in found.damages)
    return Exit.FINDING if breaks else Exit.HOLDS


def _word(found: Checkup) -> str:
    return {Exit.HOLDS: "sound", Exit.FINDING: "damaged"}.get(_exit(found), "refused")


def policies_of(found: Checkup) -> tuple[str, ...]:
    """The names of the policies that fit the damage."""
    return () if found.diagnosis is None else tuple(fitting_policies(found.diagnosis))


def wire_of_checkup(found: Checkup) -> dict[str, Any]:
    """A checkup as JSON."""
    told = found.diagnosis
    log = None if told is None else told.log
    rows = None if told is None else told.rows
    form = None if rows is None else rows.vocabulary.form.generation
    container = None if rows is None else "zstd" if rows.is_compressed else "plain"
    wire: dict[str, Any] = {
        "file": found.file,
        "verdict": _word(found),
        "generation": form,
        "container": container,
        "size": None if told is None else told.size,
        "events": None if log is None else len(log.session),
        "intact_events": 0 if told is None else told.intact,
        "lock": found.lock,
        "damages": [one.to_wire() for one in found.damages],
        "untold": 0 if told is None else told.untold,
        "branches": [] if told is None else [wire_of_branch(one) for one in told.branches],
        "later_turns": [] if told is None else list(told.later_turns),
        "policies": list(policies_of(found)),
    }
    if found.refusal is not None:
        wire["error"] = wire_of(found.refusal)
    return wire


def wire_of_branch(held: BranchHeld) -> dict[str, Any]:
    """What a branch holds, as JSON."""
    wire = attrs.asdict(held)
    lists = {key: list(fact) for key, fact in wire.items() if isinstance(fact, tuple)}
    return {"name": held.name, **wire, **lists}


# ---- for a person --------------------------------------------------------------------------------


def _print(out: Output, found: Checkup, *, show_all: bool) -> None:
    word = _word(found)
    style = {"sound": "good", "damaged": "warn"}.get(word, "bad")
    out.line(f"{out.paint(f'{word.upper():<9}', style)} {one_line(found.file)}")
    told = found.diagnosis
    if told is None:
        assert found.trouble is not None
        _print_wrapped(out, f"{found.trouble.code.value}: {found.trouble.message}", 2)
        return
    rows = told.rows
    if rows is not None:
        container = "zstd" if rows.is_compressed else "plain"
        read = "cannot be read" if told.refusal is not None else "can be read"
        intact = f"{count(told.intact, 'event')} before the first damage"
        named = f"{rows.vocabulary.form.generation}, {container}, {count(told.size, 'byte')}"
        out.line(f"  {named}: {read}; {intact}")
    if found.lock == "held":
        _print_wrapped(out, "a writer holds its lock: what looks torn may be half written", 2)
    by_kind: dict[str, list[Damage]] = {}
    for damage in found.damages:
        by_kind.setdefault(damage.kind, []).append(damage)
    for kind, damages in by_kind.items():
        _print_kind(out, kind, damages, show_all=show_all)
    if told.untold:
        out.line(f"  ... and {count(told.untold, 'damage')} more")
    for held in told.branches:
        _print_branch(out, held)
    if told.later_turns:
        turns = _turns(told.later_turns)
        _print_wrapped(out, f"behind the damage, whole but not to be joined on: {turns}", 2)
    policies = policies_of(found)
    if policies:
        _print_wrapped(out, f"policies that fit: {', '.join(policies)}", 2)


def _print_kind(out: Output, kind: str, damages: list[Damage], *, show_all: bool) -> None:
    shown = damages if show_all else damages[:SHOWN_PER_KIND]
    for damage in shown:
        label = out.paint(f"{damage.severity} {one_line(kind)}", _STYLES[damage.severity])
        place = place_of_damage(damage)
        out.line(
            f"  {label} {place}: {one_line(damage.says)}"
            if place
            else f"  {label}: {one_line(damage.says)}"
        )
    if len(shown) < len(damages):
        out.line(f"    ... and {len(damages) - len(shown):,} more; --all lists them")
    first = damages[0]
    if first.severity != "note":
        _print_wrapped(out, f"reading: {first.breaks.read}", 4, "dim")
        _print_wrapped(out, f"resuming: {first.breaks.resume}", 4, "dim")
        _print_wrapped(out, f"the next request: {first.breaks.next_request}", 4, "dim")
    _print_wrapped(out, f"now: {first.advice}", 4, "dim")


def place_of_damage(damage: Damage) -> str:
    """Line, frame, byte and seq of a damage, as far as they are known."""
    named = (
        ("line", damage.line_number),
        ("frame", damage.frame),
        ("byte", damage.byte_offset),
        ("seq", damage.seq),
    )
    return ", ".join(f"{name} {value}" for name, value in named if value is not None)


def _print_branch(out: Output, held: BranchHeld) -> None:
    split = "" if held.split_line is None else f" (line {held.split_line})"
    turns = f", {_turns(held.turns)}" if held.turns else ", no turn begun"
    only = "; only what a resume writes by itself" if held.only_closers else ""
    tail = f"{count(held.tail_events, 'event')} from seq {held.split_seq} on{split}"
    _print_wrapped(out, f"branch {held.name}: {tail}{turns}{only}", 2)


def _turns(turns: Iterable[Any]) -> str:
    named = [one_line(str(turn), 20) for turn in turns]
    more = f" and {len(named) - SHOWN_TURNS:,} more" if len(named) > SHOWN_TURNS else ""
    return f"turn{'' if len(named) == 1 else 's'} {', '.join(named[:SHOWN_TURNS])}{more}"


def _print_wrapped(out: Output, text: str, indent: int, style: str | None = None) -> None:
    for line in wrapped(one_line(text), out.width - indent):
        out.line(" " * indent + (out.paint(line, style) if style else line))
