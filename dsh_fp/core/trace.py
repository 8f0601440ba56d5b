"""The nesting of turns and steps, as a fold of its own.

Acceptance never asks for it; `trace_violations` judges a whole log, accepted or not, and
`strict()` is a guard for sessions whose writer wants to be refused instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

import attrs
import msgspec
from pyrsistent import PSet, pset
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import MAX_DEPTH, AnyJson, JsonObject, freeze, json_equal, to_text
from dsh_fp.core.reducer import State
from dsh_fp.core.rejection import Code, Rejection, bad_envelope, shown, trace_breach
from dsh_fp.core.vocabulary import Vocabulary, check_payload

_NONE_PENDING: Final[PSet[str]] = pset()


@attrs.frozen
class TraceState:
    """Where in its turns and steps a log stands; numbers are as the log gives them."""

    last_seq: float = -1
    open_turn: AnyJson = None
    open_step: AnyJson = None
    next_turn: float = 1
    next_step: float = 1
    # The ids of calls without a result, as JSON text: an id may be any value.
    pending: PSet[str] = _NONE_PENDING

    @property
    def pending_calls(self) -> int:
        """How many tool calls of the open step have no result yet."""
        return len(self.pending)


START: Final = TraceState()
_ABSENT: Final = object()


@attrs.frozen
class Bare:
    """What the rules look at: an event's type, seq and payload, accepted or not."""

    type: str
    seq: float
    data: AnyJson

    def get(self, key: str) -> AnyJson:
        """A field of the payload, or a value that equals nothing."""
        return self.data.get(key, _ABSENT) if isinstance(self.data, JsonObject) else _ABSENT


def bare(given: object) -> Bare | Rejection:
    """An Event or a wire object as the rules see it; only type and seq are required."""
    if isinstance(given, Event):
        return Bare(given.type, given.seq, given.peek_data())
    wire = freeze(given, limit=MAX_DEPTH + 1)
    if isinstance(wire, Rejection):
        return wire
    if not isinstance(wire, JsonObject) or not isinstance(wire.get("type"), str):
        return bad_envelope("type is no string", "type")
    if type(wire.get("seq")) not in (int, float):
        return bad_envelope("seq is no number", "seq")
    return Bare(wire["type"], wire["seq"], wire.get("data"))


def step_trace(state: TraceState, event: Bare) -> tuple[TraceState, Rejection | None]:
    """The state after one event and the first rule it breaks, in the order of the codes.

    After a breach the event is taken at its word, so one slip is not reported again for
    every event behind it.

    Source:  docs/reference/trace-rules.md.
    """
    judge, move = RULES.get(event.type, _ELSEWHERE)
    breach: Rejection | None = None
    if event.seq <= state.last_seq:
        breach = _breach(
            Code.SEQ_NOT_INCREASING, event, f"seq {event.seq} does not follow {state.last_seq}"
        )
    else:
        breach = judge(state, event)
    moved = move(state, event)
    return attrs.evolve(moved, last_seq=event.seq), breach


class _Place(msgspec.Struct):
    """The two numbers of a payload that say where it belongs."""

    turn: int
    step: int


_decode_place: Final = msgspec.json.Decoder(_Place).decode


