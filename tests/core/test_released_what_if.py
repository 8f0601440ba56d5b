"""What-if, usage and minimising on logs of the released generations."""

from __future__ import annotations

import json

import pytest

from dsh_fp import Session, past_requests, read, to_text, unwrap
from dsh_fp.core.generations import V0, V2, V4
from dsh_fp.core.lossless import freeze
from dsh_fp.core.pairing import is_balanced_cut
from dsh_fp.core.vocabulary import Vocabulary
from dsh_fp.core.what_if import Drop, Edit, Insert, Replace, what_if
from dsh_fp.testing import minimise
from tests.core.test_released_views import EVERY_GENERATION, talk
from tests.wire.released import Released, call, text


def compacted(vocabulary: Vocabulary, *, keep: int = 0) -> Released:
    """Two turns, all of them but the last few nodes put in one, and a third one."""
    log = talk(vocabulary)
    log.compact(keep=keep)
    log.begin().say("And now?")
    log.answer(*text("Low."))
    return log.end()


def replaced_by(session: Session) -> tuple[int, ...]:
    """The ends of the session's one replacement."""
    (op,) = (
        event.surface_op
        for event in session.events
        if event.has_surface_op and event.surface_op != "append"
    )
    return tuple(value for key, value in op.items() if key != "op")


@EVERY_GENERATION
def test_a_replacement_is_carried_in_its_own_keys(vocabulary: Vocabulary) -> None:
    """It takes what is left of its nodes, its summary names them, and the event keeps its kind."""
    session = compacted(vocabulary).session
    first, last = replaced_by(session)

    told = unwrap(what_if(session, [Drop(first), Insert(0, "session/title", {})]))

    assert told.session is not None, told.refusal
    assert {type(event) for event in told.session.events} == {type(session.events[0])}
    start, end = replaced_by(told.session)
    assert end == last
    behind = next(seq for seq in session.state_at(last).surface if seq > first)
    assert told.old_seq(start) == behind
    (summary,) = (event for event in told.session.events if event.type == "compaction/summary")
    assert summary.data["shadowedRange"] == freeze({"start": start, "end": end})
    assert summary.data["shadowedSeqs"][0] == start


@EVERY_GENERATION
def test_a_later_replacement_takes_what_an_earlier_one_left(vocabulary: Vocabulary) -> None:
    """And an inserted summary names the nodes of the edited log."""
    log = compacted(vocabulary, keep=1)
    kept = log.session.surface[-3]
    log.compact(keep=2)
    session = log.session
    earlier, later = (
        event.seq
        for event in session.events
        if event.has_surface_op and event.surface_op != "append"
    )
    named = {"shadowedSeqs": [earlier], "shadowedRange": {"start": earlier, "end": earlier}}
    edits: list[Edit] = [
        Drop(kept),
        Insert(later, "compaction/summary", named),
        Insert(0, "session/title", {}),
        Insert(0, "session/title", {}),
    ]

    told = unwrap(what_if(session, edits))

    assert told.session is not None, told.refusal
    assert len(told.session.surface) == len(session.surface)
    made = [event.data for event in told.session.events if event.type == "compaction/summary"]
    new = told.new_seq(earlier)
    assert made[-1]["shadowedSeqs"] == (new,)
    assert made[-1]["shadowedRange"] == freeze({"start": new, "end": new})


@EVERY_GENERATION
def test_changes_are_those_of_the_expanded_requests(vocabulary: Vocabulary) -> None:
    """What was said in a step counts, and every option of its header."""
    session = compacted(vocabulary).session
    said = [event.seq for event in session.events if event.type == "user/message"]

    told = unwrap(what_if(session, [Drop(said[0])]))

    assert told.session is not None, told.refusal
    old = {past.seq: past for past in past_requests(session)}
    new = {past.seq: past for past in past_requests(told.session)}
    assert len(told.requests) == 3
    for change in told.requests:
        before, after = old[change.old_seq or 0], new[change.new_seq or 0]
        assert (before.messages, after.messages) != (None, None)
        assert change.messages_before == len(before.messages or ())
        assert change.messages_after == len(after.messages or ())
        assert change.bytes_before == len(to_text(unwrap(before.request)).encode())
        assert change.bytes_after == len(to_text(unwrap(after.request)).encode())
        assert (change.added, change.removed, change.changed) == (0, 1, 0)
        assert change.header_changed is False


