"""Writer processes: forked, listened to, and killed."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import time
import traceback
from collections.abc import Callable
from typing import Final, Self

from benchmarks.crash.places import Place
from benchmarks.crash.writer import Promise, WriterProcess

_LAST_WORDS_S: Final = 60.0
_PIECE: Final = 1 << 16


class WriterFailedError(Exception):
    """A writer process ended by a failure of its own; holds its traceback."""


class Child:
    """A writer process, and what it has promised so far."""

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid = pid
        self.promises: list[Promise] = []
        self._pipe = pipe
        self._rest = b""
        self._failure: list[str] = []

    @classmethod
    def start(
        cls,
        place: Place,
        seed: int,
        *,
        shares: bool,
        dies: bool,
        is_over: Callable[[], bool] = lambda: False,
    ) -> Self:
        """Fork a writer; with `dies` it kills itself sooner or later."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            return cls(pid, reading)
        status = 0
        try:
            os.close(reading)
            rng = random.Random(seed)
            backend = place.dying(rng) if dies else place.backend()
            WriterProcess(backend, rng, writing).run(shares=shares, is_over=is_over)
        except BaseException:  # noqa: BLE001  # told to the parent, whatever it is
            told = json.dumps({"failure": traceback.format_exc()})
            os.write(writing, told.encode() + b"\n")
            status = 1
        finally:
            os._exit(status)

    def listen(self, seconds: float) -> bool:
        """Take in what comes within so many seconds; False when the process has ended."""
        deadline = time.monotonic() + seconds
        while True:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._pipe], [], [], left)[0]:
                return True
            piece = os.read(self._pipe, _PIECE)
            if not piece:
                return False
            *lines, self._rest = (self._rest + piece).split(b"\n")
            for line in lines:
                told = json.loads(line)
                if "failure" in told:
                    self._failure.append(told["failure"])
                else:
                    self.promises.append(Promise(**told))

    def wait_for_promise(self, seconds: float) -> bool:
        """Whether it promises something more within so many seconds."""
        before, deadline = len(self.promises), time.monotonic() + seconds
        while len(self.promises) == before and time.monotonic() < deadline:
            if not self.listen(0.002):
                break
        return len(self.promises) > before

    def kill(self) -> bool:
        """End it by SIGKILL, take in what it had still said; whether it died of a SIGKILL.

        Raises WriterFailedError when it had failed before.
        """
        os.kill(self.pid, signal.SIGKILL)
        return self.end() == -signal.SIGKILL

    def end(self) -> int:
        """Wait for its end; its exit status, or minus the signal it died of."""
        while self.listen(_LAST_WORDS_S):
            pass
        os.close(self._pipe)
        _, status = os.waitpid(self.pid, 0)
        if self._failure:
            raise WriterFailedError(self._failure[0])
        return os.waitstatus_to_exitcode(status)
