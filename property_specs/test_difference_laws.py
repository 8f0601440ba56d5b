"""Differences: between values, lists, requests and sessions, and the events behind them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Log, Refused
from property_specs.generators.json_values import json_values
from property_specs.generators.logs import turned_logs
from property_specs.models import differences as model
from property_specs.models.json_values import exact, write
from property_specs.models.requests import requests_of
from property_specs.profiles import often
from property_specs.test_digest_laws import CALLING, renamed
from property_specs.test_request_laws import logs_with_steps, loose_steps


@st.composite
def near_values(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two values of one outline: some keys in another order, left out, or holding others."""
    leaves: st.SearchStrategy[Any] = st.sampled_from([None, True, 1, "a", "ab", [], [1], {}])
    shape = st.dictionaries(st.sampled_from("abcd"), leaves | json_values(), max_size=4)
    one = draw(shape | st.lists(shape, max_size=3))
    if draw(st.booleans()):
        return one, draw(shape | json_values())
    return one, _bent(draw, one)


def _bent(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict):
        kept = [key for key in value if draw(st.integers(0, 7))]
        turned = draw(st.permutations(kept)) if draw(st.booleans()) else kept
        return {key: _bent(draw, value[key]) for key in turned}
    if isinstance(value, list):
        return [_bent(draw, item) for item in value]
    return value if draw(st.integers(0, 7)) else draw(json_values())


@given(pair=near_values())
@often(4)
def test_first_difference_is_the_first_in_text(core: Core, pair: tuple[Any, Any]) -> None:
    """Two values part where a walk in the order of their text first finds them to; or are equal.

    Generator: near_values; keys turned, left out, other values, or nothing in common.
    Oracle:    the recursive walk, and the recursive writer for equality.
    Catches:   key order lost, True as 1, a later path before an earlier one.
    Broken:    what has the same items is taken for equal.
    """
    found = core.differences(*pair)

    expected = model.first_difference(*pair)
    assert (found == []) == (write(pair[0]) == write(pair[1]))
    assert (tuple(found[0]) if found else None) == expected


@given(
    old=st.lists(st.integers(0, 9), max_size=14),
    new=st.lists(st.integers(0, 9), max_size=14),
    more=st.integers(0, 160),
)
@often(4)
def test_runs_turn_old_into_new(core: Core, old: list[int], new: list[int], more: int) -> None:
    """Putting the runs of the new list into the old one gives the new one; between them is equal.

    Generator: lists of few different members, some too long to be looked at closely.
    Oracle:    list surgery, last run first.
    Catches:   runs that overlap, that are empty, that leave something out.
    Broken:    what is matched once is taken as one place further.
    """
    old, new = old + [1, 2] * more, [3] + new + [2, 1] * more

    runs = core.runs(old, new)

    assert model.applied(old, new, runs) == new
    assert all(a < b or c < d for a, b, c, d in runs)
    ends = [(0, 0), *((b, d) for _, b, _, d in runs)]
    starts = [*((a, c) for a, _, c, _ in runs), (len(old), len(new))]
    for (b, d), (a, c) in zip(ends, starts, strict=True):
        assert old[b:a] == new[d:c]


@given(log=logs_with_steps() | loose_steps())
@often(2)
def test_difference_tells_requests_apart(core: Core, log: Log) -> None:
    """Two requests differ exactly when their texts do, and first where these part.

    Generator: logs_with_steps and loose_steps, every two requests, either way round.
    Oracle:    the naive requests, the recursive walk.
    Catches:   parts that are not compared; a path that leads elsewhere.
    Broken:    the tools are left out of the comparison.
    """
    session, requests = core.accept(log), requests_of(log)
    for (i, one), (j, other) in combinations(enumerate(requests), 2):
        for old, new, a, b in ((i, j, one, other), (j, i, other, one)):
            found = core.diff_requests(session, old, new)
            if "fault" in a or "fault" in b:
                assert isinstance(found, Refused)
                continue
            assert not isinstance(found, Refused)
            first = model.first_difference(a["request"], b["request"])
            assert found["first"] == (None if first is None else first[0])


