"""A log held against a certificate: whether it is the certified one, and where it first is not."""

from __future__ import annotations

from typing import Literal

import attrs

from dsh_fp.core.certificates import (
    MARK_BYTES,
    Certificate,
    CertifiedStep,
    certificate_over,
    leaves_of,
)
from dsh_fp.core.digests import LATER_HEADER_KEYS
from dsh_fp.core.events import HEADER_KEYS, SessionHeader
from dsh_fp.core.lossless import AnyJson, JsonObject, json_equal, json_object, text_of
from dsh_fp.core.merkle import root_of
from dsh_fp.core.rejection import shown
from dsh_fp.core.session import Session

Part = Literal["session", "event", "request", "marks", "content"]


@attrs.frozen
class Mismatch:
    """One part in which a log is not the certified one.

    Units:   seq is that of the event, or of the step/start; None where no event can be named.
    """

    part: Part
    message: str
    seq: int | None = None
    turn: AnyJson = None
    step: AnyJson = None

    def to_wire(self) -> JsonObject:
        """The mismatch as JSON."""
        place = {"part": self.part, "message": self.message, "seq": self.seq}
        if self.part == "request":
            place |= {"turn": self.turn, "step": self.step}
        return json_object(place)


@attrs.frozen
class Comparison:
    """What came of holding a log against a certificate.

    `equal`: the log is the certified one. `extends`: its first events are, and it goes on.
    `differs`: it is another. Of each part that differs the first difference is named.
    `same_content`: no difference but in times, names and call ids, as far as content goes.
    """

    verdict: Literal["equal", "extends", "differs"]
    root: str
    mismatches: tuple[Mismatch, ...] = ()
    same_content: bool = True

    @property
    def holds(self) -> bool:
        """Whether the log is the certified one, nothing more and nothing less."""
        return self.verdict == "equal"


def compare_certificate(session: Session, certificate: Certificate) -> Comparison:
    """What of a session is as certified, and the first of each that is not.

    Law:     any_change_breaks_the_certificate, changes_are_named.
    """
    leaves = leaves_of(session)
    own = certificate_over(session, leaves)
    if own == certificate:
        return Comparison("equal", own.root)
    size = certificate.events.size
    more = len(leaves) - size
    intact = more >= 0 and root_of(leaves[:size]).hex() == certificate.events.root
    held = own
    if intact and more:
        # What the log says of itself since then may have settled what it said last.
        held = certificate_over(session.prefix(size), leaves[:size])
        if held == certificate:
            what = f"the log goes on: {_counted(more)} after the certified {size}"
            longer = Mismatch("event", what, size)
            return Comparison("extends", own.root, (longer,), same_content=False)
    found = (
        _session_mismatch(own.session, certificate.session),
        _event_mismatch(own, certificate, intact=intact),
        _request_mismatch(held.steps, certificate.steps),
        _claim_mismatch(held, certificate) if intact else None,
    )
    named = tuple(mismatch for mismatch in found if mismatch is not None)
    same = own.content.content == certificate.content.content
    return Comparison("differs", own.root, named, same_content=same)


def _counted(events: int) -> str:
    return f"{events} event{'' if events == 1 else 's'}"


def _session_mismatch(own: SessionHeader, certified: SessionHeader) -> Mismatch | None:
    now, then = own.to_wire(), certified.to_wire()
    for key in (*HEADER_KEYS, *LATER_HEADER_KEYS):
        if key not in now and key not in then:
            continue
        if key not in now or key not in then or not json_equal(now[key], then[key]):
            said, was = (
                shown(text_of(fields[key])) if key in fields else "absent" for fields in (now, then)
            )
            return Mismatch("session", f"the session header's {key} is {said}, certified was {was}")
    return None


def _event_mismatch(own: Certificate, certified: Certificate, *, intact: bool) -> Mismatch | None:
    """The first event that differs, as far as the marks tell it; the roots say whether one does."""
    now, then = own.events.size, certified.events.size
    if intact:
        if now == then:
            return None
        return Mismatch("event", f"the log goes on: {_counted(now - then)} after {then}", then)
    for seq in range(min(now, then)):
        at = slice(MARK_BYTES * seq, MARK_BYTES * (seq + 1))
        if own.marks[at] != certified.marks[at]:
            return Mismatch("event", f"event {seq} is not the certified one", seq)
    if now < then:
        what = f"the log ends too early: {_counted(then - now)} missing at its end"
        return Mismatch("event", what, now)
    what = "an event is not the certified one, and the marks do not tell which"
    return Mismatch("event", what)


def _request_mismatch(
    own: tuple[CertifiedStep, ...], certified: tuple[CertifiedStep, ...]
) -> Mismatch | None:
    for now, then in zip(own, certified, strict=False):
        if now != then:
            return _request_named(now, _how(now, then) + _later(own, certified))
    shared = min(len(own), len(certified))
    if len(own) > shared:
        return _request_named(own[shared], "this request was not certified")
    if len(certified) > shared:
        return _request_named(certified[shared], "this certified request is missing")
    return None


def _request_named(step: CertifiedStep, what: str) -> Mismatch:
    return Mismatch("request", what, step.seq, step.turn, step.step)


def _how(now: CertifiedStep, then: CertifiedStep) -> str:
    """In which way one request is not the certified one."""
    if now.name != then.name:
        return f"the request certified in its place is that of {then.name}"
    a, b = now.digests, then.digests
    if a is None or b is None:
        said = "known" if a is not None else f"not known ({now.fault})"
        was = "known" if b is not None else f"not known ({then.fault})"
        return f"this request is {said}, certified was {was}"
    halves = [half for half in ("header", "messages") if getattr(a, half) != getattr(b, half)]
    if halves == ["messages"]:
        return "this request has other messages"
    return f"this request has another {' and other '.join(halves) or 'digest'}"


def _later(own: tuple[CertifiedStep, ...], certified: tuple[CertifiedStep, ...]) -> str:
    """How many more requests differ than the first one, or stand on one side alone."""
    differ = sum(now != then for now, then in zip(own, certified, strict=False)) - 1
    more = differ + abs(len(own) - len(certified))
    if more == 0:
        return ""
    return f", and {more} later one{' is' if more == 1 else 's are'} not as certified"


def _claim_mismatch(held: Certificate, certified: Certificate) -> Mismatch | None:
    """What a certificate claims of events that are the certified ones, and is not so."""
    if held.marks != certified.marks:
        return Mismatch("marks", "the events are as certified, the marks are not theirs")
    if held.content != certified.content:
        return Mismatch("content", "the events are as certified, the content digests are not")
    return None
