"""A past request as other providers take it, and what has no place there."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import past_requests, thaw
from dsh_fp.wire.exports import DEFAULT_MAX_TOKENS, export_anthropic, export_openai
from tests.cli.logs import text
from tests.wire.making import TOOL, frozen, talk


def openai(request: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The body for OpenAI, and what it lacks."""
    made = export_openai(frozen(request))
    return thaw(made.body), list(made.left_out)


def anthropic(request: dict[str, Any], **options: int) -> tuple[dict[str, Any], list[str]]:
    """The body for Anthropic, and what it lacks."""
    made = export_anthropic(frozen(request), **options)
    return thaw(made.body), list(made.left_out)


def said(role: str, *content: Any) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


def calls(id: str = "c1", arguments: Any = "{}") -> dict[str, Any]:
    return {"type": "tool-call", "id": id, "name": "tide", "arguments": arguments}


def gives(id: str = "c1", *content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": id, "content": list(content), **more}


WORD = text("a")[0]
THOUGHT = {"type": "reasoning", "text": "hm"}


def test_a_whole_request_for_openai() -> None:
    """Only the reasoning has no place."""
    past = past_requests(talk(1).session)[1]

    made = export_openai(past.request.unwrap())

    assert thaw(made.body) == {
        "model": "tern-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Notes of the pilot."},
            {"role": "user", "content": "Ask 1?"},
            {
                "role": "assistant",
                "content": "A moment.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "tide", "arguments": '{"day": 1}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "At 1."},
        ],
        "tools": [{"type": "function", "function": TOOL}],
        "temperature": 0.5,
        "max_completion_tokens": 90,
        "stop": ["END"],
    }
    (note,) = made.left_out
    assert note.startswith(
        "$.messages[2].content[0]: left out: no place for a block of 'reasoning'"
    )


def test_a_whole_request_for_anthropic() -> None:
    """Messages of one role in a row are one, arguments are objects."""
    past = past_requests(talk(1).session)[1]

    made = export_anthropic(past.request.unwrap())

    schema = {key: TOOL[key] for key in ("name", "description")}
    assert thaw(made.body) == {
        "model": "tern-1",
        "max_tokens": 90,
        "system": "Be brief.",
        "messages": [
            said("user", *text("Notes of the pilot."), *text("Ask 1?")),
            said(
                "assistant",
                *text("A moment."),
                {"type": "tool_use", "id": "c1", "name": "tide", "input": {"day": 1}},
            ),
            said("user", {"type": "tool_result", "tool_use_id": "c1", "content": text("At 1.")}),
        ],
        "tools": [{**schema, "input_schema": TOOL["parameters"]}],
        "temperature": 0.5,
        "stop_sequences": ["END"],
    }
    assert len(made.left_out) == 1


def test_anthropics_limit_is_given_or_the_requests_or_supplied() -> None:
    """What was supplied or changed is named."""
    assert anthropic({"maxTokens": 7, "messages": []})[0]["max_tokens"] == 7
    body, notes = anthropic({"maxTokens": 7, "messages": []}, max_tokens=9)
    assert (body["max_tokens"], notes) == (9, ["$.maxTokens: sent as 9, as asked"])
    for limit in ({}, {"maxTokens": 0}):
        body, notes = anthropic({**limit, "messages": []})
        assert body["max_tokens"] == DEFAULT_MAX_TOKENS
        assert notes[-1].startswith("$.maxTokens: supplied")


def test_openai_has_results_right_behind_the_calls() -> None:
    """The text of the same message comes after them."""
    request: dict[str, Any] = {
        "messages": [said("assistant", calls()), said("user", WORD, gives("c1", WORD))]
    }

    body, notes = openai(request)

    assert [message["role"] for message in body["messages"]] == ["assistant", "tool", "user"]
    assert body["messages"][0]["content"] is None
    assert notes == []


def test_anthropic_has_results_first_in_a_message() -> None:
    """A steering message in between is pushed behind them."""
    request = {
        "messages": [
            said("assistant", calls("a"), calls("b")),
            said("user", gives("a")),
            said("user", WORD),
            said("user", gives("b", WORD, isError=True)),
        ]
    }

    body, notes = anthropic(request)

    assert [part["type"] for part in body["messages"][1]["content"]] == [
        "tool_result",
        "tool_result",
        "text",
    ]
    assert body["messages"][1]["content"][0] == {"type": "tool_result", "tool_use_id": "a"}
    assert body["messages"][1]["content"][1]["is_error"] is True
    assert "$.messages[0]: may be refused: the first message is not the user's" in notes


