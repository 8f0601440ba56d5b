"""`what_if`: events dropped, replaced and inserted, and what becomes of requests."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Code, Session, encode_log, read, strict, unwrap
from dsh_fp.core.references import renumbered
from dsh_fp.core.what_if import Drop, Edit, Insert, Replace, WhatIf, what_if
from dsh_fp.core.what_if.asking import TRIED_ALONE
from tests.cli.logs import GARDEN
from tests.core.making import (
    USER,
    asking,
    assistant,
    delta,
    event,
    header,
    note,
    replacing,
    replayed,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)

SAID = {"content": [text("Hello")], "source": USER}


def asked(session: Session, *edits: Edit) -> WhatIf:
    """The answer to edits that make sense."""
    return unwrap(what_if(session, edits))


def edited(session: Session, *edits: Edit) -> list[dict[str, Any]]:
    """The events of the edited log, which is accepted."""
    answer = asked(session, *edits)
    assert answer.session is not None
    return [event.to_wire() for event in answer.session]


def said_at(before: int, words: str = "Hello", **more: Any) -> Insert:
    """A user message to insert."""
    data = {"content": [text(words)], "source": USER}
    return Insert(before, "user/message", data, **{"surface_op": "append", **more})


def steps(*inside: dict[str, Any]) -> Session:
    """A log of one turn: a header, a node, a step for each node given, each step closed."""
    log = [turn_start(0), header(1), user(2)]
    for number, wire in enumerate(inside, start=1):
        log.append({**wire, "seq": len(log)})
        log.append(step_start(len(log), step=number))
        log.append(step_end(len(log), step=number))
    return replayed(*log, turn_end(len(log)))


# ---- how events are carried ------------------------------------------------------------------


def test_without_edits_the_log_is_the_same() -> None:
    """Not only equal: nothing is made anew."""
    session = replayed(user(0), note(1), replacing(2, 0, 0, cites=[0]))

    answer = asked(session)

    assert answer.session is session
    assert (answer.requests, answer.breaches) == ((), ())


def test_later_events_are_renumbered() -> None:
    """A dropped event pulls them forward, an inserted one pushes them back."""
    session = replayed(note(0), note(1), note(2))

    answer = asked(session, Drop(0), Insert(2, "plugin/new", None), Insert(3, "plugin/last", None))

    assert answer.session is not None
    assert [each.type for each in answer.session] == [
        "plugin/note",
        "plugin/new",
        "plugin/note",
        "plugin/last",
    ]
    assert [answer.new_seq(old) for old in range(3)] == [None, 0, 2]
    assert [answer.old_seq(new) for new in range(4)] == [1, None, 2, None]


def test_a_dropped_source_leaves_the_citation() -> None:
    """The others keep their order; none left means no citation, never an empty list."""
    session = replayed(
        note(0), note(1), user(2, sourceEventSeqs=[1, 0]), user(3, sourceEventSeqs=[0])
    )

    wires = edited(session, Drop(0))

    assert wires[1]["sourceEventSeqs"] == [0]
    assert "sourceEventSeqs" not in wires[2]


def test_a_replacement_keeps_the_nodes_that_are_left() -> None:
    """Its start and end are the first and last of them."""
    session = replayed(user(0), user(1), user(2), replacing(3, 0, 2, cites=[0, 1, 2]))

    first, last = edited(session, Drop(0))[-1], edited(session, Drop(2))[-1]

    assert first["surfaceOp"] == {"op": "replace", "start": 0, "end": 1}
    assert last["surfaceOp"] == {"op": "replace", "start": 0, "end": 1}
    assert first["sourceEventSeqs"] == last["sourceEventSeqs"] == [0, 1]


def test_what_is_left_is_told_in_surface_order() -> None:
    """A start may be the larger number: node 3 stands before node 1 here."""
    session = replayed(
        user(0), user(1), user(2), replacing(3, 0, 0, cites=[0]), replacing(4, 3, 2, [3, 1, 2])
    )

    wire = edited(session, Drop(2))[-1]

    assert wire["surfaceOp"] == {"op": "replace", "start": 2, "end": 1}


def test_a_dropped_replacement_leaves_what_it_had_taken() -> None:
    """A later one that would have taken it away takes that, and cites it."""
    session = replayed(user(0), user(1), replacing(2, 0, 1, [0, 1]), replacing(3, 2, 2, cites=[2]))

    wire = edited(session, Drop(2))[-1]

    assert wire["surfaceOp"] == {"op": "replace", "start": 0, "end": 1}
    assert wire["sourceEventSeqs"] == [0, 1]


def test_a_replacement_of_nothing_cannot_be_carried() -> None:
    """It is refused and the edits that left it nothing are named, no other."""
    session = replayed(user(0), user(1), note(2), replacing(3, 0, 1, cites=[0, 1]))

    answer = asked(session, Drop(2), Drop(0), said_at(4), Drop(1))

    assert answer.session is None
    assert answer.refusal is not None
    assert (answer.refusal.code, answer.refusal.seq) == (Code.NOTHING_LEFT_TO_REPLACE, 0)
    assert answer.blamed == (1, 3)
    assert (answer.requests, answer.breaches) == ((), ())


def test_a_node_inserted_into_a_range_is_cited() -> None:
    """Behind what was cited before."""
    session = replayed(user(0), user(1), replacing(2, 0, 1, cites=[1, 0]))

    wire = edited(session, said_at(1))[-1]

    assert wire["surfaceOp"] == {"op": "replace", "start": 0, "end": 2}
    assert wire["sourceEventSeqs"] == [2, 0, 1]


def test_a_node_inserted_beside_a_range_is_not_in_it() -> None:
    """Before its start, or behind its end."""
    session = replayed(user(0), user(1), replacing(2, 0, 1, cites=[0, 1]))

    answer = asked(session, said_at(0), said_at(2))

    assert answer.session is not None
    assert answer.session.surface.seqs == (0, 4, 3)


def test_insertions_at_one_place_keep_their_order() -> None:
    """As they are given, also when other edits come between."""
    session = replayed(note(0), note(1))

    wires = edited(session, Insert(1, "a", 1), Drop(0), Insert(1, "b", 2), Insert(0, "c", 3))

    assert [wire["type"] for wire in wires] == ["c", "a", "b", "plugin/note"]


def test_an_inserted_replacement_stands_for_what_it_took() -> None:
    """A later replacement that would have taken its nodes takes it."""
    session = replayed(user(0), user(1), user(2), replacing(3, 0, 1, cites=[0, 1]))
    op = {"op": "replace", "start": 0, "end": 0}
    within = said_at(2, surface_op=op, source_event_seqs=[0])

    wire = edited(session, within)[-1]

    assert wire["surfaceOp"] == {"op": "replace", "start": 2, "end": 1}
    assert wire["sourceEventSeqs"] == [0, 1, 2]


def test_an_inserted_replacement_that_took_more_stands_for_nothing() -> None:
    """The later replacement may not take what it never took: it is refused."""
    session = replayed(user(0), user(1), user(2), replacing(3, 1, 2, cites=[1, 2]))
    op = {"op": "replace", "start": 0, "end": 1}
    across = said_at(2, surface_op=op, source_event_seqs=[0, 1])

    answer = asked(session, across)

    assert answer.refusal is not None
    assert answer.refusal.code is Code.REPLACE_START_UNKNOWN
    assert answer.blamed == (0,)


def test_an_insertion_names_the_log_as_it_was() -> None:
    """Its range and its sources are carried like those of any event."""
    session = replayed(note(0), user(1), user(2))
    op = {"op": "replace", "start": 1, "end": 2}

    answer = asked(
        session, Drop(0), Drop(1), said_at(3, surface_op=op, source_event_seqs=[0, 1, 2])
    )

    assert answer.session is not None
    wire = answer.session.events[1].to_wire()
    assert wire["surfaceOp"] == {"op": "replace", "start": 0, "end": 0}
    assert wire["sourceEventSeqs"] == [0]


def test_an_insertion_may_replace_what_only_edits_bring_back() -> None:
    """Its range need not be one of the log as it was."""
    session = replayed(user(0), user(1), replacing(2, 0, 1, cites=[0, 1]))
    op = {"op": "replace", "start": 0, "end": 1}

    answer = asked(session, Drop(2), said_at(3, surface_op=op, source_event_seqs=[0, 1]))

    assert answer.session is not None
    assert answer.session.surface.seqs == (2,)


def test_an_insertion_is_judged_as_any_event() -> None:
    """Nothing is added to what it forgot to cite, or to say."""
    session = replayed(user(0), user(1))
    op = {"op": "replace", "start": 0, "end": 1}
    codes = [
        asked(session, edit).refusal
        for edit in (
            said_at(2, surface_op=op, source_event_seqs=[0]),
            said_at(2, surface_op=None),
            said_at(1, source_event_seqs=[1]),
            said_at(2, source_event_seqs=[]),
            said_at(2, surface_op="replace"),
            Insert(2, "plugin/x", None, surface_op="append"),
        )
    ]

    assert [fault and fault.code for fault in codes] == [
        Code.REPLACE_UNCITED,
        Code.SURFACE_OP_MISSING,
        Code.SOURCES_NOT_EARLIER,
        Code.SOURCES_EMPTY,
        Code.SURFACE_OP_INVALID,
        Code.SURFACE_OP_FORBIDDEN,
    ]


def test_an_insertion_has_the_time_of_the_event_before_it() -> None:
    """Of the one behind it at the beginning, 0 in an empty log; its own if it has one."""
    session = replayed(note(0), note(1))
    empty = unwrap(Session.create())

    times = [edited(session, Insert(at, "x", None))[at]["time"] for at in range(3)]

    assert times == [1000, 1000, 1001]
    assert edited(empty, Insert(0, "x", None))[0]["time"] == 0
    assert edited(session, Insert(1, "x", None, time=5))[1]["time"] == 5


def test_a_replaced_event_keeps_its_place_and_its_sources() -> None:
    """Payload, type and time are those of the edit, or as they were."""
    session = replayed(note(0), user(1, sourceEventSeqs=[0]))
    other = {"content": [], "source": USER}

    wires = edited(session, Replace(0, 7, type="plugin/other"), Replace(1, other, time=3))

    assert wires[0] == {"type": "plugin/other", "seq": 0, "time": 1000, "data": 7}
    assert wires[1] == {**user(1, sourceEventSeqs=[0]), "data": other, "time": 3}


def test_a_type_that_may_not_join_is_refused() -> None:
    """A replaced node stays a node."""
    answer = asked(replayed(user(0)), Replace(0, None, type="plugin/x"))

    assert answer.refusal is not None
    assert answer.refusal.code is Code.SURFACE_OP_FORBIDDEN


@pytest.mark.parametrize(
    ("drops", "expected"),
    [
        ([], {"shadowedRange": {"start": 0, "end": 2}, "shadowedSeqs": [0, 1, 2]}),
        ([0], {"shadowedRange": {"start": 0, "end": 1}, "shadowedSeqs": [0, 1]}),
        ([2], {"shadowedRange": {"start": 0, "end": 1}, "shadowedSeqs": [0, 1]}),
        ([0, 1, 2, 4], {"shadowedSeqs": []}),
    ],
)
def test_a_summary_names_what_is_left(drops: list[int], expected: dict[str, Any]) -> None:
    """The seqs in a compaction's payload are carried; a range of nothing is left out."""
    payload = {"shadowedRange": {"start": 0, "end": 2}, "shadowedSeqs": [0, 1, 2]}
    session = replayed(
        user(0),
        user(1),
        user(2),
        event("compact/summary", 3, payload),
        replacing(4, 0, 2, cites=[0, 1, 2]),
    )

    wires = edited(session, *map(Drop, drops))

    (summary,) = [wire for wire in wires if wire["type"] == "compact/summary"]
    assert summary["data"] == expected


