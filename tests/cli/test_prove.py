"""`dsh-fp prove` and `dsh-fp check-proof`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dsh_fp import read, unwrap
from dsh_fp.core.certificates import certify
from tests.cli.logs import GARDEN, Log, document, run, write
from tests.cli.test_certify import PRIVATE, PUBLIC, planted

ROOT = certify(unwrap(read(GARDEN)).session).root
ZERO = "0" * 64


@pytest.fixture
def proof(tmp_path: Path) -> str:
    """The path of a proof that a request belongs to the garden."""
    return write(tmp_path, run("prove", GARDEN, "--request", "3.2").stdout_bytes, "proof")


@pytest.fixture
def earlier(tmp_path: Path) -> str:
    """The path of the certificate of the garden's first 59 events."""
    lines = Path(GARDEN).read_bytes().splitlines(keepends=True)
    log = write(tmp_path, b"".join(lines[:60]), "garden.jsonl")
    return write(tmp_path, run("certify", log).stdout_bytes, "earlier")


# ---- a request -----------------------------------------------------------------------------------


def test_a_request_is_proved_by_name_or_by_seq() -> None:
    """Both name the same step, and the proof is a document of its own."""
    by_name = run("prove", GARDEN, "--request", "3.2")
    by_seq = run("prove", GARDEN, "--seq", "52")
    wrapped = document("prove", GARDEN, "--seq", "52")

    assert by_name.exit_code == 0
    assert by_name.stdout == by_seq.stdout
    assert list(wrapped) == ["schema_version", "command", "proof", "file"]
    assert wrapped["proof"] == json.loads(by_name.stdout)


def test_a_proof_without_a_root_says_which_it_holds_for(proof: str) -> None:
    """It is not taken for more than it is."""
    result = run("check-proof", proof)

    assert result.exit_code == 0
    assert "the request of turn 3, step 2 (seq 52) is in the log" in result.stdout
    assert ROOT in result.stdout
    assert "This root came with the proof itself." in result.stdout
    assert document("check-proof", proof)["root_is_given"] is False


def test_a_proof_is_checked_for_the_root_one_trusts(tmp_path: Path, proof: str) -> None:
    """Given in hex, or by a certificate."""
    certificate = write(tmp_path, run("certify", GARDEN).stdout_bytes, "c")
    by_root = run("check-proof", proof, "--root", ROOT.upper())
    by_certificate = run("check-proof", proof, "--certificate", certificate)

    assert by_root.exit_code == by_certificate.exit_code == 0
    assert by_root.stdout == by_certificate.stdout
    assert "came with the proof" not in by_root.stdout
    assert document("check-proof", proof, "--root", ROOT)["root_is_given"] is True


def test_a_proof_of_another_log_does_not_hold(tmp_path: Path, proof: str) -> None:
    """The code is 1, and the root it is about is named."""
    other = write(tmp_path, run("certify", planted(tmp_path)).stdout_bytes, "other")

    for words in (("--root", ZERO), ("--certificate", other)):
        result = run("check-proof", proof, *words)
        assert result.exit_code == 1
        assert "OTHER_ROOT" in result.stderr
        assert f"holds for another root: {ROOT}, given was" in " ".join(result.stderr.split())
        assert result.stdout == ""
    assert document("check-proof", proof, "--root", ZERO)["error"]["data"] == {
        "reason": "other-root"
    }


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b'"step":2,', b'"step":3,', 1),
        (b'"request":"c', b'"request":"d', 1),
        (b'"path":[', b'"path":[' + b'"%s",' % (b"0" * 64) * 200, 1),
        (b'"request":"c', b'"request":"C', 3),
        (b'"index":3', b'"index":2', 1),
        (b'"index":3', b'"index":true', 3),
        (b'"version":1', b'"version":2', 4),
        (b'"index":3', b'"index":3,"index":3', 3),
        (b"}", b"", 3),
    ],
)
def test_a_bent_proof_does_not_hold(
    tmp_path: Path, proof: str, old: bytes, new: bytes, code: int
) -> None:
    """1 for what it claims, 3 for what it is, 4 for one of another release."""
    content = Path(proof).read_bytes()
    assert old in content
    bent = write(tmp_path, content.replace(old, new, 1), "bent")

    assert run("check-proof", bent).exit_code == code


def test_whoever_has_the_request_can_hold_it_against_the_proof(tmp_path: Path, proof: str) -> None:
    """Its JSON value is that of the proved request, and no other is."""
    text = run("request", GARDEN, "--turn", "3", "--step", "2", "--text").stdout_bytes
    request = write(tmp_path, text, "request")
    other = write(tmp_path, text.replace(b"Rauke", b"Raute"), "other")

    held = run("check-proof", proof, "--root", ROOT, "--request", request)
    refused = run("check-proof", proof, "--root", ROOT, "--request", other)

    assert held.exit_code == 0
    assert held.stdout.endswith(f"  text      {request} is that request\n")
    assert document("check-proof", proof, "--request", request)["request_is_given"] is True
    assert refused.exit_code == 1
    assert "is not the request that is proved" in refused.stderr
    assert run("check-proof", proof, "--request", proof).exit_code == 1


