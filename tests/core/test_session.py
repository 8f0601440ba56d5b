"""Session: header, log, state and history as one value."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from dsh_fp import (
    MAX_DEPTH,
    Code,
    JsonArray,
    Session,
    SessionHeader,
    Tokens,
    Usage,
    decode_event,
    strict,
)
from tests.core.making import (
    CONFIG,
    assistant,
    delta,
    event,
    header,
    nested,
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

HELLO: dict[str, Any] = {"content": [text("Hello")], "source": {"kind": "user"}}


def empty() -> Session:
    return Session.create().unwrap()


def two_turns() -> Session:
    """Turn 1 is seqs 0 to 5, turn 2 is 6 to 8, in which everything so far is summed up."""
    return replayed(
        turn_start(0),
        user(1, "one"),
        step_start(2),
        assistant(3, text("two")),
        step_end(4),
        turn_end(5),
        turn_start(6, turn=2),
        replacing(7, 1, 3, cites=[1, 3], words="both"),
        turn_end(8, turn=2),
    )


# ---- create ---------------------------------------------------------------------------------


def test_a_created_session_is_empty() -> None:
    """Nothing in it, an id of its own, no clock read: created at 0."""
    session = empty()

    assert session.header == SessionHeader(id="session", created_at=0)
    assert (len(session), list(session), session.surface.seqs) == (0, [], ())
    assert session.messages().unwrap() == []
    assert session.request_header().unwrap() is None
    assert session.todos().unwrap() is None
    assert session.usage() == Usage(Tokens(), Tokens())
    assert bool(session)


def test_a_session_is_born_with_what_is_said() -> None:
    """Every field of the session header is an argument."""
    session = Session.create(
        "s-2", created_at=17, cwd="/garden", parent_session="s-1", seed_length=1, seed=[note(0)]
    ).unwrap()

    assert session.header.to_wire() == {
        "version": 0,
        "id": "s-2",
        "createdAt": 17,
        "cwd": "/garden",
        "parentSession": "s-1",
        "seedLength": 1,
    }
    assert len(session) == 1


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"id": 5}, "id"),
        ({"created_at": "now"}, "createdAt"),
        ({"created_at": True}, "createdAt"),
        ({"cwd": "garden"}, "cwd"),
        ({"parent_session": 1}, "parentSession"),
        ({"seed_length": True}, "seedLength"),
        ({"seed_length": -1}, "seedLength"),
    ],
    ids=str,
)
def test_a_bad_session_header_is_refused(fields: dict[str, Any], field: str) -> None:
    """META_INVALID names the field as the wire spells it."""
    fault = Session.create(**fields).failure()

    assert (fault.code, fault.path) == (Code.META_INVALID, f"$.{field}")


def test_the_faults_of_creating_come_in_order() -> None:
    """The seed's first, then NOT_JSON of the header, then META_INVALID."""
    nan: Any = float("nan")

    seed = Session.create(cwd="x", created_at=nan, seed=[note(1)]).failure()
    lossy = Session.create(cwd="x", created_at=nan, seed=[note(0)]).failure()
    kind = Session.create(cwd="x", seed=[note(0)]).failure()

    assert [fault.code for fault in (seed, lossy, kind)] == [
        Code.SEQ_GAP,
        Code.NOT_JSON,
        Code.META_INVALID,
    ]


def test_a_creation_time_that_no_double_holds_is_refused() -> None:
    """An int from Python that would read back as another is NOT_JSON here too."""
    fault = Session.create(created_at=2**53 + 1).failure()

    assert (fault.code, fault.path) == (Code.NOT_JSON, "$.createdAt")


# ---- append ---------------------------------------------------------------------------------


def test_append_answers_a_longer_session_and_leaves_this_one() -> None:
    """The event gets the next seq; optional keys that are not given are absent."""
    before = empty()

    after = before.append("plugin/note", {"n": 1}, time=5).unwrap()

    assert len(before) == 0
    assert [event.to_wire() for event in after] == [
        {"type": "plugin/note", "seq": 0, "time": 5, "data": {"n": 1}}
    ]
    assert not after.events[0].has_surface_op
    assert not after.events[0].has_sources


