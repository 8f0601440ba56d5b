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

from dsh_fp.core.documents import repeated_key
from dsh_fp.core.lossless import AnyJson, JsonObject, decode_plain, freeze, parse_value
from dsh_fp.core.rejection import (
    Code,
    Rejection,
    capture_invalid,
    capture_too_large,
    file_unreadable,
    json_syntax,
    shown,
)
from dsh_fp.wire.bounded import (
    DAMAGED,
    IN_ONE_PIECE,
    LIMITS,
    VALUES,
    VALUES_OF_MANY,
    BoundedBytes,
    Limits,
    PackedAgain,
    TooLarge,
    inflated,
)
from dsh_fp.wire.spread import Spread, members, most_values

_SPACE: Final = b" \t\r\n"
_OPENINGS: Final = (b"{", b"[")
_TRIES: Final = 16  # of lines that are looked at again, so many may begin a text once more
_HELD: Final = 1000
_MANY_HAVE_MORE: Final = 16  # times the values of one body
_READ_CODINGS: Final = frozenset({"gzip", "x-gzip", "deflate"})
_DIGITS: Final = 4000  # Python reads no longer number
_MODEL_PATH: Final = re.compile(r"/(?:chat/completions|messages)/?(?:[?#]|$)")

Shape = Literal["json lines", "har", "body"]


@attrs.frozen
class Place:
    """Where a capture stands: a file, its first line there, its entry in a list or a HAR document.

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

    `remarks` say why the body is not plainly what was sent: where an object has a key twice, it
    is read here as JavaScript reads it, but another reader may take the other value.

    Shapes:  session and purpose are hints, None where there is none; remarks are for a person.
    """

    place: Place
    body: JsonObject | None
    fault: Rejection | None = None
    session: str | None = None
    purpose: str | None = None
    remarks: tuple[str, ...] = ()


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
        yield from _without_prose(_Texts(BoundedBytes(stream, limits), name))
    if told:
        yield _faulty(Place(name), told[0])


@contextmanager
def _told() -> Generator[list[Rejection]]:
    """What ended the reading, if anything did."""
    told: list[Rejection] = []
    try:
        yield told
    except TooLarge as fault:
        told.append(capture_too_large(fault.limit, fault.things))
    except PackedAgain:
        told.append(capture_invalid("packed-again", "it is compressed more than once"))
    except DAMAGED:
        told.append(capture_invalid("damaged", "its compressed bytes are damaged or cut short"))
    except OSError as fault:
        told.append(file_unreadable(None, _why(fault)))


@attrs.frozen(eq=False)
class _Text:
    """One JSON text of a stream, or what is wrong where one was expected.

    `is_prose` where a line does not even begin like an object or a list. `value` is that of an
    object, plain and not looked at further.
    """

    line: int
    text: str = ""
    value: AnyJson = None
    fault: Rejection | None = None
    is_prose: bool = False


def _without_prose(texts: _Texts) -> Iterator[Captured]:
    """The captures, where a file that is no capture at all is one fault, not one for each line.

    What is no JSON is held back until something is. Past a bound, it is counted.
    """
    held: list[_Text] = []
    more = last = 0
    found = False
    with _told() as told:
        for text in texts.read():
            if text.fault is None or found:
                yield from _held_back(held, more, last, texts)
                held, more, found = [], 0, True
                yield from _captured(text, texts)
            elif len(held) < _HELD:
                held.append(text)
            else:
                more, last = more + 1, text.line
    if not (held or found or told):
        told = [capture_invalid("empty", "it is empty")]
    if all(text.is_prose for text in held):
        held, more = held[:1], 0
    else:
        held = [text for text in held if not text.is_prose]
    yield from _held_back(held, more, last, texts)
    if told:
        yield _faulty(Place(texts.name), told[0])


def _held_back(held: list[_Text], more: int, last: int, texts: _Texts) -> Iterator[Captured]:
    for text in held:
        yield from _captured(text, texts)
    if more:
        what = f"{more} more places up to this line hold none"
        yield _faulty(Place(texts.name, last), capture_invalid("more", what))


