"""What one run measures, and figures as people read them."""

from pathlib import Path
from typing import Final

import attrs

from benchmarks.files import log_path
from benchmarks.profiles import CHATTY, Profile

SEED: Final = 20_250_714
SMALL: Final = 1_000


@attrs.frozen
class Plan:
    """What one run measures: sizes in events, where logs are kept, how often a job runs."""

    events: int
    large: int | None
    folder: Path
    repeats: int

    def path(self, events: int, profile: Profile = CHATTY) -> Path:
        """The generated log of so many events."""
        return log_path(self.folder, profile, events, SEED)


def in_ms(seconds: float) -> str:
    """Whole milliseconds."""
    return f"{1_000 * seconds:,.0f} ms"


def in_us(seconds: float) -> str:
    """Microseconds."""
    return f"{1_000_000 * seconds:,.2f} µs"


def in_mb(size: int) -> str:
    """Megabytes of a million bytes."""
    return f"{size / 1_000_000:,.1f} MB"
