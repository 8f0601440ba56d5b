"""Comparisons of requests, messages and sessions for tests, told so that a person can read them.

Equal is equal in text: key order counts, since it reaches the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from returns.result import Failure, Result

from dsh_fp.core.json_paths import Difference, differences
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, freeze, text_of
from dsh_fp.core.rejection import Rejection, printable, shown
from dsh_fp.core.requests import PastRequest
from dsh_fp.core.session import Session

PLACES_SHOWN: Final = 6
"""How many differing places are told; of the others only that there are some."""

_EXCERPT: Final = 60
_BEFORE: Final = 20  # how much of what two texts have in common is shown
_MISSING: Final = "nothing"
_CONTAINERS: Final = (dict, list, tuple)
_OURS: Final = (JsonObject, JsonArray)


def assert_same_request(left: object, right: object) -> None:
    """Nothing, when two requests are the same; they are given as PastRequest or as JSON objects.

    Errors:  AssertionError naming every place where they part, the first few with both values.
    Law:     assertions_agree_with_texts.
    """
    __tracebackhide__ = True
    _demand_same("requests", _request(left), _request(right))


def assert_same_messages(left: object, right: object) -> None:
    """Nothing, when two lists of messages are the same.

    A Session or a PastRequest stands for its messages.

    Errors:  AssertionError naming every place where they part, the first few with both values.
    Law:     assertions_agree_with_texts.
    """
    __tracebackhide__ = True
    _demand_same("messages", _messages(left), _messages(right))


def _demand_same(what: str, left: AnyJson, right: AnyJson) -> None:
    __tracebackhide__ = True
    if text_of(left) != text_of(right):
        raise AssertionError("\n".join([f"the {what} are not the same", *told(left, right)]))


def _request(given: object) -> AnyJson:
    if isinstance(given, PastRequest):
        return _known(given.request, f"the request of event {given.seq} is not known")
    value = _json(given)
    if not isinstance(value, JsonObject):
        raise TypeError("a request is a PastRequest or a JSON object")
    return value


def _messages(given: object) -> AnyJson:
    if isinstance(given, Session):
        return _known(given.messages(), "the session's messages are not known")
    if isinstance(given, PastRequest):
        return _known(given.request, f"the request of event {given.seq} is not known")["messages"]
    value = _json(given)
    if not isinstance(value, JsonArray):
        raise TypeError("messages are those of a Session or a PastRequest, or a JSON array")
    return value


def _known(made: Result[AnyJson, Rejection], otherwise: str) -> AnyJson:
    if isinstance(made, Failure):
        why = f"{otherwise}: {made.failure()}"
        raise AssertionError(why)  # noqa: TRY004  # the type is right: the test fails
    return made.unwrap()


def _json(given: object) -> AnyJson:
    value = freeze(given)
    if isinstance(value, Rejection):
        raise TypeError(f"what is compared is no JSON: {value}")
    return value


# ---- telling ---------------------------------------------------------------------------------


def explained(left: object, right: object) -> list[str] | None:
    """Why two values of this library are not equal, in lines; None for values of other kinds.

    The first line says what was compared, as pytest wants it.
    """
    if isinstance(left, Session) and isinstance(right, Session):
        return [f"{left!r} == {right!r}", *_sessions_told(left, right)]
    if isinstance(left, PastRequest) and isinstance(right, PastRequest):
        heading = f"the request of event {left.seq} == the request of event {right.seq}"
        return [heading, *_past_told(left, right)]
    if not isinstance(left, _CONTAINERS) or not isinstance(right, _CONTAINERS):
        return None
    if not isinstance(left, _OURS) and not isinstance(right, _OURS):
        return None
    one, other = freeze(left), freeze(right)
    if isinstance(one, Rejection) or isinstance(other, Rejection):
        return None
    return [f"{_sized(one)} == {_sized(other)}", *told(one, other)]


def _sized(value: JsonObject | JsonArray) -> str:
    size = len(value)
    if isinstance(value, JsonObject):
        return f"an object of {size} {'key' if size == 1 else 'keys'}"
    return f"an array of {size} {'value' if size == 1 else 'values'}"


def told(left: AnyJson, right: AnyJson) -> list[str]:
    """The places where two frozen values part, in lines: the path, then both values."""
    found = list(islice(differences(left, right), PLACES_SHOWN + 1))
    lines: list[str] = []
    for difference in found[:PLACES_SHOWN]:
        lines += _place_told(difference)
    if len(found) > PLACES_SHOWN:
        lines.append("  and there are more")
    return lines or ["  they have the same text"]


def _place_told(difference: Difference, at: str | None = None) -> Iterator[str]:
    left, right = _excerpts(difference)
    if difference.kind == "key order":
        yield f"  at {at or difference.path}: the keys stand in another order"
        left, right = (
            ", ".join(printable(key) for key in islice(side, 12))
            for side in (difference.expected, difference.got)
        )
    else:
        yield f"  at {at or difference.path}"
    yield f"    left   {left}"
    yield f"    right  {right}"


def _excerpts(difference: Difference) -> tuple[str, str]:
    """What stands there on both sides, each fit for one line."""
    offset = difference.offset
    if offset is not None:
        start = max(0, offset - _BEFORE)
        lead = "…" if start else ""
        left, right = (
            lead + shown(text[start : start + _EXCERPT], _EXCERPT)
            for text in (difference.expected, difference.got)
        )
        return left, right
    return (
        _MISSING if difference.kind == "extra" else _cut(difference.expected),
        _MISSING if difference.kind == "missing" else _cut(difference.got),
    )


def _cut(value: AnyJson) -> str:
    return shown(value, _EXCERPT) if isinstance(value, str) else printable(text_of(value), _EXCERPT)


def _sessions_told(left: Session, right: Session) -> Iterator[str]:
    if left.header != right.header:
        yield " session headers:"
        yield from told(left.header.to_wire(), right.header.to_wire())
    shorter = min(len(left), len(right))
    for seq in range(shorter):
        one, other = left.events[seq], right.events[seq]
        if one != other:
            yield f" event {seq} ({printable(one.type)}), the first that differs:"
            yield from told(one.to_wire(), other.to_wire())
            return
    if len(left) != len(right):
        longer, side = (left, "left") if len(left) > shorter else (right, "right")
        event = longer.events[shorter]
        yield f" the first {shorter} events are equal; of {len(left)} on the left and"
        yield f" {len(right)} on the right, event {shorter} ({printable(event.type)}) is on the"
        yield f" {side} only"


def _past_told(left: PastRequest, right: PastRequest) -> list[str]:
    sides = (left.request, right.request)
    for name, made in zip(("left", "right"), sides, strict=True):
        if isinstance(made, Failure):
            return [f"  the request on the {name} is not known: {made.failure()}"]
    one, other = (made.unwrap() for made in sides)
    lines = told(one, other)
    return lines if text_of(one) != text_of(other) else [*lines, "  compare their .request"]
