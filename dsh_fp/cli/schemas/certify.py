"""What `dsh-fp certify --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.certificates import CERTIFICATE_SHAPES
from dsh_fp.cli.schemas.parts import Schema, document, form, maybe, ref, refused, text


def schema() -> Schema:
    """The schema."""
    return document(
        "certify",
        "A certificate of a log, and where it was written.",
        form(
            "answer",
            {
                "certificate": ref("certificate"),
                "file": maybe(text(), "Where it was written; null without -o."),
                "signature": maybe(text(), "Where that was written; null without --sign."),
            },
        ),
        refused("FILE_EXISTS", "EXTRA_MISSING"),
        **CERTIFICATE_SHAPES,
    )
