"""Certificates: read back, refused when they are bent, held against other logs."""

from __future__ import annotations

import io
import json
import random
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from dsh_fp import Code, JsonObject, Session, SessionHeader, read, thaw, unwrap
from dsh_fp.core.certificates import Certificate, certificate_of, certify
from dsh_fp.core.documents import read_document
from dsh_fp.core.verifying import compare_certificate
from tests.core.making import (
    Wire,
    assistant,
    event,
    header,
    nested,
    note,
    replayed,
    step_end,
    step_start,
    turn_end,
    turn_start,
    user,
)

LOG: list[Wire] = [
    turn_start(0),
    user(1, "Where is the boat?"),
    step_start(2),
    header(3),
    assistant(4),
    step_end(5),
    user(6, "And the oars?"),
    step_start(7, step=2),
    assistant(8, step=2),
    step_end(9, step=2),
    turn_end(10),
]


def session_of(log: list[Wire], **fields: Any) -> Session:
    """The session of a log that is accepted, under a header."""
    return unwrap(Session.replay(log, {"id": "boat", **fields}))


CERTIFICATE = certify(session_of(LOG))


def with_event(seq: int, **fields: Any) -> Session:
    """The session with fields of one event changed."""
    return session_of([*LOG[:seq], {**LOG[seq], **fields}, *LOG[seq + 1 :]])


def parts(session: Session, certificate: Certificate = CERTIFICATE) -> list[tuple[str, Any]]:
    """What differs, and at which seq."""
    compared = compare_certificate(session, certificate)
    return [(mismatch.part, mismatch.seq) for mismatch in compared.mismatches]


# ---- what it holds -------------------------------------------------------------------------------


def test_a_certificate_lists_each_request_with_its_digests() -> None:
    """Turn, step and seq as the step/start gives them; the events it was made of in number."""
    assert [(step.turn, step.step, step.seq) for step in CERTIFICATE.steps] == [
        (1, 1, 2),
        (1, 2, 7),
    ]
    assert CERTIFICATE.events.size == 11
    assert len(CERTIFICATE.marks) == 44
    assert CERTIFICATE.session == SessionHeader("boat")


def test_a_request_that_is_not_known_is_listed_with_its_fault() -> None:
    """It is as much part of the log as any other."""
    certificate = certify(replayed(step_start(0)))

    assert thaw(certificate.to_wire()["steps"]) == [
        {"turn": 1, "step": 1, "seq": 0, "fault": "NO_REQUEST_HEADER"}
    ]
    assert certificate_of(certificate.to_wire()).unwrap() == certificate


def test_a_log_of_nothing_has_a_certificate() -> None:
    """Two empty trees and a header."""
    empty = certify(session_of([]))

    assert certificate_of(json.loads(empty.to_text())).unwrap() == empty
    assert compare_certificate(session_of([]), empty).holds


def test_the_text_has_a_line_for_each_step() -> None:
    """So two certificates can be compared by any tool that compares lines."""
    lines = CERTIFICATE.to_text().splitlines()

    assert lines[0] == '{"format":"dsh_fp certificate",'
    assert [line[:17] for line in lines[-2:]] == ['{"turn":1,"step":'] * 2
    assert CERTIFICATE.to_text().endswith("}]}\n")


def test_turns_of_any_kind_are_certified() -> None:
    """A step/start may say anything of itself, as deep as an event may be."""
    for turn in (None, True, "\ud800\n", {"b": 1, "a": [2.5]}, nested(9_990)):
        session = replayed(event("step/start", 0, {"turn": turn, "step": 1.5}))
        certificate = certify(session)

        again = certificate_of(certificate.to_text()).unwrap()
        assert again == certificate
        assert compare_certificate(session, again).holds


def test_true_is_not_one_and_order_counts_in_a_step() -> None:
    """Steps are equal when their texts are."""
    pairs = [(1, True), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (1, 1.5)]
    for one, other in pairs:
        made = [certify(replayed(step_start(0, turn=turn))) for turn in (one, other)]
        assert made[0].steps != made[1].steps
        assert made[0].steps[0] != made[1].steps[0]


def test_certify_takes_a_session() -> None:
    """A file has one."""
    with pytest.raises(TypeError, match=r"a LogFile has one as \.session"):
        certify("boat.jsonl")  # type: ignore[arg-type]  # that is the point


# ---- certificates from strangers -----------------------------------------------------------------


