"""JSON text into immutable values: RFC 8259 to the letter, numbers as ECMAScript reads them."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import msgspec
from returns.result import Failure, Result, Success

from dsh_fp.core.lossless.frozen import Json
from dsh_fp.core.lossless.snapshot import MAX_DEPTH, freeze, is_lossy
from dsh_fp.core.rejection import Rejection, json_syntax, not_json, too_deep


def parse(text: str | bytes) -> Result[Json, Rejection]:
    """The immutable value of a JSON text.

    Errors:  JSON_SYNTAX with the character; NOT_JSON for -0 and overflow; TOO_DEEP.
    """
    value = parse_value(text)
    return Failure(value) if isinstance(value, Rejection) else Success(value)


def parse_value(text: str | bytes, limit: int = MAX_DEPTH) -> Any:
    """The frozen value, or the Rejection: `parse` without the wrapping."""
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as fault:
            return json_syntax("bytes that are not UTF-8", fault.start)
    plain, rejection = decode_plain(text, limit)
    return rejection or freeze(plain, from_text=True, limit=limit)


def decode_plain(text: str, limit: int = MAX_DEPTH) -> tuple[Any, Rejection | None]:
    """The plain value as JavaScript would read it, infinities included, and the first fault.

    Errors:  JSON_SYNTAX, where the value means nothing; beyond the limit TOO_DEEP, or NOT_JSON
             when it is lossy too, with a value whose deep parts are left out.
    """
    if is_deep(text):
        return _decode_deep(text, limit)
    try:
        return _decode(text), None
    except json.JSONDecodeError as fault:
        return None, json_syntax(fault.msg.partition(":")[0].lower(), fault.pos)
    except (_ConstantError, RecursionError):
        return _decode_deep(text, limit)  # which also knows where the constant stands


def decode_clean(raw: msgspec.Raw | bytes, limit: int = MAX_DEPTH) -> Any:
    """The frozen value of text that acceptance has already found to be lossless JSON."""
    if memoryview(raw).nbytes > 2 * SAFE_DEPTH and is_deep(bytes(raw)):
        return parse_value(bytes(raw), limit)
    try:
        plain = _decode_fast(raw)
    except (msgspec.MsgspecError, RecursionError):
        return parse_value(bytes(raw), limit)
    return freeze(plain, from_text=True, limit=limit)


def decode_exact(line: bytes) -> Any:
    """The plain value of a line that is surely the exact text of its value, else None.

    None only means that a closer look is needed. The line is known to be lossless JSON.
    """
    if _INEXACT.search(line) or (len(line) > 2 * SAFE_DEPTH and is_deep(line)):
        return None
    try:
        plain = _decode_fast(line)
        return plain if _encode(plain) == line else None
    except (msgspec.MsgspecError, RecursionError):
        return None


def is_deep(text: str | bytes) -> bool:
    """Whether a text is nested too deeply for decoders that recurse, on any thread's stack.

    Nearly always told by its length or its number of brackets alone.
    """
    if len(text) <= 2 * SAFE_DEPTH:
        return False
    raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    if raw.count(b"[") + raw.count(b"{") <= SAFE_DEPTH:
        return False
    depth = 0
    for bracket in _STRINGS.sub(b"", raw).translate(None, _NO_BRACKETS):
        if bracket in b"[{":
            depth += 1
            if depth > SAFE_DEPTH:
                return True
        else:
            depth -= 1
    return False


def revive(text: str) -> Any:
    """The value again that a pickle holds as text."""
    # A value may stand one level deeper than payloads may: a whole event does.
    return parse_value(text, MAX_DEPTH + 1)


class _ConstantError(Exception):
    """NaN or an infinity, spelled out: no JSON."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


def _integer(literal: str) -> float:
    # Python reads -0 as 0, and raises on 4,301 digits; the double nearest is what counts.
    if literal == "-0":
        return -0.0
    return int(literal) if len(literal) < 17 else float(literal)


SAFE_DEPTH: Final = 500
"""Nesting that a recursive decoder manages on a thread with a small stack."""

_STRINGS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")

_decode_fast: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode
# What the fast encoder gives back as it was, though the exact text of the value is another:
# numbers with exponents, with zeros behind the point or with many digits, and keys that are
# indexes. Inside a string it costs time, not truth.
_INEXACT: Final = re.compile(rb'[0-9](?:\.0[^0-9]|[eE][-+0-9]|[0-9]{15})|"[0-9]+":')
_decode: Final = json.JSONDecoder(parse_int=_integer, parse_constant=_refuse_constant).decode

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_TOKEN: Final = re.compile(
    r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
    r"|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
    r"|true|false|null|[\[\]{},:]"
)


def _decode_deep(text: str, limit: int) -> tuple[Any, Rejection | None]:
    """`decode_plain` for deeply nested text: slow, but it never recurses.

    What lies inside a value that goes beyond the limit is checked but not kept, so that a
    text that is no JSON at all is called that, and a small file cannot ask for much memory.
    """
    kinds = bytearray()  # the open brackets
    values: list[Any] = []  # the open containers that are kept, outermost first
    keys: list[Any] = []  # for each of them, the key that waits for its value
    lossy = False
    too_far = False
    root: Any = None
    # What may come next: v value, w value or ], k key or }, n key, c colon, e comma or end
    expect, position = "v", 0
    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]  # may be empty
        found = _TOKEN.match(text, position)
        if found is None:
            if position == len(text) and expect == "e" and not kinds:
                break
            return None, json_syntax("unexpected end or character", position)
        token = found[0]
        first = token[0]
        keeping = len(values) == len(kinds)
        done: Any = None
        closed = False
        if expect in "vw" and first in "[{":
            kinds.append(ord(first))
            if len(kinds) > limit:
                too_far = True
                # The outermost container stays: whoever asks may still need its fields.
                del values[1:], keys[1:]
            elif keeping:
                values.append([] if first == "[" else {})
                keys.append(None)
            expect = "w" if first == "[" else "k"
        elif expect in "vw" and first not in "]},:":
            done = _scalar(token)
            lossy = lossy or is_lossy(done)
            closed = True
        elif expect in "kn" and first == '"':
            if keeping:
                keys[-1] = json.loads(token)
            expect = "c"
        elif expect == "c" and first == ":":
            expect = "v"
        elif expect == "e" and kinds and first == ",":
            expect = "v" if kinds[-1] == ord("[") else "n"
        elif kinds and (
            (first == "]" and kinds[-1] == ord("[") and expect in "we")
            or (first == "}" and kinds[-1] == ord("{") and expect in "ke")
        ):
            kinds.pop()
            if keeping:
                done = values.pop()
                keys.pop()
            closed = True
        else:
            return None, json_syntax("unexpected character", position)
        if closed:
            expect = "e"
            if not kinds:
                root = done
            elif len(values) == len(kinds):
                if kinds[-1] == ord("["):
                    values[-1].append(done)
                else:
                    values[-1][keys[-1]] = done
        position = found.end()
    if not too_far:
        return root, None
    return root, not_json("$", "a negative zero or an overflow") if lossy else too_deep(
        min(limit, MAX_DEPTH)
    )


def _scalar(token: str) -> Any:
    if token[0] in "-0123456789":
        return _integer(token) if token.lstrip("-").isdigit() else float(token)
    return json.loads(token)
