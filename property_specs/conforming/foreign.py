"""An implementation behind a door, as the `Core` that laws ask: a session is its log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from hypothesis import reject

from property_specs.conforming.doors import BadAnswer, Door
from property_specs.conforming.protocol import (
    NOT_JSON,
    OPERATIONS,
    REFUSAL_DATA,
    REQUEST_TEXTS,
    NoJson,
    NotOffered,
    Senseless,
    is_said_exactly,
    refused_of,
    sendable,
)
from property_specs.core import Refused
from property_specs.models.json_values import exact

_SESSION_ID: Final = "session"


@dataclass(frozen=True)
class Held:
    """A session, or a state: all that is known of it here is what it was made of."""

    log: tuple[Any, ...] = ()
    header: Any = None
    length: int = 0


class Parts(dict[str, Any]):
    """An answer some parts of which may not be offered."""

    def __init__(self, parts: dict[str, Any], missing: str) -> None:
        super().__init__(parts)
        self._missing = missing

    def __missing__(self, key: str) -> Any:
        raise NotOffered(self._missing)


class NoData(tuple[Any, ...]):
    """The offending values of a refusal, where they are not offered."""

    __slots__ = ()

    def __iter__(self) -> Any:
        raise NotOffered(REFUSAL_DATA)


class Foreign:
    """`Core` over a door. What is not offered raises NotOffered where it is asked for."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self.left_out = 0

    def offers(self, method: str) -> bool:
        """Whether a method of Core can be asked."""
        name = {"request_header": "header"}.get(method, method)
        return name in self._door.capabilities or method == "events"

    # ---- asking ----

    def _ask(self, operation: str, /, **arguments: Any) -> Any:
        if operation not in self._door.capabilities:
            raise NotOffered(operation)
        if NOT_JSON not in self._door.capabilities:
            try:
                settled = {name: sendable(value) for name, value in arguments.items()}
            except NoJson:
                self.left_out += 1
                reject()
            # A process is given a copy by nature; an object gets the law's own values where
            # JSON says exactly them.
            is_process = self._door.kind == "process"
            for name, value in settled.items():
                if is_process or exact(value) != exact(arguments[name]):
                    arguments[name] = value
        return self._door.ask(operation, arguments)

    def _ask_of(self, session: Held, operation: str, **more: Any) -> Any:
        header = {} if session.header is None else {"header": session.header}
        return self._ask(operation, log=list(session.log), **header, **more)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """The method of a question that is put as it stands."""
        spec = OPERATIONS.get(name)
        if name.startswith("_"):
            raise AttributeError(name)
        if spec is None or name not in self._door.capabilities:
            raise NotOffered(name)
        if spec.of_session:
            return lambda session, *more: self._ask_of(
                session, name, **dict(zip(spec.parameters[1:], more, strict=True))
            )
        names = (*spec.parameters, *spec.optional)
        return lambda *given: self._ask(name, **dict(zip(names, given, strict=False)))

    # ---- sessions and states ----

    def accept(self, log: list[Any], header: Any = None) -> Held | Refused:
        """The session a log amounts to."""
        return self._accepted(Held(tuple(log), header))

    def _accepted(self, wanted: Held, first: int = 0) -> Held | Refused:
        answer = self._ask_of(wanted, "accept")
        if isinstance(answer, Refused):
            index = answer.index
            if index is None:
                return answer
            seq = index if answer.seq is None else answer.seq
            data = answer.data if self.offers(REFUSAL_DATA) else NoData()
            return replace(answer, seq=seq, index=index - first, data=data)
        return replace(wanted, length=_field(answer, "length", "accept"))

    def strictly(self, log: list[Any]) -> Held | Refused:
        """The session of a strict writer."""
        answer = self._ask("strictly", log=log)
        return answer if isinstance(answer, Refused) else Held(tuple(log), None, len(log))

    def step(self, state: Held | None, event: Any) -> Held | Refused:
        """The state after one event."""
        log = () if state is None else state.log
        return self._accepted(Held((*log, event)), len(log))

    def fold(self, events: list[Any], state: Held | None = None) -> Held | Refused:
        """The state after many events."""
        log = () if state is None else state.log
        return self._accepted(Held((*log, *events)), len(log))

    def append(self, session: Held, event: Any) -> Held | Refused:
        """The session with one event more, its seq given here."""
        made = {key: value for key, value in event.items() if value is not None or key == "data"}
        return self.extend(session, [{**made, "seq": len(session.log)}])

    def extend(self, session: Held, events: list[Any]) -> Held | Refused:
        """The session with many events more."""
        return self._accepted(replace(session, log=(*session.log, *events)), len(session.log))

    def at(self, session: Held, seq: Any) -> Held | Refused:
        """The prefix through a seq: taken here, asked about there."""
        if type(seq) is not int or not 0 <= seq < len(session.log):
            return Refused("INVALID_BOUNDARY")
        return replace(session, log=session.log[: seq + 1], length=seq + 1)

    def fork(self, session: Held, *boundary: Any) -> Held | Refused:
        """The child through a boundary."""
        if boundary and NOT_JSON not in self._door.capabilities:
            try:
                exactly = is_said_exactly(boundary[0])
            except NoJson:
                exactly = False
            if not exactly:
                self.left_out += 1
                reject()
        answer = self._ask_of(session, "fork", **({"boundary": boundary[0]} if boundary else {}))
        if isinstance(answer, Refused):
            return answer
        length = _field(answer, "length", "fork")
        header = _field(answer, "header", "fork")
        if type(length) is not int or not 0 <= length <= len(session.log):
            raise BadAnswer(f"fork answered a length of {length!r} for {len(session.log)} events")
        return Held(session.log[:length], header, length)

    # ---- what is looked at ----

    def look(self, state: Held) -> Parts:
        """A state: as much of it as is offered."""
        shown: dict[str, Any] = {"next_seq": state.length}
        if self.offers("surface"):
            shown |= self.surface(state)
        if self.offers("header"):
            header = self.request_header(state)
            shown["header"] = header.code if isinstance(header, Refused) else header
        return Parts(shown, "surface")

    def header_of(self, session: Held) -> Any:
        """The session header: a child's own, or the one a session was given."""
        return session.header if session.header is not None else {"id": _SESSION_ID}

    def events(self, session: Held) -> list[Any]:
        """The log as it is held; where that cannot be asked, as it was handed over."""
        if "events" not in self._door.capabilities:
            return list(session.log)
        answer: list[Any] = self._ask_of(session, "events")
        return answer

    def surface(self, session: Held) -> dict[str, Any]:
        """`nodes` and `generation`."""
        answer = self._ask_of(session, "surface")
        seqs = _field(answer, "seqs", "surface")
        if not isinstance(seqs, list):
            raise BadAnswer("surface answered seqs that are no list")
        nodes = [
            {"seq": seq, "prev": prev, "next": next}
            for prev, seq, next in zip([None, *seqs], seqs, [*seqs[1:], None], strict=False)
        ]
        return {"nodes": nodes, "generation": _field(answer, "generation", "surface")}

    def messages(self, session: Held) -> Any:
        """The messages in force."""
        return self._ask_of(session, "messages")

    def request_header(self, session: Held) -> Any:
        """The request header in force."""
        return self._ask_of(session, "header")

    def requests(self, session: Held) -> list[Any]:
        """The requests; their texts only where they are offered."""
        answer = self._ask_of(session, "requests")
        if not isinstance(answer, list) or not all(isinstance(each, dict) for each in answer):
            raise BadAnswer("requests answered no list of objects")
        if REQUEST_TEXTS in self._door.capabilities:
            return answer
        return [Parts(each, REQUEST_TEXTS) for each in answer]

    def violations(self, events: list[Any]) -> list[Refused]:
        """Every breach of the rules of turns and steps."""
        answer = self._ask("violations", events=events)
        try:
            return [each if isinstance(each, Refused) else refused_of(each) for each in answer]
        except (TypeError, Senseless) as fault:
            raise BadAnswer(f"violations answered no list of breaches: {fault}") from None

    def next_header_event(self, prev: Any, next: Any, *, first: bool) -> Any:
        """What a writer logs so that a header is in force."""
        return self._ask("next_header_event", prev=prev, next=next, first=first)


def _field(answer: Any, name: str, operation: str) -> Any:
    if not isinstance(answer, dict) or name not in answer:
        raise BadAnswer(f"{operation} answered no object with {name!r}")
    return answer[name]
