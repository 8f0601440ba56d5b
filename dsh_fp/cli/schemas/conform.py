"""What `dsh-fp conform --json` prints."""

from __future__ import annotations

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.schemas.parts import (
    Schema,
    asked_wrongly,
    constant,
    count,
    document,
    exit_code,
    form,
    listed,
    maybe,
    one_of,
    record,
    ref,
    text,
)

_CODES = ("USAGE", "PACKAGE_MISSING", "NO_SUCH_LAW", "OUT_NOT_EMPTY", "CANNOT_BE_JUDGED")


def schema() -> Schema:
    """The schema."""
    implementation = record(
        {
            "name": text("As it was named in the call."),
            "door": one_of(("python", "process"), "How it is asked."),
            "protocol_version": count(least=1),
            "capabilities": listed(text(), "What it offers."),
            "lacks_of_the_small_protocol": listed(text(), "What it should offer and does not."),
        }
    )
    summary = {"held": count(), "broken": count(), "not_asked": count()}
    judged = {
        "implementation": implementation,
        "examples": count("How many cases a law of the usual cost was asked.", least=1),
        "seed": maybe({"type": "integer"}, "Null for the usual cases."),
        "laws": listed(ref("law"), "Each law and vector, in the order they were judged."),
        "out": maybe(text(), "The folder of counterexamples; null when there are none."),
    }
    return document(
        "conform",
        "Another implementation of the session model, judged by the laws.",
        form(
            "everything asked holds",
            {
                **judged,
                "summary": record({**summary, "broken": constant(0)}),
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form(
            "something is broken",
            {
                **judged,
                "summary": record({**summary, "broken": count(least=1)}),
                "exit_code": exit_code(Exit.FINDING),
            },
        ),
        form(
            "the laws and vectors there are",
            {
                "laws": listed(record({"name": text(), "sentence": text()})),
                "exit_code": exit_code(Exit.HOLDS),
            },
        ),
        form("refused: the call is wrong", {"error": asked_wrongly(*_CODES)}),
        law=record(
            {
                "name": text(),
                "topic": text(),
                "sentence": text("What it says, for a person."),
                "verdict": one_of(("held", "broken", "not asked")),
                "left_out": count("How many cases no JSON text stands for."),
                "partly": listed(text(), "Those of its parameters that were not asked."),
            },
            {
                "why": text("What was not offered, or what did not hold, for a person."),
                "counterexample": record(
                    {
                        "events": count("How many events it has."),
                        "files": record(
                            {},
                            {"log": text("The log's path."), "record": text("Its record's path.")},
                        ),
                    },
                    says="The smallest case for which the law did not hold.",
                ),
            },
        ),
    )
