"""Following a log: its events as another process writes them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dsh_fp import Code, Event, Session, encode_log, unwrap
from dsh_fp.storage.following import follow
from tests.durable.desks import notes
from tests.durable.places import InFiles, header, refused

HEAD = encode_log(header(), ())
LINES = [encode_log(header(), (event,))[len(HEAD) :] for event in notes(0, 1, 2, 3)]


class Script:
    """What happens to a file each time its follower waits; then the follower is told to end."""

    def __init__(self, path: Path, *steps: Callable[[], Any]) -> None:
        self.path = path
        self.waits = 0
        self._steps: Iterator[Callable[[], Any]] = iter(steps)

    def wait(self) -> bool:
        self.waits += 1
        step = next(self._steps, None)
        if step is None:
            return False
        step()
        return True

    def follow(self) -> list[Event]:
        return list(follow(self.path, wait=self.wait))


def adds(path: Path, *pieces: bytes) -> list[Callable[[], int]]:
    """Steps that each append a piece."""

    def add(piece: bytes) -> int:
        with path.open("ab") as file:
            return file.write(piece)

    return [lambda piece=piece: add(piece) for piece in pieces]  # type: ignore[misc]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log with a header and one event."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEAD + LINES[0])
    return path


def test_what_is_there_comes_first(path: Path) -> None:
    """Then the follower waits, and ends when it is told to."""
    script = Script(path)

    assert script.follow() == list(notes(0))
    assert script.waits == 1


def test_events_come_as_they_are_written(path: Path) -> None:
    """One at a time or many at once."""
    script = Script(path, *adds(path, LINES[1], LINES[2] + LINES[3]))
    seen = list[int]()
    for event in follow(path, wait=script.wait):
        seen.append(event.seq)
        assert len(seen) == event.seq + 1

    assert seen == [0, 1, 2, 3]
    assert script.waits == 3


@pytest.mark.parametrize("cut", [1, 10, len(LINES[1]) - 1])
def test_a_torn_last_line_is_awaited(path: Path, cut: int) -> None:
    """It is no event before its line has ended, however many pieces it comes in."""
    pieces = [LINES[1][:cut], LINES[1][cut:-1], b"\n", LINES[2]]

    assert Script(path, *adds(path, *pieces)).follow() == list(notes(0, 1, 2))


def test_a_torn_line_at_the_end_is_never_told(path: Path) -> None:
    """The follower may end while it waits for one."""
    assert Script(path, *adds(path, LINES[1][:-1])).follow() == list(notes(0))


def test_a_header_is_awaited_too(tmp_path: Path) -> None:
    """A file that was only begun."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"")
    script = Script(path, *adds(path, HEAD[:7], HEAD[7:], LINES[0]))

    assert script.follow() == list(notes(0))


def test_long_lines_come_whole(path: Path) -> None:
    """A line longer than what is read at once."""
    session = unwrap(unwrap(Session.create()).append("plugin/x", "é" * 2_000_000, time=1))
    event = session.events[0]
    path.write_bytes(HEAD)
    line = encode_log(header(), (event,))[len(HEAD) :]

    (seen,) = Script(path, *adds(path, line[:1_500_001], line[1_500_001:])).follow()

    assert seen == event


def test_a_writer_is_not_locked_out(files: InFiles) -> None:
    """It writes, leaves and is followed by another while someone reads along."""
    writer = files.backend().create(header())
    writer.write(notes(0))
    following = follow(files.path("s"), wait=lambda: True)
    assert next(following).seq == 0
    writer.write(notes(1, after=1))
    assert next(following).seq == 1
    writer.close()
    _, other = files.backend().resume("s")
    other.write(notes(2, after=2))

    assert next(following).seq == 2


