"""From v2 to v3: the system's text at the head of the surface."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from dsh_fp import Code
from tests.core.migrating import Wire, after, carried, refused
from tests.formats.making import Writer, conversation


def begun() -> Writer:
    log = Writer(2)
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    return log


def headed(log: Writer, **header: Any) -> int:
    data = {"header": {"config": {"provider": "p", "model": "m"}, **header}, "reason": "initial"}
    return log.add("request/header", data)


def systems(events: list[Wire]) -> list[Wire]:
    return [event for event in events if event["type"] == "system/message"]


def test_the_first_step_puts_an_empty_head_and_the_header_its_text() -> None:
    made = after(2, conversation(2))

    empty, full = systems(made)
    assert empty["data"]["message"]["content"] == []
    assert empty["surfaceOp"] == "append"
    assert full["data"]["message"]["content"] == [{"type": "text", "text": "Be brief."}]
    assert full["surfaceOp"] == {"op": "replace", "startSeq": 3, "endSeq": 3}
    assert full["sourceEventSeqs"] == [3]
    assert list(full)[-2:] == ["surfaceOp", "sourceEventSeqs"]  # as the runtimes write it
    assert made[full["seq"] + 1]["type"] == "request/header"
    assert "system" not in made[full["seq"] + 1]["data"]["header"]


def test_a_system_message_is_named_for_what_caused_it() -> None:
    log = begun()

    (empty,) = systems(after(2, log.events))

    named = json.dumps(["session-format-v2-to-v3", "s-1", 1, "step/start"], separators=(",", ":"))
    digest = sha256(named.encode()).hexdigest()
    assert empty["data"]["message"]["id"] == f"v2-to-v3-system-{digest}"
    assert empty["time"] == log.events[1]["time"]


def test_only_a_change_of_the_text_replaces_the_head() -> None:
    log = begun()
    for system in ("a", "a", "b", ""):
        headed(log, system=system)

    made = systems(after(2, log.events))

    texts = [[block["text"] for block in one["data"]["message"]["content"]] for one in made]
    assert texts == [[], ["a"], ["b"], []]
    assert made[2]["surfaceOp"] == {"op": "replace", "startSeq": 3, "endSeq": 3}


def test_empty_members_of_a_header_are_left_out() -> None:
    log = begun()
    headed(log, tools=[], adapterDefaults={})

    made = after(2, log.events)

    assert set(made[-1]["data"]["header"]) == {"config"}


def test_a_message_before_the_first_step_is_refused() -> None:
    log = Writer(2)
    log.add("turn/start", {"turn": 1})
    log.say("x")

    fault = refused(2, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, 1)
    assert "before the first step" in fault.message


def test_a_change_of_the_text_outside_a_step_is_refused() -> None:
    log = begun()
    log.add("step/end", {"turn": 1, "step": 1})
    at = headed(log, system="late")

    fault = refused(2, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, at)


def test_a_system_that_is_no_text_is_refused() -> None:
    log = begun()
    at = headed(log, system=5)

    fault = refused(2, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, at)
    assert "no text" in fault.message


def test_what_v3_calls_otherwise_is_renamed() -> None:
    log = begun()
    said = log.say("x")
    log.events[-1]["data"]["source"] = {"kind": "plugin", "plugin": "tools-code-mode"}
    log.say("y")
    place = {"op": "replace", "start": said, "end": said}
    log.events[-1] |= {"sourceEventSeqs": [said], "surfaceOp": place}
    log.add("tool/code-dispatch", {})
    log.add("agent-preset/selected", {"preset": "code"})

    made = after(2, log.events)

    assert made[3]["data"]["source"]["plugin"] == "tools-ptc"
    assert made[4]["surfaceOp"] == {"op": "replace", "startSeq": 3, "endSeq": 3}
    assert made[5]["type"] == "tool/ptc-dispatch"
    assert made[6]["data"] == {"preset": "ptc"}
    header = carried(2, log.events, agentPreset="code").session.header
    assert header.extra["agentPreset"] == "ptc"
