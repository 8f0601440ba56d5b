"""The immutable JSON values of this library: nothing changes them, and they compare as JSON does.

These laws look at Python objects, so they hold for this library alone.
"""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_fp import JsonArray, JsonObject, json_equal, parse, snapshot, thaw, to_text
from property_specs.generators.deep_values import deep_values
from property_specs.generators.json_texts import spelled
from property_specs.generators.json_values import json_values, objects
from property_specs.models.json_values import exact, same
from property_specs.profiles import often


def _merge_in_place(fields: Any, more: dict[str, Any]) -> None:
    fields |= more


def _add_in_place(array: Any) -> None:
    array += (1,)


def _repeat_in_place(array: Any) -> None:
    array *= 2


# Everything that would change a dict or a list, or an attribute of either.
OBJECT_MUTATORS: dict[str, Callable[[Any], object]] = {
    "o[k] = v": lambda o: operator.setitem(o, "k", 1),
    "del o[k]": lambda o: operator.delitem(o, next(iter(o), "k")),
    "o |= {}": lambda o: _merge_in_place(o, {"k": 1}),
    "o |= {} for nothing": lambda o: _merge_in_place(o, {}),
    "o.clear()": lambda o: o.clear(),
    "o.pop()": lambda o: o.pop("k", None),
    "o.popitem()": lambda o: o.popitem(),
    "o.setdefault()": lambda o: o.setdefault("k", 1),
    "o.update()": lambda o: o.update(k=1),
    "o.__init__()": lambda o: o.__init__(k=1),
    "o.x = 1": lambda o: setattr(o, "x", 1),
    "del o.x": lambda o: delattr(o, "x"),
}
ARRAY_MUTATORS: dict[str, Callable[[Any], object]] = {
    "a[0] = v": lambda a: operator.setitem(a, 0, 1),
    "del a[0]": lambda a: operator.delitem(a, 0),
    "a += []": _add_in_place,
    "a *= 2": _repeat_in_place,
    "a.append()": lambda a: a.append(1),
    "a.extend()": lambda a: a.extend([1]),
    "a.insert()": lambda a: a.insert(0, 1),
    "a.pop()": lambda a: a.pop(),
    "a.remove()": lambda a: a.remove(1),
    "a.clear()": lambda a: a.clear(),
    "a.sort()": lambda a: a.sort(),
    "a.reverse()": lambda a: a.reverse(),
    "a.x = 1": lambda a: setattr(a, "x", 1),
    "del a.x": lambda a: delattr(a, "x"),
}


def frozen(value: Any) -> Any:
    """The immutable value of a plain one."""
    return snapshot(value).unwrap()


@given(fields=objects(json_values()))
def test_no_operation_changes_an_object(fields: dict[str, Any]) -> None:
    """Every mutating method and operator of an object raises TypeError and changes nothing.

    Generator: objects of json_values.
    Oracle:    the plain value; the list of all that changes a dict.
    Catches:   a mutator forgotten, `|=` let through, __init__ refilling.
    Broken:    setdefault is not refused.
    """
    value = frozen(fields)

    for name, change in OBJECT_MUTATORS.items():
        with pytest.raises(TypeError):
            change(value)
        assert exact(thaw(value)) == exact(fields), name


@given(items=st.lists(json_values(), max_size=4))
def test_no_operation_changes_an_array(items: list[Any]) -> None:
    """Every mutating method and operator of an array raises TypeError and changes nothing.

    Generator: lists of json_values.
    Oracle:    the plain value; the list of all that changes a list.
    Catches:   a mutator forgotten, `+=` quietly making another tuple.
    Broken:    `+=` is not refused.
    """
    value = frozen(items)

    for name, change in ARRAY_MUTATORS.items():
        with pytest.raises(TypeError):
            change(value)
        assert exact(thaw(value)) == exact(items), name


@given(value=json_values())
def test_frozen_all_the_way_down(value: Any) -> None:
    """Every container inside a frozen value is frozen, slices of arrays included.

    Generator: json_values.
    Oracle:    a walk over the value.
    Catches:   an inner list or dict left plain, hence open to change.
    Broken:    a slice of an array is a plain tuple.
    """
    waiting = [frozen(value)]
    while waiting:
        found = waiting.pop()
        assert type(found) in (JsonObject, JsonArray, str, int, float, bool, type(None))
        if isinstance(found, JsonObject):
            waiting += found.values()
        elif isinstance(found, JsonArray):
            assert type(found[:1]) is JsonArray
            waiting += found[:1] + found[1:]


@given(value=json_values())
def test_a_snapshot_stands_apart_from_its_input(value: Any) -> None:
    """Changing the value that a snapshot was taken of does not change the snapshot.

    Generator: json_values.
    Oracle:    the value before the change.
    Catches:   shared inner lists and dicts.
    Broken:    an empty list is taken as it is.
    """
    before = exact(value)
    given_away = copy.deepcopy(value)
    taken = frozen(given_away)

    _scribble(given_away)

    assert exact(thaw(taken)) == before


