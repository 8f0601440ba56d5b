"""`dsh-fp schema`: every document that a command prints has its published schema."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from dsh_fp import MAX_DEPTH, Code, thaw
from dsh_fp.cli.program import COMMANDS
from dsh_fp.cli.schemas import SUBJECTS
from dsh_fp.core.lossless import parse_value
from tests.cli.documents import EXAMPLES, Example, answered
from tests.cli.logs import document, run
from tests.shared import REPOSITORY, shared_or_skip

by_call = pytest.mark.parametrize("example", EXAMPLES, ids=str)
# For tampering: a few of each form, none of them about a large log.
FEW: Final = [
    example
    for _, examples in groupby(
        (one for one in EXAMPLES if not re.search("garden|torn", one.call)),
        lambda one: (one.subject, one.form),
    )
    for example in list(examples)[:2]
]
by_subject = pytest.mark.parametrize("subject", SUBJECTS)

Place = tuple[str | int, ...]

# Here stand values of strangers, or a mapping whose keys are theirs. Places by their end.
STRANGERS: Final = {
    *("data", "content", "messagePrefix", "config", "tools"),
    *(
        "request.messages",
        "request.body",
        "verify.logs.unknown_types",
        "minimise.removed",
        "show.state.todos",
        "schema.schema",
        "doctor.logs.later_turns",
        "doctor.logs.branches.turns",
        "minimise.removed",
    ),
    *("turn", "step", "model", "temperature", "maxTokens", "stop", "call_id"),
    *(f"script.calls.{key}" for key in ("chunks", "cut_by", "usage", "finish", "error.code")),
    *(f"{at}.{side}" for at in ("first", "differences", "parts") for side in ("old", "new")),
    *("check-wire.verdicts.expected", "check-wire.verdicts.got"),
}
# What an object may lack that has the key given first,
OPTIONAL: Final = {
    "createdAt": {"cwd", "parentSession", "seedLength"},
    "time": {"sourceEventSeqs", "surfaceOp"},
    "event": {"replaces", "replaced_by"},
    "severity": {"file", "line", "byte_offset", "seq", "index", "path", "data"},
    "config": {"system", "tools", "messagePrefix"},
}
# and the one at a place; a whole document, if it is a refusal.
OPTIONAL_AT: Final = {
    "request.request": {"model", "temperature", "maxTokens", "stop", "system", "tools"},
    "script.calls.error": {"name", "code"},
    "verify.logs": {"certificate"},
    "doctor.logs.damages": {"line", "frame", "byte_offset", "seq", "data"},
    "check-wire.verdicts.place": {"line", "entry"},
    "check-wire.skipped.place": {"line", "entry"},
    "conform.laws": {"why", "counterexample"},
    "conform.laws.counterexample.files": {"log", "record"},
    # Without these a refusal reads as that of the log itself.
    "script": {"session"},
    "check-wire": {"logs"},
}


@cache
def schema(subject: str) -> Any:
    """The schema as the command prints it."""
    return json.loads(run("schema", subject).stdout)


@cache
def validator(subject: str) -> Draft202012Validator:
    """What judges documents by that schema."""
    return Draft202012Validator(schema(subject))


@cache
def forms(subject: str) -> dict[str, Draft202012Validator]:
    """What judges whether a document has a form, by the form's title."""
    whole = schema(subject)
    shapes = whole.get("$defs", {})
    return {
        form["title"]: Draft202012Validator({**form, "$defs": shapes}) for form in whole["oneOf"]
    }


def forms_met(subject: str, document: object) -> list[str]:
    """The titles of the forms that a document has."""
    return [title for title, form in forms(subject).items() if form.is_valid(document)]


# ---- what is real is valid -------------------------------------------------------------------


@by_call
def test_a_real_document_is_valid_and_has_the_form_it_should_have(example: Example) -> None:
    """Whatever the question and however it ends."""
    document = answered(example)

    assert [error.message for error in validator(example.subject).iter_errors(document)] == []
    assert forms_met(example.subject, document) == [example.form]


def test_every_form_of_every_schema_is_met_by_a_real_document() -> None:
    """A schema describes what happens, and nothing else."""
    there_are = {(name, form["title"]) for name in SUBJECTS for form in schema(name)["oneOf"]}

    assert there_are == {(example.subject, example.form) for example in EXAMPLES}


