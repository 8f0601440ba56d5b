"""Logs that a runtime migrated itself: ours are the same, event for event and byte for byte."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from dsh_fp import read
from dsh_fp.core.migration.migrating import migrated
from dsh_fp.formats.frames import content_of, walk
from dsh_fp.formats.names import parse_file_name
from dsh_fp.formats.reading import ReleasedLogFile
from dsh_fp.formats.whole import encode_session
from tests.shared import shared_folder, shared_or_skip

_LIMIT = 1 << 30
# What a runtime adds to a log that it migrated, once it goes on with it.
_GOES_ON = "session/end-seed"


def _logs(folder: Path) -> list[Path]:
    found = [path for path in folder.rglob("session*") if parse_file_name(path.name)]
    return sorted(found, key=lambda path: (str(path.parent), _version(path)))


def _version(path: Path) -> int:
    name = parse_file_name(path.name)
    assert name is not None
    return name.version


def _migrated_by_runtimes() -> list[tuple[Path, Path]]:
    """The files that stand side by side, each with the next generation published from it."""
    samples = shared_folder() / "formats" / "samples"
    logs = [path for folder in sorted(samples.glob("migrated-*")) for path in _logs(folder)]
    return [
        pair
        for _, beside in itertools.groupby(logs, key=lambda path: path.parent)
        for pair in itertools.pairwise(beside)
    ]


def _converted_by_libraries() -> list[tuple[Path, Path]]:
    """The files that a library made, each with the genuine log that it was made from."""
    samples = shared_folder() / "formats" / "samples"
    genuine = {_birth(path): path for folder in samples.glob("v0-*") for path in _logs(folder)}
    made = [path for folder in sorted(samples.glob("v[12]-*")) for path in _logs(folder)]
    return [(genuine[_birth(path)], path) for path in made if _birth(path) in genuine]


def _birth(path: Path) -> tuple[str, float]:
    header = _opened(path).header
    return header.id, header.created_at


def _opened(path: Path) -> ReleasedLogFile:
    opened = read(path).unwrap()
    assert isinstance(opened, ReleasedLogFile)
    return opened


def _named(pair: tuple[Path, Path]) -> str:
    old, new = pair
    return f"{old.parts[-5]}-{new.parent.name}-{_version(old)}-{_version(new)}"


def _lines(path: Path) -> list[bytes]:
    view = memoryview(path.read_bytes())
    frames = walk(view)[0]
    return b"".join(content_of(view, frame, _LIMIT) for frame in frames).splitlines()


@pytest.mark.parametrize("pair", _migrated_by_runtimes(), ids=_named)
def test_a_log_migrates_as_its_runtime_migrated_it(pair: tuple[Path, Path]) -> None:
    """Header, events and the text of each line; what was written later comes after them."""
    old, new = pair
    published = _opened(new)

    made = migrated(_opened(old).session, published.session.vocabulary).unwrap()

    events = list(made.session.events)
    later = published.session.events[len(events) :]
    assert made.differences == ()
    assert made.session.header == published.header
    assert events == list(published.session.events[: len(events)])
    assert encode_session(made.session).splitlines() == _lines(new)[: len(events) + 1]
    assert not later or later[0].type == _GOES_ON


@pytest.mark.parametrize("pair", _converted_by_libraries(), ids=_named)
def test_a_log_converts_as_the_format_library_converted_it(pair: tuple[Path, Path]) -> None:
    """The whole text, packed rows included."""
    old, new = pair
    vocabulary = _opened(new).session.vocabulary

    made = migrated(_opened(old).session, vocabulary).unwrap()

    assert made.differences == ()
    assert encode_session(made.session).splitlines() == _lines(new)


def test_there_are_migrated_logs_to_compare_with() -> None:
    shared_or_skip("formats")

    assert len(_migrated_by_runtimes()) >= 10
    assert len(_converted_by_libraries()) >= 5
