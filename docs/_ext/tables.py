"""The tables of the reference that are made from the code, so that they cannot go stale.

A page marks the place of a table with `<!-- table: NAME -->` and `<!-- /table -->`; what
stands between the two is replaced. The tests compare, so a page is never behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from dsh_fp.core.generations import RELEASED_GENERATIONS
from dsh_fp.core.nesting import NESTINGS
from dsh_fp.core.reducer import CHECKS
from dsh_fp.core.rejection import Code, advice, severity
from dsh_fp.core.vocabulary import STANDARD, Frame, Role, TypeRule
from property_specs.conforming.protocol import FEATURES, OPERATIONS, SMALL

REFERENCE: Final = Path(__file__).resolve().parent.parent / "reference"

_PLACE: Final = re.compile(
    r"(?P<opening><!-- table: (?P<name>[a-z-]+) -->\n).*?(?P<closing><!-- /table -->)", re.DOTALL
)

# The first code of each group, in the order of Code, with the page that tells the rule.
GROUPS: Final[Mapping[Code, tuple[str, str]]] = MappingProxyType(
    {
        Code.JSON_SYNTAX: ("JSON values and text", "lossless-json.md"),
        Code.BAD_ENVELOPE: ("Acceptance of an event", "acceptance.md"),
        Code.HEADER_DELTA_WITHOUT_SNAPSHOT: ("Request headers and messages", "request-header.md"),
        Code.META_INVALID: ("Session headers and boundaries", "session-header.md"),
        Code.SEQ_NOT_INCREASING: ("Nesting of turns and steps", "trace-rules.md"),
        Code.PAIRING_CORRUPT: ("Tool pairing and chunk assembly", "tool-pairing.md"),
        Code.EDIT_INVALID: ("Edits of a log", "what-if.md"),
        Code.RULE_INVALID: ("Redaction", "redaction.md"),
        Code.FILE_UNREADABLE: ("Files and paths", "files.md"),
        Code.CERTIFICATE_INVALID: ("Certificates, proofs, signatures", "certificates.md"),
        Code.TORN_TAIL: ("Findings in a file that could be read", "files.md"),
    }
)
# Refused while an Event is made, before the first of CHECKS is asked.
SHAPE: Final = (Code.NOT_JSON, Code.TOO_DEEP, Code.BAD_ENVELOPE)


def row(*cells: str) -> str:
    """One row of a table."""
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table with its head."""
    return "\n".join([row(*head), row(*["---"] * len(head)), *(row(*cells) for cells in rows)])


def codes_by_group() -> Iterator[tuple[str, str, list[Code]]]:
    """Title, page and codes of each group."""
    title, page = "", ""
    codes: list[Code] = []
    for code in Code:
        if code in GROUPS:
            if codes:
                yield title, page, codes
            (title, page), codes = GROUPS[code], []
        codes.append(code)
    yield title, page, codes


def codes_table() -> str:
    """Every code with its severity and advice, group by group."""
    parts = []
    for title, page, codes in codes_by_group():
        rows = ((f"`{code}`", severity(code), advice(code)) for code in codes)
        listed = table(("code", "severity", "what to do"), rows)
        parts.append(f"### {title}\n\nThe rules: [{page.removesuffix('.md')}]({page}).\n\n{listed}")
    return "\n\n".join(parts)


def checked_codes() -> Iterator[tuple[str, Code]]:
    """Each code of acceptance with the check that answers it, in the order of the checks."""
    for code in SHAPE:
        yield "(the event is made)", code
    for check in CHECKS:
        for name in re.findall(r"[A-Z]+(?:_[A-Z]+)+", check.__doc__ or ""):
            yield f"`{check.__name__}`", Code(name)


def acceptance_table() -> str:
    """The codes of acceptance in the order in which they are looked for."""
    return table(
        ("", "check", "code", "what to do"),
        (
            (str(place), check, f"`{code}`", advice(code))
            for place, (check, code) in enumerate(checked_codes(), start=1)
        ),
    )


def _message_text(rule: TypeRule) -> str:
    message = rule.message
    if message is None:
        return "none"
    how = {
        Frame.PLAIN: "content as it is",
        Frame.TAGGED: f"content between `{message.tag}` tags",
        Frame.TOOL_RESULT: "content in one `tool-result` block",
        Frame.RECORD: f"`data{'' if message.within is None else '.' + message.within}`",
    }[message.frame]
    return f"{message.speaker}, {how}{'; none if empty' if message.drop_empty else ''}"