@EVERY_GENERATION
def test_an_inserted_event_is_of_the_generation(vocabulary: Vocabulary) -> None:
    """Its time may lie before 1970, its sources may be runs, what it names is carried."""
    session = talk(vocabulary).session
    said = next(event.seq for event in session.events if event.type == "user/message")
    message = {"role": "user", "content": text("Also?"), "source": {"kind": "user"}, "id": "n"}
    edits: list[Edit] = [
        Insert(0, "session/title", {"messageSeqs": [said], "title": "t"}, time=-5),
        Insert(len(session), "user/message", message, surface_op="append",
               source_event_seqs=[[said - 2, said]]),
        Replace(said, {**message, "content": text("What?")}),
    ]  # fmt: skip

    told = unwrap(what_if(session, edits))

    assert told.session is not None, told.refusal
    title, last = told.session.events[0], told.session.events[-1]
    assert (title.time, title.data["messageSeqs"]) == (-5, (said + 1,))
    assert last.source_event_seqs == (said - 1, said, said + 1)
    assert {type(event) for event in told.session.events} == {type(session.events[0])}


def test_what_names_a_dropped_event_is_left_out() -> None:
    """It would name another one."""
    log = talk(V4)
    header = log.session.history.header_seqs[-1]
    log.begin()
    log.developer({"type": "tool-addition", "toolName": "tide"}, header_seq=header)

    told = unwrap(what_if(log.session, [Drop(header)]))

    assert told.session is not None, told.refusal
    assert "headerSeq" not in told.session.events[-1].data


def test_breaches_are_of_the_generations_own_rules() -> None:
    """v4 asks that a call is answered before its step ends; July has no such rule."""
    log = Released(V4).begin()
    log.answer(call("c1"))
    asked = {"callId": "c1", "name": "tide", "arguments": '{"day": 1}'}
    called = log.add("tool/call", {"turn": 1, "step": 1, **asked})
    source = {"kind": "tool", "callId": "c1"}
    message = log.record("tool", text("At noon."), source, toolCallId="c1")
    data = {"turn": 1, "step": 1, "message": message}
    result = log.add("tool/result", data, op="append", sources=[called])
    session = log.end().session

    told = unwrap(what_if(session, [Drop(result)]))

    assert [breach.code.value for breach in told.breaches] == ["CALL_UNANSWERED"]
    assert [breach.index for breach in told.breaches] == [result]


def test_a_header_does_not_promise_a_mark_that_is_dropped() -> None:
    """From v2 on it says whether the log marks what was inherited."""
    log = Released(V4, isSeeded=True).begin()
    log.say("Tides?")
    mark = log.end().add("session/end-seed", {"inherited": True})

    told = unwrap(what_if(log.session, [Drop(mark)]))
    kept = unwrap(what_if(log.session, [Drop(0), Drop(1)]))

    assert told.session is not None
    assert told.session.header.extra["isSeeded"] is False
    assert kept.session is None or kept.session.header.extra["isSeeded"] is True


@pytest.mark.parametrize("vocabulary", [V0, V2, V4])
def test_usage_knows_what_was_inherited(vocabulary: Vocabulary) -> None:
    """By the header or by the last mark in the log."""
    log = Released(vocabulary).begin()
    for used in (3, 4):
        message = log.record("assistant", text("x"), {"kind": "model"})
        data = {"turn": 1, "step": 1, "message": message, "usage": {"inputTokens": used}}
        log.add("assistant/message", data, op="append")
        if used == 3:
            cut = log.add("session/end-seed", {"inherited": True} if vocabulary is not V0 else {})
    fields = {"seedLength": cut} if vocabulary is V0 else {"isSeeded": True}
    header = {"id": "quay", "createdAt": 1, **fields}
    usage = unwrap(Session.replay(log.session.events, header, vocabulary=vocabulary)).usage()

    assert (usage.inherited.input_tokens, usage.own.input_tokens) == (3, 4)


def test_usage_passes_over_packed_chunks() -> None:
    """A run of a file is no event that could have used anything."""
    data = {"turn": 1, "step": 1, "index": 0, "dt": [1, 1], "texts": ["a", "b", "c"]}
    row = {"type": "text-chunks", "seq0": 0, "time0": 1, "data": data}
    header = {"type": "session", "version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
    file = "".join(json.dumps(line) + "\n" for line in (header, row)).encode()

    session = unwrap(read(file)).session

    assert (len(session), session.usage().own.calls) == (3, 0)


@EVERY_GENERATION
def test_calls_are_counted_wherever_the_message_is(vocabulary: Vocabulary) -> None:
    """A surface that ends with a call is no balanced cut."""
    log = Released(vocabulary).begin()
    log.say("Tides?")
    log.answer(call("c1"))
    assert is_balanced_cut(log.session.nodes(), None).unwrap() is False
    log.result("c1", text("At noon."))
    assert is_balanced_cut(log.session.nodes(), None).unwrap() is True


@EVERY_GENERATION
def test_a_log_is_minimised_in_its_own_form(vocabulary: Vocabulary) -> None:
    """A replacement of any generation goes with what it replaced."""
    session = compacted(vocabulary).session

    least = minimise(session, lambda tried: any("And now?" in to_text(e.data) for e in tried))

    assert "compaction/summary" not in [event.type for event in least.events]
    assert least.vocabulary.form is vocabulary.form
    assert len(least) <= 5
