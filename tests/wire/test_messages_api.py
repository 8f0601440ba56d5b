"""Bodies of the Messages API, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import thaw, to_text
from dsh_fp.wire.messages_api import MessagesBodies, Series, Setting
from tests.wire.making import frozen
from tests.wire.released import SWELL, TIDE, call, reasoning, text

ENDED = {"type": "text", "text": "End."}


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A neutral message."""
    return {"role": role, "content": content, **more}


def result(id: str, content: Any, **more: Any) -> dict[str, Any]:
    """A tool's result."""
    return message("tool", content, source={"kind": "tool", "callId": id}, toolCallId=id, **more)


def request(*messages: Any, **more: Any) -> Any:
    """A request with these messages."""
    return frozen({"model": "tern-1", "maxTokens": 90, **more, "messages": list(messages)})


def body(asked: Any, setting: Setting | None = None, **options: Any) -> dict[str, Any]:
    """The body of a request as plain values."""
    made = MessagesBodies().encode(asked, setting or Setting(), options)
    plain: dict[str, Any] = thaw(made.body)
    return plain


def sent(*messages: Any, **more: Any) -> list[Any]:
    """The messages of a body: of each its role and blocks."""
    made = body(request(*messages, **more))["messages"]
    return [(each["role"], each["content"]) for each in made]


def test_keys_stand_in_the_vendors_order() -> None:
    """What is optional comes last."""
    asked = request(
        message("system", text("Be brief.")),
        message("user", text("Hm?")),
        tools=[TIDE],
        temperature=0.5,
        stop=["END"],
    )

    made = body(asked)

    assert list(made) == [
        "model",
        "stream",
        "messages",
        "max_tokens",
        "thinking",
        "output_config",
        "system",
        "tools",
        "temperature",
        "stop_sequences",
    ]
    assert list(made["tools"][0]) == ["name", "description", "input_schema"]
    assert (made["stream"], made["max_tokens"], made["system"]) == (True, 90, "Be brief.")


@pytest.mark.parametrize(
    ("effort", "thinking", "config"),
    [
        ({}, "enabled", {"effort": "high"}),
        ({"reasoningEffort": "low"}, "enabled", {"effort": "low"}),
        ({"reasoningEffort": "off"}, "disabled", None),
    ],
)
def test_effort_becomes_thinking_and_output_config(effort: Any, thinking: str, config: Any) -> None:
    """Without any it is high; off turns thinking off."""
    made = body(request(**effort))

    assert made["thinking"] == {"type": thinking}
    assert made.get("output_config") == config


def test_what_is_empty_is_left_out() -> None:
    """An empty system, no tools, texts without a character, messages without blocks."""
    asked = request(
        message("system", text("")),
        message("user", [*text(""), *text("Hm?")]),
        message("assistant", text("")),
        message("user", text("Yes?")),
        tools=[],
    )

    made = body(asked)

    assert "system" not in made
    assert "tools" not in made
    assert made["messages"] == [{"role": "user", "content": [*text("Hm?"), *text("Yes?")]}]


def test_the_last_system_text_wins_when_the_route_keeps_none_in_history() -> None:
    """It goes to the top; none stays among the messages."""
    asked = request(
        message("system", text("One.")),
        message("user", text("Hm?")),
        message("system", text("Two.")),
    )

    made = body(asked)

    assert (made["system"], len(made["messages"])) == ("Two.", 1)


def test_a_later_system_text_stays_in_history_on_a_route_that_takes_it() -> None:
    """It waits until the next answer, or the end; the first one is at the top."""
    asked = request(
        message("system", text("One.")),
        message("user", text("Hm?")),
        message("system", text("Two.")),
        message("user", text("And?")),
        message("assistant", text("So.")),
        message("system", text("Three.")),
    )

    made = body(asked, Setting(in_history=True))

    assert made["system"] == "One."
    assert [(each["role"], each["content"]) for each in made["messages"]] == [
        ("user", [*text("Hm?"), *text("And?")]),
        ("system", text("Two.")),
        ("assistant", text("So.")),
        ("system", text("Three.")),
    ]


