"""Events and session headers: wire objects in, records with Python names out."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from dsh_fp import (
    MAX_DEPTH,
    Code,
    Event,
    JsonArray,
    JsonObject,
    SessionHeader,
    decode_event,
    decode_event_text,
    parse,
    session_header,
)
from tests.core.making import event, nested, note, replacing, user

LARGEST = 2**53 - 1


def test_wire_names_become_attributes() -> None:
    """An event has snake_case attributes; its payload keeps wire names."""
    wire = replacing(3, 0, 2, cites=[0, 1, 2])

    made = decode_event(wire).unwrap()

    assert (made.type, made.seq, made.time) == ("context/message", 3, 1003)
    assert made.surface_op == {"op": "replace", "start": 0, "end": 2}
    assert made.source_event_seqs == [0, 1, 2]
    assert made.data["source"] == {"kind": "plugin", "plugin": "compact"}
    assert type(made.data) is JsonObject
    assert type(made.source_event_seqs) is JsonArray


def test_absent_keys_are_none_and_stay_absent() -> None:
    """An event without the optional keys answers None for them and writes none."""
    made = decode_event(note(0)).unwrap()

    assert made.surface_op is None
    assert made.source_event_seqs is None
    assert made.to_wire() == {"type": "plugin/note", "seq": 0, "time": 1000, "data": {"n": 0}}


def test_a_present_null_is_present() -> None:
    """`surfaceOp: null` is a key with an invalid value, not an absent key."""
    made = decode_event(event("plugin/note", 0, surfaceOp=None)).unwrap()

    assert made.surface_op is None
    assert made.has_surface_op
    assert list(made.to_wire()) == ["type", "seq", "time", "data", "surfaceOp"]
    assert made != decode_event(event("plugin/note", 0)).unwrap()


@pytest.mark.parametrize("missing", ["type", "seq", "time", "data"])
def test_a_missing_key_is_a_bad_envelope(missing: str) -> None:
    """Each of the four keys must be there; the fault names the first that is not."""
    wire = user(0)
    del wire[missing]

    fault = decode_event(wire).failure()

    assert fault.code is Code.BAD_ENVELOPE
    assert fault.data == {"key": missing}


@pytest.mark.parametrize("extra", ["id", "surface_op", "origin", "memo", "stored_data", "", "Seq"])
def test_any_other_key_is_a_bad_envelope(extra: str) -> None:
    """A key the envelope does not have is a fault that names it, in dicts and in text."""
    wire = {**note(0), extra: None}

    fault = decode_event(wire).failure()

    assert fault.code is Code.BAD_ENVELOPE
    assert fault.data == {"key": extra}


@pytest.mark.parametrize("given", [None, True, 1, "event", [], [1], ["type"]])
def test_what_is_no_object_is_a_bad_envelope(given: object) -> None:
    """An event is an object."""
    assert decode_event(given).failure().code is Code.BAD_ENVELOPE


@pytest.mark.parametrize("given", [None, 1, True, ["user/message"], {}])
def test_a_type_is_a_string(given: object) -> None:
    """A type of any other kind is a fault."""
    fault = decode_event({**note(0), "type": given}).failure()

    assert fault.code is Code.BAD_ENVELOPE
    assert fault.data == {"key": "type"}


@pytest.mark.parametrize("key", ["seq", "time"])
@pytest.mark.parametrize("given", [True, False, -1, 0.5, 2**53, "1", None, [1], 1e300])
def test_seq_and_time_are_counts(key: str, given: object) -> None:
    """Both are integers from 0 to 2**53 - 1, and True is not 1."""
    fault = decode_event({**note(0), key: given}).failure()

    assert fault.code is Code.BAD_ENVELOPE
    assert fault.data == {"key": key}


def test_the_ends_of_the_range_are_in_it() -> None:
    """0 and 2**53 - 1 are a seq and a time, and 5.0 is the integer 5."""
    last = decode_event({"type": "x", "seq": LARGEST, "time": 0, "data": None}).unwrap()
    first = decode_event({"type": "x", "seq": 0, "time": 5.0, "data": None}).unwrap()

    assert (last.seq, last.time) == (LARGEST, 0)
    assert (first.time, type(first.time)) == (5, int)


def test_the_value_is_judged_before_the_envelope() -> None:
    """NOT_JSON comes before BAD_ENVELOPE, with the path seen from the event."""
    fault = decode_event({"seq": True, "data": {"a": [float("nan")]}}).failure()

    assert fault.code is Code.NOT_JSON
    assert fault.path == "$.data.a[0]"


def test_a_payload_may_be_as_deep_as_the_limit() -> None:
    """The envelope's own level does not count against the payload's."""
    made = decode_event(event("x", 0, nested(MAX_DEPTH))).unwrap()
    fault = decode_event(event("x", 0, nested(MAX_DEPTH + 1))).failure()

    assert pickle.loads(pickle.dumps(made)) == made
    assert fault.code is Code.TOO_DEEP
    assert fault.data == {"limit": MAX_DEPTH}


def test_any_payload_will_do() -> None:
    """Data is any JSON value, also for a known type."""
    payloads: list[Any] = [None, True, 0, "", [], {}]

    made = [decode_event(event("user/message", 0, data)).unwrap().data for data in payloads]

    assert made == payloads
    assert [type(data) for data in made[:4]] == [type(None), bool, int, str]


def test_text_reads_like_the_wire_object() -> None:
    """A line of text and the object it spells are the same event."""
    line = '{"type":"x","seq":1.0,"time":1e3,"data":[1.0,9007199254740993]}'

    made = decode_event_text(line).unwrap()

    assert made == decode_event({"type": "x", "seq": 1, "time": 1000, "data": [1, 2**53]}).unwrap()
    assert made == decode_event_text(line.encode()).unwrap()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("", Code.JSON_SYNTAX),
        ('{"type":"x"', Code.JSON_SYNTAX),
        ('{"type":"x","seq":0,"time":0,"data":NaN}', Code.JSON_SYNTAX),
        ('{"type":"x","seq":-0,"time":0,"data":1}', Code.NOT_JSON),
        ('{"type":"x","seq":0,"time":1e999,"data":1}', Code.NOT_JSON),
        ('{"type":"x","seq":0,"time":0}', Code.BAD_ENVELOPE),
        ("null", Code.BAD_ENVELOPE),
    ],
)
def test_bad_text_is_refused_by_its_own_code(line: str, code: Code) -> None:
    """Grammar, value, envelope: each has its code, in this order."""
    assert decode_event_text(line).failure().code is code


def test_text_keeps_its_envelope_order() -> None:
    """An event that was read writes its keys in the order it was read with."""
    line = '{"data":{"b":1,"a":2},"time":5,"surfaceOp":"append","seq":0,"type":"user/message"}'

    assert decode_event_text(line).unwrap().to_text() == line


def test_order_does_not_count_in_equality() -> None:
    """Two events of the same content are equal, however their keys stand."""
    one = decode_event_text('{"type":"x","seq":0,"time":1,"data":{"a":1,"b":2}}').unwrap()
    other = decode_event_text('{"data":{"b":2,"a":1},"time":1,"seq":0,"type":"x"}').unwrap()

    assert one == other
    assert hash(one) == hash(other)
    assert one.to_text() != other.to_text()


@pytest.mark.parametrize(
    "change",
    [
        {"type": "y"},
        {"time": 2},
        {"seq": 1},
        {"data": {"a": 1}},
        {"data": {"a": True, "b": None}},
        {"surfaceOp": "append"},
        {"sourceEventSeqs": [0]},
    ],
    ids=str,
)
def test_events_of_other_content_are_unequal(change: dict[str, Any]) -> None:
    """Each part of an event counts."""
    base = {"type": "x", "seq": 0, "time": 1, "data": {"a": True}}

    one, other = decode_event(base).unwrap(), decode_event({**base, **change}).unwrap()

    assert one != other


def test_true_is_not_one_in_a_payload() -> None:
    """Events whose payloads differ in True and 1 only are unequal."""
    one = decode_event(event("x", 0, {"a": True})).unwrap()
    other = decode_event(event("x", 0, {"a": 1})).unwrap()

    assert one != other


def test_an_event_equals_nothing_but_events() -> None:
    """An event is not its wire object."""
    made = decode_event(note(0)).unwrap()

    assert made != made.to_wire()
    assert made != 0


@pytest.mark.parametrize("name", ["type", "seq", "time", "data", "surface_op", "stored_data", "x"])
def test_attributes_cannot_be_set(name: str) -> None:
    """Setting or deleting any attribute raises, and the event stays."""
    made = decode_event(note(0)).unwrap()

    with pytest.raises((AttributeError, TypeError)):
        setattr(made, name, 1)
    with pytest.raises((AttributeError, TypeError)):
        delattr(made, name)

    assert made == decode_event(note(0)).unwrap()


def test_an_event_is_its_own_copy() -> None:
    """What cannot change need not be copied."""
    made = decode_event(user(0)).unwrap()

    assert copy.copy(made) is made
    assert copy.deepcopy(made) is made


def test_a_pickled_event_comes_back_whole() -> None:
    """Content and the order of the envelope's keys survive."""
    line = '{"time":5,"type":"user/message","seq":0,"data":{"a":"\\ud800"},"surfaceOp":"append"}'
    made = decode_event_text(line).unwrap()

    back = pickle.loads(pickle.dumps(made))

    assert type(back) is Event
    assert back == made
    assert back.to_text() == line


