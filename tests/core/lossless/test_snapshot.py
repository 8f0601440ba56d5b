"""Which Python values JSON can carry without loss, row by row of the rule."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import uuid
from typing import Any

import attrs
import pytest

from dsh_fp import MAX_DEPTH, Code, JsonArray, JsonObject, json_equal, snapshot, to_text
from tests.core.making import frozen, nested


class Whole(int):
    """A subclass of int."""


class Real(float):
    """A subclass of float."""


class Words(str):
    """A subclass of str."""

    __slots__ = ()


class Several(list[Any]):
    """A subclass of list."""


class Fixed(tuple[Any, ...]):
    """A subclass of tuple."""

    __slots__ = ()


class Named(dict[str, Any]):
    """A subclass of dict."""


class OwnObject(JsonObject):
    """A subclass of the library's own object."""

    __slots__ = ()


class OwnArray(JsonArray):
    """A subclass of the library's own array."""

    __slots__ = ()


class Colour(enum.IntEnum):
    """An enum member is an int by inheritance only."""

    RED = 1


@dataclasses.dataclass
class Data:
    """A dataclass instance."""

    value: int = 1


@attrs.frozen
class Record:
    """An attrs instance."""

    value: int = 1


class Scalar:
    """What a numpy scalar looks like: it turns into any number that is asked for."""

    dtype = "float64"

    def __float__(self) -> float:
        return 1.5

    def __int__(self) -> int:
        return 1

    def __index__(self) -> int:
        return 1

    def item(self) -> float:
        return 1.5