def test_append_writes_the_envelope_in_its_order() -> None:
    """Keys stand as type, seq, time, data, sourceEventSeqs, surfaceOp."""
    session = empty().append("user/message", HELLO, time=1, surface_op="append").unwrap()
    op = {"op": "replace", "start": 0, "end": 0}

    session = session.append(
        "user/message", HELLO, time=2, surface_op=op, source_event_seqs=[0]
    ).unwrap()

    assert list(session.events[1].to_wire()) == [
        "type",
        "seq",
        "time",
        "data",
        "sourceEventSeqs",
        "surfaceOp",
    ]


def test_append_snapshots_what_it_is_given() -> None:
    """Later changes to the caller's payload, sources or operation do not reach the log."""
    data: dict[str, Any] = {"content": [], "source": {}}
    sources = [0]
    session = empty().append("plugin/note", None, time=0).unwrap()

    session = session.append(
        "user/message", data, time=1, surface_op="append", source_event_seqs=sources
    ).unwrap()
    data["content"].append("late")
    sources.append(7)

    assert session.events[1].data == {"content": [], "source": {}}
    assert session.events[1].source_event_seqs == [0]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"data": {"a": [float("nan")]}}, "$.data.a[0]"),
        ({"data": b"bytes"}, "$.data"),
        ({"data": None, "surface_op": {"op": {1}}}, "$.surfaceOp.op"),
        ({"data": None, "source_event_seqs": [0, -0.0]}, "$.sourceEventSeqs[1]"),
        ({"data": None, "source_event_seqs": range(2)}, "$.sourceEventSeqs"),
    ],
    ids=str,
)
def test_a_lossy_part_of_an_append_is_named_from_the_event(
    given: dict[str, Any], path: str
) -> None:
    """NOT_JSON with the path as seen from the event, and the seq it would have got."""
    fault = empty().append("user/message", time=0, **given).failure()

    assert (fault.code, fault.path, fault.seq) == (Code.NOT_JSON, path, 0)


def test_append_knows_the_limit_of_depth() -> None:
    """A payload at the limit is taken, one level more is TOO_DEEP with the seq."""
    taken = empty().append("x", nested(MAX_DEPTH), time=0)
    fault = empty().append("x", nested(MAX_DEPTH + 1), time=0).failure()

    assert len(taken.unwrap()) == 1
    assert (fault.code, fault.seq) == (Code.TOO_DEEP, 0)


@pytest.mark.parametrize("time", [True, False, -1, 0.5, 2**53, "1", None])
def test_a_time_is_a_count_of_milliseconds(time: Any) -> None:
    """Anything else is BAD_ENVELOPE; True is not 1."""
    fault = empty().append("x", None, time=time).failure()

    assert (fault.code, fault.data) == (Code.BAD_ENVELOPE, {"key": "time"})


def test_an_integral_float_is_a_time_as_everywhere() -> None:
    """5.0 has one accepted representation, the int 5, through this door as through the others."""
    time: Any = 5.0
    decoded = decode_event({**note(0), "time": time}).unwrap()

    appended = empty().append("plugin/note", {"n": 0}, time=time).unwrap()

    assert appended.events[0] == decoded
    assert type(appended.events[0].time) is int


@pytest.mark.parametrize("kind", [None, 1, True, ["x"]])
def test_a_type_is_a_string(kind: Any) -> None:
    """Anything else is BAD_ENVELOPE with the key."""
    fault = empty().append(kind, None, time=0).failure()

    assert (fault.code, fault.data) == (Code.BAD_ENVELOPE, {"key": "type"})


def test_a_type_is_joined_like_any_string() -> None:
    """Surrogate halves that meet in a type are one character, as after reading it back."""
    session = empty().append("\ud83c\udf31", None, time=0).unwrap()

    assert session.events[0].type == "🌱"
    assert decode_event(session.events[0].to_wire()).unwrap() == session.events[0]


