"""Logs for the tests of the command, written by the library, and ways to run the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from click.testing import CliRunner, Result

from dsh_fp import Session, encode_log, unwrap
from dsh_fp.cli import main
from tests.shared import REPOSITORY

GARDEN: Final = str(REPOSITORY / "examples" / "garden.jsonl")
GARDEN_TORN: Final = str(REPOSITORY / "examples" / "garden-torn.jsonl")

USER: Final = {"kind": "user"}
CONFIG: Final = {"config": {"model": "tern-1"}, "system": "Be brief.\nBe kind."}


def text(words: str) -> list[dict[str, Any]]:
    """The content of a message that is one text."""
    return [{"type": "text", "text": words}]


class Log:
    """A log in the making: each call adds one event and answers its seq."""

    def __init__(self, id: str = "harbour", **header: Any) -> None:
        self.session = unwrap(Session.create(id, **header))

    def add(self, type: str, data: object, *, time: int = 1000, **place: Any) -> int:
        """Any event."""
        self.session = unwrap(self.session.append(type, data, time=time, **place))
        return len(self.session) - 1

    def say(self, words: str, **place: Any) -> int:
        """A message of the user, appended unless said otherwise."""
        data = {"content": text(words), "source": USER}
        return self.add("user/message", data, **{"surface_op": "append", **place})

    def replace(self, start: int, end: int, words: str, *, sources: Sequence[int]) -> int:
        """A message in the place of others."""
        op = {"op": "replace", "start": start, "end": end}
        return self.say(words, surface_op=op, source_event_seqs=list(sources))

    def open_step(self, turn: int = 1, step: int = 1, header: object = CONFIG) -> int:
        """A turn with a step and its request header, still open; answers the step's seq."""
        if step == 1:
            self.add("turn/start", {"turn": turn, "trigger": {"kind": "message", "source": USER}})
        seq = self.add("step/start", {"turn": turn, "step": step})
        if header is not None:
            self.add("request/header", {"header": header, "reason": "initial"})
        return seq

    def close(self, turn: int = 1, step: int = 1) -> None:
        """The end of that step and that turn."""
        self.add("step/end", {"turn": turn, "step": step})
        self.add("turn/end", {"turn": turn, "reason": {"kind": "completed"}})

    @property
    def content(self) -> bytes:
        """The bytes of the log's file."""
        return encode_log(self.session.header, self.session.events)

    def write(self, folder: Path, name: str = "log.txt") -> str:
        """The path of the log's file, written now."""
        return write(folder, self.content, name)


def write(folder: Path, content: bytes, name: str = "log.txt") -> str:
    """The path of a file with these bytes."""
    path = folder / name
    path.write_bytes(content)
    return str(path)


def sound() -> Log:
    """A log of one whole turn, nothing wrong with it."""
    log = Log()
    log.open_step()
    log.say("Is the tide in?")
    log.add(
        "assistant/message",
        {"turn": 1, "step": 1, "content": text("At noon.")},
        surface_op="append",
    )
    log.close()
    return log


def run(*args: str, given: bytes | None = None) -> Result:
    """The command run in this process."""
    return CliRunner().invoke(main, args, input=given, catch_exceptions=False)


def document(*args: str, given: bytes | None = None) -> dict[str, Any]:
    """What the command answers with --json."""
    written = run(*args, "--json", given=given).stdout_bytes
    answered: dict[str, Any] = json.loads(written, parse_constant=_no_json)
    return answered


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def argv(*args: str) -> list[str]:
    """The command line that runs the command in a process of its own."""
    return [sys.executable, "-m", "dsh_fp.cli", *args]


def environment(**more: str) -> Mapping[str, str]:
    """This process's environment, in which the package is found and nothing asks for colour."""
    unwanted = ("NO_COLOR", "COLUMNS", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8")
    kept = {key: value for key, value in os.environ.items() if key not in unwanted}
    return {**kept, "PYTHONPATH": str(REPOSITORY), **more}


def spawn(*args: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The command run to its end in a process of its own."""
    options = {"capture_output": True, "env": environment(), "timeout": 60, **options}
    return subprocess.run(argv(*args), check=False, **options)
