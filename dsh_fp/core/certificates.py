"""A certificate: what a log is and which requests it made, in a small document.

It holds one value that stands for the whole log, its root, and enough besides to say what
differs when another log is held against it. Proofs that need no log are made in `proofs`.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.chains import RequestDigests
from dsh_fp.core.content import ContentDigests, content_digests
from dsh_fp.core.digests import RULES, digest, event_digest, request_digest, session_digest
from dsh_fp.core.documents import (
    VERSION,
    Unfit,
    array,
    check_kind,
    frozen_document,
    hash_at,
    members,
    read_document,
    whole,
)
from dsh_fp.core.events import SessionHeader, session_header
from dsh_fp.core.generations import RELEASED_GENERATIONS
from dsh_fp.core.lossless import (
    AnyJson,
    JsonArray,
    JsonObject,
    json_array,
    json_equal,
    json_object,
    text_of,
)
from dsh_fp.core.merkle import root_of
from dsh_fp.core.rejection import Code, Rejection, certificate_invalid, printable
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session

FORMAT: Final = "dsh_fp certificate"
MARK_BYTES: Final = 4
_KEYS: Final = (
    "format",
    "version",
    "rules",
    "root",
    "session",
    "events",
    "requests",
    "content",
    "steps",
)
_ODD: Final = "inconsistent"
_KNOWN_KEYS: Final = ("turn", "step", "seq", "header", "messages", "request")
_UNKNOWN_KEYS: Final = ("turn", "step", "seq", "fault")


@attrs.frozen
class Tree:
    """A Merkle tree in short: how many leaves, and its root in hex."""

    size: int
    root: str

    def to_wire(self) -> JsonObject:
        """The tree as JSON."""
        return json_object({"size": self.size, "root": self.root})


@attrs.frozen
class CertifiedStep:
    """A step's request as certificates and proofs list it; equal when its text is.

    `digests` is None where the log does not tell the request; then `fault` is the code why.
    """

    turn: AnyJson = attrs.field(eq=False)
    step: AnyJson = attrs.field(eq=False)
    seq: int = attrs.field(eq=False)
    digests: RequestDigests | None = attrs.field(eq=False)
    fault: str | None = attrs.field(default=None, eq=False)
    text: str = attrs.field(
        init=False,
        repr=False,
        default=attrs.Factory(lambda self: text_of(self.to_wire()), takes_self=True),
    )

    @property
    def leaf(self) -> bytes:
        """The leaf that stands for this step in the tree of requests."""
        return digest("step", self.text.encode())

    @property
    def name(self) -> str:
        """Turn, step and seq in words, safe for one line."""
        turn, step = (printable(text_of(value), 40) for value in (self.turn, self.step))
        return f"turn {turn}, step {step} (seq {self.seq})"

    def to_wire(self) -> JsonObject:
        """The step as JSON. The order of the keys is part of what is digested."""
        place = {"turn": self.turn, "step": self.step, "seq": self.seq}
        made = self.digests
        if made is None:
            return json_object({**place, "fault": self.fault})
        digests = {"header": made.header, "messages": made.messages, "request": made.request}
        return json_object({**place, **digests})


@attrs.frozen
class Certificate:
    """What `certify` says of a log. `root` is the one value to keep where nobody can change it.

    `marks` are the first four bytes of each event's digest. They tell which event differs and
    prove nothing: the root decides.

    Source:  docs/reference/certificates.md.
    """

    root: str
    session: SessionHeader
    events: Tree
    marks: bytes = attrs.field(repr=False)
    requests: Tree
    content: ContentDigests
    steps: tuple[CertifiedStep, ...] = attrs.field(repr=False)

    def to_wire(self) -> JsonObject:
        """The certificate as JSON."""
        named = self._parts()
        named["steps"] = json_array(step.to_wire() for step in self.steps)
        return json_object(named)

    def to_text(self) -> str:
        """The certificate's JSON text, laid out so that each part and step is one line."""
        lines = [f'"{key}":{text_of(value)}' for key, value in self._parts().items()]
        steps = ",\n".join(step.text for step in self.steps)
        lines.append(f'"steps":[\n{steps}]' if steps else '"steps":[]')
        return "{" + ",\n".join(lines) + "}\n"

    def _parts(self) -> dict[str, AnyJson]:
        marks = b64encode(self.marks).decode()
        content = {"content": self.content.content, "events": self.content.events}
        return {
            "format": FORMAT,
            "version": VERSION,
            "rules": RULES,
            "root": self.root,
            "session": self.session.to_wire(),
            "events": json_object({**self.events.to_wire(), "marks": marks}),
            "requests": self.requests.to_wire(),
            "content": json_object(content),
        }


