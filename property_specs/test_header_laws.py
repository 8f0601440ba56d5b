"""Request headers: canonical form, difference, application, and what is in force."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Log, Refused, code_of
from property_specs.generators.headers import (
    BROKEN_DELTAS,
    BROKEN_HEADERS,
    canonical_headers,
    header_event_fields,
    header_sequences,
    headers,
    odd_deltas,
)
from property_specs.generators.logs import loose_logs
from property_specs.models import headers as model
from property_specs.models.json_values import exact
from property_specs.profiles import often

Header = dict[str, Any]


@given(header=headers(twice=True) | st.sampled_from(BROKEN_HEADERS))
def test_canonical_is_the_one_form(core: Core, header: Any) -> None:
    """The canonical header has its four parts in order, empty ones absent, config untouched.

    Generator: headers as they stand, and ones that cannot be folded.
    Oracle:    the header model.
    Catches:   unknown config fields dropped, empty parts kept, another key order.
    Broken:    empty parts are kept.
    """
    answer = core.canonical(header)

    try:
        assert exact(answer) == exact(model.canonical(header))
    except model.Unfoldable:
        assert code_of(answer) == "HEADER_INVALID"


@given(header=headers(twice=True))
def test_canonical_is_idempotent(core: Core, header: Header) -> None:
    """The canonical form of a canonical header is itself.

    Generator: headers as they stand.
    Oracle:    the first canonical form.
    Catches:   a form that depends on what it is made of.
    Broken:    the parts come in the reverse of the order they had.
    """
    once = core.canonical(header)

    assert exact(core.canonical(once)) == exact(once)


@given(prev=headers(), next=headers())
@often(2)
def test_headers_equal_as_they_stand(core: Core, prev: Header, next: Header) -> None:
    """Two headers are equal by system, by the text of tools and prefix, by four config fields.

    Generator: two headers; the same with keys of tools or config in another order.
    Oracle:    the header model.
    Catches:   an empty system equal to an absent one, unknown config fields compared.
    Broken:    an empty system equals an absent one.
    """
    twin = {**copy.deepcopy(prev), "config": {**prev["config"], "x-other": 1}}

    assert core.equal(prev, next) is model.equal(prev, next)
    assert core.equal(prev, twin) is True
    assert core.equal(prev, {**prev, "system": ""}) is (prev.get("system") == "")


@given(prev=headers(twice=True), next=headers())
@often(4)
def test_diff_says_what_changed(core: Core, prev: Header, next: Header) -> None:
    """The delta between two headers keeps the longest ends of the system and names each tool.

    Generator: two headers; a tool name twice only in the first.
    Oracle:    the header model.
    Catches:   overlapping ends, tools compared without key order, [] for no prefix forgotten.
    Broken:    the kept end may overlap the kept start.
    """
    assert exact(core.diff(prev, next)) == exact(model.diff(prev, next))


@given(prev=canonical_headers(), next=canonical_headers())
def test_apply_inverts_diff(core: Core, prev: Header, next: Header) -> None:
    """Applying the delta between two headers gives the second, wherever tools keep their order.

    Generator: canonical_headers; the second has the first's tools, changed, dropped or added
               at the end.
    Oracle:    the second header.
    Catches:   lines lost at the ends, a tool changed out of place.
    Broken:    added tools are put in front.
    """
    next = _appending_tools(prev, next)
    delta = core.diff(prev, next)

    if delta is None:
        assert core.equal(prev, next)
    else:
        assert core.equal(core.apply(prev, delta), next)


def _appending_tools(prev: Header, next: Header) -> Header:
    """The second header with those tools that the first has too in the first's order."""
    old = [tool["name"] for tool in prev.get("tools", [])]
    tools = {tool["name"]: tool for tool in next.get("tools", [])}
    kept = [name for name in old if name in tools]
    new = [name for name in tools if name not in old]
    return model.canonical({**next, "tools": [tools[name] for name in [*kept, *new]]})


@given(base=canonical_headers(twice=True), delta=odd_deltas() | st.sampled_from(BROKEN_DELTAS))
@often(3)
def test_odd_deltas_are_applied_as_slices(core: Core, base: Header, delta: Any) -> None:
    """Deltas that no writer makes are applied as JavaScript's slices would, or refused.

    Generator: odd_deltas: negative, fractional and huge positions, unknown names, nulls; and
               deltas of the wrong shape.
    Oracle:    the header model, slicing item by item.
    Catches:   Python's slices where they differ; null taken for a change.
    Broken:    negative positions are not counted from the end.
    """
    answer = core.apply(base, delta)

    try:
        assert exact(answer) == exact(model.apply(base, delta))
    except model.Unfoldable:
        assert code_of(answer) == "HEADER_INVALID"


