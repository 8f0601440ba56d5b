"""The difference between two requests, and the events behind it."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Code, past_requests
from dsh_fp.core.changes import Behind, EventName, Hunk, RequestDifference
from dsh_fp.core.differences import PATHS_KEPT, diff_requests
from dsh_fp.core.origins import SessionOrigins
from tests.core.making import (
    CONFIG,
    asking,
    assistant,
    delta,
    event,
    header,
    replacing,
    replayed,
    result,
    step_end,
    step_start,
    text,
    turn_start,
    user,
)

LOOK = {"name": "look", "parameters": {"a": 1, "b": 2}}
TURNED = {"name": "look", "parameters": {"b": 2, "a": 1}}
FIND = {"name": "find"}


def compared(*events: Any, old: int = 0, new: int = 1) -> RequestDifference:
    """The difference between two requests of one session, by their numbers."""
    session = replayed(*events)
    origins, pasts = SessionOrigins(session), past_requests(session)
    return diff_requests(origins.of(pasts[old]), origins.of(pasts[new])).unwrap()


def said(*words: str) -> dict[str, Any]:
    """A bare request of these messages."""
    messages = [{"role": "user", "content": [text(each)]} for each in words]
    return {"model": "m-1", "messages": messages}


def named(*seqs: int, type: str = "user/message") -> tuple[EventName, ...]:
    return tuple(EventName(seq, type) for seq in seqs)


def two_steps(first: Any, *between: Any) -> list[Any]:
    """A log of two steps under a header, with these events between them."""
    return [
        turn_start(0),
        first,
        user(2),
        step_start(3),
        step_end(4),
        *between,
        step_start(5 + len(between)),
    ]


def test_a_repeated_request_is_equal() -> None:
    """Nothing between two steps, nothing to tell."""
    found = compared(*two_steps(header(1)))

    assert found.equal
    assert str(found) == "the requests are equal"
    assert (found.first, found.first_message, found.runs, found.parts) == (None, None, (), ())
    assert (found.old_messages, found.common_messages) == (1, 1)


def test_an_added_message_names_the_event_that_brought_it() -> None:
    """The common prefix ends where the old request does."""
    found = compared(*two_steps(header(1), user(5)))

    (run,) = found.runs
    assert (run.kind, run.old_start, run.old_stop, run.new_start, run.new_stop) == (
        "added",
        1,
        1,
        1,
        2,
    )
    assert run.new_events == run.causes == named(5)
    assert found.first_message == found.common_messages == 1
    assert str(found) == "the requests differ first at messages[1] (extra): event 5 user/message"


def test_replaced_messages_name_the_replacement() -> None:
    """As what took the old ones away and brought the new one."""
    found = compared(*two_steps(header(1), user(5), replacing(6, 2, 5, [2, 5])), old=0)

    (run,) = found.runs
    assert run.kind == "replaced"
    assert run.old_events == named(2)
    assert run.causes == run.new_events == named(6, type="context/message")
    assert str(run.first) == "content[0].text"
    assert found.first_behind.cause == EventName(6, "context/message")


def test_removed_messages_name_who_took_them_away() -> None:
    """An assistant's empty message may replace nodes and make none itself."""
    op = {"op": "replace", "start": 2, "end": 2}
    empty = event("assistant/message", 5, {"content": []}, sourceEventSeqs=[2], surfaceOp=op)
    found = compared(*two_steps(header(1), empty))

    (run,) = found.runs
    assert (run.kind, run.causes) == ("removed", named(5, type="assistant/message"))


def test_the_other_way_round_the_same_event_is_named() -> None:
    """Whatever is asked first: the older request has what the newer one lost."""
    found = compared(*two_steps(header(1), replacing(5, 2, 2, [2])), old=1, new=0)

    (run,) = found.runs
    assert run.causes == named(5, type="context/message")


