"""The compaction plugin's calls, rebuilt from its events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dsh_fp import to_text
from dsh_fp.wire import compaction
from dsh_fp.wire.compaction import compactions, content_text, is_compaction, system_of
from tests.cli.logs import Log, text
from tests.wire.making import compacted, frozen, talk


def summed_up(log: Log, **summary: Any) -> Any:
    """The one compaction of a log whose last event is such a summary."""
    log.add("compact/start", {"turn": 1})
    log.add("compact/summary", {"shadowedSeqs": [], "model": "m", **summary})
    (call,) = compactions(log.session)
    return call


def transcript(log: Log, seqs: list[int]) -> str:
    """What the model is asked to sum up."""
    body = summed_up(log, shadowedSeqs=seqs).encode("S", {}).wire.body
    made: str = body["messages"][1]["content"]
    return made


def test_a_call_is_rebuilt_from_its_summary() -> None:
    """Model and limit are the summary's, the system text is given, there are no tools."""
    (call,) = compactions(compacted(talk(1), turn=2).session)

    body = call.encode("You sum up.", {"thinking": {"type": "disabled"}}).wire.body

    entries = (
        "Summarize this conversation history:",
        "User: Ask 1?",
        'Assistant: [reasoning: Look it up.]\nA moment.\n[tool-call: tide({"day": 1})]',
        "Tool result (c1): At 1.",
        "Assistant: It turns at 1.",
        "Summary:",
    )
    history = "\n\n".join(entries)
    assert to_text(body) == json.dumps(
        {
            "model": "tern-2",
            "messages": [
                {"role": "system", "content": "You sum up."},
                {"role": "user", "content": history},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "thinking": {"type": "disabled"},
            "max_tokens": 64,
        },
        separators=(",", ":"),
    )
    assert (call.turn, call.fault) == (2, None)


def test_a_summary_without_a_limit_sends_none() -> None:
    """The key is absent then."""
    (call,) = compactions(compacted(talk(1), turn=2, max_tokens=None).session)

    assert "max_tokens" not in call.encode("S", {}).wire.body


def test_each_character_of_the_transcript_leads_to_its_node() -> None:
    """The plugin's own words lead to no event, model and limit to the summary."""
    log = compacted(talk(1), turn=2)
    (call,) = compactions(log.session)
    body = call.encode("S", {})
    history = body.wire.body["messages"][1]["content"]
    place = ("messages", 1, "content")

    found = {
        name: body.event_at(place, history.index(name))
        for name in ("Summarize", "Ask 1", "A moment", "At 1", "It turns", "Summary:")
    }

    nodes = log.session.prefix(call.summary_seq or 0).surface.seqs
    assert found == {
        "Summarize": None,
        "Ask 1": nodes[0],
        "A moment": nodes[1],
        "At 1": nodes[2],
        "It turns": nodes[3],
        "Summary:": None,
    }
    assert body.event_at(("model",), None) == call.summary_seq
    assert body.event_at(("max_tokens",), None) == call.summary_seq
    assert body.event_at(("messages", 0, "content"), 0) is None


def test_each_kind_of_event_has_its_words() -> None:
    """And one without text has no entry, nor has an event that makes no message."""
    log = Log()
    user, plugin = {"kind": "user"}, {"kind": "plugin", "plugin": "memo"}
    place: Any = {"surface_op": "append"}
    seqs = [
        log.add("user/message", {"content": text("u"), "source": user}, **place),
        log.add("context/message", {"content": text("c"), "source": plugin}, **place),
        log.add("steering/message", {"content": text("s"), "source": user}, **place),
        log.add("assistant/message", {"content": text("")}, **place),
        log.add("tool/result", {"callId": "k", "content": text("e"), "isError": True}, **place),
        log.add("tool/result", {"callId": 7, "content": text("r"), "isError": 0}, **place),
        log.add("tool/result", {"content": text("n")}, **place),
        log.add("user/message", {"content": None}, **place),
        log.add("user/message", [], **place),
        log.add("todo/write", {"todos": []}),
    ]

    assert transcript(log, [*reversed(seqs)]).split("\n\n")[1:-1] == [
        "Tool result (undefined): n",
        "Tool result (7): r",
        "Tool error (k): e",
        "[Steering: s]",
        "[Context: c]",
        "User: u",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([], ""),
        ([{"type": "text", "text": ""}], ""),
        (text("a") + text("") + text("b"), "a\nb"),
        ([{"type": "reasoning", "text": ""}, {"type": "reasoning", "text": "r"}], "[reasoning: r]"),
        ([{"type": "tool-call"}], "[tool-call: undefined(undefined)]"),
        ([{"type": "tool-result", "content": text("")}], "[tool-result]"),
        ([{"type": "tool-result"}, *text("a")], "[tool-result]\na"),
        (
            [{"type": "tool-result", "content": text("a") + text("b")}],
            "[tool-result: a\nb]",
        ),
        (
            [
                *text("x"),
                {"type": "tool-result", "content": [{"type": "tool-result"}, *text("y")]},
                *text("z"),
            ],
            "x\n[tool-result: [tool-result]\ny]\nz",
        ),
        ([{"type": "image"}, {}, {"type": None}], "[image]\n[undefined]\n[null]"),
        ([None, 1, "x", []], ""),
        ("plain", "plain"),
        (None, ""),
        ([{"type": "text", "text": 5}, {"type": "text", "text": None}], "5"),
    ],
)
def test_blocks_are_lines(content: object, expected: str) -> None:
    """One line a block, those that say nothing left out."""
    assert content_text(frozen({"content": content})["content"]) == expected