@given(log=logs_with_steps() | loose_steps())
@often(2)
def test_message_runs_turn_old_messages_into_new(core: Core, log: Log) -> None:
    """The runs of messages turn one request's into the other's, and begin where they part.

    Generator: logs_with_steps and loose_steps, every two requests.
    Oracle:    list surgery over the naive requests; their longest common beginning.
    Catches:   places of the middle taken for places of the list.
    Broken:    the runs are counted from the end of what is common.
    """
    session, requests = core.accept(log), requests_of(log)
    for (i, one), (j, other) in combinations(enumerate(requests), 2):
        if "request" not in one or "request" not in other:
            continue
        old, new = one["request"]["messages"], other["request"]["messages"]
        found = core.diff_requests(session, i, j)
        assert not isinstance(found, Refused)
        assert exact(model.applied(old, new, found["runs"])) == exact(new)
        assert found["common"] == model.common(old, new)


@given(log=logs_with_steps() | loose_steps())
@often(3)
def test_origins_match_refolded_headers(core: Core, log: Log) -> None:
    """Each part of a request comes from the event that a naive walk over the log finds.

    Generator: logs_with_steps and loose_steps; odd deltas, doubled tools, faults, prefixes.
    Oracle:    the headers folded again for each prefix; the surface as a list.
    Catches:   a delta that counts for what it does not carry, a snapshot for what it repeats.
    Broken:    a delta counts for a part that it holds as null.
    """
    assert core.origins(core.accept(log)) == model.origins_of(log)


@given(log=logs_with_steps() | loose_steps())
@often(3)
def test_cache_prefix_is_the_common_bytes(core: Core, log: Log) -> None:
    """What a prompt has in common with the one before is what comparing their bytes finds.

    Generator: logs_with_steps and loose_steps; replacements, prefixes, other models, faults.
    Oracle:    both requests written out and compared byte by byte.
    Catches:   messages measured twice or not at all, a replacement by the same text.
    Broken:    a replacement is taken to keep what it left in place.
    """
    assert core.caching(core.accept(log)) == model.caching_of(log)


@given(log=logs_with_steps() | turned_logs(), other=logs_with_steps(), cut=st.integers(0, 20))
def test_sessions_differ_where_their_requests_do(
    core: Core, log: Log, other: Log, cut: int
) -> None:
    """Requests at the same place of two sessions are equal exactly when their texts are.

    Generator: logs_with_steps and turned_logs; against themselves, a prefix, the same with
               another model, another log.
    Oracle:    the texts of the naive requests.
    Catches:   requests paired by turn and step, a request that is not there taken for equal.
    Broken:    only the messages are compared.
    """
    for new in (log, log[:cut], [_of_another_model(event) for event in log], other):
        found = core.diff_sessions(core.accept(log), core.accept(new), ignore_call_ids=False)

        texts = [[exact(each.get("request")) for each in requests_of(each)] for each in (log, new)]
        known = [["request" in each for each in requests_of(each)] for each in (log, new)]
        for place, equal in enumerate(found["pairs"]):
            if all(place < len(side) and side[place] for side in known):
                assert equal == (texts[0][place] == texts[1][place])
            else:
                assert equal is None
        assert len(found["pairs"]) == max(map(len, texts))
        assert found["content"] or new is not log


def _of_another_model(event: dict[str, Any]) -> dict[str, Any]:
    if event["type"] != "request/header":
        return event
    header = event["data"]["header"]
    config = header["config"] | {"model": "another"}
    return event | {"data": {"header": header | {"config": config}}}


@given(log=logs_with_steps() | turned_logs(), later=st.integers(1, 10**9))
def test_call_ids_and_clocks_are_no_difference(core: Core, log: Log, later: int) -> None:
    """A log with other times and other call ids holds the same, and sends it but for the ids.

    Generator: logs_with_steps and turned_logs, every call id spelled otherwise.
    Oracle:    none needed: the log is its own.
    Catches:   ids compared by spelling, ids of one kind of block forgotten.
    Broken:    the ids of tool results stay as they are.
    """
    again = [
        {
            **event,
            "time": event["time"] + later,
            "data": renamed(event["data"], "x") if event["type"] in CALLING else event["data"],
        }
        for event in log
    ]

    found = core.diff_sessions(core.accept(log), core.accept(again), ignore_call_ids=True)

    assert found["content"]
    assert False not in found["pairs"]
