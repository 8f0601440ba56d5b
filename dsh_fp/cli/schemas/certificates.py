"""Certificates and proofs, as commands print them and as they stand in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dsh_fp.cli.schemas.parts import (
    Schema,
    about,
    anything,
    constant,
    count,
    listed,
    one_of,
    record,
    ref,
)
from dsh_fp.core import certificates, proofs
from dsh_fp.core.digests import RULES
from dsh_fp.core.documents import VERSION
from dsh_fp.core.rejection import Code

_BASE64: Final = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_SIZE: Final = count("How many leaves it has.")
_STEP: Final[Mapping[str, Schema]] = {
    "turn": anything("As the step/start gives it; a number where nesting is sound."),
    "step": anything("As the step/start gives it; a number where nesting is sound."),
    "seq": ref("seq"),
}
_PATH: Final = listed(ref("hex_digest"), "The hashes that lead from the claim to the root.")


def _head(format: str) -> dict[str, Schema]:
    return {
        "format": constant(format),
        "version": constant(VERSION),
        "rules": constant(RULES, "How digests are taken."),
    }


def checked_signature(says: str) -> Schema:
    """What came of a signature."""
    return about({"enum": ["valid", None]}, says)


CERTIFICATE_SHAPES: Final[Mapping[str, Schema]] = {
    "tree": record({"size": _SIZE, "root": ref("hex_digest")}, says="A Merkle tree in short."),
    "certified_step": {
        "anyOf": [
            record(
                {
                    **_STEP,
                    **{half: ref("hex_digest") for half in ("header", "messages", "request")},
                }
            ),
            record({**_STEP, "fault": one_of(Code, "Why the request is not known.")}),
        ],
        "description": "A step's request; the order of the keys is part of what is digested.",
    },
    "certificate": record(
        {
            **_head(certificates.FORMAT),
            "root": ref("hex_digest", "The one value that stands for the whole log."),
            "session": ref("session"),
            "events": record(
                {
                    "size": _SIZE,
                    "root": ref("hex_digest"),
                    "marks": about(
                        {"type": "string", "pattern": _BASE64, "contentEncoding": "base64"},
                        "The first four bytes of each event's digest.",
                    ),
                },
            ),
            "requests": ref("tree"),
            "content": record({"content": ref("hex_digest"), "events": ref("hex_digest")}),
            "steps": listed(ref("certified_step")),
        },
        says="What a log is and which requests it made, as a certificate's file holds it.",
    ),
}

_STATE: Final = record(
    {"root": ref("hex_digest"), "events": ref("tree"), "requests": ref("tree")},
    says="One state of a log.",
)

PROOF_SHAPES: Final[Mapping[str, Schema]] = {
    **{name: CERTIFICATE_SHAPES[name] for name in ("tree", "certified_step")},
    "inclusion": record(
        {
            **_head(proofs.FORMAT),
            "kind": constant("inclusion"),
            "root": ref("hex_digest", "The root of the log."),
            "session": ref("hex_digest", "The digest of the session header."),
            "events": ref("tree"),
            "requests": ref("tree"),
            "index": count("The place of the request among those of the log."),
            "path": _PATH,
            "step": ref("certified_step"),
        },
        says="A proof that a request belongs to a log.",
    ),
    "consistency": record(
        {
            **_head(proofs.FORMAT),
            "kind": constant("consistency"),
            "session": ref("hex_digest", "The digest of the session header."),
            "old": _STATE,
            "new": _STATE,
            "path": _PATH,
        },
        says="A proof that a log extends an earlier one.",
    ),
}
