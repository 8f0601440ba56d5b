"""The captured requests of the shared samples against their logs.

`python -m tests.wire.samples` prints a row for each sample: captured, equal, and what of it
was taken from the bodies.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import attrs

from dsh_fp import Session, unwrap
from dsh_fp.formats.reading import read
from dsh_fp.wire.captures import read_captures
from dsh_fp.wire.expected import expected_requests
from dsh_fp.wire.matching import Matched, match_captures
from tests.shared import shared_folder


@attrs.frozen
class Sample:
    """The logs of one generation in a sample, and the capture beside them.

    `is_last` says that no later generation of the same sessions stands there: only then every
    captured request is in these logs.
    """

    name: str
    generation: str
    logs: tuple[Path, ...]
    capture: Path
    is_last: bool

    def sessions(self) -> list[Session]:
        """The sessions, the oldest first."""
        opened = [unwrap(read(path)).session for path in self.logs]
        return sorted(opened, key=lambda session: session.header.created_at)

    def matched(self) -> Matched:
        """The verdicts on the capture."""
        sessions = self.sessions()
        ids = {session.header.id for session in sessions}
        expected = [
            expected_requests(
                session, place=place, inherited=session.header.parent_session not in ids
            )
            for place, session in enumerate(sessions)
        ]
        return match_captures(expected, read_captures(self.capture))

    def __str__(self) -> str:
        return f"{self.name} {self.generation}"


def samples_folder() -> Path:
    """Where the samples should be."""
    return shared_folder() / "formats" / "samples"


def samples(folder: Path) -> Iterator[Sample]:
    """The samples that have captured requests; the damaged ones are another matter."""
    for sample in sorted(folder.iterdir() if folder.is_dir() else ()):
        captures = [sample / "requests.jsonl", sample / "requests.jsonl.gz"]
        capture = next((path for path in captures if path.exists()), None)
        if capture is None or sample.name.startswith("damaged"):
            continue
        generations: dict[str, list[Path]] = {}
        for path in sorted((sample / "sessions").rglob("*.jsonl*")):
            parts = path.name.split(".")
            generation = parts[1] if parts[1].startswith("v") else "v0"
            generations.setdefault(generation, []).append(path)
        last = max(generations, default="")
        for generation, logs in generations.items():
            yield Sample(sample.name, generation, tuple(logs), capture, generation == last)


def main() -> int:
    """Print the table; 1 when a captured request is not equal that should be."""
    rows = [("sample", "logs", "captured", "equal", "missed", "taken from the bodies")]
    code = 0
    for sample in samples(samples_folder()):
        matched = sample.matched()
        total = len(matched.verdicts)
        names = Counter(name for one in matched.verdicts for name in one.taken_from_body)
        taken = ", ".join(f"{name} {number}" for name, number in names.items())
        missed = len(matched.not_captured)
        rows.append(
            (sample.name, sample.generation, str(total), str(matched.equal), str(missed), taken)
        )
        code |= sample.is_last and matched.equal < total
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
