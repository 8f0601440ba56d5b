"""The process door: one JSON request a line on stdin, one JSON answer a line on stdout.

Nothing in here trusts the process: it may print garbage or nothing, die, hang, or never end a
line. Each of these is a BadAnswer that says so, with the last lines of its standard error;
the next question starts it anew.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

from property_specs.conforming.doors import BadAnswer, Unusable
from property_specs.conforming.protocol import (
    NAME,
    NOT_JSON,
    VERSION,
    NotOffered,
    Senseless,
    checked_capabilities,
    refused_of,
)
from property_specs.models.json_values import Lossy, settle

MAX_ANSWER_BYTES: Final = 16 * 2**20
TIMEOUT_SECONDS: Final = 10.0
MAX_STARTS: Final = 200
_STDERR_LINES: Final = 20
_STDERR_LINE_BYTES: Final = 500
_SHOWN: Final = 200
_QUEUED: Final = 16
_GRACE_SECONDS: Final = 2.0
_END: Final = None
_TOO_LONG: Final = b""


class _Running:
    """One life of the process, with a thread for each of its three streams."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
        self.lines: queue.Queue[bytes | None] = queue.Queue(_QUEUED)
        self.requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.said: deque[str] = deque(maxlen=_STDERR_LINES)
        self.is_over = threading.Event()
        self._readers = [
            threading.Thread(target=run, daemon=True) for run in (self._write, self._read)
        ]
        self._listener = threading.Thread(target=self._listen, daemon=True)
        for thread in (*self._readers, self._listener):
            thread.start()

    def _write(self) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        with suppress(OSError, ValueError):
            while (request := self.requests.get()) is not None:
                stdin.write(request)
                stdin.flush()
        with suppress(OSError):
            stdin.close()

    def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        with suppress(OSError, ValueError):
            while line := stdout.readline(MAX_ANSWER_BYTES + 1):
                if not line.endswith(b"\n") and len(line) > MAX_ANSWER_BYTES:
                    self._put(_TOO_LONG)
                    break
                if not self._put(line):
                    break
        self._put(_END)

    def _put(self, line: bytes | None) -> bool:
        while not self.is_over.is_set():
            with suppress(queue.Full):
                self.lines.put(line, timeout=0.1)
                return True
        return False

    def _listen(self) -> None:
        stderr = self.process.stderr
        assert stderr is not None
        with suppress(OSError, ValueError):
            while line := stderr.readline(_STDERR_LINE_BYTES):
                self.said.append(line.decode(errors="replace").rstrip("\n"))

    def end(self, *, at_once: bool) -> None:
        """End it, and what it started: politely, unless it is in the way."""
        self.is_over.set()
        self.requests.put(None)
        if not at_once:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_GRACE_SECONDS)
        if self.process.poll() is None:
            self._kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE_SECONDS)
        for thread in (*self._readers, self._listener):
            thread.join(_GRACE_SECONDS)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError, ValueError):
                    stream.close()

    def _kill(self) -> None:
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()