def test_an_odd_summary_is_carried_as_it_is() -> None:
    """What is no seq names nothing; a seq beyond the log stays beyond it."""
    odd = {"shadowedSeqs": ["a", 0, True, 9], "shadowedRange": 5}
    session = replayed(note(0), event("compact/summary", 1, odd), event("compact/summary", 2, []))

    wires = edited(session, Insert(0, "x", None))

    assert wires[2]["data"] == {"shadowedSeqs": ["a", 1, True, 10], "shadowedRange": 5}
    assert wires[3]["data"] == []


def test_the_seed_is_counted_anew() -> None:
    """`seedLength` counts what is inherited: an event of one's own does not change it."""
    session = unwrap(Session.create("s", seed_length=2, seed=[note(0), note(1), note(2)]))

    def seed(*edits: Edit) -> int | None:
        answer = asked(session, *edits)
        assert answer.session is not None
        return answer.session.header.seed_length

    assert seed() == seed(Drop(2)) == seed(Insert(2, "x", None)) == 2
    assert seed(Drop(0)) == 1
    assert seed(Insert(1, "x", None)) == 3


def test_a_guard_goes_on_guarding() -> None:
    """A session whose writer wants to be refused is refused here too."""
    guarded = unwrap(Session.create(guard=strict(), seed=[turn_start(0), turn_end(1)]))

    answer = asked(guarded, Drop(0))

    assert answer.refusal is not None
    assert answer.refusal.code is Code.TURN_MISMATCH


