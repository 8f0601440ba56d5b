"""The example servers pass what they offer; the one in JavaScript shares no code with ours."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from property_specs.conforming.choosing import chosen
from property_specs.conforming.fixed import judge_vectors
from property_specs.conforming.judging import BROKEN, HELD, Effort, judge
from property_specs.conforming.process import ProcessDoor
from property_specs.conforming.protocol import SMALL
from tests.shared import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
LAWS = (
    "valid_logs_are_accepted",
    "first_fault_wins",
    "surface_matches_list_surgery",
    "messages_match_model",
    "a_header_fault_stands_until_the_next_snapshot",
    "odd_deltas_are_applied_as_slices",
    "diff_says_what_changed",
    "requests_match_refolded_prefixes",
    "closers_match_model",
    "forks_end_at_closed_turns",
    "cuts_are_balanced_by_counting",
)


def command_of(name: str) -> list[str]:
    """How an example server is run; skips when there is no Node.js for it."""
    path = str(EXAMPLES / name)
    if name.endswith(".py"):
        return [sys.executable, path]
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node.js on this machine")
    return [node, path]


@pytest.mark.parametrize("name", ["conform-server.py", "conform-server.mjs"])
def test_an_example_server_passes_what_it_offers(name: str) -> None:
    """Every vector and a law of each kind; `dsh-fp conform` asks them all."""
    door = ProcessDoor(command_of(name))
    try:
        laws, vectors = chosen([*LAWS, "vectors"])
        verdicts = [
            *judge_vectors(door, vectors, Effort()),
            *judge(door, laws, Effort(examples=15, with_saved_logs=False)),
        ]
    finally:
        door.close()

    assert set(SMALL) <= door.capabilities
    assert [(each.name, each.why) for each in verdicts if each.verdict == BROKEN] == []
    assert sum(each.verdict == HELD for each in verdicts) > 180
    assert {each.name for each in verdicts if each.verdict == HELD} >= set(LAWS)
    assert door.starts == 1


def test_the_javascript_server_needs_nothing_but_node() -> None:
    """No package is imported that does not come with it, and nothing of ours."""
    text = (EXAMPLES / "conform-server.mjs").read_text(encoding="utf-8")
    imports = [line for line in text.split("\n") if line.startswith("import ")]

    assert imports == ["import { createInterface } from 'node:readline'"]
    assert "require(" not in text


def test_the_exchange_shown_in_the_reference_is_real() -> None:
    """Each request of the page is answered as the page says."""
    page = REPOSITORY / "docs" / "reference" / "conform-protocol.md"
    lines = page.read_text(encoding="utf-8").split("\n")
    asked = [line[2:] for line in lines if line.startswith("> {")]
    answers = [line[2:] for line in lines if line.startswith("< {")]
    command = command_of("conform-server.mjs")
    ran = subprocess.run(
        command, input="".join(f"{line}\n" for line in asked), capture_output=True, text=True,
        check=True,
    )  # fmt: skip

    assert len(asked) >= 4
    assert ran.stdout.split("\n")[:-1] == answers


def test_the_adapter_of_the_howto_is_the_example() -> None:
    """The page shows the file, which is shorter than 30 lines."""
    page = (REPOSITORY / "docs" / "howto" / "judge-your-implementation.md").read_text(
        encoding="utf-8"
    )
    shown = page.split("```python\n")[1].split("```")[0]

    assert Path(EXAMPLES / "own_adapter.py").read_text(encoding="utf-8").endswith(shown)
    assert len(shown.split("\n")) < 30