def test_a_fragment_that_is_taken_back_is_forgotten(path: Path) -> None:
    """A crash left it, a resume cut it: what comes in its place is another event."""
    good = path.stat().st_size

    def cut() -> None:
        with path.open("r+b") as file:
            file.truncate(good)

    script = Script(path, *adds(path, LINES[1][:30]), cut, *adds(path, LINES[1], LINES[2]))

    assert script.follow() == list(notes(0, 1, 2))


def test_a_fragment_that_became_another_line_is_read_again(path: Path) -> None:
    """Cut and written over between two looks, so that the file only seems to have grown."""
    good = HEAD + LINES[0]
    other = encode_log(header(), notes(700, after=1)[-1:])[len(HEAD) :]
    script = Script(
        path, *adds(path, b'{"type":"turn/'), lambda: path.write_bytes(good + other + LINES[2])
    )

    seen = script.follow()
    assert [event.data["n"] for event in seen] == [0, 700, 2]
    assert [event.type for event in seen] == ["plugin/note"] * 3


def test_a_log_that_was_cut_is_told(path: Path) -> None:
    """What was read already is gone: following on would hide it."""
    path.write_bytes(HEAD + LINES[0] + LINES[1])
    script = Script(path, lambda: path.write_bytes(HEAD + LINES[0]))
    seen = list[Event]()

    with refused(Code.LOG_CORRUPT) as told:
        seen.extend(follow(path, wait=script.wait))

    assert told[0].file == str(path)
    assert (told[0].data["reason"], told[0].seq) == ("cut-back", 2)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (LINES[2], Code.LOG_CORRUPT),
        (LINES[0], Code.LOG_CORRUPT),
        (b"\n", Code.LOG_CORRUPT),
        (b"\0\0\0\n", Code.LOG_CORRUPT),
        (b'{"type":"x","seq":1,"time":-1,"data":1}\n', Code.BAD_ENVELOPE),
    ],
)
def test_what_is_no_next_event_is_told(path: Path, line: bytes, code: Code) -> None:
    """With file, line, seq and offset; the events before it have been told."""
    seen = list[Event]()

    with refused(code) as told:
        for event in follow(path, wait=Script(path, *adds(path, line)).wait):
            seen.append(event)  # what came before the refusal is kept

    assert seen == list(notes(0))
    assert (told[0].file, told[0].seq, told[0].line_number) == (str(path), 1, 3)
    assert told[0].byte_offset == len(HEAD + LINES[0])


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{}\n", Code.LOG_HEADER_INVALID),
        (b"\xef\xbb\xbf" + HEAD, Code.LOG_HEADER_INVALID),
        (HEAD.replace(b'"version":0', b'"version":1'), Code.VERSION_UNSUPPORTED),
    ],
)
def test_what_is_no_log_of_ours_is_refused(tmp_path: Path, content: bytes, code: Code) -> None:
    """As by every other reader."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(content + LINES[0])

    with refused(code) as told:
        Script(path).follow()
    assert told[0].file == str(path)


def test_a_log_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Nothing is on disk before a session's first append."""
    with refused(Code.FILE_UNREADABLE) as told:
        list(follow(tmp_path / "none.jsonl"))

    assert told[0].file == str(tmp_path / "none.jsonl")


WRITER = """
import sys
from dsh_fp import Session, SessionHeader, unwrap
from dsh_fp.storage.jsonl_backend import JsonlBackend

session = unwrap(Session.create())
writer = JsonlBackend(sys.argv[1]).create(SessionHeader(id="s", created_at=7))
for number in range(200):
    session = unwrap(session.append("plugin/note", {"n": number}, time=number))
    if number % 7 == 0 or number == 199:
        writer.write(session.events[writer.stored :])
        print(writer.stored, flush=True)
"""


def test_another_process_is_followed(files: InFiles) -> None:
    """Every event it writes comes, in order and once."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(files.root)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the log is there
        seen = list(islice(follow(files.path("s")), 200))

    assert process.returncode == 0
    assert seen == list(notes(*range(200)))