def bent(change: Callable[[dict[str, Any]], Any]) -> tuple[str | None, str]:
    """Where and why a changed certificate is refused."""
    wire = thaw(CERTIFICATE.to_wire())
    change(wire)
    refusal = certificate_of(wire).failure()
    assert refusal.code is Code.CERTIFICATE_INVALID
    return refusal.path, str(refusal.data["reason"])


def put(value: Any, *path: Any) -> Callable[[dict[str, Any]], None]:
    """The change that puts a value at a path."""

    def change(wire: dict[str, Any]) -> None:
        here: Any = wire
        for key in path[:-1]:
            here = here[key]
        here[path[-1]] = value

    return change


SHAPE, UNSUPPORTED, INCONSISTENT = "shape", "unsupported", "inconsistent"
ZERO = "0" * 64


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        (put("dsh certificate", "format"), "$.format", SHAPE),
        (put(2, "version"), "$.version", UNSUPPORTED),
        (put("1", "version"), "$.version", UNSUPPORTED),
        (put(True, "version"), "$.version", UNSUPPORTED),
        (put("dsh_fp/2", "rules"), "$.rules", UNSUPPORTED),
        (lambda wire: wire.pop("rules"), "$.rules", SHAPE),
        (lambda wire: wire.pop("root"), "$.root", SHAPE),
        (put("verified", "note"), "$", SHAPE),
        (put(ZERO.upper().replace("0", "A"), "root"), "$.root", SHAPE),
        (put(ZERO[1:], "root"), "$.root", SHAPE),
        (put(ZERO + "\n", "root"), "$.root", SHAPE),
        (put("٣" * 64, "root"), "$.root", SHAPE),
        (put(None, "root"), "$.root", SHAPE),
        (put(ZERO, "root"), "$.root", INCONSISTENT),
        (put([], "session"), "$.session", SHAPE),
        (put("x", "session", "cwd"), "$.session.cwd", SHAPE),
        (put("/x", "session", "cwd"), "$.root", INCONSISTENT),
        (put(1, "session", "more"), "$.session", SHAPE),
        (put(None, "session", "createdAt"), "$.session", SHAPE),
        (lambda wire: wire["session"].pop("id"), "$.session", SHAPE),
        (put(True, "events", "size"), "$.events.size", SHAPE),
        (put(11.5, "events", "size"), "$.events.size", SHAPE),
        (put("11", "events", "size"), "$.events.size", SHAPE),
        (put(-1, "events", "size"), "$.events.size", SHAPE),
        (put(2**53, "events", "size"), "$.events.size", SHAPE),
        (put(12, "events", "size"), "$.events.marks", INCONSISTENT),
        (put("AA=", "events", "marks"), "$.events.marks", SHAPE),
        (put("AB==", "events", "marks"), "$.events.marks", SHAPE),
        (put("AA==\n", "events", "marks"), "$.events.marks", SHAPE),
        (put("ä", "events", "marks"), "$.events.marks", SHAPE),
        (put(7, "events", "marks"), "$.events.marks", SHAPE),
        (put("AA==", "events", "marks"), "$.events.marks", INCONSISTENT),
        (put(ZERO, "events", "root"), "$.root", INCONSISTENT),
        (put(3, "requests", "size"), "$.requests.size", INCONSISTENT),
        (put(ZERO, "requests", "root"), "$.requests.root", INCONSISTENT),
        (put(1, "requests", "marks"), "$.requests", SHAPE),
        (put("x", "content", "content"), "$.content.content", SHAPE),
        (put({}, "steps"), "$.steps", SHAPE),
        (put([], "steps"), "$.requests.size", INCONSISTENT),
        (put(None, "steps", 1), "$.steps[1]", SHAPE),
        (put(2, "steps", 0, "turn"), "$.requests.root", INCONSISTENT),
        (put(7, "steps", 0, "seq"), "$.steps[1]", INCONSISTENT),
        (put(11, "steps", 1, "seq"), "$.steps[1]", INCONSISTENT),
        (put(ZERO, "steps", 1, "header"), "$.steps[1].request", INCONSISTENT),
        (put("BUG", "steps", 1, "fault"), "$.steps[1]", SHAPE),
        (
            put({"turn": 1, "step": 2, "seq": 7, "fault": "BUG"}, "steps", 1),
            "$.steps[1].fault",
            SHAPE,
        ),
        (
            lambda wire: wire["steps"].insert(1, dict(reversed(wire["steps"].pop(1).items()))),
            "$.steps[1]",
            SHAPE,
        ),
    ],
)
def test_a_bent_certificate_is_refused(
    change: Callable[[dict[str, Any]], Any], path: str, reason: str
) -> None:
    """Where it is bent is named, and whether it is of another release."""
    assert bent(change) == (path, reason)