def test_appending_is_replaying() -> None:
    """A session grown one by one equals the one replayed from its events."""
    grown = two_turns()

    again = Session.replay(event.to_wire() for event in grown).unwrap()
    one_by_one = Session.create().unwrap()
    for made in grown:
        one_by_one = one_by_one.append(
            made.type,
            made.data,
            time=made.time,
            surface_op=made.surface_op,
            source_event_seqs=made.source_event_seqs,
        ).unwrap()

    assert again == grown
    assert one_by_one == grown
    assert one_by_one.state == grown.state
    assert one_by_one.messages().unwrap() == grown.messages().unwrap()


def test_what_append_makes_is_never_half_applied() -> None:
    """A refused append, extend or replay leaves the session as it was."""
    session = two_turns()

    session.append("user/message", HELLO, time=0).failure()
    session.extend([note(9), note(10), note(12)]).failure()

    assert session == two_turns()
    assert session.state == two_turns().state


def test_extend_takes_events_and_wire_objects() -> None:
    """Both kinds in one list, in order."""
    made = decode_event(user(1)).unwrap()

    session = replayed(note(0)).extend([made, note(2)]).unwrap()

    assert len(session) == 3
    assert session.events[1] is made


def test_extend_says_which_of_its_events_is_refused() -> None:
    """The index counts in the list handed in, the seq in the log."""
    malformed: list[Any] = [note(1), note(2), {"type": "x"}]

    gap = replayed(note(0)).extend([note(1), note(1)]).failure()
    shape = replayed(note(0)).extend(malformed).failure()

    assert (gap.code, gap.index, gap.seq) == (Code.SEQ_GAP, 1, 2)
    assert (shape.code, shape.index, shape.seq) == (Code.BAD_ENVELOPE, 2, 3)


# ---- replay ---------------------------------------------------------------------------------


def test_replay_takes_a_header_as_record_or_fields() -> None:
    """A SessionHeader, its wire fields, or nothing."""
    record = SessionHeader(id="s-9", created_at=3, cwd="/garden")

    by_record = Session.replay([note(0)], record).unwrap()
    by_fields = Session.replay([note(0)], record.to_wire()).unwrap()
    by_nothing = Session.replay([note(0)]).unwrap()

    assert by_record == by_fields
    assert by_record.header == record
    assert by_nothing.header.id == "session"


def test_replay_refuses_a_header_after_the_events() -> None:
    """The events' fault comes first."""
    assert Session.replay([note(1)], {"id": 5}).failure().code is Code.SEQ_GAP
    assert Session.replay([note(0)], {"id": 5}).failure().code is Code.META_INVALID


def test_replay_takes_a_session() -> None:
    """A session iterates over its events, so it can be replayed as it is."""
    session = two_turns()

    assert Session.replay(session).unwrap() == session


# ---- at -------------------------------------------------------------------------------------


def long_history() -> list[dict[str, Any]]:
    """Several replacements, headers, header faults and turns."""
    return [
        turn_start(0),
        delta(1, config={}),
        header(2, system="a"),
        user(3, "one"),
        user(4, "two"),
        user(5, "three"),
        replacing(6, 4, 4, cites=[4], words="TWO"),
        delta(7, system={"keepStart": 1, "keepEnd": 0, "insert": ["b"]}),
        user(8, "four"),
        replacing(9, 6, 5, cites=[6, 5], words="TWO-THREE"),
        delta(10, tools=[]),
        replacing(11, 3, 9, cites=[3, 9], words="ALL BUT FOUR"),
        note(12),
        header(13, system="c"),
        user(14, "five"),
        replacing(15, 11, 14, cites=[11, 8, 14], words="ALL"),
        turn_end(16),
        user(17, "six"),
        replacing(18, 15, 15, cites=[15], words="ALL AGAIN"),
    ]


