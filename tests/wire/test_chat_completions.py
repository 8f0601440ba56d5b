"""The chat-completions body of a request, key order included."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dsh_fp import past_requests, to_text
from dsh_fp.wire.bodies import SYSTEM
from dsh_fp.wire.chat_completions import encode_chat_body
from tests.cli.logs import text
from tests.wire.making import CONFIG, HEADER, TOOL, frozen, talk


def encoded(request: dict[str, Any], **options: str) -> dict[str, Any]:
    """The body of a request as its JSON text reads."""
    made: dict[str, Any] = json.loads(to_text(encode_chat_body(frozen(request), **options).body))
    return made


def on_the_wire(*messages: object) -> list[Any]:
    """What messages are on the wire."""
    made: list[Any] = encoded({"model": "m", "messages": list(messages)})["messages"]
    return made


def assistant(*blocks: object) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


CALL = {"type": "tool-call", "id": "c1", "name": "tide", "arguments": "{ }"}
FEW: tuple[Any, ...] = (5, None, True)
NESTED: tuple[Any, ...] = ([1, [2]], {})
THOUGHT = {"type": "reasoning", "text": "Hm. "}


def test_a_body_has_its_keys_in_the_adapters_order() -> None:
    """Options of the adapter stand between the stream's and the tools."""
    request = {**CONFIG, "system": "S", "tools": [TOOL], "messages": []}

    body = encoded(request, thinking="enabled", reasoning_effort="high")

    assert json.dumps(body) == json.dumps(
        {
            "model": "tern-1",
            "messages": [{"role": "system", "content": "S"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "thinking": {"type": "enabled"},
            "reasoning_effort": "high",
            "tools": [{"type": "function", "function": TOOL}],
            "temperature": 0.5,
            "max_tokens": 90,
            "stop": ["END"],
        }
    )


def test_what_a_request_lacks_its_body_lacks() -> None:
    """No tools, no options, no system: no keys for them."""
    assert list(encoded({"model": "m", "messages": []})) == [
        "model",
        "messages",
        "stream",
        "stream_options",
    ]
    assert "tools" not in encoded({"model": "m", "tools": [], "messages": []})


def test_user_texts_are_joined_by_nothing() -> None:
    """However many blocks there are, it is one text."""
    message = {"role": "user", "content": [*text("a"), *text("\n"), *text("b")]}

    assert on_the_wire(message) == [{"role": "user", "content": "a\nb"}]


def test_results_stand_behind_the_text_as_messages_of_their_own() -> None:
    """A message with results alone sends no text of a user."""
    results: list[Any] = [
        {"type": "tool-result", "toolCallId": "c1", "content": text("5 m"), "isError": True},
        {"type": "tool-result", "toolCallId": "c2", "content": []},
    ]
    wire = [
        {"role": "tool", "tool_call_id": "c1", "content": "5 m"},
        {"role": "tool", "tool_call_id": "c2", "content": "(no output)"},
    ]

    assert on_the_wire({"role": "user", "content": results}) == wire
    assert on_the_wire({"role": "user", "content": [results[0], *text("So?"), results[1]]}) == [
        {"role": "user", "content": "So?"},
        *wire,
    ]


def test_a_user_message_without_text_and_results_is_an_empty_text() -> None:
    """It is not left out: only results take its place."""
    assert on_the_wire({"role": "user", "content": []}) == [{"role": "user", "content": ""}]


def test_an_assistant_without_text_sends_null_unless_it_calls() -> None:
    """With calls the text is empty; reasoning goes along with calls only."""
    call = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{ }"}}

    assert on_the_wire(assistant(THOUGHT)) == [{"role": "assistant", "content": None}]
    assert on_the_wire(assistant(THOUGHT, *text("Hi"))) == [{"role": "assistant", "content": "Hi"}]
    assert json.dumps(on_the_wire(assistant(THOUGHT, CALL, THOUGHT))) == json.dumps(
        [
            {
                "role": "assistant",
                "content": "",
                "reasoning_content": "Hm. Hm. ",
                "tool_calls": [call],
            }
        ]
    )
    assert on_the_wire(assistant(CALL)) == [
        {"role": "assistant", "content": "", "tool_calls": [call]}
    ]


def test_system_messages_of_the_prefix_stay_system_messages() -> None:
    """They stand where they stood, behind the system text."""
    body = encoded({"system": "S", "messages": [{"role": "system", "content": text("more")}]})

    assert body["messages"] == [
        {"role": "system", "content": "S"},
        {"role": "system", "content": "more"},
    ]


def test_tools_carry_three_fields_in_their_order() -> None:
    """Other fields stay behind, absent ones are absent, the schema keeps its order."""
    tool = {"parameters": {"b": 1, "a": 2}, "strict": True, "name": "n"}

    (made,) = encoded({"tools": [tool], "messages": []})["tools"]

    assert json.dumps(made) == json.dumps(
        {"type": "function", "function": {"name": "n", "parameters": {"b": 1, "a": 2}}}
    )


@pytest.mark.parametrize(
    ("message", "wire"),
    [
        (None, []),
        ("text", []),
        ({}, [{"role": "user", "content": ""}]),
        ({"role": "user", "content": "text"}, [{"role": "user", "content": "text"}]),
        ({"role": "user", "content": {"text": "no list"}}, [{"role": "user", "content": ""}]),
        ({"role": "pilot", "content": text("x")}, [{"role": "user", "content": "x"}]),
        (
            {"role": "user", "content": [None, 1, "x", [], {}, {"type": 5}, {"type": "text"}]},
            [{"role": "user", "content": ""}],
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": odd} for odd in FEW]},
            [{"role": "user", "content": "5true"}],
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": odd} for odd in NESTED]},
            [{"role": "user", "content": "1,2[object Object]"}],
        ),
        (
            {"role": "user", "content": [{"type": "tool-result"}]},
            [{"role": "tool", "content": "(no output)"}],
        ),
        (
            assistant({"type": "tool-call", "arguments": {"a": 1}}),
            [
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"type": "function", "function": {"arguments": {"a": 1}}}],
                }
            ],
        ),
        (
            assistant({"type": "tool-result", "toolCallId": "c", "content": []}),
            [{"role": "assistant", "content": None}],
        ),
    ],
)
def test_odd_payloads_are_taken_as_javascript_would_or_passed_over(
    message: object, wire: list[Any]
) -> None:
    """Nothing that a stranger put into a message raises."""
    assert on_the_wire(message) == wire