class Matrix:
    """What a numpy array looks like: a length, items, and a way to a list."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> int:
        return [7][index]

    def tolist(self) -> list[int]:
        return [7]


def test_scalars_are_accepted_as_they_are() -> None:
    """None, booleans, strings, integers and floats of the exact types pass."""
    values = [None, True, False, "", "text", 0, -1, 2**53, -(2**53), 0.1, -1.5, 5e-324]

    taken = [frozen(value) for value in values]

    assert taken == values
    assert [type(value) for value in taken] == [type(value) for value in values]


def test_containers_become_frozen_through_and_through() -> None:
    """Lists and tuples become our array, dicts our object, at every depth."""
    taken = frozen({"a": [1, (2, {"b": {}})]})

    assert type(taken) is JsonObject
    assert type(taken["a"]) is JsonArray
    assert type(taken["a"][1]) is JsonArray
    assert type(taken["a"][1][1]) is JsonObject
    assert type(taken["a"][1][1]["b"]) is JsonObject


def test_a_snapshot_is_no_view() -> None:
    """What the caller does to the original later changes nothing."""
    original: dict[str, Any] = {"content": ["first"]}
    taken = frozen(original)

    original["content"].append("second")
    original["more"] = True

    assert taken == {"content": ["first"]}


def test_what_is_frozen_already_is_taken_without_a_copy() -> None:
    """A frozen value inside a new one, or alone, stays the same object."""
    inner = frozen({"a": [1]})

    again = frozen(inner)
    outer = frozen({"kept": inner, "also": [inner]})

    assert again is inner
    assert outer["kept"] is inner
    assert outer["also"][0] is inner


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), -0.0])
def test_a_float_that_json_cannot_carry_is_rejected(value: float) -> None:
    """NaN, the infinities and negative zero are NOT_JSON, with the path of the place."""
    fault = snapshot({"a": [1, value]}).failure()

    assert fault.code is Code.NOT_JSON
    assert fault.path == "$.a[1]"


@pytest.mark.parametrize(
    "value",
    [2**53 + 1, -(2**53) - 1, 10**400, -(10**5000)],
    ids=["just above", "just below", "401 digits", "5001 digits"],
)
def test_an_integer_that_no_double_holds_is_rejected(value: int) -> None:
    """An int that would read back as another number is NOT_JSON, however many digits it has."""
    fault = snapshot([value]).failure()

    assert fault.code is Code.NOT_JSON
    assert fault.path == "$[0]"


@pytest.mark.parametrize(
    "value",
    [2**53 + 2, 2**60, 10**21, 2**1023],
    ids=["2**53 + 2", "2**60", "10**21", "2**1023"],
)
def test_a_large_integer_that_a_double_holds_is_accepted(value: int) -> None:
    """Beyond 2**53 an int passes when it is exactly a double."""
    taken = frozen(value)

    assert taken == value
    assert type(taken) is int


@pytest.mark.parametrize(("value", "whole"), [(5.0, 5), (1e2, 100), (0.0, 0), (-3.0, -3)])
def test_an_integral_float_becomes_the_int(value: float, whole: int) -> None:
    """A number has one accepted representation: 5.0 is 5."""
    taken = frozen([value])

    assert taken[0] == whole
    assert type(taken[0]) is int


@pytest.mark.parametrize(
    "value",
    [
        Whole(1),
        Real(1.5),
        Words("text"),
        Several([1]),
        Fixed((1,)),
        Named(a=1),
        Colour.RED,
        collections.OrderedDict(a=1),
        collections.defaultdict(list),
        collections.Counter("a"),
        collections.deque([1]),
        collections.UserDict(a=1),
        decimal.Decimal("1.5"),
        fractions.Fraction(1, 2),
        datetime.datetime(2026, 7, 1, tzinfo=datetime.UTC),
        datetime.date(2026, 7, 1),
        uuid.UUID(int=1),
        b"bytes",
        bytearray(b"bytes"),
        {1, 2},
        frozenset({1}),
        range(3),
        iter([1]),
        1j,
        Ellipsis,
        object(),
        Data(),
        Record(),
        Scalar(),
        Matrix(),
        int,
        len,
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_other_python_value_is_rejected(value: object) -> None:
    """Whatever is not exactly a JSON type of Python is NOT_JSON, alone or inside."""
    alone = snapshot(value).failure()
    inside = snapshot({"a": value}).failure()

    assert (alone.code, alone.path) == (Code.NOT_JSON, "$")
    assert (inside.code, inside.path) == (Code.NOT_JSON, "$.a")


def test_a_subclass_of_the_frozen_types_is_rejected() -> None:
    """Only the exact frozen types are trusted; a subclass may do anything."""
    an_object = dict.__new__(OwnObject)
    an_array = tuple.__new__(OwnArray, (1,))

    faults = [snapshot(an_object).failure(), snapshot([an_array]).failure()]

    assert [fault.code for fault in faults] == [Code.NOT_JSON, Code.NOT_JSON]


def test_an_array_made_by_hand_smuggles_nothing_in() -> None:
    """Calling the class of the frozen array is refused, or what it holds is checked."""
    try:
        by_hand: object = JsonArray([float("nan"), set()])
    except TypeError:
        by_hand = [float("nan"), set()]

    fault = snapshot({"a": by_hand}).failure()

    assert fault.code is Code.NOT_JSON


@pytest.mark.parametrize(
    "key",
    [1, None, True, 1.5, b"a", ("a",), Words("a"), 10**5000],
    ids=["int", "None", "bool", "float", "bytes", "tuple", "subclass of str", "5001 digits"],
)
def test_a_key_that_is_no_string_is_rejected(key: object) -> None:
    """A key of another type is NOT_JSON, with the path of its object; a long int key too."""
    fault = snapshot({"a": {"b": 1, key: 2}}).failure()

    assert fault.code is Code.NOT_JSON
    assert fault.path == "$.a"


class Trap:
    """An object that notices any code of its own being run."""

    def __repr__(self) -> str:
        raise RuntimeError("my repr ran")

    __str__ = __repr__

    def __float__(self) -> float:
        raise RuntimeError("my float ran")

    def __iter__(self) -> Any:
        raise RuntimeError("my iter ran")


class TrapMeta(type):
    """A metaclass that notices its classes being asked for their name."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]  # that is the point
        raise RuntimeError("my name ran")


class NamedTrap(metaclass=TrapMeta):
    """An instance whose class runs code when its name is read."""


class ClashingKey:
    """A key that collides with every other and raises when it is compared."""

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        if ClashingKey.armed:
            raise RuntimeError("my eq ran")
        return self is other

    armed = False


