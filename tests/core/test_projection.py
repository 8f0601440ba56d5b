"""Event to message or nothing: the only path from a log to what the model sees."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Code, decode_event, derive_messages, project
from tests.core.making import (
    assistant,
    call,
    event,
    header,
    note,
    replacing,
    replayed,
    result,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)


def projected(wire: dict[str, Any]) -> Any:
    return project(decode_event(wire).unwrap()).unwrap()


def test_a_user_message_is_itself() -> None:
    """A user message shows its content under the role user."""
    assert projected(user(0, "Hello")) == {"role": "user", "content": [text("Hello")]}


def test_an_assistant_message_is_itself() -> None:
    """An assistant message shows its content under the role assistant."""
    assert projected(assistant(0, text("Hi"))) == {"role": "assistant", "content": [text("Hi")]}


def test_an_empty_assistant_message_is_nothing() -> None:
    """Only an empty content list makes nothing; a block with empty text stays."""
    empty = event("assistant/message", 0, {"content": []}, surfaceOp="append")

    assert projected(empty) is None
    assert projected(assistant(0, text(""))) == {"role": "assistant", "content": [text("")]}
    assert projected(assistant(0, {})) == {"role": "assistant", "content": [{}]}


def test_an_empty_user_message_stays() -> None:
    """Only assistant messages are dropped when empty."""
    wire = event("user/message", 0, {"content": []}, surfaceOp="append")

    assert projected(wire) == {"role": "user", "content": []}


def test_a_tool_result_becomes_a_block() -> None:
    """A tool result speaks as the user, in one tool-result block."""
    assert projected(result(0, "c-1")) == {
        "role": "user",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c-1",
                "content": [text("seen")],
                "isError": False,
            }
        ],
    }


def test_an_absent_is_error_stays_absent() -> None:
    """Nothing is invented: without the field the block has none; other fields are not shown."""
    data: dict[str, Any] = {"callId": None, "content": [], "meta": 1, "error": {"name": "E"}}
    wire = event("tool/result", 0, data, surfaceOp="append")

    assert projected(wire) == {
        "role": "user",
        "content": [{"type": "tool-result", "toolCallId": None, "content": []}],
    }


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ({"kind": "user"}, '"user"'),
        ({"kind": "plugin", "plugin": "frost"}, '"plugin"'),
        ({"kind": 'a"<b>'}, r'"a\"<b>"'),
        ({"kind": "ä\n"}, r'"ä\n"'),
        ({"kind": None}, "null"),
        ({"kind": 1}, "1"),
        ({"kind": ["a", {"b": 1}]}, '["a",{"b":1}]'),
        ({}, "undefined"),
        ({"plugin": "frost"}, "undefined"),
    ],
    ids=str,
)
@pytest.mark.parametrize("tag", ["context", "steering"])
def test_tagged_messages_stand_between_tags(tag: str, source: Any, kind: str) -> None:
    """The opening tag holds the JSON text of the source's kind, unescaped and nothing more."""
    data: dict[str, Any] = {
        "turn": 1,
        "content": [text("Look"), {"type": "image", "x": 1}],
        "source": source,
    }
    wire = event(f"{tag}/message", 0, data, surfaceOp="append")

    assert projected(wire) == {
        "role": "user",
        "content": [
            text(f"<{tag} source={kind}>"),
            text("Look"),
            {"type": "image", "x": 1},
            text(f"</{tag}>"),
        ],
    }


def test_log_only_events_make_nothing() -> None:
    """No other type makes a message, whatever it holds."""
    wires = [
        note(0),
        turn_start(0),
        call(0, "c"),
        header(0),
        event("prompt/blocked", 0, {"content": [text("x")], "source": {"kind": "user"}}),
    ]

    assert [projected(wire) for wire in wires] == [None] * len(wires)


