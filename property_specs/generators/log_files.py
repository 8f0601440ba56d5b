"""Log files: whole ones, and ones with every kind of damage.

Leaves out: deep nesting and lines of many kilobytes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.json_texts import spelled
from property_specs.generators.logs import Log, closed_logs, turned_logs, valid_logs
from property_specs.models.files import KNOWN_FIELDS
from property_specs.models.json_values import write

HEADER = {"type": "session", "version": 0, "id": "s", "createdAt": 0}
# What may stand in a line in place of an event, or of a payload inside one.
ODD_LINES = (
    b"",
    b" ",
    b"\r",
    b"null",
    b"[]",
    b"{}",
    b"{",
    b'"turn/end"',
    b"\x00\x00\x00",
    b"\xff\xfe",
    b'{"type":"turn/end"}',
    b'{"type":"turn\\/end","seq":99}',
    b'{"type":"turn/end","seq":true}',
)
ODD_DATA = (
    b"-0",
    b"-0.0",
    b"1e999",
    b"-1e-999",
    b'"-0 1e999"',
    b'"\\ud800"',
    b'"\\ud83d\\ude00"',
    b'"\xff"',
    b'"\xed\xa0\x80"',
    b"12345678901234567890",
    b"1E2",
    b"[1e308,1e-308]",
    b'{"b":1,"1":2,"b":3}',
    b" 1 ",
    b"NaN",
    b"01",
    b'"\x01"',
    b'"a\xe2\x80\xa8b"',
    b"1" * 320,
    b"[-0,1]",
    b'{"k":-0}',
    b"-0.5",
    b"-0e1",
    b'"5e-324-0"',
)


@cache
def session_headers() -> st.SearchStrategy[dict[str, Any]]:
    """Fields of sound session headers."""
    return st.fixed_dictionaries(
        {
            "version": st.just(0),
            "id": st.sampled_from(["s", "a/b", "é"]),
            "createdAt": st.sampled_from([0, 1720000000000, 0.5]),
        },
        optional={
            "cwd": st.sampled_from(["/", "/home/a b"]),
            "parentSession": st.sampled_from(["", "p"]),
            "seedLength": st.sampled_from([0, 3]),
        },
    )


ODD_FIELDS = {
    "version": (5, 0.5, "0", None, True),
    "id": (1, None, ""),
    "createdAt": (None, "0", True, -1, 1e999),
    "cwd": ("a", "", None, 1),
    "parentSession": (None, 1),
    "seedLength": (-1, 1.5, True, "1", None, 2**53),
    "more": (1, None),
    "type": ("sessions", None),
}


@st.composite
def header_fields(draw: st.DrawFn) -> dict[str, Any]:
    """Session header fields, at most one of them odd."""
    fields = draw(session_headers())
    if draw(st.booleans()):
        return fields
    name = draw(st.sampled_from(sorted(ODD_FIELDS)))
    return fields | {name: draw(st.sampled_from(ODD_FIELDS[name]))}


def line_of(event: Any) -> bytes:
    """The line a writer makes of an event, without its LF."""
    return write(event).encode()


def encoded(log: Log, header: dict[str, Any] | None = None) -> bytes:
    """The bytes of a file of these events, the header's fields in the order writers keep."""
    given = HEADER if header is None else header
    fields = {key: given[key] for key in KNOWN_FIELDS if key in given}
    lines = [line_of({"type": "session", **fields})]
    return b"".join(line + b"\n" for line in [*lines, *map(line_of, log)])


@cache
def whole_files() -> st.SearchStrategy[bytes]:
    """Files without a fault, some of them ending inside a turn."""
    return (closed_logs() | turned_logs()).map(encoded)


@st.composite
def event_lines(draw: st.DrawFn) -> list[bytes]:
    """The event lines of a file, most of them sound, some odd in one way or another."""
    log = draw(valid_logs(max_moves=8) | turned_logs(max_moves=8))
    lines = list(map(line_of, log))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(lines)))
        match draw(
            st.sampled_from(["data", "line", "drop", "twice", "spell", "cr", "seq", "poke"])
        ):
            case "data":
                odd = draw(st.sampled_from(ODD_DATA))
                made = b'{"type":"x","seq":%d,"time":0,"data":%b}' % (place, odd)
                lines[place : place + 1] = [made]
            case "line":
                lines.insert(place, draw(st.sampled_from(ODD_LINES)))
            case "drop":
                del lines[place : place + 1]
            case "twice":
                lines[place:place] = lines[place : place + 1]
            case "spell" if place < len(log):
                lines[place : place + 1] = [draw(spelled(log[place])).replace("\n", " ").encode()]
            case "cr":
                lines[place : place + 1] = [line + b"\r" for line in lines[place : place + 1]]
            case "seq":
                number = draw(st.sampled_from([b"1.0", b"-1", b"true", b'"1"', b"1e0", b"7"]))
                made = b'{"type":"turn/end","seq":%b,"time":0,"data":null}' % number
                lines[place : place + 1] = [made]
            case _:
                lines[place : place + 1] = [
                    poked(line, draw(st.integers(0, 300)), draw(pokes()))
                    for line in lines[place : place + 1]
                ]
    return lines


@cache
def pokes() -> st.SearchStrategy[int]:
    """Bytes that damage puts over others."""
    return st.sampled_from(list(b'\x00"{}[],:\\ 0-9e\xff\xc3\r')) | st.integers(0, 255)


def poked(content: bytes, place: int, byte: int) -> bytes:
    """The bytes with one of them put over; a line stays one line."""
    if not content or byte == 0x0A:
        return content
    place %= len(content)
    return content[:place] + bytes([byte]) + content[place + 1 :]


@st.composite
def damaged_files(draw: st.DrawFn) -> bytes:
    """Files with odd header fields, odd lines, a byte order mark, a cut tail."""
    header = line_of_fields({"type": "session"} | draw(header_fields()))
    content = b"".join(line + b"\n" for line in [header, *draw(event_lines())])
    match draw(st.sampled_from(["", "", "bom", "cut", "tail", "poke", "crlf"])):
        case "bom":
            content = b"\xef\xbb\xbf" + content
        case "cut":
            content = content[: draw(st.integers(0, len(content)))]
        case "tail":
            content += draw(st.sampled_from([*ODD_LINES, *ODD_DATA]))
        case "poke":
            content = poked(content, draw(st.integers(0, len(content))), draw(pokes()))
        case "crlf":
            content = content.replace(b"\n", b"\r\n")
        case _:
            pass
    return content


def line_of_fields(fields: dict[str, Any]) -> bytes:
    """A header line; an overflow is spelled as one."""
    parts = [
        f'"{key}":{"1e999" if value == float("inf") else write(value)}'
        for key, value in fields.items()
    ]
    return ("{" + ",".join(parts) + "}").encode()


@st.composite
def pieces_of(draw: st.DrawFn, content: bytes) -> list[bytes]:
    """The same bytes cut into pieces anywhere, empty ones among them."""
    cuts = sorted(draw(st.lists(st.integers(0, len(content)), max_size=6)))
    ends = [*cuts, len(content)]
    return [content[start:end] for start, end in zip([0, *cuts], ends, strict=True)]
