"""Digests: of what they are taken, their known values, and what they are not moved by."""

from __future__ import annotations

import hashlib

import pytest

from dsh_fp import (
    Session,
    SessionHeader,
    content_digests,
    decode_event_text,
    event_digest,
    message_digest,
    past_requests,
    read,
    session_digest,
    snapshot,
    unwrap,
)
from dsh_fp.core.certificates import certificate_of, certify
from dsh_fp.core.content import content_texts
from dsh_fp.core.digests import EMPTY_CHAIN, chained, digest
from dsh_fp.core.generations import V4
from dsh_fp.core.verifying import compare_certificate
from tests.cli.logs import GARDEN, Log, text

LINE = '{"type":"note","seq":0,"time":5,"data":{"b":1,"a":"é"}}'


def digest_of(line: str | bytes) -> str:
    given = line if isinstance(line, bytes) else line.encode()
    return event_digest(unwrap(decode_event_text(given))).hex()


def sha(kind: str, content: bytes) -> str:
    return hashlib.sha256(b"\0dsh_fp/1 " + kind.encode() + b"\n" + content).hexdigest()


def test_a_digest_is_that_of_a_zero_byte_the_tag_and_the_content() -> None:
    """So no text of one kind passes for another, and each is a leaf hash of RFC 6962."""
    assert digest("event", b"x").hex() == sha("event", b"x")
    assert digest("event", b"x") != digest("message", b"x")


def test_an_event_is_digested_as_its_text_in_one_order() -> None:
    turned = '{"data":{"b":1,"a":"é"},"time":5,"seq":0,"type":"note"}'

    assert digest_of(LINE) == sha("event", LINE.encode())
    assert digest_of(turned) == digest_of(LINE)


@pytest.mark.parametrize(
    ("spelling", "plain"),
    [
        ('"\\u00e9"', '"é"'),
        ('"\\u001F"', '"\\u001f"'),
        ('"\\ud83c\\udf31"', '"🌱"'),
        ('"\\/"', '"/"'),
        ("1.0", "1"),
        ("1e2", "100"),
        ("100.50", "100.5"),
        ("1e21", "1e+21"),
        ("0.000001", "0.000001"),
        ("1e-6", "0.000001"),
        ("9007199254740993", "9007199254740992"),
        ("12345678901234567890", "12345678901234567000"),
        ('{"b":1,"2":0,"1":0}', '{"1":0,"2":0,"b":1}'),
        ('{"a":1,"a":2}', '{"a":2}'),
        ('[ 1 , "x" ]', '[1,"x"]'),
        ('"\\uD800"', '"\\ud800"'),
    ],
)
def test_a_digest_is_of_the_value_whatever_its_spelling(spelling: str, plain: str) -> None:
    """The exact text of SPEC's writer is digested, by the quick way and by the slow one."""
    line = '{"type":"note","seq":0,"time":5,"data":%s}'

    assert digest_of(line % spelling) == sha("event", (line % plain).encode())


def test_bytes_that_are_no_utf_8_are_digested_as_the_reader_reads_them() -> None:
    head = b'{"type":"session","version":0,"id":"a","createdAt":1}\n'
    line = b'{"type":"note","seq":0,"time":5,"data":"\xff"}'
    event = unwrap(read(head + line + b"\n")).session.events[0]

    assert event_digest(event).hex() == sha("event", line.replace(b"\xff", "�".encode()))


def test_half_a_character_is_digested_as_its_escape() -> None:
    event = unwrap(unwrap(Session.create()).append("note", "\ud800", time=5)).events[0]

    expected = b'{"type":"note","seq":0,"time":5,"data":"\\ud800"}'
    assert event_digest(event).hex() == sha("event", expected)


def test_a_session_is_digested_as_its_header() -> None:
    header = SessionHeader(id="a", created_at=1, cwd="/srv")

    expected = b'{"version":0,"id":"a","createdAt":1,"cwd":"/srv"}'
    assert session_digest(header).hex() == sha("session", expected)


def test_messages_are_a_chain() -> None:
    message = unwrap(snapshot({"role": "user", "content": []}))
    own = message_digest(message)

    assert own.hex() == sha("message", b'{"role":"user","content":[]}')
    assert sha("messages", b"") == EMPTY_CHAIN.hex()
    assert chained(EMPTY_CHAIN, own).hex() == sha("messages", EMPTY_CHAIN + own)


def test_prefix_messages_count_as_any_other() -> None:
    """What was sent is one list: who put a message there is not in the digest."""
    hello = {"role": "user", "content": text("hello")}
    config = {"model": "tern-1"}
    prefixed, plain = Log(), Log()
    prefixed.open_step(header={"config": config, "messagePrefix": [hello]})
    plain.say("hello")
    plain.open_step(header={"config": config})
    (one,), (other,) = (past_requests(log.session) for log in (prefixed, plain))

    assert one.digests is not None
    assert one.digests == other.digests


