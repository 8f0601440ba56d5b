"""SessionMachine: a foreign session driven step by step, with dsh_fp as the answer to compare.

The machine makes events, valid ones and ones made for a code, and hands each to both. What the
foreign session then shows must be what ours shows. Where ours answers a fault for a question,
nothing is compared: what another implementation makes of it is its own business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from returns.result import Failure, Result

from dsh_fp.core.events import Event, as_event
from dsh_fp.core.json_paths import first_difference
from dsh_fp.core.lossless import AnyJson, freeze, json_array, text_of
from dsh_fp.core.rejection import Code, Rejection, printable
from dsh_fp.core.requests import past_requests
from dsh_fp.core.session import Session
from dsh_fp.rejected import unwrap
from property_specs.generators import broken_logs, logs
from property_specs.generators.compactions import compact
from property_specs.generators.short_moves import KINDS, NUMBERS, short_move

_EXCERPT: Final = 200
# Those that can be met on any log; the others need nodes to name.
_PLAIN: Final = tuple(
    code for code in broken_logs.CODES if code != "NOT_JSON" and not code.startswith("REPLACE_")
)
_OF_RANGES: Final = tuple(code for code in broken_logs.CODES if code.startswith("REPLACE_"))


class Disagreement(AssertionError):
    """The foreign session and dsh_fp differ; its text holds the log that shows it."""


class SessionMachine(RuleBasedStateMachine):
    """A state machine to subclass around another implementation of sessions.

    `begin`, `append`, `messages` and `header` are to be written; `surface` and `requests` may
    be, and are not compared otherwise. What answers NotImplemented is not compared either. All
    that is handed over and handed back are plain JSON values.

        class TestMine(SessionMachine):
            ...

        TestMine = TestMine.TestCase

    Source:  docs/reference/testing.md, "SessionMachine".
    """

    refusals: ClassVar[tuple[type[Exception], ...]] = (ValueError,)
    """What `append` may raise to refuse an event; any other exception is a failure."""

    def __init__(self) -> None:
        super().__init__()
        self._ours = unwrap(Session.create())
        self._writer = logs.Writer()
        self.begin()

    # ---- what a subclass writes ----------------------------------------------------------

    def begin(self) -> None:
        """Make the session that is on trial, without events."""
        raise NotImplementedError("a SessionMachine has a method begin()")

    def append(self, event: dict[str, Any]) -> str | None:
        """Append one event, given as in a file, `seq` included: None when it was taken.

        A refusal is a text, or one of `refusals` raised. Where the text is a code of dsh_fp,
        such as `SEQ_GAP`, it must be the right one.
        """
        raise NotImplementedError("a SessionMachine has a method append(event)")

    def messages(self) -> Any:  # noqa: ANN401  # any JSON value: what is wrong with it is told
        """The messages that the model sees now."""
        raise NotImplementedError("a SessionMachine has a method messages()")

    def header(self) -> Any:  # noqa: ANN401  # the same
        """The request header in force, in canonical form; None before there is any."""
        raise NotImplementedError("a SessionMachine has a method header()")

    def surface(self) -> Any:  # noqa: ANN401  # the same
        """The seqs of the surface's nodes, in order. Optional."""
        return NotImplemented

    def requests(self) -> Any:  # noqa: ANN401  # the same
        """The request of each step, None for one that is not known. Optional."""
        return NotImplemented

    # ---- what the machine does -----------------------------------------------------------

    @rule(kind=st.sampled_from(KINDS), number=st.integers(0, NUMBERS - 1))
    def write(self, kind: str, number: int) -> None:
        """Log what an agent would: one to three events, turns and steps opened as needed."""
        before = len(self._writer.book.events)
        self._writer.write(short_move(kind, number))
        self._hand_over_written(before)

    @rule(choice=st.integers(0, 9), fails=st.booleans())
    def compact(self, choice: int, fails: bool) -> None:
        """Let a compaction take a run of messages away, or fail."""
        before = len(self._writer.book.events)
        compact(self._writer, choice, fails=fails)
        self._hand_over_written(before)

    @precondition(lambda self: len(self._writer.book.events) > 0)
    @rule(code=st.sampled_from(_PLAIN), data=st.data())
    def refuse(self, code: str, data: st.DataObject) -> None:
        """Hand over an event that is refused with this code; the log must stay as it is."""
        self._hand_over(data.draw(broken_logs.broken_events(code, self._writer.book)))
        self._compare_all()

    @precondition(lambda self: len(self._writer.book.surface) > 1)
    @rule(code=st.sampled_from(_OF_RANGES), data=st.data())
    def refuse_range(self, code: str, data: st.DataObject) -> None:
        """The same for replacements."""
        self._hand_over(data.draw(broken_logs.broken_events(code, self._writer.book)))
        self._compare_all()

    def _compare_all(self) -> None:
        """Compare everything that both show."""
        ours = self._ours
        self._compare("surface", json_array(ours.surface.seqs), self.surface())
        self._compare("messages", ours.messages(), self.messages())
        self._compare("header", ours.request_header(), self.header())
        requests = self.requests()
        if requests is not NotImplemented:
            made = [past.request.value_or(None) for past in past_requests(ours)]
            self._compare("requests", json_array(made), requests)

    def _hand_over_written(self, before: int) -> None:
        for event in self._writer.book.events[before:]:
            self._hand_over(event)
        self._compare_all()

    def _hand_over(self, wire: AnyJson) -> None:
        """Give an event to both; they must take it, or refuse it, alike."""
        answer = self._ours_after(wire)
        # Their own copy: what they do to it is not to change the machine's log.
        theirs = self._asked(lambda: self.append(_plain(wire)), answer, wire)
        if isinstance(answer, Rejection):
            if theirs is None:
                self._disagree(wire, _told(answer), "taken")
            if theirs in Code.__members__ and theirs != answer.code.value:
                self._disagree(wire, _told(answer), f"refused with {theirs}")
            return
        if theirs is not None:
            self._disagree(wire, "taken", f"refused: {printable(theirs, _EXCERPT)}")
        self._ours = answer

    def _ours_after(self, wire: AnyJson) -> Session | Rejection:
        event = as_event(wire)
        return self._ours.accepted(event) if isinstance(event, Event) else event

    def _asked(
        self, ask: Callable[[], str | None], answer: Session | Rejection, wire: AnyJson
    ) -> str | None:
        try:
            theirs = ask()
        except self.refusals as refusal:
            return str(refusal) or type(refusal).__name__
        except NotImplementedError:
            raise  # the subclass lacks a method
        except Exception as crash:
            told = _told(answer) if isinstance(answer, Rejection) else "taken"
            how = f"raised {type(crash).__name__}, which is none of its refusals"
            raise Disagreement(self._report(f"handed over {_line(wire)}", told, how)) from crash
        if theirs is not None and not isinstance(theirs, str):
            raise TypeError("append() answers None for an event that was taken, else a text")
        return theirs

    def _compare(
        self, what: str, ours: Result[AnyJson, Rejection] | AnyJson, theirs: object
    ) -> None:
        if isinstance(ours, Failure) or theirs is NotImplemented:
            return
        expected = ours.unwrap() if isinstance(ours, Result) else ours
        got = freeze(theirs)
        if isinstance(got, Rejection):
            raise Disagreement(self._report(f"{what}()", _excerpt(expected), f"no JSON: {got}"))
        parted = first_difference(expected, got)
        if parted is None:
            return
        here = "nothing" if parted.kind == "extra" else _excerpt(parted.expected)
        there = "nothing" if parted.kind == "missing" else _excerpt(parted.got)
        if parted.kind == "key order":
            there += ", the keys in another order"
        raise Disagreement(self._report(f"{what}() at {parted.path}", here, there))

    def _disagree(self, wire: AnyJson, ours: str, theirs: str) -> None:
        raise Disagreement(self._report(f"handed over {_line(wire)}", ours, theirs))

    def _report(self, what: str, ours: str, theirs: str) -> str:
        """The log so far, what was asked, and both answers."""
        events = [f"  {event.to_text()}" for event in self._ours]
        log = ["the log:", *events] if events else ["the log is empty"]
        return "\n".join([*log, what, f"  dsh_fp  {ours}", f"  yours   {theirs}"])


def _told(fault: Rejection) -> str:
    return f"refused with {fault.code.value}: {fault.message}"


def _line(wire: AnyJson) -> str:
    frozen = freeze(wire)
    return repr(wire) if isinstance(frozen, Rejection) else text_of(frozen)


def _excerpt(value: AnyJson) -> str:
    return printable(text_of(value), _EXCERPT)


def _plain(value: AnyJson) -> AnyJson:
    """A copy of a wire value that shares nothing with it."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
