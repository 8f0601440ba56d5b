"""The nesting of turns, steps and calls as the released generations ask for it.

July's rules are in `trace`. v4 looks at these on every load and does not read a log that breaks
them; the generations before it read such logs, so there a breach is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs
import msgspec
from msgspec import UNSET, Raw, UnsetType

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.packed import PackedRun
from dsh_fp.core.rejection import Code, Rejection, shown, trace_breach


@attrs.frozen
class Nesting:
    """What a generation asks of the order of its events.

    `in_step` names the types that belong into the open step, whose turn and step they name. With
    `matches_calls` a call has to be one that the step's message asks for, once, a result has to
    answer a call, and no step ends with a call unanswered. With `binds` a log that breaks a
    rule is not read.
    """

    in_step: frozenset[str]
    in_turn: frozenset[str] = frozenset()
    matches_calls: bool = False
    binds: bool = False


_CHUNKED: Final = frozenset({"assistant/chunk", "assistant/message", "tool/call"})
_STREAMED: Final = frozenset({"assistant/attempt", "assistant/message", "tool/call"})
_HEADED: Final = frozenset({"system/message"})
_DEVELOPED: Final = frozenset({"developer/message"})

NESTINGS: Final[Mapping[str, Nesting]] = MappingProxyType(
    {
        "v0": Nesting(_CHUNKED),
        "v1": Nesting(_CHUNKED),
        "v2": Nesting(_STREAMED),
        "v3": Nesting(_STREAMED | _HEADED),
        "v4": Nesting(
            _STREAMED | _HEADED | _DEVELOPED,
            in_turn=frozenset({"request/header", "request/context"}),
            matches_calls=True,
            binds=True,
        ),
    }
)
"""By the short name of the generation; July is not among them."""

_NOT_STARTED: Final = "TOOL_NOT_STARTED"


class _Source(msgspec.Struct):
    callId: str | UnsetType = UNSET  # noqa: N815  # the wire's name


class _Block(msgspec.Struct):
    type: str | UnsetType = UNSET
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    arguments: str | UnsetType = UNSET


class _Answer(msgspec.Struct):
    content: list[_Block] | UnsetType = UNSET


class _Result(msgspec.Struct):
    source: _Source | UnsetType = UNSET


class _Fault(msgspec.Struct):
    code: str | UnsetType = UNSET


class _Placed(msgspec.Struct):
    """The numbers of a payload that say where it belongs."""

    turn: int
    step: int | UnsetType = UNSET


class _Asking(msgspec.Struct):
    turn: int
    step: int
    message: _Answer | UnsetType = UNSET


class _Called(msgspec.Struct):
    turn: int
    step: int
    callId: str | UnsetType = UNSET  # noqa: N815
    name: str | UnsetType = UNSET
    arguments: str | UnsetType = UNSET


class _Answered(msgspec.Struct):
    turn: int
    step: int
    message: _Result | UnsetType = UNSET
    error: _Fault | UnsetType = UNSET


class _Row(msgspec.Struct):
    data: _Placed


_decode_row: Final = msgspec.json.Decoder(_Row).decode


def _reader(kind: type[Any]) -> Callable[[Event], AnyJson]:
    """Reads of a payload what a rule looks at, or answers None for another shape."""
    decode = msgspec.json.Decoder(kind).decode

    def read(event: Event) -> AnyJson:
        stored: AnyJson = event.stored_data
        try:
            if type(stored) is Raw:
                return decode(stored)
            return msgspec.convert(stored, kind)
        except (msgspec.MsgspecError, RecursionError):
            return None

    return read


_placed: Final = _reader(_Placed)
_asking: Final = _reader(_Asking)
_called: Final = _reader(_Called)
_answered: Final = _reader(_Answered)

_Call = tuple[AnyJson, AnyJson, AnyJson]


class _Walk:
    """Where in its turns, steps and calls a log stands. Each rule takes the event at its word."""

    def __init__(self, rules: Nesting) -> None:
        self.rules = rules
        self.turn: int | None = None
        self.step: int | None = None
        self.next_turn = 1
        self.next_step = 1
        # The payload of an event that holds nothing but the open step, as writers spell it.
        self.place = b""
        self.asked: list[_Call] = []  # not started
        self.started: list[AnyJson] = []  # not answered
        handlers: dict[str, Callable[[Event], Rejection | None]] = {
            **dict.fromkeys(rules.in_step, self.belongs_in_step),
            **dict.fromkeys(rules.in_turn, self.belongs_in_turn),
            "turn/start": self.turn_start,
            "turn/end": self.turn_end,
            "step/start": self.step_start,
            "step/end": self.step_end,
            "tool/result": self.result,
        }
        if rules.matches_calls:
            handlers |= {"assistant/message": self.answer, "tool/call": self.call}
        self.handlers = handlers

    def turn_start(self, event: Event) -> Rejection | None:
        data = _placed(event)
        turn = None if data is None else data.turn
        breach: Rejection | None = None
        if self.turn is not None:
            what = f"turn {_named(turn)} starts while turn {self.turn} is open"
            breach = _breach(Code.TURN_ALREADY_OPEN, event, what)
        elif turn != self.next_turn:
            what = f"the next turn is {self.next_turn}, this one says {_named(turn)}"
            breach = _breach(Code.TURN_NUMBER, event, what)
        opened: int = self.next_turn if turn is None else turn
        self.turn, self.next_turn = opened, opened + 1
        self.step, self.next_step, self.place = None, 1, b""
        self.asked, self.started = [], []
        return breach

    def turn_end(self, event: Event) -> Rejection | None:
        data = _placed(event)
        turn = None if data is None else data.turn
        breach: Rejection | None = None
        if self.turn is None or turn != self.turn:
            what = f"turn {_named(turn)} ends, but the open turn is {_named(self.turn)}"
            breach = _breach(Code.TURN_MISMATCH, event, what)
        elif self.step is not None:
            what = f"the turn ends while step {self.step} is open"
            breach = _breach(Code.STEP_OPEN_AT_TURN_END, event, what)
        if turn is not None:
            self.next_turn = turn + 1
        self.turn = self.step = None
        self.place = b""
        self.asked, self.started = [], []
        return breach

    def step_start(self, event: Event) -> Rejection | None:
        data = _placed(event)
        turn, step = _numbers(data)
        breach: Rejection | None = None
        if self.turn is None or turn != self.turn:
            what = f"a step of turn {_named(turn)} starts in turn {_named(self.turn)}"
            breach = _breach(Code.STEP_TURN_MISMATCH, event, what)
        elif self.step is not None:
            what = f"step {_named(step)} starts while step {self.step} is open"
            breach = _breach(Code.STEP_ALREADY_OPEN, event, what)
        elif step != self.next_step:
            what = f"the next step is {self.next_step}, this one says {_named(step)}"
            breach = _breach(Code.STEP_NUMBER, event, what)
        if breach is not None and turn is not None:
            self.turn, self.next_turn = turn, turn + 1
        self.step = self.next_step if step is None else step
        self.next_step = self.step + 1
        self.place = b'{"turn":%d,"step":%d}' % (self.turn or 0, self.step)
        self.asked, self.started = [], []
        return breach

    def step_end(self, event: Event) -> Rejection | None:
        breach = self.belongs_in_step(event)
        if breach is None and self.rules.matches_calls and (self.asked or self.started):
            waiting = self.started[0] if self.started else self.asked[0][0]
            what = f"the step ends, and call {_named(waiting)} has no result"
            breach = _breach(Code.CALL_UNANSWERED, event, what)
        self.step = None
        self.place = b""
        self.asked, self.started = [], []
        return breach

    def belongs_in_step(self, event: Event) -> Rejection | None:
        stored: AnyJson = event.stored_data
        if type(stored) is Raw and bytes(stored) == self.place:
            return None  # most of a step/end is spelled like its step/start
        return self._stands(event, *_numbers(_placed(event)))

    def belongs_in_turn(self, event: Event) -> Rejection | None:
        if self.turn is not None:
            return None
        return _breach(Code.OUTSIDE_TURN, event, f"{shown(event.type)} stands outside any turn")

    def _stands(self, event: Event, turn: int | None, step: int | None) -> Rejection | None:
        if turn is not None and turn == self.turn and step is not None and step == self.step:
            return None
        what = (
            f"it names turn {_named(turn)} step {_named(step)}, open is "
            f"turn {_named(self.turn)} step {_named(self.step)}"
        )
        return _breach(Code.NOT_IN_OPEN_STEP, event, what)

    def answer(self, event: Event) -> Rejection | None:
        data = _asking(event)
        if data is None or data.step != self.step or data.turn != self.turn:
            return self._stands(event, *_numbers(data))
        if data.message is not UNSET and data.message.content is not UNSET:
            for block in data.message.content:
                if block.type == "tool-call":
                    self.asked.append((block.id, block.name, block.arguments))
        return None

    def call(self, event: Event) -> Rejection | None:
        data = _called(event)
        if data is None or data.step != self.step or data.turn != self.turn:
            return self._stands(event, *_numbers(data))
        asked = (data.callId, data.name, data.arguments)
        if asked not in self.asked:
            what = f"the step's message does not ask for call {_named(data.callId)} like this"
            return _breach(Code.CALL_NOT_ASKED, event, what)
        self.asked.remove(asked)
        self.started.append(data.callId)
        return None

    def result(self, event: Event) -> Rejection | None:
        if not event.appends:
            return None  # pruned later, wherever that was
        data = _answered(event)
        if data is None or data.step != self.step or data.turn != self.turn:
            return self._stands(event, *_numbers(data))
        if not self.rules.matches_calls:
            return None
        source = UNSET if data.message is UNSET else data.message.source
        call_id = UNSET if source is UNSET else source.callId
        if call_id in self.started:
            self.started.remove(call_id)
            return None
        waiting = next((call for call in self.asked if call[0] == call_id), None)
        if waiting is not None and data.error is not UNSET and data.error.code == _NOT_STARTED:
            self.asked.remove(waiting)
            return None
        what = f"no call {_named(call_id)} of this step waits for a result"
        return _breach(Code.RESULT_WITHOUT_CALL, event, what)

    def run(self, run: PackedRun) -> Rejection | None:
        """A packed run as its first event: all of them name the same step."""
        try:
            turn, step = _numbers(_decode_row(run.line).data)
        except msgspec.MsgspecError:
            return self.belongs_in_step(run.events()[0])
        if turn is not None and turn == self.turn and step is not None and step == self.step:
            return None
        return self._stands(run.events()[0], turn, step)


def nesting_breaches(parts: Iterable[Event | PackedRun], rules: Nesting) -> Iterator[Rejection]:
    """Every breach of a generation's nesting rules in a log, in order. Runs may stay packed.

    Law:     nesting_matches_the_list_model.
    Source:  docs/reference/generations.md, "Nesting".
    """
    walk = _Walk(rules)
    handlers = walk.handlers
    runs_count = "assistant/chunk" in rules.in_step
    for part in parts:
        if isinstance(part, PackedRun):
            breach = walk.run(part) if runs_count else None
        else:
            handler = handlers.get(part.type)
            breach = None if handler is None else handler(part)
        if breach is not None:
            yield breach


def nesting_fault(parts: Iterable[Event | PackedRun], rules: Nesting) -> Rejection | None:
    """The first breach that keeps a generation from reading a log, or None."""
    return next(nesting_breaches(parts, rules), None) if rules.binds else None


def inherited_length(events: Iterable[Event | PackedRun]) -> int | None:
    """How many events a log from v2 on inherited: the seq of its last marker, None without one."""
    last: int | None = None
    for event in events:
        if isinstance(event, Event) and event.type == "session/end-seed":
            data = event.peek_data()
            if isinstance(data, JsonObject) and data.get("inherited") is True:
                last = event.seq
    return last


def _numbers(data: AnyJson) -> tuple[int | None, int | None]:
    if data is None:
        return None, None
    return data.turn, None if data.step is UNSET else data.step


def _named(value: AnyJson) -> str:
    if value is None or value is UNSET:
        return "none"
    return str(value) if isinstance(value, int) else shown(value)


def _breach(code: Code, event: Event, what: str) -> Rejection:
    return trace_breach(code, event.seq, what, type=event.type)
