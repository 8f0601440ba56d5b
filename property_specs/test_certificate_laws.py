"""Certificates: what they are made of, what breaks them, and what can be proved of them."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import dsh_fp
from dsh_fp.core import certificates, merkle, proofs, verifying
from property_specs.core import Core, Log
from property_specs.generators.json_texts import spelled
from property_specs.generators.log_files import session_headers
from property_specs.generators.logs import loose_logs, valid_logs
from property_specs.models import certificates as model
from property_specs.models import merkle as tree
from property_specs.models.json_values import exact
from property_specs.profiles import often
from property_specs.test_request_laws import logs_with_steps, loose_steps

LEAVES = [hashlib.sha256(bytes([number])).digest() for number in range(90)]


def _session(core: Core, log: Log, header: dict[str, Any] | None = None) -> dsh_fp.Session:
    """The session of a log that is accepted."""
    session = core.accept(log, header)
    assert isinstance(session, dsh_fp.Session)
    return session


# ---- trees ---------------------------------------------------------------------------------------


@given(size=st.integers(0, 90))
def test_merkle_roots_match_the_recursive_tree(size: int) -> None:
    """The root of any number of leaves is that of the tree the RFC defines by recursion.

    Generator: up to 90 leaves, so that trees of every shape of seven levels come up.
    Oracle:    RFC 6962 section 2.1, on lists.
    Catches:   a last leaf that is doubled or lost, the two kinds of hash taken for one.
    Broken:    the last of an odd number is joined with itself.
    """
    assert merkle.root_of(LEAVES[:size]) == tree.root(LEAVES[:size])


@given(data=st.data(), size=st.integers(1, 90))
@often(2)
def test_merkle_paths_prove_their_leaf_alone(data: st.DataObject, size: int) -> None:
    """A path is the RFC's, as short as the tree is high, and leads to the root from its leaf only.

    Generator: a leaf of a tree of up to 90; then another leaf, place, size, or a bent path.
    Oracle:    the RFC's recursion; the root.
    Catches:   left and right exchanged, a path too long or too short that is taken.
    Broken:    what is left of a path when the top is reached is ignored.
    """
    leaves = LEAVES[:size]
    index = data.draw(st.integers(0, size - 1))
    path = merkle.inclusion_path(leaves, index)
    root = tree.root(leaves)

    assert list(path) == tree.path(index, leaves)
    assert len(path) <= (size - 1).bit_length()
    assert merkle.root_from_path(leaves[index], index, size, path) == root
    other = data.draw(st.sampled_from([*range(-1, size + 1)]))
    if other != index:
        assert merkle.root_from_path(leaves[index], other, size, path) != root
        assert merkle.root_from_path(LEAVES[other], index, size, path) != root
    bent = data.draw(_bent(path))
    assert merkle.root_from_path(leaves[index], index, size, bent) != root


@st.composite
def _bent(draw: st.DrawFn, path: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """A path that is not that one: a node more, less, turned, exchanged, or cut."""
    place = draw(st.integers(0, len(path)))
    head, rest = path[:place], path[place:]
    ways = [(*head, LEAVES[0], *rest)]
    if rest:
        ways += [(*head, *rest[1:]), (*head, rest[0][::-1], *rest[1:])]
        ways += [(*head, rest[0][:-1], *rest[1:]), (*head, b"\0" + rest[0], *rest[1:])]
    if len(rest) > 1:
        ways.append((*head, rest[1], rest[0], *rest[2:]))
    return draw(st.sampled_from(ways))


@given(data=st.data(), size=st.integers(0, 90))
@often(2)
def test_merkle_consistency_holds_for_prefixes_alone(data: st.DataObject, size: int) -> None:
    """A path shows a tree to begin with each of its prefixes, and with nothing else.

    Generator: every tree of up to 90 leaves and a prefix; then other sizes, roots, bent paths.
    Oracle:    the RFC's recursion; roots of the prefix and the whole.
    Catches:   empty prefixes and whole ones, a prefix that is a full tree, a root never looked at.
    Broken:    the root that a path leads to for the old tree is not compared.
    """
    leaves = LEAVES[:size]
    old_size = data.draw(st.integers(0, size))
    path = merkle.consistency_path(leaves, old_size)
    old, new = tree.root(leaves[:old_size]), tree.root(leaves)

    assert list(path) == (tree.consistency(old_size, leaves) if 0 < old_size < size else [])
    assert len(path) <= 1 + max(size - 1, 0).bit_length()
    assert merkle.is_consistent(old_size, old, size, new, path)
    other = tree.root(LEAVES[1 : old_size + 1]) if old_size else LEAVES[5]
    assert not merkle.is_consistent(old_size, other, size, new, path)
    if old_size:
        assert not merkle.is_consistent(old_size, old, size, LEAVES[5], path)
        wrong = data.draw(st.integers(-1, size + 1).filter(lambda given: given != old_size))
        assert not merkle.is_consistent(wrong, old, size, new, path)
    assert not merkle.is_consistent(old_size, old, size, new, data.draw(_bent(path)))


# ---- certificates --------------------------------------------------------------------------------


@given(header=session_headers(), log=logs_with_steps() | loose_steps() | valid_logs())
def test_certificates_match_their_definition(core: Core, header: dict[str, Any], log: Log) -> None:
    """Every part of a certificate is what its definition gives, the text being that of its value.

    Generator: logs with steps, loose ones and session headers of all kinds.
    Oracle:    hashlib over the naive refolding, trees by recursion.
    Catches:   a size or a header left out of the root, steps digested in another order of keys.
    Broken:    the requests are left out of the root.
    """
    made = certificates.certify(_session(core, log, header))

    told = dsh_fp.thaw(made.to_wire())
    assert set(told.pop("content")) == {"content", "events"}
    assert exact(told) == exact(model.certificate(_known(header), log))
    assert json.loads(made.to_text()) == dsh_fp.thaw(made.to_wire())


def _known(header: dict[str, Any]) -> dict[str, Any]:
    order = ("version", "id", "createdAt", "cwd", "parentSession", "seedLength")
    return {key: header[key] for key in order if key in header}


@given(log=logs_with_steps() | loose_steps(), data=st.data())
@often(0.5)
def test_certificate_survives_respelling(core: Core, log: Log, data: st.DataObject) -> None:
    """A log of other spellings is still the certified one: escapes, spaces, order of envelopes.

    Generator: each line of a log file spelled anew, or by the standard library in ASCII.
    Oracle:    the certificate of the log as it was.
    Catches:   bytes digested as they stand in the file.
    Broken:    an event that keeps its line is digested by it.
    """
    made = certificates.certify(_session(core, log, {"id": "s"}))
    lines = [{"type": "session", "version": 0, "id": "s", "createdAt": 0}, *log]
    if data.draw(st.booleans()):
        texts = [json.dumps(line, separators=(", ", ": ")) for line in lines]
    else:
        # A line ends at a line feed, so none may stand between its tokens.
        texts = [data.draw(spelled(line)).replace("\n", " ") for line in lines]
    content = "".join(f"{text}\n" for text in texts).encode()
    again = dsh_fp.read(io.BytesIO(content)).unwrap().session

    assert verifying.compare_certificate(again, made).holds
    assert certificates.certify(again) == made


@st.composite
def _changed(draw: st.DrawFn, log: Log) -> tuple[Log, int]:
    """A log with one event changed, put in or left out, and the seq of the first that differs."""
    seq = draw(st.integers(0, len(log) - 1))
    event = log[seq]
    ways: list[Log] = [
        [*log[:seq], {**event, "time": event["time"] + 1}, *log[seq + 1 :]],
        [*log[:seq], {**event, "data": [event["data"]]}, *log[seq + 1 :]],
        [*log[:seq], {**event, "type": event["type"] + "~"}, *log[seq + 1 :]],
        log[:seq],
    ]
    turned = _turned(event["data"])
    if turned is not None:
        ways.append([*log[:seq], {**event, "data": turned}, *log[seq + 1 :]])
    more = {"type": "x", "seq": len(log), "time": 0, "data": 1}
    changes = [*((way, seq) for way in ways), ([*log, more], len(log))]
    chosen: tuple[Log, int] = draw(st.sampled_from(changes))
    return chosen


def _turned(data: Any) -> Any:
    """A payload of other order: the same value to `==`, not to a model that reads it."""
    if isinstance(data, dict) and len(data) > 1:
        turned = dict(reversed(data.items()))
        digits = any(key.isdigit() for key in data)  # these keep their own order
        return None if digits else turned
    return None


@given(log=logs_with_steps() | loose_logs(), data=st.data())
@often(2)
def test_any_change_breaks_the_certificate(core: Core, log: Log, data: st.DataObject) -> None:
    """One event changed, put in or left out: the log differs, and the first such event is named.

    Generator: a change of time, payload, order of keys, type, or length. Leaves out logs that
               the change makes inadmissible: those cannot be read at all.
    Oracle:    the place of the change.
    Catches:   a field that no digest covers, a longer log that passes for the certified one.
    Broken:    only the roots of the events are compared, and only those both have.
    """
    if not log:
        return
    made = certificates.certify(_session(core, log))
    changed, seq = data.draw(_changed(log))
    session = core.accept(changed)
    if not isinstance(session, dsh_fp.Session):
        return

    told = verifying.compare_certificate(session, made)

    first = next(mismatch for mismatch in told.mismatches if mismatch.part == "event")
    assert first.seq == seq
    assert told.verdict == ("extends" if len(changed) > len(log) else "differs")
    assert certificates.certify(session).root != made.root


@given(log=logs_with_steps(), number=st.integers(0, 30))
def test_changes_are_named(core: Core, log: Log, number: int) -> None:
    """The first request whose text changed with an event is the one that is named.

    Generator: logs_with_steps, one message's words changed.
    Oracle:    the texts of all requests, one by one.
    Catches:   the last request named, one that only stands behind the change.
    Broken:    requests are compared from the last.
    """
    texts = [event["seq"] for event in log if event["type"] in ("user/message", "request/header")]
    if not texts:
        return
    session = _session(core, log)
    seq = texts[number % len(texts)]
    data = log[seq]["data"]
    content = [{"type": "text", "text": "changed to this"}]
    if "header" in data:
        data = {**data, "header": {**data["header"], "system": "changed to this"}}
    else:
        data = {**data, "content": content}
    other = _session(core, [*log[:seq], {**log[seq], "data": data}, *log[seq + 1 :]])

    told = verifying.compare_certificate(other, certificates.certify(session))

    pairs = zip(core.requests(session), core.requests(other), strict=True)
    expected = [one["seq"] for one, two in pairs if exact(one) != exact(two)]
    named = [mismatch.seq for mismatch in told.mismatches if mismatch.part == "request"]
    assert named == expected[:1]


@given(header=session_headers(), log=logs_with_steps() | loose_steps(), data=st.data())
@often(2)
def test_certificate_decode_inverts_encode(
    core: Core, header: dict[str, Any], log: Log, data: st.DataObject
) -> None:
    """A certificate read from its text is the same; with any part changed it is refused.

    Generator: a certificate, then one leaf of its JSON value replaced, a key taken or added.
    Oracle:    the certificate. Leaves out content and marks, which only a log can check.
    Catches:   a part that is not covered by the root, shapes let in.
    Broken:    the steps are not hashed again.
    """
    made = certificates.certify(_session(core, log, header))
    wire = json.loads(made.to_text())
    again = certificates.certificate_of(made.to_text())
    assert again.unwrap() == made

    content, marks = wire.pop("content"), wire["events"].pop("marks")
    bent = data.draw(_with_one_change(wire))
    bent["content"] = content
    if isinstance(bent.get("events"), dict):
        bent["events"]["marks"] = marks
    refusal = certificates.certificate_of(bent).failure()
    assert refusal.code is dsh_fp.Code.CERTIFICATE_INVALID


@st.composite
def _with_one_change(draw: st.DrawFn, wire: dict[str, Any]) -> dict[str, Any]:
    """A JSON object with one value of it replaced by another, or a key more, or one less."""
    copy: dict[str, Any] = json.loads(json.dumps(wire))
    places: list[tuple[Any, Any]] = []
    containers: list[Any] = [copy]
    for here in containers:  # which grows meanwhile
        for key in list(here) if isinstance(here, dict) else range(len(here)):
            places.append((here, key))
            if isinstance(here[key], dict | list):
                containers.append(here[key])
    here, key = draw(st.sampled_from(places))
    way = draw(st.sampled_from(["other", "other", "other", "more", "less"]))
    if way == "less":
        del here[key]
    elif way == "more" and isinstance(here, dict):
        here["more"] = 1
    else:
        here[key] = draw(st.sampled_from(_others(here[key])))
    return copy


def _others(value: Any) -> list[Any]:
    odd: list[Any] = [None, True, -1, 0.5, "", [], {}, "0" * 64, 2**53, 7]
    if isinstance(value, str):
        odd += [
            value + "0",
            value.swapcase() + " ",
            value[:-1] + ("1" if value[-1:] == "0" else "0"),
        ]
    if isinstance(value, int):
        odd += [value + 1, str(value)]
    return [other for other in odd if exact(other) != exact(value)]


# ---- proofs --------------------------------------------------------------------------------------


@given(log=logs_with_steps(), data=st.data())
@often(2)
def test_proofs_hold_for_their_request_alone(core: Core, log: Log, data: st.DataObject) -> None:
    """Each request of a log is proved in few hashes; another request, place or root is not.

    Generator: a step of logs_with_steps; then its proof with one value changed, or another
               step's entry put in its place.
    Oracle:    the root of the log.
    Catches:   an entry, a size or a root that the path does not cover.
    Broken:    the root is not made again of its parts.
    """
    session = _session(core, log)
    steps = core.requests(session)
    made = certificates.certify(session)
    seq = data.draw(st.sampled_from([step["seq"] for step in steps]))
    proof = proofs.prove_request(session, seq).unwrap()
    checked = proofs.check_proof(json.loads(proof.to_text()), made.root).unwrap()

    assert checked.is_anchored
    assert checked.proof == proof == proofs.prove_request(made, seq).unwrap()
    assert len(proof.path) <= (len(steps) - 1).bit_length()
    bent = data.draw(_with_one_change(dsh_fp.thaw(proof.to_wire())))
    assert proofs.check_proof(bent).failure().code is dsh_fp.Code.PROOF_INVALID
    for step in made.steps:
        if step.seq != seq:
            other = {**dsh_fp.thaw(proof.to_wire()), "step": step.to_wire()}
            assert proofs.check_proof(other).failure().data == {"reason": "false"}
    assert proofs.check_proof(proof, "0" * 64).failure().data == {"reason": "other-root"}


@given(log=valid_logs(), data=st.data())
@often(2)
def test_extensions_are_proved_and_nothing_else(core: Core, log: Log, data: st.DataObject) -> None:
    """A log is proved to extend each of its prefixes in few hashes, and no other log.

    Generator: valid_logs and every prefix; then a proof with one value changed.
    Oracle:    the roots of the prefix and the whole.
    Catches:   empty prefixes, whole ones, heads whose parts do not give their roots.
    Broken:    the path between the two trees is not followed.
    """
    session = _session(core, log)
    size = data.draw(st.integers(0, len(log)))
    roots = [certificates.certify(one).root for one in (session, session.prefix(size))]
    proof = proofs.prove_extension(session, size).unwrap()
    wire = json.loads(proof.to_text())

    assert proofs.check_proof(wire, *roots).unwrap().is_anchored
    assert len(proof.path) <= 1 + max(len(log) - 1, 0).bit_length()
    bent = data.draw(_with_one_change(wire))
    assert proofs.check_proof(bent).failure().code is dsh_fp.Code.PROOF_INVALID
    assert proofs.prove_extension(session, len(log) + 1).failure().data == {"reason": "absent"}
    if size:
        changed = _session(core, [{**log[0], "time": log[0]["time"] + 1}, *log[1:size]])
        other = certificates.certify(changed).root
        assert proofs.check_proof(wire, roots[0], other).failure().data == {"reason": "other-root"}
