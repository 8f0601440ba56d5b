"""What each exit code means. A number, once given a meaning, keeps it."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final


class Exit(enum.IntEnum):
    """The exit codes, as docs/reference/command-line.md lists them."""

    HOLDS = 0
    FINDING = 1
    USAGE = 2
    UNREADABLE = 3
    UNSUPPORTED = 4
    UNWRITABLE = 5
    INTERRUPTED = 130
    READER_LEFT = 141  # as the shell reports any program whose reader went away


# From harmless to grave: of several logs the gravest answer counts.
_GRAVITY: Final = (Exit.HOLDS, Exit.FINDING, Exit.UNREADABLE, Exit.UNSUPPORTED)


def gravest(codes: Iterable[Exit]) -> Exit:
    """The code for several logs, given the code of each."""
    return max(codes, key=_GRAVITY.index, default=Exit.HOLDS)