class _Texts:
    """The JSON texts of a stream of lines: on one line each, or spread over several.

    A line that is no JSON but may begin some, `{` alone say, is read on with as long as it may
    still be JSON. If it turns out to be none, it was a line that was cut, and what was read on
    with is looked at again. No more than one text is held.
    """

    def __init__(self, content: BoundedBytes, name: str) -> None:
        self.name = name
        self.limits = content.limits
        self.unpacked = 0  # bytes out of bodies that are compressed by themselves
        self._content = content
        self._number = 0
        # Lines to look at again, the next ones last, each with its number; None was too long.
        self._again: list[tuple[io.BytesIO | None, int]] = []
        self._tries = _TRIES

    def read(self) -> Iterator[_Text]:
        """The texts in order, each with its first line."""
        in_broken = False  # behind the beginning of a text that was spread and is none
        while True:
            if not self._again:
                self._tries = _TRIES
            number, line = self._next()
            if line is None:
                yield self._too_long(number)
                continue
            if not line:
                return
            if not line.strip(_SPACE) or (in_broken and not line.startswith(_OPENINGS)):
                continue
            in_broken = False
            text = self._of_line(number, line.strip(_SPACE))
            may_begin = text.fault is not None and text.fault.code is Code.JSON_SYNTAX
            if may_begin and not text.is_prose and self._tries:
                self._tries -= 1
                spread = self._spread(number, line)
                if spread is not None:
                    text, in_broken = spread
            yield text

    def _next(self) -> tuple[int, bytes | None]:
        """The next line and its number; empty at the end, None for one that is too long."""
        while self._again:
            lines, number = self._again.pop()
            if lines is None:
                return number, None
            line = lines.readline()
            if lines.tell() < lines.getbuffer().nbytes:
                self._again.append((lines, number + 1))
            return number, line
        self._number += 1
        return self._number, self._content.line()

    def _of_line(self, number: int, line: bytes) -> _Text:
        text = _decoded(line)
        if text is not None and text.startswith(("{", "[")):
            made = self.of_text(number, text)
            spread = Spread()
            if text.startswith("{") or made.fault is not None or spread.feed(text) == "closed":
                return made
            fault = json_syntax("unexpected end or character", spread.position)
            return _Text(number, fault=fault)
        value = parse_value(line)
        fault = value if isinstance(value, Rejection) else _no_object()
        return _Text(number, fault=fault, is_prose=not line.startswith(_OPENINGS))

    def of_text(self, number: int, text: str) -> _Text:
        """An object, a list that is JSON already, or what is wrong with it."""
        if not text.startswith(("{", "[")):
            return _Text(number, fault=_no_object())
        limit = self.limits.values
        most = most_values(text, limit)
        if most > _MANY_HAVE_MORE * limit:
            return _Text(number, fault=capture_too_large(_MANY_HAVE_MORE * limit, VALUES_OF_MANY))
        if text.startswith("["):
            return _Text(number, text)
        too_many = capture_too_large(limit, VALUES)
        if most > limit and '"log"' not in text:
            return _Text(number, fault=too_many)
        value, fault = decode_plain(text)
        if fault is None and most > limit and not _is_har(value):
            fault = too_many
        return _Text(number, text, value, fault)

    def _spread(self, number: int, line: bytes) -> tuple[_Text, bool] | None:
        """The text that a line begins and later ones end; None where it is a line by itself.

        If it is broken further on, as is told too, that is its fault, and the lines behind its
        first are looked at again.
        """
        spread = Spread()
        held = bytearray()
        room = self.limits.body - len(line)
        at, taken = number, 0
        more: bytes | None = line
        standing = spread.feed(line)
        while standing == "open":
            at, more = self._next()
            if not more:
                break
            if room >= 0:
                held += more
                room -= len(more)
            if room < 0:
                held.clear()  # only where it ends is still of interest
            standing = spread.feed(more)
            taken += standing != "broken" and more.strip(_SPACE) != b""
        if standing == "closed" and taken:
            if room < 0:
                return self._too_long(number), False
            return self.of_text(number, (line + held).decode().strip(" \t\r\n")), False
        if more is None:
            self._again.append((None, at))
        if room >= 0:
            if held:
                self._again.append((io.BytesIO(held), number + 1))
        elif more:
            self._again.append((io.BytesIO(more), at))
        if room < 0:
            return self._too_long(number), True
        if not taken:
            return None
        how = f"is broken in line {at}" if more else "is never closed"
        fault = json_syntax(f"a value over several lines {how},", spread.position)
        return _Text(number, fault=fault), True

    def _too_long(self, number: int) -> _Text:
        return _Text(number, fault=capture_too_large(self.limits.body, IN_ONE_PIECE))


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


# ---- texts to captures -----------------------------------------------------------------------


def _captured(text: _Text, texts: _Texts) -> Iterator[Captured]:
    """The captures of one text: a body, an object with one, a list of these, a HAR document."""
    place = Place(texts.name, text.line)
    if text.fault is not None:
        yield _faulty(place, text.fault)
    elif text.value is None:
        for number, member in enumerate(members(text.text)):
            yield _of_text(
                texts.of_text(text.line, member), attrs.evolve(place, entry=number), texts
            )
    elif _is_har(text.value):
        entries = text.value["log"].get("entries")
        if not isinstance(entries, list):
            yield _faulty(place, capture_invalid("har", "it is a HAR document without entries"))
            return
        remarks = _remarks(text.text)
        for number, entry in enumerate(entries):
            yield _of_entry(entry, attrs.evolve(place, entry=number), remarks, texts)
    else:
        yield _of_text(text, place, texts)


