"""Detached signatures: 64 bytes of ed25519 over the exact bytes of a file.

They say who held a key, and OpenSSL checks them as well. The package `cryptography` does the
work; it is an extra (`pip install 'dsh-fp[sign]'`), loaded when a key is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from returns.result import Failure, Result, Success

from dsh_fp.core.rejection import Rejection, key_unusable, signature_invalid

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

SIGNATURE_BYTES: Final = 64
_MISSING: Final = "signing needs the package cryptography: pip install 'dsh-fp[sign]'"


def sign(content: bytes, private_key: bytes) -> Result[bytes, Rejection]:
    """The signature of some bytes.

    Shapes:  the key is the content of a key file, PEM (PKCS 8) or OpenSSH.
    Errors:  KEY_UNUSABLE; ImportError when the extra `sign` is not installed.
    Source:  docs/reference/certificates.md, "Signatures".
    """
    key = _private(private_key)
    return Failure(key) if isinstance(key, Rejection) else Success(key.sign(content))


def check_signature(
    content: bytes, signature: bytes, public_key: bytes
) -> Result[bytes, Rejection]:
    """The signed bytes again, when the signature over them is that key's.

    Shapes:  the key is the content of a key file, PEM or OpenSSH.
    Errors:  KEY_UNUSABLE, SIGNATURE_INVALID; ImportError when the extra is not installed.
    """
    key = _public(public_key)
    if isinstance(key, Rejection):
        return Failure(key)
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  # an extra

    if len(signature) != SIGNATURE_BYTES:
        what = f"it has {len(signature)} bytes, an ed25519 signature has {SIGNATURE_BYTES}"
        return Failure(signature_invalid(what))
    try:
        key.verify(signature, content)
    except InvalidSignature:
        return Failure(signature_invalid("it is not that key's over these bytes"))
    return Success(content)


def how_to_publish(key: bytes) -> str | None:
    """How the public key is made of a private one; None of any other bytes."""
    if b"-----BEGIN OPENSSH PRIVATE KEY-----" in key:
        return "ssh-keygen -y -f k > k.pub makes the public one."
    if b" PRIVATE KEY-----" in key:
        return "openssl pkey -in k.pem -pubout -out k.pub makes the public one."
    return None


def _private(content: bytes) -> Ed25519PrivateKey | Rejection:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  # an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
            Ed25519PrivateKey,
        )
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
            load_pem_private_key,
            load_ssh_private_key,
        )
    except ImportError as fault:
        raise ImportError(_MISSING) from fault
    if b" PRIVATE KEY-----" not in content:
        is_public = b" PUBLIC KEY-----" in content or content.startswith(b"ssh-")
        found = "it is a public one, signing takes the private one" if is_public else _NO_KEY
        return key_unusable(found)
    is_ssh = b"-----BEGIN OPENSSH PRIVATE KEY-----" in content
    load = load_ssh_private_key if is_ssh else load_pem_private_key
    try:
        key = load(content, password=None)
    except TypeError:  # what the library answers for want of a passphrase
        return key_unusable("it is locked with a passphrase")
    except (ValueError, UnsupportedAlgorithm):
        locked = b"ENCRYPTED" in content
        return key_unusable("it is locked with a passphrase" if locked else _BROKEN)
    if not isinstance(key, Ed25519PrivateKey):
        return key_unusable(_OTHER_KIND)
    return key


def _public(content: bytes) -> Ed25519PublicKey | Rejection:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  # an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
            Ed25519PublicKey,
        )
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
            load_pem_public_key,
            load_ssh_public_key,
        )
    except ImportError as fault:
        raise ImportError(_MISSING) from fault
    if b" PRIVATE KEY-----" in content:
        return key_unusable("it is a private one, checking takes the public one")
    is_pem = b"-----BEGIN PUBLIC KEY-----" in content
    if not is_pem and not content.startswith((b"ssh-", b"ecdsa-", b"sk-")):
        return key_unusable(_NO_KEY)
    try:
        key = load_pem_public_key(content) if is_pem else load_ssh_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        return key_unusable(_BROKEN)
    return key if isinstance(key, Ed25519PublicKey) else key_unusable(_OTHER_KIND)


_NO_KEY: Final = "it is in neither PEM nor OpenSSH form"
_BROKEN: Final = "it is damaged, or of a kind that is not known"
_OTHER_KIND: Final = "it is of another kind than ed25519"
