"""Writing the vectors, or saying whether they are current."""

from __future__ import annotations

import json
import sys

from property_specs.vectors import FOLDER
from property_specs.vectors.answers import answered
from property_specs.vectors.questions import TOPICS


def files() -> dict[str, str]:
    """The files' texts by name."""
    made = {}
    for topic, questions in TOPICS.items():
        lines = [
            json.dumps(
                {"name": name, "rule": rule, "op": operation, "arguments": arguments}
                | answered(operation, arguments)
            )
            for name, rule, operation, arguments in questions()
        ]
        made[f"{topic}.json"] = "[\n" + ",\n".join(lines) + "\n]\n"
    return made


def main(arguments: list[str]) -> int:
    """Write the files; with --check only say which are not current."""
    code = 0
    for name, text in files().items():
        path = FOLDER / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            sys.stderr.write(f"{name} is not current: run python -m property_specs.vectors\n")
            code = 1
        else:
            path.write_text(text, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
