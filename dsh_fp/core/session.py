"""Session: header, log, state and the history of states, as one immutable value.

Everything a session answers about its past is looked up, never folded again: between two
replacements the surface only grows, so its earlier versions are prefixes of one vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, Self

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import (
    MAX_SEQ,
    UNSET,
    Event,
    SessionHeader,
    as_event,
    is_seq,
    new_event,
    session_header,
)
from dsh_fp.core.header import HeaderInForce, Unfolded
from dsh_fp.core.history import NO_HISTORY, Epoch, History
from dsh_fp.core.log import EMPTY_LOG, EventLog
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, freeze
from dsh_fp.core.projection import derive_messages
from dsh_fp.core.reducer import EMPTY_STATE, State, advance, fold_run
from dsh_fp.core.rejection import (
    Rejection,
    bad_envelope,
    fork_in_open_turn,
    invalid_boundary,
    payload_invalid,
)
from dsh_fp.core.surface import Surface
from dsh_fp.core.vocabulary import STANDARD, Role, Vocabulary


class Guard(Protocol):
    """What may refuse an event that acceptance lets in: opt-in strictness, as a value."""

    def admit(self, event: Event, state: State, vocabulary: Vocabulary) -> Result[Self, Rejection]:
        """The guard after one event, given the state after it, or why it is refused."""
        ...

    def fresh(self) -> Self:
        """The same guard before any event."""
        ...


@attrs.frozen
class Tokens:
    """Token counts of model calls; the three input counts are disjoint."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    calls: int = 0

    def plus(self, usage: JsonObject) -> Tokens:
        """The counts with one call's usage added; what is no number counts nothing."""

        def count(key: str) -> int:
            value = usage.get(key)
            return value if type(value) in (int, float) else 0  # type: ignore[return-value]  # counts are integers

        return Tokens(
            self.input_tokens + count("inputTokens"),
            self.output_tokens + count("outputTokens"),
            self.cache_read_tokens + count("cacheReadTokens"),
            self.cache_write_tokens + count("cacheWriteTokens"),
            self.reasoning_tokens + count("reasoningTokens"),
            self.calls + 1,
        )


@attrs.frozen
class Usage:
    """What a session spent itself, and what it inherited from its parent."""

    own: Tokens
    inherited: Tokens


@attrs.frozen
class _Stale:
    """A guard whose state has to be folded again over the log before it admits anything."""

    fresh: Guard


