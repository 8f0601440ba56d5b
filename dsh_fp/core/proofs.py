"""Proofs that need no log: that a request belongs to one, and that one log extends another.

A proof holds the few hashes that lead from its claim to the root of a log, so its size grows
with the number of digits of the log's length. Whoever checks it needs that root and nothing else.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.certificates import (
    Certificate,
    CertifiedStep,
    Tree,
    certificate_over,
    certify,
    leaves_of,
    log_root,
    step_at,
    tree_at,
)
from dsh_fp.core.chains import RequestDigests
from dsh_fp.core.digests import (
    EMPTY_CHAIN,
    RULES,
    chained,
    header_digest,
    message_digest,
    request_digest,
    session_digest,
)
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
from dsh_fp.core.events import is_seq
from dsh_fp.core.lossless import (
    AnyJson,
    JsonArray,
    JsonObject,
    freeze,
    json_array,
    json_object,
    text_of,
)
from dsh_fp.core.merkle import (
    consistency_path,
    inclusion_path,
    is_consistent,
    root_from_path,
)
from dsh_fp.core.rejection import Rejection, other_root, printable, proof_invalid
from dsh_fp.core.session import Session

FORMAT: Final = "dsh_fp proof"
Path: TypeAlias = tuple[str, ...]
_HEAD: Final = ("format", "version", "rules", "kind")
_INCLUSION: Final = (*_HEAD, "root", "session", "events", "requests", "index", "path", "step")
_CONSISTENCY: Final = (*_HEAD, "session", "old", "new", "path")


@attrs.frozen
class InclusionProof:
    """That a step's request is in the log with this root.

    `session` is the digest of the session header; `index` the place among the log's requests.

    Source:  docs/reference/certificates.md, "Proofs".
    """

    root: str
    session: str
    events: Tree
    requests: Tree
    index: int
    path: Path
    step: CertifiedStep

    def to_wire(self) -> JsonObject:
        """The proof as JSON."""
        return json_object(
            {
                **_head("inclusion"),
                "root": self.root,
                "session": self.session,
                "events": self.events.to_wire(),
                "requests": self.requests.to_wire(),
                "index": self.index,
                "path": json_array(self.path),
                "step": self.step.to_wire(),
            }
        )

    def to_text(self) -> str:
        """The proof's JSON text, one line."""
        return text_of(self.to_wire()) + "\n"


@attrs.frozen
class Head:
    """One state of a log: its root, and the two trees it is made of."""

    root: str
    events: Tree
    requests: Tree

    def to_wire(self) -> JsonObject:
        """The state as JSON."""
        trees = {"events": self.events.to_wire(), "requests": self.requests.to_wire()}
        return json_object({"root": self.root, **trees})


@attrs.frozen
class ConsistencyProof:
    """That the log with the new root begins with all events of the log with the old one.

    `session` is the digest of the session header, the same for both.

    Source:  docs/reference/certificates.md, "Proofs".
    """

    session: str
    old: Head
    new: Head
    path: Path

    @property
    def root(self) -> str:
        """The root of the longer log."""
        return self.new.root

    def to_wire(self) -> JsonObject:
        """The proof as JSON."""
        return json_object(
            {
                **_head("consistency"),
                "session": self.session,
                "old": self.old.to_wire(),
                "new": self.new.to_wire(),
                "path": json_array(self.path),
            }
        )

    def to_text(self) -> str:
        """The proof's JSON text, one line."""
        return text_of(self.to_wire()) + "\n"


Proof: TypeAlias = InclusionProof | ConsistencyProof


def _head(kind: Literal["inclusion", "consistency"]) -> dict[str, AnyJson]:
    return {"format": FORMAT, "version": VERSION, "rules": RULES, "kind": kind}


# ---- making --------------------------------------------------------------------------------------


def prove_request(log: Session | Certificate, seq: int) -> Result[InclusionProof, Rejection]:
    """The proof that the request of the step/start at `seq` belongs to the log.

    A certificate is enough to make one of.

    Errors:  PROOF_INVALID with reason `absent` when no request was sent there.
    Law:     proofs_hold_for_their_request_alone.
    """
    certificate = log if isinstance(log, Certificate) else certify(log)
    steps = certificate.steps
    found = [place for place, step in enumerate(steps) if is_seq(seq) and step.seq == seq]
    if not found:
        named = f"seq {seq}" if is_seq(seq) else "what is no seq"
        return Failure(proof_invalid(f"no step starts at {named}", reason="absent"))
    (index,) = found
    path = inclusion_path([step.leaf for step in steps], index)
    return Success(
        InclusionProof(
            certificate.root,
            session_digest(certificate.session).hex(),
            certificate.events,
            certificate.requests,
            index,
            _hex(path),
            steps[index],
        )
    )


