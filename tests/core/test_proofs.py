"""Proofs: checked without a log, for a root, and refused when they are bent."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Code, past_requests, thaw
from dsh_fp.core.certificates import certify, log_root
from dsh_fp.core.merkle import EMPTY_ROOT
from dsh_fp.core.proofs import (
    ConsistencyProof,
    InclusionProof,
    check_proof,
    digests_of,
    prove_extension,
    prove_request,
)
from tests.core.making import header, note, replayed, step_end, step_start, turn_start, user


def many_steps(count: int) -> list[dict[str, Any]]:
    """A log of one turn with so many steps."""
    log = [turn_start(0), header(1)]
    for step in range(1, count + 1):
        log += [
            step_start(len(log), step=step),
            user(len(log) + 1),
            step_end(len(log) + 2, step=step),
        ]
    return log


SESSION = replayed(*many_steps(5))
CERTIFICATE = certify(SESSION)
PROOF = prove_request(SESSION, CERTIFICATE.steps[2].seq).unwrap()
EXTENSION = prove_extension(SESSION, 6).unwrap()
ZERO = "0" * 64


def bent(proof: InclusionProof | ConsistencyProof, *path: Any, to: Any) -> tuple[str | None, str]:
    """Where and why a proof is refused in which another value stands at a path."""
    wire = thaw(proof.to_wire())
    here = wire
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = to
    refusal = check_proof(wire).failure()
    assert refusal.code is Code.PROOF_INVALID
    return refusal.path, str(refusal.data["reason"])


# ---- inclusion -----------------------------------------------------------------------------------


def test_a_proof_says_which_request_and_for_which_root() -> None:
    """With the root that is trusted it is anchored, without one it only agrees with itself."""
    loose = check_proof(thaw(PROOF.to_wire())).unwrap()
    anchored = check_proof(PROOF, CERTIFICATE.root).unwrap()

    assert check_proof(PROOF.to_text(), CERTIFICATE.root).unwrap() == anchored
    assert (loose.kind, loose.is_anchored) == ("inclusion", False)
    assert anchored.is_anchored
    assert anchored.proof == PROOF
    assert PROOF.step == CERTIFICATE.steps[2]
    assert PROOF.root == CERTIFICATE.root


def test_a_proof_of_another_root_is_refused() -> None:
    """It holds, but for another log; the sentence says for which."""
    refusal = check_proof(PROOF, ZERO).failure()

    assert (refusal.code, refusal.data) == (Code.OTHER_ROOT, {"reason": "other-root"})
    assert refusal.message == (
        f"the proof holds for another root: {CERTIFICATE.root}, given was {ZERO}"
    )


def test_only_a_step_can_be_proved() -> None:
    """Not another event, not what is no seq."""
    for seq in (0, 99, -1, True, "2"):
        refusal = prove_request(SESSION, seq).failure()  # type: ignore[arg-type]  # the point
        assert (refusal.code, refusal.data) == (Code.PROOF_INVALID, {"reason": "absent"})
    second = replayed(note(0), step_start(1))
    assert prove_request(second, 1).unwrap().index == 0
    assert prove_request(second, True).failure().data == {"reason": "absent"}


SHAPE, UNSUPPORTED, FALSE = "shape", "unsupported", "false"


@pytest.mark.parametrize(
    ("path", "to", "where", "why"),
    [
        (["format"], "dsh_fp certificate", "$.format", SHAPE),
        (["version"], 2, "$.version", UNSUPPORTED),
        (["rules"], "dsh_fp/9", "$.rules", UNSUPPORTED),
        (["kind"], "consistency", "$.old", SHAPE),
        (["kind"], "both", "$.kind", SHAPE),
        (["kind"], None, "$.kind", SHAPE),
        (["trusted"], True, "$", SHAPE),
        (["root"], ZERO, "$.root", FALSE),
        (["root"], CERTIFICATE.root.upper(), "$.root", SHAPE),
        (["session"], ZERO, "$.root", FALSE),
        (["events", "size"], 18, "$.root", FALSE),
        (["events", "size"], True, "$.events.size", SHAPE),
        (["events", "size"], 5, "$.step.seq", FALSE),
        (["events", "size"], 4, "$.requests.size", FALSE),
        (["events", "root"], ZERO, "$.root", FALSE),
        (["requests", "size"], 6, "$.root", FALSE),
        (["requests", "size"], 17, "$.path", FALSE),
        (["requests", "size"], 2, "$.index", FALSE),
        (["requests", "root"], ZERO, "$.path", FALSE),
        (["index"], 3, "$.path", FALSE),
        (["index"], 5, "$.index", FALSE),
        (["index"], 2.5, "$.index", SHAPE),
        (["index"], True, "$.index", SHAPE),
        (["path"], [], "$.path", FALSE),
        (["path"], [ZERO] * 3, "$.path", FALSE),
        (["path"], [ZERO] * 4, "$.path", FALSE),
        (["path"], [ZERO] * 1000, "$.path", FALSE),
        (["path"], {}, "$.path", SHAPE),
        (["path", 0], ZERO[2:], "$.path[0]", SHAPE),
        (["path", 0], None, "$.path[0]", SHAPE),
        (["step", "turn"], 2, "$.path", FALSE),
        (["step", "turn"], True, "$.path", FALSE),
        (["step", "seq"], 11, "$.path", FALSE),
        (["step", "request"], ZERO, "$.step.request", "inconsistent"),
        (["step"], thaw(CERTIFICATE.steps[1].to_wire()), "$.path", FALSE),
        (["step"], None, "$.step", SHAPE),
    ],
)
def test_a_bent_proof_of_a_request_is_refused(path: Any, to: Any, where: str, why: str) -> None:
    """Where it is bent, and whether that is its shape or what it claims."""
    assert bent(PROOF, *path, to=to) == (where, why)


@pytest.mark.parametrize("wire", [None, 7, [], {}, CERTIFICATE, CERTIFICATE.to_text(), "7"])
def test_what_is_no_proof_is_refused(wire: object) -> None:
    """Any Python value may be handed in."""
    assert check_proof(wire).failure().code is Code.PROOF_INVALID


def test_a_root_is_text() -> None:
    """Bytes are the caller's mistake."""
    with pytest.raises(TypeError, match="64 hex digits"):
        check_proof(PROOF, b"\0" * 32)  # type: ignore[arg-type]  # that is the point