def pass_inside(state: TraceState, event: Event) -> TraceState | None:
    """The state after an undecoded chunk that plainly lies in the open step, else None.

    Told without decoding the payload whole: such an event breaks no rule and changes nothing
    but the last seq, and most of a log is that.
    """
    raw = event.stored_data
    if event.type != "assistant/chunk" or type(raw) is not msgspec.Raw:
        return None
    try:
        place = _decode_place(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None
    turn, step = state.open_turn, state.open_step
    if place.turn != turn or place.step != step or event.seq <= state.last_seq:
        return None
    return TraceState(event.seq, turn, step, state.next_turn, state.next_step, state.pending)


def trace_violations(events: Iterable[object]) -> tuple[Rejection, ...]:
    """Every breach of the nesting rules in a log, in order. Events or wire objects are taken."""
    state = START
    found: list[Rejection] = []
    for index, given in enumerate(events):
        passed = pass_inside(state, given) if isinstance(given, Event) else None
        if passed is not None:
            state = passed
            continue
        event = bare(given)
        if isinstance(event, Rejection):
            found.append(event.at(index=index))
            continue
        state, breach = step_trace(state, event)
        if breach is not None:
            found.append(breach.at(index=index))
    return tuple(found)


def fold_trace(events: Iterable[object]) -> Result[TraceState, Rejection]:
    """Where a log stands in its turns and steps, or the first breach with its index."""
    state = START
    for index, given in enumerate(events):
        event = bare(given)
        if isinstance(event, Rejection):
            return Failure(event.at(index=index))
        state, breach = step_trace(state, event)
        if breach is not None:
            return Failure(breach.at(index=index))
    return Success(state)


@attrs.frozen
class Strict:
    """A guard that refuses what the July reference accepts but no sound writer writes.

    Breaches of the nesting rules, payloads of known types without their shape, and header
    events that cannot be folded.
    """

    trace: TraceState = START

    def admit(
        self, event: Event, state: State, vocabulary: Vocabulary
    ) -> Result[Strict, Rejection]:
        """The guard after one event, or why it is refused."""
        data = event.data
        fault = check_payload(event.type, event.seq, data, vocabulary)
        if fault is not None:
            return Failure(fault)
        header = state.header
        if isinstance(header, Rejection) and header.seq == event.seq:
            return Failure(header)
        trace, breach = step_trace(self.trace, Bare(event.type, event.seq, data))
        return Success(Strict(trace)) if breach is None else Failure(breach)

    def fresh(self) -> Strict:
        """The same guard before any event."""
        return STRICT


STRICT: Final = Strict()


def strict() -> Strict:
    """The guard for `Session.create(guard=strict())`."""
    return STRICT


def _breach(code: Code, event: Bare, message: str) -> Rejection:
    seq = event.seq if type(event.seq) is int else None
    return trace_breach(code, seq, message, type=event.type)


def _same(one: AnyJson, other: AnyJson) -> bool:
    # None stands for "none is open"; a payload's null equals it, as in the reference.
    return other is not _ABSENT and json_equal(one, other)


def _named(value: AnyJson) -> str:
    return "none" if value is _ABSENT or value is None else shown(to_text(value))


def _no_more(state: TraceState, event: Bare) -> TraceState:
    return state


def _judge_turn_start(state: TraceState, event: Bare) -> Rejection | None:
    turn = event.get("turn")
    if state.open_turn is not None:
        return _breach(
            Code.TURN_ALREADY_OPEN,
            event,
            f"turn {_named(turn)} starts while turn {_named(state.open_turn)} is open",
        )
    if not _same(state.next_turn, turn):
        return _breach(
            Code.TURN_NUMBER,
            event,
            f"the next turn is {_named(state.next_turn)}, this one says {_named(turn)}",
        )
    return None


def _start_turn(state: TraceState, event: Bare) -> TraceState:
    turn = event.get("turn")
    if type(turn) not in (int, float):
        turn = state.next_turn
    return TraceState(state.last_seq, turn, None, turn, 1, state.pending)


def _judge_turn_end(state: TraceState, event: Bare) -> Rejection | None:
    turn = event.get("turn")
    if not _same(state.open_turn, turn):
        return _breach(
            Code.TURN_MISMATCH,
            event,
            f"turn {_named(turn)} ends, but the open turn is {_named(state.open_turn)}",
        )
    if state.open_step is not None:
        return _breach(
            Code.STEP_OPEN_AT_TURN_END,
            event,
            f"the turn ends while step {_named(state.open_step)} is open",
        )
    return None


def _end_turn(state: TraceState, event: Bare) -> TraceState:
    turn = event.get("turn")
    ended = turn if type(turn) in (int, float) else state.next_turn
    return attrs.evolve(state, open_turn=None, open_step=None, next_turn=ended + 1)


def _judge_step_start(state: TraceState, event: Bare) -> Rejection | None:
    turn, step = event.get("turn"), event.get("step")
    if not _same(state.open_turn, turn):
        return _breach(
            Code.STEP_TURN_MISMATCH,
            event,
            f"a step of turn {_named(turn)} starts in turn {_named(state.open_turn)}",
        )
    if state.open_step is not None:
        return _breach(
            Code.STEP_ALREADY_OPEN,
            event,
            f"step {_named(step)} starts while step {_named(state.open_step)} is open",
        )
    if not _same(state.next_step, step):
        return _breach(
            Code.STEP_NUMBER,
            event,
            f"the next step is {_named(state.next_step)}, this one says {_named(step)}",
        )
    return None


def _start_step(state: TraceState, event: Bare) -> TraceState:
    turn, step = event.get("turn"), event.get("step")
    if type(step) not in (int, float):
        step = state.next_step
    if type(turn) in (int, float) and not _same(state.open_turn, turn):
        state = attrs.evolve(state, open_turn=turn, next_turn=turn)
    return attrs.evolve(state, open_step=step, next_step=step)


def _judge_in_step(state: TraceState, event: Bare) -> Rejection | None:
    turn, step = event.get("turn"), event.get("step")
    if _same(state.open_turn, turn) and _same(state.open_step, step):
        return None
    return _breach(
        Code.NOT_IN_OPEN_STEP,
        event,
        f"it names turn {_named(turn)} step {_named(step)}, open is "
        f"turn {_named(state.open_turn)} step {_named(state.open_step)}",
    )


def _go_into_step(state: TraceState, event: Bare) -> TraceState:
    turn, step = event.get("turn"), event.get("step")
    if _same(state.open_turn, turn) and _same(state.open_step, step):
        return state
    if type(turn) not in (int, float) or type(step) not in (int, float):
        return state
    return attrs.evolve(state, open_turn=turn, open_step=step, next_turn=turn, next_step=step)


def _end_step(state: TraceState, event: Bare) -> TraceState:
    moved = _go_into_step(state, event)
    return attrs.evolve(moved, open_step=None, next_step=moved.next_step + 1, pending=_NONE_PENDING)


def _call_id(event: Bare) -> str:
    call = event.get("callId")
    return "" if call is _ABSENT else to_text(call)


def _start_call(state: TraceState, event: Bare) -> TraceState:
    moved = _go_into_step(state, event)
    return attrs.evolve(moved, pending=moved.pending.add(_call_id(event)))


def _judge_result(state: TraceState, event: Bare) -> Rejection | None:
    breach = _judge_in_step(state, event)
    if breach is not None or _is_repair(event) or _call_id(event) in state.pending:
        return breach
    return _breach(
        Code.RESULT_WITHOUT_CALL,
        event,
        f"no call {_named(event.get('callId'))} of this step waits for a result",
    )


def _is_repair(event: Bare) -> bool:
    error = event.get("error")
    return (
        event.get("isError") is True
        and isinstance(error, JsonObject)
        and error.get("code") == "interrupted"
    )


def _end_call(state: TraceState, event: Bare) -> TraceState:
    moved = _go_into_step(state, event)
    return attrs.evolve(moved, pending=moved.pending.discard(_call_id(event)))


def _judge_elsewhere(state: TraceState, event: Bare) -> Rejection | None:
    if state.open_turn is not None:
        return None
    return _breach(Code.OUTSIDE_TURN, event, f"{shown(event.type)} stands outside any turn")


_ELSEWHERE: Final = (_judge_elsewhere, _no_more)
_IN_STEP: Final = (_judge_in_step, _go_into_step)

RULES: Final[
    Mapping[
        str,
        tuple[
            Callable[[TraceState, Bare], Rejection | None],
            Callable[[TraceState, Bare], TraceState],
        ],
    ]
] = MappingProxyType(
    {
        "turn/start": (_judge_turn_start, _start_turn),
        "turn/end": (_judge_turn_end, _end_turn),
        "step/start": (_judge_step_start, _start_step),
        "step/end": (_judge_in_step, _end_step),
        "assistant/chunk": _IN_STEP,
        "assistant/message": _IN_STEP,
        "tool/call": (_judge_in_step, _start_call),
        "tool/result": (_judge_result, _end_call),
    }
)
"""For each type: the rules it must keep, and what it does to the nesting."""
