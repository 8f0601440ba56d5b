"""What JavaScript makes of odd values where it joins or prints them.

The adapters were written in it, and payloads are open: a text may be a number and a name may
be missing. Nothing here raises or recurses: depth is decided by whoever wrote the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from dsh_fp.core.lossless import AnyJson, number_text

_UNDEFINED: Final = object()


def joined(values: Iterable[AnyJson]) -> str:
    """What `values.join("")` gives: an absent or null one is nothing."""
    return "".join(value if isinstance(value, str) else _in_join(value) for value in values)


def printed(fields: Mapping[str, AnyJson], key: str) -> str:
    """What a template makes of one field: the bare word `undefined` of an absent one."""
    value = fields.get(key, _UNDEFINED)
    if value is _UNDEFINED:
        return "undefined"
    return "null" if value is None else _string_of(value)


def is_truthy(value: AnyJson) -> bool:
    """Whether a condition holds of a value; of an empty list it does."""
    if isinstance(value, dict | list | tuple):
        return True
    return bool(value)


def _in_join(value: AnyJson) -> str:
    return "" if value is None else _string_of(value)


def _string_of(value: AnyJson) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number_text(value)
        case list() | tuple():
            return _array_text(value)
        case _:
            return "[object Object]"


def _array_text(array: Iterable[AnyJson]) -> str:
    """The members by commas, those of arrays among them alike, which flattens them."""
    pieces: list[str] = []
    stack = [iter(array)]
    separators = [False]  # whether a comma is due before the next member
    while stack:
        for value in stack[-1]:
            if separators[-1]:
                pieces.append(",")
            separators[-1] = True
            if isinstance(value, list | tuple):
                stack.append(iter(value))
                separators.append(False)
                break
            pieces.append(_in_join(value))
        else:
            stack.pop()
            separators.pop()
    return "".join(pieces)
