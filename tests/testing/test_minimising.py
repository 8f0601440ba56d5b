"""`minimise`: what is left of a log, what is kept sound, what is asked, and what texts become."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

import dsh_fp
from dsh_fp import Session, read, thaw, trace_violations, unwrap
from dsh_fp.testing import minimise
from dsh_fp.testing.cutting import Cut, Trunk
from dsh_fp.testing.minimising import Asked, Minimiser, NotHolding, removed_types
from dsh_fp.testing.scrubbing import Scrubber
from tests.cli.logs import GARDEN, Log, text


def garden() -> Session:
    """A log of four turns with calls, chunks, header changes and a compaction."""
    return unwrap(read(GARDEN)).session


def types_of(session: Session) -> list[str]:
    """The types of a session's events."""
    return [event.type for event in session]


def has(kind: str, count: int = 1) -> Any:
    """The predicate that needs so many events of a type."""
    return lambda session: types_of(session).count(kind) >= count


# ---- what is left ----------------------------------------------------------------------------


def test_a_predicate_that_needs_nothing_leaves_nothing() -> None:
    """An empty log, in a few calls."""
    search = Minimiser(garden(), lambda _: True)

    assert len(search.run()) == 0
    assert search.calls < 12


def test_a_replacement_keeps_what_it_replaces() -> None:
    """One message in one turn, and the message in its place; both are empty by then."""
    least = minimise(garden(), lambda session: session.surface.generation > 0)

    assert types_of(least) == ["turn/start", "user/message", "user/message"]
    assert thaw(least.events[2].surface_op) == {"op": "replace", "start": 1, "end": 1}
    assert thaw(least.events[2].source_event_seqs) == [1]
    assert least.events[1].data["content"] == []


def test_a_result_keeps_its_call() -> None:
    """The step it stands in, the message that asked, the call that was made."""
    least = minimise(garden(), has("tool/result"))

    assert types_of(least) == [
        "turn/start",
        "step/start",
        "assistant/message",
        "tool/call",
        "tool/result",
    ]
    assert [block["type"] for block in least.events[2].data["content"]] == ["tool-call"]
    assert unwrap(dsh_fp.is_balanced_cut(least.nodes(), None))


def test_of_two_calls_the_one_that_is_needed_stays() -> None:
    """The block of the other leaves its message, with its call and its result."""
    log = Log()
    log.open_step(header=None)
    log.say("both")
    calls = [{"type": "tool-call", "id": each, "name": "t", "arguments": "{}"} for each in "ab"]
    place = {"turn": 1, "step": 1}
    log.add("assistant/message", {**place, "content": calls}, surface_op="append")
    for each in "ab":
        log.add("tool/call", {**place, "callId": each, "name": "t", "arguments": "{}"})
    for each in "ab":
        result = {**place, "callId": each, "content": text(f"result {each}"), "isError": False}
        log.add("tool/result", result, surface_op="append")
    log.close()

    least = minimise(log.session, lambda session: "result b" in str(session.messages()))

    assert [thaw(event.data).get("callId") for event in least][3:] == ["b", "b"]
    assert [block["id"] for block in least.events[2].data["content"]] == ["b"]


def test_turns_and_steps_are_numbered_anew() -> None:
    """What is left of turn 3 and its second step is turn 1 and its first step."""
    log = Log()
    for turn in (1, 2, 3):
        for step in (1, 2):
            log.open_step(turn=turn, step=step, header=None)
            chunk = {"type": "text-delta", "index": 0, "text": f"{turn}.{step}"}
            log.add("assistant/chunk", {"turn": turn, "step": step, "chunk": chunk})
            log.add("step/end", {"turn": turn, "step": step})
        error = {"kind": "error", "step": 2, "message": "gone"}
        log.add("turn/end", {"turn": turn, "reason": error})
    session = unwrap(read(log.content)).session

    def ends_with_its_turn(candidate: Session) -> bool:
        has_text = "3.2" in str([event.data for event in candidate])
        return has_text and types_of(candidate)[-1] == "turn/end"

    least = minimise(session, ends_with_its_turn)

    assert [thaw(event.data) for event in least] == [
        {"turn": 1, "trigger": {"kind": "message", "source": {"kind": "user"}}},
        {"turn": 1, "step": 1},
        {"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": "3.2"}},
        {"turn": 1, "step": 1},
        {"turn": 1, "reason": {"kind": "error", "step": 1, "message": "gone"}},
    ]


def test_two_turns_become_one_where_one_is_enough() -> None:
    """The end between them goes with the start behind it, and the steps count on."""
    log = Log()
    for turn in (1, 2):
        log.open_step(turn=turn, header=None)
        for _ in range(3 - turn):
            log.say(f"in {turn}")
        log.close(turn=turn)

    messages = minimise(log.session, has("user/message", 3))
    steps = minimise(log.session, has("step/start", 2))

    assert types_of(messages) == ["turn/start", "user/message", "user/message", "user/message"]
    assert types_of(steps) == ["turn/start", "step/start", "step/end", "step/start"]
    assert [event.data.get("step") for event in steps] == [None, 1, 1, 2]
    assert trace_violations(steps.events) == ()