def test_proofs_grow_with_the_digits_of_the_log() -> None:
    """Ten times the requests, three or four hashes more."""
    lengths = []
    for count in (1, 2, 10, 100, 1000):
        session = replayed(*many_steps(count))
        made = certify(session)
        some = made.steps[:: max(count // 5, 1)]
        lengths.append(max(len(prove_request(made, step.seq).unwrap().path) for step in some))

    assert lengths == [0, 1, 4, 7, 10]


def test_whoever_has_the_request_can_see_that_it_is_meant() -> None:
    """The digests of a request from scratch are those of the step."""
    for past, step in zip(past_requests(SESSION), CERTIFICATE.steps, strict=True):
        request = past.request.unwrap()
        assert digests_of(request) == digests_of(thaw(request)) == step.digests
        turned = {"messages": request["messages"], "model": request["model"]}
        assert digests_of(turned) is None
    odd: list[Any] = [None, [], {}, {"messages": 1}, {"messages": {}}, float("nan")]
    assert [digests_of(value) for value in odd] == [None] * len(odd)


# ---- extension -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(len(SESSION) + 1))
def test_every_prefix_is_proved_to_be_extended(size: int) -> None:
    """The empty one and the whole one too."""
    proof = prove_extension(SESSION, size).unwrap()
    old = certify(SESSION.prefix(size)).root

    checked = check_proof(proof, CERTIFICATE.root, old).unwrap()

    assert (checked.kind, checked.is_anchored) == ("consistency", True)
    assert (proof.old.events.size, proof.root) == (size, CERTIFICATE.root)


def test_both_roots_must_be_the_given_ones() -> None:
    """One of them alone leaves the proof hanging; a proof of a request has no old root."""
    old = EXTENSION.old.root

    assert not check_proof(EXTENSION, CERTIFICATE.root).unwrap().is_anchored
    assert not check_proof(EXTENSION, None, old).unwrap().is_anchored
    earlier = check_proof(EXTENSION, CERTIFICATE.root, ZERO).failure()
    later = check_proof(EXTENSION, old, CERTIFICATE.root).failure()
    none = check_proof(PROOF, CERTIFICATE.root, old).failure()
    assert {one.code for one in (earlier, later, none)} == {Code.OTHER_ROOT}
    assert f"another old root: {old}, given was {ZERO}" in earlier.message
    assert f"another root: {CERTIFICATE.root}, given was {old}" in later.message
    assert "has no old root" in none.message


@pytest.mark.parametrize(
    ("path", "to", "where", "why"),
    [
        (["session"], ZERO, "$.old.root", FALSE),
        (["old", "root"], ZERO, "$.old.root", FALSE),
        (["new", "root"], ZERO, "$.new.root", FALSE),
        (["old", "events", "size"], 5, "$.old.root", FALSE),
        (["old", "events", "size"], False, "$.old.events.size", SHAPE),
        (["old", "events"], None, "$.old.events", SHAPE),
        (["new", "requests", "size"], 99, "$.new.requests.size", FALSE),
        (["path"], [], "$.path", FALSE),
        (["path"], [ZERO] * 200, "$.path", FALSE),
        (["path", 0], ZERO, "$.path", FALSE),
        (["index"], 0, "$", SHAPE),
        (["old"], thaw(EXTENSION.to_wire()["new"]), "$.path", FALSE),
    ],
)
def test_a_bent_proof_of_an_extension_is_refused(path: Any, to: Any, where: str, why: str) -> None:
    """Where it is bent, and whether that is its shape or what it claims."""
    assert bent(EXTENSION, *path, to=to) == (where, why)


def with_head(side: str, head: dict[str, Any]) -> dict[str, Any]:
    """The wire of a proof that the whole log extends itself, with another head of a true root."""
    wire: dict[str, Any] = thaw(prove_extension(SESSION, len(SESSION)).unwrap().to_wire())
    wire[side] |= head
    made = ConsistencyProof(wire["session"], EXTENSION.old, EXTENSION.new, ())
    assert made.session == EXTENSION.session
    from dsh_fp.core.certificates import Tree

    trees = [Tree(**wire[side][name]) for name in ("events", "requests")]
    wire[side]["root"] = log_root(bytes.fromhex(wire["session"]), *trees)
    return wire


def test_the_same_events_have_the_same_requests() -> None:
    """Two logs that agree in all events and in no request cannot both be honest."""
    wire = with_head("new", {"requests": {"size": 5, "root": ZERO}})

    assert check_proof(wire).failure().path == "$.new.requests"


def test_a_later_log_has_no_fewer_requests() -> None:
    """A step once begun stays begun."""
    wire = thaw(EXTENSION.to_wire())
    fewer = with_head("new", {"requests": {"size": 1, "root": ZERO}})
    more = with_head("old", {"requests": {"size": 99, "root": ZERO}})

    wire["new"] = fewer["new"]
    assert check_proof(wire).failure().path == "$.new.requests"
    assert check_proof(more).failure().path == "$.old.requests.size"


def test_an_empty_log_has_one_root_of_events_alone() -> None:
    """An old log of no events cannot be any log one likes."""
    wire = thaw(prove_extension(SESSION, 0).unwrap().to_wire())
    assert wire["old"]["events"] == {"size": 0, "root": EMPTY_ROOT.hex()}

    bare = with_head(
        "old", {"events": {"size": 0, "root": ZERO}, "requests": {"size": 0, "root": ZERO}}
    )

    assert check_proof(bare).failure().path == "$.path"


@pytest.mark.parametrize("size", [-1, len(SESSION) + 1, True, "3", None])
def test_a_log_extends_only_what_it_was(size: Any) -> None:
    """A size that it never had is no prefix of it."""
    assert prove_extension(SESSION, size).failure().data == {"reason": "absent"}


def test_proofs_of_extension_are_short_as_well() -> None:
    """A thousand events need no more than eleven hashes."""
    session = replayed(*(note(seq) for seq in range(1000)))

    lengths = {len(prove_extension(session, size).unwrap().path) for size in (1, 333, 512, 999)}

    assert max(lengths) <= 11