def prove_extension(session: Session, old_size: int) -> Result[ConsistencyProof, Rejection]:
    """The proof that the session extends the log it was with its first `old_size` events.

    Errors:  PROOF_INVALID with reason `absent` when it never had that many.
    Law:     extensions_are_proved_and_nothing_else.
    """
    leaves = leaves_of(session)
    if not is_seq(old_size) or old_size > len(leaves):
        named = f"{old_size} events" if is_seq(old_size) else "a size that is none"
        what = f"a log of {len(leaves)} events does not extend one of {named}"
        return Failure(proof_invalid(what, reason="absent"))
    old = certificate_over(session.prefix(old_size), leaves[:old_size])
    new = certificate_over(session, leaves)
    path = _hex(consistency_path(leaves, old_size))
    digest = session_digest(session.header).hex()
    return Success(ConsistencyProof(digest, _head_of(old), _head_of(new), path))


def _head_of(certificate: Certificate) -> Head:
    return Head(certificate.root, certificate.events, certificate.requests)


def _hex(path: tuple[bytes, ...]) -> Path:
    return tuple(node.hex() for node in path)


# ---- checking ------------------------------------------------------------------------------------


@attrs.frozen
class Checked:
    """A proof that holds, and for which roots.

    `root_is_given` and `old_root_is_given` say whether that root came from whoever asked. One
    that came with the proof alone shows only that the proof agrees with itself.
    """

    proof: Proof
    root_is_given: bool
    old_root_is_given: bool = False

    @property
    def kind(self) -> str:
        """`inclusion` or `consistency`."""
        return "inclusion" if isinstance(self.proof, InclusionProof) else "consistency"

    @property
    def is_anchored(self) -> bool:
        """Whether every root of the proof came from whoever asked."""
        inclusion = isinstance(self.proof, InclusionProof)
        return self.root_is_given and (inclusion or self.old_root_is_given)


def check_proof(
    proof: object, root: str | None = None, old_root: str | None = None
) -> Result[Checked, Rejection]:
    """What a proof shows: it holds, for these roots; or why it shows nothing.

    `proof` is a text, a JSON value, or a proof as `prove_request` makes it. `root` is the root
    that the log is known by, `old_root` that of the earlier log: both in lower-case hex.

    Errors:  of a text those of JSON; PROOF_INVALID, whose reason is `shape` or `unsupported`
             for what is no proof, `inconsistent` or `false` for one that does not hold;
             OTHER_ROOT for one that holds, but for another root than the given one.
    Law:     proofs_hold_for_their_request_alone, extensions_are_proved_and_nothing_else.
    """
    for given in (root, old_root):
        if given is not None and not isinstance(given, str):
            raise TypeError("a root is a string of 64 hex digits")
    if isinstance(proof, str | bytes):
        return read_document(proof).bind(lambda value: _checked(value, root, old_root))
    if isinstance(proof, InclusionProof | ConsistencyProof):
        return _checked(proof.to_wire(), root, old_root)
    return _checked(proof, root, old_root)


def _checked(wire: object, root: str | None, old_root: str | None) -> Result[Checked, Rejection]:
    try:
        made = _read(frozen_document(wire))
        if isinstance(made, InclusionProof):
            _check_inclusion(made)
        else:
            _check_consistency(made)
    except Unfit as odd:
        return Failure(proof_invalid(odd.what, odd.path, reason=odd.reason))
    other = _other_root(made, root, old_root)
    if other is not None:
        return Failure(other_root(other))
    return Success(Checked(made, root is not None, old_root is not None))


def digests_of(request: object) -> RequestDigests | None:
    """The digests of a request given as a JSON value, from scratch; None when it is none.

    So whoever has a request's text and a proof can see that the proof is about that request.
    Its `messages` stand last, as `PastRequest.request` has them.
    """
    value = freeze(request)
    if not isinstance(value, JsonObject) or next(reversed(value), None) != "messages":
        return None
    messages: AnyJson = value["messages"]
    if not isinstance(messages, JsonArray):
        return None
    chain = EMPTY_CHAIN
    for message in messages:
        chain = chained(chain, message_digest(message))
    parts = {key: part for key, part in value.items() if key != "messages"}
    header = header_digest(json_object(parts))
    return RequestDigests(header.hex(), chain.hex(), request_digest(header, chain).hex())


