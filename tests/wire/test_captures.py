"""Reading captured bodies, whatever is wrong with them."""

from __future__ import annotations

import base64
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from dsh_fp.wire.bounded import BoundedBytes, Limits
from dsh_fp.wire.captures import Capture, Captured, Skipped, read_captures

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
OTHER = {"model": "n", "messages": []}


def read(content: bytes, **limits: int) -> list[Captured]:
    """The captures of some bytes."""
    return list(read_captures(io.BytesIO(content), name="capture", limits=Limits(**limits)))


def told(captured: Captured) -> Any:
    """A capture's body, or the code of its fault, or why it was passed over."""
    if isinstance(captured, Skipped):
        return captured.why
    return captured.body if captured.fault is None else captured.fault.code.value


def dumped(*values: object) -> bytes:
    """JSON lines."""
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def har(*entries: object, **log: object) -> bytes:
    """A HAR file, over several lines as browsers write it."""
    return json.dumps(
        {"log": {"version": "1.2", "entries": list(entries), **log}}, indent=1
    ).encode()


def entry(text: object = None, url: str = "https://x/chat/completions", **more: Any) -> Any:
    """An entry of a HAR file."""
    posted = {"mimeType": "application/json", "text": text, **more}
    return {"request": {"method": "POST", "url": url, "postData": posted}, "response": {"n": -0.0}}


def test_lines_are_bodies_or_hold_one() -> None:
    """With what the capture knows of it as hints; a body may be its JSON text."""
    captures = read(
        dumped(
            BODY,
            {"i": 0, "path": "/x", "body": OTHER, "session": "s", "purpose": "compaction"},
            {"body": json.dumps(BODY), "session": 5},
        )
        + b"\n  \n"
        + dumped(OTHER)
    )

    assert list(map(told, captures)) == [BODY, OTHER, BODY, OTHER]
    assert [(c.session, c.purpose, c.place.line) for c in captures if isinstance(c, Capture)] == [
        (None, None, 1),
        ("s", "compaction", 2),
        (None, None, 3),
        (None, None, 6),
    ]
    assert captures[1].place.to_wire() == {"file": "capture", "line": 2}


def test_a_body_may_have_a_key_body_itself() -> None:
    """What has messages is a body."""
    assert list(map(told, read(dumped({**BODY, "body": 5})))) == [{**BODY, "body": 5}]


def test_a_file_may_be_one_body() -> None:
    """On one line or on many, with a mark of its encoding or not."""
    for content in (
        json.dumps(BODY).encode(),
        json.dumps(BODY, indent=2).encode(),
        b"\xef\xbb\xbf\n" + json.dumps({"body": BODY}, indent=2).encode() + b"\n\n",
    ):
        assert list(map(told, read(content))) == [BODY]


def test_a_file_may_be_a_list_of_bodies() -> None:
    """On one line or on many; each is numbered."""
    for indent in (None, 1):
        captures = read(json.dumps([BODY, 5, {"body": OTHER}], indent=indent).encode())

        assert list(map(told, captures)) == [BODY, "CAPTURE_INVALID", OTHER]
        assert [captured.place.entry for captured in captures] == [0, 1, 2]


def test_a_har_file_gives_the_requests_to_a_model() -> None:
    """What is none is passed over, with the reason; a body may be base64."""
    packed = base64.b64encode(json.dumps(OTHER).encode()).decode()
    captures = read(
        har(
            entry(json.dumps(BODY)),
            {"request": {"method": "GET", "url": "https://x/chat/completions"}},
            entry(packed, encoding="base64"),
            entry(json.dumps({"q": 1}), url="https://x/search"),
            entry(json.dumps(OTHER), url="https://x/elsewhere"),
            entry("no JSON", url="https://x/upload"),
            entry("no JSON"),
            entry("[]", url="https://x/v1/messages?beta=true"),
            entry(),
            entry(url="https://x/upload"),
            entry("*", encoding="base64"),
            None,
            {"request": 5},
        )
    )

    assert list(map(told, captures)) == [
        BODY,
        "no POST",
        OTHER,
        "a POST that is no request to a model",
        OTHER,
        "a POST that is no request to a model",
        "JSON_SYNTAX",
        "CAPTURE_INVALID",
        "CAPTURE_INVALID",
        "a POST without a text",
        "CAPTURE_INVALID",
        "an entry without a request",
        "an entry without a request",
    ]
    assert captures[2].place.to_wire() == {"file": "capture", "entry": 2}
    assert list(map(told, read(har()))) == []
    assert list(map(told, read(json.dumps({"log": {"entries": []}}).encode()))) == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", "JSON_SYNTAX"),
        (b'{"a":-0}', "NOT_JSON"),
        (b'{"a":1e999}', "NOT_JSON"),
        (b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}", "TOO_DEEP"),
        (b'{"a":NaN}', "JSON_SYNTAX"),
        (b'{"\xff":1}', "JSON_SYNTAX"),
        (b"[1]", "CAPTURE_INVALID"),
        (b"null", "CAPTURE_INVALID"),
        (b'{"body":null}', "CAPTURE_INVALID"),
        (b'{"body":"{"}', "JSON_SYNTAX"),
        (b'{"body":[]}', "CAPTURE_INVALID"),
    ],
)
def test_a_bad_line_is_its_own_fault(line: bytes, code: str) -> None:
    """Wherever it stands, the others are read; it says where it is."""
    good = dumped(BODY)
    for content, place in ((good + line + b"\n" + good, 2), (line + b"\n" + good + good, 1)):
        captures = read(content)

        assert len(captures) == 3
        bad = captures[place - 1]
        assert isinstance(bad, Capture)
        assert bad.fault is not None
        assert (bad.fault.code, bad.fault.file, bad.fault.line_number) == (code, "capture", place)
        assert [told(one) for one in captures if one is not bad] == [BODY, BODY]


