"""Every past request of a session, rebuilt from the log alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dsh_fp import Code, JsonObject, PastRequest, past_requests
from tests.core.making import (
    CONFIG,
    asking,
    assistant,
    call,
    delta,
    event,
    header,
    note,
    replacing,
    replayed,
    result,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)


def said(words: str) -> dict[str, Any]:
    return {"role": "user", "content": [text(words)]}


def requests(*wires: dict[str, Any]) -> tuple[PastRequest, ...]:
    return past_requests(replayed(*wires))


def test_a_session_without_steps_made_no_requests() -> None:
    """One value for each step/start, and no other."""
    assert requests() == ()
    assert requests(turn_start(0), header(1), user(2), assistant(3)) == ()


def test_a_step_asks_with_what_stood_before_it() -> None:
    """Messages are those strictly before the start, the header what was in force by then."""
    (request,) = requests(
        turn_start(0),
        header(1, system="Be brief.", tools=[{"name": "look"}]),
        user(2, "Rain?"),
        step_start(3),
        assistant(4, text("No.")),
        step_end(5),
        turn_end(6),
    )

    assert (request.turn, request.step, request.seq) == (1, 1, 3)
    assert request.fault is None
    assert request.messages == [said("Rain?")]
    assert request.header == {"config": CONFIG, "system": "Be brief.", "tools": [{"name": "look"}]}
    assert request.to_json() == (
        '{"model":"m-1","system":"Be brief.","tools":[{"name":"look"}],'
        '"messages":[{"role":"user","content":[{"type":"text","text":"Rain?"}]}]}'
    )


def test_the_request_holds_the_known_fields_of_the_config_in_order() -> None:
    """model, temperature, maxTokens, stop, system, tools, messages; others are no part of it."""
    config = {"stop": ["x"], "extra": 1, "maxTokens": 9, "model": "m", "temperature": 0.5}
    wire = event("request/header", 0, {"header": {"config": config, "system": "s"}})

    (request,) = requests(wire, step_start(1))

    assert list(request.request.unwrap()) == [
        "model",
        "temperature",
        "maxTokens",
        "stop",
        "system",
        "messages",
    ]
    assert type(request.request.unwrap()) is JsonObject


def test_the_steps_own_header_event_counts() -> None:
    """A header logged after step/start and before the step's output is the step's own."""
    (request,) = requests(
        step_start(0), header(1, system="own"), assistant(2), header(3, system="x")
    )

    assert request.header == {"config": CONFIG, "system": "own"}


@pytest.mark.parametrize(
    "output",
    [
        step_end(3),
        assistant(3),
        call(3, "a"),
        event("assistant/chunk", 3),
        event("assistant/", 3),
        event("tool/whatever", 3),
    ],
    ids=lambda wire: wire["type"],
)
def test_the_steps_first_output_ends_its_header(output: dict[str, Any]) -> None:
    """step/end, and whatever begins with assistant/ or tool/, comes after the request."""
    (request,) = requests(
        header(0, system="before"), step_start(1), note(2), output, header(4, system="after")
    )

    assert request.header == {"config": CONFIG, "system": "before"}


@pytest.mark.parametrize("kind", ["tooling/x", "assistants", "plugin/assistant/x", "user/message"])
def test_other_types_do_not_end_it(kind: str) -> None:
    """The prefix is `assistant/` or `tool/`, to the letter."""
    op = {"surfaceOp": "append"} if kind == "user/message" else {}
    (request,) = requests(
        header(0, system="a"),
        step_start(1),
        event(kind, 2, **op),
        header(3, system="b"),
        step_end(4),
    )

    assert request.header == {"config": CONFIG, "system": "b"}


def test_two_header_events_in_a_step_are_both_folded() -> None:
    """A snapshot and a delta between start and output make the header together."""
    lines = {"keepStart": 1, "keepEnd": 0, "insert": ["two"]}

    (request,) = requests(
        header(0, system="old"),
        step_start(1),
        header(2, system="one"),
        delta(3, system=lines),
        assistant(4),
        delta(5, config={"model": "late"}),
    )

    assert request.header == {"config": CONFIG, "system": "one\ntwo"}


def test_a_step_without_output_takes_the_header_of_the_whole_log() -> None:
    """A step cancelled, or cut off, at the end of the log looks like one unanswered."""
    (request,) = requests(
        header(0, system="a"), step_start(1), note(2), header(3, system="b"), user(4)
    )

    assert request.header == {"config": CONFIG, "system": "b"}
    assert request.messages == []


def test_two_starts_before_one_output_share_its_header() -> None:
    """Each start looks for the first output behind itself."""
    first, second = requests(
        header(0, system="a"),
        step_start(1),
        header(2, system="b"),
        step_start(3, step=2),
        header(4, system="c"),
        assistant(5),
        header(6, system="d"),
    )

    assert first.header == second.header == {"config": CONFIG, "system": "c"}
    assert (first.step, second.step) == (1, 2)


def test_what_is_injected_after_the_start_belongs_to_the_next_request() -> None:
    """A message between step/start and the header event is not in it, though the header is."""
    first, second = requests(
        user(0, "one"),
        step_start(1),
        user(2, "injected"),
        header(3, system="own"),
        assistant(4, text("done")),
        step_end(5),
        step_start(6, step=2),
    )

    assert first.messages == [said("one")]
    assert first.header == {"config": CONFIG, "system": "own"}
    assert second.messages == [
        said("one"),
        said("injected"),
        {"role": "assistant", "content": [text("done")]},
    ]


def test_prefix_messages_come_first() -> None:
    """The header's message prefix stands before what is derived, as it is."""
    prefix = [{"role": "system", "content": [text("Rules")], "x": 1}]

    (request,) = requests(header(0, messagePrefix=prefix), user(1, "one"), step_start(2))

    assert request.messages == [*prefix, said("one")]
    assert json.loads(request.to_json() or "")["messages"] == [*prefix, said("one")]


