"""What the schemas are made of: small constructors, and the shapes that several of them share.

Our own objects are closed: `record` names every key there is. Strangers' values (payloads,
headers' options, tools) are open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, get_args

from dsh_fp.cli.answer import SCHEMA_VERSION
from dsh_fp.cli.exits import Exit
from dsh_fp.core.events import MAX_SEQ
from dsh_fp.core.json_paths import Kind
from dsh_fp.core.rejection import Code

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


# ---- constructors ----------------------------------------------------------------------------


def ref(name: str, says: str | None = None) -> Schema:
    """The shared shape of this name."""
    return about({"$ref": f"#/$defs/{name}"}, says)


def about(schema: Schema, says: str | None) -> Schema:
    """The same schema with a sentence for whoever reads it."""
    return schema if says is None else {**schema, "description": says}


def record(
    required: Mapping[str, Schema],
    optional: Mapping[str, Schema] | None = None,
    says: str | None = None,
) -> Schema:
    """An object of ours: these keys, and no other."""
    made: Schema = {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }
    return about(made, says)


def listed(items: Schema, says: str | None = None, **more: object) -> Schema:
    """An array of such items."""
    return about({"type": "array", "items": items, **more}, says)


def maybe(schema: Schema, says: str | None = None) -> Schema:
    """Such a value, or null."""
    return about({"anyOf": [schema, {"type": "null"}]}, says)


def text(says: str | None = None) -> Schema:
    """Any string."""
    return about({"type": "string"}, says)


def flag(says: str | None = None) -> Schema:
    """True or false."""
    return about({"type": "boolean"}, says)


def count(says: str | None = None, *, least: int = 0) -> Schema:
    """A number of things, or of bytes."""
    return about({"type": "integer", "minimum": least, "maximum": MAX_SEQ}, says)


def anything(says: str | None = None) -> Schema:
    """Any JSON value: a stranger wrote it."""
    return about({}, says)


def constant(value: object, says: str | None = None) -> Schema:
    """Exactly this value."""
    return about({"const": value}, says)


def one_of(values: Iterable[str], says: str | None = None) -> Schema:
    """One of these words."""
    return about({"enum": [str(value) for value in values]}, says)


def exit_code(*codes: Exit) -> Schema:
    """The code the command exits with, of those it can exit with here."""
    return {
        "enum": [int(code) for code in codes],
        "description": "The code the command exits with.",
    }


def asked_wrongly(*codes: str, data: Schema | None = None) -> Schema:
    """The error of a question that cannot be answered, though nothing is wrong with a log."""
    required = {
        "code": one_of(codes),
        "severity": constant("error"),
        "message": text("What is wrong, for a person; its words may change."),
        "advice": text("What to do now, for a person; its words may change."),
    }
    return record({**required, "data": data} if data is not None else required)


# ---- documents -------------------------------------------------------------------------------


def form(
    title: str, required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None
) -> Schema:
    """One form a command's document takes, by the keys beside `schema_version` and `command`."""
    return {"title": title, **record(required, optional)}


def refused(*codes: str) -> Schema:
    """What a command answers that reads logs, with the codes of its own questions."""
    asked = asked_wrongly("USAGE", *codes) if codes else ref("usage")
    return form(
        "refused: a log or another input cannot be read, or the call is wrong",
        {"error": {"anyOf": [ref("fault"), asked]}},
    )


REFUSED: Final = refused()
"""What every command may answer that opens a log."""

NO_SUCH_STEP: Final = form(
    "no such step",
    {"session": ref("session"), "error": asked_wrongly("NO_SUCH_STEP", "SEVERAL_STEPS")},
)
"""What every command may answer that is asked for a step."""

NO_SUCH_SEQ: Final = form(
    "no such seq",
    {
        "session": ref("session"),
        "error": asked_wrongly(
            "NO_SUCH_SEQ", data=record({"events": count("How many there are.")})
        ),
    },
)
"""What every command with `--at` may answer."""

MISUSED: Final = form("refused: the call is wrong", {"error": ref("usage")})
"""What every command may answer."""


def document(command: str | None, says: str, *forms: Schema, **own: Schema) -> Schema:
    """The whole schema of a command's document, which has exactly one of these forms.

    `own` are shapes that the command's forms refer to, beside the shared ones.
    """
    head = {
        "schema_version": constant(SCHEMA_VERSION),
        "command": constant(command, "The command that answers."),
    }
    whole = [
        {
            **one,
            "properties": {**head, **one["properties"]},
            "required": [*head, *one["required"]],
        }
        for one in forms
    ]
    name = "dsh-fp" if command is None else command
    made: Schema = {
        "$schema": DIALECT,
        "$id": f"urn:dsh-fp:schema:{SCHEMA_VERSION}:{name}",
        "title": "dsh-fp --json" if command is None else f"dsh-fp {command} --json",
        "description": says,
    }
    made["oneOf"] = whole
    shapes = {**SHAPES, **own}
    needed = _needed(whole, shapes)
    if needed:
        made["$defs"] = {name: shapes[name] for name in shapes if name in needed}
    return made


def _needed(start: object, shapes: Mapping[str, Schema]) -> set[str]:
    """The names of the shapes that a schema refers to, directly or through others."""
    needed: set[str] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            waiting.extend(here.values())
            name = str(here.get("$ref", "")).removeprefix("#/$defs/")
            if name and name not in needed:
                needed.add(name)
                waiting.append(shapes[name])
        elif isinstance(here, list):
            waiting.extend(here)
    return needed


