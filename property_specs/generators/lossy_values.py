"""Python values that JSON text would lose, alone and planted in a value it keeps.

Leaves out: two faults in one value, so that the path of the fault is known.
"""

from __future__ import annotations

import datetime
import enum
from decimal import Decimal
from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.json_values import json_values


class _Number(int):
    pass


class _Text(str):
    __slots__ = ()


class _List(list[Any]):
    pass


class _Fields(dict[str, Any]):
    pass


class _Colour(enum.IntEnum):
    RED = 1


LOSSY = (
    float("nan"),
    float("inf"),
    float("-inf"),
    -0.0,
    2**53 + 1,
    -(2**53) - 1,
    10**400,
    b"bytes",
    {1, 2},
    Decimal(1),
    datetime.date(2024, 7, 1),
    object(),
    _Number(1),
    _Text("a"),
    _List(),
    _Fields(),
    _Colour.RED,
    1j,
    {1: "a key that is no string"},
    {True: "the same"},
    {None: "the same"},
)


@cache
def lossy_values() -> st.SearchStrategy[Any]:
    """One value that JSON would lose."""
    return st.sampled_from(LOSSY)


@st.composite
def planted(draw: st.DrawFn) -> tuple[Any, str]:
    """A value that JSON keeps but for one lossy place in it, and the path of that place."""
    value, path = draw(lossy_values()), ""
    for _ in range(draw(st.integers(0, 3))):
        around = draw(st.lists(json_values(), max_size=2))
        if draw(st.booleans()):
            key = draw(st.sampled_from(["a", "content", "meta"]))
            fields = {f"other{place}": item for place, item in enumerate(around)}
            value, path = {**fields, key: value}, f".{key}{path}"
        else:
            value, path = [*around, value], f"[{len(around)}]{path}"
    return value, f"${path}"