def _is_har(value: AnyJson) -> bool:
    """Whether an object is a HAR document and no body."""
    is_body = not isinstance(value, dict) or "messages" in value or "body" in value
    return not is_body and isinstance(value.get("log"), dict)


def _of_text(text: _Text, place: Place, texts: _Texts) -> Capture:
    """A capture from a bare body, or from an object with the body and what is known of it."""
    if text.fault is not None:
        return _faulty(place, text.fault)
    if _is_har(text.value):
        return _faulty(place, capture_invalid("har", "it is a HAR document in a list"))
    value = freeze(text.value, from_text=True)
    if not isinstance(value, JsonObject):
        return _faulty(place, value if isinstance(value, Rejection) else _no_object())
    remarks = _remarks(text.text)
    if "body" not in value or "messages" in value:
        return Capture(place, value, remarks=remarks)
    session, purpose = _text_or_none(value, "session"), _text_or_none(value, "purpose")
    body = value["body"]
    if isinstance(body, str):
        body, more = _body_of(body, texts.limits)
        remarks = (*remarks, *more)
    if not isinstance(body, Rejection | JsonObject):
        body = capture_invalid("not-an-object", "its body is no JSON object")
    if isinstance(body, Rejection):
        return Capture(place, None, _placed(body, place), session, purpose)
    return Capture(place, body, None, session, purpose, remarks)


def _body_of(text: str | bytes, limits: Limits) -> tuple[AnyJson, tuple[str, ...]]:
    """The frozen value of a body's text, or its Rejection; and what is to be said of it."""
    decoded = text if isinstance(text, str) else _decoded(text)
    if decoded is None:
        return parse_value(text), ()  # which knows where
    if most_values(decoded, limits.values) > limits.values:
        return capture_too_large(limits.values, VALUES), ()
    value = parse_value(decoded)
    return value, () if isinstance(value, Rejection) else _remarks(decoded)


def _remarks(text: str) -> tuple[str, ...]:
    """What is to be said of a text that is JSON."""
    key = repeated_key(text)
    return () if key is None else (f"the key {shown(key)} stands twice in one object of it",)


def _no_object() -> Rejection:
    return capture_invalid("not-an-object", "it is no JSON object")


def _text_or_none(fields: JsonObject, key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) else None


def _of_entry(entry: AnyJson, place: Place, remarks: tuple[str, ...], texts: _Texts) -> Captured:
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
    content: str | bytes | Rejection = text
    if "base64" in (fields.get("encoding"), fields.get("_encoding")):
        content = _unpacked(text, _codings(request.get("headers")), texts)
    body, more = (
        (content, ()) if isinstance(content, Rejection) else _body_of(content, texts.limits)
    )
    if isinstance(body, JsonObject) and (to_model or isinstance(body.get("messages"), tuple)):
        return Capture(place, body, remarks=(*remarks, *more))
    if not to_model:
        return Skipped(place, "a POST that is no request to a model")
    if isinstance(body, Rejection):
        return _faulty(place, body)
    return _faulty(place, capture_invalid("not-an-object", "its body is no JSON object"))


def _codings(headers: AnyJson) -> tuple[str, ...]:
    """How a request says its body is coded, in the order it was done."""
    fields = [one for one in headers if isinstance(one, dict)] if isinstance(headers, list) else []
    told = [
        value
        for name, value in ((one.get("name"), one.get("value")) for one in fields)
        if isinstance(name, str)
        and isinstance(value, str)
        and name.strip().lower() == "content-encoding"
    ]
    codings = (coding.strip().lower() for coding in ",".join(told).split(","))
    return tuple(coding for coding in codings if coding not in ("", "identity"))


def _unpacked(text: str, codings: tuple[str, ...], texts: _Texts) -> bytes | Rejection:
    """The bytes of a body in base64, unpacked if its request or its first bytes say so.

    Some recorders unpack a body and leave the header as it was: then it already is JSON.
    """
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return capture_invalid("base64", "its body is no base64")
    if content.lstrip(_SPACE).startswith(b"{"):
        return content
    if len(codings) > 1 or not _READ_CODINGS.issuperset(codings):
        told = shown(", ".join(codings))
        return capture_invalid("encoding", f"its body is encoded as {told}, not gzip or deflate")
    room = texts.limits.unpacked - texts.unpacked
    limits = attrs.evolve(texts.limits, unpacked=min(texts.limits.body, room))
    unpacked: bytes | None = None
    with _told() as told_:
        if codings == ("deflate",):
            unpacked = inflated(content, limits.unpacked)
        else:
            unpacked = BoundedBytes(io.BytesIO(content), limits).rest()
    if told_:
        return told_[0]
    assert unpacked is not None
    texts.unpacked += len(unpacked)
    return unpacked


def _faulty(place: Place, fault: Rejection) -> Capture:
    return Capture(place, None, _placed(fault, place))


def _placed(fault: Rejection, place: Place) -> Rejection:
    return fault.at(file=place.file, line_number=place.line, index=place.entry)
