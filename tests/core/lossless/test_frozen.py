"""Frozen objects and arrays: unchangeable, and at home wherever a dict or a tuple is."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from dsh_fp import MAX_DEPTH, JsonArray, JsonObject, json_equal, parse, thaw, to_text
from tests.core.making import frozen, nested


def an_object() -> Any:
    return frozen({"a": 1, "b": [True, None]})


def an_array() -> Any:
    return frozen([1, {"a": 2}, "x"])


def or_assign(value: Any) -> None:
    value |= {"a": 2}


def add_assign(value: Any) -> None:
    value += (1,)


def multiply_assign(value: Any) -> None:
    value *= 2


OBJECT_MUTATORS: dict[str, Callable[[Any], object]] = {
    "__setitem__": lambda it: it.__setitem__("a", 2),
    "__setitem__ of a new key": lambda it: it.__setitem__("new", 2),
    "__delitem__": lambda it: it.__delitem__("a"),
    "__init__": lambda it: it.__init__({"a": 2}),
    "clear": lambda it: it.clear(),
    "pop": lambda it: it.pop("a"),
    "pop with a default": lambda it: it.pop("missing", None),
    "popitem": lambda it: it.popitem(),
    "setdefault": lambda it: it.setdefault("new", 2),
    "setdefault of a key that is there": lambda it: it.setdefault("a", 2),
    "update": lambda it: it.update({"a": 2}),
    "update with nothing": lambda it: it.update(),
    "|=": or_assign,
    "set attribute": lambda it: setattr(it, "new", 1),
    "set class": lambda it: setattr(it, "__class__", dict),
    "delete attribute": lambda it: delattr(it, "new"),
    "fromkeys": lambda it: it.fromkeys(["a"]),
}

ARRAY_MUTATORS: dict[str, Callable[[Any], object]] = {
    "__setitem__": lambda it: it.__setitem__(0, 2),
    "__delitem__": lambda it: it.__delitem__(0),
    "append": lambda it: it.append(1),
    "extend": lambda it: it.extend([1]),
    "insert": lambda it: it.insert(0, 1),
    "pop": lambda it: it.pop(),
    "remove": lambda it: it.remove(1),
    "clear": lambda it: it.clear(),
    "sort": lambda it: it.sort(),
    "reverse": lambda it: it.reverse(),
    "+=": add_assign,
    "*=": multiply_assign,
    "set attribute": lambda it: setattr(it, "new", 1),
    "set class": lambda it: setattr(it, "__class__", tuple),
    "delete attribute": lambda it: delattr(it, "new"),
}


@pytest.mark.parametrize("name", OBJECT_MUTATORS)
def test_every_mutator_of_an_object_is_refused(name: str) -> None:
    """Each method and operator that changes a dict raises TypeError and changes nothing."""
    value = an_object()

    with pytest.raises(TypeError):
        OBJECT_MUTATORS[name](value)

    assert to_text(value) == '{"a":1,"b":[true,null]}'


@pytest.mark.parametrize("name", ARRAY_MUTATORS)
def test_every_mutator_of_an_array_is_refused(name: str) -> None:
    """Each method and operator that changes a list raises TypeError and changes nothing."""
    value = an_array()

    with pytest.raises(TypeError):
        ARRAY_MUTATORS[name](value)

    assert to_text(value) == '[1,{"a":2},"x"]'


def test_no_method_of_dict_that_changes_it_is_left_over() -> None:
    """Every public dict method is either a reader or among the refused ones above."""
    readers = {"copy", "get", "items", "keys", "values"}
    tried = {name.partition(" ")[0] for name in OBJECT_MUTATORS}

    methods = {name for name in vars(dict) if not name.startswith("_")}

    assert methods - readers <= tried


def test_a_copy_that_is_asked_for_as_a_dict_is_plain_or_frozen() -> None:
    """`dict(value)` and `value | more` give dicts of their own; the value stays."""
    value = an_object()

    changed = dict(value)
    changed["a"] = 2
    merged = value | {"a": 3}

    assert changed["a"] == 2
    assert merged["a"] == 3
    assert value["a"] == 1


def test_the_standard_json_writer_takes_them() -> None:
    """`json.dumps` writes a frozen value as it would the plain one."""
    value = frozen({"b": [1, {"a": None}], "a": True})

    assert json.dumps(value) == '{"b": [1, {"a": null}], "a": true}'


def test_match_takes_them_apart() -> None:
    """Mapping and sequence patterns of `match` work on frozen values."""
    value = frozen({"kind": "pair", "items": [1, 2]})

    match value:
        case {"kind": "pair", "items": [first, second]}:
            found = (first, second)
        case _:
            found = (0, 0)

    assert found == (1, 2)


def test_they_are_a_mapping_and_a_sequence() -> None:
    """They pass for the types that other code asks for."""
    assert isinstance(an_object(), dict)
    assert isinstance(an_object(), Mapping)
    assert isinstance(an_array(), tuple)
    assert isinstance(an_array(), Sequence)


def test_a_slice_of_an_array_is_an_array() -> None:
    """Slices stay frozen and equal lists; an index gives the item."""
    value = an_array()

    assert type(value[:2]) is JsonArray
    assert value[1:] == [{"a": 2}, "x"]
    assert value[-1] == "x"


def test_an_array_equals_lists_and_tuples() -> None:
    """An array equals a list or tuple of the same content, from either side."""
    value = frozen([1, [2, {"a": []}]])

    assert value == [1, [2, {"a": []}]]
    assert value == [1, [2, {"a": []}]]
    assert value == (1, (2, {"a": ()}))
    assert (value != [1, [2, {"a": []}]]) is False
    assert value != [1]
    assert value != "no array"


def test_an_object_equals_dicts_whatever_the_order() -> None:
    """Key order does not count in equality, and hashes agree."""
    one = frozen({"a": 1, "b": [2]})
    other = frozen({"b": [2], "a": 1})

    assert one == other
    assert hash(one) == hash(other)
    assert one == {"b": [2], "a": 1}
    assert one == {"b": [2], "a": 1}
    assert one != {"a": 1}
    assert one != [("a", 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0),
        ([True], [1]),
        ({"a": False}, {"a": 0}),
        ({"a": [1, {"b": True}]}, {"a": [1, {"b": 1}]}),
        (None, False),
        ("1", 1),
        ([], {}),
        ([1], [1, 1]),
        ({"a": 1}, {"b": 1}),
        ({"a": None}, {}),
    ],
)
def test_values_that_differ_are_unequal(one: object, other: object) -> None:
    """True is not 1, null is not false, and so on, at any depth and from either side."""
    first, second = frozen(one), frozen(other)

    assert not json_equal(one, other)
    assert not json_equal(other, one)
    assert not json_equal(first, second)
    if isinstance(first, JsonObject | JsonArray):
        assert first != second
        assert first != other
        assert other != first


def test_an_int_and_a_float_of_the_same_value_are_equal() -> None:
    """5 and 5.0 are one JSON number."""
    assert json_equal([5, 0.5], [5.0, 0.5])
    assert frozen([5]) == [5.0]


def test_they_serve_as_keys_of_a_dict() -> None:
    """Equal values are one key, the plain tuple of the same content included."""
    table = {frozen([1, [2]]): "array", an_object(): "object"}

    assert table[frozen([1, [2]])] == "array"
    assert table[an_object()] == "object"
    assert hash(frozen([1, "a"])) == hash((1, "a"))


def test_copies_are_the_value_itself() -> None:
    """What cannot change need not be copied."""
    for value in (an_object(), an_array()):
        assert copy.copy(value) is value
        assert copy.deepcopy(value) is value


def test_a_deep_copy_of_a_mutable_around_it_shares_it() -> None:
    """Copying a plain list copies the list, not the frozen value in it."""
    inner = an_object()

    copied = copy.deepcopy([inner])

    assert copied[0] is inner


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_come_back_equal_and_frozen(protocol: int) -> None:
    """A value survives pickling with every protocol: content, key order, types, halves."""
    value = frozen({"z": [1.5, "\ud800"], "a": {"1": None, "0": True}})

    back = pickle.loads(pickle.dumps(value, protocol))

    assert to_text(back) == to_text(value)
    assert type(back) is JsonObject
    assert type(back["z"]) is JsonArray


def test_thaw_gives_a_plain_copy_to_change() -> None:
    """Thawing gives dicts and lists of one's own, in the same order."""
    value = frozen({"b": [1, {"x": []}], "a": "s"})

    plain = thaw(value)
    plain["b"][1]["x"].append("mine")

    assert type(plain) is dict
    assert type(plain["b"]) is list
    assert type(plain["b"][1]) is dict
    assert list(plain) == ["b", "a"]
    assert value == {"b": [1, {"x": []}], "a": "s"}


