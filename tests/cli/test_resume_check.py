"""`dsh-fp resume-check`: what resuming would do, and that asking does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_fp.storage.jsonl_backend import JsonlBackend
from tests.cli.logs import GARDEN, GARDEN_TORN, Log, document, environment, run, sound, text, write

FRAGMENT: Final = b'{"type":"tool/result","se'


def cut_short() -> Log:
    """A log whose process died while a tool ran."""
    log = Log()
    log.open_step()
    call = {"type": "tool-call", "id": "c1", "name": "tide_table", "arguments": "{}"}
    data = {"turn": 1, "step": 1, "content": [*text("Let me see."), call]}
    log.add("assistant/message", data, surface_op="append")
    log.add("tool/call", {"turn": 1, "step": 1, "callId": "c1", "name": "tide_table"})
    return log


@contextmanager
def a_writer_at(path: str) -> Iterator[None]:
    """Another process holds the log's lock meanwhile."""
    script = (
        "import sys\n"
        "from filelock import FileLock\n"
        "with FileLock(sys.argv[1] + '.lock'):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            process.communicate(timeout=60)


def picture(folder: Path) -> dict[str, Any]:
    """Every file of a folder with its content, mode and times."""
    return {
        entry.name: (entry.read_bytes(), entry.stat().st_mode, entry.stat().st_mtime_ns)
        for entry in folder.iterdir()
    }


def test_a_whole_log_would_stay_as_it_is() -> None:
    """The code is 0, and the next event would follow the last."""
    result = run("resume-check", GARDEN)

    assert result.exit_code == 0
    assert result.stdout.startswith('session "garden", 90 events: resuming would change nothing\n')
    assert document("resume-check", GARDEN)["next_seq"] == 90


def test_what_would_be_cut_and_appended_is_told() -> None:
    """Offset and reason of the tail; seq, type and call of each closer; the code is 1."""
    result = run("resume-check", GARDEN_TORN)
    answered = document("resume-check", GARDEN_TORN)

    assert result.exit_code == answered["exit_code"] == 1
    assert "  cut       143 bytes in 1 line from byte 9675 on (torn-line)\n" in result.stdout
    assert "  append    seq 47  tool/result  of call_cal_1\n" in result.stdout
    assert "            seq 50  turn/end\n" in result.stdout
    assert answered["would_change"] is True
    assert (answered["cut"]["byte_offset"], answered["cut"]["data"]["reason"]) == (
        9675,
        "torn-line",
    )
    assert answered["append"] == [
        {"seq": 47, "type": "tool/result", "call_id": "call_cal_1"},
        {"seq": 48, "type": "tool/result", "call_id": "call_seed_1"},
        {"seq": 49, "type": "step/end", "call_id": None},
        {"seq": 50, "type": "turn/end", "call_id": None},
    ]
    assert answered["next_seq"] == 51


@pytest.mark.parametrize("is_torn", [False, True])
@pytest.mark.parametrize("is_open", [False, True])
def test_it_says_what_resuming_does(is_torn: bool, is_open: bool, tmp_path: Path) -> None:
    """Each part of the answer holds when the log is resumed afterwards."""
    log = cut_short() if is_open else sound()
    path = write(tmp_path, log.content + (FRAGMENT if is_torn else b""))
    before = Path(path).read_bytes()

    told = document("resume-check", path)
    stored, writer = JsonlBackend(tmp_path).resume_file(path)
    writer.close()

    assert told["would_change"] is (Path(path).read_bytes() != before)
    assert told["size"] - told["good_bytes"] == stored.torn_bytes
    assert [entry["seq"] for entry in told["append"]] == [event.seq for event in stored.closers]
    assert told["next_seq"] == len(stored.session) == writer.stored
    assert document("resume-check", path)["would_change"] is False


def test_nothing_is_changed_or_made(tmp_path: Path) -> None:
    """No lock file appears where none was, and one that is there is not touched."""
    path = write(tmp_path, cut_short().content + FRAGMENT)
    before = picture(tmp_path)

    assert document("resume-check", path)["lock"] == "free"
    assert picture(tmp_path) == before

    write(tmp_path, b"", "log.txt.lock")
    before = picture(tmp_path)
    assert document("resume-check", path)["lock"] == "free"
    assert picture(tmp_path) == before


def test_a_writer_is_noticed_and_not_disturbed(tmp_path: Path) -> None:
    """What looks like a crash may be an event on its way then."""
    path = write(tmp_path, cut_short().content)

    with a_writer_at(path):
        result = run("resume-check", path)
        assert document("resume-check", path)["lock"] == "held"
    assert "a writer holds it" in result.stdout
    assert "may be what it is writing" in result.stdout
    assert document("resume-check", path)["lock"] == "free"


def test_the_lock_is_that_of_the_file_a_link_leads_to(tmp_path: Path) -> None:
    """A writer knows the file by its own name."""
    path = write(tmp_path, sound().content)
    link = tmp_path / "link"
    link.symlink_to(path)

    with a_writer_at(path):
        assert document("resume-check", str(link))["lock"] == "held"


def test_asking_does_not_keep_the_lock(tmp_path: Path) -> None:
    """A writer may take it right afterwards."""
    path = write(tmp_path, sound().content)
    write(tmp_path, b"", "log.txt.lock")

    run("resume-check", path)
    _, writer = JsonlBackend(tmp_path).resume_file(path)
    writer.close()


def test_standard_input_has_no_lock() -> None:
    """The rest is told as of a file."""
    answered = document("resume-check", "-", given=cut_short().content)

    assert (answered["file"], answered["lock"]) == ("<stdin>", "unknown")
    assert len(answered["append"]) == 3


def test_a_lock_that_may_not_be_looked_at_is_unknown(tmp_path: Path) -> None:
    """A folder in its place, say."""
    path = write(tmp_path, sound().content)
    os.symlink("log.txt.lock", tmp_path / "log.txt.lock")

    assert document("resume-check", path)["lock"] == "unknown"
    assert "cannot be told" in run("resume-check", path).stdout


@pytest.mark.parametrize(
    ("content", "code", "exit_code"),
    [
        (sound().content.replace(b'"seq":1,', b'"seq":2,'), "LOG_CORRUPT", 3),
        (b"nothing\n", "LOG_HEADER_INVALID", 3),
        (b'{"type":"session","version":9,"id":"x","createdAt":1}\n', "VERSION_UNSUPPORTED", 4),
        (None, "FILE_UNREADABLE", 3),
    ],
    ids=["corrupt", "no log", "version", "missing"],
)
def test_what_cannot_be_resumed_is_refused(
    content: bytes | None, code: str, exit_code: int, tmp_path: Path
) -> None:
    """As every command refuses it."""
    path = str(tmp_path / "missing") if content is None else write(tmp_path, content)

    result = run("resume-check", path)

    assert result.exit_code == exit_code
    assert code in result.stderr
    assert document("resume-check", path)["error"]["code"] == code
