"""How model calls ended that the log is silent about: the lines of a side file.

A log holds what came out of a call. That a call threw, and what, or that it hung, it mostly
does not: a side file of JSON lines says so, one call a line. It is ours, not the log's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import is_number, is_seq
from dsh_fp.core.lossless import AnyJson, JsonObject, parse_value, to_text
from dsh_fp.core.rejection import Rejection, ending_invalid, shown

_KEYS: Final = frozenset(
    {"session", "turn", "step", "seq", "error", "never_ends", "after_chunks"},
)


@attrs.frozen
class Ending:
    """How one model call ended: it threw `error`, or, when that is None, it never ended.

    The call is named by turn and step, or by the seq of the event that began it.

    Units:   after_chunks counts the chunks that came before the end; None: all the log has.
    """

    error: JsonObject | None
    turn: int | None = None
    step: int | None = None
    seq: int | None = None
    session: str | None = None
    after_chunks: int | None = None
    line_number: int | None = None

    @property
    def name(self) -> str:
        """The call it is about, in words."""
        return f"turn {self.turn}, step {self.step}" if self.seq is None else f"seq {self.seq}"


def parse_endings(lines: Iterable[str]) -> Result[tuple[Ending, ...], Rejection]:
    """The endings that the lines of a side file tell; blank lines are skipped.

    Lines that name one call in different ways are told from a script: `Script.faults`.

    Shapes:  {"turn", "step"} or {"seq"}; {"error": {"name", "message", "code"?}} or
             {"never_ends": true}; "after_chunks"?, "session"?; no other keys.
    Errors:  ENDING_INVALID with the line's number.
    Source:  docs/reference/replay.md, "The side file".
    """
    endings: list[Ending] = []
    named: dict[tuple[object, ...], int] = {}
    for line_number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        ending = _ending(line, line_number)
        if isinstance(ending, Rejection):
            return Failure(ending)
        name = (ending.session, ending.turn, ending.step, ending.seq)
        if name in named:
            what = f"line {named[name]} names the same call"
            return Failure(ending_invalid(what, line_number))
        named[name] = line_number
        endings.append(ending)
    return Success(tuple(endings))


def named_twice(first: Ending, second: Ending, call: str) -> Rejection:
    """The fault of a second ending for a call."""
    lines = first.line_number, second.line_number
    both = "two endings" if None in lines else f"lines {lines[0]} and {lines[1]}"
    return ending_invalid(f"{both} name the same call: {call}", second.line_number)


def too_many_chunks(ending: Ending, call: str, most: int) -> Rejection:
    """The fault of an ending after more chunks than the call gives."""
    what = f"its after_chunks is {ending.after_chunks}, but {call} gives {most}"
    return ending_invalid(what, ending.line_number)


def _ending(line: str, line_number: int) -> Ending | Rejection:
    value = parse_value(line)
    if isinstance(value, Rejection):
        return ending_invalid(value.message, line_number)
    what = _fault_of(value)
    if what is not None:
        return ending_invalid(what, line_number)
    return Ending(
        value.get("error"),
        value.get("turn"),
        value.get("step"),
        value.get("seq"),
        value.get("session"),
        value.get("after_chunks"),
        line_number,
    )


def _fault_of(value: AnyJson) -> str | None:
    """What is wrong with one line's value, the first of it."""
    if not isinstance(value, JsonObject):
        return "the line is no object"
    unknown = [key for key in value if key not in _KEYS]
    if unknown:
        return f"there is no key {shown(unknown[0])}"
    by_number = "turn" in value or "step" in value
    if by_number == ("seq" in value):
        return "it takes turn and step, or seq alone, to name a call"
    for key in ("turn", "step") if by_number else ("seq",):
        if not is_seq(value.get(key)):
            return f"its {key} is no whole number"
    if "session" in value and not isinstance(value["session"], str):
        return "its session is no text"
    if "after_chunks" in value and not is_seq(value["after_chunks"]):
        return "its after_chunks is no whole number"
    if ("error" in value) == ("never_ends" in value):
        return "it says neither or both of error and never_ends"
    if "error" in value:
        return _fault_of_error(value["error"])
    return None if value["never_ends"] is True else "its never_ends is not true"


def _fault_of_error(error: Any) -> str | None:  # noqa: ANN401  # any JSON value
    if not isinstance(error, JsonObject):
        return "its error is no object"
    for key in ("name", "message"):
        if not isinstance(error.get(key), str):
            return f"its error has no text {key}"
    unknown = [key for key in error if key not in {"name", "message", "code"}]
    if unknown:
        return f"its error has an unknown key {shown(unknown[0])}"
    code = error.get("code")
    if "code" in error and not (isinstance(code, str) or is_number(code)):
        return f"its error's code is {shown(to_text(code))}"
    return None
