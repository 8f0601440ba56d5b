"""`dsh-fp show`: a log as a transcript."""

from __future__ import annotations

import json
from pathlib import Path

from dsh_fp import STANDARD, Role
from tests.cli.logs import GARDEN, Log, document, run, sound, text


def shown(log: Log, folder: Path, *options: str) -> str:
    """The transcript of a log."""
    result = run("show", log.write(folder), *options)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def lines_with(transcript: str, words: str) -> list[str]:
    """The lines of a transcript that hold these words."""
    return [line.strip() for line in transcript.splitlines() if words in line]


def test_turns_steps_and_messages_are_headed_by_their_seq(tmp_path: Path) -> None:
    """Turns and steps are headings, messages have their type and their text."""
    transcript = shown(sound(), tmp_path)

    assert "   0  TURN 1: message from user\n" in transcript
    assert "   1    STEP 1 of turn 1\n" in transcript
    assert "   3      user/message from user\n            Is the tide in?\n" in transcript
    assert "   6  end of turn 1: completed\n" in transcript


def test_a_replaced_node_names_its_replacement_and_the_other_way_round(tmp_path: Path) -> None:
    """A place may be named by a larger seq than its end; what counts is the surface."""
    log = Log()
    first, second, third = log.say("one"), log.say("two"), log.say("three")
    short = log.replace(first, second, "one and two", sources=[first, second])
    log.replace(short, third, "all three", sources=[short, third])

    transcript = shown(log, tmp_path)

    assert transcript.count("replaced by seq 3") == 2
    assert transcript.count("replaced by seq 4") == 2
    assert "replaces seq 0, 1\n" in transcript
    assert "replaces seq 3, 2\n" in transcript
    assert lines_with(transcript, "nodes") == ["nodes    1 in force: seq 4"]


def test_a_run_of_chunks_is_one_line(tmp_path: Path) -> None:
    """The line says how many there are and where they end; --full shows each."""
    log = Log()
    log.open_step()
    for _ in range(31):
        delta = {"type": "text-delta", "index": 0, "text": "x"}
        log.add("assistant/chunk", {"turn": 1, "step": 1, "chunk": delta})

    folded, whole = shown(log, tmp_path), shown(log, tmp_path, "--full")

    assert lines_with(folded, "chunk") == ["3      31 chunks (to seq 33)"]
    assert len(lines_with(whole, "assistant/chunk")) == 31


def test_a_long_run_of_an_unknown_type_is_one_line(tmp_path: Path) -> None:
    """A short one is shown event by event."""
    log = Log()
    for _ in range(3):
        log.add("buoy/ping", {"depth": 4})
    log.add("turn/start", {"turn": 1, "trigger": {"kind": "continuation"}})
    for _ in range(200):
        log.add("buoy/ping", {"depth": 5})

    transcript = shown(log, tmp_path)

    assert lines_with(transcript, '{"depth":4}') == [
        f'{seq}      buoy/ping {{"depth":4}}' for seq in range(3)
    ]
    assert lines_with(transcript, "200 buoy/ping events") == [
        "4      200 buoy/ping events (to seq 203)"
    ]


def test_calls_results_and_reasoning_are_marked(tmp_path: Path) -> None:
    """A call has its name and arguments, a failed result its mark and its error."""
    log = Log()
    log.open_step()
    blocks = [
        {"type": "reasoning", "text": "Ask the gauge."},
        {"type": "tool-call", "id": "c1", "name": "gauge", "arguments": '{"pier":3}'},
    ]
    log.add("assistant/message", {"turn": 1, "step": 1, "content": blocks}, surface_op="append")
    result = {
        "turn": 1,
        "step": 1,
        "callId": "c1",
        "content": text("no gauge there"),
        "isError": True,
        "error": {"name": "GaugeError", "code": "NO_GAUGE"},
    }
    log.add("tool/result", result, surface_op="append")

    transcript = shown(log, tmp_path)

    assert "reasoning\n            | Ask the gauge.\n" in transcript
    assert '-> call gauge (c1)\n               {"pier":3}\n' in transcript
    assert "tool/result of c1 ERROR GaugeError NO_GAUGE\n" in transcript


