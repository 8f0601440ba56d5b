"""Acceptance: which events a log takes, which refusal comes first, and that it changes nothing."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import dsh_fp
from property_specs.cases import for_each
from property_specs.core import Core, Log, Refused, code_of, seen
from property_specs.generators.broken_logs import CODES, broken_logs
from property_specs.generators.json_values import json_values
from property_specs.generators.logs import valid_logs
from property_specs.generators.payloads import LOG_TYPES
from property_specs.generators.wild_events import wild_logs
from property_specs.models.acceptance import Book, Fault, accept, accepted
from property_specs.models.json_values import exact, settle
from property_specs.profiles import often


@given(log=valid_logs())
@often(3)
def test_valid_logs_are_accepted(core: Core, log: Log) -> None:
    """A log that the list model takes is accepted, event for event.

    Generator: valid_logs, built on the list model.
    Oracle:    the log.
    Catches:   checks that look into payloads; legal replacements refused.
    Broken:    a replacement may not start at a larger seq than it ends at.
    """
    session = core.accept(log)

    assert not isinstance(session, Refused), session
    assert exact(core.events(session)) == exact(log)


@given(log=valid_logs(), data=st.data())
def test_prefix_of_accepted_is_accepted(core: Core, log: Log, data: st.DataObject) -> None:
    """Every prefix of an accepted log is accepted, and counts as many events.

    Generator: valid_logs; cuts at both ends included.
    Oracle:    none needed.
    Catches:   checks that wait for a later event.
    Broken:    three events count as four.
    """
    cut = data.draw(st.integers(0, len(log)))

    state = core.fold(log[:cut])

    assert not isinstance(state, Refused)
    assert core.look(state)["next_seq"] == cut


@given(log=wild_logs())
@often(4)
def test_first_fault_wins(core: Core, log: list[Any]) -> None:
    """Of all that is wrong with a log the first fault is answered: its event, its code.

    Generator: wild_logs, often with several faults in one event.
    Oracle:    the naive acceptance.
    Catches:   checks in another order, a later event's fault, True as 1.
    Broken:    of a log-only event that has both, its sources are refused before its surfaceOp.
    """
    expected = accept(log)

    answer = core.accept(log)

    if isinstance(expected, Book):
        assert not isinstance(answer, Refused)
    else:
        assert isinstance(answer, Refused)
        assert Fault(answer.index or 0, answer.code) == expected


@for_each("code", CODES)
@given(data=st.data())
@often(0.2)
def test_each_code_is_answered(core: Core, data: st.DataObject, code: str) -> None:
    """Each acceptance code is answered for the logs made to meet it, with the seq at fault.

    Generator: broken_logs for every code.
    Oracle:    the code the log was made for.
    Catches:   a code that can no longer be reached; a refusal without its place.
    Broken:    a source named twice is let through.
    """
    log = data.draw(broken_logs(code))

    answer = core.fold(log)

    assert isinstance(answer, Refused)
    assert (answer.code, answer.index, answer.seq) == (code, len(log) - 1, len(log) - 1)


@given(log=broken_logs("REPLACE_UNCITED"))
def test_every_uncited_node_is_named(core: Core, log: Log) -> None:
    """A replacement refused for its provenance is told all nodes it failed to cite, in order.

    Generator: broken_logs of that code.
    Oracle:    the naive acceptance's list.
    Catches:   only the ends of a range compared; the first missing node alone named.
    Broken:    only the first node that is missing is named.
    """
    answer = core.fold(log)

    assert isinstance(answer, Refused)
    assert dict(answer.data)["missing"] == tuple(accepted(log[:-1]).missing(log[-1]))


@for_each("code", CODES[3:])
@given(log=valid_logs(), data=st.data())
@often(0.2)
def test_refusal_changes_nothing(core: Core, log: Log, data: st.DataObject, code: str) -> None:
    """A refused event leaves the session as it was, and the log goes on as if never asked.

    Generator: broken_logs: a sound log and one event that is refused.
    Oracle:    the same session, never asked.
    Catches:   half-applied replacements, a seq used up, shared vectors written to.
    Broken:    a refused replacement counts in the generation.
    """
    broken = data.draw(broken_logs(code))
    session, untouched = core.accept(broken[:-1]), core.accept(broken[:-1])
    before = exact(seen(core, session))

    assert code_of(core.extend(session, [broken[-1]])) == code
    if None not in broken[-1].values():  # which append takes for "not given"
        assert code_of(core.append(session, broken[-1])) in (
            code,
            None if code == "SEQ_GAP" else code,
        )
    rest = _moved(log, len(broken) - 1)

    assert exact(seen(core, session)) == before
    assert exact(_after(core, session, rest)) == exact(_after(core, untouched, rest))


def _moved(log: Log, offset: int) -> Log:
    """A log's events with all seqs moved, to stand behind another log."""
    moved = []
    for event in copy.deepcopy(log):
        event["seq"] += offset
        if "sourceEventSeqs" in event:
            event["sourceEventSeqs"] = [seq + offset for seq in event["sourceEventSeqs"]]
        if isinstance(event.get("surfaceOp"), dict):
            op = event["surfaceOp"]
            event["surfaceOp"] = {
                "op": "replace",
                "start": op["start"] + offset,
                "end": op["end"] + offset,
            }
        moved.append(event)
    return moved