def types_table() -> str:
    """Every type of the standard vocabulary: role, message, fields that `strict()` asks for."""
    order = [Role.SURFACE, Role.REQUEST_HEADER, Role.LOG_ONLY]
    rules = sorted(STANDARD.rules.items(), key=lambda item: (order.index(item[1].role), item[0]))
    return table(
        ("type", "role", "message", "fields (`?`: may be absent)"),
        (
            (
                f"`{name}`",
                rule.role.value,
                _message_text(rule),
                ", ".join(f"`{field.key}{'?' if field.optional else ''}`" for field in rule.shape),
            )
            for name, rule in rules
        ),
    )


def operations_table() -> str:
    """Every question of `dsh-fp conform`."""
    return table(
        ("operation", "arguments", "answer"),
        (
            (
                f"`{name}`{' *' if name in SMALL else ''}",
                ", ".join(
                    [
                        *(f"`{each}`" for each in operation.parameters),
                        *(f"`{each}?`" for each in operation.optional),
                    ]
                ),
                operation.answer,
            )
            for name, operation in OPERATIONS.items()
        ),
    )


def features_table() -> str:
    """What an implementation may say of itself beside the questions it answers."""
    return table(("feature", "means"), ((f"`{name}`", says) for name, says in FEATURES.items()))


def generations_table() -> str:
    """What each generation's form says, July's first."""
    forms = [each.form for each in (STANDARD, *RELEASED_GENERATIONS)]

    def yes(truth: bool) -> str:
        return "yes" if truth else ""

    rows: list[tuple[str, ...]] = [
        ("`version` in the header", *(str(form.version) for form in forms)),
        ("a replacement's keys", *(f"`{form.start}`, `{form.end}`" for form in forms)),
        ("envelope keys", *(str(len(form.envelope.keys)) for form in forms)),
        ("unlisted types refused", *(yes(form.refuses_unknown) for form in forms)),
        ("rows of packed chunks", *(yes(form.packed) for form in forms)),
        ("a row is judged by itself", *(yes(form.judges_rows) for form in forms)),
        ("inherited events told by", *(f"`{form.inherited_by}`" for form in forms)),
        (
            "nodes' own rules",
            *(
                "; ".join((check.__doc__ or "").split(":")[0].rstrip(".") for check in form.checks)
                for form in forms
            ),
        ),
        (
            "may cite nothing (`[]`)",
            *(", ".join(f"`{name}`" for name in sorted(form.may_cite_nothing)) for form in forms),
        ),
        (
            "in the open step",
            "[as here](trace-rules.md)",
            *(
                ", ".join(f"`{name}`" for name in sorted(NESTINGS[form.generation].in_step))
                for form in forms[1:]
            ),
        ),
        (
            "a breach of nesting",
            "finding",
            *("refused" if NESTINGS[form.generation].binds else "finding" for form in forms[1:]),
        ),
    ]
    return table(("", *(form.generation for form in forms)), rows)


def released_types_table() -> str:
    """The types of each released generation that make messages, and how many others it lists."""
    names = sorted(
        {name for each in RELEASED_GENERATIONS for name, rule in each.rules.items() if rule.message}
    )
    rows = [
        (
            f"`{name}`",
            *(
                _message_text(each.rule(name)) if each.knows(name) else ""
                for each in RELEASED_GENERATIONS
            ),
        )
        for name in names
    ]
    others = (
        str(sum(rule.message is None for rule in each.rules.values()))
        for each in RELEASED_GENERATIONS
    )
    heads = (each.form.generation for each in RELEASED_GENERATIONS)
    return table(("type", *heads), [*rows, ("(other types)", *others)])


TABLES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        "codes": codes_table,
        "acceptance": acceptance_table,
        "types": types_table,
        "generations": generations_table,
        "released-types": released_types_table,
        "conform-operations": operations_table,
        "conform-features": features_table,
    }
)


def refreshed(page: str) -> str:
    """The text of a page with each marked table made anew."""
    return _PLACE.sub(
        lambda place: f"{place['opening']}\n{TABLES[place['name']]()}\n\n{place['closing']}", page
    )


def marked_pages() -> list[Path]:
    """The pages that hold such a table."""
    return [
        page
        for page in sorted(REFERENCE.glob("*.md"))
        if _PLACE.search(page.read_text(encoding="utf-8"))
    ]
