"""Documents from strangers, looked at key by key: what certificates and proofs have in common.

Here live the shapes of their parts, and that nothing in them goes unread: a key that is not
known, or that stands twice, could say one thing to a person and another to this library.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from returns.result import Failure, Result, Success

from dsh_fp.core.digests import RULES
from dsh_fp.core.events import is_seq
from dsh_fp.core.lossless import (
    MAX_DEPTH,
    AnyJson,
    JsonArray,
    JsonObject,
    freeze,
    is_deep,
    parse_value,
)
from dsh_fp.core.rejection import Rejection, not_json, shown

VERSION: Final = 1
"""The version of both kinds of document."""

# A payload may be as deep as an event may; documents hold parts of payloads a little deeper.
_LIMIT: Final = MAX_DEPTH + 8
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}:]')


class Unfit(Exception):
    """What is wrong with a document, where, and of which kind it is.

    Never leaves the module that reads the document: there it becomes a Rejection.
    """

    def __init__(self, what: str, path: str | None = None, reason: str = "shape") -> None:
        super().__init__(what)
        self.what = what
        self.path = path
        self.reason = reason


def read_document(text: str | bytes) -> Result[AnyJson, Rejection]:
    """The frozen value of a document's text.

    Errors:  JSON_SYNTAX, TOO_DEEP; NOT_JSON also for an object that has a key twice.
    """
    value = parse_value(text, _LIMIT)
    if isinstance(value, Rejection):
        return Failure(value)
    key = repeated_key(text.decode() if isinstance(text, bytes) else text)
    if key is not None:
        return Failure(not_json("$", f"the key {shown(key)} twice in one object"))
    return Success(value)


def repeated_key(text: str) -> str | None:
    """The first key that stands twice in one object of a text that is JSON.

    A text without one is gone through at the speed of the decoder, and no value is made of it.
    """
    return None if _is_free_of_repeats(text) else _first_repeated_key(text)


class _RepeatError(Exception):
    """An object has a key twice."""


def _seen_pairs(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1 and len({key for key, _ in pairs}) != len(pairs):
        raise _RepeatError


_see: Final = json.JSONDecoder(
    object_pairs_hook=_seen_pairs, parse_int=len, parse_float=len, parse_constant=len
).decode


def _is_free_of_repeats(text: str) -> bool:
    if is_deep(text):
        return False  # not known: the decoder recurses
    try:
        _see(text)
    except (_RepeatError, RecursionError):
        return False
    return True


def _first_repeated_key(text: str) -> str | None:
    open_: list[set[str]] = []
    last = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "[{":
            open_.append(set())
        elif token in "]}":
            open_.pop()
        elif token == ":":
            key: str = json.loads(last)
            if key in open_[-1]:
                return key
            open_[-1].add(key)
        else:
            last = token
    return None


def frozen_document(wire: object) -> AnyJson:
    """The frozen value of a document given as a Python value.

    Errors:  Unfit.
    """
    value = freeze(wire, limit=_LIMIT)
    if isinstance(value, Rejection):
        raise Unfit(value.message, value.path)
    return value


def check_kind(document: AnyJson, format: str) -> None:
    """See that a document says to be of this format, version and rules.

    Errors:  Unfit; its reason is `unsupported` for another version or other rules.
    """
    if not isinstance(document, JsonObject) or document.get("format") != format:
        raise Unfit(f"it does not say to be a {format}", "$.format")
    for key, known in (("version", VERSION), ("rules", RULES)):
        if key not in document:
            raise Unfit(f"{key} is missing", f"$.{key}")
        value: AnyJson = document[key]
        if type(value) is not type(known) or value != known:
            said = shown(value) if isinstance(value, str) else f"{key} of another kind"
            said = str(value) if is_seq(value) else said
            raise Unfit(f"{key} is {said}, this release knows {known}", f"$.{key}", "unsupported")


def members(value: AnyJson, path: str, keys: tuple[str, ...]) -> JsonObject:
    """The object at a place, which has these keys and no others.

    Errors:  Unfit.
    """
    if not isinstance(value, JsonObject):
        raise Unfit("it is no object", path)
    for key in keys:
        if key not in value:
            raise Unfit(f"{key} is missing", f"{path}.{key}")
    for key in value:
        if key not in keys:
            raise Unfit(f"it has an unknown key {shown(key)}", path)
    found: JsonObject = value
    return found


def array(value: AnyJson, path: str) -> JsonArray:
    """The array at a place.

    Errors:  Unfit.
    """
    if not isinstance(value, JsonArray):
        raise Unfit("it is no array", path)
    return value


def whole(value: AnyJson, path: str) -> int:
    """The integer 0 to 2**53 - 1 at a place; `true` is none.

    Errors:  Unfit.
    """
    if not is_seq(value):
        raise Unfit("it is no integer from 0 to 2**53 - 1", path)
    number: int = value
    return number


def hash_at(value: AnyJson, path: str) -> str:
    """The hash at a place, spelled in the one way that is taken.

    Errors:  Unfit.
    """
    if not isinstance(value, str) or not is_hash(value):
        raise Unfit("it is no hash of 64 lower-case hex digits", path)
    return value


def is_hash(text: str) -> bool:
    """Whether a text is 32 bytes in lower-case hex."""
    return _HASH.fullmatch(text) is not None
