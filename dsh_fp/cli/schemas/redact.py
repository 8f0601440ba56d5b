"""What `dsh-fp redact --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    Schema,
    about,
    anything,
    count,
    document,
    exit_code,
    flag,
    form,
    listed,
    maybe,
    record,
    ref,
    refused,
    text,
)

_KIND = "What kind of secret it is."


def _answer(name: str, *, is_left: bool) -> Schema:
    left = listed(ref("left"), "Where a secret stands that cannot be replaced.")
    return form(
        name,
        {
            "file": text("As it was named in the call; <stdin> for standard input."),
            "events": count("How many events the log has, and the copy."),
            "count": count("How many secrets were replaced, each as often as it stood there."),
            "kinds": listed(
                record(
                    {
                        "kind": text(_KIND),
                        "secrets": count("How many different ones.", least=1),
                        "count": count("How often they stood there."),
                    }
                )
            ),
            "replaced": listed(ref("replaced")),
            "left": {**left, "minItems": 1} if is_left else {"type": "array", "maxItems": 0},
            "requests": listed(ref("changed_request"), "Those that are not as sent any more."),
            "output": maybe(text(), "Where the copy was written; null with --dry-run."),
            "exit_code": exit_code(Exit.FINDING if is_left else Exit.HOLDS),
        },
    )


def schema() -> Schema:
    """The schema."""
    place = {
        "seq": maybe(ref("seq"), "The event; null for the session header."),
        "path": about(
            {"type": "string", "pattern": r"^\$"},
            "A JSON path from the event, keys as they are now.",
        ),
        "in_key": flag("Whether it stands in the key at that path, not in its value."),
        "kind": text(_KIND),
    }
    return document(
        "redact",
        "What was replaced in a copy of a log, by place and kind, never by value.",
        _answer("every secret that was found is replaced", is_left=False),
        _answer("a secret is left", is_left=True),
        form(
            "the formats of keys there are",
            {
                "rules": listed(text(), "The names that --rule takes, in order."),
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        refused(
            *("FILE_EXISTS", "EXTRA_MISSING", "RULE_INVALID", "LOG_REFUSED", "NOT_WRITABLE"),
        ),
        replaced=record(
            {
                **place,
                "mark": text("What stands there now; the same for the same secret."),
                "count": count("How many begin there."),
                "continued": count("How many began in an earlier piece of a stream or array."),
            },
            says="Secrets that were replaced in one place by one mark.",
        ),
        left=record(place, says="A secret that is part of what the log is."),
        changed_request=record(
            {
                "turn": anything("As the step/start gives it."),
                "step": anything("As the step/start gives it."),
                "seq": ref("seq", "Of its step/start."),
                "before": maybe(ref("request_digests"), "Null where it was not known."),
                "after": maybe(ref("request_digests"), "Null where it is not known."),
            },
            says="A request that the copy does not vouch for.",
        ),
    )