def test_lines_are_moved_as_values_are() -> None:
    """A log that was read keeps most lines undecoded; the edited texts are the same."""
    log = unwrap(read(GARDEN)).session
    made = unwrap(Session.replay([each.to_wire() for each in log], log.header))

    for edits in ([Drop(1)], [Insert(0, "plugin/x", None)], [Drop(77), said_at(5)]):
        moved, plain = asked(log, *edits).session, asked(made, *edits).session
        assert moved is not None
        assert plain is not None
        content = encode_log(moved.header, moved.events)
        assert content == encode_log(plain.header, plain.events)
        assert unwrap(read(content)).session == moved


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"a","seq":0,"time":1,"data":{"seq":0}}',
        b'{"type":"a","seq":0,"time":1,"data":[1]}',
        b'{"type":"a","seq":5,"time":1,"data":[1],"seq":0}',
        b'{"type":"a","seq":0,"time":1,"data":[1],"s\\u0065q":0}',
        b'{"type":"a", "seq":0,"time":1,"data":[1]}',
        b'{"seq":0,"type":"a","time":1,"data":[1]}',
        b'{"type":"user/message","seq":0,"time":1,"data":[1],"surfaceOp":"append"}',
        b'{"type":"user/message","seq":0,"time":1,"surfaceOp":"append","data":[1]}',
    ],
)
def test_an_odd_line_is_moved_whatever_its_spelling(line: bytes) -> None:
    """The seq changes where the envelope has it, and nowhere else."""
    head = b'{"type":"session","version":0,"id":"x","createdAt":1}\n'
    found = unwrap(read(head + line + b"\n")).session.events[0]

    moved = renumbered(found, 12, lambda seq: seq)

    assert moved.to_wire() == {**found.to_wire(), "seq": 12}
    assert list(moved.to_wire()) == list(found.to_wire())
    assert moved.to_text() == found.to_text().replace('"seq":0', '"seq":12', 1)