def test_the_session_at_a_seq_equals_a_replay_of_its_prefix() -> None:
    """Whatever was replaced later, each past session is what its events alone amount to."""
    wires = long_history()
    session = replayed(*wires)

    for seq in range(len(wires)):
        past, again = session.at(seq).unwrap(), replayed(*wires[: seq + 1])

        assert past == again
        assert past.state == again.state
        assert past.surface.nodes == again.surface.nodes
        assert past.messages() == again.messages()
        assert past.request_header() == again.request_header()


def test_the_past_of_the_past_is_the_past() -> None:
    """Going back in two steps is going back in one."""
    session = replayed(*long_history())

    for middle in range(len(session)):
        for seq in range(middle + 1):
            assert (
                session.at(middle).unwrap().at(seq).unwrap().state == session.at(seq).unwrap().state
            )


def test_histories_that_part_do_not_disturb_each_other() -> None:
    """Growing old prefixes in other directions, and those again, changes no sister line."""
    wires = long_history()
    main = replayed(*wires)

    left = main.at(8).unwrap().extend([user(9, "L"), replacing(10, 3, 9, [3, 6, 5, 8, 9], "LL")])
    right = main.at(8).unwrap().extend([replacing(9, 5, 5, [5], "R"), header(10, system="r")])
    twig = left.unwrap().at(9).unwrap().extend([user(10, "T"), turn_end(11)]).unwrap()
    fork = twig.fork().unwrap().append("user/message", HELLO, time=1, surface_op="append").unwrap()

    assert left.unwrap().surface.seqs == (10,)
    assert right.unwrap().surface.seqs == (3, 6, 9, 8)
    assert right.unwrap().request_header().unwrap() == {"config": CONFIG, "system": "r"}
    assert twig.surface.seqs == (3, 6, 5, 8, 9, 10)
    assert fork.surface.seqs == (3, 6, 5, 8, 9, 10, 12)
    assert main == replayed(*wires)
    for line in (main, left.unwrap(), right.unwrap(), twig, fork):
        assert line.state == Session.replay(line).unwrap().state
        for seq in range(len(line)):
            assert (
                line.at(seq).unwrap().state == Session.replay(line.events[: seq + 1]).unwrap().state
            )


@pytest.mark.parametrize("seq", [-1, 9, 10**6, 2**53, True, False, 1.0, "1", None])
def test_a_seq_that_is_not_in_the_log_is_an_invalid_boundary(seq: Any) -> None:
    """No seq is made up: True is not 1, -1 is not the last."""
    fault = two_turns().at(seq).failure()

    assert fault.code is Code.INVALID_BOUNDARY
    assert fault.data["length"] == 9
    assert fault.data["boundary"] is None or type(seq) is int


def test_a_boundary_of_five_thousand_digits_raises_nothing() -> None:
    """Python's limit on digits does not turn a refusal into a ValueError."""
    huge = 10**5000

    assert two_turns().at(huge).failure().code is Code.INVALID_BOUNDARY
    assert two_turns().fork(huge).failure().code is Code.INVALID_BOUNDARY
    assert two_turns().at(-huge).failure().code is Code.INVALID_BOUNDARY


def test_an_empty_session_has_no_past() -> None:
    """There is no seq 0 in an empty log."""
    assert empty().at(0).failure().code is Code.INVALID_BOUNDARY


def test_the_last_seq_is_the_session_itself() -> None:
    """Nothing is built for the present."""
    session = two_turns()

    assert session.at(8).unwrap() is session


# ---- fork -----------------------------------------------------------------------------------


def test_a_fork_inherits_the_events_and_the_folder() -> None:
    """The child knows its parent and how much it inherited; not the parent's birth."""
    parent = Session.replay(
        two_turns(), {"id": "p", "createdAt": 7, "cwd": "/garden", "seedLength": 3}
    ).unwrap()

    child = parent.fork(5, id="c", created_at=9).unwrap()

    assert child.header == SessionHeader(
        id="c", created_at=9, cwd="/garden", parent_session="p", seed_length=6
    )
    assert list(child) == list(parent)[:6]
    assert child.state == parent.at(5).unwrap().state