def test_an_answered_call_stays_answered() -> None:
    """Where every call has its result, the result is not left out alone."""

    def asks_in_a_closed_turn(session: Session) -> bool:
        return "'tool-call'" in str(session.messages()) and "turn/end" in types_of(session)

    least = minimise(garden(), asks_in_a_closed_turn)

    assert unwrap(dsh_fp.is_balanced_cut(least.nodes(), None))
    assert "tool/result" in types_of(least)


def test_a_replacement_goes_with_all_that_it_replaced() -> None:
    """There would be nothing left to replace."""
    log = Log()
    log.say("one")
    log.say("two")
    log.replace(0, 1, "both", sources=[0, 1])
    trunk = Trunk.of(log.session)

    one = trunk.without(Cut((0,)))
    both = trunk.without(Cut((0, 1)))

    assert one is not None
    assert thaw(one.session.events[1].surface_op) == {"op": "replace", "start": 0, "end": 0}
    assert both is not None
    assert len(both.session) == 0


def test_a_delta_keeps_its_snapshot() -> None:
    """A candidate whose header cannot be folded is no candidate."""
    asked: list[Session] = []

    def needs_delta(session: Session) -> bool:
        asked.append(session)
        return "request/header-delta" in types_of(session)

    least = minimise(garden(), needs_delta)

    assert types_of(least) == ["turn/start", "request/header", "request/header-delta"]
    assert all(
        unwrap(session.request_header()) is not None for session in asked if len(session) > 9
    )
    assert list(least.events[1].data["header"]) == ["config"]


def test_what_was_unsound_may_stay_so() -> None:
    """A breach that the log has is kept when it is what the predicate is about."""
    log = Log()
    log.open_step(header=None)
    log.close()
    log.say("outside of any turn")
    log.open_step(turn=5, header=None)

    def breaks(session: Session) -> bool:
        return {fault.code for fault in trace_violations(session.events)} >= {"OUTSIDE_TURN"}

    least = minimise(log.session, breaks)

    assert types_of(least) == ["user/message"]


def test_a_fork_keeps_its_seed_within_its_log() -> None:
    """`seedLength` counts what is left of the inherited events."""
    session = garden()
    session = session.with_header(attrs.evolve(session.header, seed_length=60))

    least = minimise(session, has("user/message"))

    assert len(least) == 2
    assert least.header.seed_length is not None
    assert least.header.seed_length <= 2


def test_a_guarded_session_asks_its_guard() -> None:
    """What a strict session refuses is no candidate."""
    log = garden()
    session = unwrap(Session.create(seed=log.events, guard=dsh_fp.strict()))

    least = minimise(session, has("step/end"))

    assert types_of(least) == ["turn/start", "step/start", "step/end"]
    assert least.guard is not None


# ---- asking ----------------------------------------------------------------------------------


def test_a_predicate_that_does_not_hold_is_an_error() -> None:
    """A ValueError, after one call."""
    with pytest.raises(NotHolding, match="does not hold for the whole log"):
        minimise(garden(), lambda _: False)
    assert issubclass(NotHolding, ValueError)


def test_what_a_predicate_raises_is_not_caught() -> None:
    """It may be a bug of the predicate."""
    with pytest.raises(ZeroDivisionError):
        minimise(garden(), lambda session: bool(len(session) / 0))


@pytest.mark.parametrize("most", [1, 2, 5, 9])
def test_calls_are_bounded(most: int) -> None:
    """The best log found by then is the answer, and holds."""
    search = Minimiser(garden(), has("tool/result"), max_calls=most)

    best = search.run(scrub=True)

    assert search.calls == most
    assert not search.is_complete
    assert has("tool/result")(best)


def test_every_answer_is_told() -> None:
    """Its number, what was tried, of how many events, and whether it held."""
    heard: list[Asked] = []
    search = Minimiser(garden(), has("tool/call"), heard=heard.append)

    best = search.run()

    assert [each.number for each in heard] == list(range(1, search.calls + 1))
    assert heard[0] == Asked(1, "the whole log", 90, holds=True)
    assert [each.events for each in heard if each.holds][-1] == len(best)


def test_no_small_candidate_is_asked_about_twice() -> None:
    """A predicate may be a program that takes minutes."""
    asked: list[str] = []

    def noted(session: Session) -> bool:
        asked.append(dsh_fp.encode_log(session.header, session.events).decode())
        return "tool/result" in types_of(session)

    minimise(garden(), noted)

    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("wrong", [[], None, "log"])
def test_only_a_session_is_taken(wrong: Any) -> None:
    """Where a session is, is said."""
    with pytest.raises(TypeError, match=r"a LogFile has one as \.session"):
        minimise(wrong, lambda _: True)


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5])
def test_the_bound_is_a_number(wrong: Any) -> None:
    """From 1 on."""
    with pytest.raises(ValueError, match="at least 1"):
        minimise(garden(), lambda _: True, max_calls=wrong)


