"""`dsh-fp what-if`: edits from options and files, the answer, and the edited log on the disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsh_fp import read, unwrap
from dsh_fp.cli.what_if import command
from tests.cli.logs import GARDEN, Log, document, run, sound, spawn, text, write

SAID = {"content": text("Hello"), "source": {"kind": "user"}}


def given(folder: Path, value: Any, name: str = "edit.json") -> str:
    """The path of a file with this value."""
    return write(folder, json.dumps(value).encode(), name)


def events_of(path: str) -> list[dict[str, Any]]:
    """The events of a log file."""
    return [event.to_wire() for event in unwrap(read(path)).session]


def test_a_change_is_1_and_none_is_0() -> None:
    """Chunks change no request, a user's words change all behind them."""
    changed = run("what-if", GARDEN, "--drop", "77")
    same = run("what-if", GARDEN, "--drop", "4-14")

    assert (changed.exit_code, same.exit_code) == (1, 0)
    assert "requests  1 changed" in changed.stdout
    assert "requests  all as they were" in same.stdout
    assert changed.stderr == same.stderr == ""


def test_without_edits_all_is_as_it_was() -> None:
    """And the code is 0."""
    assert run("what-if", GARDEN).exit_code == 0
    told = document("what-if", GARDEN)
    assert (told["edits"], told["requests"], told["events_after"]) == ([], [], told["events"])


def test_the_change_as_a_row() -> None:
    """Turn, step, seq before and now, what became of header, messages and bytes."""
    rows = run("what-if", GARDEN, "--drop", "77").stdout.splitlines()

    assert rows[-2].split() == [
        "turn",
        "step",
        "seq",
        "now",
        "header",
        "added",
        "removed",
        "changed",
        "messages",
        "bytes",
    ]
    assert rows[-1].split() == [
        "4",
        "1",
        "80",
        "79",
        "same",
        "4",
        "1",
        "0",
        "11",
        ">",
        "14",
        "3,260",
        ">",
        "3,785",
    ]


def test_the_answer_as_a_document() -> None:
    """The same in numbers."""
    told = document("what-if", GARDEN, "--drop", "77")

    assert told["edits"] == [{"edit": "drop", "seq": 77}]
    assert (told["admissible"], told["refusal"], told["blamed"]) == (True, None, [])
    assert (told["events"], told["events_after"], told["exit_code"]) == (90, 89, 1)
    assert told["requests"] == [
        {
            "kind": "changed",
            "turn": 4,
            "step": 1,
            "old_seq": 80,
            "new_seq": 79,
            "header_changed": False,
            "messages": {"before": 11, "after": 14, "added": 4, "removed": 1, "changed": 0},
            "bytes": {"before": 3260, "after": 3785},
            "fault_before": None,
            "fault_after": None,
        }
    ]


def test_new_breaches_are_told() -> None:
    """A turn that is missing, with its code and the seq in the edited log."""
    result = run("what-if", GARDEN, "--drop", "30-32")
    told = document("what-if", GARDEN, "--drop", "30-32")

    assert "breach    TURN_NUMBER at seq 30 of the edited log" in result.stdout
    assert [breach["code"] for breach in told["breaches"]] == ["TURN_NUMBER"]


@pytest.mark.parametrize(
    ("dropped", "told", "lost"),
    [
        (
            "17",
            "call_soil_1 has no result any more (event 17 dropped)",
            {"lacks": "result", "seq": 15, "old_seq": 15, "partner": 17},
        ),
        (
            "15",
            "the result of call_soil_1 has no call any more (event 15 dropped)",
            {"lacks": "call", "seq": 16, "old_seq": 17, "partner": 15},
        ),
    ],
)
def test_calls_and_results_left_alone_are_told(
    dropped: str, told: str, lost: dict[str, Any]
) -> None:
    """In a line and as a value, with the event that was the other half."""
    result = run("what-if", GARDEN, "--drop", dropped)

    assert f"  pairing   {told}\n" in result.stdout
    assert document("what-if", GARDEN, "--drop", dropped)["pairing"] == [
        {"call_id": "call_soil_1", "place": "log", **lost}
    ]


def test_of_many_lost_pairs_the_first_are_told(tmp_path: Path) -> None:
    """And with --all every one; what stranger's ids hold reaches no terminal."""
    log = Log()
    ids = [f"c{number}\x1b[2J" for number in range(12)]
    blocks = [{"type": "tool-call", "id": each, "name": "x", "arguments": "{}"} for each in ids]
    log.add("assistant/message", {"turn": 1, "step": 1, "content": blocks}, surface_op="append")
    for each in ids:
        data = {"turn": 1, "step": 1, "callId": each, "content": text("y"), "isError": False}
        log.add("tool/result", data, surface_op="append")
    path = log.write(tmp_path)

    few = run("what-if", path, "--drop", "1-12").stdout
    all_of_them = run("what-if", path, "--drop", "1-12", "--all").stdout

    assert (few.count("  pairing"), all_of_them.count("  pairing")) == (8, 12)
    assert "and 4 more; --all lists them" in few
    assert "\x1b" not in few


