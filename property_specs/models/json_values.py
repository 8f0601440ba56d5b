"""What a JSON value is and how it is spelled, by plain recursion: for shallow values only."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

SAFE = 2**53


class Lossy(Exception):
    """A value that JSON text would lose; `path` names the first one met."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def joined(text: str) -> str:
    """The text with every high half right before a low half made one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def settle(value: Any, path: str = "$") -> Any:
    """The one plain representation of a value that JSON keeps; raises Lossy for any other."""
    if value is None or type(value) is bool:
        return value
    if type(value) is str:
        return joined(value)
    if type(value) is int or type(value) is float:
        return _settle_number(value, path)
    if type(value) is list or type(value) is tuple:
        return [settle(item, f"{path}[{place}]") for place, item in enumerate(value)]
    if type(value) is dict:
        return _settle_object(value, path)
    raise Lossy(path)


def _settle_number(value: float, path: str) -> float:
    if type(value) is int and -SAFE <= value <= SAFE:
        return value
    try:
        double = float(value)
    except OverflowError:
        raise Lossy(path) from None
    if not math.isfinite(double) or (double == 0 and math.copysign(1, double) < 0):
        raise Lossy(path)
    if type(value) is int and int(double) != value:
        raise Lossy(path)
    return int(double) if double == math.floor(double) else double


def _settle_object(value: dict[Any, Any], path: str) -> dict[str, Any]:
    settled: dict[str, Any] = {}
    for key, item in value.items():
        if type(key) is not str:
            raise Lossy(path)
        settled[joined(key)] = settle(item, f"{path}.{key}")
    return in_script_order(settled)


def in_script_order(fields: dict[str, Any]) -> dict[str, Any]:
    """The same fields with array-index keys first, by number: ECMAScript's order."""
    indices = sorted((key for key in fields if is_index(key)), key=int)
    rest = [key for key in fields if not is_index(key)]
    return {key: fields[key] for key in [*indices, *rest]}


def is_index(key: str) -> bool:
    """Whether a key spells an array index: 0 to 4294967294, no leading zero."""
    if not key or any(character not in "0123456789" for character in key) or len(key) > 10:
        return False
    return str(int(key)) == key and int(key) <= 4294967294


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are one JSON value: True is not 1, key order does not count."""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return False


def exact(value: Any) -> str:
    """A text that two plain values share only if they are the same down to their key order."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{exact(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(exact, value)) + "]"
    return repr(value)


SHORT_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def write(value: Any) -> str:
    """The text that ECMAScript's JSON.stringify gives for a settled value."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return write_string(value)
    if isinstance(value, dict):
        fields = [f"{write_string(key)}:{write(item)}" for key, item in value.items()]
        return "{" + ",".join(fields) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(write, value)) + "]"
    return write_number(value)


def write_string(text: str) -> str:
    """A string literal, escaping only what has to be."""
    written = ""
    for character in text:
        if character in SHORT_ESCAPES:
            written += SHORT_ESCAPES[character]
        elif ord(character) < 0x20 or 0xD800 <= ord(character) <= 0xDFFF:
            written += f"\\u{ord(character):04x}"
        else:
            written += character
    return '"' + written + '"'


def write_number(number: float) -> str:
    """A number as ECMA-262 6.1.6.1.20 spells it, with the names that text uses."""
    if number < 0:
        return "-" + write_number(-number)
    if number == 0:
        return "0"
    _, all_digits, exponent = Decimal(repr(float(number))).as_tuple()
    s = "".join(map(str, all_digits)).lstrip("0").rstrip("0")
    k = len(s)
    zeros = len(all_digits) - len("".join(map(str, all_digits)).rstrip("0"))
    n = int(exponent) + zeros + k  # the number is s times ten to the power of n - k
    if k <= n <= 21:
        return s + "0" * (n - k)
    if 0 < n <= 21:
        return s[:n] + "." + s[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + s
    power = f"e{'+' if n - 1 >= 0 else '-'}{abs(n - 1)}"
    return (s if k == 1 else s[0] + "." + s[1:]) + power
