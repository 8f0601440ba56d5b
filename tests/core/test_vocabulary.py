"""The vocabulary: which types exist and what each may do, as a value that is extended."""

from __future__ import annotations

import pickle
from typing import Any

import attrs
import pytest

from dsh_fp import (
    STANDARD,
    Code,
    Field,
    Frame,
    Kind,
    MessageRule,
    Role,
    Session,
    TypeRule,
    past_requests,
    strict,
)
from dsh_fp.core.vocabulary import check_payload
from tests.core.making import event, header, step_start, text, turn_start

SURFACE_TYPES = {
    "user/message",
    "assistant/message",
    "tool/result",
    "context/message",
    "steering/message",
}
LOG_ONLY_TYPES = {
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "prompt/blocked",
    "assistant/chunk",
    "tool/call",
    "todo/write",
    "compact/start",
    "compact/summary",
    "compact/end",
}
HEADER_TYPES = {"request/header", "request/header-delta"}

HINT = TypeRule(
    Role.SURFACE,
    MessageRule("user", Frame.TAGGED, "hint"),
    (Field("content", Kind.BLOCKS), Field("source", Kind.KINDED)),
)


def test_the_standard_types_are_those_of_the_format() -> None:
    """Every type of the format is listed, with the role the format gives it."""
    roles = {name: STANDARD.role(name) for name in STANDARD.rules}

    assert {name for name, role in roles.items() if role is Role.SURFACE} == SURFACE_TYPES
    assert {name for name, role in roles.items() if role is Role.LOG_ONLY} == LOG_ONLY_TYPES
    assert {name for name, role in roles.items() if role is Role.REQUEST_HEADER} == HEADER_TYPES


@pytest.mark.parametrize("name", ["plugin/note", "", "user/Message", "user/message ", "__proto__"])
def test_an_unknown_type_is_log_only(name: str) -> None:
    """A type that is not listed does nothing, and is no error."""
    assert STANDARD.role(name) is Role.LOG_ONLY
    assert STANDARD.rule(name) == TypeRule()
    assert not STANDARD.knows(name)


def test_every_surface_type_has_a_message_rule_and_no_other_has() -> None:
    """What is on the surface makes messages, and only that."""
    with_rule = {name for name, rule in STANDARD.rules.items() if rule.message is not None}

    assert with_rule == SURFACE_TYPES


def test_extending_leaves_the_original_alone() -> None:
    """`extend` answers another vocabulary; the standard one does not learn the type."""
    extended = STANDARD.extend({"hint/message": HINT})

    assert extended.role("hint/message") is Role.SURFACE
    assert extended.role("user/message") is Role.SURFACE
    assert STANDARD.role("hint/message") is Role.LOG_ONLY
    assert extended != STANDARD


def test_a_listed_type_can_get_another_rule() -> None:
    """Extending with a known name replaces its rule in the new value."""
    extended = STANDARD.extend({"steering/message": TypeRule()})

    assert extended.role("steering/message") is Role.LOG_ONLY
    assert STANDARD.role("steering/message") is Role.SURFACE


def test_vocabularies_are_values() -> None:
    """Equal by content, hashable, picklable, and without settable attributes."""
    one, other = STANDARD.extend({"hint/message": HINT}), STANDARD.extend({"hint/message": HINT})

    with pytest.raises(AttributeError):
        one.rules = STANDARD.rules  # type: ignore[misc]  # that is the point

    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one


def test_the_table_of_roles_handed_out_is_a_copy() -> None:
    """Changing what `special_roles` answers changes no vocabulary."""
    table: Any = STANDARD.special_roles()

    table["plugin/note"] = Role.SURFACE

    assert STANDARD.role("plugin/note") is Role.LOG_ONLY


def test_a_plugins_surface_type_makes_messages() -> None:
    """With its rule in the vocabulary a plugin's event joins the surface and the request."""
    vocabulary = STANDARD.extend({"hint/message": HINT})
    session = Session.create(vocabulary=vocabulary).unwrap()
    data = {"content": [text("Frost tonight")], "source": {"kind": "weather"}}

    session = session.append("hint/message", data, time=1, surface_op="append").unwrap()

    assert session.surface.seqs == (0,)
    assert session.messages().unwrap() == [
        {
            "role": "user",
            "content": [text('<hint source="weather">'), text("Frost tonight"), text("</hint>")],
        }
    ]