def certify(session: Session) -> Certificate:
    """The certificate of a session. One pass over its events, one over its requests.

    Law:     certificate_survives_respelling, any_change_breaks_the_certificate.
    Source:  docs/reference/certificates.md.
    """
    if not isinstance(session, Session):
        raise TypeError("certify takes a Session; a LogFile has one as .session")
    return certificate_over(session, leaves_of(session))


def leaves_of(session: Session) -> list[bytes]:
    """The leaves of the tree of events."""
    return [event_digest(event) for event in session.events]


def certificate_over(session: Session, leaves: Sequence[bytes]) -> Certificate:
    """The certificate of a session whose leaves are known."""
    steps = tuple(map(_certified, past_requests(session)))
    events = Tree(len(leaves), root_of(leaves).hex())
    requests = Tree(len(steps), root_of([step.leaf for step in steps]).hex())
    root = log_root(session_digest(session.header), events, requests)
    content = content_digests(session)
    return Certificate(root, session.header, events, _marks(leaves), requests, content, steps)


def _certified(past: PastRequest) -> CertifiedStep:
    digests = past.digests
    fault = past.fault if digests is None else None
    code = None if fault is None else fault.code.value
    return CertifiedStep(past.turn, past.step, past.seq, digests, code)


def _marks(leaves: Sequence[bytes]) -> bytes:
    return b"".join(leaf[:MARK_BYTES] for leaf in leaves)


def log_root(session: bytes, events: Tree, requests: Tree) -> str:
    """The root of a log, of its header's digest and its two trees."""
    parts = [session]
    for tree in (events, requests):
        parts += [tree.size.to_bytes(8, "big"), bytes.fromhex(tree.root)]
    return digest("log", b"".join(parts)).hex()


# ---- certificates from strangers -----------------------------------------------------------------


def certificate_of(given: object) -> Result[Certificate, Rejection]:
    """The certificate of a text or a JSON value, every part of it checked against the others.

    What the root does not cover, marks and content, can only be checked against a log.

    Errors:  of a text those of JSON; CERTIFICATE_INVALID, whose reason is `shape`,
             `unsupported` or `inconsistent`.
    Law:     certificate_decode_inverts_encode.
    """
    if isinstance(given, str | bytes):
        return read_document(given).bind(_made)
    return _made(given)


def _made(wire: object) -> Result[Certificate, Rejection]:
    try:
        return Success(_read(frozen_document(wire)))
    except Unfit as odd:
        return Failure(certificate_invalid(odd.what, odd.path, reason=odd.reason))


def _read(value: AnyJson) -> Certificate:
    check_kind(value, FORMAT)
    fields = members(value, "$", _KEYS)
    events = members(fields["events"], "$.events", ("size", "root", "marks"))
    content = members(fields["content"], "$.content", ("content", "events"))
    certificate = Certificate(
        hash_at(fields["root"], "$.root"),
        _session(fields["session"]),
        Tree(whole(events["size"], "$.events.size"), hash_at(events["root"], "$.events.root")),
        _marks_at(events["marks"], "$.events.marks"),
        tree_at(fields["requests"], "$.requests"),
        ContentDigests(
            hash_at(content["content"], "$.content.content"),
            hash_at(content["events"], "$.content.events"),
        ),
        _steps(fields["steps"]),
    )
    _check_parts(certificate)
    return certificate


