"""Events and session headers: the shape of an envelope, and what is kept of it."""

from __future__ import annotations

import pickle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import dsh_fp
from property_specs.core import Core, Log, Refused, code_of
from property_specs.generators.json_texts import spelled
from property_specs.generators.json_values import json_values
from property_specs.generators.log_files import header_fields, session_headers
from property_specs.generators.logs import valid_logs
from property_specs.generators.wild_events import any_events
from property_specs.models.acceptance import envelope_fault
from property_specs.models.files import KNOWN_FIELDS, header_fault
from property_specs.models.json_values import exact, write
from property_specs.profiles import often


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    """One event of sound shape, its keys in any order; what it means is not looked at."""
    event: dict[str, Any] = {
        "type": draw(st.sampled_from(["user/message", "turn/end", "x", ""])),
        "seq": draw(st.integers(0, 3) | st.just(2**53 - 1)),
        "time": draw(st.integers(0, 3) | st.just(2**53 - 1)),
        "data": draw(json_values()),
    }
    for key in ("surfaceOp", "sourceEventSeqs"):
        if draw(st.booleans()):
            event[key] = draw(st.sampled_from([None, "append", [0], {"op": 1}]))
    return {key: event[key] for key in draw(st.permutations(list(event)))}


@given(event=events(), data=st.data())
@often(2)
def test_event_decode_inverts_encode(
    core: Core, event: dict[str, Any], data: st.DataObject
) -> None:
    """An event read from any spelling is that event, and is written as its value's own text.

    Generator: events with keys in any order, spelled in many ways.
    Oracle:    the value; the recursive writer.
    Catches:   key order lost, a null key taken for an absent one, the spelling kept.
    Broken:    an event is always written in the usual key order.
    """
    text = data.draw(spelled(event))

    assert exact(core.event(text)) == exact(event)
    assert core.event_text(event) == write(event)


@given(data=st.data(), length=st.integers(0, 5))
@often(3)
def test_envelopes_are_judged_alike(core: Core, data: st.DataObject, length: int) -> None:
    """What is no event is refused before anything else is asked, with the right code.

    Generator: any_events: missing, odd and unknown keys, numbers of every kind.
    Oracle:    the envelope part of the naive acceptance.
    Catches:   True as a seq, unknown keys let through, null for absent.
    Broken:    one unknown key is let through.
    """
    event = data.draw(any_events(length))

    code = code_of(core.step(None, event))

    expected = envelope_fault(event)
    if expected is not None:
        assert code == expected
    else:
        assert code not in ("NOT_JSON", "BAD_ENVELOPE")


@given(log=valid_logs(), data=st.data())
def test_events_equal_by_content(log: Log, data: st.DataObject) -> None:
    """Events are equal, and hash alike, whether they came from text or Python, in any key order.

    Generator: events of valid_logs; this library's own objects.
    Oracle:    the other way in.
    Catches:   equality of spellings; True equal to 1 inside a payload.
    Broken:    payloads are left out of the comparison.
    """
    for event in log[:6]:
        shuffled = {key: event[key] for key in data.draw(st.permutations(list(event)))}
        of_text = dsh_fp.decode_event_text(write(shuffled)).unwrap()
        of_value = dsh_fp.decode_event(event).unwrap()
        other = dsh_fp.decode_event({**event, "data": [event["data"]]}).unwrap()

        assert of_text == of_value
        assert (of_text != of_value) is False  # a method of its own, which has to agree
        assert hash(of_text) == hash(of_value)
        assert pickle.loads(pickle.dumps(of_text)) == of_value
        assert (of_value == other) is False
        assert of_value != other


@given(fields=header_fields())
@often(2)
def test_session_headers_are_judged_alike(core: Core, fields: dict[str, Any]) -> None:
    """A session header is its known fields, or META_INVALID when one is of another kind.

    Generator: header_fields, at most one field odd.
    Oracle:    a naive check of each field.
    Catches:   a relative cwd, True as a seedLength, unknown keys kept.
    Broken:    any string will do for a cwd.
    """
    answer: Any = core.session_header(fields)

    expected = header_fault(fields)
    assert code_of(answer) == expected
    if expected is None:
        kept = {key: value for key, value in fields.items() if key in KNOWN_FIELDS}
        if kept["createdAt"] is None:
            kept["createdAt"] = 0
        assert {key: answer[key] for key in kept} == kept


@given(fields=session_headers())
def test_session_header_decode_inverts_encode(core: Core, fields: dict[str, Any]) -> None:
    """The header of a session, read again, is the same header.

    Generator: session_headers.
    Oracle:    the first reading.
    Catches:   a field lost or renamed on the way out.
    Broken:    seedLength is left out of the wire form.
    """
    once = core.session_header(fields)

    assert not isinstance(once, Refused)
    assert exact(core.session_header(once)) == exact(once)
    assert once == {"version": 0, "createdAt": 0, **fields}
