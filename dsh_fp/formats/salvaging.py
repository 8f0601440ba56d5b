"""A sound log out of a damaged one, by a policy somebody named: what is kept, what is dropped.

A policy chooses whole branches, a prefix, or takes out bytes that are no events. None mixes
branches, none is chosen here, and nothing is added but the closers of an open turn where this
library has them. What comes out is read again before anybody gets it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.repair import interrupted_turn_closers
from dsh_fp.formats.account import (
    Dropped,
    Span,
    dropped_lines,
    framed_content,
    framed_spans,
    plain_content,
    plain_spans,
)
from dsh_fp.formats.branches import Branch
from dsh_fp.formats.damage import Diagnosis, branch_name, diagnose, intact_rows
from dsh_fp.formats.reading import MAX_BYTES, line_form, read
from dsh_fp.formats.rows import Row, Rows
from dsh_fp.storage.jsonl import LogFile, event_line
from dsh_fp.storage.lines import LineFault, read_line

_MOST_CUTS: Final = 8
_MOST_TRIED: Final = 8
_KEEP: Final = "keep-"


class Unfit(enum.StrEnum):
    """Why nothing is salvaged."""

    POLICY_NEEDED = "POLICY_NEEDED"
    POLICY_UNKNOWN = "POLICY_UNKNOWN"
    POLICY_UNFIT = "POLICY_UNFIT"
    NOTHING_TO_SALVAGE = "NOTHING_TO_SALVAGE"
    LOG_HOPELESS = "LOG_HOPELESS"
    RESULT_UNSOUND = "RESULT_UNSOUND"


@attrs.frozen
class Refusal:
    """Why nothing is salvaged, and what to do now; `fault` is the reader's own word."""

    code: Unfit
    says: str
    advice: str
    fault: Rejection | None = None


@attrs.frozen(eq=False)
class Salvaged:
    """A sound log made of a damaged one, and an account of every byte and event of that.

    `content` is the new file; `log` what reading it gives. `synthetic` are the closers that
    were added, the last events of it. `is_left_open` tells that its last turn is open and this
    library has no closers for its generation.
    """

    policy: str
    content: bytes = attrs.field(repr=False)
    log: LogFile = attrs.field(repr=False)
    size: int
    kept_events: int
    dropped_events: int
    synthetic: tuple[Event, ...]
    spans: tuple[Span, ...] = attrs.field(repr=False)
    dropped: tuple[Dropped, ...] = attrs.field(repr=False)
    is_left_open: bool

    @property
    def dropped_lines(self) -> int:
        """How many lines were left out."""
        return sum(one.last_line - one.first_line + 1 for one in self.dropped)

    @property
    def dropped_bytes(self) -> int:
        """How many bytes of the file were left out whole."""
        return sum(one.stop - one.start for one in self.spans if one.fate == "dropped")


# What a policy takes out, by the fault of a row or of a stretch; nothing else may be wrong.
_TAKES_OUT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "drop-repeats": "repeated-line",
        "drop-blank": "blank-line",
        "strip-nul": "nul-run",
        "strip-bom": "bom",
        "strip-junk": "no-frame",
        "reframe": "header-frame",
    }
)
POLICIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "good-prefix": "Keep the events before the first damage.",
        "keep-first": "Keep the branch that was written first, whole.",
        "keep-second": "Keep the branch that was written second, whole.",
        "keep-branch-N": "Keep the branch with this number, whole, where there are more.",
        "drop-repeats": "Leave out lines that stand twice in the same words.",
        "drop-blank": "Leave out blank lines.",
        "strip-nul": "Take out NUL bytes before and behind whole lines.",
        "strip-bom": "Take out the byte order mark.",
        "strip-junk": "Take out bytes between frames that are no frame.",
        "reframe": "Give the header line a frame of its own.",
    }
)
"""The policies by name. None is ever chosen for you."""


