"""Immutable JSON objects and arrays: a `dict` and a `tuple` that cannot be changed.

Being a real dict and tuple, they go straight into `json.dumps`, an SDK call or a `match`.
Equality is that of JSON values: `True` is not 1, key order does not count. Reaching around
them with `dict.__setitem__(obj, ...)` is vandalism, as `object.__setattr__` is elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn, Self, TypeAlias, cast

from dsh_fp.core.lossless.writing import text_of

Json: TypeAlias = "bool | int | float | str | JsonArray | JsonObject | None"
AnyJson: TypeAlias = Any
"""A JSON value whose kind only the code that looks at it knows: payloads are open."""


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} is immutable; thaw() gives a copy to change")


class JsonObject(dict[str, Any]):
    """A JSON object: a dict whose keys are strings and whose every mutator is refused.

    Made by `snapshot` and `parse`, never by calling the class.
    """

    __slots__ = ()

    __init__ = _refuse
    __setitem__ = _refuse
    __delitem__ = _refuse
    __ior__ = _refuse
    __setattr__ = _refuse
    __delattr__ = _refuse
    clear = _refuse
    pop = _refuse
    popitem = _refuse
    setdefault = _refuse
    update = _refuse

    def __eq__(self, other: object) -> bool:
        return json_equal(self, other) if isinstance(other, dict) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not json_equal(self, other) if isinstance(other, dict) else NotImplemented

    def __hash__(self) -> int:  # type: ignore[override]  # dict has none
        return _hash(self)

    def __repr__(self) -> str:
        return f"JsonObject({_shown(self)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[Callable[[str], Any], tuple[str]]:
        return _revive, (text_of(self),)


class JsonArray(tuple[Any, ...]):
    """A JSON array: a tuple that also equals a list of the same content.

    Made by `snapshot` and `parse`, never by calling the class.
    """

    __slots__ = ()

    def __new__(cls, *args: object) -> Self:
        """Refused: what a frozen array holds has been checked."""
        raise TypeError("JsonArray is made by snapshot() or parse()")

    __setattr__ = _refuse
    __delattr__ = _refuse
    __iadd__ = _refuse
    __imul__ = _refuse
    # What a list would have: refused with the same words, not as an unknown attribute.
    __setitem__ = _refuse
    __delitem__ = _refuse
    append = _refuse
    extend = _refuse
    insert = _refuse
    pop = _refuse
    remove = _refuse
    clear = _refuse
    sort = _refuse
    reverse = _refuse

    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return json_array(item) if isinstance(index, slice) else item

    def __contains__(self, value: object) -> bool:
        return any(json_equal(item, value) for item in self)

    def index(self, value: object, start: Any = 0, stop: Any = None) -> int:
        """The first place of a value; `True` is not 1.

        Errors:  ValueError where it does not stand.
        """
        for place in range(*slice(start, stop).indices(len(self))):
            if json_equal(tuple.__getitem__(self, place), value):
                return place
        raise ValueError("the value is not in the array")

    def count(self, value: object) -> int:
        """How often a value stands in the array; `True` is not 1."""
        return sum(json_equal(item, value) for item in self)

    def __eq__(self, other: object) -> bool:
        return json_equal(self, other) if isinstance(other, list | tuple) else NotImplemented

    def __ne__(self, other: object) -> bool:
        if isinstance(other, list | tuple):
            return not json_equal(self, other)
        return NotImplemented

    def __hash__(self) -> int:
        return _hash(self)

    def __repr__(self) -> str:
        return f"JsonArray({_shown(self)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[Callable[[str], Any], tuple[str]]:
        return _revive, (text_of(self),)


_new_dict: Final = dict.__new__
_fill: Final = dict.update


def json_object(items: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> JsonObject:
    """A frozen object of items that are frozen already and whose keys stand in order."""
    made: JsonObject = _new_dict(JsonObject)
    _fill(made, items)
    return made


def json_array(items: Iterable[Any]) -> JsonArray:
    """A frozen array of items that are frozen already."""
    return tuple.__new__(JsonArray, items)


def _revive(text: str) -> Any:
    # Imported late: reading builds these very classes.
    from dsh_fp.core.lossless.reading import revive  # noqa: PLC0415

    return revive(text)


def json_equal(one: object, other: object) -> bool:
    """Whether two values are the same JSON value, frozen or plain. Never recurses.

    `True` is not 1, 1 equals 1.0, key order does not count.
    """
    pairs: list[tuple[Any, Any]] = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if a is b:
            continue
        if isinstance(a, dict):
            if not isinstance(b, dict) or len(a) != len(b):
                return False
            for key, value in a.items():
                if key not in b:
                    return False
                pairs.append((value, b[key]))
        elif isinstance(a, list | tuple):
            if not isinstance(b, list | tuple) or len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(a, bool) or isinstance(b, bool):
            return False  # the same bool would have been the same object
        elif a != b:
            return False
    return True


class _Hashed:
    """Stands for a container whose hash is known, so that hashing never recurses."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value

    def __hash__(self) -> int:
        return self.value


def _fold_up(root: Any, build: Callable[[Any, list[Any]], Any]) -> Any:
    """Replace every container, innermost first, by `build(container, children)`."""
    order: list[Any] = [root]
    first_child: list[list[tuple[int, int]]] = []
    position = 0
    while position < len(order):
        container = order[position]
        children = container.values() if isinstance(container, dict) else container
        nested = []
        for place, child in enumerate(children):
            if isinstance(child, dict | list | tuple):
                nested.append((place, len(order)))
                order.append(child)
        first_child.append(nested)
        position += 1
    built: list[Any] = [None] * len(order)
    for position in range(len(order) - 1, -1, -1):
        container = order[position]
        items = list(container.values() if isinstance(container, dict) else container)
        for place, at in first_child[position]:
            items[place] = built[at]
            built[at] = None
        built[position] = build(container, items)
    return built[0]


def _hash(root: Any) -> int:
    def build(container: Any, items: list[Any]) -> _Hashed:
        if isinstance(container, dict):
            return _Hashed(hash(frozenset(zip(container, items, strict=True))))
        # The plain tuple of the same content is equal, so it must hash alike.
        return _Hashed(hash(tuple(items)))

    return cast(int, _fold_up(root, build).value)


def thaw(value: Any) -> Any:
    """A plain, mutable deep copy of a JSON value: dicts, lists and scalars."""

    def build(container: Any, items: list[Any]) -> Any:
        if isinstance(container, dict):
            return dict(zip(container, items, strict=True))
        return items

    return _fold_up(value, build) if isinstance(value, dict | list | tuple) else value


def _shown(root: Any) -> str:
    """The value as Python would show it with lists and dicts, piece by piece."""
    pieces: list[str] = []
    stack: list[Any] = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, _Text):
            pieces.append(value)
        elif isinstance(value, dict):
            stack.append(_Text("}"))
            pairs = list(value.items())
            for place in range(len(pairs) - 1, -1, -1):
                key, item = pairs[place]
                stack += [item, _Text(f"{', ' if place else ''}{key!r}: ")]
            stack.append(_Text("{"))
        elif isinstance(value, list | tuple):
            stack.append(_Text("]"))
            for place in range(len(value) - 1, -1, -1):
                stack += [value[place], _Text(", " if place else "")]
            stack.append(_Text("["))
        else:
            pieces.append(repr(value))
    return "".join(pieces)


class _Text(str):
    """Punctuation on its way out, told apart from a string of the value."""

    __slots__ = ()