@pytest.mark.parametrize("wire", [None, 7, [], {}, {"format": 1}, {1: 2}, float("nan"), '"x"'])
def test_what_is_no_certificate_is_refused(wire: object) -> None:
    """Any Python value may be handed in."""
    assert certificate_of(wire).failure().code is Code.CERTIFICATE_INVALID


def test_a_key_that_stands_twice_is_refused() -> None:
    """One reader would take the first and another the last."""
    text = CERTIFICATE.to_text().replace('"version":1', '"version":1,"ver\\u0073ion":1', 1)

    refusal = certificate_of(text).failure()

    assert refusal.code is Code.NOT_JSON
    assert "'version' twice" in refusal.message
    assert read_document('[{"a":1},{"a":[{"a":":,{"}]}]').unwrap() == [
        {"a": 1},
        {"a": [{"a": ":,{"}]},
    ]


def test_a_certificate_laid_out_otherwise_is_the_same() -> None:
    """Spaces and the order of the outer keys say nothing."""
    wire = json.loads(CERTIFICATE.to_text())
    text = json.dumps(dict(reversed(wire.items())), indent=2)

    assert certificate_of(text.encode()).unwrap() == CERTIFICATE


# ---- logs held against it ------------------------------------------------------------------------


def test_the_certified_log_is_equal() -> None:
    """Nothing is named then."""
    told = compare_certificate(session_of(LOG), CERTIFICATE)

    assert told.holds
    assert (told.verdict, told.mismatches, told.root) == ("equal", (), CERTIFICATE.root)


def test_a_changed_message_is_named_with_the_request_it_reached() -> None:
    """The event first, then the first request that has it."""
    session = with_event(1, data={"content": [{"type": "text", "text": "Where?"}]})
    told = compare_certificate(session, CERTIFICATE)

    assert parts(session) == [("event", 1), ("request", 2)]
    assert told.mismatches[1].message == (
        "this request has other messages, and 1 later one is not as certified"
    )
    assert (told.mismatches[1].turn, told.mismatches[1].step) == (1, 1)
    assert not told.same_content


def test_a_changed_time_changes_no_request() -> None:
    """The content is the same then, and that is said."""
    session = with_event(4, time=1)
    told = compare_certificate(session, CERTIFICATE)

    assert parts(session) == [("event", 4)]
    assert told.verdict == "differs"
    assert told.same_content


def test_a_changed_header_is_told_from_changed_messages() -> None:
    """Each half of a request has its digest."""
    changed = header(3, system="Be brief.")
    told = compare_certificate(with_event(3, data=changed["data"]), CERTIFICATE)

    assert told.mismatches[1].message == (
        "this request has another header, and 1 later one is not as certified"
    )


def test_later_requests_that_differ_are_counted() -> None:
    """Changed ones, missing ones, and none after the last."""
    other = {"content": [{"type": "text", "text": "Where?"}]}
    steps = [*LOG[:10], step_start(10, step=3), step_end(11, step=3), turn_end(12)]
    certificate = certify(session_of(steps))

    def message(log: list[Wire], seq: int) -> str:
        changed = [*log[:seq], {**log[seq], "data": {**log[seq]["data"], **other}}, *log[seq + 1 :]]
        named = compare_certificate(session_of(changed), certificate).mismatches
        return next(one.message for one in named if one.part == "request")

    assert message(steps, 1).endswith("messages, and 2 later ones are not as certified")
    assert message(steps[:6], 1).endswith("messages, and 2 later ones are not as certified")
    assert message(LOG, 6).endswith("messages, and 1 later one is not as certified")
    assert message(steps, 8) == "this request has other messages"


def test_a_renamed_session_is_named_by_field() -> None:
    """An id, or a field that is there on one side only."""
    renamed = compare_certificate(session_of(LOG, id="ship"), CERTIFICATE)
    moved = compare_certificate(session_of(LOG, cwd="/sea"), CERTIFICATE)

    assert [mismatch.part for mismatch in renamed.mismatches] == ["session"]
    assert renamed.mismatches[0].message == (
        "the session header's id is '\"ship\"', certified was '\"boat\"'"
    )
    assert moved.mismatches[0].message == (
        "the session header's cwd is '\"/sea\"', certified was absent"
    )


