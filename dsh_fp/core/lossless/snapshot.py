"""Checking and copying a value into an immutable one, in one pass.

Only values of the exact types below are looked into, so no code of the caller's runs
meanwhile. Nothing here recurses: depth is decided by whoever wrote the value.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from returns.result import Failure, Result, Success

from dsh_fp.core.lossless.frozen import Json, JsonArray, JsonObject, json_array
from dsh_fp.core.lossless.writing import text_of
from dsh_fp.core.rejection import Rejection, class_name, not_json, shown, too_deep

MAX_DEPTH: Final = 10_000
"""How many arrays and objects may stand inside one another, on every Python."""

# The largest integer below which every integer is a double of its own.
_SAFE: Final = 2**53
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LARGEST_INDEX: Final = 2**32 - 2
_new_dict: Final = dict.__new__
_fill: Final = dict.update
_set_item: Final = dict.__setitem__


def snapshot(value: object) -> Result[Json, Rejection]:
    """An immutable copy of a Python value that JSON can carry without loss.

    Errors:  NOT_JSON with the JSON path and what was wrong; TOO_DEEP beyond MAX_DEPTH.
    Source:  docs/reference/lossless-json.md.
    """
    frozen = freeze(value)
    return Failure(frozen) if isinstance(frozen, Rejection) else Success(frozen)


def to_text(value: object) -> str:
    r"""The JSON text of a value, as ECMAScript's `JSON.stringify` writes it.

    Shapes:  no spaces, keys in order, lone surrogate halves as ``\\udxxx``. A plain Python
             value is snapshotted first.
    Errors:  TypeError for a value that is not lossless JSON.
    Source:  docs/reference/lossless-json.md.
    """
    if type(value) in _NOT_FROZEN:
        value = freeze(value)
        if isinstance(value, Rejection):
            raise TypeError(str(value))
    return text_of(value)


_NOT_FROZEN: Final = frozenset({dict, list, tuple, float, set, bytes, bytearray})


def freeze(root: Any, *, from_text: bool = False, limit: int = MAX_DEPTH) -> Any:
    """The frozen value, or the Rejection: `snapshot` without the wrapping.

    `from_text` says that the value was decoded from JSON text, where a long integer stands
    for the double nearest to it; from Python such an integer is a loss and refused.
    """
    kind = type(root)
    if kind is JsonObject or kind is JsonArray:
        return root
    if kind is not dict and kind is not list and kind is not tuple:
        what, scalar = _scalar(root, from_text)
        return not_json("$", what) if what else scalar
    # Containers in pre-order: a parent always stands before its children. Beside each, the
    # entry it came from: the original, its parent's index, its key there, its depth.
    made: list[Any] = []
    entries: list[_Entry] = []
    odd_keys: set[int] = set()
    stack: list[_Entry] = [(root, -1, None, 1)]
    deep = False
    next_look = limit + 1
    while stack:
        entry = stack.pop()
        value, parent, key, depth = entry
        if depth > limit:
            deep = True
            if depth >= next_look:
                if _is_cyclic(value, parent, entries):
                    return not_json(_path(entries, parent, key), "a cycle")
                next_look = depth * 2
        index = len(made)
        entries.append(entry)
        items: Any
        pairs: Any
        if type(value) is dict:
            for name in value:
                # Before the keys are copied: copying may compare them, which runs their code.
                if type(name) is not str:
                    what = f"a key that is a Python {class_name(type(name))}"
                    return not_json(_path(entries, index, None), what)
                if "0" <= name < ":" or not name.isascii():
                    odd_keys.add(index)
            items = _new_dict(JsonObject)
            _fill(items, value)
            pairs = items.items()
        else:
            items = list(value)
            pairs = enumerate(items)
        made.append(items)
        mark = len(stack)
        for name, item in pairs:
            kind = type(item)
            if kind is str:
                if item.isascii():
                    continue
                joined = join_halves(item)
                if joined is not item:
                    _set(items, name, joined)
            elif kind is int and -_SAFE <= item <= _SAFE:
                continue
            elif kind is dict or kind is list or kind is tuple:
                stack.append((item, index, name, depth + 1))
            elif item is None or kind is bool:
                continue
            elif kind is JsonObject or kind is JsonArray:
                deep = deep or depth + depth_of(item) > limit
            else:
                what, scalar = _scalar(item, from_text)
                if what:
                    return not_json(_path(entries, index, name), what)
                _set(items, name, scalar)
        if len(stack) - mark > 1:
            # So that the first fault found is the first in the order of the value.
            stack[mark:] = stack[: mark - 1 if mark else None : -1]
    if deep:
        return too_deep(min(limit, MAX_DEPTH))
    return _assemble(made, entries, odd_keys)


_Entry = tuple[Any, int, Any, int]


def _assemble(made: list[Any], entries: list[_Entry], odd_keys: set[int]) -> JsonObject | JsonArray:
    """Put each container, children first, into its parent."""
    for index in range(len(made) - 1, -1, -1):
        built: Any = made[index]
        if type(built) is list:
            built = json_array(built)
        elif index in odd_keys:
            ordered = ordered_items(built)
            dict.clear(built)
            _fill(built, ordered)
        _, parent, key, _ = entries[index]
        if parent < 0:
            return built  # type: ignore[no-any-return]  # one of the two frozen types
        _set(made[parent], key, built)
        made[index] = None
    raise AssertionError("the root has no parent")


def _set(items: Any, name: Any, value: Any) -> None:
    if type(items) is list:
        items[name] = value
    else:
        _set_item(items, name, value)


def _scalar(value: Any, from_text: bool) -> tuple[str, Any]:
    """What is wrong with a scalar (or an empty text), and its one accepted representation."""
    kind = type(value)
    if kind is str:
        return "", join_halves(value)
    if value is None or kind is bool:
        return "", value
    if kind is int:
        if -_SAFE <= value <= _SAFE:
            return "", value
        try:
            nearest = int(float(value))
        except OverflowError:
            return "a number too large for a double", None
        if not from_text and nearest != value:
            return "an integer that no double holds exactly", None
        return "", nearest
    if kind is float:
        if is_lossy(value):
            return _LOSSY_FLOATS.get(repr(value), "a negative zero"), None
        return "", int(value) if value.is_integer() else value
    return f"a Python {class_name(kind)}", None


_LOSSY_FLOATS: Final = {
    "nan": "NaN",
    "inf": "a number too large for a double",
    "-inf": "a number too large for a double",
}


def is_lossy(value: Any) -> bool:
    """Whether a scalar is a float that JSON text cannot carry: NaN, an infinity, -0."""
    return type(value) is float and (
        not math.isfinite(value) or (value == 0 and math.copysign(1.0, value) < 0)
    )


def join_halves(text: str) -> str:
    """The same object, unless halves of surrogate pairs met in it: then the text joined."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _PAIR.sub(
            lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text
        )
    return text


