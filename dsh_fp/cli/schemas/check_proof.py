"""What `dsh-fp check-proof --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.certificates import PROOF_SHAPES, checked_signature
from dsh_fp.cli.schemas.parts import (
    Schema,
    constant,
    count,
    document,
    flag,
    form,
    ref,
    refused,
    text,
)


def schema() -> Schema:
    """The schema."""
    events = count("How many events the log has.")
    head = {"file": text("As it was named in the call."), "verdict": constant("holds")}
    root = {
        "root": ref("hex_digest", "The root that the proof holds for."),
        "root_is_given": flag("Whether it came with the call, not with the proof alone."),
    }
    signature = checked_signature("That of the certificate; null when none was checked.")
    given = flag("Whether the request was given, and is the one proved.")
    return document(
        "check-proof",
        "What a proof shows, and for which root.",
        form(
            "a request belongs to the log",
            {
                **head,
                "kind": constant("inclusion"),
                **root,
                "events": events,
                "requests": count("How many requests it has."),
                "index": count("The place of the request among them, from 0."),
                "step": ref("certified_step"),
                "signature": signature,
                "request_is_given": given,
            },
        ),
        form(
            "the log extends an earlier one",
            {
                **head,
                "kind": constant("consistency"),
                **root,
                "old_root": ref("hex_digest", "The root of the earlier log."),
                "old_root_is_given": flag("The same of that root."),
                "events": events,
                "old_events": count("How many events the earlier log has."),
                "signature": signature,
                "request_is_given": constant(False),
            },
        ),
        refused("OTHER_REQUEST", "EXTRA_MISSING"),
        **PROOF_SHAPES,
    )
