"""`dsh-fp bisect`: prefixes judged by another program's exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dsh_fp import read, unwrap
from dsh_fp.cli import bisect
from tests.cli.logs import GARDEN, GARDEN_TORN, Log, argv, document, environment, run, sound, spawn

# How a program in Python judges the prefix in its first argument.
JUDGE = """
import os, sys
content = open(sys.argv[1], "rb").read()
length = content.count(b"\\n") - 1
sys.exit({})
"""


def judging(expression: str) -> list[str]:
    """A program that exits with what an expression gives of `length`, `content` and `os`."""
    return ["--", sys.executable, "-c", JUDGE.format(expression)]


def asked(log: str, expression: str, *options: str) -> dict[str, Any]:
    """The answer as a document, in a process of its own."""
    answered: dict[str, Any] = json.loads(
        spawn("bisect", log, *options, "--json", *judging(expression)).stdout
    )
    return answered


def test_the_first_bad_prefix_is_found() -> None:
    """Its last event, the last good one, and how to look at it; the code is 0."""
    process = spawn("bisect", GARDEN, *judging("b'roquette' in content"))

    assert process.returncode == 0
    assert process.stdout.decode().splitlines() == [
        'session "garden": the first bad prefix has 42 events (9 trials)',
        "  bad       seq 41 assistant/chunk (turn 3, step 1)",
        "  good      seq 40 assistant/chunk (turn 3, step 1)",
        f"  look      dsh-fp messages {GARDEN} --at 41",
    ]


def test_the_answer_as_a_document() -> None:
    """With every trial."""
    told = asked(GARDEN, "length >= 3")

    assert told["first_bad"] == {
        "length": 3,
        "seq": 2,
        "type": "step/start",
        "turn": 1,
        "step": 1,
        "time": 1752480000680,
    }
    assert told["last_good"]["length"] == 2
    assert (told["candidates"], told["by"], told["exit_code"]) == ([3], "event", 0)
    assert told["trials"][0] == {"length": 90, "seq": 89, "verdict": "bad", "exit_code": 1}
    assert told["trials"][1] == {"length": 0, "seq": None, "verdict": "good", "exit_code": 0}
    assert len(told["trials"]) <= 9


@pytest.mark.parametrize(("by", "expected"), [("turn", 30), ("step", 19)])
def test_only_ends_of_turns_or_steps_are_tried(by: str, expected: int) -> None:
    """The prefix found ends there, or is the whole log."""
    told = asked(GARDEN, "length > 10", "--by", by)
    events = unwrap(read(GARDEN)).session.events

    assert told["first_bad"]["length"] == expected
    ends = {trial["seq"] for trial in told["trials"]} - {None, 89}
    assert {events[seq].type for seq in ends} == {f"{by}/end"}


@pytest.mark.parametrize(("code", "verdict"), [(1, "bad"), (2, "bad"), (124, "bad"), (127, "bad")])
def test_codes_up_to_127_are_bad(code: int, verdict: str) -> None:
    """But for 125."""
    told = asked(GARDEN, f"{code} if length > 5 else 0")

    assert told["candidates"] == [6]
    assert told["trials"][0]["verdict"] == verdict


def test_skipped_prefixes_are_walked_around() -> None:
    """What the others tell is enough here."""
    told = asked(GARDEN, "125 if length in (45, 22, 23) else length > 60")

    assert (told["candidates"], told["exit_code"]) == ([61], 0)
    assert "skip" in {trial["verdict"] for trial in told["trials"]}


def test_skips_may_leave_several() -> None:
    """They are all named, and the code is 1."""
    expression = "125 if 40 <= length < 44 else length > 41"
    process = spawn("bisect", GARDEN, *judging(expression))
    told = asked(GARDEN, expression)

    assert process.returncode == told["exit_code"] == 1
    assert told["candidates"] == [40, 41, 42, 43, 44]
    assert (told["first_bad"], told["last_good"]["length"]) == (None, 39)
    assert process.stdout.count(b"\n  perhaps ") == 5
    assert b"one of 5" in process.stdout


@pytest.mark.parametrize(
    ("expression", "code", "trials"),
    [("0", "END_NOT_BAD", 1), ("125", "END_NOT_BAD", 1), ("1", "START_NOT_GOOD", 2)],
)
def test_an_end_that_disagrees_is_named(expression: str, code: str, trials: int) -> None:
    """There is nothing to search for then; the code is 1."""
    process = spawn("bisect", GARDEN, *judging(expression))
    told = asked(GARDEN, expression)

    assert process.returncode == 1
    assert process.stdout == b""
    assert b"from the start" in process.stderr or b"the whole log is" in process.stderr
    assert told["error"]["code"] == code
    assert len(told["trials"]) == trials


def test_a_start_that_cannot_be_judged_is_skipped() -> None:
    """A program may well need an event or two."""
    assert asked(GARDEN, "125 if length < 2 else length > 9")["candidates"] == [10]


def test_an_empty_log_has_no_first_bad_event(tmp_path: Path) -> None:
    """Its start is its end."""
    path = Log().write(tmp_path)

    assert asked(path, "1")["error"]["code"] == "START_NOT_GOOD"
    assert asked(path, "0")["error"]["code"] == "END_NOT_BAD"


@pytest.mark.parametrize(
    ("expression", "how"),
    [
        ("128", "ended with 128"),
        ("255", "ended with 255"),
        ("os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
    ],
)
def test_a_program_that_gives_up_ends_the_search(expression: str, how: str) -> None:
    """At once, with the code 2 and what happened."""
    process = spawn("bisect", GARDEN, *judging(expression))

    assert process.returncode == 2
    assert how.encode() in process.stderr
    assert asked(GARDEN, expression)["error"]["code"] == "COMMAND_GAVE_UP"


@pytest.mark.parametrize("program", ["no-such-program", "", ".", "a\0b"])
def test_a_program_that_is_not_there_ends_the_search(program: str) -> None:
    """It is named, and the code is 2."""
    result = run("bisect", GARDEN, "--", program)

    assert result.exit_code == 2
    assert "COMMAND could not be started" in result.stderr
    assert document("bisect", GARDEN, "--json", "--", program)["error"]["code"] == (
        "COMMAND_NOT_STARTED"
    )


def test_no_shell_looks_at_the_arguments(tmp_path: Path) -> None:
    """They arrive as they are given, the path in the place of each {}."""
    told = tmp_path / "told"
    code = (
        f"import sys, json; open({str(told)!r}, 'w').write(json.dumps(sys.argv[1:])); sys.exit(9)"
    )

    spawn("bisect", GARDEN, "--", sys.executable, "-c", code, "$(touch x)", "a={};b={}", "* ;")

    first, second, third = json.loads(told.read_text())
    assert (first, third) == ("$(touch x)", "* ;")
    path = second.partition(";")[0].removeprefix("a=")
    assert second == f"a={path};b={path}"
    assert Path(path).name == "garden.jsonl"


@pytest.mark.parametrize("command", ["bisect", "minimise"])
def test_the_help_has_an_example_on_a_line_of_its_own(command: str) -> None:
    """With the path in the place of {}, as a shell script should have it."""
    lines = run(command, "--help").stdout.splitlines()

    (example,) = [line for line in lines if line.endswith("-- sh -c '! grep -q roquette {}'")]
    assert example.startswith(f"      dsh-fp {command} LOG")


@pytest.mark.parametrize("place", ["{}", '"$DSH_FP_LOG"'])
@pytest.mark.parametrize("id", ["garden", "a'b; exit 3 $(exit 3) `exit 3` (c) &"])
def test_a_shell_script_finds_the_file(place: str, id: str, tmp_path: Path) -> None:
    """In the place of {} and in the environment, whatever the session is called."""
    log = Log(id)
    for word in ("one", "two", "three"):
        log.say(word)

    process = spawn(
        *("bisect", log.write(tmp_path), "--json", "--", "sh", "-c", f"! grep -q two {place}")
    )

    assert json.loads(process.stdout)["first_bad"]["length"] == 2


def test_the_path_is_appended_where_no_place_is_marked(tmp_path: Path) -> None:
    """And the environment tells the same path, length and seq."""
    told = tmp_path / "told"
    names = "DSH_FP_LOG", "DSH_FP_LENGTH", "DSH_FP_SEQ"
    code = (
        "import os, sys\n"
        f"open({str(told)!r}, 'a').write(repr([sys.argv[1:], [os.environ[n] for n in {names}]]))\n"
        "sys.exit(os.environ['DSH_FP_LENGTH'] != '0')"
    )

    process = spawn("bisect", sound().write(tmp_path), "--", sys.executable, "-c", code)

    assert process.returncode == 0
    seen = told.read_text()
    assert "'7', '6']]" in seen
    assert "'0', '']]" in seen
    assert seen.count("harbour.jsonl'], ['/") == 5


def test_a_prefix_is_a_whole_log() -> None:
    """In the bytes of the file, without its torn tail."""
    read_it = (
        "(lambda log: log.good_bytes != log.size or "
        f"not open({GARDEN_TORN!r}, 'rb').read().startswith(content) or len(log.session) > 20)"
        "(__import__('dsh_fp').read(sys.argv[1]).unwrap())"
    )

    told = asked(GARDEN_TORN, read_it)

    assert told["candidates"] == [21]


def test_what_the_program_prints_goes_to_standard_error() -> None:
    """So that standard output is the answer alone; it reads nothing."""
    expression = "print('hm', sys.stdin.read()) or length > 3"
    process = spawn("bisect", GARDEN, "--json", *judging(expression), input=b"x")

    assert json.loads(process.stdout)["candidates"] == [4]
    assert b"hm \n" in process.stderr
    assert b"hm x" not in process.stderr


def test_trials_are_told_tersely() -> None:
    """One short line each, where standard error is no terminal."""
    process = spawn("bisect", GARDEN, "--by", "turn", *judging("length > 3"))

    assert process.stderr.decode().splitlines() == [
        "seq 89: bad",
        "no events: good",
        "seq 32: bad",
        "seq 29: bad",
    ]


def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    """Not even when the program makes more of them, or gives up."""
    more = "open(sys.argv[1] + '.bak', 'w').close() or os.remove(sys.argv[1]) or "
    for last in ("length > 3", "200"):
        spawn("bisect", GARDEN, *judging(more + last), env=environment(TMPDIR=str(tmp_path)))

        assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_3() -> None:
    """The prefix has to be put somewhere."""
    code = (
        "import tempfile; tempfile.tempdir = '/nonexistent/folder'\n"
        "from dsh_fp.cli import main\n"
        f"main(['bisect', {GARDEN!r}, '--', 'true'])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment(), check=False
    )

    assert process.returncode == 3
    assert b"STORAGE_FAILED" in process.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    """One short line, the code 130, no file, no program that goes on."""
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    with subprocess.Popen(
        argv("bisect", GARDEN, "--", sys.executable, "-c", code),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(TMPDIR=str(tmp_path)),
    ) as process:
        assert process.stderr is not None
        child = int(process.stderr.readline())
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)

    assert process.returncode == 130
    assert told.endswith(b"dsh-fp: interrupted\n")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_command_is_needed() -> None:
    """Without one it is wrong usage."""
    assert run("bisect", GARDEN).exit_code == 2
    assert run("bisect", GARDEN, "--").exit_code == 2


def test_strange_ids_make_plain_names(tmp_path: Path) -> None:
    """An id that is no file name, or too long for one."""
    for number, id in enumerate(("../../x", "y" * 300)):
        log = Log(id)
        log.say("one")
        path = log.write(tmp_path, f"{number}.txt")

        assert asked(path, "length > 0")["candidates"] == [1]


def test_where_an_event_stands_is_told() -> None:
    """By what it names, else by the turn and step that are open there."""
    session = unwrap(read(GARDEN)).session
    expected = {
        0: (1, None),
        1: (1, None),
        3: (1, 1),
        31: (2, None),
        50: (3, 1),
        60: (3, 2),
        79: (4, None),
        89: (4, None),
    }

    places = {seq: bisect.place_of(session, session.events[seq]) for seq in expected}

    assert places == expected


def test_where_no_turn_is_open_none_is_told() -> None:
    """Outside any turn there is neither."""
    log = sound()
    log.add("plugin/x", None)

    assert bisect.place_of(log.session, log.session.events[7]) == (None, None)