def ordered_items(items: Any) -> dict[str, Any]:
    """The items in ECMAScript's order: array indices by number first, then the rest as given."""
    joined: dict[str, Any] = {}
    for key, value in items.items():
        joined[join_halves(key)] = value
    indices = sorted(int(key) for key in joined if is_array_index(key))
    if not indices:
        return joined
    first = {str(index): joined[str(index)] for index in indices}
    return first | {key: value for key, value in joined.items() if key not in first}


def is_array_index(key: str) -> bool:
    """Whether ECMAScript lists this key by number: `0` to `4294967294`, spelled plainly."""
    if not ("0" <= key < ":") or len(key) > 10 or not (key.isascii() and key.isdigit()):
        return False
    return (key[0] != "0" or key == "0") and int(key) <= _LARGEST_INDEX


def depth_of(root: Any) -> int:
    """How many arrays and objects stand inside one another, the outermost counted."""
    level, depth = [root], 0
    while level:
        depth += 1
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, dict | list | tuple)
        ]
    return depth


def _is_cyclic(value: Any, parent: int, entries: list[_Entry]) -> bool:
    """Whether a container stands inside itself."""
    while parent >= 0:
        original, parent, _, _ = entries[parent]
        if original is value:
            return True
    return False


def _path(entries: list[_Entry], index: int, key: Any) -> str:
    """The JSON path of a key in the container at `index`; deep ones are cut in the middle."""
    names = [] if key is None else [_part(key)]
    while index >= 0:
        _, index, key, _ = entries[index]
        if key is not None:
            names.append(_part(key))
    names.reverse()
    if len(names) > 40:
        names[20:-20] = ["…"]
    return "$" + "".join(names)


def _part(key: object) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    text = str(key)
    return f".{text}" if text.isidentifier() and text.isascii() else f"[{shown(text)}]"