@given(sequence=header_sequences(), resumed=st.booleans())
@often(2)
def test_writer_deltas_round_trip(core: Core, sequence: list[Header], resumed: bool) -> None:
    """What a writer logs for each header in turn puts exactly that header in force.

    Generator: header_sequences; the writer may continue a log it did not begin.
    Oracle:    the canonical header itself.
    Catches:   deltas that do not round-trip, a snapshot written where nothing changed.
    Broken:    the writer does not compare what its delta gives.
    """
    force: Any = core.canonical(sequence[0]) if resumed else None
    first = True
    for header in sequence:
        event: Any = core.next_header_event(force, header, first=first)
        if force is None:
            assert (event["type"], event["data"]["reason"]) == ("request/header", "initial")
        elif first:
            assert (event["type"], event["data"]["reason"]) == ("request/header", "resume")
        elif event is None:
            assert model.equal(force, model.canonical(header))
        if event is not None:
            wire = {"type": event["type"], "seq": 0, "time": 0, "data": event["data"]}
            force = core.fold_header([wire], force)
        first = False

        assert isinstance(force, dict)
        assert model.equal(force, model.canonical(header))


@given(prev=canonical_headers(), next=headers())
@often(2)
def test_writer_prefers_deltas(core: Core, prev: Header, next: Header) -> None:
    """A writer logs nothing for an equal header, a delta where one will do, else a fallback.

    Generator: two headers.
    Oracle:    diff and apply of the header model.
    Catches:   snapshots where a delta would do; deltas for reordered tools.
    Broken:    a change always falls back to a snapshot.
    """
    wanted = model.canonical(next)
    delta = model.diff(prev, wanted)

    event = core.next_header_event(prev, next, first=False)

    if delta is None:
        assert event is None
    elif model.equal(model.apply(prev, delta), wanted):
        assert exact(event) == exact({"type": "request/header-delta", "data": delta})
    else:
        data = {"header": wanted, "reason": "fallback"}
        assert exact(event) == exact({"type": "request/header", "data": data})


@given(log=loose_logs(), fields=st.lists(header_event_fields(), max_size=5))
@often(2)
def test_a_header_fault_stands_until_the_next_snapshot(
    core: Core, log: Log, fields: list[tuple[str, Any]]
) -> None:
    """The header in force after each prefix is the model's: a header, none, or a fault's code.

    Generator: loose_logs, then header events, sound, odd and broken.
    Oracle:    the header model.
    Catches:   a delta applied to a fault, a fault that refuses the event, one that outlives
               the next snapshot.
    Broken:    a header that cannot be folded leaves the former one in force.
    """
    log = [*log]
    for kind, data in fields:
        log.append({"type": kind, "seq": len(log), "time": 0, "data": data})
    session = core.accept(log)

    for seq in range(len(log)):
        force = core.request_header(core.at(session, seq))
        expected = model.fold(log[: seq + 1])
        assert exact(force.code if isinstance(force, Refused) else force) == exact(expected)


@given(fields=st.lists(header_event_fields(), max_size=5), start=st.none() | canonical_headers())
def test_folding_headers_answers_the_first_fault(
    core: Core, fields: list[tuple[str, Any]], start: Header | None
) -> None:
    """A fold over header events alone answers the first fault, whatever follows it.

    Generator: header events of every kind, from a header in force or from none.
    Oracle:    the header model.
    Catches:   a later snapshot covering up a fault.
    Broken:    a fault is forgotten and the fold goes on.
    """
    log = [
        {"type": kind, "seq": seq, "time": 0, "data": data}
        for seq, (kind, data) in enumerate(fields)
    ]
    expected = model.first_fault(log, start)

    answer = core.fold_header(log, start)

    if expected is None:
        assert exact(answer) == exact(model.fold(log, start))
    else:
        assert isinstance(answer, Refused)
        assert (answer.index, answer.code) == expected


@given(prev=headers(), next=headers(), delta=odd_deltas())
def test_headers_come_back_unchanged(core: Core, prev: Header, next: Header, delta: Header) -> None:
    """Comparing, diffing and applying leave the caller's headers and deltas as they were.

    Generator: headers and odd_deltas.
    Oracle:    their repr, taken before.
    Catches:   a header amended in place.
    Broken:    canonical takes an unknown key out of the caller's dict.
    """
    before = repr([prev, next, delta])

    core.canonical(prev)
    core.equal(prev, next)
    core.diff(prev, next)
    core.apply(prev, delta)
    core.next_header_event(prev, next, first=False)

    assert repr([prev, next, delta]) == before
