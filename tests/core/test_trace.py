"""The nesting of turns and steps: all breaches, the first, and refusal on append."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from dsh_fp import (
    MAX_DEPTH,
    STANDARD,
    Code,
    Rejection,
    Role,
    Session,
    TypeRule,
    decode_event,
    fold_trace,
    strict,
    trace_violations,
)
from tests.core.making import (
    asking,
    assistant,
    call,
    delta,
    event,
    header,
    nested,
    note,
    replacing,
    result,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)

Log = list[dict[str, Any]]

IN_STEP: Log = [turn_start(0), step_start(1)]
SOUND: Log = [
    turn_start(0),
    user(1),
    header(2),
    step_start(3),
    event("assistant/chunk", 4, {"turn": 1, "step": 1, "chunk": {"type": "finish"}}),
    assistant(5, asking("a")),
    call(6, "a"),
    result(7, "a"),
    step_end(8),
    step_start(9, step=2),
    assistant(10, step=2),
    step_end(11, step=2),
    turn_end(12),
    turn_start(13, turn=2),
    turn_end(14, turn=2),
]


def codes(found: Iterable[Rejection]) -> list[tuple[Code, int | None]]:
    return [(breach.code, breach.index) for breach in found]


def test_a_sound_log_breaks_nothing() -> None:
    """Turns, steps, calls and results in their places."""
    state = fold_trace(SOUND).unwrap()

    assert trace_violations(SOUND) == ()
    assert (state.open_turn, state.open_step, state.next_turn, state.next_step) == (
        None,
        None,
        3,
        1,
    )
    assert state.pending_calls == 0


def test_the_state_says_where_the_log_stands() -> None:
    """Open turn and step, what may come next, how many calls wait."""
    state = fold_trace(SOUND[:7]).unwrap()

    assert (state.open_turn, state.open_step) == (1, 1)
    assert state.pending_calls == 1
    assert state.last_seq == 6


def test_an_empty_log_is_sound() -> None:
    """Nothing is open, turn 1 may start."""
    state = fold_trace([]).unwrap()

    assert (state.open_turn, state.open_step, state.next_turn, state.next_step) == (
        None,
        None,
        1,
        1,
    )


BREACHES: dict[Code, tuple[Log, dict[str, Any]]] = {
    Code.SEQ_NOT_INCREASING: ([turn_start(0), note(4)], note(4)),
    Code.TURN_ALREADY_OPEN: ([turn_start(0)], turn_start(1, turn=2)),
    Code.TURN_NUMBER: ([], turn_start(0, turn=2)),
    Code.TURN_MISMATCH: ([turn_start(0)], turn_end(1, turn=2)),
    Code.STEP_OPEN_AT_TURN_END: (IN_STEP, turn_end(2)),
    Code.STEP_TURN_MISMATCH: ([turn_start(0)], step_start(1, turn=2)),
    Code.STEP_ALREADY_OPEN: (IN_STEP, step_start(2, step=2)),
    Code.STEP_NUMBER: ([turn_start(0)], step_start(1, step=2)),
    Code.NOT_IN_OPEN_STEP: ([turn_start(0)], assistant(1)),
    Code.RESULT_WITHOUT_CALL: (IN_STEP, result(2, "a")),
    Code.OUTSIDE_TURN: ([], note(0)),
}


@pytest.mark.parametrize("code", BREACHES)
def test_each_rule_has_its_code(code: Code) -> None:
    """Both folds name the code, the seq, the index and the type of the event."""
    before, wire = BREACHES[code]

    every = trace_violations([*before, wire])
    first = fold_trace([*before, wire]).failure()

    assert codes(every) == [(code, len(before))]
    assert first == every[0]
    assert (first.seq, first.data) == (wire["seq"], {"type": wire["type"]})


@pytest.mark.parametrize("code", [code for code in BREACHES if code is not Code.SEQ_NOT_INCREASING])
def test_strict_refuses_each_breach(code: Code) -> None:
    """A strict session refuses what the rules forbid; an ordinary one takes it."""
    before, wire = BREACHES[code]

    fault = Session.create(seed=[*before, wire], guard=strict()).failure()

    assert (fault.code, fault.seq, fault.index) == (code, len(before), len(before))
    assert len(Session.create(seed=[*before, wire]).unwrap()) == len(before) + 1


@pytest.mark.parametrize(
    ("wire", "code"),
    [
        # each breaks the named rule and every later one that it can
        ({**turn_start(1, turn=7), "seq": 0}, Code.SEQ_NOT_INCREASING),
        (turn_start(2, turn=7), Code.TURN_ALREADY_OPEN),
        (turn_end(2, turn=7), Code.TURN_MISMATCH),
        (step_start(2, turn=7, step=7), Code.STEP_TURN_MISMATCH),
        (step_start(2, step=7), Code.STEP_ALREADY_OPEN),
        (result(2, "a", step=7), Code.NOT_IN_OPEN_STEP),
    ],
    ids=lambda given: given.value if isinstance(given, Code) else "",
)
def test_the_first_breach_in_the_order_of_the_codes_counts(
    wire: dict[str, Any], code: Code
) -> None:
    """One event, one breach: the first in order."""
    assert codes(trace_violations([*IN_STEP, wire])) == [(code, 2)]


@pytest.mark.parametrize(
    "wire",
    [
        step_end(2, step=2),
        step_end(2, turn=2),
        event("assistant/chunk", 2, {"turn": 1, "step": 2}),
        assistant(2, turn=2),
        call(2, "a", step=2),
        result(2, "a", turn=2),
        event("assistant/message", 2, None),
        event("tool/call", 2, {"turn": 1}),
    ],
    ids=lambda wire: f"{wire['type']} {wire['data'] and list(wire['data'].values())[:2]}",
)
def test_what_belongs_to_a_step_names_the_open_one(wire: dict[str, Any]) -> None:
    """Another turn, another step, or none named: NOT_IN_OPEN_STEP."""
    assert codes(trace_violations([*IN_STEP, wire])) == [(Code.NOT_IN_OPEN_STEP, 2)]


@pytest.mark.parametrize(
    "wire",
    [
        turn_start(0, turn=True),
        turn_start(0, turn="1"),
        turn_start(0, turn=None),
        turn_start(0, turn=0),
        event("turn/start", 0, None),
    ],
    ids=str,
)
def test_true_is_not_turn_one(wire: dict[str, Any]) -> None:
    """A turn number is the number 1, not True, not text, not nothing."""
    assert codes(trace_violations([wire])) == [(Code.TURN_NUMBER, 0)]


def test_true_is_not_step_one() -> None:
    """The same for steps and for what names them."""
    by_start = trace_violations([turn_start(0), step_start(1, step=True)])
    by_end = trace_violations([*IN_STEP, step_end(2, step=True)])
    by_turn = trace_violations([turn_start(0), turn_end(1, turn=True)])

    assert codes(by_start) == [(Code.STEP_NUMBER, 1)]
    assert codes(by_end) == [(Code.NOT_IN_OPEN_STEP, 2)]
    assert codes(by_turn) == [(Code.TURN_MISMATCH, 1)]


def test_one_slip_is_reported_once() -> None:
    """After a breach the event is taken at its word, so what fits to it is no breach."""
    log = [
        turn_start(0, turn=5),
        step_start(1, turn=5, step=3),
        assistant(2, turn=5, step=3),
        step_end(3, turn=5, step=3),
        step_start(4, turn=5, step=4),
        step_end(5, turn=5, step=4),
        turn_end(6, turn=5),
        turn_start(7, turn=6),
        turn_end(8, turn=6),
    ]

    assert codes(trace_violations(log)) == [(Code.TURN_NUMBER, 0), (Code.STEP_NUMBER, 1)]


def test_every_breach_of_a_log_is_listed_in_order() -> None:
    """The first is the answer of the fold; all are that of the list."""
    log = [note(0), turn_start(1), turn_start(2, turn=2), turn_end(3, turn=2), note(4)]

    assert codes(trace_violations(log)) == [
        (Code.OUTSIDE_TURN, 0),
        (Code.TURN_ALREADY_OPEN, 2),
        (Code.OUTSIDE_TURN, 4),
    ]
    assert fold_trace(log).failure().code is Code.OUTSIDE_TURN


@pytest.mark.parametrize("kind", ["user/message", "request/header", "todo/write", "plugin/note"])
def test_every_other_event_lies_inside_a_turn(kind: str) -> None:
    """Also types that nobody knows."""
    outside = [event(kind, 0, {})]
    inside = [turn_start(0), event(kind, 1, {})]

    assert codes(trace_violations(outside)) == [(Code.OUTSIDE_TURN, 0)]
    assert trace_violations(inside) == ()


def test_a_result_uses_its_call_up() -> None:
    """A second result for the same call has none; a call made twice waits once."""
    twice = [*IN_STEP, call(2, "a"), result(3, "a"), result(4, "a")]
    called_twice = [*IN_STEP, call(2, "a"), call(3, "a"), result(4, "a"), result(5, "a")]

    assert codes(trace_violations(twice)) == [(Code.RESULT_WITHOUT_CALL, 4)]
    assert codes(trace_violations(called_twice)) == [(Code.RESULT_WITHOUT_CALL, 5)]


def test_calls_are_forgotten_at_the_end_of_a_step_only() -> None:
    """A result in a later step has no call; a step that starts again forgets nothing."""
    next_step = [*IN_STEP, call(2, "a"), step_end(3), step_start(4, step=2), result(5, "a", step=2)]
    same_step = [*IN_STEP, call(2, "a"), step_start(3), result(4, "a")]

    assert codes(trace_violations(next_step)) == [(Code.RESULT_WITHOUT_CALL, 5)]
    assert codes(trace_violations(same_step)) == [(Code.STEP_ALREADY_OPEN, 3)]


@pytest.mark.parametrize(
    ("fields", "repairs"),
    [
        ({"isError": True, "error": {"name": "E", "code": "interrupted"}}, True),
        ({"isError": True, "error": {"code": "other"}}, False),
        ({"isError": True}, False),
        ({"isError": False, "error": {"code": "interrupted"}}, False),
        ({"isError": 1, "error": {"code": "interrupted"}}, False),
        ({"isError": True, "error": "interrupted"}, False),
    ],
    ids=str,
)
def test_the_repairs_own_result_needs_no_call(fields: dict[str, Any], repairs: bool) -> None:
    """Only an error whose code is `interrupted` may stand without a call."""
    breaches = trace_violations([*IN_STEP, result(2, "a", **fields)])

    assert codes(breaches) == ([] if repairs else [(Code.RESULT_WITHOUT_CALL, 2)])


def test_call_ids_are_compared_as_json() -> None:
    """An id may be any value; True is not 1."""
    log: Log = [*IN_STEP, {**call(2, "a"), "data": {"turn": 1, "step": 1, "callId": 1}}]

    right = trace_violations([*log, result(3, "", callId=1)])
    wrong = trace_violations([*log, result(3, "", callId=True)])

    assert right == ()
    assert codes(wrong) == [(Code.RESULT_WITHOUT_CALL, 3)]


def test_gaps_in_the_seqs_are_none_of_its_business() -> None:
    """Seqs must increase, from 0 on; how far is for the reader to judge."""
    assert trace_violations([turn_start(5), note(90)]) == ()
    assert codes(trace_violations([{**turn_start(0), "seq": -1}])) == [(Code.SEQ_NOT_INCREASING, 0)]


def test_bare_wire_objects_are_judged_as_they_are() -> None:
    """Only type and seq are asked for; markers and odd payloads are acceptance's business."""
    wires = [
        {"type": "turn/start", "seq": 0, "data": {"turn": 1}, "surfaceOp": 7, "more": None},
        {"type": "user/message", "seq": 1},
    ]

    assert trace_violations(wires) == ()


