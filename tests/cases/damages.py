"""Operations on damage: everything that is wrong with a file, and what a policy makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import attrs
from returns.result import Failure

import dsh_fp
from dsh_fp.formats.damage import Diagnosis, diagnose
from dsh_fp.formats.salvaging import salvage
from tests.cases.loads import LOADS
from tests.cases.verdicts import Ask, Findings, Known, by_key, holds, not_looked_at, same
from tests.conformance.asking import must

# The cases' names for policies, to ours; None: none does that, and the docs say why.
POLICIES: Final[Mapping[str, str | None]] = {
    "prefix": "good-prefix",
    "keep-first": "keep-first",
    "keep-second": "keep-second",
    "strip-nul": "strip-nul",
    "strip-bom": "strip-bom",
    "drop-blank": "drop-blank",
    "reframe": "reframe",
    "mint-call-ids": None,
    "strip-types": None,
}


def verify(ask: Ask) -> Findings:
    """The findings about a file: those of the diagnosis first, the rest as reading tells them."""
    told = diagnose(str(ask.path))
    expect = dict(ask.expect)
    rest: list[Mapping[str, Any]] = []
    for place, row in enumerate(expect.get("findings") or ()):
        found = list(_meant(row, told))
        if found:
            yield holds(f"findings[{place}] is named", True)
            asked = {key: row[key] for key in row if key not in ("reason", "seq", "file_line")}
            yield from by_key(asked, found[0], f"findings[{place}]")
        else:
            rest.append(row)
    known: Known = {
        "branches": lambda: [
            {"name": one.name, "tail_seqs": list(one.tail_seqs or ())} for one in told.branches
        ],
        "trailing_valid_turns": lambda: list(told.later_turns),
    }
    yield from by_key({key: expect[key] for key in expect if key in known}, known)
    left = {key: expect[key] for key in expect if key not in (*known, "findings")}
    if rest or expect.get("findings") == []:
        left["findings"] = rest
    if left:
        yield from LOADS["verify"](attrs.evolve(ask, check=attrs.evolve(ask.check, expect=left)))


def _meant(row: Mapping[str, Any], told: Diagnosis) -> Iterator[Known]:
    """The facts of each damage that a row may mean."""
    for one in told.damages:
        data = one.data
        if one.kind != row.get("reason"):
            continue
        gap_seq = data.get("expected_seq")
        if "seq" in row and row["seq"] not in (one.seq, gap_seq):
            continue
        if "file_line" in row and row["file_line"] != one.line_number:
            continue
        facts = {
            **data,
            "severity": one.severity,
            "byte_offset": one.byte_offset,
            "frame": one.frame,
            "first_file_line": data.get("first_line"),
            "second_file_line": data.get("second_line"),
        }
        asked = [key for key in row if key in facts or key in ("reason", "seq", "file_line")]
        if len(asked) == len(row):
            yield {key: partial(_itself, value) for key, value in facts.items()}


def _itself(value: Any) -> Any:
    return value


def salvaging(ask: Ask) -> Findings:
    """What a policy makes of a file, in memory; without one it must refuse."""
    expect = dict(ask.expect)
    policy = expect.pop("policy")
    before = ask.path.read_bytes()
    if policy is not None and POLICIES.get(policy) is None:
        yield not_looked_at(policy, "there is no such policy, on purpose")
        return
    made = salvage(before, None if policy is None else POLICIES[policy])
    unchanged = ask.path.read_bytes() == before
    if isinstance(made, Failure):
        known: Known = {"result": lambda: "refuse", "file_unchanged": lambda: unchanged}
        yield holds(f"refused: {made.failure()}", expect.get("result") == "refuse")
        yield from by_key(expect, known)
        return
    salvaged = made.unwrap()
    wanted = expect.pop("equals_file", None)
    if wanted is not None:
        yield same(wanted, (ask.path.parent / wanted).read_bytes(), salvaged.content)
    accounted = sum(one.stop - one.start for one in salvaged.spans)
    yield same("bytes accounted for", len(before), accounted)
    known = {
        "events": lambda: salvaged.kept_events,
        "dropped_lines": lambda: salvaged.dropped_lines,
        "quarantined_lines": lambda: salvaged.dropped_lines,
        "removed_bytes": lambda: salvaged.dropped_bytes,
        "missing": lambda: [] if not salvaged.dropped_events else ["some"],
    }
    yield from by_key(expect, known)


def verify_after_repair(ask: Ask) -> Findings:
    """The findings about a crashed log once its turn is closed, and whether it may be cut."""
    log = must(ask.inputs.log(ask.path))
    closers = dsh_fp.interrupted_turn_closers(log.session.events)
    lines = [f"{event.to_text()}\n".encode() for event in closers]
    told = diagnose(ask.path.read_bytes()[: log.good_bytes] + b"".join(lines))
    expect = dict(ask.expect)
    for place, row in enumerate(expect.pop("findings")):
        found = list(_meant(row, told))
        yield holds(f"findings[{place}] is named", bool(found))
    session = must(log.session.extend(closers))
    known: Known = {
        "safe_cut_after_tail": lambda: must(dsh_fp.is_balanced_cut(session.nodes(), None))
    }
    yield from by_key(expect, known)


DAMAGES: Final = {
    "verify": verify,
    "salvage": salvaging,
    "verify-after-repair": verify_after_repair,
}