def salvage(
    source: bytes, policy: str | None, *, max_bytes: int = MAX_BYTES
) -> Result[Salvaged, Refusal]:
    """A sound log made of the bytes of a damaged one, by a policy. Pure: nothing is written.

    Errors:  POLICY_NEEDED without a policy; POLICY_UNKNOWN; POLICY_UNFIT where it does not fit
             the damage; NOTHING_TO_SALVAGE for a sound log; LOG_HOPELESS without a header line;
             RESULT_UNSOUND when what it keeps is refused for another reason.
    Law:     the spans cover every byte once, the events are kept or dropped.
    Source:  docs/reference/damage.md, "Policies".
    """
    return salvage_diagnosed(diagnose(source, max_bytes=max_bytes), policy, max_bytes=max_bytes)


def fitting_policies(found: Diagnosis, *, max_bytes: int = MAX_BYTES) -> dict[str, Salvaged]:
    """What each policy that fits the damage would give, by its name; of branches the first 8."""
    branches = found.branches[:_MOST_TRIED]
    names = ["good-prefix", *(f"{_KEEP}{one.name}" for one in branches)]
    kinds = {one.kind for one in found.damages}
    names += [name for name, kind in _TAKES_OUT.items() if kind in kinds]
    made = {name: salvage_diagnosed(found, name, max_bytes=max_bytes) for name in names}
    return {name: one.unwrap() for name, one in made.items() if not isinstance(one, Failure)}


def salvage_diagnosed(
    found: Diagnosis, policy: str | None, *, max_bytes: int = MAX_BYTES
) -> Result[Salvaged, Refusal]:
    """`salvage` of a file that was diagnosed already."""
    rows, parting = found.rows, found.parting
    if rows is None or parting is None:
        told = found.refusal
        assert told is not None, "lines that cannot be told make a log unreadable"
        return _refuse(Unfit.LOG_HOPELESS, told.message, _LOOK, told)
    if found.refusal is None and all(one.severity != "tail" for one in found.damages):
        says = "the log can be read to its last byte"
        return _refuse(Unfit.NOTHING_TO_SALVAGE, says, "Nothing has to be done.")
    if policy is None:
        return _refuse(Unfit.POLICY_NEEDED, "what to keep is for you to say", _NAME_ONE)
    chosen = _chosen(found, rows, policy)
    if isinstance(chosen, Refusal):
        return Failure(chosen)
    made = _made(rows, chosen, policy, max_bytes)
    for _ in range(_MOST_CUTS):
        if not isinstance(made, Rejection):
            return Success(made)
        place = None if made.line_number is None else made.line_number - 2
        if policy != "good-prefix" or place is None or not 0 <= place < len(chosen):
            break
        chosen = chosen[:place]  # the reader refuses more than the lines show
        made = _made(rows, chosen, policy, max_bytes)
    if not isinstance(made, Rejection):
        return Success(made)
    says = f"what {policy} keeps is refused: {made.message}"
    advice = "good-prefix keeps what stands before that." if policy != "good-prefix" else _LOOK
    return _refuse(Unfit.RESULT_UNSOUND, says, advice, made)


_NAME_ONE: Final = "Name a policy. Nothing was changed."
_LOOK: Final = "Look for a backup."


def _refuse(
    code: Unfit, says: str, advice: str, fault: Rejection | None = None
) -> Failure[Refusal]:
    return Failure(Refusal(code, says, advice, fault))


# ---- what a policy keeps -------------------------------------------------------------------------


def _chosen(found: Diagnosis, rows: Rows, policy: str) -> list[Row] | Refusal:
    """The rows that a policy keeps, in order of the file."""
    if policy == "good-prefix":
        return list(intact_rows(rows)[0])
    if policy in _TAKES_OUT:
        return _without(found, rows, policy)
    if not policy.startswith(_KEEP):
        known = ", ".join(POLICIES)
        return Refusal(Unfit.POLICY_UNKNOWN, "there is no such policy", f"There are: {known}.")
    branch = _branch_named(found, policy.removeprefix(_KEEP))
    if branch is None:
        names = ", ".join(f"{_KEEP}{one.name}" for one in found.branches)
        advice = f"There are: {names}." if names else "good-prefix keeps what is before the damage."
        return Refusal(Unfit.POLICY_UNFIT, "the log has no such branch", advice)
    kept = branch.rows()
    parting = found.parting
    doubts = set() if parting is None else {id(row) for row in parting.doubts}
    # A doubt that one branch was given may as well be the other's, so neither is whole.
    if doubts:
        says = "behind the place where the writers met nobody can say whose lines are whose"
        advice = "good-prefix keeps what stands before the second writer's first line."
        return Refusal(Unfit.POLICY_UNFIT, says, advice)
    return kept