def test_a_longer_log_extends() -> None:
    """It is not the certified log, and it is one that began as that."""
    longer = [*LOG, turn_start(11, turn=2), step_start(12, turn=2)]
    told = compare_certificate(session_of(longer), CERTIFICATE)

    assert (told.verdict, told.holds) == ("extends", False)
    assert [(one.part, one.seq) for one in told.mismatches] == [("event", 11)]


def test_a_step_that_was_open_may_be_settled_later() -> None:
    """The request of the last step was certified with the header it had then."""
    certificate = certify(session_of(LOG[:3]))

    told = compare_certificate(session_of(LOG), certificate)

    assert certificate.steps[0].fault == "NO_REQUEST_HEADER"
    assert told.verdict == "extends"


def test_a_longer_log_of_another_beginning_differs() -> None:
    """Its first event that differs is named, not its length."""
    longer = [*LOG[:4], {**LOG[4], "time": 9}, *LOG[5:], note(11)]

    assert compare_certificate(session_of(longer), CERTIFICATE).verdict == "differs"
    assert parts(session_of(longer)) == [("event", 4)]


def test_a_longer_log_of_another_name_differs() -> None:
    """Both differences are named."""
    session = session_of([*LOG, note(11)], id="ship")

    assert parts(session) == [("session", None), ("event", 11)]


def test_what_was_settled_since_is_no_difference() -> None:
    """A longer log of another name: its requests are looked at as they were then."""
    certificate = certify(session_of(LOG[:3]))

    assert parts(session_of(LOG, id="ship"), certificate) == [("session", None), ("event", 3)]


def test_a_shorter_log_lacks_events_and_requests() -> None:
    """The first that is missing is named."""
    told = compare_certificate(session_of(LOG[:6]), CERTIFICATE)

    assert [(one.part, one.seq) for one in told.mismatches] == [("event", 6), ("request", 7)]
    assert told.mismatches[0].message == "the log ends too early: 5 events missing at its end"
    assert told.mismatches[1].message == "this certified request is missing"


def forged(**fields: Any) -> Certificate:
    """A certificate that says of itself what only a log can check."""
    wire = thaw(CERTIFICATE.to_wire())
    for key, value in fields.items():
        if key == "marks":
            wire["events"]["marks"] = b64encode(value).decode()
        else:
            wire["content"][key] = value
    return unwrap(certificate_of(wire))


def test_marks_locate_and_the_root_decides() -> None:
    """Forged marks neither hide a change nor make one."""
    no_marks = forged(marks=b"\0" * 44)
    hidden = forged(marks=certify(with_event(4, time=1)).marks)

    assert parts(session_of(LOG), no_marks) == [("marks", None)]
    told = compare_certificate(with_event(4, time=1), hidden)
    assert [(one.part, one.seq) for one in told.mismatches] == [("event", None)]
    assert told.mismatches[0].message == (
        "an event is not the certified one, and the marks do not tell which"
    )


def test_content_digests_are_checked_against_the_log() -> None:
    """No root covers them, and still they cannot be made up."""
    assert parts(session_of(LOG), forged(events=ZERO)) == [("content", None)]
    assert parts(session_of([*LOG, note(11)]), forged(content=ZERO)) == [
        ("event", 11),
        ("content", None),
    ]


def test_requests_of_other_rules_differ() -> None:
    """The same events read with a vocabulary that makes no message of them."""
    from dsh_fp import STANDARD, Role, TypeRule

    deaf = STANDARD.extend({"user/message": TypeRule(Role.SURFACE)})
    session = unwrap(Session.replay(LOG, {"id": "boat"}, vocabulary=deaf))

    assert parts(session)[0] == ("request", 2)


def test_mismatches_go_out_as_json() -> None:
    """A request's with turn and step, the others' without."""
    told = compare_certificate(session_of(LOG[:6]), CERTIFICATE)

    wires = [thaw(one.to_wire()) for one in told.mismatches]

    assert [list(wire) for wire in wires] == [
        ["part", "message", "seq"],
        ["part", "message", "seq", "turn", "step"],
    ]


# ---- any bit of a file ---------------------------------------------------------------------------