def test_a_system_change_is_told_by_lines() -> None:
    """Line numbers from 1, the event and its reason."""
    found = compared(
        *two_steps(
            header(1, system="a\nb\nc\nd"), header(5, reason="resume", system="a\nb\nx\nc\nd")
        )
    )

    assert found.system is not None
    assert found.system.first_changed_line == 3
    assert found.system.hunks == (Hunk(3, (), 3, ("x",)),)
    old, new = EventName(1, "request/header", "initial"), EventName(5, "request/header", "resume")
    assert found.system.behind == Behind(old, new, new)
    assert str(found) == "the requests differ first at system: event 5 request/header (resume)"


def test_a_system_that_came_or_went_has_lines_on_one_side() -> None:
    """An absent text has no lines."""
    came = compared(*two_steps(header(1), header(5, system="a\nb"))).system
    went = compared(*two_steps(header(1, system="a"), header(5))).system

    assert came is not None
    assert went is not None
    assert came.hunks == (Hunk(1, (), 1, ("a", "b")),)
    assert went.hunks == (Hunk(1, ("a",), 1, ()),)


def test_the_event_that_changed_a_part_is_not_the_one_that_repeated_it() -> None:
    """A whole header after a change holds the changed text as well, but did not change it."""
    found = compared(
        *two_steps(
            header(1, system="a"),
            delta(5, system={"keepStart": 0, "keepEnd": 0, "insert": ["b"]}),
            header(6, reason="resume", system="b"),
        )
    )

    assert found.system is not None
    assert found.system.behind.new == EventName(6, "request/header", "resume")
    assert found.system.behind.cause == EventName(5, "request/header-delta")


def test_model_and_options_are_told_whole() -> None:
    """Each with both values; what one lacks is missing or extra."""
    config = {"model": "m-2", "stop": ["x"], "maxTokens": 5}
    old = {"header": {"config": {**CONFIG, "temperature": 1, "maxTokens": 5}}}
    new = {"header": {"config": config}, "reason": "initial"}
    found = compared(*two_steps(event("request/header", 1, old), event("request/header", 5, new)))

    told = [(change.part, change.kind, change.old, change.new) for change in found.parts]
    assert told == [
        ("model", "value", "m-1", "m-2"),
        ("temperature", "missing", 1, None),
        ("stop", "extra", None, ["x"]),
    ]
    assert {change.behind.cause for change in found.parts} == {
        EventName(5, "request/header", "initial")
    }


def test_a_tool_with_its_keys_turned_is_changed_and_named() -> None:
    """By path, key order said; two dicts of this content are equal in Python."""
    found = compared(
        *two_steps(
            header(1, tools=[LOOK]),
            delta(5, tools={"added": [], "removed": [], "changed": [TURNED]}),
        )
    )

    assert str(found.first) == "tools[0].parameters (key order)"
    assert found.tools is not None
    (tool,) = found.tools.changed
    assert list(map(str, tool.differences)) == ["parameters (key order)"]
    assert tool.behind.cause == EventName(5, "request/header-delta")
    assert not tool.more


def test_tools_are_added_removed_and_reordered_by_name() -> None:
    """Each with its places and the event that did it."""
    found = compared(
        *two_steps(
            header(1, tools=[LOOK, FIND, {"name": "old"}]),
            delta(5, tools={"added": [], "removed": ["old"], "changed": []}),
            header(6, tools=[FIND, LOOK, {"name": "new"}]),
        )
    )

    tools = found.tools
    assert tools is not None
    assert tools.reordered
    assert tools.changed == ()
    (added,), (removed,) = tools.added, tools.removed
    assert (added.name, added.old_place, added.new_place) == ("new", None, 2)
    assert (removed.name, removed.old_place, removed.new_place) == ("old", 2, None)
    assert (added.behind.cause, removed.behind.cause) == (
        EventName(6, "request/header", "initial"),
        EventName(5, "request/header-delta"),
    )


def test_the_paths_of_one_tool_are_bounded() -> None:
    """Twenty are kept; that there are more is said."""
    many = {str(number): number for number in range(PATHS_KEPT + 5)}
    found = diff_requests(
        {"tools": [{"name": "look", **many}]},
        {"tools": [{"name": "look", **dict.fromkeys(many, -1)}]},
    ).unwrap()

    assert found.tools is not None
    (tool,) = found.tools.changed
    assert (len(tool.differences), tool.more) == (PATHS_KEPT, True)