def _read(value: AnyJson) -> Proof:
    check_kind(value, FORMAT)
    kind: AnyJson = value.get("kind")
    if kind == "inclusion":
        fields = members(value, "$", _INCLUSION)
        return InclusionProof(
            hash_at(fields["root"], "$.root"),
            hash_at(fields["session"], "$.session"),
            tree_at(fields["events"], "$.events"),
            tree_at(fields["requests"], "$.requests"),
            whole(fields["index"], "$.index"),
            _path_at(fields["path"]),
            step_at(fields["step"], "$.step"),
        )
    if kind == "consistency":
        fields = members(value, "$", _CONSISTENCY)
        return ConsistencyProof(
            hash_at(fields["session"], "$.session"),
            _head_at(fields["old"], "$.old"),
            _head_at(fields["new"], "$.new"),
            _path_at(fields["path"]),
        )
    raise Unfit("its kind is neither inclusion nor consistency", "$.kind")


def _head_at(value: AnyJson, path: str) -> Head:
    fields = members(value, path, ("root", "events", "requests"))
    return Head(
        hash_at(fields["root"], f"{path}.root"),
        tree_at(fields["events"], f"{path}.events"),
        tree_at(fields["requests"], f"{path}.requests"),
    )


def _path_at(value: AnyJson) -> Path:
    nodes = array(value, "$.path")
    return tuple(hash_at(node, f"$.path[{place}]") for place, node in enumerate(nodes))


def _check_inclusion(proof: InclusionProof) -> None:
    events, requests, step = proof.events, proof.requests, proof.step
    _check_sizes(events, requests, "$")
    if proof.index >= requests.size:
        raise Unfit(f"there is no request {proof.index} among {requests.size}", "$.index", "false")
    if step.seq >= events.size:
        what = f"there is no seq {step.seq} in a log of {events.size} events"
        raise Unfit(what, "$.step.seq", "false")
    path = list(map(bytes.fromhex, proof.path))
    reached = root_from_path(step.leaf, proof.index, requests.size, path)
    if reached is None:
        raise Unfit("its path has not the length that it must have", "$.path", "false")
    if reached.hex() != requests.root:
        raise Unfit("its path does not lead to the root of the requests", "$.path", "false")
    if log_root(bytes.fromhex(proof.session), events, requests) != proof.root:
        raise Unfit("its parts do not give its root", "$.root", "false")


def _check_consistency(proof: ConsistencyProof) -> None:
    old, new, session = proof.old, proof.new, bytes.fromhex(proof.session)
    for name, head in (("old", old), ("new", new)):
        _check_sizes(head.events, head.requests, f"$.{name}")
        if log_root(session, head.events, head.requests) != head.root:
            raise Unfit("its parts do not give its root", f"$.{name}.root", "false")
    path = list(map(bytes.fromhex, proof.path))
    old_root, new_root = bytes.fromhex(old.events.root), bytes.fromhex(new.events.root)
    if not is_consistent(old.events.size, old_root, new.events.size, new_root, path):
        raise Unfit("its path does not lead from the old events to the new", "$.path", "false")
    if old.events.size == new.events.size and old != new:
        raise Unfit("the same events have other requests", "$.new.requests", "false")
    if old.requests.size > new.requests.size:
        raise Unfit("the later log has fewer requests", "$.new.requests", "false")


def _check_sizes(events: Tree, requests: Tree, path: str) -> None:
    if requests.size > events.size:  # each begins with an event of its own
        raise Unfit("there are more requests than events", f"{path}.requests.size", "false")


def _other_root(proof: Proof, root: str | None, old_root: str | None) -> str | None:
    """For which other root a proof holds than for a given one; None when there is none."""
    if root is not None and proof.root != root:
        return f"holds for another root: {proof.root}, given was {printable(root, 64)}"
    if old_root is None:
        return None
    if isinstance(proof, InclusionProof):
        return "holds, but a proof of a request has no old root"
    if proof.old.root != old_root:
        return f"holds for another old root: {proof.old.root}, given was {printable(old_root, 64)}"
    return None