def test_a_pair_that_is_cut_in_force_is_told_as_that(tmp_path: Path) -> None:
    """By a replacement that takes the result away and leaves the call."""
    op = {"op": "replace", "start": 17, "end": 17}
    event = {"type": "user/message", "data": SAID, "surfaceOp": op, "sourceEventSeqs": [17]}
    told = run("what-if", GARDEN, "--drop", "77", "--insert", f"18={given(tmp_path, event)}")

    assert "  pairing   call_soil_1 has no result in force any more\n" in told.stdout


def test_an_edit_may_bring_what_stands_alone(tmp_path: Path) -> None:
    """An inserted result without a call, and a result that is replaced by another's."""
    data = {"turn": 1, "step": 1, "callId": "other", "content": text("x"), "isError": False}
    event = {"type": "tool/result", "data": data, "surfaceOp": "append"}
    inserted = run("what-if", GARDEN, "--insert", f"18={given(tmp_path, event)}").stdout
    replaced = run("what-if", GARDEN, "--replace", f"17={given(tmp_path, data, 'b')}").stdout

    assert "pairing   the result of other has no call (event 18 of the edited log" in inserted
    assert "pairing   call_soil_1 has no result any more (event 17 replaced)" in replaced
    assert "pairing   the result of other has no call (event 17 replaced)" in replaced


def test_a_refused_log_is_1_and_names_the_edits() -> None:
    """The reason with its seq, those to blame, and what to do."""
    result = run("what-if", GARDEN, "--drop", "0-29")
    told = document("what-if", GARDEN, "--drop", "0-29")

    assert result.exit_code == told["exit_code"] == 1
    assert "the edited log is refused" in result.stdout
    assert "because   dropping 1, 15, 17, 27\n" in result.stdout
    assert told["admissible"] is False
    assert told["refusal"]["code"] == "NOTHING_LEFT_TO_REPLACE"
    assert [told["edits"][at]["seq"] for at in told["blamed"]] == [1, 15, 17, 27]
    assert (told["requests"], told["events_after"]) == ([], None)


# ---- edits from files ------------------------------------------------------------------------


def test_replace_takes_a_payload(tmp_path: Path) -> None:
    """Type, time, place and sources stay."""
    out = str(tmp_path / "out.jsonl")

    result = run("what-if", GARDEN, "--replace", f"1={given(tmp_path, SAID)}", "-o", out)

    assert result.exit_code == 1
    before, after = events_of(GARDEN)[1], events_of(out)[1]
    assert after == {**before, "data": SAID}


def test_replace_takes_a_whole_event(tmp_path: Path) -> None:
    """As it stands in a log: its type, time and data count, its seq does not."""
    event = {**events_of(GARDEN)[1], "data": SAID, "time": 5, "seq": 44}
    out = str(tmp_path / "out.jsonl")

    run("what-if", GARDEN, "--replace", f"1={given(tmp_path, event)}", "-o", out)

    assert events_of(out)[1] == {**event, "seq": 1}


def test_a_whole_event_must_join_as_the_old_one(tmp_path: Path) -> None:
    """Replacing never moves a node."""
    event = {**events_of(GARDEN)[1], "surfaceOp": {"op": "replace", "start": 0, "end": 0}}

    result = run("what-if", GARDEN, "--replace", f"1={given(tmp_path, event)}")

    assert result.exit_code == 2
    assert "joins the surface in another way" in result.stderr


def test_insert_takes_an_event(tmp_path: Path) -> None:
    """Several at one place in their order; the log's length puts one at the end."""
    first = {"type": "user/message", "data": SAID, "surfaceOp": "append", "seq": 7}
    second = {"type": "plugin/x", "data": None, "time": 9}
    names = given(tmp_path, first, "a.json"), given(tmp_path, second, "b.json")
    out = str(tmp_path / "out.jsonl")
    path = sound().write(tmp_path)

    run(
        "what-if",
        path,
        "--insert",
        f"4={names[0]}",
        "--insert",
        f"4={names[1]}",
        "--insert",
        f"7={names[1]}",
        "-o",
        out,
    )

    events = events_of(out)
    assert [event["type"] for event in events[4:6]] == ["user/message", "plugin/x"]
    assert events[4]["time"] == events[3]["time"]
    assert (events[9]["type"], events[9]["time"], len(events)) == ("plugin/x", 9, 10)


@pytest.mark.parametrize(
    "value", [[], {"type": "x"}, {"type": "x", "data": 1, "more": 2}, {"data": 1}]
)
def test_what_is_no_event_cannot_be_inserted(value: Any, tmp_path: Path) -> None:
    """It needs a type and data, and may have no other keys than an event."""
    result = run("what-if", GARDEN, "--insert", f"1={given(tmp_path, value)}")

    assert result.exit_code == 2
    assert "holds no event" in result.stderr