def test_a_request_may_be_spelled_otherwise(tmp_path: Path, proof: str) -> None:
    """Spaces and escapes do not count, and that is said; the order of keys does."""
    text = run("request", GARDEN, "--turn", "3", "--step", "2", "--text").stdout
    value = json.loads(text)
    indented = write(tmp_path, json.dumps(value, indent=2).encode(), "indented")
    turned = write(tmp_path, json.dumps(dict(reversed([*value.items()]))).encode(), "turned")

    held = run("check-proof", proof, "--request", indented)
    refused = run("check-proof", proof, "--request", turned)

    assert held.exit_code == 0
    assert held.stdout.endswith(f"  text      {indented} is that request (spelled otherwise)\n")
    assert refused.exit_code == 1
    assert "key order included" in " ".join(refused.stderr.split())


def test_the_signature_of_the_certificate_is_checked(tmp_path: Path, proof: str) -> None:
    """Whoever has no log can still ask who signed; a signature that nobody checked is told."""
    key, public = write(tmp_path, PRIVATE, "key"), write(tmp_path, PUBLIC, "key.pub")
    certificate = str(tmp_path / "c")
    run("certify", GARDEN, "-o", certificate, "--sign", key)
    call = ("check-proof", proof, "--certificate", certificate)

    unchecked, checked = run(*call), run(*call, "--public-key", public)
    assert unchecked.exit_code == checked.exit_code == 0
    assert "was not checked: give --public-key K" in " ".join(unchecked.stdout.split())
    assert f"  signed    {certificate}, by the owner of that key\n" in checked.stdout
    assert "was not checked" not in checked.stdout
    assert document(*call)["signature"] is None
    assert document(*call, "--public-key", public)["signature"] == "valid"

    moved = write(tmp_path, Path(certificate + ".sig").read_bytes(), "elsewhere")
    write(tmp_path, bytes(64), "c.sig")
    assert run(*call, "--public-key", public).exit_code == 1
    assert run(*call, "--public-key", public, "--signature", moved).exit_code == 0
    private = run(*call, "--public-key", key)
    assert private.exit_code == 3
    assert "openssl pkey -in k.pem -pubout -out k.pub" in " ".join(private.stderr.split())


def test_a_request_that_is_not_known_is_proved_to_be_so(tmp_path: Path) -> None:
    """The log cannot tell it, and that can be shown too."""
    log = Log()
    log.open_step(header=None)
    proof = write(tmp_path, run("prove", log.write(tmp_path), "--seq", "1").stdout_bytes, "p")

    result = run("check-proof", proof)

    assert "not known: NO_REQUEST_HEADER" in result.stdout
    for content in (b'{"messages":[]}', b"[]"):
        other = write(tmp_path, content, "r")
        assert run("check-proof", proof, "--request", other).exit_code == 1


def test_a_proof_may_come_on_standard_input(proof: str) -> None:
    """As from a pipe."""
    result = run("check-proof", "-", "--root", ROOT, given=Path(proof).read_bytes())

    assert result.exit_code == 0
    assert "<stdin>" in result.stdout


def test_a_proof_is_written_to_a_new_file(tmp_path: Path) -> None:
    """And never over one that is there."""
    path = str(tmp_path / "p")
    written = run("prove", GARDEN, "--request", "3.2", "-o", path)
    again = run("prove", GARDEN, "--request", "3.2", "-o", path)

    assert written.exit_code == 0
    assert ROOT in written.stdout
    assert Path(path).read_bytes() == run("prove", GARDEN, "--request", "3.2").stdout_bytes
    assert again.exit_code == 2
    assert run("prove", GARDEN, "--seq", "2", "-o", path, "--force").exit_code == 0
    assert os.listdir(tmp_path) == ["p"]


def test_a_step_that_is_not_there_is_usage() -> None:
    """It says which there are."""
    result = run("prove", GARDEN, "--request", "9.9")

    assert result.exit_code == 2
    assert "turn 3 to step 3" in result.stderr


# ---- an extension --------------------------------------------------------------------------------


