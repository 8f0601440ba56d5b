"""Another program as the judge of logs: `bisect` and `minimise` ask it, by its exit code.

As for `git bisect run`: 0 is good, 125 is not to be judged, any other code up to 127 is bad, and
what is above ends the search. The program is started directly, never through a shell, with
the path of a temporary file that is gone afterwards.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from signal import Signals
from typing import IO, Any, Final, NoReturn

from returns.result import Failure

from dsh_fp.cli.answer import Answer
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import Complaint, complaint_of, usage_complaint
from dsh_fp.cli.safe import one_line
from dsh_fp.core.bisecting import Verdict
from dsh_fp.core.events import Event
from dsh_fp.core.rejection import storage_failed
from dsh_fp.storage.jsonl import event_line
from dsh_fp.storage.paths import encode_segment

PLACE: Final = "{}"
SKIP: Final = 125
ABORT: Final = 128
_LONGEST_NAME: Final = 200

Refuse = Callable[[Complaint, Exit], NoReturn]


class Judge:
    """A program that says of a log whether it is good or bad.

    `refuse` ends the command when the program gives up, or cannot be started, or no file can
    be written for it.
    """

    def __init__(
        self, answer: Answer, program: Sequence[str], session_id: str, refuse: Refuse
    ) -> None:
        self._answer = answer
        self._program = program
        self._file_name = file_name(session_id)
        self._refuse = refuse

    def judge(
        self, lines: Iterable[bytes], *, what: str, told: Mapping[str, str]
    ) -> tuple[Verdict, int]:
        """The verdict on the log of these lines, and the exit code.

        `what` names the log in complaints; `told` are variables of the program's environment.
        """
        code = self._exit_code(lines, told)
        if code < 0 or code >= ABORT:
            shown = one_line(shlex.join(self._program), 200)
            how = f"ended with {code}" if code > 0 else f"was ended by {_signal_name(-code)}"
            why = f"COMMAND {how} for {what}: {shown}"
            now = "Codes from 128 on end the search; 1 to 127 say bad, 125 not to be judged."
            self._refuse(usage_complaint("COMMAND_GAVE_UP", why, now), Exit.USAGE)
        verdict = Verdict.SKIP if code == SKIP else Verdict.BAD if code else Verdict.GOOD
        return verdict, code

    def _exit_code(self, lines: Iterable[bytes], told: Mapping[str, str]) -> int:
        """The exit code of the program for a log; negative for a signal."""
        prefix = f"dsh-fp-{self._answer.command}-"
        try:
            with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
                path = os.path.join(folder, self._file_name)
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with open(descriptor, "wb") as opened:
                    opened.writelines(line + b"\n" for line in lines)
                return self._started(path, told)
        except OSError as fault:
            refusal = storage_failed(tempfile.gettempdir(), fault.strerror or str(fault))
            what = f"no log could be written for COMMAND: {refusal.code.value}"
            self._refuse(complaint_of(what, refusal), Exit.UNREADABLE)

    def _started(self, path: str, told: Mapping[str, str]) -> int:
        filled = [part.replace(PLACE, path) for part in self._program]
        argv = filled if filled != list(self._program) else [*filled, path]
        environment = {**os.environ, "DSH_FP_LOG": path, **told}
        self._answer.out.flush()
        try:
            # Data goes to our standard output, so what COMMAND prints goes to standard error.
            started = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=_stderr(), env=environment
            )
        except (OSError, ValueError) as fault:
            cause = getattr(fault, "strerror", None) or str(fault)
            why = f"COMMAND could not be started: {one_line(argv[0], 200)}: {one_line(cause, 200)}"
            now = "Give a program and its arguments behind --; no shell looks at them."
            self._refuse(usage_complaint("COMMAND_NOT_STARTED", why, now), Exit.USAGE)
        with started:
            try:
                return started.wait()
            except BaseException:  # ctrl-C: nothing of the search goes on after it
                started.kill()
                started.wait()
                raise


def line_of(event: Event) -> bytes:
    """An event's line as it was read, without the LF; else as it is written."""
    line = event.line
    return event_line(event) if line is None else line


def file_name(session_id: str) -> str:
    """The name that a store would give the file of a session."""
    made = encode_segment(session_id)
    if isinstance(made, Failure) or len(made.unwrap()) > _LONGEST_NAME:
        return "log.jsonl"
    return f"{made.unwrap()}.jsonl"


def _signal_name(number: int) -> str:
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def _stderr() -> IO[Any] | int:
    """Our standard error for a child to write to; nowhere if it is no file."""
    stream = sys.stderr
    try:
        return stream if stream.fileno() >= 0 else subprocess.DEVNULL
    except (AttributeError, OSError, ValueError):
        return subprocess.DEVNULL