class ProcessDoor:
    """A command that speaks the protocol of docs/reference/conform-protocol.md.

    Units:   timeout, in seconds, is for each answer.
    Errors:  Unusable when it cannot be started, or says no hello that makes sense.
    """

    kind: str = "process"

    def __init__(self, command: Sequence[str], timeout: float = TIMEOUT_SECONDS) -> None:
        self.name = command[0]
        self._command = list(command)
        self._timeout = timeout
        self._running: _Running | None = None
        self._asked = 0
        self.starts = 0
        self.capabilities: frozenset[str] = frozenset()
        self._start()

    def ask(self, operation: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of the process."""
        if operation not in self.capabilities:
            raise NotOffered(operation)
        if self._running is None:
            try:
                self._start()
            except Unusable as fault:
                raise BadAnswer(str(fault)) from None
        return self._exchange(operation, arguments)

    def close(self) -> None:
        """End the process."""
        if self._running is not None:
            self._running.end(at_once=False)
            self._running = None

    def _start(self) -> None:
        if self.starts >= MAX_STARTS:
            raise Unusable(f"{self.name}: it had to be started {MAX_STARTS} times; no more")
        self.starts += 1
        try:
            self._running = _Running(self._command)
        except (OSError, ValueError) as fault:
            raise Unusable(f"{self.name} cannot be started: {fault}") from None
        try:
            hello = self._exchange("hello", {"protocol": NAME, "version": VERSION})
        except BadAnswer as fault:
            raise Unusable(str(fault)) from None
        try:
            self._take_hello(hello)
        except Senseless as fault:
            self.close()
            raise Unusable(f"{self.name}: {fault}") from None

    def _take_hello(self, hello: Any) -> None:
        if not isinstance(hello, dict) or hello.get("protocol") != NAME:
            raise Senseless(f"its hello does not name the protocol {NAME!r}")
        if hello.get("version") != VERSION or hello["version"] is True:
            version = str(hello.get("version"))[:_SHOWN]
            raise Senseless(f"it speaks version {version} of the protocol, we speak {VERSION}")
        claimed = checked_capabilities(hello.get("capabilities"))
        if NOT_JSON in claimed:
            raise Senseless(f"it claims {NOT_JSON!r}, which no process can be asked")
        self.capabilities = claimed
        if isinstance(hello.get("name"), str):
            self.name = hello["name"][:_SHOWN]

    def _exchange(self, operation: str, arguments: Mapping[str, Any]) -> Any:
        running = self._running
        assert running is not None
        self._asked += 1
        request = {"id": self._asked, "op": operation, **arguments}
        running.requests.put(json.dumps(request, separators=(",", ":")).encode() + b"\n")
        try:
            line = running.lines.get(timeout=self._timeout)
        except queue.Empty:
            self._fail(f"gave no answer to {operation!r} in {self._timeout:g} s")
        if line is _END:
            code = self._wait()
            self._fail(f"ended ({code}) when asked {operation!r}")
        if line == _TOO_LONG:
            self._fail(f"answered {operation!r} with a line of more than {MAX_ANSWER_BYTES} bytes")
        return self._answer(operation, line)

    def _answer(self, operation: str, line: bytes) -> Any:
        try:
            answer = settle(_read_json(line))
        except (ValueError, RecursionError, Lossy):
            self._fail(f"answered {operation!r} with no JSON that can be used: {_shown(line)}")
        if not isinstance(answer, dict) or answer.get("id") != self._asked:
            self._fail(f"answered {operation!r} without its id {self._asked}: {_shown(line)}")
        if isinstance(answer.get("error"), str):
            raise BadAnswer(f"{operation} failed in the server: {answer['error'][:_SHOWN]}")
        if "refused" in answer:
            try:
                return refused_of(answer["refused"])
            except Senseless as fault:
                raise BadAnswer(f"{operation} answered no refusal: {fault}") from None
        if "answer" not in answer:
            self._fail(f"answered {operation!r} with no 'answer', 'refused' or 'error'")
        return answer["answer"]

    def _wait(self) -> str:
        assert self._running is not None
        try:
            code = self._running.process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return "its output is closed, it still runs"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def _fail(self, why: str) -> NoReturn:
        running = self._running
        assert running is not None
        self._running = None
        running.end(at_once=True)
        said = "".join(f"\n  stderr: {line}" for line in running.said)
        raise BadAnswer(f"{self.name} {why}{said}")


def _read_json(line: bytes) -> Any:
    return json.loads(line.decode(), parse_int=_integer, parse_constant=_no_constant)


def _integer(literal: str) -> float:
    # A number is the double nearest to it; Python's integers know no limit.
    return int(literal) if len(literal) < 16 else float(literal)


def _no_constant(literal: str) -> NoReturn:
    raise ValueError(literal)


def _shown(line: bytes) -> str:
    text = line[:_SHOWN].decode(errors="replace").rstrip("\n")
    return text + ("..." if len(line) > _SHOWN else "")
