"""Reading captured bodies, whatever is wrong with them."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from dsh_fp.wire.bounded import BoundedBytes, Limits
from dsh_fp.wire.captures import Capture, Captured, Skipped, read_captures
from dsh_fp.wire.spread import Spread, members, most_values

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
    assert captures[2].place.to_wire() == {"file": "capture", "line": 1, "entry": 2}
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
    captures = list(read_captures(Failing(b"{\n\n" + b"junk\n"), name="pipe"))
    assert list(map(told, captures)) == ["JSON_SYNTAX", "FILE_UNREADABLE"]


# ---- first lines that are odd ------------------------------------------------------------------

CUT = json.dumps({**BODY, "x": "y" * 300}).encode()


def places(captures: list[Captured]) -> list[tuple[int | None, Any]]:
    """The line of each capture, and what it is."""
    return [(captured.place.line, told(captured)) for captured in captures]


def cut_at(end: bytes) -> bytes:
    """The line up to and with some bytes, and a line feed."""
    return CUT[: CUT.index(end) + len(end)] + b"\n"


@pytest.mark.parametrize(
    "cut",
    [
        b"{\n",
        b"[\n",
        cut_at(b'"mod'),  # within a string
        cut_at(b'"model":'),
        cut_at(b'"m",'),
        cut_at(b'"messages": ['),  # the next line could stand there
        cut_at(b'"hi"}'),
        b'{"messages": [{"role": "user"},\n',
        b'{"a":\n',
        b'[{"a":1},\n',
        b"[" * 50 + b"\n",
    ],
)
def test_a_cut_line_is_its_own_fault_and_the_rest_is_read(cut: bytes) -> None:
    """Wherever it was cut, and wherever it stands, also twice, and before a spread body."""
    bad = "JSON_SYNTAX"
    good = dumped(BODY)
    spread = json.dumps(OTHER, indent=2).encode() + b"\n"

    assert places(read(cut + good * 3)) == [(1, bad), (2, BODY), (3, BODY), (4, BODY)]
    assert places(read(cut + good)) == [(1, bad), (2, BODY)]
    assert places(read(good + cut + good * 2)) == [(1, BODY), (2, bad), (3, BODY), (4, BODY)]
    assert places(read(good + cut)) == [(1, BODY), (2, bad)]
    assert places(read(cut * 2 + good * 3)) == [(1, bad), (2, bad), *((n, BODY) for n in (3, 4, 5))]
    assert places(read(cut + spread + good * 2)) == [(1, bad), (2, OTHER), (6, BODY), (7, BODY)]


def test_lines_that_are_no_json_do_not_hide_what_follows() -> None:
    """However many there are; each is told with its line, past a bound they are counted."""
    good = dumped(BODY)

    for number in (1, 20, 1000):
        captures = read(b"GET / HTTP/1.1\n" * number + good * 4)
        assert places(captures) == [
            *((line, "JSON_SYNTAX") for line in range(1, number + 1)),
            *((line, BODY) for line in range(number + 1, number + 5)),
        ]
    captures = read(b"junk\n" * 5000 + good)
    assert len(captures) == 1002
    assert places(captures)[-2:] == [(5000, "CAPTURE_INVALID"), (5001, BODY)]
    assert places(read(b"[1\n" + b"junk\n" * 5000))[1:] == [(5001, "CAPTURE_INVALID")]
    assert places(read(b"junk\n" * 5000)) == [(1, "JSON_SYNTAX")]
    assert places(read(b"{\n // a note\n 'a': 1\n}\n")) == [(1, "JSON_SYNTAX")]
    assert places(read(cut_at(b'"mod') * 2)) == [(1, "JSON_SYNTAX"), (2, "JSON_SYNTAX")]


def test_a_cut_first_line_does_not_make_a_file_one_document() -> None:
    """The limit is that of a line, whatever the file has."""
    good = dumped(BODY)

    for cut in (cut_at(b'"mod'), cut_at(b'"messages": [')):
        captures = read(cut + good * 50, body=200)
        assert [told(one) for one in captures] == ["JSON_SYNTAX"] + [BODY] * 50
    long = b"[" * 300 + b"\n"
    assert [told(one) for one in read(good + long + good, body=200)] == [
        BODY,
        "CAPTURE_TOO_LARGE",
        BODY,
    ]
    assert places(read(b"[\n" + long + good, body=200)) == [
        (1, "JSON_SYNTAX"),
        (2, "CAPTURE_TOO_LARGE"),
        (3, BODY),
    ]


def test_little_is_read_on_with_behind_a_cut_line() -> None:
    """A reader that is stopped after the first captures has not read the rest."""

    class Counted(io.BytesIO):
        read_so_far = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            self.read_so_far += len(line)
            return line

    good = dumped(BODY)
    for first in (b"{\n", cut_at(b'"messages": ['), b"junk\n"):
        stream = Counted(first + good * 1000)
        captures = read_captures(stream)
        assert [told(next(captures)) for _ in range(3)] == ["JSON_SYNTAX", BODY, BODY]
        assert stream.read_so_far < len(first) + 5 * len(good)


def test_values_may_be_spread_over_lines_one_after_another() -> None:
    """Bodies, lists and HAR documents; each is told with its first line."""
    other = har(entry(json.dumps(BODY)), entry(json.dumps(OTHER)))
    content = (
        json.dumps(BODY, indent=2).encode()
        + b"\n\n"
        + json.dumps([OTHER, BODY], indent=1).encode()
        + b"\n"
        + dumped(OTHER)
        + other
        + b"\n"
        + other
    )
    captures = read(content)

    assert list(map(told, captures)) == [BODY, OTHER, BODY, OTHER, BODY, OTHER, BODY, OTHER]
    lines = content.split(b"\n")
    for captured in captures:
        assert captured.place.line is not None
        assert lines[captured.place.line - 1].startswith((b"{", b"["))
    assert [captured.place.entry for captured in captures] == [None, 0, 1, None, 0, 1, 0, 1]


def test_lists_and_har_documents_may_stand_on_lines() -> None:
    """Their captures have a line and an entry; what is wrong with one is its own."""
    one = {"log": {"entries": [entry(json.dumps(BODY))]}}
    captures = read(
        dumped(one, [BODY, [1], {"body": OTHER}, one], one)
        + b'[{"a":-0}, {"messages":[]}]\n'
        + dumped({"log": {"entries": 5}}, {"log": {}}, {**BODY, "log": {}}, {"log": "x"})
    )

    assert [(c.place.line, c.place.entry, told(c)) for c in captures] == [
        (1, 0, BODY),
        (2, 0, BODY),
        (2, 1, "CAPTURE_INVALID"),
        (2, 2, OTHER),
        (2, 3, "CAPTURE_INVALID"),
        (3, 0, BODY),
        (4, 0, "NOT_JSON"),
        (4, 1, {"messages": []}),
        (5, None, "CAPTURE_INVALID"),
        (6, None, "CAPTURE_INVALID"),
        (7, None, {**BODY, "log": {}}),
        (8, None, {"log": "x"}),
    ]


def test_a_value_that_breaks_further_on_is_one_fault() -> None:
    """Told with where it begins and where it breaks; the next value is read."""
    lines = json.dumps(BODY, indent=2).splitlines()
    broken = "\n".join([*lines[:3], "    oops", *lines[3:]]).encode() + b"\n"
    unclosed = "\n".join(lines[:5]).encode() + b"\n"
    good = dumped(OTHER)

    for content in (broken, unclosed):
        for tail in (good, json.dumps(OTHER, indent=1).encode()):
            bad, rest = read(content + tail)
            assert isinstance(bad, Capture)
            assert bad.fault is not None
            assert (bad.fault.code, bad.fault.line_number) == ("JSON_SYNTAX", 1)
            assert told(rest) == OTHER
    (bad,) = read(unclosed)
    assert isinstance(bad, Capture)
    assert "never closed" in str(bad.fault)
    (bad,) = read(broken)
    assert isinstance(bad, Capture)
    assert "broken in line 4" in str(bad.fault)


def test_what_begins_anew_again_and_again_costs_a_bounded_number_of_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lines of open brackets, each of which may begin a value."""
    fed = 0
    feed = Spread.feed

    def counted(spread: Spread, piece: str | bytes) -> Any:
        nonlocal fed
        fed += 1
        return feed(spread, piece)

    monkeypatch.setattr(Spread, "feed", counted)
    content = b"[\n" * 1000 + dumped(BODY, OTHER)

    assert list(map(told, read(content)))[-2:] == [BODY, OTHER]
    assert fed < 50 * 1000