def test_a_log_is_proved_to_extend_an_earlier_one(tmp_path: Path, earlier: str) -> None:
    """Checked with both roots; without them the answer says so for each."""
    proof = write(tmp_path, run("prove", GARDEN, "--consistency", earlier).stdout_bytes, "p")
    loose = run("check-proof", proof)
    words = ("--root", ROOT, "--old-certificate", earlier)
    anchored = run("check-proof", proof, *words)
    answered = document("check-proof", proof, *words)

    assert loose.exit_code == anchored.exit_code == 0
    assert loose.stdout.count("came with the proof itself") == 2
    assert "came with" not in anchored.stdout
    assert "90 events begin with the earlier 59" in anchored.stdout
    assert (answered["kind"], answered["old_events"], answered["events"]) == ("consistency", 59, 90)
    assert answered["root_is_given"] is answered["old_root_is_given"] is True


def test_another_old_root_is_refused(tmp_path: Path, earlier: str) -> None:
    """The earlier log must be the one that was certified."""
    proof = write(tmp_path, run("prove", GARDEN, "--consistency", earlier).stdout_bytes, "p")

    assert run("check-proof", proof, "--old-root", ZERO).exit_code == 1
    assert run("check-proof", proof, "--old-root", ROOT).exit_code == 1


def test_swapped_certificates_are_told(tmp_path: Path, earlier: str) -> None:
    """The proof is sound then, and the answer says so and which option is which."""
    proof = write(tmp_path, run("prove", GARDEN, "--consistency", earlier).stdout_bytes, "p")
    later = write(tmp_path, run("certify", GARDEN).stdout_bytes, "later")
    words = ("check-proof", proof, "--certificate", earlier, "--old-certificate", later)
    result = run(*words)
    old = json.loads(Path(earlier).read_bytes())["root"]

    assert result.exit_code == 1
    assert "OTHER_ROOT" in result.stderr
    told = " ".join(result.stderr.split())
    assert f"the proof holds for another root: {ROOT}, given was {old}" in told
    assert "--certificate is the later one, --old-certificate the earlier" in told
    assert document(*words)["error"]["code"] == "OTHER_ROOT"


def test_a_log_that_does_not_extend_is_told_why(tmp_path: Path, earlier: str) -> None:
    """The first event that differs, and the command that says more. The code is 1."""
    result = run("prove", planted(tmp_path), "--consistency", earlier)
    shorter = run("prove", str(tmp_path / "garden.jsonl"), "--consistency", earlier)

    assert result.exit_code == 1
    assert "event 50 is not the certified one" in " ".join(result.stderr.split())
    assert "dsh-fp verify" in result.stderr
    assert shorter.exit_code == 0
    other = write(tmp_path, run("certify", GARDEN).stdout_bytes, "whole")
    assert run("prove", str(tmp_path / "garden.jsonl"), "--consistency", other).exit_code == 1


def test_a_proof_of_an_extension_has_no_request(tmp_path: Path, earlier: str) -> None:
    """Asking for one is a mistake in the call; a proof of a request has no old root."""
    extension = write(tmp_path, run("prove", GARDEN, "--consistency", earlier).stdout_bytes, "p")
    request = write(tmp_path, run("prove", GARDEN, "--seq", "52").stdout_bytes, "q")

    assert run("check-proof", extension, "--request", request).exit_code == 2
    assert run("check-proof", request, "--old-root", ZERO).exit_code == 1


@pytest.mark.parametrize(
    "words",
    [
        ["prove", GARDEN],
        ["prove", GARDEN, "--request", "3.2", "--seq", "52"],
        ["prove", GARDEN, "--request", "3"],
        ["prove", GARDEN, "--request", "3.2.1"],
        ["prove", GARDEN, "--request", "٣.2"],
        ["prove", GARDEN, "--request", "3." + "9" * 5000],
        ["prove", GARDEN, "--seq", "52", "--force"],
        ["prove", "-", "--consistency", "-"],
        ["check-proof", "p", "--root", "12"],
        ["check-proof", "p", "--root", ZERO + "\n"],
        ["check-proof", "p", "--root", ZERO, "--certificate", "c"],
        ["check-proof", "p", "--old-root", ZERO, "--old-certificate", "c"],
        ["check-proof", "-", "--certificate", "-"],
        ["check-proof", "-", "--certificate", "c", "--public-key", "-"],
        ["check-proof", "p", "--root", ZERO, "--public-key", "k"],
        ["check-proof", "p", "--certificate", "c", "--signature", "s"],
    ],
)
def test_odd_calls_are_usage(words: list[str]) -> None:
    """Nothing is read."""
    assert run(*words).exit_code == 2


@pytest.mark.parametrize("words", [["check-proof", "missing"], ["check-proof", "a\0b"]])
def test_what_cannot_be_read_is_told(words: list[str]) -> None:
    """The code is 3."""
    result = run(*words)

    assert result.exit_code == 3
    assert "FILE_UNREADABLE" in json.dumps(document(*words)["error"])