def test_a_fork_takes_the_last_event_by_default() -> None:
    """Without a boundary the whole log is inherited."""
    child = two_turns().fork().unwrap()

    assert (len(child), child.header.seed_length) == (9, 9)
    assert child.header.id == "fork"
    assert child.header.created_at == 0
    assert child.header.cwd is None


def test_an_empty_session_forks_into_an_empty_child() -> None:
    """With no event there is no boundary to name."""
    child = Session.create("p").unwrap().fork(id="c").unwrap()

    assert (len(child), child.header.parent_session, child.header.seed_length) == (0, "p", 0)
    assert empty().fork(0).failure().code is Code.INVALID_BOUNDARY


@pytest.mark.parametrize("boundary", [0, 1, 4, 7])
def test_a_fork_inside_a_turn_is_refused(boundary: int) -> None:
    """OPEN_TURN names the event that is no turn/end."""
    session = two_turns()

    fault = session.fork(boundary).failure()

    assert (fault.code, fault.seq) == (Code.OPEN_TURN, boundary)
    assert fault.data == {"type": session.events[boundary].type}


def test_an_open_tail_is_no_boundary() -> None:
    """By default there is no silent step back to the last turn/end."""
    fault = two_turns().extend([note(9)]).unwrap().fork().failure()

    assert (fault.code, fault.seq) == (Code.OPEN_TURN, 9)


@pytest.mark.parametrize("boundary", [-1, 9, True, "5", 5.5, [5]])
def test_a_boundary_that_is_no_seq_is_invalid(boundary: Any) -> None:
    """INVALID_BOUNDARY comes before OPEN_TURN."""
    assert two_turns().fork(boundary).failure().code is Code.INVALID_BOUNDARY


def test_a_fork_refuses_an_unusable_header() -> None:
    """META_INVALID for the child's own fields."""
    no_id: Any = 5

    assert two_turns().fork(id=no_id).failure().code is Code.META_INVALID
    assert two_turns().fork(created_at=float("inf")).failure().code is Code.NOT_JSON


def test_a_fork_shares_its_events() -> None:
    """Nothing is copied, and parent and child grow apart."""
    parent = two_turns()

    child = parent.fork().unwrap()
    grown = child.append("turn/start", {"turn": 3}, time=1).unwrap()
    other = parent.append("plugin/note", None, time=1).unwrap()

    assert all(mine is yours for mine, yours in zip(child, parent, strict=True))
    assert child.surface is parent.surface
    assert (grown.events[9].type, other.events[9].type) == ("turn/start", "plugin/note")
    assert len(parent) == len(child) == 9


def test_a_fork_of_a_fork_counts_all_it_inherited() -> None:
    """`seedLength` is the number of inherited events, not the parent's own seed length."""
    child = two_turns().fork(5, id="c").unwrap()

    grandchild = child.fork(id="g").unwrap()

    assert grandchild.header.seed_length == 6
    assert grandchild.header.parent_session == "c"


# ---- what it answers ------------------------------------------------------------------------


def test_a_log_only_append_shares_surface_and_header() -> None:
    """What an event does not change stays the very same object."""
    before = replayed(user(0), header(1))

    after = before.append("plugin/note", None, time=0).unwrap()

    assert after.surface is before.surface
    assert after.state.header is before.state.header
    assert after.history is before.history
    assert after.header is before.header


def test_todos_are_those_of_the_last_write() -> None:
    """The last `todo/write` counts, a log without one has none."""
    first = event("todo/write", 0, {"todos": [{"content": "sow", "status": "pending"}]})
    last = event("todo/write", 2, {"todos": []})
    session = replayed(first, note(1), last, note(3))

    assert session.todos().unwrap() == []
    assert session.at(1).unwrap().todos().unwrap() == [{"content": "sow", "status": "pending"}]
    assert type(session.todos().unwrap()) is JsonArray
    assert replayed(note(0)).todos().unwrap() is None