# ---- compressed bodies, repeated keys, many values ---------------------------------------------


def packed_entry(content: bytes, coding: str | None) -> Any:
    """An entry of a HAR file with a body in base64."""
    made = entry(base64.b64encode(content).decode(), encoding="base64")
    if coding is not None:
        made["request"]["headers"] = [
            5,
            {"name": "Accept", "value": "*/*"},
            {"name": "content-Encoding", "value": coding},
        ]
    return made


def bare(content: bytes) -> bytes:
    """Deflated bytes without a head."""
    made = zlib.compressobj(wbits=-15)
    return made.compress(content) + made.flush()


def test_bodies_of_a_har_file_may_be_compressed() -> None:
    """As their request says; what is damaged, too large or not known is refused as that."""
    body = json.dumps(BODY).encode()
    twice = gzip.compress(gzip.compress(body))
    large = json.dumps({**BODY, "x": "y" * 99_999}).encode()
    captures = read(
        har(
            packed_entry(gzip.compress(body), "gzip"),
            packed_entry(gzip.compress(body), None),
            packed_entry(zlib.compress(body), "Deflate"),
            packed_entry(bare(body), "deflate"),
            packed_entry(body, "gzip"),
            packed_entry(body, "identity"),
            packed_entry(body, "deflate"),
            packed_entry(body, "br"),
            packed_entry(b"\x0b\x02", "br"),
            packed_entry(gzip.compress(body), "gzip, deflate"),
            packed_entry(gzip.compress(body)[:-4], "gzip"),
            packed_entry(zlib.compress(body)[:-4], "deflate"),
            packed_entry(twice, "gzip"),
            packed_entry(gzip.compress(large), "gzip"),
            packed_entry(zlib.compress(large), "deflate"),
        ),
        body=50_000,
    )

    assert [captured.place.entry for captured in captures] == list(range(15))
    assert list(map(told, captures)) == [
        *[BODY] * 8,
        *["CAPTURE_INVALID"] * 5,
        *["CAPTURE_TOO_LARGE"] * 2,
    ]
    faults = [captured.fault for captured in captures if isinstance(captured, Capture)]
    assert "encoded as 'br'" in str(faults[8])
    assert "more than once" in str(faults[12])


