"""How the command ends: exit codes, pipes, signals, colour, encodings, and how it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from dsh_fp.cli.exits import Exit, gravest
from tests.cli.logs import (
    GARDEN,
    GARDEN_TORN,
    Log,
    argv,
    document,
    environment,
    run,
    sound,
    spawn,
    write,
)
from tests.shared import REPOSITORY

LOG_COMMANDS: Final = (
    ["verify"],
    ["show"],
    ["messages"],
    ["header"],
    ["requests"],
    ["request", "--turn", "1", "--step", "1"],
)
posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def long_log(folder: Path) -> str:
    """A log whose transcript no pipe can hold."""
    log = Log()
    for number in range(3000):
        log.say(f"wave {number} " + "x" * 60)
    return log.write(folder)


@pytest.mark.parametrize("command", LOG_COMMANDS, ids=lambda words: words[0])
def test_every_command_answers_0_for_a_log_that_holds(command: list[str]) -> None:
    """And says nothing on standard error."""
    result = run(*command, GARDEN)

    assert result.exit_code == 0
    assert result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("command", LOG_COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("path", ["missing", ".", "", "a/../\0"])
def test_what_cannot_be_read_is_3_in_every_command(
    command: list[str], path: str, tmp_path: Path
) -> None:
    """A person gets what, where, why and what now; a program gets a document with the error."""
    given = str(tmp_path / path) if path in ("missing", ".") else path

    result = run(*command, given)
    answered = document(*command, given)

    assert result.exit_code == 3
    assert "FILE_UNREADABLE" in result.stderr
    assert answered["error"]["code"] == "FILE_UNREADABLE"
    assert answered["command"] == command[0]


@pytest.mark.parametrize("command", LOG_COMMANDS, ids=lambda words: words[0])
def test_an_event_that_is_refused_is_3_and_named(command: list[str], tmp_path: Path) -> None:
    """The acceptance code, with the event's line and seq."""
    event = b'{"type":"user/message","seq":0,"time":1,"data":{}}\n'
    path = write(tmp_path, Log().content + event)

    result = run(*command, path)
    error = document(*command, path)["error"]

    assert result.exit_code == 3
    assert (error["code"], error["line"], error["seq"]) == ("SURFACE_OP_MISSING", 2, 0)


@pytest.mark.parametrize("command", LOG_COMMANDS, ids=lambda words: words[0])
def test_an_unsupported_version_is_4(command: list[str], tmp_path: Path) -> None:
    """Nothing is wrong with the file; this release cannot read it."""
    path = write(tmp_path, b'{"type":"session","version":9,"id":"x","createdAt":1}\n')

    assert run(*command, path).exit_code == 4