# ---- edits that make no sense ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (Drop(2), Code.EDIT_INVALID),
        (Drop(-1), Code.EDIT_INVALID),
        (Drop(True), Code.EDIT_INVALID),
        (Drop(0), Code.EDIT_INVALID),
        (Replace(0, 1), Code.EDIT_INVALID),
        (Replace(2, 1), Code.EDIT_INVALID),
        (Insert(3, "x", 1), Code.EDIT_INVALID),
        (said_at(2, source_event_seqs=[2]), Code.EDIT_INVALID),
        (said_at(2, surface_op={"op": "replace", "start": 0, "end": 2}), Code.EDIT_INVALID),
        (Replace(1, float("nan")), Code.NOT_JSON),
        (Replace(1, 1, type=float("nan")), Code.NOT_JSON),  # type: ignore[arg-type]
        (Insert(0, "x", {1: 2}), Code.NOT_JSON),
        (said_at(0, source_event_seqs={1}), Code.NOT_JSON),
        (Insert(0, None, 1), Code.BAD_ENVELOPE),  # type: ignore[arg-type]
        (Insert(0, "x", 1, time=-1), Code.BAD_ENVELOPE),
    ],
)
def test_a_senseless_edit_is_refused_before_anything(edit: Edit, code: Code) -> None:
    """With its index; event 0 is dropped by the edit before it."""
    session = replayed(note(0), note(1))

    refusal = what_if(session, [Drop(0), edit]).failure()

    assert (refusal.code, refusal.index) == (code, 1)


def test_wrong_python_types_raise() -> None:
    """A log file is no session, a seq no edit."""
    with pytest.raises(TypeError, match=r"\.session"):
        what_if(read(GARDEN).unwrap(), [])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an edit is"):
        what_if(replayed(), [3])  # type: ignore[list-item]


