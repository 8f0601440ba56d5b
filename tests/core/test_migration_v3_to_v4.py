"""From v3 to v4: results of their own role, sources by who made them, strangers by their name."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Code
from tests.core.migrating import after, refused
from tests.formats.making import TIME, Writer, asks, conversation


def begun() -> Writer:
    log = Writer(3)
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    log.system(1, 1, "Be brief.")
    return log


def test_a_result_leaves_its_wrapper() -> None:
    log = conversation(3)
    block: dict[str, Any] = log[8]["data"]["message"]["content"][0]
    block |= {"isError": False, "odd": 1}
    log[8]["data"]["message"]["rare"] = 2

    made = after(3, log)

    assert made[8]["data"]["message"] == {
        "role": "tool",
        "source": {"kind": "tool", "callId": "c-1"},
        "toolCallId": "c-1",
        "content": [{"type": "text", "text": "done"}],
        "isError": False,
        "id": "r-c-1",
        "plugin:message:rare": 2,
        "plugin:result:odd": 1,
    }


@pytest.mark.parametrize(
    ("plugin", "kind"),
    [
        ("compact", "compact-checkpoint"),
        ("tools-code-mode", "ptc-mode"),
        ("tools-ptc", "ptc-mode"),
        ("dsh-compaction-basic", "compact-basic"),
        ("@deepseek-ai/dsh-system-prompt", "runtime-context"),
        ("skill-catalog", "skill-catalog"),
        ("sea", "plugin:sea"),
    ],
)
def test_a_source_gets_the_kind_of_who_made_it(plugin: str, kind: str) -> None:
    log = begun()
    log.say("x")
    log.events[-1]["data"]["source"] = {"kind": "plugin", "plugin": plugin, "form": "note"}
    message = log.events[-1]["data"]
    log.add("agent/inbox/spliced", {"target": "next-step", "start": 0, "inserted": [message]})

    made = after(3, log.events)

    assert made[3]["data"]["source"] == {"kind": kind, "form": "note"}
    assert made[4]["data"]["inserted"][0]["source"] == {"kind": kind, "form": "note"}


def test_the_prompt_of_the_system_is_a_kind_of_its_own() -> None:
    log = begun()
    source = {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"}
    log.events[-1]["data"]["message"]["source"] = source

    made = after(3, log.events)

    assert made[2]["data"]["message"]["source"] == {"kind": "system-prompt"}


def test_a_strangers_block_is_named_as_one_wherever_it_stands() -> None:
    log = begun()
    odd = {"type": "chart", "of": 1}
    log.say("x")
    log.events[-1]["data"]["content"] = [odd]
    log.answer(1, 1, [odd])
    ended = {"type": "block-end", "index": 0, "block": odd}
    begins = {"type": "block-start", "index": 0, "blockType": "chart"}
    log.events[-1]["data"]["stream"] = [
        {"type": "chunk", "time": TIME, "chunk": begins},
        {"type": "chunk", "time": TIME, "chunk": ended},
    ]
    log.add("compaction/summary", {"summary": [odd], "rawOutput": [odd]})

    made = after(3, log.events)

    named = {"type": "plugin:chart", "of": 1}
    assert made[3]["data"]["content"] == [named]
    assert made[4]["data"]["message"]["content"] == [named]
    first, second = (record["chunk"] for record in made[4]["data"]["stream"])
    assert first["blockType"] == "plugin:chart"
    assert second["block"] == named
    assert made[5]["data"] == {"summary": [named], "rawOutput": [named]}


def test_an_unknown_event_that_may_be_ignored_is_kept_as_a_plugins() -> None:
    log = begun()
    log.add("tide/rise", {"m": 2}, ignorable=True)

    made = after(3, log.events)

    assert made[-1]["type"] == "plugin:tide/rise"
    assert made[-1]["ignorable"] is True


def test_a_turn_that_a_restart_left_open_is_ended_before_the_next_message() -> None:
    log = Writer(3)
    log.add("turn/start", {"turn": 1})
    log.add("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": []})
    log.add("turn/start", {"turn": 2})

    made = after(3, log.events)

    assert [event["type"] for event in made[1:3]] == ["turn/end", "agent/inbox/spliced"]
    assert made[1]["data"] == {"turn": 1, "reason": {"kind": "interrupted"}}


def test_a_deferred_tool_is_refused() -> None:
    log = begun()
    tools = [{"name": "t", "deferLoading": True}]
    log.add("request/header", {"header": {"config": {}, "tools": tools}, "reason": "initial"})

    fault = refused(3, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, 3)


@pytest.mark.parametrize("how", ["two blocks", "two calls"])
def test_a_result_that_is_not_one_block_of_its_call_is_refused(how: str) -> None:
    log = begun()
    log.answer(1, 1, [asks("c-1")])
    call = log.call(1, 1, "c-1")
    at = log.result(1, 1, "c-1", call)
    message = log.events[at]["data"]["message"]
    if how == "two blocks":
        message["content"] *= 2
    else:
        message["content"][0]["toolCallId"] = "c-2"

    fault = refused(3, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, at)


def test_a_result_in_a_message_of_the_user_is_refused() -> None:
    log = begun()
    at = log.say("x")
    block = {"type": "tool-result", "toolCallId": "c", "content": []}
    log.events[at]["data"]["content"] = [{"type": "text", "text": "x"}, block]

    fault = refused(3, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, at)


def test_what_v4_would_not_read_is_refused_by_its_rule() -> None:
    log = begun()
    log.answer(1, 1, [asks("c-1")])
    log.call(1, 1, "c-2")

    fault = refused(3, log.events)

    assert fault.seq == 4
    assert "v4 would not accept it (CALL_NOT_ASKED)" in fault.message
