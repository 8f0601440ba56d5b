"""The difference between two sessions."""

from __future__ import annotations

from typing import Any

from dsh_fp.core.changes import EventName
from dsh_fp.core.session_differences import calls_numbered, diff_sessions
from tests.core.making import (
    asking,
    assistant,
    event,
    header,
    replayed,
    result,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)
from tests.core.making import call as tool_call


def run(call: str = "a", system: str = "s", later: int = 0, steps: int = 2) -> Any:
    """A session of two steps, the first of which asks for a tool."""
    events = [
        turn_start(0),
        header(1, system=system),
        user(2),
        step_start(3),
        assistant(4, asking(call)),
        tool_call(5, call),
        result(6, call),
        step_end(7),
        step_start(8, step=2),
        assistant(9, text("Done."), step=2),
        step_end(10, step=2),
        turn_end(11),
    ]
    kept = events if steps > 1 else events[:8]
    return replayed(*[{**each, "time": each["time"] + later} for each in kept])


def test_a_session_is_no_different_from_itself() -> None:
    """Nor from the same decisions at another time."""
    found = diff_sessions(run(), run(later=5_000))

    assert found.equal
    assert (found.first_event, found.first_pair, found.first_request) == (None, None, None)
    assert (found.equal_pairs, found.different_pairs) == (2, 0)


def test_call_ids_are_no_content_but_stand_in_requests() -> None:
    """So the content is equal and the second request is not, unless ids are left out."""
    found = diff_sessions(run("a"), run("b"))

    assert found.content_equal
    assert not found.equal
    assert [pair.equal for pair in found.pairs] == [True, False]
    assert found.first_request is not None
    assert found.first_request.only_call_ids
    assert diff_sessions(run("a"), run("b"), ignore_call_ids=True).equal


def test_the_first_event_that_differs_is_named_in_both() -> None:
    """With the path at which its content parts."""
    found = diff_sessions(run(), run(system="t"))

    event = found.first_event
    assert event is not None
    assert (event.place, event.old, str(event.first)) == (
        1,
        EventName(1, "request/header", "initial"),
        "data.header.system",
    )
    assert found.first_request is not None
    assert str(found.first_request.first) == "system"
    assert found.different_pairs == 2


def test_stream_chunks_do_not_count_but_move_the_seqs() -> None:
    """The same answer in other pieces: each session's own seq is told."""
    chunk = {"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": "x"}}
    plain = [turn_start(0), header(1), step_start(2)]
    chunked = [*plain, event("assistant/chunk", 3, chunk), user(4)]
    found = diff_sessions(replayed(*plain, user(3, "other")), replayed(*chunked))

    event_found = found.first_event
    assert event_found is not None
    assert (event_found.place, event_found.old, event_found.new) == (
        3,
        EventName(3, "user/message"),
        EventName(4, "user/message"),
    )


def test_where_one_session_ends_the_other_goes_on() -> None:
    """Requests and events that only one has are counted, not compared."""
    found = diff_sessions(run(), run(steps=1))

    assert found.first_event is not None
    assert (found.first_event.old, found.first_event.new) == (EventName(8, "step/start"), None)
    assert (found.only_old, found.only_new, found.equal_pairs) == (1, 0, 1)
    assert found.first_request is None
    assert not found.equal


def test_a_request_that_is_not_known_is_neither() -> None:
    """It counts as unknown, and two such are not called equal."""
    unknown = replayed(turn_start(0), step_start(1))

    found = diff_sessions(unknown, unknown)
    assert (found.unknown_pairs, found.equal_pairs, found.different_pairs) == (1, 0, 0)
    assert not found.equal
    assert found.content_equal


def test_numbered_calls_keep_everything_else() -> None:
    """Seqs, times and order stay; ids become the number of calls before."""
    session = calls_numbered(run("x"))

    assert session.events[5].data["callId"] == "call 0"
    assert session.events[6].data["callId"] == "call 0"
    assert session.events[4].data["content"][0]["id"] == "call 0"
    assert [event.seq for event in session] == [event.seq for event in run("x")]
