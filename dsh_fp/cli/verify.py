"""`dsh-fp verify LOG...`: a verdict on each log, and its findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import attrs
import click

from dsh_fp.cli.answer import Answer, common_options, count, log_name, open_log
from dsh_fp.cli.exits import Exit, gravest
from dsh_fp.cli.faults import complaint_of, exit_of, place_of, tell, wire_of
from dsh_fp.cli.page import Page
from dsh_fp.cli.safe import one_line, wrapped
from dsh_fp.core.rejection import Rejection
from dsh_fp.storage.jsonl import LogFile

if TYPE_CHECKING:
    from dsh_fp.cli.certified import Certified

SHOWN_PER_CODE: Final = 20
SHOWN_TYPES: Final = 8
_SEVERITY_STYLES: Final = {"error": "bad", "finding": "warn", "note": "dim"}


@attrs.frozen
class Verdict:
    """What was found out about one log: the log, or why it is refused.

    `certified` is what came of holding it against a certificate, where there was one.
    """

    log: str
    opened: LogFile | Rejection
    certified: Certified | None = None

    @property
    def word(self) -> str:
        """`ok`, `findings` or `refused`; `extends` or `differs` by its certificate."""
        if self.certified is not None and not self.certified.comparison.holds:
            return self.certified.comparison.verdict
        return {Exit.HOLDS: "ok", Exit.FINDING: "findings"}.get(self.exit, "refused")

    @property
    def exit(self) -> Exit:
        """The exit code for this log alone."""
        opened = self.opened
        if isinstance(opened, Rejection):
            return exit_of(opened)
        breaks = any(finding.severity != "note" for finding in opened.findings)
        if self.certified is not None:
            breaks = breaks or not self.certified.comparison.holds
        return Exit.FINDING if breaks else Exit.HOLDS

    def to_wire(self) -> dict[str, Any]:
        """The verdict as JSON."""
        wire: dict[str, Any] = {"file": log_name(self.log), "verdict": self.word}
        opened = self.opened
        if isinstance(opened, Rejection):
            return {**wire, "error": wire_of(opened)}
        return {
            **wire,
            "session": opened.header.to_wire(),
            "events": len(opened.session),
            "turns": turns_of(opened),
            "nodes": len(opened.session.surface),
            "good_bytes": opened.good_bytes,
            "size": opened.size,
            "unknown_types": opened.unknown_types,
            "findings": [wire_of(finding) for finding in opened.findings],
            **({} if self.certified is None else {"certificate": self.certified.to_wire()}),
        }


def turns_of(opened: LogFile) -> int:
    """How many turns were begun in a log."""
    return sum(event.type == "turn/start" for event in opened.session.events)


@click.command("verify")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@click.option("show_all", "--all", is_flag=True, help="List every finding, however many.")
@click.option(
    "--certificate", metavar="C", help="Say whether the one LOG is what this file certifies."
)
@click.option(
    "--public-key",
    "key",
    metavar="K",
    help="Public key file (PEM or OpenSSH) that must have signed the certificate.",
)
@click.option("--signature", metavar="S", help="The signature of C, when it is not C.sig.")
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    logs: tuple[str, ...],
    show_all: bool,
    certificate: str | None,
    key: str | None,
    signature: str | None,
    as_json: bool,
    color: str,
) -> int:
    """Say of each LOG whether it holds, and what is wrong where.

    A log is refused when it cannot be read or an event in it breaks the format; it has
    findings when it can be read but something in it is not as it should be. Notes, such as a
    clock that was set back, leave a log OK.

    With --certificate the first event and the first request that differ are named, if any.
    """
    if certificate is not None and len(logs) != 1:
        raise click.UsageError("--certificate is about one LOG.")
    if key is not None and certificate is None:
        raise click.UsageError("--public-key needs --certificate C.")
    if signature is not None and key is None:
        raise click.UsageError("--signature needs --public-key K.")
    if [*logs, certificate, key, signature].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once.")
    answer = Answer("verify", as_json=as_json, color=color)
    given = None
    if certificate is not None:
        from dsh_fp.cli.certified import given_certificate

        given = given_certificate(answer, certificate, signature, key)
    exits: list[Exit] = []
    wires: list[dict[str, Any]] = []
    for log in logs:
        # One log at a time is held: many large ones need no more memory than the largest.
        opened = open_log(log)
        certified = None
        if given is not None and not isinstance(opened, Rejection):
            from dsh_fp.cli.certified import held_against

            certified = held_against(opened, given)
        verdict = Verdict(log, opened, certified)
        exits.append(verdict.exit)
        if as_json:
            wires.append(verdict.to_wire())
        else:
            _print(answer, verdict, show_all=show_all)
            answer.out.flush()
    code = gravest(exits)
    tally = {
        "logs": len(exits),
        "hold": exits.count(Exit.HOLDS),
        "with_findings": exits.count(Exit.FINDING),
        "refused": len(exits) - exits.count(Exit.HOLDS) - exits.count(Exit.FINDING),
    }
    if as_json:
        fields: dict[str, Any] = {"logs": wires, "summary": tally, "exit_code": int(code)}
        if code in (Exit.UNREADABLE, Exit.UNSUPPORTED):
            fields["error"] = wires[exits.index(code)]["error"]
        answer.document(**fields)
    elif len(logs) > 1:
        answer.out.line()
        answer.out.line(
            f"{count(tally['logs'], 'log')}: {tally['hold']:,} hold, "
            f"{tally['with_findings']:,} with findings, {tally['refused']:,} refused",
            "bold",
        )
    return code


def _print(answer: Answer, verdict: Verdict, *, show_all: bool) -> None:
    out, opened = answer.out, verdict.opened
    name = one_line(log_name(verdict.log))
    if isinstance(opened, Rejection):
        place = place_of(opened, with_file=False)
        where = f" ({place})" if place else ""
        out.line(f"{out.paint('REFUSED', 'bad')}   {name}: {opened.code.value}{where}")
        out.flush()
        tell(answer.err, complaint_of(f"{name} is refused: {opened.code.value}", opened))
        return
    word = verdict.word.upper()
    session = opened.session
    style = "good" if verdict.exit is Exit.HOLDS else "warn"
    out.line(f"{out.paint(f'{word:<9}', style)} {name}")
    out.line(
        f'  session "{one_line(opened.header.id, 80)}": {count(len(session), "event")}, '
        f"{count(turns_of(opened), 'turn')}, {count(len(session.surface), 'node')}, "
        f"{opened.good_bytes:,} of {count(opened.size, 'byte')} good"
    )
    if verdict.certified is not None:
        from dsh_fp.cli.certified import print_certified

        print_certified(Page(out, full=True), opened, verdict.certified)
    _print_findings(answer, opened.findings, show_all=show_all)
    unknown = opened.unknown_types
    if unknown:
        kept = sorted(unknown.items(), key=lambda item: -item[1])
        shown = kept if show_all else kept[:SHOWN_TYPES]
        named = ", ".join(f"{one_line(kind, 60)} ({times:,})" for kind, times in shown)
        more = f" and {len(kept) - len(shown):,} more" if len(shown) < len(kept) else ""
        _print_wrapped(answer, f"unknown types, kept as they are: {named}{more}", 2, "dim")


def _print_findings(answer: Answer, findings: Iterable[Rejection], *, show_all: bool) -> None:
    """The findings by code, the code of the first one first; what to do once a code."""
    out = answer.out
    by_code: dict[str, list[Rejection]] = {}
    for finding in findings:
        by_code.setdefault(finding.code.value, []).append(finding)
    for code, found in by_code.items():
        shown = found if show_all else found[:SHOWN_PER_CODE]
        for finding in shown:
            label = out.paint(f"{finding.severity} {code}", _SEVERITY_STYLES[finding.severity])
            out.line(f"  {label} {place_of(finding, with_file=False)}: {one_line(finding.message)}")
        if len(shown) < len(found):
            out.line(f"    ... and {len(found) - len(shown):,} more {code}; --all lists them")
        _print_wrapped(answer, found[0].advice, 4, "dim")


def _print_wrapped(answer: Answer, text: str, indent: int, style: str) -> None:
    for line in wrapped(text, answer.out.width - indent):
        answer.out.line(" " * indent + answer.out.paint(line, style))