def test_a_long_log_takes_few_large_candidates() -> None:
    """Of 400 turns one is found by halving: few candidates have more than a tenth of it."""
    log = Log()
    for turn in range(1, 401):
        log.add("turn/start", {"turn": turn, "trigger": {"kind": "continuation"}})
        log.say(f"message {turn}.")
        log.add("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
    heard: list[Asked] = []
    search = Minimiser(
        log.session, lambda s: "message 123." in str(s.messages()), heard=heard.append
    )

    assert len(search.run()) == 2
    assert heard[1].trying == "a shorter log"
    assert sum(each.events > 120 for each in heard) < 25
    assert search.calls < 60


def test_removed_events_are_counted_by_type() -> None:
    """The most first."""
    before = garden()
    least = minimise(before, has("tool/result"))

    removed = removed_types(before, least)

    assert sum(removed.values()) == len(before) - len(least)
    assert next(iter(removed)) == "assistant/chunk"


# ---- texts -----------------------------------------------------------------------------------


def scrubbed(session: Session) -> Session:
    """The session with all its texts replaced."""
    scrubber = Scrubber(session)
    return scrubber.scrubbed(scrubber.texts)


def test_texts_become_placeholders() -> None:
    """By line, by where they stand; equal ones alike; the words of the format stay."""
    log = Log("private", cwd="/home/ada/secret", parent_session="private-0")
    header = {"config": {"model": "tern-1"}, "system": "Be brief.\n\n  \nBe kind.\nBe brief."}
    log.open_step(header={**header, "tools": [{"name": "look", "inputSchema": {"my key": "look"}}]})
    log.say("Open /home/ada/secret, user.")
    arguments = '{"path":"/home/ada/secret","n":1}'
    call = {"type": "tool-call", "id": "toolu_1", "name": "look", "arguments": arguments}
    log.add("assistant/message", {"turn": 1, "step": 1, "content": [call]}, surface_op="append")
    log.add("secret/type", {"user": "text"})

    told = [thaw(event.to_wire()) for event in scrubbed(log.session)]

    assert told[2]["data"]["header"] == {
        "config": {"model": "model-1"},
        "system": "text-1\n\n  \ntext-2\ntext-1",
        "tools": [{"name": "name-1", "inputSchema": {"key-1": "name-1"}}],
    }
    assert told[3]["data"]["content"] == [{"type": "text", "text": "text-3"}]
    assert told[4]["data"]["content"] == [
        {
            "type": "tool-call",
            "id": "call-1",
            "name": "name-1",
            "arguments": '{"text-4":"/path-1","n":1}'.replace('"n"', '"text-5"'),
        }
    ]
    assert told[5]["type"] == "type-1"
    assert told[5]["data"] == {"key-2": "text-6"}


def test_the_session_header_is_scrubbed_too() -> None:
    """Its id, its parent, its folder; a folder stays absolute."""
    log = Log("private", cwd="/home/ada", parent_session="older")

    assert thaw(scrubbed(log.session).header.to_wire()) == {
        "version": 0,
        "id": "session-1",
        "createdAt": 0,
        "cwd": "/path-1",
        "parentSession": "session-2",
    }


def test_odd_texts_are_no_trouble() -> None:
    """Quotes, halves of pairs, deep payloads, arguments that are no JSON."""
    deep: Any = "bottom"
    for _ in range(3_000):
        deep = [deep]
    log = Log()
    log.add("x", {'a"b\\': ["\ud800", '"', "\\", "\u2028x"], "deep": deep})
    call = {"turn": 1, "step": 1, "callId": "c", "name": "t", "arguments": '{"open'}
    log.add("tool/call", call)
    log.add("tool/call", {**call, "arguments": "[" * 5_000})

    texts = Scrubber(log.session).texts
    after = scrubbed(log.session)

    assert {'a"b\\', "\ud800", '"', "\\", "\u2028x", "bottom", '{"open'} <= set(texts)
    assert thaw(after.events[1].data)["arguments"].startswith("text-")
    assert len(after) == 3


def test_a_placeholder_is_no_text_of_the_log() -> None:
    """Or two texts that differ might become one."""
    log = Log()
    log.say("text-1")
    log.say("text-2")

    after = scrubbed(log.session)

    assert {event.data["content"][0]["text"] for event in after} == {"text-3", "text-4"}


def test_a_text_that_matters_stays() -> None:
    """All others are replaced."""
    log = Log()
    for word in ("ebb", "flow", "spring", "neap"):
        log.say(word)

    least = minimise(log.session, lambda s: len(s) == 4 and "neap" in str(s.messages()), scrub=True)

    words = [event.data["content"][0]["text"] for event in least if event.data["content"]]
    assert words == ["neap"]


def test_without_being_asked_no_text_is_touched() -> None:
    """What is left is what was written."""
    least = minimise(garden(), has("user/message"))

    assert least.header == garden().header