@pytest.mark.parametrize(
    "args", [["bogus"], ["show"], ["show", "--bogus", "x"], ["show", "a", "b"]]
)
def test_wrong_usage_is_2_and_points_to_the_help(args: list[str]) -> None:
    """In one shape, on standard error, and as a document where JSON was asked for."""
    result = run(*args)
    answered = document(*args)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("dsh-fp: ")
    assert "--help" in result.stderr
    assert answered["error"]["code"] == "USAGE"


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["verfy"], "Did you mean verify?"),
        (["--json", "requests", "x"], "--json goes behind the command"),
        (["--color", "never", "ls"], "--color goes behind the command"),
        (["bisect", "x", "sh", "-c", "true"], "put -- before COMMAND"),
        (["minimise", "x", "sh", "-c", "true"], "put -- before COMMAND"),
        (["conform", "python", "-m", "server"], "put -- before COMMAND"),
        (["schema", "nosuch"], "`dsh-fp schema` lists them"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_what_was_meant_is_suggested(args: list[str], hint: str) -> None:
    """To a person and to a program."""
    answered = document(*args)["error"]

    assert hint in run(*args).stderr
    assert hint in " ".join(map(str, answered.values()))


@pytest.mark.parametrize(
    "args", [["zzz"], ["--zzz"], ["show", "-c"], ["bisect", "-c", "x", "--", "true"]]
)
def test_nothing_is_suggested_where_nothing_is_known(args: list[str]) -> None:
    """Only the help is pointed to, as ever."""
    told = run(*args).stderr

    assert "Did you mean" not in told
    assert "goes behind" not in told
    assert "put --" not in told


def test_no_command_is_2_and_prints_the_help() -> None:
    """The help goes to standard error then."""
    result = run()

    assert result.exit_code == 2
    assert "Look into a log:" in result.stderr


def test_the_help_lists_every_command() -> None:
    """With one line each."""
    result = run("--help")

    assert result.exit_code == 0
    for command in LOG_COMMANDS:
        assert f"  {command[0]} " in result.stdout
        assert run(command[0], "--help").exit_code == 0


def test_the_version_is_told() -> None:
    """On standard output, as a line."""
    assert run("--version").stdout.startswith("dsh-fp ")


def test_the_gravest_code_wins() -> None:
    """4 over 3 over 1 over 0."""
    codes = [Exit.HOLDS, Exit.FINDING, Exit.UNREADABLE, Exit.UNSUPPORTED]

    for place, code in enumerate(codes):
        assert gravest(codes[: place + 1]) is code
    assert gravest(()) is Exit.HOLDS


def test_every_exit_code_is_documented() -> None:
    """The table of the reference names each number once."""
    page = (REPOSITORY / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")

    for code in Exit:
        assert page.count(f"\n| {code.value} |") == 1


@posix_only
@pytest.mark.parametrize("options", [["show"], ["show", "--json"], ["messages", "--full"]])
def test_a_closed_pipe_is_quiet(options: list[str], tmp_path: Path) -> None:
    """Whoever read it has read enough: no message, no traceback."""
    path = long_log(tmp_path)
    with subprocess.Popen(
        argv(*options, path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        told = process.stderr.read()

    assert process.returncode == 141
    assert told == b""


@posix_only
@pytest.mark.parametrize("args", [["show", GARDEN], ["verify", "--json", GARDEN], ["--help"]])
def test_a_pipe_closed_from_the_start_is_quiet(args: list[str]) -> None:
    """Also when all of the output fits into the buffer and is lost at the end only."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        process = spawn(*args, stdout=writing, capture_output=False, stderr=subprocess.PIPE)
    finally:
        os.close(writing)

    assert process.returncode == 141
    assert process.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("args", [["show", GARDEN], ["verify", "--json", GARDEN], ["--help"]])
def test_output_that_cannot_be_written_is_5(args: list[str]) -> None:
    """A verdict that got lost must not look like one that was given."""
    with open("/dev/full", "wb") as full:
        process = spawn(*args, stdout=full, capture_output=False, stderr=subprocess.PIPE)

    assert process.returncode == 5
    assert process.stderr.startswith(b"dsh-fp: cannot write to standard output: ")
    assert process.stderr.count(b"\n") == 1


@posix_only
def test_closed_standard_streams_are_told_not_met_with_a_traceback() -> None:
    """No output is 5, no input is 3, no standard error changes nothing."""
    command = " ".join((f"'{sys.executable}'", "-m dsh_fp.cli"))

    def sh(line: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["sh", "-c", f"{command} {line}"],
            capture_output=True,
            env=environment(),
            timeout=60,
            check=False,
        )

    assert sh(f"show {GARDEN} >&-").returncode == 5
    assert sh("show - <&-").returncode == 3
    assert sh("show missing 2>&-").returncode == 3
    for line in (f"show {GARDEN} >&-", "show - <&-"):
        assert b"Traceback" not in sh(line).stderr


@posix_only
def test_an_interrupt_is_130() -> None:
    """One short line, no traceback."""
    with subprocess.Popen(
        argv("verify", GARDEN, "-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the first log is done: now it waits for its input
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)

    assert process.returncode == 130
    assert told == b"dsh-fp: interrupted\n"


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1:strict"},
    ],
    ids=str,
)
@pytest.mark.parametrize("command", [["show"], ["messages"], ["messages", "--json"]])
def test_an_encoding_that_lacks_a_character_ends_nothing(
    variables: dict[str, str], command: list[str]
) -> None:
    """Text is escaped then; JSON is UTF-8 whatever the locale."""
    process = spawn(*command, GARDEN, env=environment(**variables))

    assert process.returncode == 0
    assert process.stderr == b""
    if "--json" in command:
        assert process.stdout == spawn(*command, GARDEN).stdout
        assert "Grünkohl".encode() in process.stdout
    else:
        assert b"U0001f957" in process.stdout  # no such encoding holds this character


def test_colour_is_for_those_who_ask() -> None:
    """Not in a pipe, unless always; never whatever the terminal."""
    assert b"\x1b[" not in spawn("show", GARDEN).stdout
    assert b"\x1b[" in spawn("show", GARDEN, "--color", "always").stdout
    assert b"\x1b[" not in spawn("show", GARDEN, "--color", "never").stdout


@posix_only
@pytest.mark.parametrize(
    ("variables", "colored"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
    ids=str,
)
def test_a_terminal_is_coloured_unless_no_color_is_set(
    variables: dict[str, str], colored: bool
) -> None:
    """And its width is used."""
    import pty

    ours, theirs = pty.openpty()
    env = environment(**{"TERM": "xterm", "COLUMNS": "60", **variables})
    process = spawn("verify", GARDEN, stdout=theirs, capture_output=False, stderr=theirs, env=env)
    os.close(theirs)
    written = os.read(ours, 10_000)
    os.close(ours)

    assert process.returncode == 0
    assert (b"\x1b[" in written) is colored


def test_a_request_on_a_terminal_holds_nothing_it_could_obey(tmp_path: Path) -> None:
    """`--text` is exact in a pipe; a terminal gets the same value, escaped."""
    pty = pytest.importorskip("pty")
    log = Log()
    log.say("\x9b2J\u202e")
    log.open_step()
    path = log.write(tmp_path)
    options = ("request", path, "--turn", "1", "--step", "1", "--text")
    ours, theirs = pty.openpty()

    spawn(*options, stdout=theirs, capture_output=False, stderr=theirs)
    os.close(theirs)
    written = os.read(ours, 10_000)
    os.close(ours)

    assert "\x9b2J\u202e".encode() in spawn(*options).stdout
    assert b"\\u009b2J\\u202e" in written


def test_the_help_does_not_load_the_core() -> None:
    """The command starts fast: a module is loaded by the command that needs it."""
    script = (
        "import sys\n"
        "from dsh_fp.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "loaded = [m for m in sys.modules if m.startswith(('dsh_fp.core', 'dsh_fp.storage',"
        " 'attr', 'msgspec', 'pyrsistent', 'returns'))]\n"
        "sys.exit(','.join(loaded) or None)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env=environment(),
        timeout=60,
        check=False,
    )

    assert process.stderr == b""
    assert process.returncode == 0


def test_verify_loads_no_other_command() -> None:
    """Nor what only people who write tests or documents need."""
    script = (
        "import sys\n"
        "from dsh_fp.cli import main\n"
        f"main(['verify', {GARDEN!r}], standalone_mode=False)\n"
        "unwanted = ('dsh_fp.cli.show', 'dsh_fp.cli.requests', 'dsh_fp.core.requests',"
        " 'hypothesis', 'rich', 'pytest', 'asyncio', 'importlib.metadata')\n"
        "sys.exit(','.join(m for m in sys.modules if m.startswith(unwanted)) or None)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env=environment(),
        timeout=60,
        check=False,
    )

    assert process.stderr == b""


def test_nothing_is_ever_written(tmp_path: Path) -> None:
    """A torn log stays as it is, whatever is asked of it."""
    content = Path(GARDEN_TORN).read_bytes()
    path = write(tmp_path, content)
    Path(path).chmod(0o400)

    for command in LOG_COMMANDS:
        run(*command, path)

    assert Path(path).read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["log.txt"]


def test_deep_and_odd_payloads_leave_no_traceback(tmp_path: Path) -> None:
    """Depth and numbers are decided by strangers."""
    log = sound()
    deep: object = "bottom"
    for _ in range(1500):
        deep = [deep]
    log.add("tide/deep", {"deep": deep, "big": 1e308, "tiny": 5e-324})
    log.add("user/message", {"content": [deep], "source": {"kind": deep}}, surface_op="append")
    path = log.write(tmp_path)

    for command in LOG_COMMANDS:
        for options in ([], ["--json"]):
            result = run(*command, path, *options)
            assert result.exit_code in (0, 1)
            assert result.stdout
