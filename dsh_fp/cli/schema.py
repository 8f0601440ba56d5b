"""`dsh-fp schema [COMMAND]`: the JSON Schema of what a command prints with `--json`."""

from __future__ import annotations

import json

import click

from dsh_fp.cli.answer import Answer, common_options
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.safe import padded
from dsh_fp.cli.schemas import SUBJECTS, schema_of


def _completed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in SUBJECTS if name.startswith(incomplete)]


@click.command("schema")
@click.argument("subject", metavar="[COMMAND]", required=False, shell_complete=_completed)
@common_options
def command(subject: str | None, as_json: bool, color: str) -> int:
    """Print the JSON Schema of what COMMAND prints with --json; without COMMAND, list them.

    The schema is a document of its own (draft 2020-12) and exact: it names every key that this
    release writes. With --json it is one key of the usual document.
    """
    if subject is not None and subject not in SUBJECTS:
        raise click.UsageError(f"there is no schema {subject!r}; `dsh-fp schema` lists them.")
    answer = Answer("schema", as_json=as_json, color=color)
    if subject is not None:
        made = schema_of(subject)
        if as_json:
            answer.document(subject=subject, schema=made)
        else:
            answer.out.exact((json.dumps(made, indent=2), "\n"))
        return Exit.HOLDS
    named = [(name, schema_of(name)) for name in SUBJECTS]
    if as_json:
        answer.document(
            schemas=[
                {"subject": name, "id": made["$id"], "description": made["description"]}
                for name, made in named
            ]
        )
        return Exit.HOLDS
    wide = max(len(name) for name, _ in named)
    for name, made in named:
        answer.out.line(f"{padded(name, wide)}  {made['description']}")
    return Exit.HOLDS