@pytest.mark.parametrize(
    ("request_", "note"),
    [
        ({"messages": [said("assistant", THOUGHT)]}, "$.messages[0].content: sent as an empty"),
        (
            {"messages": [said("user", gives())]},
            "$.messages[0].content[0]: may be refused: no call",
        ),
        ({"messages": [said("assistant", calls())]}, "$.messages[0].content[0]: may be refused"),
        (
            {"messages": [said("assistant", calls()), said("user", gives("c1", isError=True))]},
            "$.messages[1].content[0].isError: left out",
        ),
        ({"messages": [said("assistant", calls("c 1"))]}, "$.messages[0].content[0].id: may be"),
        (
            {"messages": [said("assistant", calls(arguments={}))]},
            "$.messages[0].content[0].arguments: sent as JSON text",
        ),
        ({"messages": [said("user", {"type": "image"})]}, "$.messages[0].content[0]: left out"),
        (
            {"messages": [said("user", gives("c1", {"type": "image"}))]},
            "$.messages[0].content[0].content[0]: left out",
        ),
        ({"messages": [said("pilot", WORD)]}, "$.messages[0].role: sent as user"),
        ({"messages": [5]}, "$.messages[0]: left out"),
        ({"messages": [{"role": "user"}]}, "$.messages[0].content: left out"),
        ({"messages": [], "stop": ["a"] * 5}, "$.stop[4]: left out"),
        ({"messages": [], "stop": 5}, "$.stop: left out"),
        ({"messages": [], "stop": [5]}, "$.stop[0]: left out"),
        ({"messages": [], "temperature": "warm"}, "$.temperature: left out"),
        ({"messages": [], "maxTokens": 5.5}, "$.maxTokens: left out"),
        ({"messages": [], "model": None}, "$.model: left out"),
        ({"messages": [], "system": 5}, "$.system: left out"),
        ({"messages": [], "top_p": 5}, "$['top_p']: left out"),
        ({"messages": [], "tools": [{"name": 5}]}, "$.tools[0]: left out: it has no name"),
        ({"messages": [], "tools": [{**TOOL, "strict": True}]}, "$.tools[0]['strict']: left out"),
        (
            {"messages": [], "tools": [{**TOOL, "description": 5}]},
            "$.tools[0].description: left out",
        ),
        (
            {"messages": [], "tools": [{"name": "n", "parameters": 5}]},
            "$.tools[0].parameters: left out",
        ),
    ],
)
def test_what_openai_does_not_take_is_named(request_: dict[str, Any], note: str) -> None:
    """With the path of the request that it is about."""
    _, notes = openai(request_)

    assert [told for told in notes if told.startswith(note)] != []


@pytest.mark.parametrize(
    ("request_", "note"),
    [
        ({"messages": [said("system", WORD)]}, "$.messages[0]: sent as part of the system text"),
        ({"messages": [said("user", *text(" "))]}, "$.messages[0].content[0]: left out: a text of"),
        ({"messages": [said("assistant", THOUGHT)]}, "$.messages[0]: left out: it has nothing"),
        (
            {"messages": [said("assistant", calls(arguments="[1]"))]},
            "$.messages[0].content[0].arguments: sent as {}",
        ),
        (
            {"messages": [said("assistant", calls(arguments='{"a":-0}'))]},
            "$.messages[0].content[0].arguments: sent as {}",
        ),
        ({"messages": [], "temperature": 1.5}, "$.temperature: left out"),
        (
            {"messages": [], "tools": [{"name": "n", "parameters": {"type": "string"}}]},
            "$.tools[0].parameters: supplied",
        ),
        ({"messages": [], "tools": [{"name": "n"}]}, "$.tools[0].parameters: supplied"),
    ],
)
def test_what_anthropic_does_not_take_is_named(request_: dict[str, Any], note: str) -> None:
    """With the path of the request that it is about."""
    _, notes = anthropic(request_)

    assert [told for told in notes if told.startswith(note)] != []


def test_system_messages_join_anthropics_system_text() -> None:
    """In their order, a blank line between."""
    body, _ = anthropic({"system": "S", "messages": [said("user", WORD), said("system", WORD)]})

    assert (body["system"], body["messages"]) == ("S\n\na", [said("user", WORD)])


def test_wrong_python_types_are_said_at_once() -> None:
    """A plain dict, a limit that is no number."""
    with pytest.raises(TypeError, match="JsonObject"):
        export_openai({})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="number of tokens"):
        export_anthropic(frozen({"messages": []}), max_tokens=True)
