"""JSON text byte for byte as ECMAScript's `JSON.stringify` gives it."""

from __future__ import annotations

import pytest

from dsh_fp import MAX_DEPTH, parse, to_text
from tests.core.making import frozen, nested


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-1, "-1"),
        (100.0, "100"),
        (0.1, "0.1"),
        (-0.5, "-0.5"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1.2345678901234568e20, "123456789012345680000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (-1.2345e-10, "-1.2345e-10"),
        (2**53, "9007199254740992"),
        (2**60, "1152921504606847000"),
        (2**70, "1.1805916207174113e+21"),
        (123.456, "123.456"),
        (1e16, "10000000000000000"),
        (12345678901234567890.0, "12345678901234567000"),
    ],
)
def test_numbers_print_as_in_ecmascript(number: float, text: str) -> None:
    """Shortest digits; plain from 1e-6 to below 1e21, else with a signed exponent."""
    assert to_text(frozen(number)) == text
    assert to_text(frozen([{"a": number}])) == f'[{{"a":{text}}}]'


def test_control_characters_are_escaped_the_short_way_first() -> None:
    r"""Five short escapes, else lower-case `\u00xx`; nothing else below a space."""
    value = frozen('"\\\b\t\n\f\r\x00\x1f\x0b')

    assert to_text(value) == r'"\"\\\b\t\n\f\r\u0000\u001f\u000b"'


def test_everything_else_is_written_as_it_is() -> None:
    """Slash, DEL, U+2028 and characters beyond the BMP need no escape."""
    value = frozen("/\x7f\x80ä\u2028\u2029\ufeff🌱")

    assert to_text(value) == '"/\x7f\x80ä\u2028\u2029\ufeff🌱"'


def test_lone_halves_are_escaped_in_lower_case() -> None:
    """A lone half is an escape, in values and in keys."""
    value = frozen({"\ud83c": "\udf31"})

    assert to_text(value) == r'{"\ud83c":"\udf31"}'


def test_no_space_is_written() -> None:
    """Separators are a bare comma and colon."""
    value = parse('{ "a" : [ 1 , true , null ] , "b" : { } , "c": [ ] }').unwrap()

    assert to_text(value) == '{"a":[1,true,null],"b":{},"c":[]}'


def test_plain_values_are_written_too() -> None:
    """The writer takes plain dicts and lists as well as frozen ones."""
    assert to_text({"b": [1, 2.5], "a": ("x",)}) == '{"b":[1,2.5],"a":["x"]}'


def test_a_string_that_looks_like_a_number_stays_a_string() -> None:
    """Digits and exponents inside strings and keys are left alone."""
    value = frozen({"1e-7": "12345678901234567890", "x": "1e-7"})

    assert to_text(value) == '{"1e-7":"12345678901234567890","x":"1e-7"}'


def test_odd_numbers_far_down_are_written_the_same() -> None:
    """The slow route for deep values spells numbers, strings and halves alike."""
    inside = {"n": [1e21, 1e-7, 5], "s": "\ud800\n", "e": [], "o": {}, "t": [True, False, None]}
    value = frozen(nested(MAX_DEPTH - 2, inside))

    written = to_text(value)

    assert (
        written.strip("[]")
        == r'{"n":[1e+21,1e-7,5],"s":"\ud800\n","e":[],"o":{},"t":[true,false,null]}'
    )