def test_odd_requests_have_bodies_too() -> None:
    """Parts of any kind pass or stay out."""
    odd: dict[str, Any] = {
        "model": None,
        "tools": {"a": 1},
        "messages": "none",
        "stop": {},
        "temperature": [],
    }

    assert encoded(odd) == {
        "model": None,
        "messages": [],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": [],
        "stop": {},
    }
    assert encoded({"tools": [5], "messages": []})["tools"] == [
        {"type": "function", "function": {}}
    ]


def test_deep_payloads_need_no_recursion() -> None:
    """An array in an array, thousands of times, where a text should be."""
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]

    (wire,) = on_the_wire({"role": "user", "content": [{"type": "text", "text": deep}]})

    assert wire["content"] == "x"


def test_each_part_of_a_body_leads_to_its_part_of_the_request() -> None:
    """A path into the body becomes one into the request."""
    past = past_requests(talk(1).session)[1]
    body = encode_chat_body(past.request.unwrap())

    assert [message["role"] for message in body.body["messages"]] == [
        "system",
        "user",
        "user",
        "assistant",
        "tool",
    ]
    assert body.owners == (SYSTEM, 0, 1, 2, 3)
    assert {
        path: body.request_steps(path)
        for path in (
            "$.model",
            "$.messages[0].content",
            "$.messages[1]",
            "$.messages[3].tool_calls[0].function.arguments",
            "$.messages[4].content",
            "$.messages[5]",
            "$.messages",
            "$.tools[0].function.parameters.properties.day",
            "$.tools",
            "$.temperature",
            "$.max_tokens",
            "$.stop[0]",
            "$.stream",
            "$.thinking",
            "$",
        )
    } == {
        "$.model": ("model",),
        "$.messages[0].content": ("system",),
        "$.messages[1]": ("messages", 0),
        "$.messages[3].tool_calls[0].function.arguments": ("messages", 2),
        "$.messages[4].content": ("messages", 3),
        "$.messages[5]": None,
        "$.messages": ("messages",),
        "$.tools[0].function.parameters.properties.day": ("tools", 0),
        "$.tools": ("tools",),
        "$.temperature": ("temperature",),
        "$.max_tokens": ("maxTokens",),
        "$.stop[0]": ("stop", 0),
        "$.stream": None,
        "$.thinking": None,
        "$": None,
    }
    assert body.request_steps(("messages", 3)) == ("messages", 2)


def test_a_request_is_a_frozen_object() -> None:
    """A plain dict is a mistake of the caller's, said at once."""
    with pytest.raises(TypeError, match="JsonObject"):
        encode_chat_body(dict(HEADER))  # type: ignore[arg-type]
