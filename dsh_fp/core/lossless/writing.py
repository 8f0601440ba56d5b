"""JSON values as text, byte for byte what ECMAScript's `JSON.stringify` writes.

RFC 8785 but for key order, which is kept: it reaches the model, so it is data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

_encode: Final = msgspec.json.Encoder().encode
_string: Final = json.encoder.encode_basestring
_LONE: Final = re.compile("[\ud800-\udfff]")
# Where the fast encoder's spelling parts from ECMAScript's: of integers beyond 2**53 it writes
# more digits than are needed, and numbers from 1e-6 to below 1e-5 with an exponent. Searches
# over bytes find nearly every text that has neither; what they find may also stand inside a
# string, which costs time, not truth.
_DIGITS: Final = bytes(1 if byte in b"0123456789" else 32 for byte in range(256))
_LONG_RUN: Final = bytes(17 * (1,))
_LONG_INTEGER: Final = re.compile(rb"(?<![.0-9])[0-9]{17}")
_MILLIONTH: Final = re.compile(rb"[0-9]e-6(?![0-9])")


def text_of(value: Any) -> str:
    r"""The JSON text of a value that is already known to be lossless JSON.

    Shapes:  no spaces, keys in order, lone surrogate halves as ``\udxxx``.
    Source:  ECMA-262, JSON.stringify and Number::toString.
    """
    try:
        encoded = _encode(value)
    except (UnicodeEncodeError, RecursionError):
        return _plain_text(value)
    if _LONG_RUN in encoded.translate(_DIGITS) and _LONG_INTEGER.search(encoded):
        return _plain_text(value)
    if b"e-6" in encoded and _MILLIONTH.search(encoded):
        return _plain_text(value)
    return encoded.decode()


def _plain_text(value: Any) -> str:
    """`text_of` piece by piece: slower, for any depth, any number and half characters."""
    text = "".join(_pieces(value))
    return text if text.isascii() else _LONE.sub(_escaped, text)


def _escaped(half: re.Match[str]) -> str:
    return f"\\u{ord(half[0]):04x}"


def number_text(number: float) -> str:
    """A finite number as ECMAScript prints it: shortest digits, plain from 1e-6 to below 1e21."""
    if type(number) is int and -(2**53) <= number <= 2**53:
        return str(number)
    if number == 0:
        return "0"
    mantissa, _, exponent = repr(float(number)).partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of `point`.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        body = digits[:point].ljust(point, "0")
        body += "." + digits[point:] if len(digits) > point else ""
    elif -6 < point <= 0:
        body = "0." + "0" * -point + digits
    else:
        power = point - 1
        body = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        body += f"e{'+' if power > 0 else '-'}{abs(power)}"
    return sign + body


def _scalar(value: Any) -> str:
    match value:
        case str():
            return _string(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _:
            return number_text(value)


def _pieces(root: Any) -> Iterator[str]:
    """The text in pieces, by an explicit stack: depth is decided by strangers."""
    stack: list[tuple[Iterator[Any], str]] = []
    opened, value = False, root
    while True:
        if isinstance(value, dict):
            yield "{"
            stack.append((iter(value.items()), "}"))
            opened = True
        elif isinstance(value, list | tuple):
            yield "["
            stack.append((iter(value), "]"))
            opened = True
        else:
            yield _scalar(value)
        while stack:
            items, closing = stack[-1]
            try:
                value = next(items)
            except StopIteration:
                stack.pop()
                opened = False
                yield closing
                continue
            if not opened:
                yield ","
            opened = False
            if closing == "}":
                key, value = value
                yield _string(key) + ":"
            break
        else:
            return
