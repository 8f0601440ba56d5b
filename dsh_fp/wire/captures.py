"""Captured bodies of model requests: JSON lines, a HAR file, one body, or a folder of these.

Everything here comes from strangers. What is wrong with one capture is its own fault and the
rest goes on; nothing is read without a bound.
"""

from __future__ import annotations

import base64
import binascii
import io
import os
import re
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import IO, Final, Literal

import attrs

from dsh_fp.core.lossless import AnyJson, JsonObject, decode_plain, freeze, parse_value
from dsh_fp.core.rejection import (
    Rejection,
    capture_invalid,
    capture_too_large,
    file_unreadable,
)
from dsh_fp.wire.bounded import DAMAGED, IN_ONE_PIECE, LIMITS, BoundedBytes, Limits, TooLarge

_SPACE: Final = b" \t\r\n"
_LOOKED_AT: Final = 16
_DIGITS: Final = 4000  # Python reads no longer number
_MODEL_PATH: Final = re.compile(r"/(?:chat/completions|messages)/?(?:[?#]|$)")

Shape = Literal["json lines", "har", "body"]


@attrs.frozen
class Place:
    """Where a capture stands: a file, and its line there or its entry in a HAR file.

    Units:   line counts from 1, entry from 0.
    """

    file: str
    line: int | None = None
    entry: int | None = None

    def to_wire(self) -> dict[str, AnyJson]:
        """The place as JSON, absent parts left out."""
        wire = {"file": self.file, "line": self.line, "entry": self.entry}
        return {key: value for key, value in wire.items() if value is not None}


@attrs.frozen(eq=False)
class Capture:
    """One captured request: its body, or what is wrong with it; and what the capture says of it.

    Shapes:  session and purpose are hints, None where there is none.
    """

    place: Place
    body: JsonObject | None
    fault: Rejection | None = None
    session: str | None = None
    purpose: str | None = None


@attrs.frozen
class Skipped:
    """Something in a capture that is no request to a model: another call, a folder, an odd file."""

    place: Place
    why: str


Captured = Capture | Skipped


def read_captures(
    source: str | os.PathLike[str] | IO[bytes],
    *,
    name: str | None = None,
    limits: Limits = LIMITS,
) -> Iterator[Captured]:
    """The captured requests of a file, a folder or a binary stream, in order, one at a time.

    The files of a folder come in natural order (`2.json` before `10.json`). Compressed files
    (gzip) are told by their first bytes. What is no request to a model comes as Skipped.

    Errors:  in the captures: FILE_UNREADABLE, CAPTURE_INVALID, CAPTURE_TOO_LARGE, JSON_SYNTAX,
             NOT_JSON, TOO_DEEP, with file and line. Never raises for what it reads.
    Source:  docs/reference/wire.md, "Captures".
    """
    for number, captured in enumerate(_read(source, name, limits)):
        if number == limits.captures:
            yield _faulty(captured.place, capture_too_large(number, "captured requests"))
            return
        yield captured


def _read(
    source: str | os.PathLike[str] | IO[bytes], name: str | None, limits: Limits
) -> Iterator[Captured]:
    if not isinstance(source, str | os.PathLike):
        yield from _of_stream(source, name or "<stream>", limits)
        return
    path = os.fspath(source)
    shown = name or path
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            names = sorted(os.listdir(path), key=_natural)
            entries = [(os.path.join(path, entry), os.path.join(shown, entry)) for entry in names]
        else:
            entries = [(path, shown)]
    except (OSError, ValueError) as fault:
        yield _faulty(Place(shown), file_unreadable(shown, _why(fault)))
        return
    for at, told in entries:
        if len(entries) > 1 or at != path:
            if os.path.basename(at).startswith("."):
                continue
            if not os.path.isfile(at):
                yield Skipped(Place(told), "no plain file")
                continue
        yield from _of_file(at, told, limits)


def _of_file(path: str, name: str, limits: Limits) -> Iterator[Captured]:
    try:
        opened = open(path, "rb")  # noqa: SIM115  # closed below, around what is handed out
    except (OSError, ValueError) as fault:
        yield _faulty(Place(name), file_unreadable(name, _why(fault)))
        return
    with opened:
        yield from _of_stream(opened, name, limits)


def _why(fault: OSError | ValueError) -> str:
    return (fault.strerror if isinstance(fault, OSError) else None) or type(fault).__name__


def _natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """The key of natural order: runs of digits by their number."""
    parts = re.split(r"([0-9]+)", name)
    keys = [
        (1, int(part[-4000:]), "") if place % 2 else (0, 0, part)
        for place, part in enumerate(parts)
    ]
    return keys, name


# ---- bytes to documents ----------------------------------------------------------------------


def _of_stream(stream: IO[bytes], name: str, limits: Limits) -> Iterator[Captured]:
    """The captures of one stream; one that ends badly ends with a capture that says so."""
    with _told() as told:
        yield from _of_bytes(BoundedBytes(stream, limits), name)
    if told:
        yield _faulty(Place(name), told[0].at(file=name))


@contextmanager
def _told() -> Generator[list[Rejection]]:
    """What ended the reading, if anything did."""
    told: list[Rejection] = []
    try:
        yield told
    except TooLarge as fault:
        told.append(capture_too_large(fault.limit, fault.things))
    except DAMAGED:
        told.append(capture_invalid("damaged", "its compressed bytes are damaged or cut short"))
    except OSError as fault:
        told.append(file_unreadable(None, _why(fault)))


