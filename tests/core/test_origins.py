"""Which event put each part of a past request there."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Session, past_requests
from dsh_fp.core.origins import Origins, SessionOrigins, replaced_in, request_origins
from tests.core.making import (
    assistant,
    delta,
    event,
    header,
    replacing,
    replayed,
    step_end,
    step_start,
    text,
    turn_start,
    user,
)

LOOK = {"name": "look", "parameters": {"a": 1, "b": 2}}
TURNED = {"name": "look", "parameters": {"b": 2, "a": 1}}
FIND = {"name": "find"}
HI = {"role": "user", "content": [text("hi")]}


def origins(*events: Any) -> list[Origins]:
    session = replayed(*events)
    of_session = SessionOrigins(session)
    return [of_session.of(past) for past in past_requests(session)]


def test_messages_come_from_their_events_and_the_prefix_from_the_header() -> None:
    """The prefix first; a node that makes no message has no place."""
    (asked,) = origins(
        turn_start(0),
        user(1),
        header(2, messagePrefix=[HI, HI]),
        event("assistant/message", 3, {"content": []}, surfaceOp="append"),
        user(4),
        step_start(5),
    )

    assert asked.messages == (2, 2, 1, 4)
    assert asked.prefix == 2
    assert asked.event_at("$.messages[1].content[0].text") == 2
    assert asked.event_at(("messages", 3)) == 4
    assert asked.event_at("$.messages[4]") is None
    assert asked.event_at("$.messages") is None
    assert asked.event_at("$") is None


def test_a_snapshot_puts_all_it_holds_and_a_delta_what_it_carries() -> None:
    """An untouched tool keeps its origin; config, system and prefix are put whole."""
    first, second, third = origins(
        turn_start(0),
        header(1, system="a\nb", tools=[LOOK, FIND]),
        step_start(2),
        step_end(3),
        delta(4, system={"keepStart": 1, "keepEnd": 0, "insert": ["c"]}),
        delta(5, tools={"added": [], "removed": [], "changed": [TURNED]}, config=None),
        step_start(6),
        step_end(7),
        header(8, reason="resume", system="a\nc", tools=[TURNED, FIND]),
        step_start(9),
    )

    assert first.parts == {"model": 1, "system": 1, "tools": 1}
    assert second.parts == {"model": 1, "system": 4, "tools": 5}
    assert second.tools == {"look": 5, "find": 1}
    assert second.event_at("$.tools[0].parameters") == 5
    assert second.event_at("$.tools[1]") == second.event_at("$.model") == 1
    assert third.parts == {"model": 8, "system": 8, "tools": 8}
    assert third.tools == {"look": 8, "find": 8}


def test_what_only_was_repeated_was_changed_before() -> None:
    """A snapshot that holds the same again put it there, but did not change it."""
    (asked,) = origins(
        turn_start(0),
        header(1, system="a", tools=[LOOK]),
        delta(2, tools={"added": [FIND], "removed": [], "changed": []}),
        header(3, reason="resume", system="b", tools=[LOOK, FIND]),
        step_start(4),
    )

    assert [asked.changed_by(part) for part in ("model", "system", "tools")] == [1, 3, 2]
    assert [asked.tool_changed_by(name) for name in ("look", "find", "none")] == [1, 2, 2]


def test_an_absent_part_was_left_out_by_an_event() -> None:
    """Nothing is told of it among the parts; its path leads to the event that settled it."""
    (asked,) = origins(turn_start(0), header(1, system="a"), header(2), step_start(3))

    assert asked.parts == {"model": 2}
    assert asked.event_at("$.system") == asked.settled_by("stop") == 2
    assert asked.event_at("$.unknown") is None


def test_a_removed_tool_is_known_by_who_took_it_away() -> None:
    """Also when it comes back, and goes with a snapshot."""
    first, second, third = origins(
        turn_start(0),
        header(1, tools=[LOOK, FIND]),
        delta(2, tools={"added": [], "removed": ["look"], "changed": []}),
        step_start(3),
        step_end(4),
        delta(5, tools={"added": [LOOK], "removed": [], "changed": []}),
        step_start(6),
        step_end(7),
        header(8, tools=[FIND]),
        step_start(9),
    )

    assert [asked.tool_changed_by("look") for asked in (first, second, third)] == [2, 5, 8]
    assert second.tools == {"find": 1, "look": 5}
    # The first place held look, and holds find since look was taken away.
    assert first.place_changed_by(0, "look") == 2
    assert second.place_changed_by(1, None) == 5
    # It is back, in another place: the list is what it is since then.
    assert second.place_changed_by(0, "look") == 5


def test_of_a_doubled_tool_the_last_one_counts_and_each_has_its_place() -> None:
    """By name there is one answer, by place there are two."""
    (asked,) = origins(
        turn_start(0),
        header(1, tools=[LOOK]),
        delta(2, tools={"added": [TURNED], "removed": [], "changed": []}),
        step_start(3),
    )

    assert asked.tools == {"look": 2}
    assert [asked.event_at(f"$.tools[{place}]") for place in (0, 1, 2)] == [1, 2, None]


@pytest.mark.parametrize(
    "events",
    [
        [turn_start(0), user(1), step_start(2)],
        [turn_start(0), event("request/header", 1, {"header": 5}), step_start(2)],
    ],
    ids=["none", "fault"],
)
def test_without_a_header_there_is_nothing_to_tell(events: list[Any]) -> None:
    """No parts, no tools, no messages."""
    (asked,) = origins(*events)

    assert (asked.parts, asked.tools, asked.messages, asked.prefix) == ({}, {}, (), 0)
    assert asked.event_at("$.messages[0]") is asked.event_at("$.model") is None
    assert asked.changed_by("model") is asked.tool_changed_by("look") is None


def test_a_message_at_fault_leaves_the_header_known() -> None:
    """No messages are told, the parts are."""
    (asked,) = origins(
        turn_start(0), header(1), event("user/message", 2, {}, surfaceOp="append"), step_start(3)
    )

    assert asked.messages == ()
    assert asked.parts == {"model": 1}


def test_a_replacement_is_behind_its_message_and_behind_what_it_took_away() -> None:
    """Seen from a request before it and one after."""
    first, second = origins(
        turn_start(0),
        header(1),
        user(2),
        user(3),
        step_start(4),
        assistant(5),
        step_end(6),
        replacing(7, 2, 3, [2, 3]),
        step_start(8),
    )

    assert (first.messages, second.messages) == ((2, 3), (7, 5))
    assert [first.message_changed_by(place, second) for place in (0, 1, 2)] == [7, 7, None]
    assert second.message_changed_by(1, second) == 5
    assert first.replaced_by(2) is None
    assert second.replaced_by(2) == 7
    replaced = replaced_in(first.session)
    assert (replaced.by, replaced.nodes_of) == ({2: 7, 3: 7}, {7: (2, 3)})


def test_one_request_may_be_asked_about_alone() -> None:
    """`request_origins` gives the same as the origins of the session."""
    session = replayed(turn_start(0), header(1), user(2), step_start(3))
    (past,) = past_requests(session)

    assert request_origins(session, past).messages == (2,)


def test_only_a_session_and_a_past_request_are_taken() -> None:
    """Anything else is a TypeError."""
    wrong: Any = "log.jsonl"
    with pytest.raises(TypeError, match="a Session"):
        SessionOrigins(wrong)
    with pytest.raises(TypeError, match="a PastRequest"):
        SessionOrigins(Session.create().unwrap()).of(wrong)
