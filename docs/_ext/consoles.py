"""The `console` blocks of the pages: what `dsh-fp` prints, run again and compared.

In a block, a line that begins with `$ ` is a command of a shell at the repository's root, and
the lines up to the next one are its standard output. Blocks that do not begin with a call of
`dsh-fp` are left alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent.parent

_BLOCK: Final = re.compile(
    r"(?P<opening>^```console\n)(?P<body>\$ dsh-fp .*?)(?P<closing>^```$)", re.DOTALL | re.MULTILINE
)


def pages() -> list[Path]:
    """Every page a reader may open: the README, its neighbours, and docs/."""
    return [
        REPOSITORY / "README.md",
        REPOSITORY / "CONTRIBUTING.md",
        REPOSITORY / "examples" / "README.md",
        *sorted(
            page
            for page in (REPOSITORY / "docs").rglob("*.md")
            if "_build" not in page.relative_to(REPOSITORY).parts
        ),
    ]


def printed(command: str) -> str:
    """What a shell command prints, `dsh-fp` being the one of this Python."""
    real = re.sub(r"\bdsh-fp(?= )", lambda _: f"'{sys.executable}' -m dsh_fp.cli", command)
    run = subprocess.run(
        ["sh", "-c", real],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a block shows standard output
        encoding="utf-8",
        check=False,
    )
    return run.stdout.rstrip("\n")


def commands_of(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a block with the output shown for it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.rstrip("\n")


def shown_in(page: Path) -> Iterator[tuple[str, str]]:
    """Each command of a page's blocks with the output shown for it."""
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield from commands_of(block["body"])


def refreshed(page: str) -> str:
    """The text of a page with the output in its blocks made anew."""

    def again(block: re.Match[str]) -> str:
        lines: list[str] = []
        for command, _ in commands_of(block["body"]):
            output = printed(command)
            lines += [f"$ {command}", output] if output else [f"$ {command}"]
        return block["opening"] + "\n".join(lines) + "\n" + block["closing"]

    return _BLOCK.sub(again, page)
