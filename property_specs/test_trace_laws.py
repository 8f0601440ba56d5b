"""Turns and steps: every breach found, and the writer that wants to be refused."""

from __future__ import annotations

from hypothesis import given

import dsh_fp
from dsh_fp.storage.lines import read_line
from property_specs.core import Core, Log, Refused
from property_specs.generators.bent_traces import (
    bent_traces,
    echoed_traces,
    late_results,
    unsound_logs,
)
from property_specs.generators.log_files import line_of
from property_specs.generators.logs import loose_logs, turned_logs, valid_logs
from property_specs.models import headers as header_model
from property_specs.models.payloads import has_its_shape
from property_specs.models.traces import Trace, trace_of
from property_specs.profiles import often


@given(events=bent_traces() | late_results() | loose_logs())
@often(4)
def test_first_breach_matches_model(core: Core, events: Log) -> None:
    """The first breach of a list of bare events is the model's: its place and its code.

    Generator: bent_traces, late_results and loose_logs, accepted or not.
    Oracle:    the trace model.
    Catches:   rules in another order, True as turn 1, pending calls kept over a step.
    Broken:    a call waits for its result beyond its step.
    """
    expected = trace_of(events)

    answer = core.trace(events)
    violations = core.violations(events)

    if isinstance(expected, Trace):
        assert not isinstance(answer, Refused), answer
        assert violations == []
    else:
        assert isinstance(answer, Refused)
        assert (answer.index, answer.code) == expected
        assert (violations[0].index, violations[0].code) == expected


@given(log=turned_logs())
def test_sound_logs_have_no_breach(core: Core, log: Log) -> None:
    """A log of a sound writer breaks no rule, and its turns and steps stand where it left them.

    Generator: turned_logs.
    Oracle:    the trace model.
    Catches:   rules too strict for a sound log.
    Broken:    a list of todos has to lie in a step.
    """
    expected = trace_of(log)

    assert isinstance(expected, Trace)
    assert core.violations(log) == []
    assert core.trace(log) == {
        "open_turn": expected.open_turn,
        "open_step": expected.open_step,
        "next_turn": expected.next_turn,
        "next_step": expected.next_step,
        "pending_calls": len(expected.pending),
    }


@given(events=bent_traces())
@often(2)
def test_breaches_come_once_and_in_order(core: Core, events: Log) -> None:
    """Each event breaks at most one rule, breaches come in order, and prefixes agree.

    Generator: bent_traces.
    Oracle:    the breaches of every prefix.
    Catches:   a breach that depends on what follows; one slip reported twice.
    Broken:    a breach is placed at the event behind it.
    """
    found = core.violations(events)
    places = [breach.index or 0 for breach in found]

    assert places == sorted(set(places))
    for length in range(len(events) + 1):
        assert core.violations(events[:length]) == [b for b in found if (b.index or 0) < length]


@given(events=bent_traces() | echoed_traces())
@often(3)
def test_read_events_are_judged_like_values(core: Core, events: Log) -> None:
    """Events read from lines, still undecoded, break the rules that their values break.

    Generator: bent_traces and echoed_traces; this library's own objects. Leaves out
               negative seqs, which no line has.
    Oracle:    the same events as plain values.
    Catches:   a short cut for chunks that forgets their seq, turn or step.
    Broken:    an undecoded chunk may come twice.
    """
    events = [event for event in events if event["seq"] >= 0]
    read = [read_line(line_of(event), event["seq"]) for event in events]

    assert list(map(told, dsh_fp.trace_violations(read))) == [
        (breach.index, breach.code) for breach in core.violations(events)
    ]


def told(breach: dsh_fp.Rejection) -> tuple[int | None, str]:
    """Where a breach is, and which."""
    return breach.index, breach.code.value


@given(log=unsound_logs() | turned_logs() | valid_logs())
@often(3)
def test_strict_refuses_what_no_sound_writer_writes(core: Core, log: Log) -> None:
    """A strict session refuses the first event with a bad payload, header or trace, no other.

    Generator: unsound_logs, turned_logs and valid_logs.
    Oracle:    the payload, header and trace models, prefix by prefix.
    Catches:   strictness that forgets one of the three, or refuses a sound log.
    Broken:    strict sessions do not look at payloads.
    """
    expected = _first_unsound(log)

    answer = core.strictly(log)

    if expected is None:
        assert not isinstance(answer, Refused), answer
        assert core.events(answer) == log
    else:
        place, codes = expected
        assert isinstance(answer, Refused)
        assert answer.index == place
        assert answer.code in codes


def _first_unsound(log: Log) -> tuple[int, set[str]] | None:
    breach, header = trace_of(log), header_model.first_fault(log)
    for place, event in enumerate(log):
        codes = set()
        if not has_its_shape(event):
            codes.add("PAYLOAD_INVALID")
        if header is not None and header[0] == place:
            codes.add(header[1])
        if not isinstance(breach, Trace) and breach[0] == place:
            codes.add(breach[1])
        if codes:
            return place, codes
    return None
