"""Where the shared vectors and cases are on this machine, if they are anywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

VARIABLE: Final = "DSH_FP_SHARED"
REPOSITORY: Final = Path(__file__).resolve().parent.parent


def shared_folder() -> Path:
    """The folder that should hold `vectors` and `cases`; it need not exist."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else REPOSITORY.parent / "shared"


def shared_or_skip(name: str) -> Path:
    """The shared folder of that name; the calling test is skipped when there is none."""
    folder = shared_folder() / name
    if not folder.is_dir():
        pytest.skip(f"no shared {name} at {folder}; set {VARIABLE} to the folder that holds them")
    return folder
