"""`dsh_fp.testing`: its names, what importing it costs, and that failures shrink to a short log."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from typing import Any

import pytest
from hypothesis import find, settings
from hypothesis import strategies as st

import dsh_fp
from dsh_fp import testing
from dsh_fp.testing import hypothesis_hook
from tests.shared import REPOSITORY

QUIET = settings(database=None, derandomize=True, max_examples=200)


def run(code: str) -> subprocess.CompletedProcess[str]:
    """A piece of code in a fresh process."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )


def printed(code: str) -> str:
    """What a piece of code prints, run to its end."""
    done = run(code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- names and imports -----------------------------------------------------------------------


@pytest.mark.parametrize("name", testing.__all__)
def test_every_name_loads_from_its_home(name: str) -> None:
    """And says what it gives, where it is a function or a class."""
    value = getattr(testing, name)

    assert value is getattr(import_module(testing._HOME_OF[name]), name)
    assert not callable(value) or value.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A typo says what it is."""
    with pytest.raises(AttributeError, match="no attribute 'sesions'"):
        testing.sesions  # noqa: B018  # that is the point


def test_the_package_brings_nothing_of_it_along() -> None:
    """`import dsh_fp` loads no testing module, and `dsh_fp.testing` neither hypothesis nor core."""
    bare = printed("import sys, dsh_fp; print([m for m in sys.modules if 'testing' in m])")
    loaded = printed(
        "import sys, dsh_fp.testing;"
        "print([m for m in sys.modules if m.startswith(('hypothesis', 'dsh_fp.core'))])"
    )

    assert bare == loaded == "[]"


def test_minimising_needs_no_hypothesis() -> None:
    """Nor do the assertions; the command line has them without the extra."""
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from dsh_fp.testing import minimise, assert_same_request, assert_same_messages\n"
        "print(minimise.__name__)"
    )

    assert printed(code) == "minimise"


@pytest.mark.parametrize("name", ["events", "SessionMachine"])
def test_what_needs_hypothesis_says_so(name: str) -> None:
    """The name of the extra is in the error."""
    done = run(f"import sys; sys.modules['hypothesis'] = None\nfrom dsh_fp.testing import {name}")

    last = done.stderr.splitlines()[-1]
    assert last == (
        f"ImportError: dsh_fp.testing.{name} needs hypothesis: pip install 'dsh-fp[testing]'"
    )


def test_another_missing_module_is_not_blamed_on_hypothesis() -> None:
    """Its own name stands in the error."""
    code = "import sys; sys.modules['property_specs.generators'] = None\n"
    done = run(code + "from dsh_fp.testing import events")

    assert "property_specs.generators" in done.stderr.splitlines()[-1]
    assert "dsh-fp[testing]" not in done.stderr.splitlines()[-1]


# ---- the entry point -------------------------------------------------------------------------


def test_hypothesis_is_told_where_to_call() -> None:
    """The entry points name what is there."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entries = project["entry-points"]

    assert entries["hypothesis"] == {"dsh_fp": "dsh_fp.testing.hypothesis_hook:register"}
    assert callable(hypothesis_hook.register)


HOOK = "from dsh_fp.testing.hypothesis_hook import register\n"
ASK = "from hypothesis import strategies as st\nprint(st.from_type(Session).wrapped_strategy)\n"


def test_registering_loads_nothing() -> None:
    """No module of the core, no generator, not even hypothesis."""
    code = (
        f"import os, sys; os.environ['HYPOTHESIS_NO_PLUGINS'] = '1'\n{HOOK}register(); register()\n"
        "print([m for m in sys.modules if m.startswith(('dsh_fp.core', 'property', 'hypothesis'))])"
        "\nprint(len([f for f in sys.meta_path if type(f).__name__ == '_Watch']))"
    )

    assert printed(code) == "[]\n1"


@pytest.mark.parametrize(
    "order",
    [
        f"import hypothesis\n{HOOK}register()\nfrom dsh_fp import Session\n",
        f"{HOOK}register()\nimport hypothesis\nfrom dsh_fp.core.session import Session\n",
        f"from dsh_fp import Session\nimport hypothesis\n{HOOK}register()\n",
        "from dsh_fp.testing import events\nfrom dsh_fp import Session\n",
    ],
    ids=["hypothesis first", "hook first", "session first", "strategies"],
)
def test_types_are_known_in_any_order(order: str) -> None:
    """Whoever is loaded first, and nothing of the hook stays where it is not needed."""
    code = f"import os; os.environ['HYPOTHESIS_NO_PLUGINS'] = '1'\n{order}{ASK}"
    code += (
        "import sys\n"
        "print([f for f in sys.meta_path if type(f).__name__ == '_Watch'])\n"
        "print(type(sys.modules['dsh_fp.core.session'].__loader__).__name__)\n"
        "print(type(sys.modules['dsh_fp.core.session'].__spec__.loader).__name__)\n"
    )

    told = printed(code).splitlines()

    assert told[-3:] == ["[]", "SourceFileLoader", "SourceFileLoader"]


@pytest.mark.parametrize("kind", [dsh_fp.Session, dsh_fp.Event, dsh_fp.SessionHeader])
def test_types_have_a_strategy(kind: type[Any]) -> None:
    """Each from the type alone."""
    assert isinstance(find(st.from_type(kind), lambda _: True, settings=QUIET), kind)


# ---- what is given ---------------------------------------------------------------------------


def test_a_failing_log_shrinks_to_what_matters() -> None:
    """A replacement needs a turn, a message to replace and the message in its place."""
    log = find(
        testing.valid_logs(strict=True),
        lambda log: any("op" in str(event.get("surfaceOp")) for event in log),
        settings=QUIET,
    )

    assert [event["type"] for event in log] == ["turn/start", "user/message", "user/message"]


def test_the_least_compaction() -> None:
    """Four events, and what they need."""
    log = find(testing.compactions(), lambda _: True, settings=QUIET)

    assert [event["type"] for event in log] == [
        "turn/start",
        "user/message",
        "compact/start",
        "compact/summary",
        "user/message",
        "compact/end",
    ]


def test_nothing_is_a_valid_log() -> None:
    """The least log has no event, the least session is empty."""
    assert find(testing.valid_logs(), lambda _: True, settings=QUIET) == []
    assert len(find(testing.sessions(), lambda _: True, settings=QUIET)) == 0
    assert find(testing.crashed_logs(), lambda _: True, settings=QUIET) == []


def test_header_sequences_hold_headers() -> None:
    """Each header can be made canonical."""
    sequence = find(testing.header_sequences(), lambda found: len(found) > 2, settings=QUIET)

    assert all(dsh_fp.canonical_header(header).unwrap() is not None for header in sequence)


def test_a_code_of_no_log_is_a_value_error() -> None:
    """Where to find those that there are is said."""
    with pytest.raises(ValueError, match="BROKEN_CODES"):
        testing.broken_logs("LOG_CORRUPT")
    with pytest.raises(ValueError, match="no log is made for 'SOURCES_UNKNOWN'"):
        testing.broken_logs(dsh_fp.Code.SOURCES_UNKNOWN)


def test_payloads_are_those_of_known_types() -> None:
    """Any, or those of one type."""
    with pytest.raises(ValueError, match="'plugin/note' is no known event type"):
        testing.payloads("plugin/note")
    assert find(testing.payloads("todo/write"), lambda _: True, settings=QUIET) == {"todos": []}
    assert isinstance(find(testing.payloads(), lambda _: True, settings=QUIET), dict)