ODD_TEXT = 'naïve 🛶 "x" \\ / \t \u001f \u2028 \u007f'
FILE_LINES = (
    b'{"type":"session","version":0,"id":"boat \\u00e9","createdAt":1.5e3,"cwd":"/tmp/\\/x"}',
    (
        b'{ "type":"turn/start" ,"seq":0, "time":1000,"data":{"turn":1.0,"n":[1e2,0.10,-2E-3,1e21],'
        b'"b":null,"a":true,"10":false,"9":[ ] , "":{} }}'
    ),
    b'{"type":"user\\/message","seq":1,"time":1001,"data":{"content":[{"type":"text","text":'
    + json.dumps(ODD_TEXT).encode()
    + b'}],"source":{"kind":"user"}},"surfaceOp":"append"}',
    b'{"seq":2,"type":"step/start","time":10e2,"data":{"turn":1,"step":1}}',
    b'{"type":"request/header","seq":3,"time":1003,"data":{"reason":"x","header":{"config":{"t":0.70}'
    b',"system":"\\u00fc\\ud83d\\ude00 \\ud800 ' + "dünn 漢字 \u2028".encode() + b'"}}}',
)
FLIPS = 10_000


def test_ten_thousand_flips_break_what_changes_a_value_and_nothing_else() -> None:
    """A bit or byte of the file is changed: the certificate fails exactly when a value did.

    What a value is, is decided by the standard library: each line as pairs in their order, and
    numbers as doubles. A file that is refused, or that lost its tail, is another log.
    """
    content = b"\n".join(FILE_LINES) + b"\n"
    session = unwrap(read(io.BytesIO(content))).session
    certificate = certify(session)
    before = values_of(content)
    assert before is not None
    assert len(session) == 4
    randomly = random.Random(6962)
    kept = 0

    for _ in range(FLIPS):
        place = randomly.randrange(len(content))
        byte = content[place]
        new = byte ^ (1 << randomly.randrange(8))
        if randomly.random() < 0.3:
            new = randomly.choice(b' \t"\\/{}[]:,eE+-.0123456789abcdefABCDEFtnu\r')
        flipped = content[:place] + bytes([new]) + content[place + 1 :]
        same = values_of(flipped) == before
        kept += same and flipped != content

        made = read(io.BytesIO(flipped)).map(lambda log: certify(log.session)).value_or(None)
        around = (place, flipped[max(place - 20, 0) : place + 20])
        assert (made == certificate) == same, around
        assert (made is not None and made.root == certificate.root) == same, around

    # Such as \u00FC for \u00fc, 1E2 for 1e2, or a tab between two tokens.
    assert kept > 25


def values_of(content: bytes) -> list[Any] | None:
    """What each line of a log file says, by the standard library; None when it is no log."""
    *lines, rest = content.split(b"\n")
    if rest:
        return None
    try:
        # Each text that is no UTF-8 has another value, even if it is read with marks in it.
        return [canonical(json.loads(line.decode(), **STRICT)) for line in lines]
    except ValueError:
        return None


class Pairs(list[Any]):
    """An object as its pairs in their order, apart from an array."""


STRICT: dict[str, Any] = {"object_pairs_hook": Pairs, "parse_int": float}


def canonical(value: Any, *, envelope: bool = True) -> Any:
    """A value that equals another exactly when a model would read the same of both."""
    if isinstance(value, Pairs):
        items = [(key, canonical(item, envelope=False)) for key, item in value]
        named = dict(items)
        indices = sorted((key for key in named if key.isdigit() and key.isascii()), key=int)
        order = [*indices, *(key for key in named if key not in indices)]
        if envelope:  # of these keys the order says nothing
            return {"object": named}
        return ("object", [(key, named[key]) for key in order])
    if isinstance(value, list):
        return [canonical(item, envelope=False) for item in value]
    return (type(value).__name__, value)


def test_the_oracle_of_flips_sees_what_a_model_would_see() -> None:
    """It is itself looked at: these pairs are apart, these are the same."""

    def value(text: str) -> Any:
        return canonical(json.loads(f'{{"data":{text}}}', **STRICT))

    assert value('{"a":1,"b":2}') != value('{"b":2,"a":1}')
    assert value("1") != value("true")
    assert value('"1"') != value("1")
    assert value("1.0") == value("1e0")
    assert value('"\\u00FC"') == value('"\\u00fc"')
    assert value('{"10":1,"9":2}') == value('{"9":2,"10":1}')
    assert value("[]") != value("{}")


def test_values_handed_out_stay_json_objects() -> None:
    """What a certificate gives as JSON is frozen like everything else."""
    assert isinstance(CERTIFICATE.to_wire(), JsonObject)
