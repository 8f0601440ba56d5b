"""Bring the pages up to date with the code: tables of the reference, output of the command.

python -m docs._ext            rewrites what is old
python -m docs._ext --check    only says what is old, and exits 1 then
"""

from __future__ import annotations

import sys

from docs._ext import consoles, tables


def main(arguments: list[str]) -> int:
    """The exit code."""
    only_check = "--check" in arguments
    stale = False
    for page in consoles.pages():
        text = page.read_text(encoding="utf-8")
        new = consoles.refreshed(tables.refreshed(text))
        if new == text:
            continue
        stale = True
        if not only_check:
            page.write_text(new, encoding="utf-8")
        name = page.relative_to(consoles.REPOSITORY)
        sys.stderr.write(f"{name} {'is old' if only_check else 'written'}\n")
    return 1 if stale and only_check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