def test_edits_are_copied() -> None:
    """What is done to a payload afterwards changes nothing."""
    data: dict[str, Any] = {"n": [1]}
    answer = asked(replayed(note(0)), Replace(0, data))

    data["n"].append(2)

    assert answer.session is not None
    assert answer.session.events[0].data == {"n": [1]}


# ---- who is to blame -------------------------------------------------------------------------


def test_each_edit_refused_alone_is_blamed() -> None:
    """However many there are."""
    session = replayed(user(0), replacing(1, 0, 0, cites=[0]))

    answer = asked(session, said_at(0, surface_op=None), Insert(0, "x", 1), Drop(0))

    assert answer.blamed == (0, 2)


def test_of_many_edits_those_are_found_that_break_it() -> None:
    """None is tried alone then."""
    count = 2 * TRIED_ALONE
    nodes = [user(seq) for seq in range(count)]
    session = replayed(*nodes, replacing(count, 7, 8, cites=[7, 8]))

    answer = asked(session, *map(Drop, range(count)))

    assert answer.blamed == (7, 8)


# ---- what becomes of requests ----------------------------------------------------------------


def test_only_later_requests_change() -> None:
    """Those that had the event; a node dropped is a message less."""
    session = steps(user(0, "one"), user(0, "two"))

    (change,) = asked(session, Drop(6)).requests

    assert (change.kind, change.turn, change.step) == ("changed", 1, 2)
    assert (change.old_seq, change.new_seq) == (7, 6)
    assert (change.added, change.removed, change.changed) == (0, 1, 0)
    assert (change.messages_before, change.messages_after) == (3, 2)
    assert change.header_changed is False
    requests = [
        next(past for past in each if past.seq == seq).to_json()
        for each, seq in ((_past(session), 7), (_past(asked(session, Drop(6)).session), 6))
    ]
    assert [len(one.encode()) for one in requests] == [change.bytes_before, change.bytes_after]


def _past(session: Session | None) -> Any:
    from dsh_fp import past_requests

    assert session is not None
    return past_requests(session)


def test_messages_are_counted_event_by_event() -> None:
    """One changed, one gone, one new: not whatever stands at the same place."""
    session = steps(user(0, "one"), user(0, "two"), user(0, "three"))
    other = {"content": [text("ONE")], "source": USER}

    changes = asked(session, Replace(3, other), Drop(6), said_at(8)).requests

    counts = [(each.added, each.removed, each.changed) for each in changes]
    assert counts == [(0, 0, 1), (0, 1, 1), (1, 1, 1)]


def test_a_header_changes_alone() -> None:
    """And its message prefix is counted in its order."""
    session = steps(user(0))
    prefix = [{"role": "system", "content": []}]
    config = {"config": {"model": "m-2"}, "messagePrefix": prefix}

    (change,) = asked(session, Replace(1, {"header": config, "reason": "initial"})).requests

    assert change.header_changed is True
    assert (change.added, change.removed, change.changed) == (1, 0, 0)
    assert change.messages_after == 3


def test_a_request_that_is_no_longer_known_is_a_change() -> None:
    """With the reason, and no numbers that nobody knows."""
    (change,) = asked(steps(user(0)), Drop(1)).requests

    assert change.kind == "changed"
    assert change.fault_after is not None
    assert change.fault_after.code is Code.NO_REQUEST_HEADER
    assert (change.bytes_after, change.added, change.header_changed) == (None, None, None)
    assert change.bytes_before is not None


def test_two_requests_that_are_not_known_are_no_change() -> None:
    """Nothing can be said of them, whatever the reasons are."""
    session = replayed(turn_start(0), delta(1), step_start(2))

    assert asked(session, Drop(1)).requests == ()


def test_requests_appear_and_vanish_where_they_stand() -> None:
    """With their steps, in the order of the edited log."""
    session = steps(user(0), user(0))
    more = Insert(6, "step/start", {"turn": 1, "step": 9})

    answer = asked(session, Drop(4), more)

    told = [(each.kind, each.step, each.old_seq, each.new_seq) for each in answer.requests]
    assert told == [("vanishes", 1, 4, None), ("appears", 9, None, 5)]
    assert [each.messages_before for each in answer.requests] == [2, None]
    assert [each.messages_after for each in answer.requests] == [None, 2]


