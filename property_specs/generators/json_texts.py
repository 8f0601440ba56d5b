"""JSON texts: of one value in many spellings, and damaged.

Leaves out: texts of other grammars; damage is a few characters put in, out or over.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.json_values import half_texts, keys, texts

_ODD_NUMBERS = """
    0 -0 -0.0 0.0 1 -1 10 1.0 1.50 1e2 1E+2 100e-2 12.5e1 1e400 -1e400 1e-400 -1e-400 5e-324
    9007199254740993 123456789012345678901234567890 1e21 1e-7 0.000001 0e5 -0e0
    1.7976931348623157e308 1.7976931348623159e308 4.35 0.1 2e-3
"""
NUMBERS = (*_ODD_NUMBERS.split(), "1" * 400, "0." + "0" * 400 + "1", "-0." + "0" * 30)
SPACES = st.text(st.sampled_from(" \t\n\r"), max_size=2)
# What a hand or a tool puts into a text that does not belong there, and what nearly does.
DAMAGE = ' ,:]}[{"\\\x00\x1f\ufeff-+.eE019tn/uNI\u00a0٣\ud800'


@st.composite
def spelled(draw: st.DrawFn, value: Any) -> str:
    """One JSON text of a value, white space and escapes as they come."""
    if isinstance(value, dict):
        fields = [
            f"{draw(spelled(key))}{draw(SPACES)}:{draw(spelled(item))}"
            for key, item in value.items()
        ]
        body = "{" + draw(SPACES) + ",".join(fields) + "}"
    elif isinstance(value, list):
        body = "[" + draw(SPACES) + ",".join(draw(spelled(item)) for item in value) + "]"
    elif isinstance(value, str):
        body = '"' + "".join(draw(_character(c)) for c in value) + '"'
    elif type(value) is int:
        spellings = [str(value), f"{value}.0", f"{value}e0", f"{value}0E-1"]
        body = draw(st.sampled_from(spellings)) if value else "0"
    else:
        body = json.dumps(value)
    return draw(SPACES) + body + draw(SPACES)


@cache
def _character(character: str) -> st.SearchStrategy[str]:
    plain = json.dumps(character, ensure_ascii=False)[1:-1]
    units = [character] if ord(character) < 0x10000 else _halves(character)
    escaped = "".join(f"\\u{ord(unit):04x}" for unit in units)
    slash = ["\\/"] if character == "/" else []
    return st.sampled_from([plain, escaped, escaped.upper().replace("\\U", "\\u"), *slash])


def _halves(character: str) -> list[str]:
    encoded = character.encode("utf-16-be")
    return [chr(int.from_bytes(encoded[place : place + 2], "big")) for place in (0, 2)]


@cache
def json_texts() -> st.SearchStrategy[str]:
    """JSON texts with odd numbers, repeated keys, surrogate escapes and loose spacing."""
    leaves = st.sampled_from([*NUMBERS, "true", "false", "null"]) | _strings(texts() | half_texts())

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        fields = st.tuples(_strings(keys()), SPACES, inner).map(lambda f: f"{f[0]}{f[1]}:{f[2]}")
        return st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]") | st.lists(
            fields, max_size=4
        ).map(lambda pairs: "{" + ",".join(pairs) + "}")

    return st.tuples(SPACES, st.recursive(leaves, grow, max_leaves=6), SPACES).map("".join)


def _strings(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return values.flatmap(
        lambda value: st.tuples(*map(_character, value)).map(lambda cs: f'"{"".join(cs)}"')
    )


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    """A JSON text with a few characters put in, taken out or put over."""
    text = draw(json_texts())
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(text)))
        put = draw(st.sampled_from(["", *DAMAGE]))
        text = text[:place] + put + text[place + draw(st.integers(0, 1)) :]
    return text
