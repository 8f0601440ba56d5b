"""The state, the ordered checks, and the two folds over them."""

from __future__ import annotations

import enum
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from dsh_fp import CHECKS, Code, Role, Session, State, decode_event, fold, reduce
from dsh_fp.core.reducer import MOVES
from tests.core.making import (
    CONFIG,
    delta,
    event,
    header,
    note,
    refused,
    replacing,
    replayed,
    turn_start,
    user,
)


def state_of(*wires: dict[str, Any]) -> State:
    return fold(wires).unwrap()


def step(state: State, wire: dict[str, Any]) -> State:
    return reduce(state, decode_event(wire).unwrap()).unwrap()


def test_an_empty_log_is_the_empty_state() -> None:
    """Before any event there is no node and no header, and the next seq is 0."""
    state = fold([]).unwrap()

    assert state == State()
    assert (state.next_seq, state.surface.seqs, state.header) == (0, (), None)


def test_the_checks_stand_in_the_order_of_the_codes() -> None:
    """The order is the contract: seq, bare, marker, range, sources."""
    assert [check.__name__ for check in CHECKS] == [
        "is_next_in_log",
        "log_only_is_bare",
        "surface_op_is_valid",
        "range_is_in_force",
        "sources_are_sound",
    ]


def test_each_check_names_its_codes() -> None:
    """The docstrings of the checks list the codes of acceptance, in order and each once."""
    named = [
        word.strip(".,")
        for check in CHECKS
        for word in (check.__doc__ or "").split()
        if "_" in word
    ]

    assert named == [
        "SEQ_GAP",
        "SURFACE_OP_FORBIDDEN",
        "SOURCES_FORBIDDEN",
        "SURFACE_OP_MISSING",
        "SURFACE_OP_INVALID",
        "SOURCES_INVALID",
        "REPLACE_START_UNKNOWN",
        "REPLACE_END_UNKNOWN",
        "REPLACE_REVERSED",
        "SOURCES_EMPTY",
        "SOURCES_DUPLICATE",
        "SOURCES_NOT_EARLIER",
        "REPLACE_UNCITED",
    ]


def test_every_role_has_a_move() -> None:
    """There is one move for each role, and the table cannot be changed."""
    with pytest.raises(TypeError):
        MOVES[Role.SURFACE] = MOVES[Role.LOG_ONLY]  # type: ignore[index]  # that is the point

    assert set(MOVES) == set(Role)


@pytest.mark.parametrize(
    ("role", "wire", "changed"),
    [
        (Role.LOG_ONLY, note(1), set()),
        (Role.SURFACE, user(1), {"surface"}),
        (Role.REQUEST_HEADER, header(1), {"header"}),
    ],
    ids=lambda given: given.value if isinstance(given, Role) else "",
)
def test_a_move_changes_its_own_part_only(role: Role, wire: Any, changed: set[str]) -> None:
    """The parts an event does not touch stay the very same objects."""
    before = state_of(user(0))

    after = MOVES[role](before, decode_event(wire).unwrap())

    assert after.next_seq == 2
    assert (after.surface is not before.surface) is ("surface" in changed)
    assert (after.header is not before.header) is ("header" in changed)


def replacement(start: int, end: int, sources: Any) -> dict[str, Any]:
    op = {"op": "replace", "start": start, "end": end}
    return user(5, surfaceOp=op, sourceEventSeqs=sources)


LOG: list[dict[str, Any]] = [user(0), note(1), user(2), user(3), replacing(4, 2, 2, cites=[2])]
"""Nodes in force: 0, 4, 3."""


@pytest.mark.parametrize(
    ("code", "wire"),
    [
        # each event has every fault that comes later in the order, as far as they go together
        (Code.NOT_JSON, {"seq": 9, "data": float("nan")}),
        (Code.BAD_ENVELOPE, {**note(9), "surfaceOp": 1, "extra": 1}),
        (Code.SEQ_GAP, {**note(9), "surfaceOp": 1, "sourceEventSeqs": 1}),
        (Code.SURFACE_OP_FORBIDDEN, {**note(5), "surfaceOp": None, "sourceEventSeqs": None}),
        (Code.SOURCES_FORBIDDEN, {**note(5), "sourceEventSeqs": None}),
        (Code.SURFACE_OP_MISSING, {**note(5), "type": "user/message", "sourceEventSeqs": 1}),
        (Code.SURFACE_OP_INVALID, user(5, surfaceOp="x", sourceEventSeqs=1)),
        (Code.SOURCES_INVALID, replacement(9, 9, [True])),
        (Code.REPLACE_START_UNKNOWN, replacement(1, 2, [])),
        (Code.REPLACE_END_UNKNOWN, replacement(0, 2, [])),
        (Code.REPLACE_REVERSED, replacement(3, 4, [])),
        (Code.SOURCES_EMPTY, replacement(4, 3, [])),
        (Code.SOURCES_DUPLICATE, replacement(4, 3, [9, 9])),
        (Code.SOURCES_NOT_EARLIER, replacement(4, 3, [5, 9])),
        (Code.REPLACE_UNCITED, replacement(4, 3, [4])),
        (Code.REPLACE_UNCITED, {k: v for k, v in replacement(4, 3, 0).items() if k[0:2] != "so"}),
    ],
    ids=lambda given: given.value if isinstance(given, Code) else "",
)
def test_the_first_fault_is_the_answer(code: Code, wire: dict[str, Any]) -> None:
    """An event with several faults answers the first in the order of the rules, everywhere."""
    state = state_of(*LOG)
    session = replayed(*LOG)

    by_step = reduce(state, wire).failure()  # type: ignore[arg-type]  # wire objects are taken too
    by_fold = fold([*LOG, wire]).failure()
    by_replay = refused(*LOG, wire)
    by_extend = session.extend([wire]).failure()

    assert [by_step.code, by_fold.code, by_replay.code, by_extend.code] == [code] * 4
    assert [by_step.seq, by_fold.seq, by_replay.seq, by_extend.seq] == [5] * 4
    assert [by_fold.index, by_replay.index, by_extend.index] == [5, 5, 0]