def test_without_its_rule_the_same_event_is_log_only() -> None:
    """In the standard vocabulary that event may claim no place."""
    session = Session.create().unwrap()

    bare = session.append("hint/message", {"content": []}, time=1).unwrap()
    fault = session.append("hint/message", {"content": []}, time=1, surface_op="append").failure()

    assert bare.surface.seqs == ()
    assert fault.code is Code.SURFACE_OP_FORBIDDEN


def test_prefixes_forks_and_requests_keep_the_vocabulary() -> None:
    """Whatever follows from a session speaks its vocabulary."""
    vocabulary = STANDARD.extend({"hint/message": HINT})
    data = {"content": [], "source": {"kind": "weather"}}
    events = [
        turn_start(0),
        header(1),
        event("hint/message", 2, data, surfaceOp="append"),
        step_start(3),
    ]

    session = Session.replay(events, vocabulary=vocabulary).unwrap()
    request = past_requests(session)[0]

    assert session.at(2).unwrap().vocabulary is vocabulary
    assert session.at(2).unwrap().messages().unwrap() == session.messages().unwrap()
    assert request.messages == session.messages().unwrap()


def test_a_plugins_type_can_hold_request_headers() -> None:
    """The role says what an event does, not its name."""
    vocabulary = STANDARD.extend({"model/chosen": TypeRule(Role.REQUEST_HEADER)})
    chosen = event("model/chosen", 0, {"header": {"config": {"model": "m-9"}}})

    session = Session.replay([chosen], vocabulary=vocabulary).unwrap()

    assert session.request_header().unwrap() == {"config": {"model": "m-9"}}


def test_a_plugins_shape_is_checked_when_strict() -> None:
    """The fields a plugin lists are asked for by `strict()`, the type's own and no more."""
    loose = attrs.evolve(HINT, shape=(Field("level", Kind.NUMBER),))
    vocabulary = STANDARD.extend({"hint/message": loose})
    session = Session.replay([turn_start(0)], vocabulary=vocabulary, guard=strict()).unwrap()

    fault = session.append("hint/message", {}, time=1, surface_op="append").failure()

    assert fault.code is Code.PAYLOAD_INVALID
    assert (fault.seq, fault.path) == (1, "$.data.level")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Kind.NUMBER, [0, 1.5], [True, "1", None]),
        (Kind.TEXT, [""], [1, None, []]),
        (Kind.FLAG, [True, False], [0, 1, None]),
        (Kind.LIST, [[], [1]], [{}, "a", None]),
        (Kind.OBJECT, [{}], [[], None, "a"]),
        (Kind.KINDED, [{"kind": "x"}], [{}, {"kind": 1}, []]),
        (Kind.BLOCKS, [[], [{"type": "x"}]], [{}, [1], [{}], [{"type": 1}]]),
    ],
    ids=lambda given: given.name if isinstance(given, Kind) else "",
)
def test_each_kind_of_field_takes_its_own(kind: Kind, good: list[Any], bad: list[Any]) -> None:
    """A field holds what its kind says; True is no number and 1 no flag."""
    vocabulary = STANDARD.extend({"x": TypeRule(shape=(Field("f", kind),))})

    def judged(value: Any) -> object:
        data = Session.create().unwrap().append("x", {"f": value}, time=0).unwrap().events[0].data
        fault = check_payload("x", 7, data, vocabulary)
        return fault and (fault.code, fault.seq, fault.path)

    assert [judged(value) for value in good] == [None] * len(good)
    assert [judged(value) for value in bad] == [(Code.PAYLOAD_INVALID, 7, "$.data.f")] * len(bad)


def test_an_optional_field_may_be_absent_but_not_wrong() -> None:
    """`usage` may be left out; when given it must be an object."""
    fields = {"turn": 1, "step": 1, "content": []}
    session = Session.create().unwrap()

    def judged(data: dict[str, Any]) -> object:
        made = session.append("assistant/message", data, time=0, surface_op="append").unwrap()
        fault = check_payload("assistant/message", 0, made.events[0].data, STANDARD)
        return fault and fault.path

    assert judged(fields) is None
    assert judged({**fields, "usage": {}}) is None
    assert judged({**fields, "usage": []}) == "$.data.usage"
