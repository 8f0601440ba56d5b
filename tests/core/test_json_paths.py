"""Where two JSON values part, as paths."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp.core.json_paths import (
    Difference,
    differences,
    first_difference,
    first_unequal,
    leading_steps,
    path_text,
)
from tests.core.making import frozen, nested


def told(expected: object, got: object) -> list[str]:
    return [str(found) for found in differences(expected, got)]


def test_equal_values_do_not_part() -> None:
    """Frozen or plain, list or tuple, 1 or 1.0."""
    value = {"a": [1, {"b": None}], "c": "x"}

    assert first_difference(value, frozen(value)) is None
    assert first_difference([1, 2], (1.0, 2)) is None


@pytest.mark.parametrize(
    ("expected", "got", "found"),
    [
        ({"a": 1}, {"a": 2}, ["a"]),
        ({"a": 1, "b": 2}, {"b": 2}, ["a (missing)"]),
        ({"b": 2}, {"a": 1, "b": 2}, ["a (extra)"]),
        ({"a": 1, "b": 2}, {"b": 3, "a": 1}, ["$ (key order)", "b"]),
        ([1, 2], [1], ["[1] (missing)"]),
        ([1], [1, None], ["[1] (extra)"]),
        ({"a": None}, {"a": {}}, ["a"]),
        (True, 1, ["$"]),
        ([], {}, ["$"]),
        ({"odd key": [0]}, {"odd key": [1]}, ["['odd key'][0]"]),
    ],
)
def test_each_way_to_part_has_a_name(expected: Any, got: Any, found: list[str]) -> None:
    """Another value, a key or item that one of them lacks, the same keys in another order."""
    assert told(expected, got) == found


def test_paths_come_in_the_order_of_the_text() -> None:
    """What stands earlier in the text is found first, however deep."""
    old = {"a": {"deep": [0, {"x": 1}]}, "b": 1, "c": 1}
    new = {"a": {"deep": [0, {"x": 2}], "more": 0}, "c": 2, "b": 1}

    assert told(old, new) == ["a.deep[1].x", "a.more (extra)", "$ (key order)", "c"]


def test_a_difference_holds_what_stands_there() -> None:
    """Both values, the steps that lead to them, and where two texts part."""
    found = first_difference({"a": ["one text"]}, {"a": ["one word"]})

    assert found == Difference(("a", 0), "value", "one text", "one word")
    assert found.path == "$.a[0]"
    assert found.offset == 4
    assert Difference((), "value", 1, "1").offset is None


def test_depth_is_no_limit() -> None:
    """A value of ten thousand levels is walked like any other; its path is cut in the middle."""
    found = first_difference(nested(9_999, 1), nested(9_999, 2))

    assert found is not None
    assert len(found.steps) == 9_999
    assert found.path == "$" + "[0]" * 20 + "…" + "[0]" * 20


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [("abc", "abd", 2), ("ab", "abc", 2), ("", "", 0), (b"\xc3\xa9", b"\xc3\xa8", 1)],
)
def test_texts_part_at_a_place(one: Any, other: Any, place: int) -> None:
    """Counted from 0; the length of the shorter when the other goes on."""
    assert first_unequal(one, other) == place


def test_a_path_is_read_as_far_as_it_is_plain() -> None:
    """Names and places; an odd key ends it."""
    assert leading_steps("$.messages[3].content[0].text") == ("messages", 3, "content", 0, "text")
    assert leading_steps("$.tools[0]['odd key'].x") == ("tools", 0)
    assert leading_steps("$") == leading_steps("") == ()
    assert path_text(("tools", 0, "a\nb")) == "$.tools[0]['a\\nb']"