def _after(core: Core, session: Any, rest: Log) -> Any:
    grown = core.extend(session, rest)
    assert not isinstance(grown, Refused)
    return seen(core, grown)


@given(log=wild_logs())
@often(2)
def test_bulk_fold_equals_reduce(core: Core, log: list[Any]) -> None:
    """Folding a whole log equals one reduce after another, refusals included.

    Generator: wild_logs.
    Oracle:    reduce, event by event.
    Catches:   the fast route for long runs going its own way.
    Broken:    the fold of a run lets a log-only event carry sources.
    """
    state: Any = core.fold([])
    for event in log:
        state = core.step(state, event)
        if isinstance(state, Refused):
            break

    whole = core.fold(log)

    if isinstance(state, Refused):
        assert isinstance(whole, Refused)
        assert (whole.code, whole.path, whole.data) == (state.code, state.path, state.data)
    else:
        assert not isinstance(whole, Refused), whole
        assert exact(core.look(whole)) == exact(core.look(state))


@given(log=valid_logs(), data=st.data())
@often(2)
def test_fold_splits_anywhere(core: Core, log: Log, data: st.DataObject) -> None:
    """Folding a log equals folding any prefix of it, then the rest.

    Generator: valid_logs; cuts at both ends included.
    Oracle:    the same fold, never cut.
    Catches:   state kept outside the state; caches that outlive a replacement.
    Broken:    a fold that goes on from a state forgets the header in force.
    """
    cut = data.draw(st.integers(0, len(log)))

    whole = core.fold(log)
    resumed = core.fold(log[cut:], core.fold(log[:cut]))

    assert exact(core.look(resumed)) == exact(core.look(whole))


@given(log=valid_logs(), kind=st.sampled_from(LOG_TYPES), data=json_values())
def test_log_only_event_shares_everything(log: Log, kind: str, data: Any) -> None:
    """An event that is not on the surface changes the seq; surface and header stay the objects.

    Generator: valid_logs, then one log-only event; this library's own objects.
    Oracle:    identity.
    Catches:   copies made for events that change nothing.
    Broken:    a log-only event makes a new surface.
    """
    before = dsh_fp.fold(log).unwrap()
    wire = {"type": kind, "seq": len(log), "time": 0, "data": data}
    event = dsh_fp.decode_event(wire).unwrap()

    for after in (dsh_fp.reduce(before, event), dsh_fp.fold([event], before)):
        assert after.unwrap().surface is before.surface
        assert after.unwrap().header is before.header
        assert after.unwrap().next_seq == before.next_seq + 1


@given(log=valid_logs(), data=st.data())
def test_append_equals_extend_equals_replay(core: Core, log: Log, data: st.DataObject) -> None:
    """Appending one by one, extending in runs and replaying give sessions that show the same.

    Generator: valid_logs, cut into two runs anywhere.
    Oracle:    the other two ways.
    Catches:   history kept by one way in and not by another.
    Broken:    a run of events leaves no history.
    """
    cut = data.draw(st.integers(0, len(log)))

    one_by_one: Any = core.accept([])
    for event in log:
        one_by_one = core.append(one_by_one, event)
    in_runs = core.extend(core.extend(core.accept([]), log[:cut]), log[cut:])
    replayed = core.accept(log)

    views = [_views(core, session, len(log)) for session in (one_by_one, in_runs, replayed)]
    assert views[0] == views[2]
    assert views[1] == views[2]


def _views(core: Core, session: Any, length: int) -> list[str]:
    """All that a session shows, now and at each seq; envelopes aside, whose order may differ."""
    sessions = [session, *(core.at(session, seq) for seq in range(length))]
    views = []
    for each in sessions:
        view = seen(core, each)
        view["events"] = [dict(sorted(event.items())) for event in view["events"]]
        views.append(exact(view))
    return views


@given(log=wild_logs())
def test_what_is_handed_over_comes_back_unchanged(core: Core, log: list[Any]) -> None:
    """Accepting, folding, appending and asking leave the caller's lists and dicts as they were.

    Generator: wild_logs, accepted or not.
    Oracle:    the log's repr, which tells types and order, taken before.
    Catches:   normalising in place, popping keys from an envelope.
    Broken:    lists are filled in place instead of copied.
    """
    before = repr(log)

    core.fold(log)
    core.fold_surface(log)
    session = core.accept(log)
    if not isinstance(session, Refused):
        seen(core, session)
        core.append(session, {"type": "x", "time": 0, "data": log})

    assert repr(log) == before


@given(log=valid_logs())
def test_the_log_is_apart_from_what_it_was_made_of(core: Core, log: Log) -> None:
    """Changing the dicts that a log was accepted from, later, changes nothing in the session.

    Generator: valid_logs.
    Oracle:    what the session showed before.
    Catches:   payloads kept by reference.
    Broken:    the payload of a plain event is taken as it is.
    """
    given_away = copy.deepcopy(log)
    session = core.accept(given_away)

    for event in given_away:
        if isinstance(event["data"], dict):
            event["data"]["content"] = "scribbled"
        event["type"] = "scribbled"

    assert exact(core.events(session)) == exact(log)
    assert exact(seen(core, session)) == exact(seen(core, core.accept(settle(log))))
