"""Checks to outcomes: what is run, what is skipped and why, what failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.cases.damages import DAMAGES
from tests.cases.inputs import Inputs
from tests.cases.loading import Check, UnusableCase, read_case
from tests.cases.loads import LOADS
from tests.cases.names import NAMES
from tests.cases.objects import OBJECTS
from tests.cases.recorded import RECORDED
from tests.cases.redactions import REDACTIONS
from tests.cases.verdicts import Ask, Operation
from tests.cases.views import VIEWS
from tests.conformance.report import Outcome, Status
from tests.conformance.running import raised

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType(
    {**LOADS, **VIEWS, **NAMES, **OBJECTS, **RECORDED, **REDACTIONS, **DAMAGES}
)

# Of July's files only what another implementation bears out is run; of the later form and of
# Python objects, whatever is held to be right.
BASES: Final = frozenset({"reference", "differs"})
FILES: Final = "july-v0"
RELEASED: Final = "head-v0"
PYTHON: Final = "python"


def run_folder(folder: Path, inputs: Inputs, bases: frozenset[str] = BASES) -> Iterator[Outcome]:
    """The outcomes of one case's checks."""
    for check in read_case(folder):
        match check:
            case UnusableCase(reason=reason):
                yield Outcome(Status.FAILED, ascii(folder.name)[1:-1], reason)
            case Check():
                yield from run_check(check, inputs, bases)


def run_check(check: Check, inputs: Inputs, bases: frozenset[str] = BASES) -> Iterator[Outcome]:
    """The outcome of one check, and one more for what it asks and nobody looked at."""
    subject = f"{check.case} {check.op} {check.file}"
    why = reason_to_skip(check, bases)
    if why is not None:
        yield Outcome(Status.SKIPPED, subject, why)
        return
    try:
        findings = tuple(OPERATIONS[check.op](Ask(check, inputs)))
    except Exception as error:  # noqa: BLE001 - whatever a check raises is its own failure
        yield Outcome(Status.FAILED, subject, raised(error))
        return
    faults = [one.fault for one in findings if one.fault is not None]
    unknown = [one.unknown for one in findings if one.unknown is not None]
    if faults:
        yield Outcome(Status.FAILED, subject, "\n  ".join(faults[:8]))
    elif len(findings) > len(unknown):
        yield Outcome(Status.PASSED, subject)
    elif not unknown:
        yield Outcome(Status.FAILED, subject, "nothing was compared")
    if unknown:
        yield Outcome(Status.SKIPPED, f"{subject}, in part", "; ".join(unknown))


def reason_to_skip(check: Check, bases: frozenset[str]) -> str | None:
    """Why a check is not run, or None when it is."""
    if check.profile not in (FILES, RELEASED, PYTHON):
        return f"profile {check.profile} is not read yet"
    is_ours = check.op in RECORDED or check.op in REDACTIONS or check.op in DAMAGES
    if check.profile == FILES and check.basis not in bases and not is_ours:
        return f"its basis is {check.basis}"
    return None if check.op in OPERATIONS else "the operation is not there yet"