@pytest.mark.parametrize("data", [None, [], {}, {"todos": None}, {"todos": {}}])
def test_a_todo_write_without_a_list_is_a_fault(data: object) -> None:
    """An older list is not handed out in the place of a broken one."""
    session = replayed(event("todo/write", 0, {"todos": []}), event("todo/write", 1, data))

    fault = session.todos().failure()

    assert (fault.code, fault.seq, fault.path) == (Code.PAYLOAD_INVALID, 1, "$.data.todos")


def test_usage_sums_every_assistant_message() -> None:
    """All counts are summed, replaced messages too; calls are those that carry a usage."""
    usage = {
        "inputTokens": 10,
        "outputTokens": 2,
        "cacheReadTokens": 5,
        "cacheWriteTokens": 1,
        "reasoningTokens": 3,
    }
    session = replayed(
        assistant(0, usage=usage),
        assistant(1, usage={"inputTokens": 7, "outputTokens": 1}),
        assistant(2),
        replacing(3, 0, 1, cites=[0, 1]),
        event("tool/result", 4, {"usage": usage}, surfaceOp="append"),
    )

    assert session.usage() == Usage(
        own=Tokens(
            input_tokens=17,
            output_tokens=3,
            cache_read_tokens=5,
            cache_write_tokens=1,
            reasoning_tokens=3,
            calls=2,
        ),
        inherited=Tokens(),
    )


def test_usage_tells_own_from_inherited() -> None:
    """The first `seedLength` events are inherited, the rest the session's own."""
    parent = replayed(
        turn_start(0),
        step_start(1),
        assistant(2, usage={"inputTokens": 10}),
        step_end(3),
        turn_end(4),
    )
    child = parent.fork().unwrap()

    child = child.append(
        "assistant/message",
        {"content": [], "usage": {"inputTokens": 3}},
        time=0,
        surface_op="append",
    ).unwrap()

    assert child.usage() == Usage(
        own=Tokens(input_tokens=3, calls=1), inherited=Tokens(input_tokens=10, calls=1)
    )
    assert parent.usage().inherited == Tokens()


def test_usage_of_odd_shape_counts_nothing_it_does_not_hold() -> None:
    """What is no number counts nothing, and True is not 1; a usage that is no object is none."""
    session = replayed(
        assistant(0, usage={"inputTokens": True, "outputTokens": "9", "cacheReadTokens": None}),
        assistant(1, usage=[1, 2]),
        event("assistant/message", 2, None, surfaceOp="append"),
    )

    assert session.usage().own == Tokens(calls=1)


def test_nodes_are_the_events_in_force() -> None:
    """The surface's events, in surface order, shared with the log."""
    session = two_turns()

    nodes = list(session.nodes())

    assert [node.seq for node in nodes] == [7]
    assert nodes[0] is session.events[7]


def test_a_session_is_walked_like_its_log() -> None:
    """Length and iteration are those of the events."""
    session = two_turns()

    assert len(session) == 9
    assert [made.seq for made in session] == list(range(9))
    assert list(session) == list(session.events)


def test_sessions_are_equal_by_header_and_events() -> None:
    """How a session came about does not count; another header or event does."""
    session = two_turns()

    assert session == two_turns()
    assert hash(session) == hash(two_turns())
    assert session != session.at(7).unwrap()
    assert session != session.fork().unwrap()
    assert session != list(session)
    assert (
        session
        != Session.replay([*session.events[:8], {**turn_end(8, turn=2), "time": 1}]).unwrap()
    )


def test_true_is_not_one_between_sessions() -> None:
    """Payloads that differ in True and 1 make sessions that differ."""
    assert replayed(event("x", 0, {"a": 1})) != replayed(event("x", 0, {"a": True}))


def test_repr_is_short() -> None:
    """Id, how many events, how many nodes."""
    session = Session.replay(two_turns(), {"id": "s\n1"}).unwrap()

    assert repr(session) == r"Session('s\n1', 9 events, 1 nodes)"


