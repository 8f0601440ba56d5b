"""`dsh-fp minimise`: what another program needs of a log to fail."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from dsh_fp import read, unwrap
from tests.cli.logs import GARDEN, GARDEN_TORN, run, spawn

JUDGE = """
import os, sys
content = open(sys.argv[1], "rb").read()
length = content.count(b"\\n") - 1
sys.exit({})
"""


def judging(expression: str) -> list[str]:
    """A program that exits with what an expression gives of `length`, `content` and `os`."""
    return ["--", sys.executable, "-c", JUDGE.format(expression)]


NEEDS_RESULT = judging("b'tool/result' in content")


def test_the_least_log_goes_to_standard_output() -> None:
    """It is a log that still fails; what was left out goes to standard error; the code is 0."""
    process = spawn("minimise", GARDEN, *NEEDS_RESULT)

    assert process.returncode == 0
    session = unwrap(read(process.stdout)).session
    assert [event.type for event in session][-1] == "tool/result"
    assert len(session) == 5
    told = process.stderr.decode().splitlines()
    assert told[0] == "run 1: 90 events still fail"
    assert told[-2].startswith('session "garden": from 90 events to 5 in ')
    assert told[-1].startswith("  removed   44 assistant/chunk, ")


def test_the_least_log_goes_to_a_new_file(tmp_path: Path) -> None:
    """With -o; how to look at it is said."""
    path = tmp_path / "small log.jsonl"

    process = spawn("minimise", GARDEN, "-o", str(path), *NEEDS_RESULT)

    assert process.returncode == 0
    assert len(unwrap(read(path)).session) == 5
    assert process.stdout.decode().splitlines()[-1] == f"  look      dsh-fp show '{path}'"
    assert [entry.name for entry in tmp_path.iterdir()] == ["small log.jsonl"]


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    """Nor is the program run; a link to nothing is a name that is taken."""
    taken, link = tmp_path / "taken", tmp_path / "link"
    taken.write_bytes(b"mine")
    link.symlink_to("nowhere")

    for path in (taken, link):
        result = run("minimise", GARDEN, "-o", str(path), "--", "false")
        assert result.exit_code == 2
        assert "is there already" in result.stderr
    assert taken.read_bytes() == b"mine"
    assert not link.exists()
    assert run("minimise", GARDEN, "-o", "-", "--", "false").exit_code == 2
    nowhere = run("minimise", GARDEN, "-o", str(tmp_path / "no" / "out"), "--", "false")
    assert nowhere.exit_code == 2
    assert "there is no folder" in nowhere.stderr


def test_texts_are_scrubbed_when_asked() -> None:
    """What the program needs stays."""
    needs = judging("b'roquette' in content")

    kept = spawn("minimise", GARDEN, *needs).stdout
    scrubbed = spawn("minimise", GARDEN, "--scrub", *needs).stdout

    assert b'"id":"garden"' in kept
    assert b'"id":"session-1"' in scrubbed
    assert b"roquette" in scrubbed


def test_the_answer_as_a_document(tmp_path: Path) -> None:
    """With the log in it, or the path of the file."""
    told = json.loads(spawn("minimise", GARDEN, "--json", *NEEDS_RESULT).stdout)
    path = str(tmp_path / "out")
    written = json.loads(spawn("minimise", GARDEN, "--json", "-o", path, *NEEDS_RESULT).stdout)

    assert (told["events"], told["left"]["events"], told["is_minimal"]) == (90, 5, True)
    assert told["left"]["bytes"] == len(told["log"].encode())
    assert sum(told["removed"].values()) == 85
    assert told["output"] is None
    assert (written["output"], written["log"]) == (path, None)
    assert written["left"] == told["left"]


def test_a_program_that_does_not_fail_is_told_so() -> None:
    """There is nothing to look for; the code is 1."""
    good = run("minimise", GARDEN, "--", "true")
    odd = run("minimise", GARDEN, *judging("125"))

    assert good.exit_code == odd.exit_code == 1
    assert "the whole log is good" in good.stderr
    assert "the whole log is not to be judged" in odd.stderr
    assert good.stdout == odd.stdout == ""


def test_what_cannot_be_judged_does_not_show_the_failure() -> None:
    """125 is as good as 0."""
    process = spawn("minimise", GARDEN, *judging("1 if length > 40 else 125"))

    assert len(unwrap(read(process.stdout)).session) == 41


@pytest.mark.parametrize(
    ("expression", "how"),
    [("200", "ended with 200"), ("os.kill(os.getpid(), 9)", "was ended by SIGKILL")],
)
def test_a_program_may_end_the_search(expression: str, how: str) -> None:
    """By a code from 128 on, or by dying; the code is 2."""
    result = run("minimise", GARDEN, *judging(expression))

    assert result.exit_code == 2
    assert f"COMMAND {how} for a log of 90 events" in result.stderr


def test_a_program_that_is_not_there() -> None:
    """Is a mistake in the call."""
    told = json.loads(run("minimise", "--json", GARDEN, "--", "/no/such/program").stdout)

    assert told["error"]["code"] == "COMMAND_NOT_STARTED"


def test_the_number_of_runs_is_bounded() -> None:
    """What was found by then is printed, and that more could go."""
    process = spawn("minimise", GARDEN, "--max-calls", "3", *NEEDS_RESULT)

    assert process.returncode == 0
    assert len(unwrap(read(process.stdout)).session) < 90
    assert "  limit     COMMAND was run as often" in process.stderr.decode()


def test_the_program_is_given_a_file_by_path_and_environment(tmp_path: Path) -> None:
    """In the place of {}, else at the end; it is gone afterwards, and named as in a store."""
    seen = tmp_path / "seen"
    code = (
        "import os, sys; path = os.environ['DSH_FP_LOG']\n"
        f"open({str(seen)!r}, 'a').write(path + '\\n')\n"
        "assert path in sys.argv[1] and os.environ['DSH_FP_LENGTH']\n"
        "sys.exit(3)"
    )

    process = spawn("minimise", GARDEN, "--", sys.executable, "-c", code, "--log={}")

    assert process.returncode == 0, process.stderr
    paths = seen.read_text().split()
    assert {os.path.basename(path) for path in paths} == {"garden.jsonl"}
    assert not any(map(os.path.exists, paths))


def test_a_torn_tail_is_left_out_and_mentioned() -> None:
    """The log is that of the events that are whole."""
    process = spawn("minimise", GARDEN_TORN, *judging("1"))

    assert process.returncode == 0
    assert "torn tail" in process.stderr.decode()
    assert len(unwrap(read(process.stdout)).session) == 0


def test_what_the_program_prints_is_no_data() -> None:
    """Its standard output goes to standard error."""
    process = spawn("minimise", GARDEN, "--", "sh", "-c", "echo loud; exit 1")

    assert process.stdout.count(b"\n") == 1
    assert b"loud" in process.stderr
