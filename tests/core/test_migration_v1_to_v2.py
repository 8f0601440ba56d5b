"""From v1 to v2: pieces move into the message or the attempt they made."""

from __future__ import annotations

from typing import Any

from dsh_fp import Code
from tests.core.migrating import Wire, after, carried, refused
from tests.formats.making import TIME, Writer, asks, conversation, says

PIECE = {"type": "text-delta", "index": 0, "text": "a"}


def begun() -> Writer:
    log = Writer(1)
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    return log


def types(events: list[Wire]) -> list[str]:
    return [event["type"] for event in events]


def test_an_answer_takes_the_pieces_that_it_cites() -> None:
    made = after(1, conversation(1))

    first, second = (event for event in made if event["type"] == "assistant/message")
    assert first["data"]["stream"] == []
    (record,) = second["data"]["stream"]
    assert record["texts"] == ["S", "ow", " it", "."]
    assert record["dt"] == [5, 5, 5]
    assert "sourceEventSeqs" not in second
    assert "assistant/chunk" not in types(made)


def test_an_answer_that_cites_other_than_its_pieces_is_refused() -> None:
    log = begun()
    log.answer(1, 1, [says("ab")], ["a", "b"])
    log.events[-1]["sourceEventSeqs"] = [2]

    fault = refused(1, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, 4)


def test_pieces_without_an_answer_are_an_attempt_where_the_last_one_stood() -> None:
    log = begun()
    log.chunk(1, 1, PIECE)
    log.add("todo/write", {"todos": []})
    last = log.chunk(1, 1, PIECE)
    log.add("todo/write", {"todos": []})
    log.add("step/end", {"turn": 1, "step": 1})

    made = after(1, log.events)

    assert types(made)[2:] == ["todo/write", "assistant/attempt", "todo/write", "step/end"]
    assert made[3]["time"] == TIME + 5 * last
    assert made[3]["data"]["stream"][0]["texts"] == ["a", "a"]


def test_a_finish_ends_an_attempt() -> None:
    log = begun()
    log.chunk(1, 1, {"type": "finish", "reason": {"kind": "stop"}})
    log.chunk(1, 1, PIECE)

    made = after(1, log.events)

    assert types(made)[2:] == ["assistant/attempt", "assistant/attempt"]


def test_a_retry_ends_an_attempt_so_the_answer_takes_only_what_came_later() -> None:
    log = begun()
    log.chunk(1, 1, PIECE)
    log.add("llm/retry", {"retryId": "r", "turn": 1, "step": 1, "retry": 1})
    log.answer(1, 1, [says("b")], ["b"])

    made = after(1, log.events)

    assert types(made)[2:] == ["assistant/attempt", "llm/retry", "assistant/message"]
    assert made[2]["data"]["stream"][0]["texts"] == ["a"]
    assert made[4]["data"]["stream"][0]["texts"] == ["b"]


def test_a_reference_to_a_piece_is_refused() -> None:
    log = begun()
    log.chunk(1, 1, PIECE)
    log.add("session/title", {"title": "t", "messageSeqs": [2], "source": {"kind": "user"}})

    fault = refused(1, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, 3)


def test_seqs_and_what_names_them_are_counted_anew() -> None:
    log = begun()
    log.answer(1, 1, [says("ab")], ["a", "b"])
    said = log.say("so")
    log.add("session/title", {"title": "t", "messageSeqs": [said], "source": {"kind": "user"}})
    place = {"op": "replace", "start": 4, "end": said}
    sources = [4, said]
    log.say("short")
    log.events[-1] |= {"sourceEventSeqs": sources, "surfaceOp": place}

    made = after(1, log.events)

    assert [event["seq"] for event in made] == list(range(6))
    assert made[4]["data"]["messageSeqs"] == [3]
    assert made[5]["surfaceOp"] == {"op": "replace", "start": 2, "end": 3}
    assert made[5]["sourceEventSeqs"] == [2, 3]


def test_sources_are_written_before_the_place() -> None:
    log = begun()
    log.answer(1, 1, [asks("c-1")])
    call = log.call(1, 1, "c-1")
    log.result(1, 1, "c-1", call)
    result = log.events[-1]
    result["sourceEventSeqs"] = result.pop("sourceEventSeqs")

    made = after(1, log.events)

    assert list(made[-1])[-2:] == ["sourceEventSeqs", "surfaceOp"]


def test_three_sources_in_a_row_are_written_as_a_pair() -> None:
    log = begun()
    for _ in range(4):
        log.say("x")
    log.say("short")
    place = {"op": "replace", "start": 2, "end": 5}
    log.events[-1] |= {"sourceEventSeqs": [2, 3, 4, 5], "surfaceOp": place}

    made = after(1, log.events)

    assert made[-1]["sourceEventSeqs"] == [[2, 5]]


def test_a_turn_that_a_restart_left_open_is_ended_before_the_next_message() -> None:
    log = Writer(1)
    log.add("turn/start", {"turn": 1})
    log.add("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": []})
    log.add("turn/start", {"turn": 2})

    made = after(1, log.events)

    assert types(made) == ["turn/start", "turn/end", "agent/inbox/spliced", "turn/start"]
    assert made[1]["data"] == {"turn": 1, "reason": {"kind": "interrupted"}}
    assert made[1]["time"] == made[0]["time"]


def _seeded(*kinds: str) -> list[Wire]:
    log = Writer(1)
    for kind in kinds:
        log.add(kind, {})
    return log.events


def test_the_mark_at_the_end_of_inheritance_says_so() -> None:
    events = _seeded("session/end-seed", "todo/write", "session/end-seed", "session/end-seed")

    made = carried(1, events, seedLength=2)

    data = [event.data for event in made.session.events]
    assert data == [{}, {}, {"inherited": True}, {}]
    assert made.session.header.seed_length is None
    assert made.session.header.extra["isSeeded"] is True


def test_a_mark_is_put_where_none_is() -> None:
    made = after(1, _seeded("todo/write", "todo/write"), seedLength=1)

    assert types(made) == ["todo/write", "session/end-seed", "todo/write"]
    assert made[1]["data"] == {"inherited": True}


def test_an_end_of_inheritance_inside_an_answer_is_refused() -> None:
    log = begun()
    log.chunk(1, 1, PIECE)
    log.chunk(1, 1, PIECE)

    fault = refused(1, log.events, seedLength=3)

    assert fault.code is Code.CONVERSION_REFUSED
    assert "inside an answer" in fault.message


def test_more_inherited_events_than_there_are_are_refused() -> None:
    fault = refused(1, _seeded("todo/write"), seedLength=2)

    assert fault.code is Code.CONVERSION_REFUSED


def test_a_mark_that_the_header_does_not_know_is_refused() -> None:
    log = Writer(1)
    log.add("session/end-seed", {"inherited": True})

    fault = refused(1, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, 0)


def test_a_goal_that_changes_in_a_message_is_refused() -> None:
    log = begun()
    log.say("x")
    source: dict[str, Any] = {"kind": "goal", "change": {}}
    log.events[-1]["data"]["source"] = source

    fault = refused(1, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, 2)