def test_a_session_survives_pickling() -> None:
    """Everything it answers comes back, its past included."""
    session = Session.replay(long_history(), {"id": "p", "cwd": "/garden"}).unwrap()

    back = pickle.loads(pickle.dumps(session))

    assert back == session
    assert back.state == session.state
    assert back.header == session.header
    assert back.messages().unwrap() == session.messages().unwrap()
    assert [back.at(seq).unwrap().state for seq in range(len(back))] == [
        session.at(seq).unwrap().state for seq in range(len(session))
    ]


def test_a_copied_session_is_equal_and_independent() -> None:
    """Copies can be grown without touching the original."""
    session = two_turns()

    grown = copy.deepcopy(session).extend([note(9)]).unwrap()

    assert copy.copy(session) == session
    assert len(grown) == 10
    assert len(session) == 9


@pytest.mark.parametrize("name", ["header", "events", "state", "vocabulary", "guard", "history"])
def test_a_session_cannot_be_changed(name: str) -> None:
    """Setting or deleting an attribute raises."""
    session = two_turns()

    with pytest.raises(AttributeError):
        setattr(session, name, None)
    with pytest.raises(AttributeError):
        delattr(session, name)

    assert session == two_turns()


def test_nothing_handed_out_reaches_back_in() -> None:
    """Messages, headers and payloads are frozen through and through."""
    session = replayed(header(0, tools=[{"name": "look"}]), user(1))

    with pytest.raises(TypeError):
        session.messages().unwrap()[0]["content"].append(text("forged"))
    with pytest.raises(TypeError):
        session.events[1].data["content"][0]["text"] = "forged"
    with pytest.raises(TypeError):
        session.request_header().unwrap()["tools"][0]["name"] = "forged"  # type: ignore[index]  # a header is there

    assert session == replayed(header(0, tools=[{"name": "look"}]), user(1))


# ---- a guard --------------------------------------------------------------------------------


def test_a_guard_travels_with_prefixes_and_forks() -> None:
    """A session made strict stays strict wherever it is cut, and knows where it stands."""
    session = Session.replay(two_turns(), guard=strict()).unwrap()

    past = session.at(2).unwrap()
    child = session.fork(5).unwrap()

    assert past.append(
        "turn/start", {"turn": 2, "trigger": {"kind": "x"}}, time=0
    ).failure().code is (Code.TURN_ALREADY_OPEN)
    assert child.append(
        "turn/start", {"turn": 9, "trigger": {"kind": "x"}}, time=0
    ).failure().code is (Code.TURN_NUMBER)
    assert len(child.extend([turn_start(6, turn=2)]).unwrap()) == 7


def test_a_guard_judges_a_replayed_log() -> None:
    """The first breach refuses the whole, with seq and index; earlier faults win."""
    wires = [turn_start(0), step_start(1, step=2), note(5)]

    fault = Session.replay(wires, guard=strict()).failure()
    earlier = Session.replay(
        [turn_start(0), note(5), step_start(1, step=2)], guard=strict()
    ).failure()

    assert (fault.code, fault.seq, fault.index) == (Code.STEP_NUMBER, 1, 1)
    assert (earlier.code, earlier.index) == (Code.SEQ_GAP, 1)


def test_a_guard_asks_after_acceptance() -> None:
    """What acceptance refuses never reaches the guard."""
    session = Session.create(guard=strict()).unwrap()

    fault = session.append("user/message", None, time=0).failure()

    assert fault.code is Code.SURFACE_OP_MISSING


def test_a_refusal_by_the_guard_changes_nothing() -> None:
    """After a refusal the right event still fits."""
    session = Session.replay([turn_start(0)], guard=strict()).unwrap()

    session.extend([step_start(1, step=7)]).failure()
    session.extend([result(1, "c")]).failure()

    assert len(session.extend([step_start(1), step_end(2), turn_end(3)]).unwrap()) == 4
