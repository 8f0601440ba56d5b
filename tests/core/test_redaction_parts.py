"""The parts redaction is made of: literals, JSON text inside strings, paths with gaps."""

from __future__ import annotations

import json
import re

import pytest

from dsh_fp import Code, unwrap
from dsh_fp.core.redaction.embedded import tokens_of
from dsh_fp.core.redaction.literals import Literals
from dsh_fp.core.redaction.path_patterns import parse_path


def spans(texts: list[str], text: str) -> list[str]:
    """What is found, as text."""
    return [text[start:stop] for start, stop in Literals(texts).find(text)]


def test_the_longest_at_each_place_is_found() -> None:
    """Also where finds overlap."""
    assert spans(["abcd", "abcdef", "cdefg"], "abcdefg abcd") == ["abcdef", "cdefg", "abcd"]


def test_many_literals_are_found_by_another_way_the_same() -> None:
    """Few are looked for one by one, many at each place."""
    few = [f"{number:04}key" for number in range(5)]
    many = [f"{number:04}key" for number in range(500)]
    text = " ".join([*few, "0007ke", "0003key0004key"])

    assert [one for one in spans(many, text) if one in few] == spans(few, text)


def test_what_is_too_short_is_not_looked_for() -> None:
    """Three characters stand in any text."""
    assert not Literals(["abc"])
    assert spans(["abc", "abcd"], "abc abcd") == ["abcd"]


def test_a_literal_at_the_end_of_a_text() -> None:
    """A longer one that begins alike does not fit there."""
    assert spans(["abcd", "abcdef"], "abcde") == ["abcd"]


@pytest.mark.parametrize("text", ["12", "true", "prose", "{open", "{'a':1}", '"a" and "b"', ""])
def test_what_is_no_json_text_has_no_tokens(text: str) -> None:
    """A bare number or word counts as prose."""
    assert tokens_of(text) is None


def test_tokens_are_texts_and_numbers_in_order() -> None:
    """Keys are told from values."""
    tokens = tokens_of(' {"a" : ["b\\n", -1.5e3, true], "c": null}')

    assert tokens is not None
    assert [(one.value, one.is_text, one.is_key) for one in tokens] == [
        ("a", True, True),
        ("b\n", True, False),
        ("-1.5e3", False, False),
        ("c", True, True),
    ]


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_span_of_a_value_is_told_in_the_whole(ascii_only: bool) -> None:
    """And the other way round; an escape is taken whole."""
    value = 'x"é😀\n\\/y'
    text = json.dumps(["pad", value], ensure_ascii=ascii_only)
    tokens = tokens_of(text)
    assert tokens is not None
    token = tokens[1]
    assert token.value == value

    for start in range(len(value)):
        for stop in range(start + 1, len(value) + 1):
            outer = token.outward(start, stop)
            assert json.loads(f'"{text[outer[0] : outer[1]]}"') == value[start:stop]
            assert token.inward(*outer) == (start, stop)
    first = next(re.finditer(r"\\", text))
    assert token.inward(first.end(), first.end() + 1) == (1, 2)


@pytest.mark.parametrize(
    ("pattern", "steps", "covered"),
    [
        ("$", [], True),
        ("$.data", ["data", "x", 0], True),
        ("$.data.x", ["data"], False),
        ("$.data.*", ["data", 3], True),
        ("$.data[*].a", ["data", 3, "a"], True),
        ("$.data[3]", ["data", "3"], False),
        ("$.data['3']", ["data", "3"], True),
        ('$["odd key"]', ["odd key"], True),
        ("$..token", ["data", 0, "x", "token"], True),
        ("$..token", ["token"], True),
        ("$.data..a..b", ["data", "a", "x", "b", "y"], True),
        ("$.data..a..b", ["data", "b", "a"], False),
        ("$..*", ["data"], True),
        ("$..*", [], False),
    ],
)
def test_what_a_path_covers(pattern: str, steps: list[str | int], covered: bool) -> None:
    """The value it names, and all that stands in it."""
    assert unwrap(parse_path(pattern)).covers(steps) is covered


@pytest.mark.parametrize(
    "given", ["", "data", "$data", "$.", "$.a[", "$.a[-1]", "$.a b", "$" + ".a" * 65]
)
def test_what_is_no_path(given: str) -> None:
    """It is refused without being quoted: it may name what nobody should read."""
    refused = parse_path(given).failure()

    assert refused.code is Code.RULE_INVALID
    assert not given or f"'{given}'" not in str(refused)


def test_many_gaps_cost_no_more_than_steps_times_pattern() -> None:
    """There is no going back in it."""
    pattern = unwrap(parse_path("$" + "..a" * 30 + "..b"))

    assert not pattern.covers(["a"] * 20_000)