def test_an_equal_edit_changes_no_request() -> None:
    """Replacing a payload by its like is no change."""
    session = steps(user(0))

    answer = asked(session, Replace(2, session.events[2].data), Insert(0, "x", None))

    assert answer.requests == ()
    assert answer.session != session


# ---- turns and steps -------------------------------------------------------------------------


def test_only_new_breaches_are_told() -> None:
    """By code and event; the seq is that of the edited log."""
    session = replayed(note(0), turn_start(1), user(2), turn_end(3))

    (breach,) = asked(session, Drop(1)).breaches[:1]

    assert (breach.code, breach.seq) == (Code.OUTSIDE_TURN, 1)
    assert asked(session, Insert(0, "x", 1)).breaches[0].seq == 0
    assert asked(session, Drop(2)).breaches == ()


def test_an_answer_without_its_call_is_a_breach() -> None:
    """A dropped call leaves its result, which is accepted and yet unsound."""
    session = replayed(
        turn_start(0),
        step_start(1),
        assistant(2, asking("c1")),
        event("tool/call", 3, {"turn": 1, "step": 1, "callId": "c1"}),
        event(
            "tool/result",
            4,
            {"turn": 1, "step": 1, "callId": "c1", "content": []},
            surfaceOp="append",
        ),
    )

    answer = asked(session, Drop(3))

    assert [breach.code for breach in answer.breaches] == [Code.RESULT_WITHOUT_CALL]


# ---- calls and their results -----------------------------------------------------------------


def result(seq: int, call_id: str, **more: Any) -> dict[str, Any]:
    """A result in force."""
    data = {"turn": 1, "step": 1, "callId": call_id, "content": []}
    return event("tool/result", seq, data, **{"surfaceOp": "append", **more})


def told(answer: WhatIf) -> list[tuple[str, str, str, int, int | None, int | None]]:
    """What stands alone."""
    return [
        (each.lacks, each.call_id, each.place, each.seq, each.old_seq, each.partner)
        for each in answer.pairing
    ]


def test_what_stood_alone_before_is_not_told() -> None:
    """Only what edits brought, at its new seq."""
    session = replayed(note(0), result(1, "odd"), assistant(2, asking("a", "b")), result(3, "a"))

    assert told(asked(session, Drop(0))) == []
    assert told(asked(session, Drop(0), Drop(3))) == [("result", "a", "log", 1, 2, 3)]
    assert told(asked(session, Drop(2))) == [("call", "a", "log", 2, 3, 2)]


def test_an_id_that_is_asked_for_again_has_its_own_result() -> None:
    """Dropping one of the two results leaves one call, whichever it is."""
    session = replayed(
        assistant(0, asking("a")), result(1, "a"), assistant(2, asking("a")), result(3, "a")
    )

    assert told(asked(session, Drop(1))) == [("result", "a", "log", 0, 0, 1)]
    assert told(asked(session, Drop(3))) == [("result", "a", "log", 2, 2, 3)]
    assert told(asked(session, Drop(0))) == [("call", "a", "log", 0, 1, 0)]


def test_a_second_result_of_a_call_is_not_without_a_call() -> None:
    """As a pruned result is."""
    session = replayed(assistant(0, asking("a")), result(1, "a"))
    more = {"turn": 1, "step": 1, "callId": "a", "content": []}

    assert told(asked(session, Insert(2, "tool/result", more, surface_op="append"))) == []


def test_a_pair_cut_by_a_replacement_is_one_of_the_surface() -> None:
    """The result is still in the log, and no longer in force."""
    session = replayed(assistant(0, asking("a")), result(1, "a"))
    op = {"op": "replace", "start": 1, "end": 1}

    answer = asked(session, Insert(2, "user/message", SAID, surface_op=op, source_event_seqs=[1]))

    assert answer.session is not None
    assert told(answer) == [("result", "a", "surface", 0, 0, 1)]


def test_a_refused_log_has_no_pairs() -> None:
    """There is none to look at."""
    session = replayed(user(0), replacing(1, 0, 0, [0]))

    answer = asked(session, Drop(0))

    assert answer.session is None
    assert answer.pairing == ()