def test_thaw_gives_a_scalar_back() -> None:
    """A scalar is its own plain copy."""
    assert [thaw(value) for value in (None, True, 1, "a")] == [None, True, 1, "a"]


def test_repr_shows_type_and_content() -> None:
    """The repr says what it is and shows Python spelling."""
    value = frozen({"a": [1, None], "b": "x"})

    assert repr(value) == "JsonObject({'a': [1, None], 'b': 'x'})"
    assert repr(value["a"]) == "JsonArray([1, None])"


@pytest.mark.parametrize("levels", [2000, MAX_DEPTH])
def test_deep_values_can_do_all_that_flat_ones_can(levels: int) -> None:
    """Equality, hash, repr, copying, pickling and thawing never recurse."""
    value = frozen(nested(levels))
    twin = frozen(nested(levels))

    assert value == twin
    assert hash(value) == hash(twin)
    assert repr(value) == f"JsonArray({'[' * levels}{']' * levels})"
    assert copy.deepcopy(value) is value
    assert pickle.loads(pickle.dumps(value)) == value
    assert to_text(thaw(value)) == to_text(value)


def test_deep_objects_can_do_all_that_flat_ones_can() -> None:
    """The same for objects, whose every operation has a path of its own."""
    plain: dict[str, Any] = {}
    for _ in range(MAX_DEPTH - 1):
        plain = {"a": plain}
    value, twin = frozen(plain), frozen(plain)

    assert value == twin
    assert hash(value) == hash(twin)
    assert repr(value).count("{") == MAX_DEPTH
    assert pickle.loads(pickle.dumps(value)) == value


def test_true_does_not_stand_where_one_does() -> None:
    """Membership, place and count go by JSON values, not by Python's True == 1."""
    array: Any = parse("[1,true,1]").unwrap()
    ones: Any = parse("[1]").unwrap()

    assert array.index(True) == 1
    assert array.count(1) == 2
    assert True not in ones