def test_what_comes_out_of_all_bodies_of_a_file_is_bounded() -> None:
    """Not only of each."""
    packed = packed_entry(gzip.compress(json.dumps(BODY).encode() + b" " * 600), "gzip")
    captures = read(har(*[packed] * 4), unpacked=1500)

    assert list(map(told, captures)) == [BODY, BODY, "CAPTURE_TOO_LARGE", "CAPTURE_TOO_LARGE"]


def test_a_file_compressed_twice_is_refused_as_that() -> None:
    """Not as text that is no JSON."""
    (captured,) = read(gzip.compress(gzip.compress(dumped(BODY))))

    assert isinstance(captured, Capture)
    assert captured.fault is not None
    assert captured.fault.facts == (("reason", "packed-again"),)


def test_a_repeated_key_is_remarked() -> None:
    """Of the capture it is in, wherever the body came from."""
    odd = '{"model": "m", "messages": [{"role": "user", "role": "user"}]}'
    deep = '{"messages": [], "x": ' + "[" * 600 + '{"a": 1, "a": 1}' + "]" * 600 + "}"
    for content in (
        f"{odd}\n{json.dumps(BODY)}\n{deep}".encode(),
        f"[{odd}, {json.dumps(BODY)}, {deep}]".encode(),
        dumped({"body": odd}, BODY, {"body": deep}),
        har(entry(odd), entry(json.dumps(BODY)), entry(deep)),
    ):
        captures = read(content)
        remarks = [one.remarks for one in captures if isinstance(one, Capture)]
        assert remarks == [
            ("the key 'role' stands twice in one object of it",),
            (),
            ("the key 'a' stands twice in one object of it",),
        ]
    twice = (
        b'{"log": {"version": "1", "version": "2", "entries": [' + json.dumps(entry(odd)).encode()
    )
    (captured,) = read(twice + b"]}}")
    assert isinstance(captured, Capture)
    assert captured.remarks == (
        "the key 'version' stands twice in one object of it",
        "the key 'role' stands twice in one object of it",
    )
    (captured,) = read(b'{"session": "s", "session": "t", "body": {"messages": []}}')
    assert isinstance(captured, Capture)
    assert captured.remarks == ("the key 'session' stands twice in one object of it",)