@pytest.mark.parametrize(
    ("kind", "data", "path"),
    [
        ("user/message", None, "$.data"),
        ("user/message", [], "$.data"),
        ("user/message", "text", "$.data"),
        ("user/message", {}, "$.data.content"),
        ("user/message", {"content": None}, "$.data.content"),
        ("user/message", {"content": "text"}, "$.data.content"),
        ("user/message", {"content": {}}, "$.data.content"),
        ("assistant/message", {}, "$.data.content"),
        ("tool/result", {"callId": "c"}, "$.data.content"),
        ("tool/result", {"content": []}, "$.data.callId"),
        ("context/message", {"content": []}, "$.data.source"),
        ("context/message", {"content": [], "source": None}, "$.data.source"),
        ("context/message", {"content": [], "source": "user"}, "$.data.source"),
        ("steering/message", {"content": [], "source": []}, "$.data.source"),
        ("steering/message", {"source": {}}, "$.data.content"),
    ],
)
def test_a_payload_without_its_parts_is_a_fault(kind: str, data: Any, path: str) -> None:
    """PAYLOAD_INVALID names the seq and the part that the projection needs."""
    made = decode_event(event(kind, 7, data, surfaceOp="append")).unwrap()

    fault = project(made).failure()

    assert (fault.code, fault.seq, fault.path) == (Code.PAYLOAD_INVALID, 7, path)


def test_messages_stand_in_surface_order() -> None:
    """Messages follow the surface, not the log; nothings are left out but hold their place."""
    empty = event("assistant/message", 1, {"content": []}, surfaceOp="append")
    session = replayed(user(0, "one"), empty, user(2, "three"), replacing(3, 0, 0, [0], "ONE"))

    messages = session.messages().unwrap()

    assert session.surface.seqs == (3, 1, 2)
    assert [
        message["content"][-1 if place else 1]["text"] for place, message in enumerate(messages)
    ] == [
        "ONE",
        "three",
    ]


def test_an_empty_assistant_message_may_replace() -> None:
    """A node that makes no message can take others off the surface."""
    op = {"op": "replace", "start": 0, "end": 1}
    gone = event("assistant/message", 2, {"content": []}, sourceEventSeqs=[0, 1], surfaceOp=op)

    session = replayed(user(0), user(1), gone, user(3, "left"))

    assert session.messages().unwrap() == [{"role": "user", "content": [text("left")]}]


def test_one_bad_payload_fails_the_messages_and_only_those() -> None:
    """The event is accepted and keeps its place; asking for the messages names it."""
    bad = event("user/message", 1, {"content": "no list"}, surfaceOp="append")
    session = replayed(user(0), bad, user(2))

    fault = session.messages().failure()

    assert session.surface.seqs == (0, 1, 2)
    assert (fault.code, fault.seq) == (Code.PAYLOAD_INVALID, 1)


def test_a_replaced_bad_payload_does_no_harm() -> None:
    """Only nodes in force are projected."""
    bad = event("user/message", 0, None, surfaceOp="append")
    session = replayed(bad, replacing(1, 0, 0, cites=[0]))

    assert session.at(0).unwrap().messages().failure().seq == 0
    assert len(session.messages().unwrap()) == 1


def test_content_is_the_events_own_object() -> None:
    """A message shares its content with the event; nothing is copied."""
    session = replayed(user(0), result(1, "c"))

    plain, block = session.messages().unwrap()

    assert plain["content"] is session.events[0].data["content"]
    assert block["content"][0]["content"] is session.events[1].data["content"]


def test_an_event_is_projected_once() -> None:
    """Prefixes, forks and repeated questions hand out the same message."""
    session = replayed(turn_start(0), user(1), step_start(2), assistant(3), turn_end(4))

    first = session.messages().unwrap()[0]

    assert session.messages().unwrap()[0] is first
    assert session.at(2).unwrap().messages().unwrap()[0] is first
    assert session.fork().unwrap().messages().unwrap()[0] is first
    assert project(session.events[1]).unwrap() is first


def test_derive_messages_takes_nodes_in_the_order_given() -> None:
    """The function asks nothing but the events and their order."""
    one, two = (decode_event(user(seq, words)).unwrap() for seq, words in ((0, "1"), (1, "2")))

    messages = derive_messages([two, one]).unwrap()

    assert [message["content"][0]["text"] for message in messages] == ["2", "1"]
