"""The strategies and assertions of dsh_fp.testing: each gives what it is called."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsh_fp
from dsh_fp import testing
from property_specs.core import Core, Log, Refused, code_of
from property_specs.generators.broken_logs import CODES
from property_specs.generators.headers import canonical_headers
from property_specs.generators.json_values import json_values
from property_specs.models import headers as header_model
from property_specs.models.json_values import exact
from property_specs.models.payloads import has_its_shape
from property_specs.profiles import often


@pytest.mark.parametrize("code", testing.BROKEN_CODES)
@given(data=st.data())
@often(0.3)
def test_broken_logs_are_refused_with_their_code(
    core: Core, code: dsh_fp.Code, data: st.DataObject
) -> None:
    """A broken log is refused at its last event with the code it was asked for.

    Generator: broken_logs, for every code there is one for.
    Oracle:    acceptance, and strict sessions for the codes that only they answer.
    Catches:   a log that is refused earlier, or for another reason.
    Broken:    every log is broken in its seq.
    """
    log = data.draw(testing.broken_logs(code))

    take = core.accept if code in CODES else core.strictly
    assert not isinstance(take(log[:-1]), Refused)
    assert code_of(take(log)) == code
    assert isinstance(core.accept(log), Refused) == (code in CODES)


@given(
    log=testing.valid_logs(strict=True)
    | testing.compactions()
    | testing.crashed_logs()
    | testing.sessions(strict=True).map(
        lambda session: [dsh_fp.thaw(event.to_wire()) for event in session]
    )
)
def test_strict_logs_are_taken_by_strict_sessions(core: Core, log: Log) -> None:
    """Strict logs, crashed ones and those with compactions are refused by no session.

    Generator: the strategies themselves.
    Oracle:    strict sessions.
    Catches:   an odd payload or an unsound turn among logs that are promised to be sound.
    Broken:    strict logs are those of any kind.
    """
    assert not isinstance(core.strictly(log), Refused)


@given(log=testing.valid_logs(), data=st.data())
@often(2)
def test_events_fit_behind_their_log(core: Core, log: Log, data: st.DataObject) -> None:
    """An event made for a log is accepted behind it, and its payload has the shape of its type.

    Generator: valid_logs, and events behind them.
    Oracle:    acceptance, the payload model.
    Catches:   a seq that is off, a replacement that cites too little, a payload of another type.
    Broken:    the events are those for an empty log.
    """
    event = data.draw(testing.events(after=log))

    assert not isinstance(core.accept([*log, event]), Refused)
    assert has_its_shape(event)


@pytest.mark.parametrize("kind", sorted(dsh_fp.STANDARD.rules))
@given(data=st.data())
@often(0.3)
def test_payloads_have_the_shape_of_their_type(kind: str, data: st.DataObject) -> None:
    """Every known type has payloads, and each has its type's shape.

    Generator: payloads, type by type.
    Oracle:    the payload model; the header model for what is folded.
    Catches:   a type without payloads, a field left out.
    Broken:    payloads of any type are given.
    """
    payload = data.draw(testing.payloads(kind))

    event = {"type": kind, "seq": 0, "time": 0, "data": payload}
    assert has_its_shape(event)
    first = {"type": "request/header", "seq": 0, "time": 0, "data": {"header": {"config": {}}}}
    assert header_model.first_fault([first, event]) is None


@given(log=testing.compactions())
def test_compactions_take_nodes_away(core: Core, log: Log) -> None:
    """A log of compactions has a summary, and what it names was replaced right behind it.

    Generator: compactions.
    Oracle:    the surface as it is folded.
    Catches:   a summary whose nodes stay, calls parted from their results.
    Broken:    logs without any compaction are given.
    """
    folded: Any = core.fold_surface(log)
    replaced = folded["replacements"]
    summaries = [event for event in log if event["type"] == "compact/summary"]
    named = [event["data"]["shadowedSeqs"] for event in summaries]

    assert summaries
    assert [seqs for seqs in named if seqs not in [r["shadowedSeqs"] for r in replaced]] == []


@given(session=st.from_type(dsh_fp.Session), event=st.from_type(dsh_fp.Event))
def test_types_have_their_strategies(session: dsh_fp.Session, event: dsh_fp.Event) -> None:
    """From the type alone, hypothesis makes sessions and events as they come from logs.

    Generator: from_type.
    Oracle:    replaying the session; decoding the event.
    Catches:   sessions put together field by field.
    Broken:    the type is not registered.
    """
    assert dsh_fp.Session.replay(session.events, session.header).unwrap() == session
    assert session.state == dsh_fp.fold(session.events).unwrap()
    assert dsh_fp.decode_event(event.to_wire()).unwrap() == event


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two requests that are often alike, and now and then in all but the order of keys."""
    made = st.builds(
        lambda header, messages: {**header.get("config", {}), "messages": messages},
        canonical_headers(),
        st.lists(json_values(), max_size=2),
    )
    one = draw(made)
    match draw(st.sampled_from(["same", "order", "other"])):
        case "same":
            return one, dict(one)
        case "order":
            return one, dict(reversed(one.items()))
        case _:
            return one, draw(made)


@given(pair=pairs())
@often(2)
def test_assertions_agree_with_texts(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Two requests are asserted to be the same exactly when their texts are; so are messages.

    Generator: pairs of requests, alike, alike but for the order of keys, and others.
    Oracle:    the JSON texts.
    Catches:   key order overlooked, True taken for 1, an assertion that says nothing.
    Broken:    values are compared, not their texts.
    """
    one, other = pair
    for check, left, right in (
        (testing.assert_same_request, one, other),
        (testing.assert_same_messages, one["messages"], other["messages"]),
    ):
        if exact(left) == exact(right):
            check(left, right)
        else:
            with pytest.raises(AssertionError, match=r"not the same\n  at \$"):
                check(left, right)
