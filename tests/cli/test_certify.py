"""`dsh-fp certify` and `dsh-fp verify --certificate`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from dsh_fp import read, unwrap
from dsh_fp.core.certificates import certificate_of, certify
from dsh_fp.signing import check_signature
from tests.cli.logs import GARDEN, GARDEN_TORN, document, environment, run, sound, spawn, write
from tests.cli.test_strangers import evil_log

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
PRIVATE = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
PUBLIC = KEY.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)


@pytest.fixture
def certificate(tmp_path: Path) -> str:
    """The path of the garden's certificate, signed."""
    path = str(tmp_path / "garden.cert")
    write(tmp_path, PRIVATE, "key")
    write(tmp_path, PUBLIC, "key.pub")
    assert run("certify", GARDEN, "-o", path, "--sign", str(tmp_path / "key")).exit_code == 0
    return path


def planted(folder: Path) -> str:
    """The path of a garden in which one word is another."""
    content = Path(GARDEN).read_bytes()
    return write(folder, content.replace(b"Rauke", b"Raute", 1), "planted.jsonl")


# ---- certify -------------------------------------------------------------------------------------


def test_a_certificate_is_printed_as_json() -> None:
    """It is a document of its own; with --json one key of the usual one."""
    printed = json.loads(run("certify", GARDEN).stdout)
    wrapped = document("certify", GARDEN)

    session = unwrap(read(GARDEN)).session
    assert unwrap(certificate_of(printed)) == certify(session)
    assert list(wrapped) == ["schema_version", "command", "certificate", "file", "signature"]
    assert wrapped["certificate"] == printed
    assert wrapped["file"] is wrapped["signature"] is None


def test_a_file_holds_what_would_be_printed(tmp_path: Path) -> None:
    """And what is printed then says which root to keep."""
    path = tmp_path / "c"
    result = run("certify", GARDEN, "-o", str(path))

    assert path.read_bytes() == run("certify", GARDEN).stdout_bytes
    assert json.loads(path.read_bytes())["root"] in result.stdout
    assert os.listdir(tmp_path) == ["c"]


def test_nothing_is_written_over(tmp_path: Path, certificate: str) -> None:
    """Neither the certificate nor its signature; with --force both."""
    log = sound().write(tmp_path)
    before = Path(certificate).read_bytes()

    refused = run("certify", log, "-o", certificate)
    assert refused.exit_code == 2
    assert "is there already" in refused.stderr
    os.rename(certificate, tmp_path / "c2")
    by_signature = run("certify", log, "-o", certificate, "--sign", str(tmp_path / "key"))
    assert by_signature.exit_code == 2
    assert not Path(certificate).exists()
    assert (tmp_path / "c2").read_bytes() == before

    forced = run("certify", log, "-o", str(tmp_path / "c2"), "--force")
    assert forced.exit_code == 0
    assert (tmp_path / "c2").read_bytes() != before


