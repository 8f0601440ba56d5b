"""The pytest plugin: recorded logs as fixtures, and comparisons that a person can read.

pytest loads it in every run on a machine that has dsh_fp, so nothing but pytest is imported
here; what a test asks for is imported then.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dsh_fp.replay_model import ReplayModel
    from dsh_fp.storage.jsonl import LogFile

MARKER = "dsh_log"
_OPTIONS = {"check": True, "to_the_end": False}
_USAGE = '@pytest.mark.dsh_log("recorded.jsonl", check=True, to_the_end=False)'
_logs_key = pytest.StashKey[dict[tuple[Path, int, int], "LogFile"]]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "dsh_log(path, check=True, to_the_end=False): the recorded log that the fixtures dsh_log "
        "and replay_model give. With check the test fails at the first request that is not the "
        "recorded one, with to_the_end also when recorded calls were not asked for.",
    )


@pytest.fixture
def dsh_log(request: pytest.FixtureRequest) -> LogFile:
    """The log that the test is marked with, or that it is parametrized with (indirectly).

    A relative path is looked for beside the test's file, then in pytest's root folder.
    """
    path = _path_for(request)
    from dsh_fp.storage.jsonl import read  # noqa: PLC0415  # not before a test asks for it

    try:
        facts = path.stat()
        key = (path, facts.st_mtime_ns, facts.st_size)
    except OSError:
        key = (path, 0, 0)
    kept = request.config.stash.setdefault(_logs_key, {})
    if key not in kept:
        made = read(path)
        fault = made.swap().value_or(None)
        if fault is not None:
            pytest.fail(f"the log of this test is refused: {fault}", pytrace=False)
        kept[key] = made.unwrap()
    return kept[key]


@pytest.fixture
def replay_model(request: pytest.FixtureRequest, dsh_log: LogFile) -> ReplayModel:
    """A model that answers what is recorded in the test's log, call by call.

    Whatever the test does about it, the test fails when a request was another one than recorded.
    """
    from dsh_fp.testing.recorded import RecordedModel  # noqa: PLC0415  # as above

    options = _options_of(request.node)
    return RecordedModel(dsh_log.session, check=options["check"], to_the_end=options["to_the_end"])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test whose recorded model was asked for something else, even if it caught that."""
    model: Any = getattr(item, "funcargs", {}).get("replay_model")
    try:
        result = yield
    except Exception:
        parted = getattr(model, "parted", None)
        if parted is not None:
            item.add_report_section("call", "dsh_log", parted)
        raise
    complaint = getattr(model, "complaint", None)
    if complaint is not None:
        pytest.fail(complaint, pytrace=False)
    return result


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Where two sessions, requests or JSON values of this library part."""
    if op != "==" or not (_is_ours(left) or _is_ours(right)):
        return None
    from dsh_fp.testing.comparing import explained  # noqa: PLC0415  # as above

    return explained(left, right)


def _is_ours(value: object) -> bool:
    home: object = type(value).__module__
    return isinstance(home, str) and home.startswith("dsh_fp.")


def _path_for(request: pytest.FixtureRequest) -> Path:
    given: object = getattr(request, "param", None)
    if given is None:
        marker = request.node.get_closest_marker(MARKER)
        if marker is None or len(marker.args) != 1:
            pytest.fail(f"this test needs a recorded log: {_USAGE}", pytrace=False)
        given = marker.args[0]
    if not isinstance(given, str | Path):
        pytest.fail(f"the log of a test is named by a path: {_USAGE}", pytrace=False)
    places = (request.path.parent / given, request.config.rootpath / given)
    found = [place for place in places if place.exists()]
    return found[0] if found else places[0]


def _options_of(node: pytest.Item) -> dict[str, bool]:
    marker = node.get_closest_marker(MARKER)
    given: dict[str, bool] = {} if marker is None else dict(marker.kwargs)
    unknown = given.keys() - _OPTIONS.keys()
    if unknown:
        pytest.fail(f"dsh_log has no option {min(unknown)!r}: {_USAGE}", pytrace=False)
    return _OPTIONS | given
