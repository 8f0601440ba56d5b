"""The index of all laws, written from their docstrings.

python -m property_specs.index            write INDEX.md
python -m property_specs.index --check    exit 1 when it is not current
"""

from __future__ import annotations

import sys
from typing import Final

from property_specs.laws import FOLDER, Topic, all_laws, all_topics

INDEX: Final = FOLDER / "INDEX.md"
_HEAD: Final = """# The laws

Written from the docstrings by `python -m property_specs.index`; edit those, not this page.
Each law has been seen failing on the break named beside it, and
`python -m property_specs.see_fail` shows it again.
"""


def page() -> str:
    """The text of the index."""
    count = f"\n{len(all_laws())} laws.\n"
    return "".join([_HEAD, count, *map(_section, all_topics())])


def _section(topic: Topic) -> str:
    rows = [
        f"| `{law.name}` | {_cell(law.sentence)} | {_cell(law.fields.get('Catches', ''))} "
        f"| {_cell(law.fields.get('Broken', ''))} |\n"
        for law in topic.laws
    ]
    head = f"\n## {topic.title}\n\n`{topic.file}`\n\n"
    return "".join(
        [head, "| law | says | catches | seen failing when |\n|---|---|---|---|\n", *rows]
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the index, or say whether it is current."""
    text = page()
    if "--check" in arguments:
        current = INDEX.exists() and INDEX.read_text(encoding="utf-8") == text
        if not current:
            sys.stderr.write("INDEX.md is not current: run python -m property_specs.index\n")
        return 0 if current else 1
    INDEX.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
