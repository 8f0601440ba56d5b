"""The one fixture through which every backend passes its contract."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from tests.durable.places import PLACES, InDatabase, InFiles, Place


@pytest.fixture(params=sorted(PLACES))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A place of each kind."""
    return cast(Place, PLACES[request.param](tmp_path))


@pytest.fixture(params=["jsonl", "sqlite"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A place of each kind that outlives the process."""
    return cast(Place, PLACES[request.param](tmp_path))


@pytest.fixture
def files(tmp_path: Path) -> InFiles:
    """A place of JSONL files."""
    return InFiles(tmp_path)


@pytest.fixture
def database(tmp_path: Path) -> InDatabase:
    """A place in a database."""
    return InDatabase(tmp_path)
