"""`dsh-fp verify`: verdicts, findings and their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsh_fp import read, unwrap
from tests.cli.logs import GARDEN, GARDEN_TORN, Log, document, run, sound, write


def test_a_sound_log_is_ok(tmp_path: Path) -> None:
    """The verdict names id, events, turns, nodes and good bytes; the code is 0."""
    log = sound()

    result = run("verify", log.write(tmp_path))

    assert result.exit_code == 0
    assert result.stdout.startswith("OK ")
    size = f"{len(log.content):,}"
    facts = f'"harbour": 7 events, 1 turn, 2 nodes, {size} of {size} bytes good'
    assert facts in result.stdout
    assert result.stderr == ""


def test_a_finding_names_line_seq_and_byte_and_what_to_do(tmp_path: Path) -> None:
    """Each finding stands on a line of its own, its advice below; the code is 1."""
    log = Log()
    log.add("turn/start", {"turn": 7, "trigger": {"kind": "continuation"}})
    log.add("turn/end", {"turn": 7, "reason": {"kind": "completed"}})
    offset = log.content.index(b"\n") + 1

    result = run("verify", log.write(tmp_path))

    assert result.exit_code == 1
    verdict, _, finding, advice = result.stdout.splitlines()
    assert verdict.startswith("FINDINGS ")
    assert finding.startswith(f"  finding TURN_NUMBER line 2, seq 0, byte {offset}: ")
    assert advice.startswith("    ")


def test_a_mere_note_leaves_a_log_ok(tmp_path: Path) -> None:
    """A clock set back is told, and the code is 0 all the same."""
    log = Log()
    log.add("turn/start", {"turn": 1, "trigger": {"kind": "continuation"}}, time=2000)
    log.add("turn/end", {"turn": 1, "reason": {"kind": "completed"}}, time=1000)

    result = run("verify", log.write(tmp_path))

    assert result.exit_code == 0
    assert "note TIME_GOES_BACK line 3, seq 1" in result.stdout


def test_a_torn_tail_is_a_finding() -> None:
    """The verdict says how many bytes are good."""
    result = run("verify", GARDEN_TORN)

    assert result.exit_code == 1
    assert "finding TORN_TAIL" in result.stdout


def test_a_long_list_of_findings_is_bounded_unless_all_is_asked_for(tmp_path: Path) -> None:
    """Twenty of a code are listed, then their number."""
    log = Log()
    for _ in range(25):
        log.say("outside of any turn")
    path = log.write(tmp_path)

    bounded, whole = run("verify", path).stdout, run("verify", "--all", path).stdout

    assert bounded.count("finding OUTSIDE_TURN") == 20
    assert "... and 5 more OUTSIDE_TURN; --all lists them" in bounded
    assert whole.count("finding OUTSIDE_TURN") == 25
    assert bounded.count("broke the nesting") == 1  # what to do is said once a code


def test_unknown_types_are_summed_up(tmp_path: Path) -> None:
    """They are no finding: any type is valid."""
    log = Log()
    log.add("turn/start", {"turn": 1, "trigger": {"kind": "continuation"}})
    for _ in range(3):
        log.add("tide/level", {"metres": 2})
    log.add("turn/end", {"turn": 1, "reason": {"kind": "completed"}})

    result = run("verify", log.write(tmp_path))

    assert result.exit_code == 0
    assert "unknown types, kept as they are: tide/level (3)" in result.stdout


def test_several_logs_end_in_a_tally_and_the_gravest_code(tmp_path: Path) -> None:
    """An unsupported version outweighs damage, damage a finding, a finding a log that holds."""
    newer = write(tmp_path, b'{"type":"session","version":9,"id":"n","createdAt":1}\n', "newer.txt")
    damaged = write(tmp_path, b"no log\n", "damaged.txt")

    everything = run("verify", GARDEN, GARDEN_TORN, damaged, newer)

    assert everything.exit_code == 4
    last = everything.stdout.splitlines()[-1]
    assert last == "4 logs: 1 hold, 1 with findings, 2 refused"
    assert run("verify", GARDEN, GARDEN_TORN, damaged).exit_code == 3
    assert run("verify", GARDEN, GARDEN_TORN).exit_code == 1
    assert run("verify", GARDEN, GARDEN).exit_code == 0


def test_a_refused_log_has_its_verdict_on_stdout_and_its_reason_on_stderr(tmp_path: Path) -> None:
    """What, where, why and what now, in this order."""
    content = sound().content
    first, *rest = content.splitlines(keepends=True)
    path = write(tmp_path, b"".join((first, *rest[:2], b"{oops\n", *rest[2:])))
    offset = len(first) + len(rest[0]) + len(rest[1])

    result = run("verify", path)

    assert result.exit_code == 3
    assert result.stdout == f"REFUSED   {path}: LOG_CORRUPT (line 4, seq 2, byte {offset})\n"
    labels = [line.split()[0] for line in result.stderr.splitlines() if line[2:3].strip()]
    assert labels == ["dsh-fp:", "where", "why", "now"]
    assert f"where {path}, line 4, seq 2, byte {offset}" in " ".join(result.stderr.split())


def test_the_document_holds_every_log_and_every_finding(tmp_path: Path) -> None:
    """One JSON document, findings as the library tells them, the gravest error on top."""
    missing = str(tmp_path / "missing")

    answered = document("verify", GARDEN_TORN, missing)

    assert answered["schema_version"] == 1
    assert answered["command"] == "verify"
    assert answered["exit_code"] == 3
    assert answered["summary"] == {"logs": 2, "hold": 0, "with_findings": 1, "refused": 1}
    torn, refused = answered["logs"]
    assert torn["verdict"] == "findings"
    assert [finding["code"] for finding in torn["findings"]] == [
        finding.code for finding in unwrap(read(GARDEN_TORN)).findings
    ]
    assert torn["findings"][-1]["byte_offset"] == torn["good_bytes"] < torn["size"]
    assert refused == {"file": missing, "verdict": "refused", "error": answered["error"]}
    assert answered["error"]["code"] == "FILE_UNREADABLE"


def test_a_document_without_a_refused_log_holds_no_error() -> None:
    """Findings are no error."""
    assert "error" not in document("verify", GARDEN_TORN)


def test_a_log_comes_from_standard_input() -> None:
    """`-` is standard input, and is named in what is said."""
    result = run("verify", "-", given=sound().content)

    assert result.exit_code == 0
    assert "<stdin>" in result.stdout


def test_findings_of_standard_input_name_it() -> None:
    """A finding's file is never missing."""
    answered = document("verify", "-", given=sound().content + b"{")

    assert answered["logs"][0]["findings"][0]["file"] == "<stdin>"


def test_standard_input_is_read_only_once() -> None:
    """Asking for it twice is a usage error."""
    assert run("verify", "-", "-", given=b"").exit_code == 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf{}\n", "byte order mark"),
        (b"\x28\xb5\x2f\xfd\x00\n", "no whole first frame"),
        (b'{"type":"session"', "the first line has no end"),
        (b"\x00\xff\xfe\n", "no object of type 'session'"),
        (b"[" * 100_000 + b"\n", "no object of type 'session'"),
        (b'{"type":"session","version":0,"id":"x","createdAt":1e999}\n', "not lossless JSON"),
        (b'{"type":"session","version":-1e999,"id":"x","createdAt":1}\n', "version"),
        (b'{"type":"session","version":' + b"9" * 5000 + b',"id":"","createdAt":1}\n', "version"),
    ],
)
def test_whatever_the_bytes_a_log_is_refused_with_a_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    """No traceback, no other code, and the document can be read."""
    path = write(tmp_path, content)

    result = run("verify", path)
    answered = document("verify", path)

    assert result.exit_code in (3, 4)
    assert reason in " ".join(result.stderr.split())
    assert answered["error"]["message"]
