"""Lossless JSON: what is accepted, how text is read, how values are written."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Refused, code_of
from property_specs.generators.deep_values import nest, patterns
from property_specs.generators.json_texts import damaged_texts, json_texts, spelled
from property_specs.generators.json_values import (
    finite_floats,
    half_texts,
    json_values,
    loose_values,
    objects,
    sorted_values,
    wide_integers,
)
from property_specs.generators.lossy_values import planted
from property_specs.models.json_texts import NoJson, read
from property_specs.models.json_values import Lossy, exact, joined, settle, write
from property_specs.profiles import often


@given(value=loose_values())
def test_snapshot_keeps_the_value(core: Core, value: Any) -> None:
    """A snapshot is the value in its one accepted representation.

    Generator: loose_values; leaves out depth.
    Oracle:    settle, by plain recursion.
    Catches:   5.0 kept as a float, tuples kept apart from lists, keys reordered or lost.
    Broken:    a float with an integral value stays a float.
    """
    taken = core.snapshot(value)

    assert exact(taken) == exact(settle(value))


@given(value=loose_values())
def test_snapshot_leaves_its_input_alone(core: Core, value: Any) -> None:
    """Taking a snapshot changes nothing in the value it is taken of.

    Generator: loose_values.
    Oracle:    the input's repr, which tells types and order, taken before.
    Catches:   normalising in place.
    Broken:    the outermost list is mended in place instead of copied.
    """
    before = repr(value)

    core.snapshot(value)

    assert repr(value) == before


@given(case=planted())
def test_lossy_values_are_refused_by_path(core: Core, case: tuple[Any, str]) -> None:
    """A value with one place that JSON would lose is NOT_JSON at that place's path.

    Generator: planted, one lossy place at a known path; keys are plain names.
    Oracle:    the path it was planted at.
    Catches:   subclasses let through, True as a key, paths of the wrong container.
    Broken:    NaN and the infinities pass for numbers.
    """
    value, path = case

    refused = core.snapshot(value)

    assert isinstance(refused, Refused)
    assert (refused.code, refused.path) == ("NOT_JSON", path)


@given(number=wide_integers())
def test_integers_are_kept_exactly_or_refused(core: Core, number: int) -> None:
    """A Python int is accepted exactly when a double holds it, and then it is the same int.

    Generator: wide_integers, far beyond 2**53 and beyond every double.
    Oracle:    settle.
    Catches:   silent rounding; an OverflowError on its way out.
    Broken:    an int from Python is rounded as one from text is.
    """
    taken = core.snapshot([number])

    try:
        assert exact(taken) == exact(settle([number]))
    except Lossy:
        assert code_of(taken) == "NOT_JSON"


@given(pattern=patterns(), beyond=st.integers(-2, 2))
@often(0.3)
def test_depth_has_one_limit(core: Core, pattern: str, beyond: int) -> None:
    """Values nested to the documented limit are taken, as values and as text; deeper ones not.

    Generator: patterns of arrays and objects, around 10,000 levels.
    Oracle:    counting.
    Catches:   RecursionError, limits that differ between value and text.
    Broken:    the limit is one level lower.
    """
    value = nest(pattern, 10_000 + beyond)
    text = _deep_text(pattern, 10_000 + beyond)

    expected = "TOO_DEEP" if beyond > 0 else None
    assert code_of(core.snapshot(value)) == expected
    assert code_of(core.parse(text)) == expected


def _deep_text(pattern: str, depth: int) -> str:
    kinds = [pattern[level % len(pattern)] for level in range(depth)]
    opened = "".join("[" if kind == "[" else '{"k":' for kind in reversed(kinds))
    closed = "".join(f",{level}]" if kind == "[" else "}" for level, kind in enumerate(kinds))
    return f"{opened}1{closed}"


@given(text=json_texts() | damaged_texts())
@often(3)
def test_text_is_read_to_the_letter(core: Core, text: str) -> None:
    """A text is read as RFC 8259 and ECMAScript read it, or refused with the right code.

    Generator: json_texts and damaged_texts: odd numbers, repeated keys, stray characters.
    Oracle:    a reader by recursive descent, then settle.
    Catches:   NaN, leading zeros, raw control characters, -0 read as 0, a lost last value.
    Broken:    -0 is read as 0.
    """
    answer = core.parse(text)

    assert exact(answer if not isinstance(answer, Refused) else answer.code) == exact(
        _read_slowly(text)
    )


def _read_slowly(text: str) -> Any:
    try:
        return settle(read(text))
    except NoJson:
        return "JSON_SYNTAX"
    except Lossy:
        return "NOT_JSON"


@given(text=json_texts())
def test_parse_agrees_with_the_standard_library(core: Core, text: str) -> None:
    """What is accepted equals what json.loads reads, numbers taken as doubles.

    Generator: json_texts.
    Oracle:    json.loads.
    Catches:   a shared mistake of reader and recursive model.
    Broken:    of a repeated key the first value wins.
    """
    answer = core.parse(text)

    if not isinstance(answer, Refused):
        loaded = json.loads(text, parse_int=float, parse_float=float)
        assert exact(answer) == exact(settle(loaded))


@given(value=json_values(), data=st.data())
def test_parse_inverts_text(core: Core, value: Any, data: st.DataObject) -> None:
    """However a value is spelled, reading gives it back, and so does reading its own text.

    Generator: json_values in many spellings.
    Oracle:    the value.
    Catches:   escapes misread, key order lost between writing and reading.
    Broken:    an integer is read by its first fifteen characters.
    """
    text = data.draw(spelled(value))

    assert exact(core.parse(text)) == exact(value)
    assert exact(core.parse(core.text(value))) == exact(value)


@given(text=half_texts())
def test_halves_survive_writing(core: Core, text: str) -> None:
    """Surrogate halves are written as escapes and read back; halves that meet are joined.

    Generator: half_texts.
    Oracle:    the joined text.
    Catches:   UnicodeEncodeError, halves dropped, pairs left apart.
    Broken:    halves that meet stay apart.
    """
    written = core.text([text])

    assert written == written.encode().decode()
    assert core.parse(written) == [joined(text)]
    assert core.snapshot([text, {text: 1}]) == [joined(text), {joined(text): 1}]


@given(value=json_values())
@often(2)
def test_text_is_what_script_writes(core: Core, value: Any) -> None:
    """The text of a value is byte for byte what JSON.stringify gives.

    Generator: json_values.
    Oracle:    a writer by plain recursion, numbers as ECMA-262 spells them.
    Catches:   spaces, ASCII escapes, Python's spelling of numbers.
    Broken:    millionths are written with an exponent.
    """
    assert core.text(value) == write(value)


@given(number=finite_floats())
@often(5)
def test_numbers_are_written_as_script_does(core: Core, number: float) -> None:
    """A number is written with the fewest digits that give it back, in ECMAScript's notation.

    Generator: every finite double but -0.
    Oracle:    the recursive writer; float() of the text.
    Catches:   e+21 against 1e21, 1e-7 against 1e-07, digits of large integers.
    Broken:    integers of 21 digits are written with an exponent.
    """
    text = core.text(number)

    assert text == write(settle(number))
    assert float(text) == number


@given(value=sorted_values())
@often(4)
def test_text_is_canonical_where_keys_are_sorted(core: Core, value: Any) -> None:
    """Where keys stand in order, the text is RFC 8785's.

    Generator: sorted_values; leaves out halves and the integers that rfc8785 refuses.
    Oracle:    the rfc8785 package.
    Catches:   what the recursive writer and the writer on trial could both have wrong.
    Broken:    DEL is escaped too.
    """
    import rfc8785

    assert core.text(value).encode() == rfc8785.dumps(value)


@given(fields=objects(), data=st.data())
def test_index_keys_come_first(core: Core, fields: dict[str, Any], data: st.DataObject) -> None:
    """Keys that spell array indices come first and by number; all others keep their order.

    Generator: objects, their keys shuffled.
    Oracle:    settle.
    Catches:   sorting by text, 01 or 4294967295 taken for an index.
    Broken:    4294967295 counts as an index too.
    """
    shuffled = {key: fields[key] for key in data.draw(st.permutations(list(fields)))}

    assert exact(core.snapshot(shuffled)) == exact(settle(shuffled))