def test_the_text_stays_the_truth_under_vandalism() -> None:
    """Reaching around a frozen payload changes what was handed out, not the event's text."""
    line = '{"type":"x","seq":0,"time":1,"data":{"a":[1],"b":{}}}'
    events = [decode_event_text(line).unwrap(), decode_event(parse(line).unwrap()).unwrap()]

    for made in events:
        dict.__setitem__(made.data, "a", "forged")
        dict.clear(made.data["b"])

    assert [made.to_text() for made in events] == [line, line]


def test_repr_is_short_and_safe() -> None:
    """The repr names seq, type and time, with a stranger's type escaped."""
    made = decode_event(event("a\nb\x1b[31m", 0, {"long": "x" * 500})).unwrap()

    assert repr(made) == r"Event(seq=0, type='a\nb\x1b[31m', time=1000)"


def test_halves_that_meet_in_a_type_are_one_character() -> None:
    """A type is a string like any other of the event."""
    made = decode_event(event("\ud83c\udf31", 0)).unwrap()

    assert made.type == "🌱"


def test_a_session_header_has_python_names() -> None:
    """Wire fields become attributes, and go back in the order of the format."""
    wire = {
        "seedLength": 3,
        "parentSession": "s-1",
        "cwd": "/home/ada",
        "createdAt": 17.5,
        "id": "s-2",
        "version": 0,
    }

    made = session_header(wire).unwrap()

    assert made == SessionHeader(
        id="s-2", created_at=17.5, cwd="/home/ada", parent_session="s-1", seed_length=3, version=0
    )
    assert made.to_wire() == wire
    assert list(made.to_wire()) == [*reversed(wire)]