@pytest.mark.parametrize(
    "given", [None, 5, {}, {"type": "x"}, {"type": 1, "seq": 0}, {"type": "x", "seq": True}]
)
def test_what_is_no_event_at_all_is_a_bad_envelope(given: object) -> None:
    """It is listed with its index, and the walk goes on."""
    found = trace_violations([turn_start(0), given, note(1)])

    assert codes(found) == [(Code.BAD_ENVELOPE, 1)]


def test_events_and_wire_objects_are_judged_alike() -> None:
    """A log of events gives the same breaches as its wire objects."""
    log = [note(0), turn_start(1), turn_start(2, turn=2), result(3, "a", turn=2)]
    events = [decode_event(wire).unwrap() for wire in log]

    assert trace_violations(events) == trace_violations(log)
    assert fold_trace(events) == fold_trace(log)


def test_the_deepest_acceptable_payload_is_judged() -> None:
    """What acceptance takes the rules take: the envelope's own level does not count."""
    wire = event("turn/start", 0, {"turn": 1, "trigger": nested(MAX_DEPTH - 1)})

    assert len(Session.create(seed=[wire]).unwrap()) == 1
    assert trace_violations([wire]) == ()


# ---- strict ---------------------------------------------------------------------------------


def test_strict_takes_a_sound_log() -> None:
    """What a sound writer writes is never refused."""
    session = Session.create(seed=SOUND, guard=strict()).unwrap()

    assert len(session) == len(SOUND)


