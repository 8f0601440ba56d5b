"""The first place where two JSON values differ, strictly: kinds, absence and key order count.

Numbers are doubles, so 1 equals 1.0; a boolean is no number; a missing key is not a null one.
Nothing here recurses: the depth of a value is decided by the file it came from.
"""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias

import attrs

SHOWN: Final = 240
CONTEXT: Final = 60
NO_VALUE: Final = "(absent)"


# A step (".key", "[3]") and the place it starts from; the root has the empty step.
Place: TypeAlias = tuple[str, Any]
Pair: TypeAlias = tuple[Place, Any, Any]


class Facts(dict[str, Any]):
    """An object put together by the runner, whose key order therefore says nothing."""


@attrs.frozen
class Difference:
    """One differing place: its path, and both sides as bounded ASCII text."""

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"at {self.path}\n    expected {self.expected}\n    got      {self.got}"


def shown(value: object) -> str:
    """A value as one bounded line of ASCII."""
    try:
        text = json.dumps(value, default=repr, ensure_ascii=True)
    except (RecursionError, ValueError, TypeError):
        text = f"<{type(value).__name__} that cannot be shown>"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text)} characters)"


def kind(value: object) -> str:
    """The JSON kind of a value, or the name of a Python type that has none."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case dict():
            return "object"
        case _:
            return type(value).__name__


def first_difference(expected: object, got: object) -> Difference | None:
    """The first differing place in document order, or None when both are the same value."""
    waiting: list[Pair] = [(("", None), expected, got)]
    while waiting:
        place, left, right = waiting.pop()
        if kind(left) != kind(right):
            return Difference(_path(place), shown(left), f"{kind(right)} {shown(right)}")
        match kind(left):
            case "array":
                # Told after the members: where they part says more than how many there are.
                waiting.append(((".length", place), len(left), len(right)))
                members = enumerate(zip(left, right, strict=False))
                inside = [((f"[{number}]", place), a, b) for number, (a, b) in members]
                waiting.extend(reversed(inside))
            case "object":
                fault = _of_keys(place, left, right)
                if fault is not None:
                    return fault
                inside = [((_member(key), place), left[key], right[key]) for key in left]
                waiting.extend(reversed(inside))
            case "string":
                if left != right:
                    return _of_texts(_path(place), left, right)
            case "number":
                if not _same_double(left, right):
                    return Difference(_path(place), shown(left), shown(right))
            case _:
                if left != right:
                    return Difference(_path(place), shown(left), shown(right))
    return None


def _of_keys(place: Place, left: dict[str, Any], right: dict[str, Any]) -> Difference | None:
    """The first key that one side lacks; else the order of keys, where that is data."""
    for key, value in left.items():
        if key not in right:
            return Difference(_path((_member(key), place)), shown(value), NO_VALUE)
    for key, value in right.items():
        if key not in left:
            return Difference(_path((_member(key), place)), NO_VALUE, shown(value))
    if isinstance(right, Facts) or list(left) == list(right):
        return None
    orders = f"key order {shown(list(left))}", f"key order {shown(list(right))}"
    return Difference(_path(place), *orders)


def _path(place: Place) -> str:
    """A place as text. Deep values would make a text for each level quadratic."""
    steps = []
    at: Any = place
    while at is not None:
        step, at = at
        steps.append(step)
    path = "$" + "".join(reversed(steps))
    return path if len(path) <= SHOWN else f"${path[1:CONTEXT]}...{path[-CONTEXT:]}"


def _member(key: str) -> str:
    return f".{key}" if key.isascii() and key.isidentifier() else f"[{json.dumps(key)}]"


def _same_double(left: float, right: float) -> bool:
    return left == right or _double(left) == _double(right)


def _double(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _of_texts(path: str, left: str, right: str) -> Difference:
    """Two texts, cut down to the neighbourhood of the first differing character."""
    place = next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    if max(len(left), len(right)) <= SHOWN // 2:
        return Difference(path, shown(left), shown(right))
    start = max(0, place - CONTEXT)
    cut = slice(start, place + CONTEXT)
    return Difference(
        f"{path} (character {place})",
        f"...{shown(left[cut])}... of {len(left)}",
        f"...{shown(right[cut])}... of {len(right)}",
    )