def test_messages_of_one_role_are_merged_results_first() -> None:
    """In a merged message of a user results come before the rest, each in its order."""
    made = sent(
        message("user", text("Before.")),
        result("a", text("1")),
        message("user", text("Between.")),
        result("b", text("2")),
        message("assistant", text("So.")),
        message("assistant", [ENDED]),
    )

    assert [role for role, _ in made] == ["user", "assistant"]
    assert [block.get("tool_use_id", block.get("text")) for block in made[0][1]] == [
        "a",
        "b",
        "Before.",
        "Between.",
    ]
    assert made[1][1] == [*text("So."), ENDED]


@pytest.mark.parametrize("given", [{}, {"isError": False}, {"isError": True}])
def test_is_error_stands_where_the_result_says_so(given: Any) -> None:
    """Also when it says that there was none."""
    ((_, (block,)),) = sent(result("a", [*text(""), *text("1")], **given))

    told = {"is_error": given["isError"]} if given else {}
    assert block == {"type": "tool_result", "tool_use_id": "a", "content": text("1"), **told}


def test_a_user_says_no_reasoning_and_calls_nothing() -> None:
    """Such blocks of a user's message are dropped."""
    assert sent(message("user", [reasoning("Hm."), call("a"), *text("Hm?")])) == [
        ("user", text("Hm?"))
    ]


DEEP = '{"a": -0, "b": ' + "[" * 5000 + "]" * 5000 + "}"


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"b": 1, "a": 2}', '{"b": 1, "a": 2}'),
        ('{"2": 1, "1": 2}', '{"1": 2, "2": 1}'),
        ('{"a": -0, "b": 1e999, "c": 1.0}', '{"a": 0, "b": null, "c": 1}'),
        ("[1]", "{}"),
        ("{", "{}"),
        ("", "{}"),
        (DEEP, DEEP.replace("-0", "0")),
        ('{"a": -0, "b": ' + "[" * 20000 + "]" * 20000 + "}", "{}"),
    ],
)
def test_arguments_are_parsed_as_javascript_does(arguments: str, given: str) -> None:
    """What is no JSON object is an empty one."""
    ((_, (block,)),) = sent(message("assistant", [call("a", arguments)]))

    assert (block["id"], block["name"]) == ("a", "tide")
    assert to_text(block["input"]) == given.replace(" ", "")


def replayed(model: str = "tern-1", *kinds: str, **response: Any) -> dict[str, Any]:
    """The source of an answer that can be told again."""
    told = {"kind": "deepseek-messages", "version": 1, "model": model, **response}
    blocks = [{"type": kind, "signature": f"s{at}"} for at, kind in enumerate(kinds)]
    return {"kind": "model", "model": "tern-1", "replayState": {"response": told, "blocks": blocks}}


@pytest.mark.parametrize(
    ("source", "signed"),
    [
        (replayed("tern-1", "reasoning", "text"), True),
        ({"kind": "model", "model": "tern-1"}, False),
        (replayed("tern-2", "reasoning", "text"), False),
        ({**replayed("tern-1", "reasoning", "text"), "model": "tern-2"}, False),
        (replayed("tern-1", "reasoning"), False),
        (replayed("tern-1", "text", "reasoning"), False),
        (replayed("tern-1", "reasoning", "text", kind="other"), False),
        (replayed("tern-1", "reasoning", "text", version=2), False),
    ],
)
def test_a_signature_goes_along_only_to_the_model_that_gave_it(source: Any, signed: bool) -> None:
    """What is kept of it must fit the content, block by block."""
    answer = message("assistant", [reasoning("Hm."), *text("So.")], source=source)

    ((_, (thought, _)),) = sent(answer)

    told = {"signature": "s0"} if signed else {}
    assert thought == {"type": "thinking", "thinking": "Hm.", **told}
    ((_, (thought, _)),) = sent(answer, model="tern-2")
    assert "signature" not in thought


def test_a_deferred_tool_is_told_as_such() -> None:
    """Where its definition says so."""
    assert (
        body(request(tools=[{**TIDE, "deferLoading": True}]))["tools"][0]["defer_loading"] is True
    )


# ---- changes of tools --------------------------------------------------------------------------


def changed(*changes: tuple[str, str]) -> list[dict[str, Any]]:
    """A developer message for each change, an answer behind it."""
    messages = [message("user", text("Hm?"))]
    for kind, name in changes:
        messages.append(message("developer", [{"type": f"tool-{kind}", "toolName": name}]))
        messages.append(message("assistant", [ENDED]))
    return messages


