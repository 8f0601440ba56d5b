"""Plain JSON values: settled ones, and loosely spelled ones that settle to others.

Leaves out: depth (see `deep_values`) and values JSON cannot carry (see `lossy_values`).
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.models.json_values import settle

# Mostly plain letters, with what JSON escapes and what UTF-8 and UTF-16 spell differently.
LETTERS = 'ab0 "\\/\n\t\x00\x1f\x7fé\u2028漢😀'
ODD_KEYS = ("__proto__", "constructor", "", "a b", "é", "length")
INDEX_KEYS = ("0", "7", "10", "2", "01", "4294967294", "4294967295", "-1", "٣", "１")


@cache
def texts() -> st.SearchStrategy[str]:
    """Short texts without surrogate halves."""
    return st.text(st.sampled_from(LETTERS), max_size=6)


@cache
def half_texts() -> st.SearchStrategy[str]:
    """Texts in which surrogate halves stand alone or meet."""
    return st.lists(st.sampled_from(["a", "\ud83d", "\ude00", "😀", "\udfff"]), max_size=4).map(
        "".join
    )


@cache
def keys() -> st.SearchStrategy[str]:
    """Keys of objects: names, odd names, array indices."""
    return st.sampled_from(("a", "b", "name", "type", *ODD_KEYS, *INDEX_KEYS))


@cache
def numbers() -> st.SearchStrategy[float]:
    """Numbers JSON keeps, integers as Python ints."""
    return st.one_of(
        st.integers(-3, 300),
        st.integers(-(2**53), 2**53),
        st.sampled_from([0.5, -1.5, 1e21, 1e-7, 1e-6, 1.2345678901234568e20, 5e-324, 1e300]),
        finite_floats(),
    ).map(settle)


@cache
def finite_floats() -> st.SearchStrategy[float]:
    """Any double but the ones JSON loses; -0 and tiny negatives that read as it become 0."""
    return st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number or 0.0)


@cache
def scalars() -> st.SearchStrategy[Any]:
    """Settled values without inner structure."""
    return st.none() | st.booleans() | numbers() | texts()


@cache
def json_values() -> st.SearchStrategy[Any]:
    """Settled values: what reading them back gives is what stands here, key order included."""
    return _nested(scalars()).map(settle)


@cache
def loose_values() -> st.SearchStrategy[Any]:
    """Python values that JSON carries, spelled loosely.

    5.0 for 5, tuples for lists, exact integers beyond 2**53, halves of surrogate pairs,
    array-index keys in any order.
    """
    whole = st.sampled_from([5.0, -3.0, 1e22, 2**60, -(2**80), 1e15, 0.0])
    return _nested(scalars() | half_texts() | whole, loose_keys=True)


def objects(values: st.SearchStrategy[Any] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Settled objects of settled values."""
    return st.dictionaries(keys(), scalars() if values is None else values, max_size=4).map(settle)


def _nested(leaves: st.SearchStrategy[Any], *, loose_keys: bool = False) -> st.SearchStrategy[Any]:
    names = keys() | half_texts() if loose_keys else keys()

    def grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        lists = st.lists(inner, max_size=4)
        arrays = lists | lists.map(tuple) if loose_keys else lists
        return arrays | st.dictionaries(names, inner, max_size=4)

    return st.recursive(leaves, grow, max_leaves=8)


@cache
def wide_integers() -> st.SearchStrategy[int]:
    """Integers of any size, among them those that no double holds exactly."""
    largest = int(sys.float_info.max)
    return st.integers(-(2**70), 2**70) | st.sampled_from([largest, largest + 1, 10**400])


@cache
def sorted_values() -> st.SearchStrategy[Any]:
    """Settled values whose keys stand in order, without integers that are not safe."""
    names = st.sampled_from(["a", "b", "é", "__proto__", "漢", "a b"])
    numbers = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e9, 1e9).map(lambda n: n or 0)

    def grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        fields = st.dictionaries(names, inner, max_size=3)
        return st.lists(inner, max_size=3) | fields.map(lambda found: dict(sorted(found.items())))

    leaves = numbers | texts() | st.booleans() | st.none()
    return st.recursive(leaves, grow, max_leaves=8).map(settle)