def _check_parts(made: Certificate) -> None:
    """See that the parts of a certificate fit each other.

    Errors:  Unfit, as everything that reads a part.
    """
    size, steps = made.events.size, made.steps
    if len(made.marks) != MARK_BYTES * size:
        raise Unfit(f"its marks are not those of {size} events", "$.events.marks", _ODD)
    if len(steps) != made.requests.size:
        what = f"it lists {len(steps)} steps and says {made.requests.size}"
        raise Unfit(what, "$.requests.size", _ODD)
    seqs = [-1, *(step.seq for step in steps), size]
    for place, (before, seq) in enumerate(pairwise(seqs)):
        if before >= seq:
            at = min(place, len(steps) - 1)
            raise Unfit("its steps do not follow one another", f"$.steps[{at}]", _ODD)
    if root_of([step.leaf for step in steps]).hex() != made.requests.root:
        raise Unfit("its steps do not give this root", "$.requests.root", _ODD)
    if log_root(session_digest(made.session), made.events, made.requests) != made.root:
        raise Unfit("its parts do not give this root", "$.root", _ODD)


def tree_at(value: AnyJson, path: str) -> Tree:
    """The tree at a place of a document.

    Errors:  Unfit.
    """
    fields = members(value, path, ("size", "root"))
    return Tree(whole(fields["size"], f"{path}.size"), hash_at(fields["root"], f"{path}.root"))


def _session(value: AnyJson) -> SessionHeader:
    if not isinstance(value, JsonObject):
        raise Unfit("it is no object", "$.session")
    made = _header_rule(value)(value)
    if isinstance(made, Failure):
        fault: Rejection = made.failure()
        raise Unfit(fault.message, f"$.session{(fault.path or '$')[1:]}")
    header = made.unwrap()
    if not json_equal(header.to_wire(), value):
        raise Unfit("it is no whole session header, or more than one", "$.session")
    return header


def _header_rule(
    fields: JsonObject,
) -> Callable[[JsonObject], Result[SessionHeader, Rejection]]:
    """How the session header of a generation is checked; July's lacks what v0's always has."""
    version = fields.get("version")
    if type(version) is not int or (version == 0 and "delegationDepth" not in fields):
        return session_header
    for vocabulary in RELEASED_GENERATIONS:
        form = vocabulary.form
        if form.version == version and form.session_header is not None:
            return form.session_header
    return session_header


def _marks_at(value: AnyJson, path: str) -> bytes:
    try:
        marks = b64decode(value, validate=True) if isinstance(value, str) else None
    except ValueError:
        marks = None
    if marks is None or b64encode(marks).decode() != value:
        raise Unfit("it is no text in base64", path)
    return marks


def _steps(value: AnyJson) -> tuple[CertifiedStep, ...]:
    listed: JsonArray = array(value, "$.steps")
    return tuple(step_at(step, f"$.steps[{place}]") for place, step in enumerate(listed))


def step_at(value: AnyJson, path: str) -> CertifiedStep:
    """The step at a place of a document.

    Errors:  Unfit.
    """
    is_known = not (isinstance(value, JsonObject) and "fault" in value)
    keys = _KNOWN_KEYS if is_known else _UNKNOWN_KEYS
    fields = members(value, path, keys)
    if tuple(fields) != keys:  # another order is another text, so another leaf
        raise Unfit(f"its keys are not in the order {', '.join(keys)}", path)
    seq = whole(fields["seq"], f"{path}.seq")
    if is_known:
        digests = [hash_at(fields[key], f"{path}.{key}") for key in keys[3:]]
        both = bytes.fromhex(digests[0]), bytes.fromhex(digests[1])
        if request_digest(*both).hex() != digests[2]:
            raise Unfit("it is not the digest of its two halves", f"{path}.request", _ODD)
        return CertifiedStep(fields["turn"], fields["step"], seq, RequestDigests(*digests))
    fault: AnyJson = fields["fault"]
    if not isinstance(fault, str) or fault not in Code.__members__:
        raise Unfit("it is no code of a fault", f"{path}.fault")
    return CertifiedStep(fields["turn"], fields["step"], seq, None, fault)
