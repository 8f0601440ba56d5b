"""`dsh-fp diff`: two requests of one log, or two logs, and the event behind each change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsh_fp import parse, unwrap
from tests.cli.logs import GARDEN, Log, document, run, text, write
from tests.cli.test_strangers import evil_log
from tests.shared import REPOSITORY, shared_or_skip

TUESDAY = str(REPOSITORY / "examples" / "garden-tuesday.jsonl")

LONG = "\n".join(f"line {number}" for number in range(60))


def of_two_steps(first: Any, second: Any) -> Log:
    """A log of two turns under two headers."""
    log = Log()
    log.open_step(header={"config": {"model": "tern-1"}, **first})
    log.close()
    log.open_step(turn=2, header={"config": {"model": "tern-1"}, **second})
    return log


def test_equal_requests_end_with_zero() -> None:
    """As `diff` does, and one line says it."""
    result = run("diff", GARDEN, "1.1", "1.1")

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "the requests are equal"
    assert document("diff", GARDEN, "1.1", "@2")["request"]["equal"] is True


def test_different_requests_end_with_one_and_name_the_event() -> None:
    """The place, the event, its lines, tools and messages."""
    result = run("diff", GARDEN, "1.2", "3.1")

    assert result.exit_code == 1
    told = result.stdout.splitlines()
    assert told[2] == "first at system: event 36 request/header-delta"
    assert "  + Mention the weather when it matters." in told
    assert "  + seed_box: event 36 request/header-delta" in told
    assert any(line.startswith("  + 6 (event 34 user/message)") for line in told)


def test_a_replacement_names_what_replaced() -> None:
    """The compaction of the example, from both sides."""
    runs = document("diff", GARDEN, "3.3", "4.1")["request"]["messages"]["runs"]

    assert [run["kind"] for run in runs] == ["replaced", "added"]
    assert [event["seq"] for event in runs[0]["old_events"]] == [1, 15, 17, 27]
    assert [event["seq"] for event in runs[0]["causes"]] == [77]
    back = document("diff", GARDEN, "4.1", "3.3")["request"]["messages"]["runs"]
    assert [event["seq"] for event in back[0]["causes"]] == [77]


def test_two_logs_are_compared_event_by_event_and_request_by_request() -> None:
    """The first event that differs in content, counts, and the first request that differs."""
    told = document("diff", GARDEN, TUESDAY)

    assert told["first_event"]["old"]["seq"] == told["first_event"]["new"]["seq"] == 36
    assert told["first_event"]["new"]["reason"] == "resume"
    assert {key: told["requests"][key] for key in ("equal", "different", "only_old")} == {
        "equal": 1,
        "different": 5,
        "only_old": 0,
    }
    assert told["first_pair"]["old"] == {"turn": 1, "step": 2, "seq": 19}
    assert told["first_request"]["only_call_ids"] is True


def test_call_ids_may_be_left_out() -> None:
    """Then the first request that differs is the one under another prompt."""
    result = run("diff", GARDEN, TUESDAY, "--ignore-call-ids")

    assert result.exit_code == 1
    assert "requests: 2 equal, 4 different" in result.stdout
    assert "  + The garden has five beds: north, east, south, pond and herbs." in result.stdout
    assert "--ignore-call-ids" in run("diff", GARDEN, TUESDAY).stdout


def test_what_differs_in_call_ids_alone_is_marked() -> None:
    """Its row, and a line above the lines of its difference; unless they are left out."""
    told = run("diff", GARDEN, TUESDAY).stdout.splitlines()

    assert [line for line in told if "differs: " in line] == [
        "  differs: turn 1, step 2 (seq 19), only call ids",
        "  differs: turn 3, step 1 (seq 35)",
        "  differs: turn 3, step 2 (seq 52)",
        "  differs: turn 3, step 3 (seq 63)",
        "  differs: turn 4, step 1 (seq 80)",
    ]
    said = told.index("only call ids differ here; --ignore-call-ids goes on")
    assert said < next(at for at, line in enumerate(told) if "@@" in line)
    assert "only call ids" not in run("diff", GARDEN, TUESDAY, "--ignore-call-ids").stdout


def test_call_ids_are_numbered_for_each_request_too(tmp_path: Path) -> None:
    """A call that one log has and no request shows leaves the ids behind it numbered otherwise."""
    paths: list[str] = []
    for name, early in (("x", [_asking("a")]), ("y", text("Hm"))):
        log = Log()
        said = {"turn": 1, "step": 1, "content": early}
        log.add("assistant/message", said, surface_op="append")
        log.replace(0, 0, "In short", sources=[0])
        said = {"turn": 1, "step": 1, "content": [_asking(name)]}
        log.add("assistant/message", said, surface_op="append")
        log.open_step()
        paths.append(log.write(tmp_path, f"{name}.jsonl"))

    plain = run("diff", *paths).stdout
    ignoring = run("diff", *paths, "--ignore-call-ids").stdout

    assert "  differs: turn 1, step 1 (seq 4), only call ids\n" in plain
    assert "only call ids differ here; --ignore-call-ids goes on\n" in plain
    assert "--ignore-call-ids" not in ignoring
    assert "\nonly call ids differ\n" in ignoring


def test_every_row_of_call_ids_alone_is_marked(tmp_path: Path) -> None:
    """Not the first one only."""
    paths: list[str] = []
    for name in ("x", "y"):
        log = Log()
        said = {"turn": 1, "step": 1, "content": [_asking(name)]}
        log.add("assistant/message", said, surface_op="append")
        log.open_step()
        log.close()
        log.open_step(turn=2)
        paths.append(log.write(tmp_path, f"{name}.jsonl"))

    assert run("diff", *paths).stdout.count(", only call ids\n") == 2


def _asking(call_id: str) -> dict[str, Any]:
    return {"type": "tool-call", "id": call_id, "name": "look", "arguments": "{}"}


def test_the_first_event_is_named_once_where_its_seq_is_the_same(tmp_path: Path) -> None:
    """With what it is in either log; where the seqs differ, both are named, and the path."""
    told = " ".join(run("diff", GARDEN, TUESDAY).stdout.split())
    one, other = Log(), Log()
    one.say("Hello")
    other.say("Goodbye")
    both = one.write(tmp_path, "a.jsonl"), other.write(tmp_path, "b.jsonl")

    assert (
        "content: first at event 36, which is request/header-delta in the old log, "
        "request/header (resume) in the new one requests:" in told
    )
    assert "content: first at event 0 user/message of both, at data.content[0].text" in " ".join(
        run("diff", *both).stdout.split()
    )


def test_two_logs_and_a_step_are_told_how_to_say_it() -> None:
    """With the step that was given."""
    result = run("diff", GARDEN, TUESDAY, "3.1")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "two logs and a step: say diff A B --request 3.1" in result.stderr


def test_one_request_of_two_logs_may_be_asked_for() -> None:
    """By turn and step in both."""
    told = document("diff", GARDEN, TUESDAY, "--request", "3.1", "--ignore-call-ids")

    assert told["request"]["first"]["path"] == "$.system"
    assert told["request"]["first_behind"]["cause"] is None
    assert told["old"]["session"]["id"] == "garden"
    assert told["new"]["session"]["id"] == "garden-tuesday"
    assert run("diff", GARDEN, TUESDAY, "--request", "1.1").exit_code == 0


def test_a_log_is_no_different_from_itself() -> None:
    """All equal, exit code 0."""
    result = run("diff", GARDEN, GARDEN)

    assert result.exit_code == 0
    assert "content: the same" in result.stdout
    assert "requests: 6 equal" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [GARDEN],
        [GARDEN, "1.1", "1.2", "3.1"],
        [GARDEN, "1.1", "first"],
        [GARDEN, "1.1", "-1.2"],
        [GARDEN, "1.1", "9.9"],
        [GARDEN, "1.1", "1.2", "--request", "1.1"],
        [GARDEN, "1.1", "1.2", "--ignore-call-ids"],
        [GARDEN, TUESDAY, "--request", "3"],
        ["-", "-"],
    ],
    ids=" ".join,
)
def test_what_names_no_two_things_is_a_usage_error(arguments: list[str]) -> None:
    """Exit code 2, nothing on standard output."""
    result = run("diff", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")


def test_a_log_that_cannot_be_read_ends_with_three(tmp_path: Path) -> None:
    """Whichever of the two it is."""
    damaged = write(tmp_path, b"no log\n")

    assert run("diff", damaged, "1.1", "1.2").exit_code == 3
    assert run("diff", GARDEN, damaged).exit_code == 3


def test_a_request_that_is_not_known_is_a_finding(tmp_path: Path) -> None:
    """With its fault, placed in the file."""
    log = Log()
    log.open_step(header=None)
    path = log.write(tmp_path)

    result = run("diff", path, "1.1", "1.1")
    assert result.exit_code == 1
    assert "NO_REQUEST_HEADER" in result.stderr
    told = document("diff", path, "1.1", "1.1")
    assert (told["request"], told["error"]["code"]) == (None, "NO_REQUEST_HEADER")


def test_long_changes_are_folded_unless_asked_for(tmp_path: Path) -> None:
    """Lines of the system, tools and messages alike."""
    tools = [{"name": f"tool {number}"} for number in range(30)]
    log = of_two_steps({}, {"system": LONG, "tools": tools})
    for number in range(30):
        log.say(f"message {number}")
    log.close(turn=2)
    log.open_step(turn=3, header=None)
    path = log.write(tmp_path)

    folded, whole = run("diff", path, "1.1", "3.1"), run("diff", path, "1.1", "3.1", "--full")
    for last in ("line 59", "tool 29", "message 29"):
        assert last not in folded.stdout
        assert last in whole.stdout
    assert folded.stdout.count("... folded: ") == 3


def test_around_a_changed_character_the_text_is_shown(tmp_path: Path) -> None:
    """Of a long text only what stands near the change."""
    before, after = ("x" * 500 + middle + "y" * 500 for middle in ("tide", "tilde"))
    messages = [{"role": "user", "content": text(words)} for words in (before, after)]
    log = of_two_steps({"messagePrefix": messages[:1]}, {"messagePrefix": messages[1:]})

    told = run("diff", log.write(tmp_path), "1.1", "2.1").stdout
    assert "content[0].text" in told
    assert f"- ...{'x' * 22}tide{'y' * 38}..." in told
    assert f"+ ...{'x' * 22}tilde{'y' * 37}..." in told


def test_options_and_a_turned_schema_are_told(tmp_path: Path) -> None:
    """Both values of an option, the path of the schema, what stands in another order."""
    schema = {"name": "look", "a": {"x": 1, "y": 2}}
    turned = {"name": "look", "a": {"y": 2, "x": 1}}
    log = of_two_steps(
        {"config": {"model": "a", "stop": ["x"]}, "tools": [schema, {"name": "find"}]},
        {"config": {"model": "b", "temperature": 1}, "tools": [{"name": "find"}, turned]},
    )

    told = run("diff", log.write(tmp_path), "1.1", "2.1").stdout.splitlines()
    for line in ("  - a", "  + b", '  - ["x"]', "  + 1", "      a (key order)"):
        assert line in told
    assert "  the tools that both have stand in another order" in told


def test_strangers_reach_neither_terminal_nor_json_raw(tmp_path: Path) -> None:
    """Whatever tools, texts and reasons hold."""
    log = evil_log()
    log.add("step/start", {"turn": 1, "step": 1})
    path = log.write(tmp_path)
    for options in ([], ["--json"], ["--full"]):
        result = run("diff", path, "@2", f"@{len(log.session) - 1}", *options)
        assert result.exit_code == 1
        assert [one for one in result.stdout if not one.isprintable() and one != "\n"] == []


def test_a_changed_schema_of_any_depth_is_told(tmp_path: Path) -> None:
    """Its path is cut, its values are."""
    deep: Any = "end"
    for _ in range(3_000):
        deep = [deep]
    log = of_two_steps(
        {"tools": [{"name": "a", "b": [deep]}]}, {"tools": [{"name": "a", "b": [1]}]}
    )

    path = log.write(tmp_path)
    assert run("diff", path, "1.1", "2.1").exit_code == 1
    told: Any = unwrap(parse(run("diff", path, "1.1", "2.1", "--json").stdout))
    assert told["request"]["first"]["new"] == 1


@pytest.mark.parametrize("case", ["25-tool-schema-key-order", "27-resume-changes-prompt"])
def test_the_shared_cases_of_drift_hold(case: str) -> None:
    """First difference, first changed line, reason; messages kept."""
    folder = shared_or_skip("cases") / case
    path = str(folder / "input.jsonl")
    for check in json.loads((folder / "expect.json").read_bytes())["checks"]:
        if check["op"] != "drift":
            continue
        expect = check["expect"]
        for old, new in expect.get("between", []):
            told = document("diff", path, _step(old), _step(new))["request"]
            kind = "" if told["first"]["kind"] == "value" else f" ({told['first']['kind']})"
            assert told["first"]["path"][2:] + kind == expect["first_difference"]
        for old, new in expect.get("none_between", []):
            told = document("diff", path, _step(old), _step(new))["request"]
            assert (told["parts"], told["system"], told["tools"]) == ([], None, None)
        for change in expect.get("changes", []):
            told = document("diff", path, _step(change["from"]), _step(change["to"]))["request"]
            assert told["first"]["path"] == f"$.{change['part']}"
            assert told["system"]["first_changed_line"] == change["first_changed_line"]
            assert told["system"]["behind"]["cause"]["reason"] == change["reason"]
            kept = told["messages"]["common"] == told["messages"]["old"]
            assert kept == expect["messages_prefix_kept"]


def _step(named: list[int]) -> str:
    return f"{named[0]}.{named[1]}"


def test_the_shared_case_of_another_clock_holds() -> None:
    """The same decisions hold the same; only the call ids in their requests are others."""
    folder = shared_or_skip("cases") / "50-same-run-other-clock"
    first, second, cut_otherwise = (str(folder / f"{name}.jsonl") for name in "abc")

    told = document("diff", first, second)
    assert told["content_equal"] is True
    assert told["equal"] is False
    assert told["first_request"]["only_call_ids"] is True
    assert run("diff", first, second, "--ignore-call-ids").exit_code == 0
    assert run("diff", first, cut_otherwise).exit_code == 0