def test_no_code_of_a_rejected_value_runs() -> None:
    """A value of another type is named without asking it anything."""
    fault = snapshot([Trap()]).failure()

    assert fault.code is Code.NOT_JSON


def test_no_code_of_a_rejected_key_runs() -> None:
    """A key of another type is named without asking it for its repr."""
    fault = snapshot({Trap(): 1}).failure()

    assert fault.code is Code.NOT_JSON


def test_no_code_of_a_rejected_class_runs() -> None:
    """Not even the metaclass is asked for the name of a rejected value's class."""
    fault = snapshot([NamedTrap()]).failure()

    assert fault.code is Code.NOT_JSON


def test_no_comparison_of_rejected_keys_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of another type are told by type; they are never compared with one another."""
    keyed = {"first": 0, ClashingKey(): 1, ClashingKey(): 2}
    del keyed["first"]
    monkeypatch.setattr(ClashingKey, "armed", True)

    fault = snapshot(keyed).failure()

    assert fault.code is Code.NOT_JSON


def test_a_list_inside_itself_is_rejected() -> None:
    """A cycle of one is NOT_JSON, with a path, and comes back."""
    cyclic: list[Any] = [1]
    cyclic.append(cyclic)

    fault = snapshot(cyclic).failure()

    assert fault.code is Code.NOT_JSON
    assert "cycle" in fault.message
    assert fault.path is not None


def test_a_longer_cycle_is_rejected() -> None:
    """A cycle through a dict, a list and a tuple is NOT_JSON too."""
    top: dict[str, Any] = {}
    top["a"] = [({"back": top},)]

    fault = snapshot(top).failure()

    assert fault.code is Code.NOT_JSON
    assert "cycle" in fault.message


def test_a_value_that_stands_in_two_places_is_no_cycle() -> None:
    """The same list twice, side by side or one below the other, is two equal values."""
    shared = [1]

    taken = frozen({"a": shared, "b": [shared, {"c": shared}]})

    assert taken == {"a": [1], "b": [[1], {"c": [1]}]}


@pytest.mark.parametrize("levels", [2000, MAX_DEPTH])
def test_deep_values_are_accepted_up_to_the_limit(levels: int) -> None:
    """2,000 levels pass on every Python, and so does exactly the documented limit."""
    taken = frozen(nested(levels))

    assert to_text(taken) == "[" * levels + "]" * levels


def test_deep_objects_are_accepted_up_to_the_limit() -> None:
    """Objects count levels as arrays do."""
    value: dict[str, Any] = {}
    for _ in range(MAX_DEPTH - 1):
        value = {"a": value}

    taken = frozen(value)

    assert to_text(taken) == '{"a":' * (MAX_DEPTH - 1) + "{}" + "}" * (MAX_DEPTH - 1)


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 20 * MAX_DEPTH])
def test_beyond_the_limit_it_is_too_deep(levels: int) -> None:
    """One level more is TOO_DEEP with the limit as a fact, never a RecursionError."""
    fault = snapshot(nested(levels)).failure()

    assert fault.code is Code.TOO_DEEP
    assert fault.data == {"limit": MAX_DEPTH}


def test_too_deep_gives_way_to_not_json() -> None:
    """A value that is too deep and lossy as well is NOT_JSON: the check before it."""
    fault = snapshot(nested(MAX_DEPTH + 5, inside=float("nan"))).failure()

    assert fault.code is Code.NOT_JSON


def test_frozen_levels_count_too() -> None:
    """A frozen value at the limit cannot be wrapped once more."""
    deepest = frozen(nested(MAX_DEPTH))

    fault = snapshot([deepest]).failure()

    assert fault.code is Code.TOO_DEEP


def test_a_lone_surrogate_is_kept_and_written_as_an_escape() -> None:
    """Half a surrogate pair is accepted, kept, and written back as an escape."""
    taken = frozen({"high": "a\ud800b", "low": "\udfff"})

    assert taken["high"] == "a\ud800b"
    assert to_text(taken) == r'{"high":"a\ud800b","low":"\udfff"}'


def test_halves_that_meet_are_one_character() -> None:
    """A high half right before a low half is one character, in a string and in a key."""
    taken = frozen({"\ud83c\udf31": "\ud83c\udf31!"})

    assert list(taken.items()) == [("\U0001f331", "\U0001f331!")]


def test_halves_in_the_wrong_order_stay_halves() -> None:
    """A low half before a high half is two lone halves."""
    taken = frozen("\udf31\ud83c")

    assert len(taken) == 2


def test_keys_that_become_the_same_are_one() -> None:
    """Two spellings of one key are one key: last value, first place."""
    taken = frozen({"\ud83c\udf31": 1, "b": 2, "\U0001f331": 3})

    assert list(taken.items()) == [("\U0001f331", 3), ("b", 2)]


def test_key_order_is_kept() -> None:
    """Keys stay as given; nothing sorts them."""
    taken = frozen({"z": 1, "a": 2, "m": {"y": 1, "b": 2}})

    assert to_text(taken) == '{"z":1,"a":2,"m":{"y":1,"b":2}}'


def test_array_indices_come_first_in_numeric_order() -> None:
    """Keys that spell 0 to 4294967294 come first by number, as in JavaScript; others stay."""
    keys = ["b", "10", "9", "01", "4294967295", "4294967294", "0", "-1", "1.5", "a", "", "١"]

    taken = frozen(dict.fromkeys(keys, None))

    assert list(taken) == [
        *["0", "9", "10", "4294967294"],
        *["b", "01", "4294967295", "-1", "1.5", "a", "", "١"],
    ]


def test_array_indices_come_first_at_every_depth() -> None:
    """The order holds inside arrays and objects, and their values follow their keys."""
    taken = frozen([{"a": {"y": {}, "1": []}, "0": [{"x": 1, "7": 2}]}])

    assert to_text(taken) == '[{"0":[{"7":2,"x":1}],"a":{"1":[],"y":{}}}]'


@pytest.mark.parametrize("key", ["__proto__", "constructor", "toString", "", "\x00", "$ref"])
def test_any_string_is_an_ordinary_key(key: str) -> None:
    """No key means anything to us, `__proto__` no more than another."""
    taken = frozen({key: {"polluted": True}})

    assert list(taken) == [key]
    assert taken[key] == {"polluted": True}


def test_the_path_names_every_step() -> None:
    """Places in arrays and keys that need quotes are both spelled in the path."""
    fault = snapshot({"content": [0, 1, {"meta": {"odd key": {"x": b""}}}]}).failure()

    assert fault.path == "$.content[2].meta['odd key'].x"


def test_the_first_fault_in_the_order_of_the_value_is_named() -> None:
    """Of several faults the one that stands first among its siblings is the answer."""
    fault = snapshot({"a": [{"x": b""}, {"x": b""}], "b": [b""]}).failure()

    assert fault.path == "$.a[0].x"


def test_a_very_deep_path_is_cut_in_the_middle() -> None:
    """The path of a fault 5,000 levels down stays readable: both ends, and a gap."""
    fault = snapshot(nested(5000, inside=b"")).failure()

    assert fault.path is not None
    assert fault.path.startswith("$[0][0]")
    assert "…" in fault.path
    assert len(fault.path) < 200


def test_the_argument_comes_back_unchanged() -> None:
    """Neither an accepted nor a rejected value is touched."""
    accepted = {"2": [1.0, "\ud83c\udf31"], "1": {}}
    rejected = {"b": [1.0], "a": b""}

    frozen(accepted)
    snapshot(rejected).failure()

    assert list(accepted.items()) == [("2", [1.0, "\ud83c\udf31"]), ("1", {})]
    assert type(accepted["2"][0]) is float  # type: ignore[index]  # a list, as written above
    assert rejected == {"b": [1.0], "a": b""}


def test_a_wide_value_is_no_deep_one() -> None:
    """Twenty thousand siblings are one level."""
    taken = frozen([[] for _ in range(2 * MAX_DEPTH)])

    assert len(taken) == 2 * MAX_DEPTH
    assert json_equal(taken, [[]] * (2 * MAX_DEPTH))
