"""The smallest case on which a law broke, as a log file and as a record of what was asked."""

from __future__ import annotations

import ast
import json
import linecache
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final

from property_specs.conforming.protocol import refusal_wire
from property_specs.core import Refused
from property_specs.models.json_values import Lossy, settle, write

_SHOWN: Final = 600
_DEEPEST: Final = 40
_FIELDS: Final = ("header", "prev", "next", "base", "delta")


@dataclass(frozen=True)
class Counterexample:
    """One case on which a law broke.

    `log` is what it was about, `question` the last thing asked, `why` what did not hold.
    Where a law is about headers or chunks, the log is one of events that hold them.
    """

    log: tuple[Any, ...]
    question: dict[str, Any]
    case: dict[str, Any]
    why: str

    @property
    def events(self) -> int:
        """How many events it has."""
        return len(self.log)

    def text(self) -> str:
        """The log as a file of the JSON Lines format."""
        header = {"type": "session", "version": 0, "id": "counterexample", "createdAt": 0}
        return "".join(f"{_line(each)}\n" for each in (header, *self.log))

    def wire(self) -> dict[str, Any]:
        """The record as JSON."""
        return {"why": self.why, "question": self.question, "case": self.case}


def counterexample(
    case: Mapping[str, Any],
    log: list[Any] | None,
    calls: list[tuple[str, tuple[Any, ...], Any]],
    fault: BaseException,
) -> Counterexample:
    """What is kept of a case that failed."""
    about = log if log is not None else _log_of_case(case)
    question: dict[str, Any] = {}
    if calls:
        name, given, answer = calls[-1]
        question = {"asked": name, "answer": told(answer)}
        if not isinstance(given[0] if given else None, list) or name not in ("accept", "fold"):
            question["arguments"] = [told(each) for each in given]
    shown = {name: told(value) for name, value in case.items()}
    return Counterexample(tuple(told(each) for each in about), question, shown, why(fault))


def size_of(case: Mapping[str, Any], log: list[Any] | None) -> tuple[int, int]:
    """How large a case is: events, then characters."""
    about = log if log is not None else _log_of_case(case)
    return len(about), len(repr(about)) + len(repr(case))


def _log_of_case(case: Mapping[str, Any]) -> list[Any]:
    """A log that shows a case without one."""
    events: list[tuple[str, Any]] = []
    for name, value in case.items():
        if name in ("log", "events") and isinstance(value, list):
            return value
        if name == "chunks" and isinstance(value, list):
            place = {"turn": 1, "step": 1}
            events += [("assistant/chunk", {**place, "chunk": chunk}) for chunk in value]
        elif name == "delta":
            events.append(("request/header-delta", value))
        elif name in _FIELDS:
            events.append(("request/header", {"header": value, "reason": "initial"}))
        elif name == "sequence" and isinstance(value, list):
            events += [("request/header", {"header": each, "reason": "initial"}) for each in value]
    return [
        {"type": kind, "seq": seq, "time": 0, "data": data}
        for seq, (kind, data) in enumerate(events)
    ]


# ---- as JSON -----------------------------------------------------------------------------------


def told(value: Any, depth: int = 0) -> Any:
    """A value as JSON; what JSON has not is told in words."""
    if isinstance(value, Refused):
        return {"refused": refusal_wire(value)}
    if depth > _DEEPEST:
        return {"deeper than is told": True}
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {key: told(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [told(item, depth + 1) for item in value]
    try:
        return settle(value)
    except (Lossy, RecursionError):
        return {"not JSON": repr(value)[:_SHOWN]}


def _line(value: Any) -> str:
    return write(value)


def as_json(value: Any) -> str:
    """A record as a file."""
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"


# ---- in words ----------------------------------------------------------------------------------


def why(fault: BaseException) -> str:
    """What did not hold: the fault's own words, or the assertion and the values in it."""
    own = str(fault)
    if not isinstance(fault, AssertionError):
        return f"{type(fault).__name__}: {own}"[:_SHOWN]
    frame, line = _place(fault.__traceback__)
    said = [line] if line and type(fault) is AssertionError else []
    said += [own[:_SHOWN]] if own else []
    if frame is not None and type(fault) is AssertionError:
        said += _values(line, frame)
    return "\n".join(said) or type(fault).__name__


def _place(trace: TracebackType | None) -> tuple[FrameType | None, str]:
    """The innermost frame in a file of laws, and the statement that it stands at."""
    found: tuple[FrameType | None, str] = (None, "")
    for frame, number in traceback.walk_tb(trace):
        path = Path(frame.f_code.co_filename)
        if path.name.startswith("test_") and path.parent.name == "property_specs":
            found = frame, _statement(str(path), number)
    return found


def _statement(path: str, number: int) -> str:
    """The whole statement around a line, on one line."""
    lines = linecache.getlines(path)
    for length in range(1, 12):
        text = "".join(lines[number - 1 : number - 1 + length]).strip()
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        return " ".join(text.split())
    return ""


def _values(statement: str, frame: FrameType) -> Iterator[str]:
    """The values of the local names that a statement mentions."""
    try:
        tree = ast.parse(statement)
    except SyntaxError:
        return
    names = dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    for name in names:
        value = frame.f_locals.get(name)
        plain = isinstance(value, bool | int | float | str | list | dict | tuple | Refused)
        if name in frame.f_locals and (plain or value is None):
            yield f"  {name} = {repr(value)[:_SHOWN]}"
