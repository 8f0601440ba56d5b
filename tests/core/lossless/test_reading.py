"""JSON text read as JavaScript reads it, and what is refused on the way."""

from __future__ import annotations

import pytest

from dsh_fp import MAX_DEPTH, Code, JsonArray, JsonObject, parse, to_text
from tests.core.making import parsed


def test_text_and_bytes_read_alike() -> None:
    """A str and its UTF-8 bytes give the same frozen value."""
    text = '{"a": [1, "ä\u2028🌱"], "b": null}'

    from_text, from_bytes = parsed(text), parsed(text.encode())

    assert from_text == from_bytes == {"a": [1, "ä\u2028🌱"], "b": None}
    assert type(from_text) is JsonObject
    assert type(from_text["a"]) is JsonArray


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740993", 9007199254740992),
        ("-9007199254740993", -9007199254740992),
        ("1e-400", 0),
        ("0.1", 0.1),
        ("5.0", 5),
        ("1E2", 100),
        ("0e999", 0),
        ("123456789012345678901234567890", 123456789012345680000000000000),
        ("0." + "1" * 5000, 0.1111111111111111),
        ("1" + "0" * 5000 + "e-5000", 1),
    ],
    ids=lambda given: str(given)[:25],
)
def test_a_number_is_the_nearest_double(text: str, value: float) -> None:
    """A number in text reads as in JavaScript; an integral one becomes an int."""
    read = parsed(text)

    assert to_text(read) == to_text(value)


@pytest.mark.parametrize(
    "text",
    ["-0", "-0.0", "-0e5", "-1e-400", "1e999", "-1e999", "9" * 5000, "-" + "9" * 5000],
    ids=lambda text: text[:10],
)
def test_negative_zero_and_overflow_are_not_json(text: str) -> None:
    """A number that no reader keeps is NOT_JSON with its path; 5,000 digits raise nothing."""
    fault = parse(f'{{"a":[{text}]}}').failure()

    assert fault.code is Code.NOT_JSON
    assert fault.path == "$.a[0]"


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("   ", 3),
        ("nul", 0),
        ("[1,]", 3),
        ('{"a":1,}', 7),
        ("{'a':1}", 1),
        ('{"a" 1}', 5),
        ("[1 2]", 3),
        ("[1] 2", 4),
        ("NaN", 0),
        ("[Infinity]", 1),
        ("[-Infinity]", 1),
        ('["NaN",NaN]', 7),
        ("01", 1),
        ("1.", 1),
        (".5", 0),
        ("+1", 0),
        ('"tab\there"', 4),
        ("\ufeff1", 0),
        ("\u00a01", 0),
        ("// no\n1", 0),
    ],
)
def test_text_that_breaks_the_grammar_names_the_character(text: str, position: int) -> None:
    """What RFC 8259 does not allow is JSON_SYNTAX, with a position at or next to the fault."""
    fault = parse(text).failure()

    assert fault.code is Code.JSON_SYNTAX
    assert fault.data["position"] in (position - 1, position, position + 1)


def test_bytes_that_are_no_utf8_are_a_syntax_fault() -> None:
    """Bad bytes name the place of the first."""
    fault = parse(b'"ab\xff"').failure()

    assert fault.code is Code.JSON_SYNTAX
    assert fault.data == {"position": 3}


def test_white_space_around_tokens_is_allowed() -> None:
    """Space, tab, CR and LF may stand anywhere between tokens."""
    assert parsed(" \r\n\t[ 1 ,\r2 ] \n") == [1, 2]


def test_a_duplicate_key_has_the_last_value_at_the_first_place() -> None:
    """Of a key given twice the last value wins, where the first stood."""
    read = parsed('{"a":1,"b":2,"a":3}')

    assert list(read.items()) == [("a", 3), ("b", 2)]


def test_a_key_spelled_with_escapes_is_the_same_key() -> None:
    """Two spellings of one key are a duplicate, halves of a pair included."""
    read = parsed(r'{"ab":1,"c":0,"\u0061b":2,"\ud83c\udf31":3,"🌱":4}')

    assert list(read.items()) == [("ab", 2), ("c", 0), ("🌱", 4)]


def test_array_indices_come_first() -> None:
    """Text takes JavaScript's key order when it is read."""
    read = parsed('{"b":1,"10":2,"2":3,"02":4,"4294967295":5}')

    assert list(read) == ["2", "10", "b", "02", "4294967295"]


def test_lone_halves_are_kept_and_pairs_joined() -> None:
    """Escapes of surrogate halves read as in JavaScript."""
    read = parsed(r'["\ud800", "\udc00\ud800", "\ud83c\udf31"]')

    assert read == ["\ud800", "\udc00\ud800", "🌱"]


def test_proto_is_an_ordinary_key() -> None:
    """`__proto__` in text is a key like any other."""
    assert list(parsed('{"__proto__":{"a":1},"constructor":2}')) == [
        "__proto__",
        "constructor",
    ]


@pytest.mark.parametrize("levels", [2000, MAX_DEPTH])
def test_deep_text_reads_up_to_the_limit(levels: int) -> None:
    """2,000 levels and exactly the limit read on every Python."""
    text = "[" * levels + "]" * levels

    assert to_text(parsed(text)) == text


def test_deep_objects_read_like_flat_ones() -> None:
    """Escapes, numbers, duplicates and order mean the same far below."""
    text = r'{"b":{"2":1.0,"1":"\ud83c\udf31","1":"\u0061","k":[true,null,{}]}}'
    written = '{"b":{"1":"a","2":1,"k":[true,null,{}]}}'

    read = parsed('{"a":' * 5000 + text + "}" * 5000)

    assert to_text(read) == '{"a":' * 5000 + written + "}" * 5000


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 300_000])
def test_deeper_text_is_too_deep(levels: int) -> None:
    """Beyond the limit it is TOO_DEEP, never a RecursionError or a crash."""
    fault = parse("[" * levels + "]" * levels).failure()

    assert fault.code is Code.TOO_DEEP
    assert fault.data == {"limit": MAX_DEPTH}


@pytest.mark.parametrize(
    "text",
    [
        "[" * 300_000,
        "[" * 300_000 + "]" * 299_999,
        '{"a":' * 300_000,
        "[" * 20_000 + "oops" + "]" * 20_000,
        "[" * 20_000 + "]" * 20_000 + "x",
        "[" * 20_000 + '{"a" 1}' + "]" * 20_000,
        "[" * 20_000 + "NaN" + "]" * 20_000,
    ],
    ids=["open", "one short", "open objects", "word", "tail", "no colon", "NaN"],
)
def test_deep_text_that_is_no_json_is_a_syntax_fault(text: str) -> None:
    """Depth does not hide a broken grammar."""
    assert parse(text).failure().code is Code.JSON_SYNTAX


def test_deep_text_with_a_lossy_number_is_not_json() -> None:
    """Too deep and lossy as well is NOT_JSON, which comes first."""
    text = "[" * 20_000 + "-0" + "]" * 20_000

    assert parse(text).failure().code is Code.NOT_JSON
