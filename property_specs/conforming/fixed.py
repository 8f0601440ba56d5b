"""Judging by the fixed vectors: one question each, compared with its written answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

from property_specs.conforming.counterexamples import Counterexample, told
from property_specs.conforming.doors import BadAnswer, Door
from property_specs.conforming.judging import BROKEN, HELD, NOT_ASKED, Effort, Verdict
from property_specs.conforming.protocol import NotOffered, refusal_wire, sendable
from property_specs.core import Refused
from property_specs.models.json_values import exact, same
from property_specs.vectors import Vector


def judge_vectors(door: Door, vectors: tuple[Vector, ...], effort: Effort) -> Iterator[Verdict]:
    """The verdict on each vector, as it comes."""
    for vector in vectors:
        if vector.operation not in door.capabilities:
            why = f"not offered: {vector.operation}"
            yield _verdict(vector, NOT_ASKED, why)
        elif time.monotonic() > effort.until:
            yield _verdict(vector, NOT_ASKED, "the time was used up")
        else:
            yield _asked(door, vector)


def _verdict(vector: Vector, verdict: str, why: str = "", **more: Any) -> Verdict:
    topic = f"vectors: {vector.topic}"
    return Verdict(vector.name, topic, vector.rule, verdict, why, **more)


def _asked(door: Door, vector: Vector) -> Verdict:
    arguments = {name: sendable(value) for name, value in vector.arguments.items()}
    try:
        answer = door.ask(vector.operation, arguments)
    except NotOffered as missing:
        return _verdict(vector, NOT_ASKED, f"not offered: {missing}")
    except (BadAnswer, Exception) as fault:  # noqa: BLE001  # whatever a stranger's code raises
        return _broken(vector, f"{type(fault).__name__}: {fault}", None)
    if _is_expected(vector.operation, answer, vector.expected):
        return _verdict(vector, HELD)
    return _broken(vector, "the answer is another", answer)


# Answers whose keys are the protocol's own, in whatever order.
_UNORDERED: Final = frozenset({"accept", "surface", "fork", "fold_surface", "trace"})


def _is_expected(operation: str, answer: Any, expected: dict[str, Any]) -> bool:
    if "refused" in expected:
        if not isinstance(answer, Refused):
            return False
        wire = refusal_wire(answer)
        return all(wire.get(key) == value for key, value in expected["refused"].items())
    if isinstance(answer, Refused):
        return False
    if isinstance(answer, list):  # of requests, whose texts are another matter
        answer = [_without_text(each) for each in answer]
    if operation in _UNORDERED:
        return same(told(answer), expected["answer"])
    return exact(told(answer)) == exact(sendable(expected["answer"]))


def _without_text(value: Any) -> Any:
    if isinstance(value, dict) and "seq" in value and ("request" in value or "fault" in value):
        return {key: value[key] for key in value if key != "text"}
    return value


def _broken(vector: Vector, why: str, answer: Any) -> Verdict:
    log = vector.arguments.get("log", vector.arguments.get("events", []))
    question = {"asked": vector.operation, "arguments": vector.arguments, **vector.expected}
    said = {"answered": told(answer)}
    lines = [why, f"  expected {_short(vector.expected)}"]
    if answer is not None:
        lines.append(f"  answered {_short(said['answered'])}")
    text = "\n".join(lines)
    made = Counterexample(tuple(told(each) for each in log), {**question, **said}, {}, text)
    return _verdict(vector, BROKEN, text, counterexample=made)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 600 else text[:600] + "..."
