"""Signatures: the library's own, OpenSSL's, and keys of every wrong kind."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from dsh_fp import Code
from dsh_fp.signing import check_signature, sign
from tests.shared import REPOSITORY

# RFC 8032, section 7.1, test 2: one byte, its key and its signature.
SECRET = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
SIGNED = bytes.fromhex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)
KEY = Ed25519PrivateKey.from_private_bytes(SECRET)


def private(format: PrivateFormat, lock: KeySerializationEncryption | None = None) -> bytes:
    """The private key as a file."""
    return KEY.private_bytes(Encoding.PEM, format, lock or NoEncryption())


PUBLIC_PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
PUBLIC_SSH = KEY.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH) + b" mira@boat\n"
OTHER_PRIVATE = generate_private_key(SECP256R1())
OTHER_PEM = OTHER_PRIVATE.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
OTHER_PUBLIC = OTHER_PRIVATE.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)


@pytest.mark.parametrize("format", [PrivateFormat.PKCS8, PrivateFormat.OpenSSH])
@pytest.mark.parametrize("public", [PUBLIC_PEM, PUBLIC_SSH], ids=["pem", "ssh"])
def test_a_signature_is_that_of_the_standard(format: PrivateFormat, public: bytes) -> None:
    """Both forms of both keys, on the standard's own example."""
    made = sign(b"\x72", private(format)).unwrap()

    assert made == SIGNED
    assert check_signature(b"\x72", made, public).unwrap() == b"\x72"


def test_a_signature_is_for_its_bytes_and_its_key() -> None:
    """Other bytes, another signature, one that is cut or in hex."""
    for content, signature in (
        (b"\x73", SIGNED),
        (b"\x72", SIGNED[::-1]),
        (b"\x72", SIGNED[:-1]),
        (b"\x72", SIGNED + b"\n"),
        (b"\x72", SIGNED.hex().encode()),
        (b"\x72", b""),
    ):
        assert check_signature(content, signature, PUBLIC_PEM).failure().code is (
            Code.SIGNATURE_INVALID
        )
    cut = check_signature(b"\x72", SIGNED[:-1], PUBLIC_PEM).failure()
    assert "it has 63 bytes" in cut.message


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (PUBLIC_PEM, "public one"),
        (PUBLIC_SSH, "public one"),
        (OTHER_PEM, "another kind"),
        (private(PrivateFormat.PKCS8, BestAvailableEncryption(b"tide")), "passphrase"),
        (private(PrivateFormat.PKCS8)[:70] + b"\n-----END PRIVATE KEY-----\n", "damaged"),
        (b"garden", "neither PEM nor OpenSSH"),
        (b"", "neither PEM nor OpenSSH"),
        (SECRET, "neither PEM nor OpenSSH"),
    ],
)
def test_what_cannot_sign_says_why(key: bytes, why: str) -> None:
    """A public key, one of another kind, a locked one, a damaged one, none at all."""
    refusal = sign(b"\x72", key).failure()

    assert refusal.code is Code.KEY_UNUSABLE
    assert why in refusal.message


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (private(PrivateFormat.OpenSSH), "private one"),
        (OTHER_PUBLIC, "another kind"),
        (PUBLIC_SSH[:40], "damaged"),
        (PUBLIC_PEM.replace(b"MCow", b"MCov"), "damaged"),
        (b"ssh-ed25519", "damaged"),
        (b"garden", "neither PEM nor OpenSSH"),
    ],
)
def test_what_cannot_check_says_why(key: bytes, why: str) -> None:
    """A private key has no business there."""
    refusal = check_signature(b"\x72", SIGNED, key).failure()

    assert refusal.code is Code.KEY_UNUSABLE
    assert why in refusal.message


def test_a_locked_key_of_openssh_says_so(tmp_path: Path) -> None:
    """The tool writes such keys when it is asked for a passphrase."""
    tool = shutil.which("ssh-keygen")
    if tool is None:
        pytest.skip("there is no ssh-keygen to make a key with")
    path = tmp_path / "key"
    command = [tool, "-q", "-t", "ed25519", "-N", "a tide", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)

    assert "passphrase" in sign(b"\x72", path.read_bytes()).failure().message


def test_openssl_takes_our_signatures_and_we_take_its(tmp_path: Path) -> None:
    """The signature is raw, over the bytes of the file."""
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("there is no openssl to ask")
    files = {name: tmp_path / name for name in ("key", "pub", "C", "C.sig", "theirs")}
    files["key"].write_bytes(private(PrivateFormat.PKCS8))
    files["pub"].write_bytes(PUBLIC_PEM)
    files["C"].write_bytes(b"a log's certificate\n")
    files["C.sig"].write_bytes(sign(b"a log's certificate\n", files["key"].read_bytes()).unwrap())

    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        command = [tool, "pkeyutl", *(str(files.get(word, word)) for word in words)]
        return subprocess.run(command, check=False, capture_output=True)

    if b"rawin" not in run("-help").stderr:
        pytest.skip("this openssl signs no files of any length")
    checked = run("-verify", "-pubin", "-inkey", "pub", "-rawin", "-in", "C", "-sigfile", "C.sig")
    assert checked.returncode == 0
    signed = run("-sign", "-inkey", "key", "-rawin", "-in", "C", "-out", "theirs")
    assert signed.returncode == 0
    theirs = files["theirs"].read_bytes()
    assert check_signature(b"a log's certificate\n", theirs, PUBLIC_SSH).unwrap()


def test_without_the_extra_it_says_what_to_install() -> None:
    """Loading the module needs nothing; using it does."""
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from dsh_fp.signing import check_signature, sign\n"
        "for use in (lambda: sign(b'', b''), lambda: check_signature(b'', b'', b'')):\n"
        "    try: use()\n"
        "    except ImportError as fault: print(fault)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )

    line = "signing needs the package cryptography: pip install 'dsh-fp[sign]'"
    assert done.stdout.splitlines() == [line, line]
