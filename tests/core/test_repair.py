"""Closers of an interrupted turn: the events that end what a crash cut short."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import decode_event, interrupted_turn_closers, thaw, trace_violations
from tests.core.making import (
    asking,
    assistant,
    call,
    event,
    note,
    replayed,
    result,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)

CRASH_TEXT = "Tool call interrupted by a crash; no result was recorded."


def closers(*wires: dict[str, Any]) -> list[Any]:
    """The closers as plain wire objects."""
    events = [decode_event(wire).unwrap() for wire in wires]
    return [thaw(closer.to_wire()) for closer in interrupted_turn_closers(events)]


def kinds(*wires: dict[str, Any]) -> list[str]:
    return [closer["type"] for closer in closers(*wires)]


def result_of(call_id: Any, step: int = 1) -> dict[str, Any]:
    return {
        "turn": 1,
        "step": step,
        "callId": call_id,
        "content": [text(CRASH_TEXT)],
        "isError": True,
        "error": {"name": "InterruptedError", "code": "interrupted"},
    }


def test_a_closed_log_needs_no_closers() -> None:
    """Nothing for an empty log, a closed turn, or events behind it."""
    assert closers() == []
    assert closers(turn_start(0), turn_end(1)) == []
    assert closers(turn_start(0), step_start(1), turn_end(2), note(3)) == []
    assert closers(note(0), user(1)) == []


def test_an_open_turn_is_ended() -> None:
    """One `turn/end` of kind `interrupted`, at the next seq and the last event's time."""
    assert closers(turn_start(0), {**user(1), "time": 77}) == [
        {
            "type": "turn/end",
            "seq": 2,
            "time": 77,
            "data": {"turn": 1, "reason": {"kind": "interrupted"}},
        }
    ]


def test_an_open_step_is_ended_before_its_turn() -> None:
    """First the step, then the turn, both as they were numbered."""
    made = closers(turn_start(0, turn=4), step_start(1, turn=4, step=3))

    assert [(closer["type"], closer["seq"], closer["data"]) for closer in made] == [
        ("step/end", 2, {"turn": 4, "step": 3}),
        ("turn/end", 3, {"turn": 4, "reason": {"kind": "interrupted"}}),
    ]


def test_a_pending_call_gets_a_result_that_says_so() -> None:
    """The result cites the logged call; its envelope keys stand as the reference writes them."""
    made = closers(
        turn_start(0), step_start(1), assistant(2, text("Let me see"), asking("a")), call(3, "a")
    )

    assert made[0] == {
        "type": "tool/result",
        "seq": 4,
        "time": 1003,
        "data": result_of("a"),
        "surfaceOp": "append",
        "sourceEventSeqs": [3],
    }
    assert list(made[0]) == ["type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs"]
    assert list(made[0]["data"]) == ["turn", "step", "callId", "content", "isError", "error"]
    assert [closer["type"] for closer in made] == ["tool/result", "step/end", "turn/end"]


def test_a_call_that_was_not_logged_is_not_cited() -> None:
    """Without a `tool/call` event there is nothing to cite, and no empty list."""
    made = closers(turn_start(0), step_start(1), assistant(2, asking("a")))

    assert made[0]["data"] == result_of("a")
    assert "sourceEventSeqs" not in made[0]
    assert made[0]["surfaceOp"] == "append"


def test_pending_calls_come_in_order_of_first_appearance() -> None:
    """Answered calls are left out, the rest stand as they were asked."""
    made = closers(
        turn_start(0),
        step_start(1),
        assistant(2, asking("b"), asking("a"), asking("c")),
        call(3, "c"),
        call(4, "b"),
        result(5, "a"),
    )

    assert [(closer["data"]["callId"], closer.get("sourceEventSeqs")) for closer in made[:2]] == [
        ("b", [4]),
        ("c", [3]),
    ]
    assert [closer["seq"] for closer in made] == [6, 7, 8, 9]


def test_the_last_logged_call_is_cited() -> None:
    """Of two `tool/call` events of one id the later counts."""
    made = closers(turn_start(0), assistant(1, asking("a")), call(2, "a"), call(3, "a"))

    assert made[0]["sourceEventSeqs"] == [3]


def test_asking_again_keeps_the_place_but_forgets_the_call() -> None:
    """A pending id asked again takes the new message's step and has no logged call."""
    made = closers(
        turn_start(0),
        assistant(1, asking("a"), asking("b")),
        call(2, "a"),
        assistant(3, asking("a"), step=2),
    )

    assert [closer["data"].get("callId") for closer in made] == ["a", "b", None]
    assert made[0]["data"]["step"] == 2
    assert "sourceEventSeqs" not in made[0]


def test_answered_and_asked_again_goes_last() -> None:
    """A call that was answered is no longer pending, so asking starts anew."""
    made = closers(
        turn_start(0),
        assistant(1, asking("a"), asking("b")),
        result(2, "a"),
        assistant(3, asking("a")),
    )

    assert [closer["data"].get("callId") for closer in made] == ["b", "a", None]


def test_the_same_id_twice_in_one_message_is_one_call() -> None:
    """One closer answers it."""
    assert kinds(turn_start(0), assistant(1, asking("a"), asking("a"))) == [
        "tool/result",
        "turn/end",
    ]


def test_a_logged_call_alone_is_not_pending() -> None:
    """Only a `tool-call` block of a message asks for a result."""
    assert kinds(turn_start(0), step_start(1), call(2, "a")) == ["step/end", "turn/end"]


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (step_end(3), ["turn/end"]),
        (turn_start(3, turn=2), ["turn/end"]),
        (step_start(3, step=2), ["tool/result", "step/end", "turn/end"]),
    ],
    ids=["step/end", "turn/start", "step/start"],
)
def test_what_forgets_pending_calls(between: dict[str, Any], expected: list[str]) -> None:
    """Ends and new turns forget calls and open steps, a step's start does not."""
    assert kinds(turn_start(0), step_start(1), assistant(2, asking("a")), between) == expected


def test_a_later_turn_counts() -> None:
    """The last turn is the one that is closed, by its own number."""
    made = closers(turn_start(0), turn_end(1), turn_start(2, turn=2))

    assert [closer["data"]["turn"] for closer in made] == [2]


def test_payloads_of_odd_shape_do_not_stop_it() -> None:
    """A turn without a number is closed all the same."""
    made = closers(
        event("turn/start", 0, None),
        event("step/start", 1, []),
        event("assistant/message", 2, {"content": 5}, surfaceOp="append"),
        event("tool/call", 3, "x"),
    )

    assert [closer["type"] for closer in made] == ["step/end", "turn/end"]


def test_an_id_may_be_any_value() -> None:
    """True, 1 and "1" are three calls."""
    blocks = [{"type": "tool-call", "id": call_id} for call_id in (True, 1, "1")]

    made = closers(turn_start(0), assistant(1, *blocks), result(2, "", callId=1))

    assert [closer["data"]["callId"] for closer in made[:-1]] == [True, "1"]


def test_closers_fit_the_session_they_close() -> None:
    """Appended, they are accepted, close every bracket and leave nothing to repair."""
    session = replayed(
        turn_start(0), user(1), step_start(2), assistant(3, asking("a"), asking("b")), call(4, "b")
    )

    closed = session.extend(interrupted_turn_closers(session)).unwrap()

    assert interrupted_turn_closers(closed) == ()
    assert trace_violations(closed) == ()
    assert len(closed.fork().unwrap()) == len(closed) == 9
