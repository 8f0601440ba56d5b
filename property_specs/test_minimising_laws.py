"""Minimised logs: what is left of a log when all is left out that a predicate does not need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsh_fp
from dsh_fp.testing import minimise
from dsh_fp.testing.minimising import NotHolding
from dsh_fp.testing.scrubbing import Scrubber
from property_specs.core import Core, Log, Refused
from property_specs.generators.compactions import compactions
from property_specs.generators.logs import streamed_logs, turned_logs, valid_logs
from property_specs.models import headers
from property_specs.models.acceptance import accepted
from property_specs.models.pairing import is_balanced
from property_specs.models.traces import Trace, trace_of
from property_specs.models.what_if import Editor
from property_specs.profiles import often

Predicate = Callable[[dsh_fp.Session], bool]
SOUND = turned_logs() | streamed_logs() | compactions()


def session_of(log: Log) -> dsh_fp.Session:
    """The session of a log that was read from a file, so that nothing of it is decoded."""
    made = dsh_fp.unwrap(dsh_fp.Session.replay(log))
    content = dsh_fp.encode_log(made.header, made.events)
    return dsh_fp.unwrap(dsh_fp.read(content)).session


@st.composite
def needs(draw: st.DrawFn, log: Log) -> Predicate:
    """A predicate that holds for a log: it needs some events by type, or its replacements."""
    kinds = [event["type"] for event in log]
    wanted = Counter(draw(st.lists(st.sampled_from(kinds), max_size=3)) if kinds else [])
    wanted &= Counter(kinds)
    generation = draw(st.integers(0, min(2, accepted(log).generation)))

    def holds(session: dsh_fp.Session) -> bool:
        has = Counter(event.type for event in session.events)
        return wanted <= has and session.surface.generation >= generation

    return holds


def plain(session: dsh_fp.Session) -> Log:
    """The events of a session as plain values."""
    return [dsh_fp.thaw(event.to_wire()) for event in session]


def soundness(log: Log) -> tuple[bool, bool, bool, bool]:
    """Whether a log breaks no rule of turns and headers, and where its calls and results stand."""
    trace, paired = trace_of(log), is_balanced(accepted(log), None)
    return (
        isinstance(trace, Trace),
        headers.first_fault(log) is None,
        paired is not None,
        paired is True,
    )


@given(log=SOUND, data=st.data())
@often(1.5)
def test_minimised_logs_hold_and_are_minimal(core: Core, log: Log, data: st.DataObject) -> None:
    """A minimised log still holds, and no event can go from it alone without making it unsound.

    Generator: turned_logs, streamed_logs and compactions, read from their bytes; predicates
               that need some events or replacements.
    Oracle:    one event after another left out by the list model of what_if.
    Catches:   a search that ends early, a candidate that is not what the predicate was asked for.
    Broken:    single events are not tried.
    """
    holds = data.draw(needs(log))

    least = minimise(session_of(log), holds)

    assert holds(least)
    left = plain(least)
    assert not isinstance(core.accept(left), Refused)
    for event in left:
        if event["type"] in ("turn/start", "step/start"):
            continue  # what follows would be numbered anew
        shorter = Editor(left, [{"edit": "drop", "seq": event["seq"]}]).run()
        if isinstance(shorter, list) and soundness(shorter) >= soundness(left):
            assert not holds(dsh_fp.unwrap(dsh_fp.Session.replay(shorter))), event


@given(log=SOUND, data=st.data())
@often(1.5)
def test_minimising_keeps_logs_sound(log: Log, data: st.DataObject) -> None:
    """Every log that a predicate is asked about is accepted, with turns, steps and headers sound.

    Generator: turned_logs, streamed_logs and compactions; predicates that need some of it.
    Oracle:    the list model of acceptance, the trace and header models.
    Catches:   turns and steps not numbered anew, a delta left without its snapshot.
    Broken:    the steps behind a dropped one keep their numbers.
    """
    holds = data.draw(needs(log))
    asked: list[Log] = []

    def noted(session: dsh_fp.Session) -> bool:
        asked.append(plain(session))
        return holds(session)

    minimise(session_of(log), noted)

    assert all(isinstance(trace_of(one), Trace) for one in asked)
    assert all(headers.first_fault(one) is None for one in asked)
    assert all(accepted(one).events == one for one in asked)


@given(log=valid_logs(), data=st.data())
def test_minimising_gives_the_same_each_time(log: Log, data: st.DataObject) -> None:
    """Of any accepted log the same least log is found twice, and it cannot be minimised further.

    Generator: valid_logs, unsound ones among them; predicates that need some of it.
    Oracle:    the search itself, run again.
    Catches:   an order that differs between runs, a search that ends before nothing changes.
    Broken:    what the predicate refused before is taken when it comes again.
    """
    holds = data.draw(needs(log))
    session = session_of(log)

    least = minimise(session, holds)

    assert least == minimise(session, holds)
    assert least == minimise(least, holds)


@given(log=SOUND)
def test_a_predicate_that_never_holds_is_refused(log: Log) -> None:
    """Where the predicate does not hold for the whole log, nothing is tried.

    Generator: turned_logs, streamed_logs and compactions.
    Oracle:    none needed.
    Catches:   an answer that the predicate never agreed to.
    Broken:    the whole log is not asked about.
    """
    asked: list[dsh_fp.Session] = []

    def never(session: dsh_fp.Session) -> bool:
        asked.append(session)
        return False

    with pytest.raises(NotHolding):
        minimise(session_of(log), never)

    assert len(asked) == 1


@given(log=SOUND)
def test_scrubbing_keeps_the_shape_of_a_log(log: Log) -> None:
    """A scrubbed log has no text left that is not of the format; what was equal stays equal.

    Generator: turned_logs, streamed_logs and compactions.
    Oracle:    the log itself, event by event.
    Catches:   a text overlooked, an id that no longer names its call, lines joined or lost.
    Broken:    every text gets the same placeholder.
    """
    session = session_of(log)
    scrubber = Scrubber(session)

    scrubbed = scrubber.scrubbed(scrubber.texts)

    before, after = plain(session), plain(scrubbed)
    pairs = [pair for one, other in zip(before, after, strict=True) for pair in _texts(one, other)]
    there, back = dict(pairs), {other: one for one, other in pairs}
    assert all(there[one] == other and back[other] == one for one, other in pairs)
    assert all(one != other for one, other in pairs if one.strip())
    assert [e["type"] for e in after if e["type"] in dsh_fp.STANDARD.rules] == [
        e["type"] for e in before if e["type"] in dsh_fp.STANDARD.rules
    ]
    assert soundness(after) == soundness(before)
    assert scrubbed.surface.nodes == session.surface.nodes


WORDED = ("type", "kind", "op", "surfaceOp", "reason", "status", "role", "blockType", "arguments")


def _texts(one: object, other: object, key: str = "") -> list[tuple[str, str]]:
    """The texts that stand at the same places of two values of one shape, line by line.

    Leaves out: words of the format, which stay, and arguments, which are JSON in themselves.
    """
    if isinstance(one, str) and isinstance(other, str):
        if key in WORDED and (one == other or key == "arguments"):
            return []
        return list(zip(one.split("\n"), other.split("\n"), strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        keys = list(zip(one, other, strict=True))
        return [pair for a, b in keys for pair in _texts(one[a], other[b], a)]
    if isinstance(one, list) and isinstance(other, list):
        return [pair for a, b in zip(one, other, strict=True) for pair in _texts(a, b)]
    assert one == other
    return []
