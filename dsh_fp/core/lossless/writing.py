"""JSON values as text, byte for byte what ECMAScript's `JSON.stringify` writes.

RFC 8785 but for key order, which is kept: it reaches the model, so it is data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

_compact: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":")
).encode
_string: Final = json.encoder.encode_basestring
_LONE: Final = re.compile("[\ud800-\udfff]")
# Where C's number spelling may part from ECMAScript's: small exponents, and integers beyond
# 2**53, which have more digits than are needed. It may also match inside a string, which
# costs time, not truth.
_ODD_NUMBER: Final = re.compile(r"[0-9]e-[0-9]|[0-9]{17}")


def to_text(value: Any) -> str:
    r"""The JSON text of a value that is already known to be lossless JSON.

    Shapes:  no spaces, keys in order, lone surrogate halves as `\udxxx`.
    Source:  ECMA-262, JSON.stringify and Number::toString.
    """
    try:
        text = _compact(value)
    except RecursionError:
        text = "".join(_pieces(value))
    else:
        if _ODD_NUMBER.search(text):
            text = "".join(_pieces(value))
    if text.isascii():
        return text
    return _LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def number_text(number: float) -> str:
    """A finite number as ECMAScript prints it: shortest digits, plain from 1e-6 to below 1e21."""
    if type(number) is int and -(2**53) <= number <= 2**53:
        return str(number)
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