@pytest.mark.parametrize(
    ("kind", "data", "path"),
    [
        ("user/message", {"content": [text("x")]}, "$.data.source"),
        ("user/message", {"content": [text("x")], "source": {}}, "$.data.source"),
        ("user/message", {"content": ["x"], "source": {"kind": "user"}}, "$.data.content"),
        ("context/message", None, "$.data"),
        ("steering/message", {"content": [], "source": {"kind": "x"}}, "$.data.turn"),
        ("turn/end", {"turn": 1}, "$.data.reason"),
        ("turn/end", {"turn": True, "reason": {"kind": "x"}}, "$.data.turn"),
        ("step/start", {"turn": 1}, "$.data.step"),
        ("tool/call", {"turn": 1, "step": 1, "callId": "a", "name": "x"}, "$.data.arguments"),
        ("assistant/chunk", {"turn": 1, "step": 1, "chunk": "x"}, "$.data.chunk"),
        ("todo/write", {"todos": {}}, "$.data.todos"),
        ("request/header", {"header": {"config": {}}}, "$.data.reason"),
        ("prompt/blocked", {"content": [], "source": {"kind": "user"}}, "$.data.reason"),
    ],
)
def test_strict_refuses_a_payload_without_its_shape(kind: str, data: Any, path: str) -> None:
    """PAYLOAD_INVALID names the field; the same event is accepted without the guard."""
    session = Session.create(seed=[turn_start(0)], guard=strict()).unwrap()
    op = "append" if STANDARD.role(kind) is Role.SURFACE else None

    fault = session.append(kind, data, time=0, surface_op=op).failure()
    loose = Session.create(seed=[turn_start(0)]).unwrap().append(kind, data, time=0, surface_op=op)

    assert (fault.code, fault.seq, fault.path) == (Code.PAYLOAD_INVALID, 1, path)
    assert len(loose.unwrap()) == 2


