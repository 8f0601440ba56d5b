"""What `dsh-fp salvage --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    Schema,
    constant,
    count,
    document,
    exit_code,
    flag,
    form,
    listed,
    maybe,
    one_of,
    record,
    ref,
    refused,
    text,
)


def schema() -> Schema:
    """The schema."""
    file = {"file": text("As it was named in the call.")}
    none = constant(None)
    policy, report = {"policy": text("The named policy.")}, {"report": ref("report")}
    return document(
        "salvage",
        "A sound log out of a damaged one: what could be kept, or what was.",
        form(
            "nothing to salvage",
            {
                **file,
                "policy": maybe(text(), "Null when none was named."),
                "applied": constant(False),
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form(
            "what each policy would keep",
            {
                **file,
                "choices": listed(
                    record(
                        {
                            "policy": text(),
                            "kept_events": count(),
                            "dropped_events": count(),
                            "dropped_bytes": count(),
                            "synthetic": count("How many closers would be added."),
                        }
                    ),
                    "Those that fit the damage.",
                ),
                "refusal": maybe(ref("fault"), "Why the log cannot be read, if it cannot."),
                "applied": constant(False),
                "exit_code": exit_code(Exit.FINDING),
            },
        ),
        form(
            "to be salvaged",
            {
                **file,
                **policy,
                "applied": constant(False),
                "output": none,
                "backup": none,
                **report,
                "exit_code": exit_code(Exit.FINDING),
            },
        ),
        form(
            "salvaged in place",
            {
                **file,
                **policy,
                "applied": constant(True),
                "output": none,
                "backup": text("The path of the file's copy."),
                **report,
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form(
            "salvaged to a file",
            {
                **file,
                **policy,
                "applied": constant(False),
                "output": text("The path of the new file."),
                "backup": none,
                **report,
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form(
            "not written",
            {
                **file,
                "applied": constant(False),
                "backup": maybe(text(), "Null when no copy was made yet."),
                "error": ref("fault"),
            },
        ),
        refused("POLICY_UNKNOWN", "POLICY_UNFIT", "FILE_EXISTS"),
        report=record(
            {
                "size": count("Of the damaged file, in bytes."),
                "new_size": count("Of the sound one."),
                "kept_events": count(),
                "dropped_events": count(),
                "dropped_lines": count(),
                "dropped_bytes": count("In stretches that were left out whole."),
                "synthetic": listed(
                    record({"seq": ref("seq"), "type": text()}),
                    "The closers that were added, the last events of the sound log.",
                ),
                "left_open": flag("Whether the last turn is open: its runtime closes it."),
                "spans": listed(
                    record(
                        {
                            "start": count(),
                            "stop": count("Not included."),
                            "fate": one_of(("kept", "in-part", "dropped")),
                            "why": text("Empty for what was kept."),
                            "frame": maybe(count()),
                        }
                    ),
                    "What became of every byte of the damaged file, in order.",
                ),
                "dropped": listed(
                    record(
                        {
                            "first_line": count(least=1),
                            "last_line": count(least=1),
                            "events": count(),
                            "seqs": maybe(listed(ref("seq"), minItems=2, maxItems=2)),
                            "why": text(),
                        }
                    ),
                    "The lines that were left out, in order.",
                ),
            },
            says="The account of a salvage.",
        ),
    )