def test_prefix_messages_are_the_headers() -> None:
    """Behind a changed one stands the header event that changed the prefix."""
    one, other = ({"role": "user", "content": [text(words)]} for words in ("hi", "ho"))
    found = compared(*two_steps(header(1, messagePrefix=[one]), header(5, messagePrefix=[other])))

    (run,) = found.runs
    assert run.causes == (EventName(5, "request/header", "initial"),)
    assert str(found.first) == "messages[0].content[0].text"


def test_bare_requests_have_no_events() -> None:
    """As a replayed run and a captured body need it."""
    found = diff_requests(said("a", "b", "c"), said("a", "x", "c", "d")).unwrap()

    assert [(run.kind, run.new_start, run.new_stop) for run in found.runs] == [
        ("replaced", 1, 2),
        ("added", 3, 4),
    ]
    assert found.first_behind == Behind()
    assert found.runs[0].old_events == (None,)
    assert found.runs[0].causes == ()


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        ({"messages": 1}, {"messages": []}, "messages"),
        ({"messages": {}}, {}, "messages (missing)"),
        ({"tools": [1]}, {"tools": [2]}, "tools[0]"),
        ({"system": 1}, {"system": "a"}, "system"),
        ({"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}, "x (key order)"),
        ({"messages": [1]}, {"messages": [{"content": 2}]}, "messages[0]"),
        ({"a": 1, "b": 1}, {"b": 1, "a": 1}, "$ (key order)"),
    ],
)
def test_a_request_of_any_shape_is_compared(old: Any, new: Any, first: str) -> None:
    """A live request may hold anything: an odd part is compared whole."""
    found = diff_requests(old, new).unwrap()

    assert str(found.first) == first
    assert not found.equal


def test_that_only_call_ids_differ_is_said() -> None:
    """The texts differ all the same; ids are compared by their order."""

    def log(*ids: str, words: str = "Yes") -> list[Any]:
        return [
            turn_start(0),
            header(1),
            step_start(2),
            assistant(3, *map(asking, ids)),
            result(4, ids[0]),
            step_end(5),
            step_start(6, step=2),
            assistant(7, text(words)),
            step_end(8, step=2),
            step_start(9, step=3),
        ]

    def last(events: list[Any]) -> Any:
        session = replayed(*events)
        return SessionOrigins(session).of(past_requests(session)[-1])

    old = last(log("a", "b"))
    assert diff_requests(old, last(log("x", "y"))).unwrap().only_call_ids
    assert not diff_requests(old, last(log("x", "x"))).unwrap().only_call_ids
    assert not diff_requests(old, last(log("x", "y", words="No"))).unwrap().only_call_ids
    assert not diff_requests(old, old).unwrap().only_call_ids


def test_two_sessions_have_events_on_each_side_and_no_cause() -> None:
    """Which of the two is to blame is not for the library to say."""
    sides = []
    for system in ("a", "b"):
        session = replayed(turn_start(0), header(1, system=system), step_start(2))
        sides.append(SessionOrigins(session).of(past_requests(session)[0]))

    behind = diff_requests(*sides).unwrap().first_behind
    assert behind.cause is None
    assert behind.old == behind.new == EventName(1, "request/header", "initial")


def test_a_request_that_is_not_known_is_refused_with_its_fault() -> None:
    """And a bare one that is no JSON."""
    session = replayed(turn_start(0), step_start(1))
    unknown = SessionOrigins(session).of(past_requests(session)[0])

    assert diff_requests(unknown, {}).failure().code is Code.NO_REQUEST_HEADER
    assert diff_requests({}, {"a": {1, 2}}).failure().code is Code.NOT_JSON
    wrong: Any = [1]
    with pytest.raises(TypeError, match="Origins"):
        diff_requests(wrong, {})