@pytest.mark.parametrize(
    ("wires", "code"),
    [
        ([delta(1, config={})], Code.HEADER_DELTA_WITHOUT_SNAPSHOT),
        ([header(1, system=5)], Code.HEADER_INVALID),
        ([header(1), delta(2, tools=[])], Code.HEADER_INVALID),
    ],
    ids=["delta first", "bad snapshot", "bad delta"],
)
def test_strict_refuses_a_header_event_that_cannot_be_folded(wires: Log, code: Code) -> None:
    """A writer is told at once, not the reader years later."""
    fault = Session.create(seed=[turn_start(0), *wires], guard=strict()).failure()

    assert (fault.code, fault.seq) == (code, len(wires))


def test_strict_leaves_open_what_the_format_leaves_open() -> None:
    """Unknown types, block types, sources, triggers and reasons pass."""
    session = Session.create(
        seed=[
            event("turn/start", 0, {"turn": 1, "trigger": {"kind": "moon", "phase": 3}}),
            event("plugin/note", 1, None),
            event(
                "user/message",
                2,
                {"content": [{"type": "hologram"}], "source": {"kind": "garden"}},
                surfaceOp="append",
            ),
            event("turn/end", 3, {"turn": 1, "reason": {"kind": "rain"}}),
        ],
        guard=strict(),
    )

    assert len(session.unwrap()) == 4


def test_strict_takes_replacements_of_a_plugin() -> None:
    """A compaction inside a turn breaks no rule."""
    session = Session.create(
        seed=[turn_start(0), user(1), user(2), replacing(3, 1, 2, cites=[1, 2])], guard=strict()
    )

    assert session.unwrap().surface.seqs == (3,)


def test_a_payload_fault_comes_before_a_breach() -> None:
    """What an event is comes before where it stands."""
    session = Session.create(guard=strict()).unwrap()

    fault = session.append("step/start", {"turn": 1}, time=0).failure()

    assert fault.code is Code.PAYLOAD_INVALID


def test_strict_knows_plugins_types_by_their_rules() -> None:
    """A listed type without a shape may hold anything."""
    vocabulary = STANDARD.extend({"plugin/note": TypeRule()})
    session = Session.create(seed=[turn_start(0)], vocabulary=vocabulary, guard=strict()).unwrap()

    assert len(session.append("plugin/note", [1, 2], time=0).unwrap()) == 2


def test_strict_is_a_value() -> None:
    """Every strict session starts from the same guard, which no session changes."""
    guard = strict()
    Session.create(seed=SOUND, guard=guard).unwrap()

    assert guard == strict()
    assert guard.fresh() == guard
    assert guard.trace.last_seq == -1