def test_a_file_that_cannot_be_read_is_3(tmp_path: Path) -> None:
    """Or is no JSON."""
    broken = write(tmp_path, b"{", "broken.json")

    for path, code in (
        (str(tmp_path / "missing"), "FILE_UNREADABLE"),
        ("a\0b", "FILE_UNREADABLE"),
        (broken, "JSON_SYNTAX"),
    ):
        assert run("what-if", GARDEN, "--replace", f"1={path}").exit_code == 3
        assert document("what-if", GARDEN, "--replace", f"1={path}")["error"]["code"] == code


@pytest.mark.parametrize(
    "options",
    [
        ["--drop", "x"],
        ["--drop", "-1"],
        ["--drop", "5-3"],
        ["--drop", "0-99999999"],
        ["--drop", "1_0"],
        ["--replace", "1"],
        ["--replace", "=x"],
        ["--insert", "1="],
        ["--insert", "1-2=x"],
    ],
)
def test_an_option_that_names_no_event_is_2(options: list[str]) -> None:
    """With the form it should have."""
    assert run("what-if", GARDEN, *options).exit_code == 2


@pytest.mark.parametrize(
    ("options", "index"), [(["--drop", "90"], 0), (["--drop", "3", "--drop", "2-4"], 2)]
)
def test_a_senseless_edit_is_2(options: list[str], index: int) -> None:
    """A seq that is not in the log, an event that is dropped twice."""
    result = run("what-if", GARDEN, *options)
    error = document("what-if", GARDEN, *options)["error"]

    assert result.exit_code == 2
    assert f"{options[0]} {'90' if index == 0 else '3'} cannot be made" in result.stderr
    assert (error["code"], error["index"]) == ("EDIT_INVALID", index)


# ---- the edited log on the disk --------------------------------------------------------------


def test_the_edited_log_holds(tmp_path: Path) -> None:
    """It is whole, and named in the answer."""
    out = str(tmp_path / "garden.jsonl")

    result = run("what-if", GARDEN, "--drop", "77", "-o", out)

    assert "".join(result.stdout.split()).count(f"written{out}") == 1
    assert len(events_of(out)) == 89
    assert document("what-if", GARDEN, "--drop", "77", "-o", out + "2")["output"] == out + "2"
    assert unwrap(read(out)).findings == ()


@pytest.mark.parametrize("edits", [["--drop", "77"], ["--drop", "0-29"]])
def test_nothing_is_overwritten(edits: list[str], tmp_path: Path) -> None:
    """Nor a link to nothing; and that is told before the work is done."""
    (tmp_path / "link").symlink_to("nowhere")
    there = write(tmp_path, b"mine", "there")

    for path in (there, str(tmp_path / "link"), ""):
        assert run("what-if", GARDEN, *edits, "-o", path).exit_code == 2
        assert document("what-if", GARDEN, *edits, "-o", path)["error"]["code"] == "FILE_EXISTS"
    assert Path(there).read_bytes() == b"mine"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link", "there"]


def test_a_refused_log_is_not_written(tmp_path: Path) -> None:
    """There is none."""
    out = tmp_path / "out.jsonl"

    run("what-if", GARDEN, "--drop", "0-29", "-o", str(out))

    assert not out.exists()
    assert document("what-if", GARDEN, "--drop", "0-29", "-o", str(out))["output"] is None


def test_a_folder_that_is_not_there_is_3(tmp_path: Path) -> None:
    """Told as what could not be written."""
    out = str(tmp_path / "no" / "out.jsonl")

    assert run("what-if", GARDEN, "-o", out).exit_code == 3
    assert document("what-if", GARDEN, "-o", out)["error"]["code"] == "STORAGE_FAILED"


# ---- what is shown ---------------------------------------------------------------------------


def test_long_answers_are_cut(tmp_path: Path) -> None:
    """Unless all of it is asked for."""
    log = Log()
    log.open_step()
    first = log.say("one")
    for step in range(2, 40):
        log.add("step/end", {"turn": 1, "step": step - 1})
        log.open_step(step=step, header=None)
    path = log.write(tmp_path)

    cut = run("what-if", path, "--drop", str(first)).stdout
    whole = run("what-if", path, "--drop", str(first), "--all").stdout

    assert "... and 18 more; --all lists them" in cut
    assert len(whole.splitlines()) == len(cut.splitlines()) + 17


def test_strangers_text_is_made_safe(tmp_path: Path) -> None:
    """A turn may be called anything."""
    log = Log("\x1b[31m")
    log.add("request/header", {"header": {"config": {}}, "reason": "initial"})
    log.say("one")
    log.add("step/start", {"turn": "\x1b[31m", "step": "\u202e"})
    path = log.write(tmp_path)

    shown = run("what-if", path, "--drop", "1").stdout

    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_torn_tail_is_mentioned(tmp_path: Path) -> None:
    """It is left out of the question."""
    path = write(tmp_path, sound().content + b'{"type"')

    assert "torn tail" in run("what-if", path).stderr


def test_the_log_may_come_from_standard_input() -> None:
    """As in every command."""
    content = Path(GARDEN).read_bytes()

    assert spawn("what-if", "-", "--drop", "77", input=content).returncode == 1


def test_the_command_has_its_name() -> None:
    """The module is found by it."""
    assert command.name == "what-if"
