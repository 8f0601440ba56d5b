"""Cases to outcomes: every case is asked on its own, and what it raises is its own failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.conformance.asking import Case, Family
from tests.conformance.comparing import SHOWN, first_difference
from tests.conformance.declined import reason_to_decline
from tests.conformance.families import FAMILIES
from tests.conformance.loading import (
    Found,
    OtherFile,
    UnusableFile,
    VectorFile,
    case_fault,
    file_fault,
)
from tests.conformance.report import Outcome, Status


def run_files(
    files: Iterable[Found], families: Mapping[str, Family] = FAMILIES
) -> Iterator[Outcome]:
    """The outcomes of all files, in order."""
    for file in files:
        match file:
            case UnusableFile():
                yield Outcome(Status.FAILED, _name(file.path), file.reason)
            case VectorFile():
                yield from run_file(file, families)
            case OtherFile():
                pass


def run_file(file: VectorFile, families: Mapping[str, Family] = FAMILIES) -> Iterator[Outcome]:
    """The outcomes of one file; of a family that cannot be run, one line with the count."""
    family = families.get(file.family)
    if family is None:
        subject = f"family {file.family!a} ({_name(file.path)})"
        reason = f"{len(file.cases)} cases of a family that is not run yet"
        yield Outcome(Status.SKIPPED, subject, reason, count=len(file.cases))
        return
    fault = file_fault(file)
    if fault is not None:
        yield Outcome(Status.FAILED, f"{family.name} {_name(file.path)}", fault)
    for place, case in enumerate(file.cases):
        fault = case_fault(case, family.needs)
        if fault is None:
            yield run_case(family, case)
        else:
            subject = f"{family.name} {_name(file.path)} cases[{place}]{_id(case)}"
            yield Outcome(Status.FAILED, subject, fault)


def run_case(family: Family, case: Case) -> Outcome:
    """One case: passed when every route answers what is expected."""
    subject = f"{family.name} {ascii(case['id'])[1:-1]}"
    topic = case.get("topic", case.get("name", case.get("op")))
    if topic is not None:
        subject = f"{subject} ({ascii(topic)[1:-1]})"
    declined = reason_to_decline(family.name, case)
    if declined is not None:
        return Outcome(Status.SKIPPED, subject, f"declined: {declined}")
    try:
        expected = family.expected(case)
        routes = 0
        for route, answer in family.ask(case):
            routes += 1
            difference = first_difference(expected, answer)
            if difference is not None:
                return Outcome(Status.FAILED, subject, f"{route}: {difference}")
    except Exception as error:  # noqa: BLE001 - whatever a case raises is that case's failure
        return Outcome(Status.FAILED, subject, raised(error))
    if not routes:
        return Outcome(Status.FAILED, subject, "nothing was asked")
    return Outcome(Status.PASSED, subject)


def raised(error: BaseException) -> str:
    """An exception as one bounded line: its type, its text, and where it came from."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = ""
    if trace is not None:
        code = trace.tb_frame.f_code
        where = f" (in {code.co_name}, {Path(code.co_filename).name}:{trace.tb_lineno})"
    text = ascii(str(error))[1:-1]
    return f"raised {type(error).__name__}: {text[:SHOWN]}{where}"


def _name(path: Path) -> str:
    return ascii(path.name)[1:-1]


def _id(case: object) -> str:
    name = case.get("id") if isinstance(case, dict) else None
    return f" {ascii(name)[1:-1]}" if isinstance(name, str) else ""