def test_results_inside_results_need_no_recursion() -> None:
    """However deep they are."""
    content: Any = text("x")
    for _ in range(4000):
        content = [{"type": "tool-result", "content": content}]

    made = content_text(frozen({"content": content})["content"])

    assert made == "[tool-result: " * 4000 + "x" + "]" * 4000


def test_of_a_failed_call_nothing_is_known() -> None:
    """Neither of one that a crash cut; each says so."""
    log = Log()
    log.add("compact/start", {"turn": 1})
    failed = log.add("compact/end", {"turn": 1, "error": {"message": "busy"}})
    cut = log.add("compact/start", {"turn": 2})
    log.add("compact/start", {"turn": 3})

    first, second, third = compactions(log.session)

    assert [call.turn for call in (first, second, third)] == [1, 2, 3]
    assert [call.summary_seq for call in (first, second, third)] == [None, None, None]
    faults = [call.fault for call in (first, second, third)]
    assert [fault.seq for fault in faults if fault is not None] == [failed, cut, cut + 1]
    assert all("no summary" in fault.message for fault in faults if fault is not None)


@pytest.mark.parametrize("seqs", [None, "1", [1.5], [-1], [True], [99], [2], {"0": 1}])
def test_a_summary_that_names_no_nodes_has_a_fault(seqs: object) -> None:
    """Its body cannot be known."""
    call = summed_up(Log(), shadowedSeqs=seqs)

    assert (call.fault.code, call.fault.path) == ("PAYLOAD_INVALID", "$.data.shadowedSeqs")


def test_a_summary_without_a_start_stands_for_itself() -> None:
    """And a payload of another kind is a fault."""
    log = Log()
    seq = log.add("compact/summary", {"shadowedSeqs": [], "model": "m"})
    odd = log.add("compact/summary", 5)

    alone, broken = compactions(log.session)

    assert (alone.seq, alone.fault) == (seq, None)
    assert broken.fault is not None
    assert (broken.seq, broken.fault.path) == (odd, "$.data")


def test_one_long_node_named_many_times_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few numbers in a log must not ask for much memory."""
    monkeypatch.setattr(compaction, "MAX_TRANSCRIPT", 10_000)
    log = Log()
    seq = log.say("x" * 3000)

    call = summed_up(log, shadowedSeqs=[seq] * 4)

    assert call.fault is not None
    assert "at most" in call.fault.message


HISTORY = "Summarize this conversation history:\n\nUser: hi\n\nSummary:"
ASKED = {"role": "user", "content": HISTORY}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"messages": [{"role": "system", "content": "S"}, ASKED]}, True),
        ({"messages": [ASKED]}, True),
        ({"messages": [ASKED], "tools": []}, False),
        ({"messages": [ASKED, ASKED]}, False),
        ({"messages": [{"role": "system"}]}, False),
        ({"messages": [{"role": "assistant", "content": HISTORY}]}, False),
        ({"messages": [{"role": "user", "content": HISTORY[:-1]}]}, False),
        ({"messages": [{"role": "user", "content": [HISTORY]}]}, False),
        ({"messages": []}, False),
        ({"messages": None}, False),
        ({"messages": [None]}, False),
        ({}, False),
    ],
)
def test_a_call_is_known_by_its_shape(body: dict[str, Any], expected: bool) -> None:
    """No tools, and one message that begins and ends with the plugin's words."""
    assert is_compaction(frozen(body)) is expected


def test_the_system_text_is_that_of_the_first_message() -> None:
    """Where it is one, and a text."""
    assert system_of(frozen({"messages": [{"role": "system", "content": "S"}]})) == "S"
    assert system_of(frozen({"messages": [{"role": "system", "content": 5}]})) is None
    assert system_of(frozen({"messages": [{"role": "user", "content": "S"}]})) is None
    assert system_of(frozen({"messages": [5]})) is None
    assert system_of(frozen({})) is None