def test_injections_and_steering_say_where_they_come_from(tmp_path: Path) -> None:
    """A plugin is named."""
    log = Log()
    plugin = {"kind": "plugin", "plugin": "tide-table"}
    context = {"content": text("Low water."), "source": plugin}
    log.add("context/message", context, surface_op="append")
    steering = {"turn": 1, "content": text("Hurry."), "source": {"kind": "user"}}
    log.add("steering/message", steering, surface_op="append")

    transcript = shown(log, tmp_path)

    assert "context/message from plugin tide-table\n" in transcript
    assert "steering/message from user\n" in transcript


def test_a_long_text_is_folded_unless_full_is_asked_for(tmp_path: Path) -> None:
    """The fold says how long the text is."""
    log = Log()
    log.say("\n".join(f"line {number}" for number in range(500)))

    folded, whole = shown(log, tmp_path), shown(log, tmp_path, "--full")

    assert "line 11\n" in folded
    assert "line 12\n" not in folded
    assert "... folded: 4,389 characters in all; --full shows them" in folded
    assert "line 499\n" in whole


def test_a_text_of_a_few_lines_too_many_is_folded(tmp_path: Path) -> None:
    """Up to 16 lines stay whole; of more, 12 are shown."""
    whole, long = Log(), Log()
    whole.say("\n".join("." * 16))
    long.say("\n".join("." * 17))

    assert "folded" not in shown(whole, tmp_path)
    assert shown(whole, tmp_path).count(" .\n") == 16
    assert "... folded: 33 characters in all; --full shows them" in shown(long, tmp_path)
    assert shown(long, tmp_path).count(" .\n") == 12


def test_no_line_is_wider_than_the_page(tmp_path: Path) -> None:
    """Wide characters take two columns, and words longer than the page are cut."""
    log = Log()
    log.say("潮が満ちる。" * 40 + " " + "w" * 300 + " " + "⛵🌊 " * 50)

    transcript = shown(log, tmp_path)

    wide = sum("潮が満ちる。".count(character) for character in "潮が満ちる。")
    assert wide == 6
    for line in transcript.splitlines():
        assert sum(2 if character in "潮が満ちる。⛵🌊" else 1 for character in line) <= 80


def test_the_state_comes_last(tmp_path: Path) -> None:
    """Nodes, header, usage and todos as the whole log leaves them."""
    log = sound()
    usage = {"inputTokens": 1200, "outputTokens": 30}
    data = {"turn": 2, "step": 1, "content": text("Done."), "usage": usage}
    log.open_step(turn=2, header=None)
    log.add("assistant/message", data, surface_op="append")
    todos = [{"content": "Mend the net", "status": "completed"}]
    log.add("todo/write", {"todos": todos})

    state = shown(log, tmp_path).partition("\nstate\n")[2]

    assert state.splitlines() == [
        "  nodes    3 in force: seq 3, 4, 9",
        "  header   model tern-1, 2 system lines; since seq 2",
        "  usage    1 call with usage: 1,200 input, 30 output tokens",
        "  todos    1",
        "           [x] Mend the net",
    ]


def test_payloads_of_any_shape_are_shown(tmp_path: Path) -> None:
    """Acceptance never looks into payloads, so every known type may hold anything."""
    log = Log()
    types = sorted(STANDARD.rules)
    values: list[object] = [None, 5, "x", [], {}]
    values.append({"turn": {}, "content": 1, "source": [], "reason": [1]})
    for value in values:
        for kind in types:
            on_surface = STANDARD.role(kind) is Role.SURFACE
            log.add(kind, value, surface_op="append" if on_surface else None)
    path = log.write(tmp_path)

    for options in ((), ("--full",), ("--json",)):
        assert run("show", path, *options).exit_code == 0
    for command in ("messages", "requests", "header", "verify"):
        assert run(command, path).exit_code in (0, 1)


def test_the_document_holds_every_event_and_the_state() -> None:
    """Replaced nodes and replacements refer to each other; the events are those of the file."""
    answered = document("show", GARDEN)

    with open(GARDEN, encoding="utf-8") as lines:
        written = [json.loads(line) for line in lines][1:]
    assert [entry["event"] for entry in answered["events"]] == written
    assert answered["events"][77]["replaces"] == [1, 15, 17, 27]
    assert answered["events"][15]["replaced_by"] == 77
    assert answered["state"]["nodes"][0] == 77
    assert answered["state"]["faults"] == []


def test_an_empty_log_has_a_transcript(tmp_path: Path) -> None:
    """Only its head and its state."""
    transcript = shown(Log(), tmp_path)

    assert "nodes    0 in force\n" in transcript
    assert document("show", Log().write(tmp_path))["events"] == []
