"""A reader of JSON text by recursive descent, RFC 8259 to the letter: for shallow texts only."""

from __future__ import annotations

from typing import Any

from property_specs.models.json_values import joined


class NoJson(Exception):
    """The text is no JSON text."""


def read(text: str) -> Any:
    """The value of a text as JavaScript's JSON.parse has it; every number is a float."""
    value, place = _value(text, _space(text, 0))
    if _space(text, place) != len(text):
        raise NoJson
    return value


def _space(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\n\r":
        place += 1
    return place


def _expect(text: str, place: int, wanted: str) -> int:
    if text[place : place + len(wanted)] != wanted:
        raise NoJson
    return place + len(wanted)


def _value(text: str, place: int) -> tuple[Any, int]:
    first = text[place : place + 1]
    if first == "{":
        return _object(text, place + 1)
    if first == "[":
        return _array(text, place + 1)
    if first == '"':
        return _string(text, place + 1)
    for word, value in (("true", True), ("false", False), ("null", None)):
        if text.startswith(word, place):
            return value, place + len(word)
    return _number(text, place)


def _object(text: str, place: int) -> tuple[Any, int]:
    fields: dict[str, Any] = {}
    place = _space(text, place)
    if text[place : place + 1] == "}":
        return fields, place + 1
    while True:
        key, place = _string(text, _expect(text, _space(text, place), '"'))
        place = _expect(text, _space(text, place), ":")
        fields[key], place = _value(text, _space(text, place))
        place = _space(text, place)
        if text[place : place + 1] == "}":
            return fields, place + 1
        place = _expect(text, place, ",")


def _array(text: str, place: int) -> tuple[Any, int]:
    items: list[Any] = []
    place = _space(text, place)
    if text[place : place + 1] == "]":
        return items, place + 1
    while True:
        item, place = _value(text, _space(text, place))
        items.append(item)
        place = _space(text, place)
        if text[place : place + 1] == "]":
            return items, place + 1
        place = _expect(text, place, ",")


ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}


def _string(text: str, place: int) -> tuple[str, int]:
    read_so_far = ""
    while True:
        character = text[place : place + 1]
        if not character or character < " ":
            raise NoJson
        place += 1
        if character == '"':
            return joined(read_so_far), place
        if character != "\\":
            read_so_far += character
            continue
        escape = text[place : place + 1]
        place += 1
        if escape == "u":
            digits = text[place : place + 4]
            if len(digits) < 4 or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
                raise NoJson
            read_so_far += chr(int(digits, 16))
            place += 4
        elif escape in ESCAPES:
            read_so_far += ESCAPES[escape]
        else:
            raise NoJson


def _digits(text: str, place: int) -> int:
    start = place
    while text[place : place + 1] and text[place] in "0123456789":
        place += 1
    if place == start:
        raise NoJson
    return place


def _number(text: str, place: int) -> tuple[float, int]:
    start = place
    if text[place : place + 1] == "-":
        place += 1
    place = place + 1 if text[place : place + 1] == "0" else _digits(text, place)
    if text[place : place + 1] == ".":
        place = _digits(text, place + 1)
    if text[place : place + 1] in ("e", "E"):
        place += 1
        if text[place : place + 1] in ("+", "-"):
            place += 1
        place = _digits(text, place)
    return float(text[start:place]), place