def _branch_named(found: Diagnosis, name: str) -> Branch | None:
    if found.parting is None or not found.branches:
        return None
    return next((one for one in found.parting.branches if branch_name(one.number) == name), None)


def _without(found: Diagnosis, rows: Rows, policy: str) -> list[Row] | Refusal:
    """All rows but what the policy takes out; nothing else may be wrong with them."""
    kind = _TAKES_OUT[policy]
    if all(one.kind != kind for one in found.damages):
        return Refusal(Unfit.POLICY_UNFIT, f"there is no {kind} in the log", _OTHER)
    repeats = set[int]()
    if policy == "drop-repeats" and found.parting is not None:
        repeats = {id(row) for _, row in found.parting.repeats}
    other = [one.fault for one in rows.stretches if one.fault not in (None, kind, "torn-frame")]
    kept: list[Row] = []
    expected = 0
    for row in rows.rows:
        if not row.is_ended or id(row) in repeats:
            continue
        seen = _stripped(row, expected, rows) if policy == "strip-nul" else row
        if seen is None or (row.fault is not None and row.fault == kind != "nul-run"):
            continue
        if not seen.is_event or seen.seq != expected:
            other.append(seen.fault or "seq-gap or seq-duplicate")
            break
        kept.append(seen)
        expected = seen.next_seq
    if other:
        says = f"something else is wrong as well: {other[0]}"
        return Refusal(Unfit.POLICY_UNFIT, says, _OTHER)
    return kept


_OTHER: Final = "dsh-fp doctor LOG says what is wrong; good-prefix keeps what is before it."


def _stripped(row: Row, expected: int, rows: Rows) -> Row | None:
    """A row without the NUL bytes around it; None when there is nothing else."""
    if row.fault != "nul-run":
        return row
    text = row.text.strip(b"\0")
    if not text:
        return None
    part = read_line(text, expected, line_form(rows.vocabulary))
    if isinstance(part, LineFault | Rejection):
        return row
    return attrs.evolve(row, text=text, part=part, seq=part.seq, fault=None)


# ---- the new file --------------------------------------------------------------------------------


def _made(rows: Rows, chosen: Sequence[Row], policy: str, limit: int) -> Salvaged | Rejection:
    """The new file with its account, or why it is refused."""
    compose: Callable[[Rows, Sequence[Row]], bytes] = (
        framed_content if rows.is_compressed else plain_content
    )
    content = compose(rows, chosen)
    read_again = read(content, vocabulary=rows.vocabulary, max_bytes=limit)
    if isinstance(read_again, Failure):
        fault: Rejection = read_again.failure()
        return fault
    log = read_again.unwrap()
    kept = sum(row.count for row in chosen)
    synthetic: tuple[Event, ...] = ()
    if rows.is_july:
        synthetic = interrupted_turn_closers(log.session.events)
    if synthetic:
        content += b"".join(event_line(event) + b"\n" for event in synthetic)
        read_again = read(content, vocabulary=rows.vocabulary)
        if isinstance(read_again, Failure):
            refused: Rejection = read_again.failure()
            return refused
        log = read_again.unwrap()
    assert len(log.session) == kept + len(synthetic), "every kept event is read again"
    assert log.good_bytes == log.size == len(content), "and every byte of the new file"
    left = {row.line_number for row in chosen}
    dropped = tuple(dropped_lines(rows, left, chosen))
    return Salvaged(
        policy,
        content,
        log,
        len(rows.content),
        kept,
        sum(one.events for one in dropped),
        synthetic,
        tuple(framed_spans(rows, chosen) if rows.is_compressed else plain_spans(rows, chosen)),
        dropped,
        not rows.is_july and _is_open(log),
    )


def _is_open(log: LogFile) -> bool:
    events = log.session.events
    for seq in range(len(events) - 1, -1, -1):
        if events[seq].type in ("turn/start", "turn/end"):
            return events[seq].type == "turn/start"
    return False