@attrs.frozen(eq=False, repr=False)
class Session:
    """An agent session: what happened, and everything that follows from it.

    Immutable: `append`, `at` and `fork` answer other sessions that share what they can.
    Made by `create` and `replay`.
    """

    header: SessionHeader
    events: EventLog = EMPTY_LOG
    state: State = EMPTY_STATE
    vocabulary: Vocabulary = STANDARD
    guard: Guard | _Stale | None = None
    history: History = NO_HISTORY

    @classmethod
    def create(
        cls,
        id: str = "session",
        *,
        created_at: float = 0,
        cwd: str | None = None,
        parent_session: str | None = None,
        seed_length: int | None = None,
        seed: Iterable[object] = (),
        vocabulary: Vocabulary = STANDARD,
        guard: Guard | None = None,
    ) -> Result[Session, Rejection]:
        """A session, empty or with seed events put through the same acceptance.

        Units:   created_at is epoch milliseconds; the core reads no clock.
        Errors:  the seed's first, then NOT_JSON and META_INVALID of the header.
        """
        fields = {
            "id": id,
            "createdAt": created_at,
            "cwd": cwd,
            "parentSession": parent_session,
            "seedLength": seed_length,
        }
        given = {key: value for key, value in fields.items() if value is not None}
        return cls.replay(seed, given, vocabulary=vocabulary, guard=guard)

    @classmethod
    def replay(
        cls,
        events: Iterable[object],
        header: SessionHeader | Mapping[str, object] | None = None,
        *,
        vocabulary: Vocabulary = STANDARD,
        guard: Guard | None = None,
    ) -> Result[Session, Rejection]:
        """The session a recorded log amounts to. Events or wire objects are taken.

        `header` is a SessionHeader or its wire fields; without one the id is "session".

        Errors:  the first refused event with seq and index; then those of the header.
        Law:     replay_equals_appends.
        """
        born = SessionHeader(id="session")
        grown = cls(born, vocabulary=vocabulary, guard=guard).extend(events)
        if isinstance(grown, Failure):
            return grown
        if header is None:
            return grown
        rule = vocabulary.form.session_header
        if isinstance(header, SessionHeader):
            checked = (rule or session_header)(header.to_wire())
        elif rule is None:
            checked = session_header({"id": "session", **header})
        else:
            checked = rule(rule.filled({"id": "session", **header}))
        return checked.map(grown.unwrap().with_header)

    def append(
        self,
        type: str,
        data: object,
        *,
        time: int,
        surface_op: object = None,
        source_event_seqs: object = None,
    ) -> Result[Session, Rejection]:
        """The session with one event more, or why it is refused; this one stays as it is.

        `surface_op` is "append" or `{"op": "replace", "start": seq, "end": seq}`.

        Units:   time is epoch milliseconds.
        Errors:  NOT_JSON with the path, then the acceptance codes, then the guard's.
        Law:     refusal_changes_nothing.
        """
        drafted = self.drafted(type, data, time, surface_op, source_event_seqs)
        if isinstance(drafted, Rejection):
            return Failure(drafted)
        return self.append_event(drafted)

    def draft(
        self,
        type: str,
        data: object,
        *,
        time: int,
        surface_op: object = None,
        source_event_seqs: object = None,
    ) -> Result[Event, Rejection]:
        """The event that `append` would append: snapshotted, in shape, not yet accepted.

        Errors:  NOT_JSON or TOO_DEEP with the path; BAD_ENVELOPE for a type or time.
        """
        drafted = self.drafted(type, data, time, surface_op, source_event_seqs)
        return Failure(drafted) if isinstance(drafted, Rejection) else Success(drafted)

    def drafted(
        self, name: object, data: object, time: object, surface_op: object, source_seqs: object
    ) -> Event | Rejection:
        """`draft` without the wrapping."""
        seq = self.state.next_seq
        # The usual type and time are what they would be frozen to.
        if type(name) is not str or not name.isascii():
            name = freeze(name)
        if type(time) is not int or time > MAX_SEQ:
            time = freeze(time)
        parts: dict[str, AnyJson] = {"type": name, "time": time, "data": freeze(data)}
        if surface_op is not None:
            parts["surfaceOp"] = freeze(surface_op)
        if source_seqs is not None:
            parts["sourceEventSeqs"] = freeze(source_seqs)
        for key, part in parts.items():
            if type(part) is Rejection:
                return _under(part, key, seq)
        if not isinstance(name, str):
            return bad_envelope("type is no string", "type").at(seq=seq)
        if type(time) is not int or not 0 <= time <= MAX_SEQ:
            return bad_envelope("time is no integer from 0 to 2**53 - 1", "time").at(seq=seq)
        sources, op = parts.get("sourceEventSeqs", UNSET), parts.get("surfaceOp", UNSET)
        kind = self.vocabulary.form.envelope.event
        return new_event(name, seq, time, parts["data"], sources=sources, op=op, kind=kind)

    def append_event(self, event: Event) -> Result[Session, Rejection]:
        """The session with this event appended as it is, its seq included.

        Errors:  the acceptance codes, then the guard's.
        """
        grown = self.accepted(event)
        return Failure(grown) if isinstance(grown, Rejection) else Success(grown)

    def accepted(self, event: Event) -> Session | Rejection:
        """`append_event` without the wrapping."""
        before = self.state
        after = advance(before, event, self.vocabulary)
        if isinstance(after, Rejection):
            return after
        guard = self._current_guard()
        if guard is not None:
            admitted = guard.admit(event, after, self.vocabulary)
            if isinstance(admitted, Failure):
                refusal: Rejection = admitted.failure()
                return refusal
            guard = admitted.unwrap()
        history = self.history
        if after.surface.generation != before.surface.generation:
            history = history.with_replacement(event.seq, before.surface)
        if self.vocabulary.role(event.type) is Role.REQUEST_HEADER:
            history = history.with_header(event.seq, after.header)
        log = self.events.append(event)
        return Session(self.header, log, after, self.vocabulary, guard, history)

    def extend(self, events: Iterable[object]) -> Result[Session, Rejection]:
        """The session with many events more, or the first refusal with seq and index.

        Events or wire objects are taken; nothing is half-applied.
        """
        shaped: list[Event] = []
        malformed: Rejection | None = None
        for given in events:
            event = as_event(given, self.vocabulary.form.envelope)
            if isinstance(event, Rejection):
                malformed = event.at(seq=self.state.next_seq + len(shaped), index=len(shaped))
                break
            shaped.append(event)
        grown, fault = self.accept_run(shaped)
        if fault is not None:
            return Failure(fault)
        return Success(grown) if malformed is None else Failure(malformed)

    def accept_run(self, events: Sequence[Event]) -> tuple[Session, Rejection | None]:
        """This session and the first refusal, or the session with the whole run accepted."""
        changes = _Recorded(self.history)
        after, fault = fold_run(self.state, events, self.vocabulary, changes)
        accepted = after.next_seq - self.state.next_seq
        guard = self._current_guard()
        if guard is not None:
            guarded, breach = self._guard_run(guard, events[:accepted])
            if isinstance(guarded, Rejection):
                return self, guarded.at(index=breach)
            guard = guarded
        if fault is not None:
            return self, fault.at(index=accepted)
        log = self.events.extend(events)
        history = changes.history
        return Session(self.header, log, after, self.vocabulary, guard, history), None

    def _current_guard(self) -> Guard | None:
        guard = self.guard
        if not isinstance(guard, _Stale):
            return guard
        empty = Session(self.header, vocabulary=self.vocabulary)
        refolded, _ = empty._guard_run(guard.fresh, self.events[:])
        assert not isinstance(refolded, Rejection)  # every prefix of a guarded log was admitted
        return refolded

    def _guard_run(self, guard: Guard, events: Sequence[Event]) -> tuple[Guard | Rejection, int]:
        state = self.state
        for index, event in enumerate(events):
            after = advance(state, event, self.vocabulary)
            assert not isinstance(after, Rejection)  # the run was accepted just before
            state = after
            admitted = guard.admit(event, state, self.vocabulary)
            if isinstance(admitted, Failure):
                return admitted.failure(), index
            guard = admitted.unwrap()
        return guard, len(events)

    def at(self, seq: int) -> Result[Session, Rejection]:
        """The session as it was right after the event with this seq. O(log n), shares all.

        A guard keeps no history: with one, the first append folds its state again.

        Errors:  INVALID_BOUNDARY for what is no seq of this log (`True` is none).
        Law:     at_equals_replayed_prefix.
        """
        if not is_seq(seq) or seq >= len(self.events):
            return Failure(invalid_boundary(seq, len(self.events)))
        return Success(self.prefix(seq + 1))

    def prefix(self, length: int) -> Session:
        """The session of the first `length` events, from none to all of them."""
        if length >= len(self.events):
            return self
        guard = self.guard
        if guard is not None and not isinstance(guard, _Stale):
            guard = _Stale(guard.fresh())  # a guard keeps no history
        return Session(
            self.header,
            self.events.prefix(length),
            self.state_at(length),
            self.vocabulary,
            guard,
            self.history.prefix(length),
        )

    def with_header(self, header: SessionHeader) -> Session:
        """The same events under another session header."""
        return attrs.evolve(self, header=header)

    def state_at(self, length: int) -> State:
        """The state when the log had `length` events. O(log n), nothing is recomputed."""
        if length >= len(self.events):
            return self.state
        header = self.history.header_at(length, self.events, self.vocabulary.form)
        return State(length, self.epoch_at(length).surface.before(length), header)

    def epoch_at(self, length: int) -> Epoch:
        """The surface around a length of the log, where it only grew."""
        return self.history.epoch_at(length, self.state.surface, self.events, self.vocabulary)

    def fork(
        self, boundary: int | None = None, *, id: str = "fork", created_at: float = 0
    ) -> Result[Session, Rejection]:
        """A child session that starts with the events through `boundary`, shared.

        `boundary` is the inclusive seq of a turn/end; by default the last event. An empty
        session forks into an empty child.

        Errors:  INVALID_BOUNDARY, OPEN_TURN; META_INVALID for an unusable id or created_at.
        Law:     fork_leaves_parent_alone.
        """
        length = len(self.events)
        if boundary is None:
            boundary = length - 1
        elif not is_seq(boundary) or boundary >= length:
            return Failure(invalid_boundary(boundary, length))
        if length and self.events[boundary].type != "turn/end":
            return Failure(fork_in_open_turn(boundary, self.events[boundary].type))
        fields = {
            "id": id,
            "createdAt": created_at,
            "cwd": self.header.cwd,
            "parentSession": self.header.id,
            "seedLength": boundary + 1,
        }
        rule = self.vocabulary.form.session_header
        given = {key: value for key, value in fields.items() if value is not None}
        if rule is None:
            born = session_header(given)
        else:
            if not rule.seeded:
                del given["seedLength"]
            born = rule(rule.filled(given))
        return born.map(self.prefix(boundary + 1).with_header)

    @property
    def surface(self) -> Surface:
        """The nodes in force, in order."""
        return self.state.surface

    def nodes(self) -> Iterator[Event]:
        """The events in force, in surface order."""
        events = self.events
        return (events[seq] for seq in self.state.surface)

    def messages(self) -> Result[JsonArray, Rejection]:
        """What the model sees of this session: a JSON array of messages.

        Errors:  PAYLOAD_INVALID with the seq of the first event that makes no message.
        Source:  docs/reference/messages.md.
        """
        return derive_messages(self.nodes(), self.vocabulary)

    def request_header(self) -> Result[JsonObject | None, Rejection]:
        """The request header in force; None before any was logged.

        Errors:  HEADER_INVALID or HEADER_DELTA_WITHOUT_SNAPSHOT with the seq at fault.
        """
        header = self.state.header
        return Failure(header) if isinstance(header, Rejection) else Success(header)

    def todos(self) -> Result[JsonArray | None, Rejection]:
        """The list of the last todo/write; None when there is none.

        Errors:  PAYLOAD_INVALID when that event holds no list.
        """
        for seq in range(len(self.events) - 1, -1, -1):
            event = self.events[seq]
            if event.type == "todo/write":
                data = event.data
                todos = data.get("todos") if isinstance(data, JsonObject) else None
                if isinstance(todos, JsonArray):
                    return Success(todos)
                return Failure(payload_invalid(seq, "$.data.todos", "list of todos"))
        return Success(None)

    def usage(self) -> Usage:
        """Token counts over all assistant messages of the log, replaced ones too."""
        counted: list[tuple[int, JsonObject]] = []
        marked = 0  # what stands before the last mark was inherited, where a generation marks it
        for event in self.events.parts():
            if not isinstance(event, Event):
                continue  # a run of chunks
            if event.type not in ("assistant/message", "session/end-seed"):
                continue
            data = event.peek_data()
            if not isinstance(data, JsonObject):
                continue
            if event.type == "session/end-seed":
                marked = event.seq if data.get("inherited") is True else marked
            elif isinstance(data.get("usage"), JsonObject):
                counted.append((event.seq, data["usage"]))
        is_marked = self.vocabulary.form.inherited_by == "isSeeded"
        inherited_length = marked if is_marked else self.header.seed_length or 0
        own = inherited = Tokens()
        for seq, usage in counted:
            if seq < inherited_length:
                inherited = inherited.plus(usage)
            else:
                own = own.plus(usage)
        return Usage(own, inherited)

    def __len__(self) -> int:
        return len(self.events)

    def __bool__(self) -> bool:
        return True  # an empty session is still a session

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Session):
            return NotImplemented
        return self.header == other.header and self.events == other.events

    def __hash__(self) -> int:
        return hash((self.header, self.events))

    def __repr__(self) -> str:
        nodes = len(self.state.surface)
        return f"Session({self.header.id!r}, {len(self.events)} events, {nodes} nodes)"


class _Recorded:
    """Takes what a run changes into a history."""

    def __init__(self, history: History) -> None:
        self.history = history

    def replaced(self, seq: int, before: Surface) -> None:
        self.history = self.history.with_replacement(seq, before)

    def headed(self, seq: int, after: HeaderInForce | Unfolded) -> None:
        self.history = self.history.with_header(seq, after)


def _under(fault: Rejection, key: str, seq: int) -> Rejection:
    """A fault of one part of an event, with its path seen from the event."""
    path = None if fault.path is None else f"$.{key}{fault.path[1:]}"
    return fault.at(path=path, seq=seq)