# ---- shapes that several documents share -----------------------------------------------------

_JSON_PATH: Final = r"^\$"

SHAPES: Final[Mapping[str, Schema]] = {
    "seq": about(
        {"type": "integer", "minimum": 0, "maximum": MAX_SEQ}, "The place of an event in its log."
    ),
    "seqs": listed(ref("seq")),
    "hex_digest": about(
        {"type": "string", "pattern": "^[0-9a-f]{64}$"}, "A SHA-256 digest, in lower-case hex."
    ),
    "request_digests": record(
        {key: ref("hex_digest") for key in ("header", "messages", "request")},
        says="The digests of a request: of its two halves and of the whole.",
    ),
    "session": record(
        {
            "version": about(
                {"type": "integer", "minimum": 0, "maximum": 4}, "Of the header; July's is 0 too."
            ),
            "id": text(),
            "createdAt": about({"type": "number"}, "Epoch milliseconds."),
        },
        {
            "cwd": text("The working directory."),
            "parentSession": text("The id of the session this one was forked from."),
            "seedLength": count("How many events were inherited."),
            "isSeeded": about({"type": "boolean"}, "From v2 on: whether events were inherited."),
            "origin": constant("subagent"),
            "delegationDepth": count("How deep below a first session it is; July has none."),
            "agentPreset": text("The preset of the agent."),
        },
        "A session header, as the first line of a log holds it.",
    ),
    "event": record(
        {"type": text(), "seq": ref("seq"), "time": count("Epoch milliseconds."), "data": {}},
        {
            "sourceEventSeqs": listed(ref("seq"), minItems=1, uniqueItems=True),
            "surfaceOp": {
                "anyOf": [
                    constant("append"),
                    record(
                        {"op": constant("replace"), "start": ref("seq"), "end": ref("seq")},
                    ),
                ]
            },
        },
        "An event, as its line of the log holds it.",
    ),
    "message": record(
        {
            "role": one_of(("user", "assistant", "system", "developer", "tool")),
            "content": listed(anything(), "Blocks, as the event's payload has them."),
        },
        {
            "source": about({"type": "object"}, "Who it comes from; July's messages have none."),
            "id": text("Its own id; July's messages have none."),
            "toolCallId": text("The call that a v4 tool result answers."),
            "isError": about({"type": "boolean"}, "Whether a v4 tool result tells of a failure."),
        },
        "A message as the model sees it.",
    ),
    "brought": record(
        {
            "seq": ref("seq"),
            "type": text(),
            "time": count("Epoch milliseconds."),
            "sources": maybe(ref("seqs"), "Its sourceEventSeqs."),
            "replaces": maybe(ref("seqs"), "The nodes it took the place of."),
        },
        says="The event that brought a message.",
    ),
    "difference": record(
        {
            "path": about({"type": "string", "pattern": _JSON_PATH}, "A JSON path."),
            "steps": listed(
                {"anyOf": [text(), count()]}, "The path in pieces: keys, and places from 0."
            ),
            "kind": one_of(get_args(Kind), "How they part."),
            "old": anything("What stands there; null where it is absent."),
            "new": anything("What stands there; null where it is absent."),
            "offset": maybe(count(), "Where two texts part, in characters."),
        },
        says="One place where two values part.",
    ),
    "event_behind": record(
        {
            "seq": ref("seq"),
            "type": text(),
            "reason": maybe(text(), "The reason that a request/header gives."),
        },
        says="An event behind a change.",
    ),
    "tool": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "description": "A tool as it was offered to the model; other keys are its own.",
    },
    "request_header": record(
        {"config": about({"type": "object"}, "The model and its options, as logged.")},
        {
            "system": about({"type": "string", "minLength": 1}, "The system text."),
            "tools": listed(ref("tool"), minItems=1),
            "messagePrefix": listed(anything(), "What every request begins with.", minItems=1),
        },
        "A request header in canonical form.",
    ),
    "request": record(
        {"messages": listed(anything(), "Those the request header puts first, then the log's.")},
        {
            "model": anything(),
            "temperature": anything(),
            "maxTokens": anything(),
            "stop": anything(),
            "system": about({"type": "string", "minLength": 1}, "The system text."),
            "tools": listed(ref("tool"), minItems=1),
        },
        "A request as it was sent; its keys are in the order in which they reach the model.",
    ),
    "fault": record(
        {
            "code": one_of(Code, "What a program may match on."),
            "severity": one_of(("error", "finding", "note")),
            "message": text("What is wrong, for a person; its words may change."),
            "advice": text("What to do about it, for a person; its words may change."),
        },
        {
            "file": text("As it was named in the call; <stdin> for standard input."),
            "line": count("The line of the file, counted from 1.", least=1),
            "byte_offset": count("Where in the file, counted from 0."),
            "seq": ref("seq"),
            "index": count("Which of the things that were handed in."),
            "path": about(
                {"type": "string", "pattern": _JSON_PATH}, "Where in the value, as a JSON path."
            ),
            "data": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {
                    "type": ["string", "number", "boolean", "null", "array"],
                },
                "description": "The offending values by name; which, depends on the code.",
            },
        },
        "What is wrong, where, and what to do about it; keys that say nothing are absent.",
    ),
    "finding": {
        **ref("fault"),
        "properties": {"severity": one_of(("finding", "note"))},
        "description": "A fault that does not keep the log from being read.",
    },
    "usage": about(asked_wrongly("USAGE"), "The call itself is wrong."),
}
