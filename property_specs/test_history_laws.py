"""A whole life of sessions at once: appended to, looked back at, forked and replayed."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from property_specs.core import Core, Log, Refused, code_of
from property_specs.generators.logs import Move, loose_event, loose_moves
from property_specs.generators.wild_events import any_events
from property_specs.models import headers
from property_specs.models.acceptance import Book, accepted
from property_specs.models.json_values import exact, same
from property_specs.models.projection import messages_of
from property_specs.models.requests import requests_of

TURN_END = {"type": "turn/end", "time": 0, "data": {"turn": 1, "reason": {"kind": "completed"}}}
STEP = {"type": "step/start", "time": 0, "data": {"turn": 1, "step": 1}}


# Which session is picked: 0 is the one made last, and the likeliest.
numbers = st.sampled_from([0, 0, 0, 0, 1, 2, 3])


class History(RuleBasedStateMachine):
    """Every session ever made, each beside the plain list of its events.

    Old sessions are kept and picked up again, so that branches share what they can.
    """

    def __init__(self, core: Core) -> None:
        super().__init__()
        self.core = core
        self.lives: list[tuple[Any, Log]] = [(core.accept([]), [])]
        self.touched = 0

    def _enter(self, session: Any, log: Log) -> None:
        assert not isinstance(session, Refused), session
        self.touched = len(self.lives)
        self.lives.append((session, log))

    def _pick(self, number: int) -> tuple[Any, Log]:
        # The latest come first: most histories go on from where they are.
        return self.lives[-1 - number % len(self.lives)]

    @rule(number=numbers, moves=st.lists(loose_moves(), min_size=1, max_size=4))
    def append(self, number: int, moves: list[Move]) -> None:
        """Append sound events to any session, old or new."""
        session, log = self._pick(number)
        for move in moves:
            event = loose_event(accepted(log), move)
            session, log = self.core.append(session, event), [*log, event]
        self._enter(session, log)

    @rule(number=numbers, kind=st.sampled_from([TURN_END, STEP]))
    def mark(self, number: int, kind: dict[str, Any]) -> None:
        """End a turn or begin a step."""
        session, log = self._pick(number)
        event = {**kind, "seq": len(log)}
        self._enter(self.core.extend(session, [event]), [*log, event])

    @rule(number=numbers, data=st.data())
    def append_anything(self, number: int, data: st.DataObject) -> None:
        """Offer any event: it is taken or refused as the list model says."""
        session, log = self._pick(number)
        event = data.draw(any_events(len(log)))
        expected = accepted(log).fault(event)
        answer = self.core.extend(session, [event])
        assert code_of(answer) == expected
        if expected is None:
            self._enter(answer, [*log, event])

    @rule(number=numbers, place=st.integers(0, 29))
    def look_back(self, number: int, place: int) -> None:
        """Take the session as it was, and go on from there; now and then ask beyond its end."""
        session, log = self._pick(number)
        seq = place % (len(log) + 1)
        answer = self.core.at(session, seq)
        if seq < len(log):
            self._enter(answer, log[: seq + 1])
        else:
            assert code_of(answer) == "INVALID_BOUNDARY"

    @rule(number=numbers, place=st.none() | st.integers(0, 29))
    def fork(self, number: int, place: int | None) -> None:
        """Fork anywhere: it is done where a turn ends."""
        session, log = self._pick(number)
        boundary = len(log) - 1 if place is None else place % (len(log) + 1)
        answer = self.core.fork(session, *([] if place is None else [boundary]))
        if boundary >= len(log):
            assert code_of(answer) == "INVALID_BOUNDARY"
        elif log and log[boundary]["type"] != "turn/end":
            assert code_of(answer) == "OPEN_TURN"
        else:
            self._enter(answer, log[: boundary + 1])

    @rule(number=numbers)
    def replay(self, number: int) -> None:
        """Replay a session's events."""
        session, log = self._pick(number)
        self._enter(self.core.accept(self.core.events(session)), log)

    @invariant()
    def the_touched_session_matches_the_model(self) -> None:
        """The session made last shows what the list model shows."""
        self._compare(*self.lives[self.touched])

    def teardown(self) -> None:
        """No session, however old, was changed by what came after it."""
        for session, log in self.lives:
            self._compare(session, log)

    def _compare(self, session: Any, log: Log) -> None:
        core, book = self.core, accepted(log)
        assert core.surface(session) == {"nodes": book.nodes, "generation": book.generation}
        assert same(core.events(session), log)
        self._compare_views(session, log, book)

    def _compare_views(self, session: Any, log: Log, book: Book) -> None:
        messages, expected = self.core.messages(session), messages_of(book)
        if isinstance(expected, int):
            assert code_of(messages) == "PAYLOAD_INVALID"
        else:
            assert exact(messages) == exact(expected)
        header = self.core.request_header(session)
        force = header.code if isinstance(header, Refused) else header
        assert exact(force) == exact(headers.fold(log))
        requests = self.core.requests(session)
        told = [{key: each[key] for key in each if key != "text"} for each in requests]
        assert exact(told) == exact(requests_of(log))


def test_any_history_matches_the_list_model(core: Core) -> None:
    """However sessions are appended to, cut, forked and replayed, each matches the list model.

    Generator: a stateful machine over all sessions ever made.
    Oracle:    the plain list of each session's events, and every model over it.
    Catches:   shared parts changed in place; histories that two branches both write to.
    Broken:    an append to a prefix goes behind what the longer log put there.
    """

    class Trial(History):
        def __init__(self) -> None:
            super().__init__(core)

    run_state_machine_as_test(Trial, settings=settings(stateful_step_count=15))
