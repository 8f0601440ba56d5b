"""Listing the corpus and adding to it."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, given, seed, settings

from property_specs.corpus import KINDS, all_saved, keep, kind_of
from property_specs.corpus.rare import marks
from property_specs.generators.logs import closed_logs, loose_logs, turned_logs
from property_specs.generators.wild_events import wild_logs
from property_specs.models.json_values import Lossy, settle

MOST_EVENTS: Final = 14
_USUAL: Final = 2_000


def add(path: Path, name: str) -> int:
    """Keep the log of a file."""
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    log = [json.loads(line) for line in lines]
    if log and isinstance(log[0], dict) and log[0].get("type") == "session":
        log = log[1:]
    made = keep(log, name)
    sys.stdout.write(f"{'it is there already' if made is None else made.name}\n")
    return 0


def collect(examples: int, first_seed: int) -> int:
    """Keep, for every mark that no saved log has, the smallest log that was drawn with it."""
    known = {mark for saved in all_saved() for mark in marks(saved.log(), saved.kind)}
    found: dict[str, list[Any]] = {}
    sources = {
        "closed": closed_logs(),
        "turned": turned_logs(),
        "loose": loose_logs(),
        "wild": wild_logs(),
    }
    for kind in KINDS:

        @seed(first_seed)
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(log=sources[kind])
        def look(log: list[Any]) -> None:
            try:
                log = settle(log)
            except Lossy:
                return
            if len(log) > MOST_EVENTS:
                return
            for mark in marks(log, kind_of(log)):
                smallest = found.get(mark)
                if mark not in known and (smallest is None or len(repr(log)) < len(repr(smallest))):
                    found[mark] = log

        look()
    # A log that has many marks makes others superfluous.
    while found:
        logs = {repr(log): log for log in found.values()}
        best = max(logs.values(), key=lambda log: _worth(log, found))
        covered = [mark for mark in marks(best, kind_of(best)) if mark in found]
        words = "".join(c if c.isalnum() else " " for c in covered[0].lower()).split()
        number = sha256(repr(best).encode()).hexdigest()[:6]
        made = keep(best, f"{'-'.join(words)[:40].strip('-')}-{number}")
        sys.stdout.write(f"{made and made.name}: {', '.join(covered)}\n")
        for mark in {*covered, *(m for m in found if found[m] is best)}:
            found.pop(mark, None)
    return 0


def _worth(log: list[Any], found: dict[str, list[Any]]) -> tuple[int, int]:
    return len({*marks(log, kind_of(log))} & found.keys()), -len(repr(log))


def main(arguments: list[str]) -> int:
    """Do what is asked."""
    match arguments:
        case []:
            for saved in all_saved():
                sys.stdout.write(f"{saved.name}: {len(saved.log())} events\n")
            return 0
        case ["add", path]:
            return add(Path(path), Path(path).stem)
        case ["add", path, name]:
            return add(Path(path), name)
        case ["collect"]:
            return collect(_USUAL, 0)
        case ["collect", examples]:
            return collect(int(examples), 0)
        case ["collect", examples, first_seed]:
            return collect(int(examples), int(first_seed))
        case _:
            sys.stderr.write(
                "usage: python -m property_specs.corpus [add FILE [NAME] | collect [N [SEED]]]\n"
            )
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
