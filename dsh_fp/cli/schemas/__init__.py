"""The JSON Schemas of what the commands print with `--json`, one module a command.

They are Python and not JSON files, because half of what they say is decided elsewhere in
Python: the codes of faults, the bounds of a seq, the exit codes. Here that is referred to and
cannot fall behind; shared shapes stand once, in `parts`; and what is printed is a document of
its own all the same, with just the definitions it needs. A schema is exact: it has no room for
a key that this release does not write.

Only the command `schema` and the tests load them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from dsh_fp.cli.program import COMMANDS, NAME
from dsh_fp.cli.schemas.parts import Schema

SUBJECTS: Final[Mapping[str, str]] = MappingProxyType(
    {**COMMANDS, NAME: "What a call is answered that names no command."}
)
"""What there is a schema of, by name: every command, and the program itself."""


def schema_of(subject: str) -> Schema:
    """The schema of a command's document, self-contained, made anew."""
    name = "program" if subject == NAME else subject.replace("-", "_")
    made: Schema = import_module(f"dsh_fp.cli.schemas.{name}").schema()
    return made