def test_what_is_no_capture_at_all_is_one_fault() -> None:
    """Not one for each of its lines."""
    assert list(map(told, read(b""))) == ["CAPTURE_INVALID"]
    assert list(map(told, read(b"\n \n"))) == ["CAPTURE_INVALID"]
    assert list(map(told, read(b"to whom\nit may\nconcern\n"))) == ["JSON_SYNTAX"]
    assert list(map(told, read(bytes(range(256)) * 9))) == ["JSON_SYNTAX"]


def test_compressed_files_are_told_by_their_first_bytes() -> None:
    """Each kind of file may be compressed; a damaged one ends with a fault."""
    packed = gzip.compress(dumped(BODY, OTHER))

    assert list(map(told, read(packed))) == [BODY, OTHER]
    assert list(map(told, read(gzip.compress(har(entry(json.dumps(BODY))))))) == [BODY]
    assert list(map(told, read(packed[:-9])))[-1] == "CAPTURE_INVALID"
    assert list(map(told, read(packed[:12] + b"\xff" * 9))) == ["CAPTURE_INVALID"]
    assert list(map(told, read(b"\x1f\x8b"))) == ["CAPTURE_INVALID"]
    assert list(map(told, read(gzip.compress(b"\xef\xbb\xbf" + dumped(BODY))))) == [BODY]


def test_nothing_is_read_without_a_bound() -> None:
    """A line, a document, and what comes out of a compressed file."""
    long = dumped({**BODY, "x": "y" * 500})

    assert list(map(told, read(dumped(BODY) + long + dumped(OTHER), body=200))) == [
        BODY,
        "CAPTURE_TOO_LARGE",
        OTHER,
    ]
    assert list(map(told, read(long + dumped(OTHER), body=200))) == ["CAPTURE_TOO_LARGE", OTHER]
    assert list(map(told, read(json.dumps(BODY, indent=1).encode(), body=40))) == [
        "CAPTURE_TOO_LARGE"
    ]
    bomb = gzip.compress(b"\n" * 10_000_000)
    assert list(map(told, read(bomb, unpacked=100_000))) == ["CAPTURE_TOO_LARGE"]
    assert list(map(told, read(dumped(BODY) * 5, captures=2))) == [
        BODY,
        BODY,
        "CAPTURE_TOO_LARGE",
    ]
    bomb = gzip.compress(dumped(BODY) + b" " * 10_000_000)
    assert list(map(told, read(bomb, unpacked=100_000, body=1000))) == [
        BODY,
        "CAPTURE_TOO_LARGE",
    ]


@pytest.mark.parametrize("content", [b"", b"\n", b"a\nb", b"a\n\nb\n", b"abcdef\n", b"a\r\nb"])
def test_lines_come_as_they_stand(content: bytes) -> None:
    """Also where a line ends within the bytes that were looked at first."""
    bounded = BoundedBytes(io.BytesIO(content), Limits())
    lines = list(iter(bounded.line, b""))

    assert lines == content.splitlines(keepends=True)
    assert BoundedBytes(io.BytesIO(content), Limits()).rest() == content


def test_a_folder_is_read_in_natural_order(tmp_path: Path) -> None:
    """Hidden files and folders in it are left out."""
    for name in ("10.json", "9.json", "2-b.json", "2-a.json.gz"):
        content = json.dumps({**BODY, "model": name}).encode()
        content = gzip.compress(content) if name.endswith(".gz") else content
        (tmp_path / name).write_bytes(content)
    (tmp_path / ".hidden").write_bytes(b"{")
    (tmp_path / "more").mkdir()
    (tmp_path / "broken.jsonl").write_bytes(b"{")

    captures = list(read_captures(tmp_path))

    assert [
        told(one)["model"] if isinstance(told(one), dict) else told(one) for one in captures
    ] == [
        "2-a.json.gz",
        "2-b.json",
        "9.json",
        "10.json",
        "JSON_SYNTAX",
        "no plain file",
    ]
    assert captures[3].place.file == str(tmp_path / "10.json")


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    """A path that is not there, or is no path."""
    for path in (tmp_path / "nowhere", "a\0b"):
        (captured,) = read_captures(path)

        assert told(captured) == "FILE_UNREADABLE"
    assert list(read_captures(tmp_path)) == []


def test_a_stream_that_fails_ends_with_a_fault() -> None:
    """What came before it stays."""

    class Failing(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            if not line:
                raise OSError(5, "Input/output error")
            return line

    captures = list(read_captures(Failing(dumped(BODY)), name="pipe"))

    assert list(map(told, captures)) == [BODY, "FILE_UNREADABLE"]