def test_force_is_for_plain_files(tmp_path: Path) -> None:
    """A folder, or a link to somewhere else, stays what it is."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")

    for name in ("folder", "link"):
        result = run("certify", GARDEN, "-o", str(tmp_path / name), "--force")
        assert result.exit_code == 2
        assert "no plain file" in result.stderr


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """The code is 3, and no temporary file stays."""
    result = run("certify", GARDEN, "-o", str(tmp_path / "missing" / "c"))
    long = run("certify", GARDEN, "-o", str(tmp_path / ("x" * 300)))

    assert result.exit_code == long.exit_code == 3
    assert "Nothing was written" in result.stderr
    assert os.listdir(tmp_path) == []


def test_a_signature_stands_beside_the_file(tmp_path: Path, certificate: str) -> None:
    """64 bytes over the bytes of the file."""
    signature = Path(certificate + ".sig").read_bytes()

    assert len(signature) == 64
    assert unwrap(check_signature(Path(certificate).read_bytes(), signature, PUBLIC))


def test_a_key_that_cannot_sign_writes_nothing(tmp_path: Path) -> None:
    """The file of the key is named."""
    key = write(tmp_path, PUBLIC, "key.pub")
    result = run("certify", GARDEN, "-o", str(tmp_path / "c"), "--sign", key)

    assert result.exit_code == 3
    assert "KEY_UNUSABLE" in result.stderr
    assert key in result.stderr
    assert os.listdir(tmp_path) == ["key.pub"]


def test_a_torn_tail_is_not_certified() -> None:
    """What is certified is the good part, and that is said."""
    result = run("certify", GARDEN_TORN)

    assert result.exit_code == 0
    assert "torn tail" in result.stderr
    assert json.loads(result.stdout)["events"]["size"] == len(unwrap(read(GARDEN_TORN)).session)


def test_a_strangers_log_is_certified_safely(tmp_path: Path) -> None:
    """Nothing in a certificate can be obeyed by a terminal, and it holds all the same."""
    log = evil_log().write(tmp_path)
    path = tmp_path / "c"

    told = run("certify", log, "-o", str(path)).stdout + path.read_text(encoding="utf-8")

    assert all(character == "\n" or character.isprintable() for character in told)
    verified = run("verify", log, "--certificate", str(path)).stdout
    assert "this is the certified log" in verified


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--sign", "key"], "need -o"),
        (["--force"], "need -o"),
        (["-o", ""], "path of a file"),
        (["-o", "-"], "path of a file"),
        (["-o", "a\0b"], "path of a file"),
    ],
)
def test_odd_calls_of_certify_are_usage(words: list[str], why: str) -> None:
    """Nothing is read or written."""
    result = run("certify", GARDEN, *words)

    assert result.exit_code == 2
    assert why in result.stderr


def test_a_log_that_is_refused_gets_no_certificate(tmp_path: Path) -> None:
    """Nor is a file made."""
    result = run("certify", write(tmp_path, b"no log\n"), "-o", str(tmp_path / "c"))

    assert result.exit_code == 3
    assert not (tmp_path / "c").exists()


# ---- verify --certificate ------------------------------------------------------------------------


def test_the_certified_log_is_confirmed(certificate: str) -> None:
    """With its root, so that it can be compared with one kept elsewhere."""
    result = run("verify", GARDEN, "--certificate", certificate)

    assert result.exit_code == 0
    assert result.stdout.startswith("OK ")
    assert "this is the certified log" in result.stdout
    assert json.loads(Path(certificate).read_bytes())["root"] in result.stdout


def test_a_planted_change_is_named_by_event_and_request(tmp_path: Path, certificate: str) -> None:
    """One letter in one message: its event, its line, and the first request that has it."""
    log = planted(tmp_path)
    result = run("verify", log, "--certificate", certificate)
    (answered,) = document("verify", log, "--certificate", certificate)["logs"]

    assert result.exit_code == 1
    assert result.stdout.startswith("DIFFERS ")
    assert "event 50 (line 52) is not the certified one" in result.stdout
    told = " ".join(result.stdout.split())
    assert "request of turn 3, step 2 (seq 52): this request has other messages, and 2 la" in told
    assert "and 2 later ones are not as certified" in told
    assert answered["certificate"]["mismatches"][0]["message"] == (
        "event 50 is not the certified one"
    )
    assert answered["verdict"] == answered["certificate"]["verdict"] == "differs"
    named = [(one["part"], one["seq"]) for one in answered["certificate"]["mismatches"]]
    assert named == [("event", 50), ("request", 52)]


def test_a_longer_log_extends_the_certified_one(tmp_path: Path) -> None:
    """That is said, and it is not the certified log: the code is 1."""
    lines = Path(GARDEN).read_bytes().splitlines(keepends=True)
    shorter = write(tmp_path, b"".join(lines[:60]), "garden.jsonl")
    path = str(tmp_path / "c")
    run("certify", shorter, "-o", path)

    result = run("verify", GARDEN, "--certificate", path)

    assert result.exit_code == 1
    assert result.stdout.startswith("EXTENDS ")
    assert "with more events after it" in result.stdout
    assert run("verify", shorter, "--certificate", path).exit_code in (0, 1)


def test_findings_and_a_certificate_are_told_apart(tmp_path: Path) -> None:
    """A torn log may be the certified one; it still has its findings."""
    path = str(tmp_path / "c")
    run("certify", GARDEN_TORN, "-o", path)

    result = run("verify", GARDEN_TORN, "--certificate", path)

    assert result.exit_code == 1
    assert result.stdout.startswith("FINDINGS ")
    assert "this is the certified log" in result.stdout


def test_a_refused_log_is_refused_first(tmp_path: Path, certificate: str) -> None:
    """What cannot be read is held against nothing."""
    log = write(tmp_path, b"no log\n")
    answered = document("verify", log, "--certificate", certificate)

    assert answered["exit_code"] == 3
    assert "certificate" not in answered["logs"][0]


def test_a_signature_is_checked_before_anything(tmp_path: Path, certificate: str) -> None:
    """By default that beside the file; the answer says that it was."""
    public = str(tmp_path / "key.pub")
    by_default = run("verify", GARDEN, "--certificate", certificate, "--public-key", public)
    moved = str(tmp_path / "elsewhere")
    os.rename(certificate + ".sig", moved)
    words = ("--certificate", certificate, "--public-key", public, "--signature", moved)
    answered = document("verify", GARDEN, *words)

    assert by_default.exit_code == 0
    assert "signed by the owner of that key" in by_default.stdout
    assert answered["logs"][0]["certificate"]["signature"] == "valid"


def test_a_signature_that_nobody_checked_is_told(tmp_path: Path, certificate: str) -> None:
    """It stands beside the certificate, and no key was given; without one nothing is said."""
    unchecked = run("verify", GARDEN, "--certificate", certificate)
    public = str(tmp_path / "key.pub")
    checked = run("verify", GARDEN, "--certificate", certificate, "--public-key", public)
    os.unlink(certificate + ".sig")
    unsigned = run("verify", GARDEN, "--certificate", certificate)

    assert unchecked.exit_code == unsigned.exit_code == 0
    told = "".join(unchecked.stdout.split())
    assert "note:" + certificate + ".sigwasnotchecked:give--public-keyK" in told
    assert "was not checked" not in checked.stdout + unsigned.stdout


@pytest.mark.parametrize(
    ("format", "command"),
    [
        (PrivateFormat.PKCS8, "openssl pkey -in k.pem -pubout -out k.pub makes the public one."),
        (PrivateFormat.OpenSSH, "ssh-keygen -y -f k > k.pub makes the public one."),
    ],
)
def test_a_private_key_is_no_public_one(
    tmp_path: Path, certificate: str, format: PrivateFormat, command: str
) -> None:
    """The answer says how to make that."""
    key = write(tmp_path, KEY.private_bytes(Encoding.PEM, format, NoEncryption()), "k")
    words = ("verify", GARDEN, "--certificate", certificate, "--public-key", key)
    result = run(*words)

    assert result.exit_code == 3
    assert command in " ".join(result.stderr.split())
    assert document(*words)["error"]["advice"] == command


def test_a_signature_that_does_not_hold_ends_it(tmp_path: Path, certificate: str) -> None:
    """A certificate with one space more is not the signed file, though it says the same."""
    public = str(tmp_path / "key.pub")
    Path(certificate).write_bytes(Path(certificate).read_bytes() + b" ")

    assert run("verify", GARDEN, "--certificate", certificate).exit_code == 0
    result = run("verify", GARDEN, "--certificate", certificate, "--public-key", public)
    assert result.exit_code == 1
    assert "SIGNATURE_INVALID" in result.stderr
    assert result.stdout == ""
    os.unlink(certificate + ".sig")
    missing = run("verify", GARDEN, "--certificate", certificate, "--public-key", public)
    assert missing.exit_code == 3
    other = run("verify", GARDEN, "--certificate", certificate, "--public-key", certificate)
    assert other.exit_code == 3


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", 3),
        (b"{", 3),
        (b"\xff", 3),
        (b"[]", 3),
        (b'{"format":"dsh_fp certificate","version":2,"rules":"dsh_fp/1"}', 4),
        (b'{"format":"dsh_fp certificate","version":1,"rules":"dsh_fp/2"}', 4),
        (b"[" * 100_000, 3),
    ],
)
def test_what_is_no_certificate_is_refused(tmp_path: Path, content: bytes, code: int) -> None:
    """The code is 3, and 4 for a certificate of another release."""
    path = write(tmp_path, content, "c")
    result = run("verify", GARDEN, "--certificate", path)

    assert result.exit_code == code
    assert "c is no sound certificate" in result.stderr
    assert document("verify", GARDEN, "--certificate", path)["error"]["file"] == path


def test_a_certificate_may_come_on_standard_input(certificate: str) -> None:
    """Or the log may; not both."""
    content = Path(certificate).read_bytes()
    log = Path(GARDEN).read_bytes()

    assert run("verify", GARDEN, "--certificate", "-", given=content).exit_code == 0
    assert run("verify", "-", "--certificate", certificate, given=log).exit_code == 0
    assert run("verify", "-", "--certificate", "-", given=content).exit_code == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([GARDEN, GARDEN, "--certificate", "c"], "about one LOG"),
        ([GARDEN, "--public-key", "k"], "needs --certificate"),
        ([GARDEN, "--certificate", "c", "--signature", "s"], "needs --public-key"),
    ],
)
def test_odd_calls_of_verify_are_usage(words: list[str], why: str) -> None:
    """They say what is missing."""
    result = run("verify", *words)

    assert result.exit_code == 2
    assert why in result.stderr


def test_without_the_extra_signing_says_what_to_install(tmp_path: Path) -> None:
    """And everything else works without it."""
    key = write(tmp_path, PRIVATE, "key")
    script = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from dsh_fp.cli import main; main(sys.argv[1:])\n"
    )
    program = write(tmp_path, script.encode(), "program.py")

    def call(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-P", program, *words],
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
        )
        return done.returncode, done.stderr

    path = str(tmp_path / "c")
    code, told = call("certify", GARDEN, "-o", path, "--sign", key)
    assert code == 2
    assert "pip install 'dsh-fp[sign]'" in told
    assert not Path(path).exists()
    assert call("certify", GARDEN, "-o", path) == (0, "")
    assert call("verify", GARDEN, "--certificate", path, "--public-key", key)[0] == 3
    write(tmp_path, bytes(64), "c.sig")
    assert call("verify", GARDEN, "--certificate", path, "--public-key", key)[0] == 2


def test_the_command_runs_in_a_process_of_its_own() -> None:
    """As `dsh-fp certify LOG > FILE` does."""
    done = spawn("certify", GARDEN)

    assert done.returncode == 0
    assert json.loads(done.stdout)["format"] == "dsh_fp certificate"