def _of_bytes(content: BoundedBytes, name: str) -> Iterator[Captured]:
    """What the first lines tell of the whole, then the captures.

    A first line that is a JSON object by itself begins JSON lines, or is all there is. What
    is spread over lines is read whole. If that is no JSON, bad lines came before good ones.
    """
    number, line = 0, b""
    while True:
        number += 1
        taken = content.line()
        if taken is None:
            yield _faulty(Place(name, number), capture_too_large(content.limits.body, IN_ONE_PIECE))
            yield from _json_lines(content, name, number + 1)
            return
        line = taken
        if not line or line.strip(_SPACE):
            break
    if not line:
        yield _faulty(Place(name), capture_invalid("empty", "it is empty"))
        return
    first = _decoded(line)
    if isinstance(first, dict) and not _is_har(first):
        yield _of_line(line, Place(name, number))
        yield from _json_lines(content, name, number + 1)
        return
    rest = content.rest()
    if not rest.strip(_SPACE) and first is not None:
        yield from _of_document(line, first, name, number)
        return
    whole = line + rest
    value = _decoded(whole)
    if value is not None:
        yield from _of_document(whole, value, name, number)
        return
    later = [entry for entry in rest.split(b"\n", _LOOKED_AT)[:_LOOKED_AT] if entry.strip(_SPACE)]
    if not any(isinstance(_decoded(entry), dict) for entry in later):
        fault = parse_value(whole)
        assert isinstance(fault, Rejection)
        yield _faulty(Place(name), fault)
        return
    yield _of_line(line, Place(name, number))
    again = BoundedBytes(io.BytesIO(rest), content.limits)
    yield from _json_lines(again, name, number + 1)


def _json_lines(content: BoundedBytes, name: str, first: int) -> Iterator[Captured]:
    number = first
    while True:
        line = content.line()
        if line is None:
            yield _faulty(Place(name, number), capture_too_large(content.limits.body, IN_ONE_PIECE))
        elif not line:
            return
        elif line.strip(_SPACE):
            yield _of_line(line, Place(name, number))
        number += 1


def _decoded(content: bytes) -> AnyJson:
    """The plain value of a text, deep parts left out; None where it is no JSON, or null."""
    try:
        value, _ = decode_plain(content.decode())
    except UnicodeDecodeError:
        return None
    return value


# ---- documents to captures -------------------------------------------------------------------


def _of_document(content: bytes, value: AnyJson, name: str, line: int) -> Iterator[Captured]:
    """The captures of a file that is one JSON document."""
    if _is_har(value):
        for number, entry in enumerate(value["log"]["entries"]):
            yield _of_entry(entry, Place(name, entry=number))
    elif isinstance(value, list):
        _, fault = decode_plain(content.decode())
        if fault is not None:  # too deep somewhere, so that parts are left out
            yield _faulty(Place(name), fault)
            return
        for number, entry in enumerate(value):
            yield _of_value(freeze(entry, from_text=True), Place(name, entry=number))
    else:
        yield _of_line(content, Place(name, line))


def _is_har(value: AnyJson) -> bool:
    log = value.get("log") if isinstance(value, dict) else None
    return isinstance(log, dict) and isinstance(log.get("entries"), list)


def _of_line(content: bytes, place: Place) -> Capture:
    return _of_value(parse_value(content.strip(_SPACE)), place)


def _of_value(value: AnyJson, place: Place) -> Capture:
    """A capture from a bare body, or from an object with the body and what is known of it."""
    if isinstance(value, Rejection):
        return _faulty(place, value)
    if not isinstance(value, JsonObject):
        return _faulty(place, capture_invalid("not-an-object", "it is no JSON object"))
    if "body" not in value or "messages" in value:
        return Capture(place, value)
    session, purpose = _text_or_none(value, "session"), _text_or_none(value, "purpose")
    body = value["body"]
    if isinstance(body, str):
        body = parse_value(body)
    if isinstance(body, Rejection):
        return Capture(place, None, _placed(body, place), session, purpose)
    if not isinstance(body, JsonObject):
        fault = capture_invalid("not-an-object", "its body is no JSON object")
        return Capture(place, None, _placed(fault, place), session, purpose)
    return Capture(place, body, None, session, purpose)


def _text_or_none(fields: JsonObject, key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) else None


def _of_entry(entry: AnyJson, place: Place) -> Captured:
    """A capture from one entry of a HAR file; what is no request to a model is skipped."""
    request = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(request, dict):
        return Skipped(place, "an entry without a request")
    method, url, posted = request.get("method"), request.get("url"), request.get("postData")
    if not isinstance(method, str) or method.upper() != "POST":
        return Skipped(place, "no POST")
    fields = posted if isinstance(posted, dict) else {}
    text = fields.get("text")
    to_model = isinstance(url, str) and _MODEL_PATH.search(url) is not None
    if not isinstance(text, str):
        if not to_model:
            return Skipped(place, "a POST without a text")
        return _faulty(place, capture_invalid("no-text", "the entry holds no text of its body"))
    content: str | bytes = text
    if "base64" in (fields.get("encoding"), fields.get("_encoding")):
        try:
            content = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return _faulty(place, capture_invalid("base64", "its body is no base64"))
    body = parse_value(content)
    if isinstance(body, JsonObject) and (to_model or isinstance(body.get("messages"), tuple)):
        return Capture(place, body)
    if not to_model:
        return Skipped(place, "a POST that is no request to a model")
    if isinstance(body, Rejection):
        return _faulty(place, body)
    return _faulty(place, capture_invalid("not-an-object", "its body is no JSON object"))


def _faulty(place: Place, fault: Rejection) -> Capture:
    return Capture(place, None, _placed(fault, place))


def _placed(fault: Rejection, place: Place) -> Rejection:
    return fault.at(file=place.file, line_number=place.line, index=place.entry)