def test_a_refusal_changes_nothing() -> None:
    """The state before a refused event is what it was."""
    state = state_of(*LOG)

    reduce(state, decode_event(replacement(0, 3, [0])).unwrap()).failure()

    assert state == state_of(*LOG)


def test_one_fault_late_in_a_list_refuses_the_whole() -> None:
    """A fold answers no state for the part before a fault."""
    fault = fold([user(0), user(1), note(3)]).failure()

    assert (fault.code, fault.seq, fault.index) == (Code.SEQ_GAP, 2, 2)
    assert fault.data == {"expected_seq": 2, "got_seq": 3}


@pytest.mark.parametrize("seq", [0, 2, 2**53 - 1])
def test_a_seq_is_the_number_of_events_before(seq: int) -> None:
    """Repeated, skipped and far seqs are all SEQ_GAP, whatever the list holds behind."""
    fault = fold([note(0), {**note(1), "seq": seq}, {"no": "event"}]).failure()

    assert fault.code is Code.SEQ_GAP
    assert fault.data == {"expected_seq": 1, "got_seq": seq}


def test_an_earlier_refusal_wins_over_a_malformed_event() -> None:
    """Faults come in the order of the list, not of their kind."""
    fault = fold([note(5), {"no": "event"}]).failure()

    assert (fault.code, fault.index) == (Code.SEQ_GAP, 0)


def test_a_malformed_event_says_where_it_stands() -> None:
    """A wire object that is no event has the seq it would have got."""
    fault = fold([note(0), {**note(1), "data": {"a": [b""]}}]).failure()

    assert (fault.code, fault.seq, fault.index) == (Code.NOT_JSON, 1, 1)
    assert fault.path == "$.data.a[0]"


def test_folding_on_from_a_state() -> None:
    """A fold may be split anywhere; the index counts in the second list."""
    first = fold(LOG[:3]).unwrap()

    whole = fold(LOG[3:], first).unwrap()
    fault = fold([note(3), note(9)], first).failure()

    assert whole == state_of(*LOG)
    assert (fault.index, fault.seq) == (1, 4)


def test_any_payload_is_accepted() -> None:
    """Acceptance never looks into the data, of known types either."""
    kinds = ["turn/start", "tool/call", "request/header", "request/header-delta"]
    payloads: list[Any] = [None, True, 0, "x", [], {}, {"turn": "one"}]
    wires = [event(kind, 0, data) for kind in kinds for data in payloads]
    wires += [event("tool/result", 0, data, surfaceOp="append") for data in payloads]

    accepted = [fold([wire]).unwrap().next_seq for wire in wires]

    assert accepted == [1] * 35


def test_time_may_stand_still_and_go_back() -> None:
    """Order comes from seq alone."""
    wires = [{**note(seq), "time": time} for seq, time in enumerate([5, 5, 3, 2**53 - 1, 0])]

    assert fold(wires).unwrap().next_seq == 5


def test_a_header_that_cannot_be_folded_is_in_force_as_a_fault() -> None:
    """The event is accepted; the fault stands until the next snapshot replaces it."""
    broken = state_of(header(0), delta(1, config=5))
    still = step(broken, delta(2, config={"model": "m-2"}))
    mended = step(still, header(3))

    assert getattr(broken.header, "code", None) is Code.HEADER_INVALID
    assert getattr(broken.header, "seq", None) == 1
    assert still.header is broken.header
    assert mended.header == {"config": CONFIG}


def test_a_delta_before_any_snapshot_is_accepted_too() -> None:
    """The header in force is then HEADER_DELTA_WITHOUT_SNAPSHOT with the delta's seq."""
    state = state_of(note(0), delta(1, config={}))

    assert getattr(state.header, "code", None) is Code.HEADER_DELTA_WITHOUT_SNAPSHOT
    assert getattr(state.header, "seq", None) == 1


def test_states_are_values() -> None:
    """Equal by content, hashable, picklable, without settable attributes."""
    one, other = state_of(*LOG, header(5)), state_of(*LOG, header(5))

    with pytest.raises(AttributeError):
        one.next_seq = 0  # type: ignore[misc]  # that is the point

    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != state_of(*LOG, turn_start(5))


class Kind(enum.StrEnum):
    """A member is a str by inheritance only."""

    NOTE = "plugin/note"


@pytest.mark.parametrize(
    "door",
    [
        decode_event,
        lambda wire: fold([wire]),
        lambda wire: Session.replay([wire]),
        lambda wire: Session.create(seed=[wire]),
        lambda wire: (
            Session.create().unwrap().append(wire["type"], wire["data"], time=wire["time"])
        ),
    ],
    ids=["decode_event", "fold", "replay", "create", "append"],
)
@pytest.mark.parametrize(
    "change",
    [{"type": Kind.NOTE}, {"time": float("nan")}, {"data": {1, 2}}],
    ids=["type of a subclass", "NaN as time", "a set as data"],
)
def test_every_door_asks_for_lossless_json_first(
    door: Callable[[Any], Any], change: dict[str, Any]
) -> None:
    """One acceptance, whichever way an event comes in: NOT_JSON is the first check."""
    fault = door({**note(0), **change}).failure()

    assert fault.code is Code.NOT_JSON
