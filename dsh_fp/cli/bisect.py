"""`dsh-fp bisect LOG -- COMMAND...`: the first prefix of a log for which a program fails.

The program judges a prefix by its exit code, as for `git bisect run`. It is started directly,
never through a shell, with the path of a temporary file that holds the prefix.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

import attrs
import click

from dsh_fp.cli.answer import Answer, common_options, count, log_argument
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import Complaint, usage_complaint
from dsh_fp.cli.judging import Judge, line_of
from dsh_fp.cli.page import scalar
from dsh_fp.cli.safe import one_line
from dsh_fp.core.bisecting import Search, Verdict, boundaries
from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.session import Session
from dsh_fp.storage.jsonl import LogFile

_SHOWN: Final = 20
_ENDINGS: Final = {"step": "step/end", "turn": "turn/end"}


@click.command("bisect")
@log_argument
@click.argument("program", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--by",
    type=click.Choice(["event", "step", "turn"]),
    default="event",
    show_default=True,
    help="Try prefixes that end anywhere, or only where a step or a turn ends.",
)
@common_options
def command(log: str, program: tuple[str, ...], by: str, as_json: bool, color: str) -> int:
    """Find the first prefix of LOG for which COMMAND fails, in few runs of it.

    COMMAND is run with the path of a file that holds a prefix of LOG: in the place of each {} in
    its arguments, or behind them. It exits with 0 for a prefix that is still good, 125 for one
    that it cannot judge, any other code up to 127 for a bad one; 128 and above ends the search.
    Once a prefix is bad, all longer ones are taken to be bad.

    No shell is involved unless COMMAND is one. With sh -c write {} in the script, or
    "$DSH_FP_LOG"; "$1" needs one more word behind it. Since when is a word in the log?

        dsh-fp bisect LOG -- sh -c '! grep -q roquette {}'
    """
    answer = Answer("bisect", as_json=as_json, color=color)
    opened = answer.open(log)
    answer.mention_torn_tail(opened)
    run = _Run(answer, opened, log, program, by)
    search = run.search()
    return run.tell(search)


@attrs.frozen
class Trial:
    """What the program said of one prefix."""

    length: int
    verdict: Verdict
    exit_code: int

    def to_wire(self) -> dict[str, Any]:
        """The trial as JSON."""
        seq = self.length - 1 if self.length else None
        return {
            "length": self.length,
            "seq": seq,
            "verdict": self.verdict.value,
            "exit_code": self.exit_code,
        }


class _Run:
    """One search: its trials so far, and how it ends."""

    def __init__(
        self, answer: Answer, opened: LogFile, log: str, program: Sequence[str], by: str
    ) -> None:
        self._answer = answer
        self._opened = opened
        self._log = log
        self._judge = Judge(answer, program, opened.header.id, self._refuse)
        self._by = by
        self._trials: list[Trial] = []

    def search(self) -> Search:
        """The search when nothing is left to try; ends the command when an end disagrees."""
        session = self._opened.session
        lengths = boundaries(session, _ENDINGS[self._by]) if self._by in _ENDINGS else None
        search = Search.among(range(len(session) + 1) if lengths is None else lengths)
        last = self._try(search.lengths[-1], search)
        if last is not Verdict.BAD:
            said = "good" if last is Verdict.GOOD else "not to be judged"
            why = f"the whole log is {said}, so no prefix is known to be bad"
            self._refuse(
                usage_complaint(
                    "END_NOT_BAD",
                    why,
                    "COMMAND must fail for the whole log (exit 1 to 127, but not 125).",
                ),
                Exit.FINDING,
            )
        first = search.lengths[0]
        if search.bad > 0:
            verdict = self._try(first, search)
            search = search.told(first, verdict)
        if search.bad == 0:
            self._refuse(
                usage_complaint(
                    "START_NOT_GOOD",
                    "the log is bad from the start, before its first event",
                    "COMMAND must exit with 0 for a log without events.",
                ),
                Exit.FINDING,
            )
        while (length := search.next) is not None:
            search = search.told(length, self._try(length, search))
        return search

    def tell(self, search: Search) -> int:
        """Print the answer; the exit code."""
        candidates = search.candidates
        code = Exit.HOLDS if len(candidates) == 1 else Exit.FINDING
        session, answer = self._opened.session, self._answer
        if answer.as_json:
            found = self._wire(candidates[0]) if code is Exit.HOLDS else None
            answer.document(
                **self._known,
                first_bad=found,
                last_good=None if search.last_good is None else self._wire(search.last_good),
                candidates=list(candidates),
                exit_code=int(code),
            )
            return code
        out, tried = answer.out, count(len(self._trials), "trial")
        name = one_line(self._opened.header.id, 80)
        if code is Exit.HOLDS:
            length = candidates[0]
            out.line(
                f'session "{name}": the first bad prefix has {count(length, "event")} ({tried})',
                "bold",
            )
            self._labelled("bad", _told(session, length))
            if search.last_good is not None:
                self._labelled("good", _told(session, search.last_good))
            path = one_line(shlex.quote(self._log))
            self._labelled("look", f"dsh-fp messages {path} --at {length - 1}")
            return code
        out.line(
            f'session "{name}": the first bad prefix is one of {len(candidates):,} ({tried})',
            "bold",
        )
        shown = candidates[:_SHOWN]
        for length in shown:
            self._labelled("perhaps", _told(session, length))
        if len(shown) < len(candidates):
            self._labelled("", f"and {len(candidates) - len(shown):,} more")
        self._labelled("why", "COMMAND could not judge the prefixes between (exit 125)")
        return code

    @property
    def _known(self) -> dict[str, Any]:
        return {
            "session": self._opened.header.to_wire(),
            "events": len(self._opened.session),
            "by": self._by,
            "trials": [trial.to_wire() for trial in self._trials],
        }

    def _refuse(self, complaint: Complaint, code: Exit) -> NoReturn:
        self._answer.refuse(complaint, code, **self._known)

    def _labelled(self, label: str, text: str) -> None:
        self._answer.out.line(f"  {label:<9} {text}")

    def _wire(self, length: int) -> dict[str, Any]:
        """A prefix by its last event."""
        if not length:
            nothing = dict.fromkeys(("seq", "type", "turn", "step", "time"))
            return {"length": 0, **nothing}
        event = self._opened.session.events[length - 1]
        turn, step = place_of(self._opened.session, event)
        return {
            "length": length,
            "seq": event.seq,
            "type": event.type,
            "turn": turn,
            "step": step,
            "time": event.time,
        }

    def _try(self, length: int, search: Search) -> Verdict:
        """What the program says of a prefix; ends the command when it gives up."""
        told = {
            "DSH_FP_LENGTH": str(length),
            "DSH_FP_SEQ": str(length - 1) if length else "",
        }
        what = f"the prefix of {count(length, 'event')}"
        verdict, code = self._judge.judge(self._lines(length), what=what, told=told)
        self._trials.append(Trial(length, verdict, code))
        self._mention(length, verdict, search)
        return verdict

    def _mention(self, length: int, verdict: Verdict, search: Search) -> None:
        """Tell a person how far the search is: in full on a terminal, tersely elsewhere."""
        err = self._answer.err
        where = f"seq {length - 1}" if length else "no events"
        word = "skipped" if verdict is Verdict.SKIP else verdict.value
        if not err.is_terminal:
            err.line(f"{where}: {word}")
            return
        left = len(search.candidates)
        err.line(
            f"trial {len(self._trials)}: {count(length, 'event')}, {where}: "
            f"{err.paint(word, {'good': 'good', 'bad': 'bad'}.get(word, 'warn'))} "
            f"(there were {left:,} to choose from)"
        )

    def _lines(self, length: int) -> Iterator[bytes]:
        """The lines of the file that holds a prefix: those of the log itself."""
        yield self._opened.scan.header_line
        yield from map(line_of, self._opened.session.events[:length])


def place_of(session: Session, event: Event) -> tuple[AnyJson, AnyJson]:
    """The turn and step of an event: those it names, else those that are open there."""
    data = event.peek_data()
    fields: Mapping[str, Any] = data if isinstance(data, JsonObject) else {}
    turn, step = fields.get("turn"), fields.get("step")
    in_step = step is None and event.type not in ("turn/start", "turn/end")
    for seq in range(event.seq - 1, -1, -1):
        if turn is not None and not in_step:
            break
        earlier = session.events[seq]
        if earlier.type in ("turn/end", "turn/start", "step/end", "step/start"):
            own = earlier.peek_data()
            named: Mapping[str, Any] = own if isinstance(own, JsonObject) else {}
            if earlier.type == "turn/end":
                break
            if in_step and earlier.type == "step/start":
                step = named.get("step")
            in_step = False
            turn = named.get("turn") if turn is None else turn
    return turn, step


def _told(session: Session, length: int) -> str:
    """A prefix by its last event, in a line."""
    if not length:
        return "no events"
    event = session.events[length - 1]
    turn, step = place_of(session, event)
    where = [f"turn {scalar(turn, 24)}"] if turn is not None else []
    where += [f"step {scalar(step, 24)}"] if step is not None else []
    told = f"seq {event.seq} {one_line(event.type, 60)}"
    return f"{told} ({', '.join(where)})" if where else told
