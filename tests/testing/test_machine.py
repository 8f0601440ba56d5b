"""`SessionMachine`: what is wrong with a foreign session is found, and told with its log."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from returns.result import Failure

import dsh_fp
from dsh_fp.testing import Disagreement, SessionMachine

MANY = settings(
    max_examples=60,
    stateful_step_count=10,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],  # that a bug is found is asked, not how small its log can be made
)
SHRINKING = settings(MANY, phases=[Phase.generate, Phase.shrink])


class Sound(SessionMachine):
    """Our own session behind the machine; bugs are planted by overriding."""

    def begin(self) -> None:
        self.session = dsh_fp.unwrap(dsh_fp.Session.create())

    def append(self, event: Any) -> str | None:
        made = self.session.extend([event])
        if isinstance(made, Failure):
            return str(made.failure().code)
        self.session = made.unwrap()
        return None

    def messages(self) -> Any:
        return dsh_fp.thaw(dsh_fp.unwrap(self.session.messages()))

    def header(self) -> Any:
        return dsh_fp.thaw(dsh_fp.unwrap(self.session.request_header()))

    def surface(self) -> Any:
        return [node.seq for node in self.session.surface.nodes]

    def requests(self) -> Any:
        return [past.request.value_or(None) for past in dsh_fp.past_requests(self.session)]


def disagreement(machine: type[SessionMachine], how: settings = MANY) -> str:
    """What is told of a machine whose session is wrong."""
    with pytest.raises(Disagreement) as caught:
        run_state_machine_as_test(machine, settings=how)
    return str(caught.value)


def test_a_sound_session_passes() -> None:
    """So does one that asks for less, and one that is a TestCase."""

    class Less(Sound):
        def surface(self) -> Any:
            return NotImplemented

        def header(self) -> Any:
            return NotImplemented

    run_state_machine_as_test(Sound, settings=MANY)
    run_state_machine_as_test(Less, settings=MANY)
    assert Sound.TestCase is not None


class ComparesSeqs(Sound):
    """Takes a range of seqs away where the range is one of places."""

    def surface(self) -> Any:
        nodes: list[int] = []
        for event in self.session:
            op = event.surface_op
            if isinstance(op, dict):
                nodes = [seq for seq in nodes if not op["start"] <= seq <= op["end"]]
            if op is not None:
                nodes.append(event.seq)
        return nodes


class TakesAll(Sound):
    """Refuses nothing."""

    def append(self, event: Any) -> str | None:
        super().append(event)
        return None


class RefusesReplacements(Sound):
    """Refuses what is legal."""

    def append(self, event: Any) -> str | None:
        if isinstance(event, dict) and isinstance(event.get("surfaceOp"), dict):
            return "not today"
        return super().append(event)


class WrongCode(Sound):
    """Refuses for a reason that is not the first."""

    def append(self, event: Any) -> str | None:
        return super().append(event) and "SOURCES_EMPTY"


class Crashes(Sound):
    """Raises what is no refusal."""

    def append(self, event: Any) -> str | None:
        if super().append(event) is not None:
            raise KeyError("seq")
        return None


class KeepsNoHeaderOrder(Sound):
    """Sorts the keys of what reaches the model."""

    def header(self) -> Any:
        header = super().header()
        return header and dict(sorted(header.items()))


class CountsTheStep(Sound):
    """Puts into a request what was logged after its step began."""

    def requests(self) -> Any:
        made = super().requests()
        return made and [*made[:-1], made[-1] and {**made[-1], "messages": self.messages()}]


class NoJson(Sound):
    """Answers what is no JSON."""

    def messages(self) -> Any:
        return {1, 2}


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (ComparesSeqs, r"^surface\(\) at \$"),
        (TakesAll, r"^  dsh_fp  refused with [A-Z_]+: .*\n  yours   taken$"),
        (RefusesReplacements, r"^  dsh_fp  taken\n  yours   refused: not today$"),
        (WrongCode, r"^  dsh_fp  refused with \w+: .*\n  yours   refused with SOURCES_EMPTY$"),
        (Crashes, r"^  yours   raised KeyError, which is none of its refusals$"),
        (KeepsNoHeaderOrder, r"^  yours   .*the keys in another order$"),
        (CountsTheStep, r"^requests\(\) at \$\[\d+\]\.messages"),
        (NoJson, r"^  yours   no JSON: "),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_planted_bug_is_found(machine: type[SessionMachine], expected: str) -> None:
    """With what both answered."""
    assert re.search(expected, disagreement(machine), re.MULTILINE)


def test_the_log_is_told_and_can_be_read_again() -> None:
    """Its lines are those of a log file, and as few as show the bug."""
    told = disagreement(RefusesReplacements, SHRINKING)

    lines = [line[2:] for line in told.splitlines() if line.startswith('  {"type"')]
    log: list[Any] = [dsh_fp.unwrap(dsh_fp.parse(line)) for line in lines]
    assert dsh_fp.unwrap(dsh_fp.Session.replay(log)).surface.generation == 0
    assert [event["type"] for event in log][:2] == ["turn/start", "user/message"]
    assert len(log) <= 4


def test_refusals_may_be_raised() -> None:
    """ValueErrors are, unless a machine names others; their text is the code."""

    class Raising(Sound):
        def append(self, event: Any) -> str | None:
            code = super().append(event)
            if code is not None:
                raise ValueError(code)
            return None

    class Naming(Raising):
        refusals = (LookupError,)

    run_state_machine_as_test(Raising, settings=MANY)
    assert "raised ValueError" in disagreement(Naming)


def test_what_a_subclass_lacks_is_said() -> None:
    """At the first use."""
    for name in ("append", "messages", "header"):
        lacking = type("Lacking", (Sound,), {name: getattr(SessionMachine, name)})
        with pytest.raises(NotImplementedError, match=name):
            run_state_machine_as_test(lacking, settings=MANY)
    with pytest.raises(NotImplementedError, match="begin"):
        run_state_machine_as_test(SessionMachine, settings=MANY)


def test_append_answers_none_or_a_text() -> None:
    """True is neither."""

    class Truthful(Sound):
        def append(self, event: Any) -> Any:
            return super().append(event) is None

    with pytest.raises(TypeError, match="None for an event that was taken"):
        run_state_machine_as_test(Truthful, settings=MANY)


def test_what_is_done_to_an_event_stays_there() -> None:
    """A foreign session may change what it is given."""

    class Careless(Sound):
        def append(self, event: Any) -> str | None:
            code = super().append(event)
            if isinstance(event, dict):
                event.clear()
            return code

    run_state_machine_as_test(Careless, settings=MANY)
