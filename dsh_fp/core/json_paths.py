"""Where two JSON values part, as paths: the one comparison for requests, bodies and replies.

Key order counts here, since it reaches the model. Nothing recurses: depth is decided by
whoever wrote the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeVar

import attrs

from dsh_fp.core.lossless import AnyJson, text_of
from dsh_fp.core.rejection import shown

Step = str | int
"""One step of a path: a key of an object or a place in an array, from 0."""

Kind = Literal["value", "missing", "extra", "key order"]
"""How two values part: another value; absent from what was got; absent from what was
expected; the same keys in another order."""

T = TypeVar("T", str, bytes, tuple[int, ...])

# So deep equal parts are told by their text, which is quick. Deeper ones are walked: taking
# the text again at each level would cost depth times size.
_COMPARED_AS_TEXT: Final = 4
_STEPS_SHOWN: Final = 40
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STEP: Final = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[([0-9]+)\]")


@attrs.frozen
class Difference:
    """One place where two JSON values part.

    `expected` and `got` are what stands there; None where it is absent, which `kind` tells
    from null.

    Units:   steps are keys and places, from 0; offset counts characters of two texts.
    """

    steps: tuple[Step, ...]
    kind: Kind
    expected: AnyJson = None
    got: AnyJson = None

    @property
    def path(self) -> str:
        """The path from the value as a whole: `$.messages[3].content[0].text`."""
        return path_text(self.steps)

    @property
    def offset(self) -> int | None:
        """Where two texts part; None when one of the two is no text."""
        one, other = self.expected, self.got
        if self.kind != "value" or not (isinstance(one, str) and isinstance(other, str)):
            return None
        return first_unequal(one, other)

    def __str__(self) -> str:
        """The path without its root, and how the values part unless by value.

        Shapes:  `system`, `tools[0].parameters (key order)`, `messages[2] (missing)`.
        """
        path = self.path[1:].removeprefix(".") or "$"
        return path if self.kind == "value" else f"{path} ({self.kind})"


def first_difference(expected: AnyJson, got: AnyJson) -> Difference | None:
    """Where two JSON values part first, in the order of their text; None when they are equal.

    Frozen or plain values are taken, the two alike. Equal is equal in text: key order
    counts, `True` is not 1, 1 is 1.0. Costs the size of both up to the difference.

    Law:     first_difference_is_the_first_in_text.
    """
    return next(differences(expected, got), None)


def differences(expected: AnyJson, got: AnyJson) -> Iterator[Difference]:
    """Every place where two JSON values part, in the order of their text; made as asked for.

    What stands behind a key that is missing or extra, and behind a scalar that changed, is
    one difference. Where keys stand in another order, the object is named, then what its
    keys hold is compared.
    """
    whole: _Pair = (expected, got, None, "value")
    stack: list[Iterator[_Pair]] = [iter((whole,))]
    while stack:
        found = next(stack[-1], None)
        if found is None:
            stack.pop()
            continue
        one, other, place, kind = found
        if kind != "value":
            yield Difference(_steps_to(place), kind, one, other)
        elif one is other:
            continue
        elif isinstance(one, dict) and isinstance(other, dict):
            if not _same_text(one, other, len(stack)):
                stack.append(_of_objects(one, other, place))
        elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
            if not _same_text(one, other, len(stack)):
                stack.append(_of_arrays(one, other, place))
        elif not _same_scalar(one, other):
            yield Difference(_steps_to(place), "value", one, other)


# Steps as pairs, the last one first: each level of a deep value adds one, and copies none.
_Place = tuple["_Place", Step] | None
# Both values, where they stand, and what is known of them: "value" is yet to be compared.
_Pair = tuple[AnyJson, AnyJson, _Place, Kind]


def _steps_to(place: _Place) -> tuple[Step, ...]:
    steps: list[Step] = []
    while place is not None:
        place, step = place
        steps.append(step)
    return tuple(reversed(steps))


def _of_objects(
    one: dict[str, AnyJson], other: dict[str, AnyJson], place: _Place
) -> Iterator[_Pair]:
    """What to compare in two objects, in the order of both as long as they agree on it."""
    ours, theirs = list(one), list(other)
    i = j = 0
    while i < len(ours) and j < len(theirs):
        key, its = ours[i], theirs[j]
        if key == its:
            yield one[key], other[key], (place, key), "value"
            i, j = i + 1, j + 1
        elif key not in other:
            yield one[key], None, (place, key), "missing"
            i += 1
        elif its not in one:
            yield None, other[its], (place, its), "extra"
            j += 1
        else:
            yield one, other, place, "key order"
            break
    for key in ours[i:]:
        if key in other:
            yield one[key], other[key], (place, key), "value"
        else:
            yield one[key], None, (place, key), "missing"
    for key in theirs[j:]:
        if key not in one:
            yield None, other[key], (place, key), "extra"


def _of_arrays(
    one: list[AnyJson] | tuple[AnyJson, ...],
    other: list[AnyJson] | tuple[AnyJson, ...],
    place: _Place,
) -> Iterator[_Pair]:
    """What to compare in two arrays: item by item, then what one has more."""
    for index, (ours, theirs) in enumerate(zip(one, other, strict=False)):
        if ours is not theirs:
            yield ours, theirs, (place, index), "value"
    both = min(len(one), len(other))
    for index in range(both, len(one)):
        yield one[index], None, (place, index), "missing"
    for index in range(both, len(other)):
        yield None, other[index], (place, index), "extra"


def _same_text(one: AnyJson, other: AnyJson, depth: int) -> bool:
    return depth <= _COMPARED_AS_TEXT and text_of(one) == text_of(other)


def _same_scalar(one: AnyJson, other: AnyJson) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def first_unequal(one: T, other: T) -> int:
    """Where two texts, bytes or tuples part; the shorter's length when it begins the other."""
    low, high = 0, min(len(one), len(other))
    # What is equal up to a place is equal up to any earlier one; slices compare fast.
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def path_text(steps: tuple[Step, ...]) -> str:
    """A path as text: `$.messages[3].content[0].text`; a deep one is cut in the middle.

    Shapes:  a key that is no plain name is quoted, escaped and cut: `$['odd key']`.
    """
    parts = [_step_text(step) for step in steps]
    if len(parts) > _STEPS_SHOWN:
        parts[_STEPS_SHOWN // 2 : -_STEPS_SHOWN // 2] = ["…"]
    return "$" + "".join(parts)


def _step_text(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _NAME.fullmatch(step) else f"[{shown(step)}]"


def leading_steps(path: str) -> tuple[Step, ...]:
    """The steps a path's text begins with, up to the first that is no plain name or place.

    That is all of `$.tools[0].name`, and the first two of `$.tools[0]['odd key']`.
    """
    steps: list[Step] = []
    at = 1 if path.startswith("$") else 0
    while (match := _STEP.match(path, at)) is not None:
        name, place = match.groups()
        steps.append(name if place is None else int(place))
        at = match.end()
    return tuple(steps)
