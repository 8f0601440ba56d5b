"""Crash repair: what closes a log cut short."""

from __future__ import annotations

from hypothesis import given

from property_specs.core import Core, Log, Refused
from property_specs.generators.crashed_logs import crashed_logs
from property_specs.generators.logs import closed_logs
from property_specs.models.closers import closers_of
from property_specs.models.json_values import exact
from property_specs.profiles import often


@given(log=crashed_logs())
@often(3)
def test_closers_match_model(core: Core, log: Log) -> None:
    """The closers of a log cut short are the model's, to the last key.

    Generator: crashed_logs, cut anywhere.
    Oracle:    the naive walk.
    Catches:   calls answered already, the order of asking lost, the wrong call cited.
    Broken:    a result cites nothing though its call was logged.
    """
    assert exact(core.closers(log)) == exact(closers_of(log))


@given(log=crashed_logs())
@often(2)
def test_repair_closes_any_cut(core: Core, log: Log) -> None:
    """A log cut short and its closers break no rule of turns and steps, and end no turn open.

    Generator: crashed_logs.
    Oracle:    the trace rules.
    Catches:   a step left open, a result for the wrong step, a turn closed twice.
    Broken:    an open step is not closed.
    """
    trace = core.trace([*log, *core.closers(log)])

    assert not isinstance(trace, Refused), trace
    assert trace["open_turn"] is None
    assert trace["open_step"] is None
    assert trace["pending_calls"] == 0


@given(log=crashed_logs())
def test_closers_are_accepted(core: Core, log: Log) -> None:
    """The closers of an accepted log are accepted behind it, and forkable.

    Generator: crashed_logs.
    Oracle:    acceptance.
    Catches:   seqs that do not continue the log, a missing surfaceOp.
    Broken:    closers all have the same seq.
    """
    closed = core.extend(core.accept(log), core.closers(log))

    assert not isinstance(closed, Refused), closed
    assert not isinstance(core.fork(closed), Refused)


@given(log=crashed_logs())
def test_repairing_twice_adds_nothing(core: Core, log: Log) -> None:
    """A repaired log needs no repair.

    Generator: crashed_logs.
    Oracle:    none needed.
    Catches:   closers that the next repair does not recognise.
    Broken:    the closing event is of another type.
    """
    assert core.closers([*log, *core.closers(log)]) == []


@given(log=closed_logs())
def test_closed_logs_need_no_repair(core: Core, log: Log) -> None:
    """A log whose last turn is closed has no closers, and asking changes nothing.

    Generator: closed_logs.
    Oracle:    the repr, taken before.
    Catches:   closers for calls of an earlier turn that were never answered.
    Broken:    the end of a turn does not count as closing it.
    """
    before = repr(log)

    assert core.closers(log) == []
    assert repr(log) == before