def test_a_step_before_any_header_has_no_request() -> None:
    """Nothing is invented: NO_REQUEST_HEADER with the step's seq, all parts None."""
    early, late = requests(
        user(0), step_start(1), assistant(2), step_end(3), header(4), step_start(5, step=2)
    )

    assert early.fault is not None
    assert (early.fault.code, early.fault.seq) == (Code.NO_REQUEST_HEADER, 1)
    assert (early.header, early.messages, early.to_json()) == (None, None, None)
    assert early.request.failure() == early.fault
    assert (early.turn, early.step, early.seq) == (1, 1, 1)
    assert late.fault is None


def test_a_header_that_cannot_be_folded_is_the_requests_fault() -> None:
    """The fault names the header event; the next snapshot puts later requests right."""
    broken, still, mended = requests(
        header(0),
        delta(1, tools="all"),
        step_start(2),
        step_end(3),
        delta(4, config={"model": "m-2"}),
        step_start(5, step=2),
        step_end(6),
        header(7),
        step_start(8, step=3),
    )

    assert broken.fault is not None
    assert (broken.fault.code, broken.fault.seq) == (Code.HEADER_INVALID, 1)
    assert broken.fault.path == "$.data.tools"
    assert (broken.header, broken.messages, broken.to_json()) == (None, None, None)
    assert still.fault == broken.fault
    assert mended.fault is None


def test_a_delta_before_any_snapshot_is_the_requests_fault() -> None:
    """HEADER_DELTA_WITHOUT_SNAPSHOT with the delta's seq."""
    (request,) = requests(step_start(0), delta(1, config={}))

    assert request.request.failure().code is Code.HEADER_DELTA_WITHOUT_SNAPSHOT
    assert request.request.failure().seq == 1


def test_a_payload_that_makes_no_message_is_the_fault_of_requests_that_saw_it() -> None:
    """Requests before the bad event and after its replacement are known."""
    bad = event("user/message", 3, {"content": 5}, surfaceOp="append")

    before, under, after = requests(
        header(0),
        user(1, "one"),
        step_start(2),
        bad,
        step_start(4, step=2),
        replacing(5, 3, 3, cites=[3]),
        step_start(6, step=3),
    )

    assert (before.fault, after.fault) == (None, None)
    assert under.fault is not None
    assert (under.fault.code, under.fault.seq) == (Code.PAYLOAD_INVALID, 3)
    assert (under.messages, under.to_json()) == (None, None)


def test_requests_see_the_surface_of_their_own_time() -> None:
    """Later replacements do not reach back; nothings are left out."""
    empty = event("assistant/message", 4, {"content": []}, surfaceOp="append")

    first, second, third = requests(
        header(0),
        user(1, "one"),
        user(2, "two"),
        step_start(3),
        empty,
        step_start(5, step=2),
        replacing(6, 1, 2, cites=[1, 2], words="both"),
        user(7, "three"),
        step_start(8, step=3),
    )

    assert first.messages == [said("one"), said("two")]
    assert second.messages == first.messages
    assert third.messages is not None
    assert [message["content"][-1]["text"] for message in third.messages] == ["</context>", "three"]


def test_requests_can_be_asked_in_any_order_and_again() -> None:
    """Asking the last first, or one of them twice, gives what asking in order gives."""
    wires = [header(0), user(1, "one"), step_start(2), assistant(3, asking("a")), result(4, "a")]
    wires += [step_start(5, step=2), replacing(6, 1, 4, cites=[1, 3, 4]), step_start(7, step=3)]

    in_order = [request.to_json() for request in requests(*wires)]
    backwards = [request.to_json() for request in reversed(requests(*wires))]

    assert backwards == in_order[::-1]
    assert len(set(in_order)) == 3


def test_each_message_is_the_one_of_the_session() -> None:
    """Requests, prefixes and the session share their messages."""
    session = replayed(
        header(0), user(1), step_start(2), assistant(3), step_end(4), step_start(5, step=2)
    )

    first, second = past_requests(session)

    assert first.messages is not None
    assert second.messages is not None
    assert first.messages[0] is second.messages[0] is session.messages().unwrap()[0]


def test_the_requests_of_a_fork_are_those_of_its_events() -> None:
    """Inherited steps are past requests of the child as of the parent."""
    session = replayed(
        turn_start(0), header(1), step_start(2), step_end(3), turn_end(4), turn_start(5, 2)
    )

    inherited = past_requests(session.fork(4).unwrap())

    assert [request.to_json() for request in inherited] == [
        request.to_json() for request in past_requests(session)
    ]


@pytest.mark.parametrize(("data", "named"), [(None, (None, None)), ({"turn": "x"}, ("x", None))])
def test_a_start_of_odd_shape_is_listed_as_it_is(data: Any, named: tuple[Any, Any]) -> None:
    """Turn and step are what the event says, also nothing."""
    (request,) = requests(header(0), event("step/start", 1, data))

    assert (request.turn, request.step) == named
    assert request.fault is None


def test_a_past_request_cannot_be_changed() -> None:
    """It is a frozen value with a short repr."""
    (request,) = requests(header(0), step_start(1))

    with pytest.raises(AttributeError):
        request.seq = 5  # type: ignore[misc]  # that is the point

    assert repr(request) == "PastRequest(turn=1, step=1, seq=1)"


def test_what_is_no_session_is_a_wrong_call() -> None:
    """A LogFile has its session inside; handing it over whole is said to be a mistake."""
    log: Any = object()

    with pytest.raises(TypeError, match="takes a Session"):
        past_requests(log)