def test_a_request_that_is_not_known_has_no_digests() -> None:
    log = Log()
    log.open_step(header=None)
    (past,) = past_requests(log.session)

    assert past.fault is not None
    assert past.digests is None


def test_digests_do_not_depend_on_the_order_they_are_asked_for() -> None:
    pasts = past_requests(unwrap(read(GARDEN)).session)
    backwards = [past.digests for past in reversed(past_requests(unwrap(read(GARDEN)).session))]

    assert [past.digests for past in pasts] == backwards[::-1]


def test_digests_stay_true_when_handed_out_values_are_vandalised() -> None:
    """They are taken of the event's own text, not of what was decoded from it and handed out."""
    session = unwrap(read(GARDEN)).session
    before = [past.digests for past in past_requests(session)]
    contents, events = content_digests(session), [event_digest(e) for e in session.events]
    for message in unwrap(session.messages()):
        dict.__setitem__(message, "role", "intruder")
    for event in session.events:
        if isinstance(event.data, dict):
            dict.__setitem__(event.data, "content", ())
            dict.__setitem__(event.data, "header", {})

    assert [past.digests for past in past_requests(session)] == before
    assert content_digests(session) == contents
    assert [event_digest(event) for event in session.events] == events


def test_content_is_told_apart_from_other_content() -> None:
    one, other = Log(), Log()
    one.say("hello")
    other.say("hallo")

    assert content_digests(one.session) != content_digests(other.session)


def test_call_ids_count_by_the_order_they_appear_in() -> None:
    """Two calls are not one, however they are spelled: an answer to the other call is other."""

    def answered(first: str, second: str, answer: str) -> str:
        log = Log()
        calls = [
            {"type": "tool-call", "id": call, "name": "count", "arguments": "{}"}
            for call in (first, second)
        ]
        data = {"turn": 1, "step": 1, "content": calls}
        log.add("assistant/message", data, surface_op="append")
        result = {"turn": 1, "step": 1, "callId": answer, "content": [], "isError": False}
        log.add("tool/result", result, surface_op="append")
        return content_digests(log.session).content

    assert answered("a", "b", "a") == answered("x", "y", "x")
    assert answered("a", "b", "a") != answered("a", "b", "b")
    assert answered("a", "b", "a") != answered("a", "a", "a")


def _compacted(cut: int) -> Session:
    """A log whose answer came in so many pieces, and a summary that names a piece as its end."""
    log = Log()
    log.say("hello")
    log.open_step()
    for _ in range(cut):
        log.add("assistant/chunk", {"turn": 1, "step": 1, "chunk": {"type": "text-delta"}})
    last = len(log.session) - 1
    span = {"start": 0, "end": last}
    log.add("compact/summary", {"shadowedSeqs": [0, last], "shadowedRange": span})
    log.add("compact/summary", {"shadowedRange": {"start": 999, "end": "x"}})
    return log.session


def test_content_names_no_piece_of_a_stream() -> None:
    """A range that ends at a chunk, or at no event, has null there, whatever the chunk's seq."""
    few, many = _compacted(1), _compacted(4)

    assert content_digests(few).content == content_digests(many).content
    assert content_digests(few).events != content_digests(many).events
    texts = [text for _, text in content_texts(few)]
    assert texts[-2].endswith('{"shadowedSeqs":[0],"shadowedRange":{"start":0,"end":null}}}')
    assert texts[-1].endswith('{"shadowedRange":{"start":null,"end":"x"}}}')


def test_a_later_session_header_is_digested_in_one_order() -> None:
    """However its fields were written; and a certificate takes it back."""
    more = {"delegationDepth": 1, "agentPreset": "p", "origin": "subagent", "isSeeded": False}
    wire = {"id": "a", "createdAt": 1, **more}
    session = unwrap(Session.replay([], wire, vocabulary=V4))

    text_of_it = (
        b'{"version":4,"id":"a","createdAt":1,"isSeeded":false,"origin":"subagent",'
        b'"delegationDepth":1,"agentPreset":"p"}'
    )
    assert session_digest(session.header).hex() == sha("session", text_of_it)
    made = certify(session)
    again = unwrap(certificate_of(made.to_text()))
    assert again == made
    other = unwrap(Session.replay([], {**wire, "delegationDepth": 2}, vocabulary=V4))
    (found,) = compare_certificate(other, again).mismatches
    assert "delegationDepth" in found.message
