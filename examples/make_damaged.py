"""Write garden-torn.jsonl: the garden log, had the process died while a tool ran.

    python examples/make_damaged.py            writes examples/garden-torn.jsonl
    python examples/make_damaged.py --check    says whether the file is what this writes

The cut lies in the third turn: the call is logged, its result is half written, and the
file ends inside the bytes of one character.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

GARDEN: Final = Path(__file__).with_name("garden.jsonl")
TORN: Final = Path(__file__).with_name("garden-torn.jsonl")
CALL_ID: Final = "call_cal_1"
TORN_CHARACTER: Final = "🥬"
BYTES_KEPT_OF_IT: Final = 2


def id_text(path: Path) -> bytes:
    """How a session header names the session of a file."""
    return f'"id":"{path.stem}"'.encode()


def torn(whole: bytes) -> bytes:
    """The log up to the middle of the result of one call, under the name of its own file."""
    header, *lines = whole.splitlines(keepends=True)
    kept = [header.replace(id_text(GARDEN), id_text(TORN))]
    for line in lines:
        event = json.loads(line)
        if event["type"] == "tool/result" and event["data"]["callId"] == CALL_ID:
            cut = line.index(TORN_CHARACTER.encode("utf-8")) + BYTES_KEPT_OF_IT
            return b"".join((*kept, line[:cut]))
        kept.append(line)
    raise ValueError(f"{GARDEN.name} holds no result of {CALL_ID}")


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description="Write examples/garden-torn.jsonl.")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    arguments = parser.parse_args()
    content = torn(GARDEN.read_bytes())
    if not arguments.check:
        TORN.write_bytes(content)
        return 0
    same = TORN.is_file() and TORN.read_bytes() == content
    print(f"{TORN.name} is {'what' if same else 'not what'} this script writes")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