def test_a_header_needs_little_and_keeps_nothing_else() -> None:
    """Absent fields are absent, unknown keys are left out."""
    made = session_header({"id": "s", "createdAt": 1, "title": "x", "type": "session"}).unwrap()

    assert made.to_wire() == {"version": 0, "id": "s", "createdAt": 1}


def test_a_null_creation_time_counts_as_not_given() -> None:
    """`createdAt: null` is the one null that is let through."""
    assert session_header({"id": "s", "createdAt": None}).unwrap() == SessionHeader(id="s")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 1),
        ("version", True),
        ("version", False),
        ("version", None),
        ("version", "0"),
        ("id", None),
        ("id", 5),
        ("id", ["s"]),
        ("createdAt", "now"),
        ("createdAt", True),
        ("createdAt", [1]),
        ("cwd", None),
        ("cwd", "home/ada"),
        ("cwd", ""),
        ("cwd", 1),
        ("parentSession", None),
        ("parentSession", 1),
        ("seedLength", None),
        ("seedLength", -1),
        ("seedLength", 1.5),
        ("seedLength", True),
        ("seedLength", 2**53),
        ("seedLength", "3"),
    ],
)
def test_a_header_field_of_another_kind_is_named(field: str, value: object) -> None:
    """META_INVALID says which field, as a path and as a fact."""
    fault = session_header({"id": "s", "createdAt": 1, field: value}).failure()

    assert fault.code is Code.META_INVALID
    assert fault.path == f"$.{field}"
    assert fault.data == {"field": field}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.0, {1}, b"x"])
def test_a_lossy_header_is_not_json_first(value: object) -> None:
    """NOT_JSON comes before META_INVALID."""
    fault = session_header({"id": 5, "createdAt": value}).failure()

    assert fault.code is Code.NOT_JSON
    assert fault.path == "$.createdAt"


def test_a_session_header_cannot_be_changed() -> None:
    """It is a frozen record, hashable and equal by content."""
    made = session_header({"id": "s", "createdAt": 1}).unwrap()

    with pytest.raises(AttributeError):
        made.id = "other"  # type: ignore[misc]  # that is the point

    assert hash(made) == hash(session_header({"createdAt": 1, "id": "s"}).unwrap())
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_whole_float_made_by_hand_is_written_as_an_integer() -> None:
    """1700000005000.0 has one accepted representation, also in a header that nobody decoded."""
    header = SessionHeader(id="a", created_at=1700000005000.0)

    assert header.to_wire()["createdAt"] == 1700000005000
    assert type(header.created_at) is int