def told(
    first: list[Any], now: list[Any], updates: Any, *changes: tuple[str, str]
) -> tuple[list[Any], list[Any]]:
    """The tools of a body with whether they are deferred, and the changes it tells."""
    asked = request(*changed(*changes), tools=now)
    definitions = {tool["name"]: frozen(tool) for tool in (TIDE, SWELL, *now)}
    places = {
        at: definitions for at, each in enumerate(asked["messages"]) if each["role"] == "developer"
    }
    setting = Setting(updates=updates, series=Series(frozen({"t": first})["t"], places))
    made = body(asked, setting)
    tools = [(each["name"], each.get("defer_loading", False)) for each in made.get("tools", ())]
    blocks = [
        (block["type"], block["tool"]["name"])
        for each in made["messages"]
        if each["role"] == "system"
        for block in each["content"]
    ]
    return tools, blocks


def test_a_route_that_is_told_nothing_has_the_tools_in_force() -> None:
    """Plain, without any change among the messages."""
    assert told([TIDE], [SWELL, TIDE], "none", ("addition", "swell")) == (
        [("swell", False), ("tide", False)],
        [],
    )


def test_an_added_tool_stands_behind_the_first_ones_deferred() -> None:
    """The change is told where it was made."""
    expected = [("tide", False), ("swell", True)], [("tool_addition", "swell")]

    assert told([TIDE], [SWELL, TIDE], "additions", ("addition", "swell")) == expected
    assert told([TIDE], [SWELL, TIDE], "both", ("addition", "swell")) == expected


def test_a_route_of_additions_drops_what_is_gone() -> None:
    """A tool that went again is in neither place; one of the first is only gone."""
    changes = (("addition", "swell"), ("removal", "swell"))

    assert told([TIDE], [TIDE], "additions", *changes) == ([("tide", False)], [])
    assert told([TIDE, SWELL], [TIDE], "additions", ("removal", "swell")) == (
        [("tide", False)],
        [],
    )


def test_a_tool_that_came_back_is_added_once() -> None:
    """Where it came first."""
    changes = (("addition", "swell"), ("removal", "swell"), ("addition", "swell"))

    assert told([TIDE], [TIDE, SWELL], "additions", *changes) == (
        [("tide", False), ("swell", True)],
        [("tool_addition", "swell")],
    )


def test_a_route_of_both_keeps_every_tool_and_tells_every_change() -> None:
    """What is gone is told to be."""
    changes = (("addition", "swell"), ("removal", "swell"), ("removal", "tide"))

    assert told([TIDE], [], "both", *changes) == (
        [("tide", False), ("swell", True)],
        [("tool_addition", "swell"), ("tool_removal", "swell"), ("tool_removal", "tide")],
    )


def test_tools_that_the_changes_do_not_explain_are_sent_plain() -> None:
    """No developer message goes along then."""
    assert told([TIDE], [{**TIDE, "description": "Other."}], "both", ("addition", "swell")) == (
        [("tide", False)],
        [],
    )


def test_a_developers_text_waits_for_the_next_answer() -> None:
    """Behind what a user says meanwhile."""
    made = sent(
        message("user", text("Hm?")),
        message("developer", text("Mind the wind.")),
        message("user", text("And?")),
        message("assistant", [ENDED]),
    )

    assert made == [
        ("user", [*text("Hm?"), *text("And?")]),
        ("system", text("Mind the wind.")),
        ("assistant", [ENDED]),
    ]


# ---- where it comes from -----------------------------------------------------------------------


def test_each_part_of_a_body_leads_to_its_part_of_the_request() -> None:
    """Of a merged message each block to its own message."""
    asked = request(
        message("system", text("Be brief.")),
        message("user", text("Before.")),
        result("a", text("1")),
        tools=[TIDE],
    )
    made = MessagesBodies().encode(asked)

    assert made.request_steps(("messages", 0, "content", 0, "content")) == ("messages", 2)
    assert made.request_steps(("messages", 0, "content", 1)) == ("messages", 1)
    assert made.request_steps(("messages", 0, "content", 2)) is None
    assert made.request_steps(("messages", 1)) is None
    assert made.request_steps(("system",)) == ("messages", 0)
    assert made.request_steps(("tools", 0, "input_schema")) == ("tools", 0)
    assert made.request_steps(("tools", 3)) == ("tools", 3)
    assert made.request_steps(("max_tokens",)) == ("maxTokens",)
    assert made.request_steps(("stream",)) is None