def test_every_key_of_every_schema_is_in_a_real_document() -> None:
    """Of each object that a schema describes; what several describe alike counts once."""
    met: set[tuple[str, str]] = set()
    usual = Draft202012Validator.VALIDATORS["properties"]

    def noting(judge: Any, names: Any, value: Any, at: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            met.update((json.dumps(at), key) for key in names if key in value)
        yield from usual(judge, names, value, at)

    judge = extend(  # type: ignore[no-untyped-call]  # the stubs leave it bare
        Draft202012Validator, {"properties": noting}
    )
    for example in EXAMPLES:
        assert list(judge(schema(example.subject)).iter_errors(answered(example))) == []

    there_are = {
        (json.dumps(at), key)
        for name in SUBJECTS
        for at in objects_in(schema(name))
        for key in at.get("properties", ())
    }
    assert [f"{key} of {at}" for at, key in there_are - met] == []


@pytest.mark.parametrize("command", ["verify", "show", "messages", "requests", "resume-check"])
def test_shared_logs_are_answered_by_valid_documents(command: str) -> None:
    """Whatever is in them, nested as deep as may be."""
    folder = shared_or_skip("cases")
    logs = sorted(path for path in folder.rglob("*.jsonl") if path.stat().st_size < 100_000)

    for log in logs:
        text = run(command, "--json", str(log)).stdout_bytes
        answered = thaw(parse_value(text, 2 * MAX_DEPTH))  # deeper than json.loads goes
        errors = [error.message for error in validator(command).iter_errors(answered)]
        assert errors == [], log


# ---- a schema for each, and a good one -------------------------------------------------------


def test_every_command_has_a_schema() -> None:
    """And there is one for calls that name no command."""
    assert [*COMMANDS, "dsh-fp"] == list(SUBJECTS)
    for name in SUBJECTS:
        assert schema(name)["oneOf"]


@by_subject
def test_each_schema_is_valid_itself_and_needs_no_other_document(subject: str) -> None:
    """By the rules of its draft; every reference leads to a definition in it, and each is used."""
    whole = schema(subject)

    Draft202012Validator.check_schema(whole)

    assert whole["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert whole["$id"] == f"urn:dsh-fp:schema:1:{subject}"
    references = {at["$ref"] for at in objects_in(whole) if "$ref" in at}
    assert references == {f"#/$defs/{name}" for name in whole.get("$defs", {})}


def test_the_schema_in_a_document_is_the_one_printed_alone() -> None:
    """A program may take either."""
    answered = document("schema", "requests")

    assert answered["schema"] == schema("requests")


def test_the_list_names_each_schema_with_its_id() -> None:
    """For a person by name; for a program with what stands in the schema."""
    listed = document("schema")["schemas"]
    lines = run("schema").stdout.splitlines()

    assert [row["subject"] for row in listed] == [line.split()[0] for line in lines]
    for row, line in zip(listed, lines, strict=True):
        assert row["id"] == schema(row["subject"])["$id"]
        assert row["description"] == schema(row["subject"])["description"]
        assert line.endswith(f"  {row['description']}")


def test_codes_of_faults_are_those_of_the_library() -> None:
    """A new one is in the schemas at once."""
    fault = schema("verify")["$defs"]["fault"]

    assert fault["properties"]["code"]["enum"] == [code.value for code in Code]


def objects_in(value: object) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)


def test_codes_of_questions_are_in_the_reference() -> None:
    """Each with the commands that answer it."""
    page = (REPOSITORY / "docs" / "reference" / "json-output.md").read_text(encoding="utf-8")
    told = {
        (code, command)
        for code, commands in re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|", page, re.MULTILINE)
        for command in re.findall("`(.*?)`", commands)
    }

    library = {code.value for code in Code} | {"USAGE"}
    there_are = {
        (code, name)
        for name in SUBJECTS
        for at in objects_in(schema(name))
        for code in at.get("properties", {}).get("code", {}).get("enum", ())
        if code not in library
    }
    assert told == there_are


# ---- a schema can fail -----------------------------------------------------------------------


@pytest.mark.parametrize("example", FEW, ids=str)
def test_a_document_that_was_tampered_with_is_refused(example: Example) -> None:
    """A key more, a key less, a value of another type: in every object of ours."""
    judge = validator(example.subject)

    copies = tampered_with(answered(example))
    accepted = [what for what, tampered in copies if judge.is_valid(tampered)]

    assert accepted == []


def tampered_with(document: Any) -> Iterator[tuple[str, Any]]:
    """Copies of a document, each with one thing that no schema may let pass."""
    odd: dict[str, list[Any]] = {"odd": [{}]}
    seen: set[tuple[str, ...]] = set()
    for place, here in ours_in(document):
        name = name_of(document, place)
        if (name, *here) in seen:
            continue  # one of a kind is enough
        seen.add((name, *here))
        yield f"{name}: a key more", changed_at(document, place, {**here, "odd": 1})
        optional = {key for mark in OPTIONAL if mark in here for key in OPTIONAL[mark]}
        if place or "error" in here:
            optional |= OPTIONAL_AT.get(name, set())
        for key in here:
            less = {name: value for name, value in here.items() if name != key}
            if key not in optional:
                yield f"{name}: no {key}", changed_at(document, place, less)
            if not is_strangers(f"{name}.{key}"):
                yield f"{name}: odd {key}", changed_at(document, place, {**here, key: odd})


def ours_in(document: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Each object of ours in a document, with where it is."""
    waiting: list[tuple[Place, Any]] = [((), document)]
    while waiting:
        place, here = waiting.pop()
        if is_strangers(name_of(document, place)):
            continue
        if isinstance(here, dict):
            yield place, here
            waiting.extend(((*place, key), value) for key, value in here.items())
        elif isinstance(here, list):
            waiting.extend(((*place, number), value) for number, value in enumerate(here))


def name_of(document: Any, place: Place) -> str:
    """A place in words, whichever item of a list it is in: `verify.logs.session`."""
    keys = [part for part in place if isinstance(part, str)]
    return ".".join([document["command"] or "dsh-fp", *keys])


def is_strangers(name: str) -> bool:
    """Whether any value may stand at a place."""
    return any(name.endswith(f".{end}") or name == end for end in STRANGERS)


def changed_at(document: Any, place: Place, value: object) -> Any:
    """A copy of a document with another value at one place."""
    if not place:
        return value
    whole = copy.copy(document)
    here = whole
    for part in place[:-1]:
        here[part] = copy.copy(here[part])
        here = here[part]
    here[place[-1]] = value
    return whole