def _scribble(value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _scribble(item)
        value.append("scribbled")
    elif isinstance(value, dict):
        for item in value.values():
            _scribble(item)
        value["scribbled"] = True


@given(value=json_values())
def test_thawed_values_are_plain_and_apart(value: Any) -> None:
    """A thawed value is made of plain lists and dicts, and changing it changes nothing frozen.

    Generator: json_values.
    Oracle:    the plain value.
    Catches:   frozen parts inside a thawed value; a thaw that is no copy.
    Broken:    an array is thawed to a tuple.
    """
    taken = frozen(value)
    thawed = thaw(taken)

    assert exact(thawed) == exact(value)
    assert type(thawed) not in (JsonObject, JsonArray, tuple)
    _scribble(thawed)
    assert exact(thaw(taken)) == exact(value)


@given(one=json_values(), other=json_values(), data=st.data())
@often(2)
def test_equality_is_that_of_json_values(one: Any, other: Any, data: st.DataObject) -> None:
    """Values are equal exactly when they are the same JSON value, frozen or plain on either side.

    Generator: two json_values, or one and a near twin: a key order, True for 1.
    Oracle:    same, by recursion.
    Catches:   True equal to 1, key order counting, arrays unequal to lists.
    Broken:    bools are compared like any number.
    """
    other = data.draw(st.sampled_from([other, _reversed(one), _as_numbers(one)]))
    expected = same(one, other)

    assert json_equal(one, other) is expected
    assert json_equal(frozen(one), other) is expected
    assert (frozen([one]) == frozen([other])) is expected
    assert (frozen({"k": one}) == {"k": other}) is expected
    assert (frozen([one]) != [other]) is not expected


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def _as_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_numbers(item) for item in value]
    return int(value) if isinstance(value, bool) else value


@given(value=json_values())
def test_equal_values_hash_alike(value: Any) -> None:
    """Equal values have equal hashes, whatever their key order, and serve as dict keys.

    Generator: json_values and the same with keys reversed.
    Oracle:    equality.
    Catches:   hashes that see key order; an unhashable part.
    Broken:    an object's hash sees the order of its keys.
    """
    one, other = frozen([value]), frozen([_reversed(value)])

    assert one == other
    assert hash(one) == hash(other)
    assert {one: "found"}[other] == "found"


@given(value=json_values() | deep_values())
def test_copies_are_the_value(value: Any) -> None:
    """Copies, deep copies and pickles of a frozen value are that value, at any depth.

    Generator: json_values and deep_values.
    Oracle:    the exact text.
    Catches:   RecursionError in pickle, plain copies, key order lost on the way.
    Broken:    a pickle of a deep value cannot be read back.
    """
    taken = frozen([value])

    assert copy.copy(taken) is taken
    assert copy.deepcopy(taken) is taken
    revived = pickle.loads(pickle.dumps(taken))
    assert type(revived) is JsonArray
    assert to_text(revived) == to_text(taken)


@given(value=deep_values())
@often(0.3)
def test_depth_costs_no_recursion(value: Any) -> None:
    """Values thousands of levels deep compare, hash, show, write, read and thaw like any other.

    Generator: deep_values, 5,000 to 9,000 levels.
    Oracle:    a second snapshot of the same value.
    Catches:   a RecursionError in any of these.
    Broken:    an array shows its items by asking each for its repr.
    """
    one, other = frozen([value]), frozen([value])

    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == repr(other)
    assert parse(to_text(one)).unwrap() == one
    assert json_equal(thaw(one), other)


@given(value=json_values())
def test_repr_shows_the_content(value: Any) -> None:
    """The repr of a frozen value names its type and shows its content as Python does.

    Generator: json_values in a list.
    Oracle:    repr of the plain value.
    Catches:   frozen types showing inside, a missing comma.
    Broken:    items are shown without a space after the comma.
    """
    assert repr(frozen([value])) == f"JsonArray({[value]!r})"
    assert repr(frozen({"k": value})) == f"JsonObject({ {'k': value}!r})"


@given(depth=st.integers(1, 40), through=st.sampled_from(["list", "dict", "both"]))
def test_cycles_are_refused(depth: int, through: str) -> None:
    """A value that contains itself is refused, never walked for ever.

    Generator: cycles of 1 to 40 containers.
    Oracle:    none needed: the answer is NOT_JSON.
    Catches:   a hang, a RecursionError, a MemoryError.
    Broken:    a cycle is called too deep.
    """
    first: Any = [] if through != "dict" else {}
    last = first
    for level in range(depth):
        inner: Any = {} if through == "dict" or (through == "both" and level % 2) else []
        _put(last, inner)
        last = inner
    _put(last, first)

    refused = snapshot(first).failure()

    assert refused.code == "NOT_JSON"


def _put(container: Any, item: Any) -> None:
    if isinstance(container, list):
        container.append(item)
    else:
        container["k"] = item


@given(value=json_values(), data=st.data())
def test_text_and_value_freeze_to_the_same(value: Any, data: st.DataObject) -> None:
    """A value and any text of it freeze to equal values with the same text.

    Generator: json_values, spelled in many ways.
    Oracle:    the other way in.
    Catches:   numbers that keep their spelling, two representations of one value.
    Broken:    an integral float from text stays a float.
    """
    of_text = parse(data.draw(spelled(value))).unwrap()

    assert json_equal(of_text, frozen(value))
    assert to_text(of_text) == to_text(frozen(value))
    assert repr(of_text) == repr(frozen(value))
