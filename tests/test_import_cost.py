"""What an import brings along, seen in `sys.modules` of a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.shared import REPOSITORY

HEAVY = {
    "_pytest",
    "asyncio",
    "click",
    "concurrent",
    "http",
    "hypothesis",
    "logging",
    "multiprocessing",
    "pytest",
    "rich",
    "socket",
    "sqlite3",
    "unittest",
    "urllib",
}
LIBRARIES = {"attr", "attrs", "msgspec", "pyrsistent", "returns"}


EVERY_CORE_NAME = """
import dsh_fp
for name, home in dsh_fp._HOME_OF.items():
    if home.startswith("dsh_fp.core"):
        getattr(dsh_fp, name)
"""


def modules_after(code: str) -> set[str]:
    """The modules that a piece of code brings into a fresh process."""
    watched = (
        "import sys, json\n"
        "before = set(sys.modules)\n"
        f"{code}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", watched], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def top_names(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def test_importing_the_package_loads_nothing_of_it() -> None:
    """Names are loaded on first use: no module of ours but the package, and no library."""
    loaded = modules_after("import dsh_fp")

    assert {module for module in loaded if module.startswith("dsh_fp")} == {"dsh_fp"}
    assert top_names(loaded) & (HEAVY | LIBRARIES) == set()


@pytest.mark.parametrize(
    "code",
    [
        "from dsh_fp import Session",
        "from dsh_fp import read",
        EVERY_CORE_NAME,
        "from dsh_fp import Session; Session.create().unwrap().append('x', {'a': [1]}, time=0)",
    ],
    ids=["Session", "read", "every core name", "an append"],
)
def test_the_core_and_the_reader_load_no_shell(code: str) -> None:
    """No command line, test tool, database, event loop, network or logger comes along."""
    loaded = modules_after(code)

    assert "dsh_fp.core.session" in loaded
    assert top_names(loaded) & HEAVY == set()
    assert {
        module for module in loaded if module.startswith(("dsh_fp.cli", "dsh_fp.store."))
    } == set()


def test_a_name_loads_the_floors_below_it_only() -> None:
    """Values need no session, and a session needs no file."""
    values = modules_after("from dsh_fp import snapshot")
    sessions = modules_after("from dsh_fp import Session")

    assert "dsh_fp.core.lossless" in values
    assert "dsh_fp.core.session" not in values
    assert "pyrsistent" not in top_names(values)
    assert {module for module in sessions if module.startswith("dsh_fp.storage")} == set()
    assert "dsh_fp.core.requests" not in sessions


def test_reading_a_log_without_asking_for_findings_loads_no_more_than_it_needs() -> None:
    """Findings are computed, and their module loaded, when they are asked for."""
    content = '{"type":"session","version":0,"id":"s","createdAt":1}\n'
    code = f"from dsh_fp import read; made = read({content.encode()!r}).unwrap()"

    before = modules_after(code)
    after = modules_after(f"{code}; made.findings")

    assert "dsh_fp.storage.findings" not in before
    assert "dsh_fp.storage.findings" in after