def test_a_body_has_a_bounded_number_of_values() -> None:
    """Commas and brackets in its strings are none; each body of a list or file counts alone."""
    many = {**BODY, "x": [0] * 100}
    wordy = {**BODY, "x": ",[{" * 100 + '\\"' + ",[{"}
    for content in (
        dumped(many, BODY, wordy),
        json.dumps([many, BODY, wordy]).encode(),
        dumped({"body": json.dumps(many)}, BODY, wordy),
        har(*(entry(json.dumps(body)) for body in (many, BODY, wordy))),
    ):
        captures = read(content, values=60)
        assert list(map(told, captures)) == ["CAPTURE_TOO_LARGE", BODY, wordy]
    assert list(map(told, read(har(*[entry(json.dumps(BODY))] * 9), values=4))) == [
        "CAPTURE_TOO_LARGE"
    ]
    assert list(map(told, read(dumped([0] * 65, [0] * 63, BODY), values=4)))[:2] == [
        "CAPTURE_TOO_LARGE",
        "CAPTURE_INVALID",
    ]


# ---- values over several pieces ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ("{", "open"),
        ('{"a": [1, -2.5e+3, true, null, "\\u00e9"], "b": {}}', "closed"),
        ("[] ", "closed"),
        ("7", "closed"),
        ("", "open"),
        ('{"a', "broken"),
        ('{"a": NaN', "broken"),
        ("[01", "broken"),
        ("[1 2", "broken"),
        ("[1,]", "broken"),
        ('{"a":1,}', "broken"),
        ('{"a" 1', "broken"),
        ("{1", "broken"),
        ("[}", "broken"),
        ("]", "broken"),
        ("{} {", "broken"),
        (b"\xff", "broken"),
    ],
)
def test_a_value_is_open_closed_or_broken(text: str | bytes, standing: str) -> None:
    """As the grammar of JSON says."""
    assert Spread().feed(text) == standing


def test_a_value_says_how_far_it_is_understood() -> None:
    """In characters of all its pieces."""
    spread = Spread()

    assert [spread.feed('{"a":\n'), spread.feed(" 1,,")] == ["open", "broken"]
    assert spread.position == 9


def test_members_of_a_list_are_its_texts() -> None:
    """However they are spaced and whatever their strings hold."""
    text = ' [ {"a": "],["} ,\n[1, [2]],3, "\\"," ] '

    assert list(members(text)) == ['{"a": "],["}', "[1, [2]]", "3", '"\\","']
    assert list(members("[ ]")) == []
    assert most_values('[",,,,", 1, {}]', 4) == 5
